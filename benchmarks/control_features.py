"""What Poise does with each feature of a rig: rigs that have it, for the second table of `benchmarks.control_rigs`."""

from collections.abc import Callable
from typing import Any, Final

import bpy

from tests.blender.control_drags import RIGS, Made, Parts
from tests.blender.rigs import BODY, make_armature, make_empty, make_ik_body, put_on_fk, select

_PARTS: Final[Parts] = {role: role for role in ("hips", "hand.L", "hand.R", "foot.L", "foot.R")}
context: Any = bpy.context  # the stubs take its members for methods
_AWAY: Final = (0.5, -2.0, 2.5)  # of a target, metres


def _made(make: Callable[[], Any], change: Callable[[Any], None], parts: Parts = _PARTS) -> Callable[[], Made]:
    def made() -> Made:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = make()
        change(rig)
        select(rig, [])
        context.view_layer.update()
        return rig, parts

    return made


def _body(change: Callable[[Any], None]) -> Callable[[], Made]:
    return _made(make_armature, change)


def _legs(change: Callable[[Any], None]) -> Callable[[], Made]:
    return _made(make_ik_body, change)


def _neck(change: Callable[[Any], None]) -> Callable[[], Made]:
    chest, neck, crown = BODY["chest"][2], BODY["head"][1], BODY["head"][2]
    bones = {name: bone for name, bone in BODY.items() if name != "head"}  # parents come first
    bones |= {"neck": ("chest", chest, neck), "head": ("neck", neck, crown)}
    return _made(lambda: make_armature(bones=bones), change, {**_PARTS, "head": "head"})


def _constrain(bone: str, kind: str, bone_target: str = "", **settings: Any) -> Callable[[Any], None]:
    """Give a bone a constraint, to another one of the rig or to an empty."""

    def change(rig: Any) -> None:
        made = rig.pose.bones[bone].constraints.new(kind)
        if hasattr(made, "target"):
            made.target = rig if bone_target else make_empty("target", _AWAY)
        if bone_target:
            made.subtarget = bone_target
        for name, value in settings.items():
            setattr(made, name, value)

    return change


def _each_leg(change: Callable[[Any, str], None]) -> Callable[[Any], None]:
    def both(rig: Any) -> None:
        for side in "LR":
            change(rig, side)

    return both


def _ik(rig: Any, side: str) -> Any:
    return rig.pose.bones[f"shin.{side}"].constraints[0]


def _no_pole(rig: Any, side: str) -> None:
    _ik(rig, side).pole_target = None


def _part(rig: Any, side: str) -> None:
    _ik(rig, side).influence = 0.5


def _stretch(rig: Any, side: str) -> None:
    for bone in ("thigh", "shin"):
        rig.pose.bones[f"{bone}.{side}"].ik_stretch = 0.1


def _hinge(rig: Any, side: str) -> None:
    _no_pole(rig, side)
    rig.pose.bones[f"shin.{side}"].lock_ik_y = rig.pose.bones[f"shin.{side}"].lock_ik_z = True


def _empty(rig: Any, copied: bool) -> None:
    """Have the left foot's IK, or its control, follow an empty where it is."""
    cup = make_empty("Cup")
    cup.matrix_world = rig.matrix_world @ rig.pose.bones["foot_ik.L"].matrix
    if copied:
        rig.pose.bones["foot_ik.L"].constraints.new("COPY_TRANSFORMS").target = cup
    else:
        ik = _ik(rig, "L")
        ik.target, ik.subtarget, ik.pole_target = cup, "", None
        rig.pose.bones["foot.L"].constraints.remove(rig.pose.bones["foot.L"].constraints[0])


def _spline(rig: Any) -> None:
    """Have the spine follow a curve where it is."""
    curve: Any = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions = "3D"
    bones = [rig.pose.bones[name] for name in ("spine", "chest")]
    points = [bones[0].head, *(bone.tail for bone in bones)]
    line = curve.splines.new("POLY")
    line.points.add(len(points) - 1)
    for point, place in zip(line.points, points, strict=True):
        point.co = (*place, 1.0)
    target = bpy.data.objects.new("curve", curve)
    context.scene.collection.objects.link(target)
    made: Any = bones[-1].constraints.new("SPLINE_IK")
    made.target, made.chain_count = target, 2


def _driven(rig: Any) -> None:
    bone = rig.pose.bones["neck"]
    bone.rotation_mode = "XYZ"
    driver = bone.driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "chest"
    variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
    variable.name, driver.expression = "chest", "0.2 - chest"


def _mixed() -> Made:
    rig, parts = RIGS["Auto-Rig Pro on IK"]()
    put_on_fk(rig, 0.5)
    return rig, parts


FEATURES: Final[dict[str, tuple[str, Callable[[], Made]]]] = {
    "FK, no constraints": ("rotates the bones", _body(lambda rig: None)),
    "FK of a rig with switches": ("rotates the FK controls", RIGS["Auto-Rig Pro on FK"]),
    "IK with a pole": ("moves target and pole", _legs(lambda rig: None)),
    "IK without a pole": ("moves the target, rotates the bones that IK starts from", _legs(_each_leg(_no_pole))),
    "IK with locked axes": ("bends the limb as a hinge", _legs(_each_leg(_hinge))),
    "IK of influence 0.5": ("poses target and bones", _legs(_each_leg(_part))),
    "IK that stretches": ("takes the lengths over", _legs(_each_leg(_stretch))),
    "IK_FK at 0": ("moves the IK controls; the switch stays", RIGS["Auto-Rig Pro on IK"]),
    "IK_FK at 0.5": ("poses IK and FK controls", _mixed),
    "reverse foot": ("moves the foot's control; its heel stays", RIGS["reverse feet with poles"]),
    "switch of spaces": ("moves controls in the space that is on", RIGS["CloudRig on IK"]),
    "control with Child Of a bone": (
        "moves the control; what carries it carries it", _legs(_constrain("foot_ik.L", "CHILD_OF", "hips")),
    ),
    "neck that copies a rotation": ("carries it", _neck(_constrain("neck", "COPY_ROTATION", "chest"))),
    "neck with a driver": ("carries it", _neck(_driven)),
    "neck with Damped Track": ("carries it", _neck(_constrain("neck", "DAMPED_TRACK"))),
    "neck with Stretch To": ("carries it, with its length", _neck(_constrain("neck", "STRETCH_TO"))),
    "Limit Rotation": (
        "keeps the limit",
        _body(_constrain("forearm.L", "LIMIT_ROTATION", use_limit_x=True, max_x=2.0, owner_space="LOCAL")),
    ),
    "spine on Spline IK": ("leaves it; a head on it can only be rotated", _body(_spline)),
    "hand with Copy Location": ("leaves it; the rest is posed", _body(_constrain("hand.R", "COPY_LOCATION"))),
    "IK to an object": ("holds the limb's end at the object", _legs(lambda rig: _empty(rig, False))),
    "control that copies an object": ("holds the limb's end at the object", _legs(lambda rig: _empty(rig, True))),
}  # fmt: skip
