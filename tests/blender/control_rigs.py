"""Control rigs as animators have them, built here: in structure like Auto-Rig Pro's, CloudRig's and others.

Names, parents, constraints and drivers are as in such rigs, bones that do nothing for a pose are left out. All have the
same joints. Bones and constraints of the left side are written down; the right side is their mirror image.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import bpy
import numpy as np
from mathutils import Vector

from tests.blender.rigs import Bones, make_armature, make_ik_body

JOINTS: Final[dict[str, tuple[float, float, float]]] = {
    "ground": (0, 0, 0), "front": (0, -0.3, 0), "hips": (0, 0, 1.0), "waist": (0, 0, 1.15), "ribs": (0, 0, 1.3),
    "neck": (0, 0, 1.5), "skull": (0, 0, 1.57), "crown": (0, 0, 1.75), "collar": (0.03, 0, 1.45),
    "shoulder": (0.15, 0, 1.45), "elbow": (0.42, 0.02, 1.4), "wrist": (0.67, 0, 1.36), "knuckles": (0.75, 0, 1.35),
    "behind": (0.42, 0.6, 1.4), "further behind": (0.42, 0.7, 1.4), "inside": (0.04, 0, 1.0), "hip": (0.1, 0, 0.98),
    "knee": (0.1, -0.03, 0.53), "ankle": (0.1, 0, 0.09), "ball": (0.1, -0.13, 0.02), "toes": (0.1, -0.2, 0.02),
    "heel": (0.1, 0.05, 0.0), "back": (0.1, 0.2, 0.0), "ahead": (0.1, -0.8, 0.53), "further ahead": (0.1, -0.9, 0.53),
}  # fmt: skip
Rows = dict[str, tuple[str | None, str, str]]  # bone -> parent, joint at the head, joint at the tail

TRUNK: Final[Rows] = {
    "hips": ("root", "hips", "waist"), "spine": ("hips", "waist", "ribs"), "chest": ("spine", "ribs", "neck"),
    "neck": ("chest", "neck", "skull"), "head": ("neck", "skull", "crown"),
}  # fmt: skip
ARM: Final[Rows] = {
    "shoulder.L": ("chest", "collar", "shoulder"), "upper_arm.L": ("shoulder.L", "shoulder", "elbow"),
    "forearm.L": ("upper_arm.L", "elbow", "wrist"), "hand.L": ("forearm.L", "wrist", "knuckles"),
}  # fmt: skip
LEG: Final[Rows] = {
    "thigh.L": ("hips", "hip", "knee"), "shin.L": ("thigh.L", "knee", "ankle"), "foot.L": ("shin.L", "ankle", "ball"),
    "toe.L": ("foot.L", "ball", "toes"),
}  # fmt: skip
BODY: Final[Rows] = {"root": (None, "ground", "front")} | TRUNK | ARM | LEG

LIMBS: Final = (  # role, joints of a limb's segments
    ("arm", ("shoulder", "elbow", "wrist", "knuckles")),
    ("leg", ("hip", "knee", "ankle", "ball")),
)


def flip_name(name: str) -> str:
    """The name of the bone on the other side, Japanese ones included."""
    return name.replace("左", "右") if "左" in name else bpy.utils.flip_name(name)


def joint(name: str) -> Vector:
    """The place of a joint, or of the middle between two ("hip/knee")."""
    return sum((Vector(JOINTS[one]) for one in name.split("/")), Vector()) / len(name.split("/"))


def build(
    rows: Rows, deform: Callable[[str], bool] = lambda _: True, hidden: Callable[[str], bool] = lambda _: False
) -> Any:
    """A rig of bones between joints, with the right side, too; hidden bones are in a collection that is not shown."""
    bones: Bones = {}
    for mirror in (False, True):
        for name, (parent, head, tail) in rows.items():
            ends = [joint(head), joint(tail)]
            if mirror and flip_name(name) != name:
                name, parent = flip_name(name), parent and flip_name(parent)
                ends = [end * Vector((-1, 1, 1)) for end in ends]
            bones[name] = (parent, *ends)
    rig: Any = make_armature(bones=bones)
    mechanism = rig.data.collections.new("Mechanism")
    mechanism.is_visible = False
    for bone in rig.data.bones:
        bone.use_deform = deform(bone.name)
        if hidden(bone.name):
            mechanism.assign(bone)
    return rig


def constrain(
    rig: Any, bone: str, kind: str, target: str, by: tuple[str, str, str] | None = None, **settings: Any
) -> None:
    """Give a bone a constraint, and its other side one; `by`: bone, property and expression of its influence."""
    for flip in (str, flip_name)[: 1 + (flip_name(bone) != bone)]:
        made = rig.pose.bones[flip(bone)].constraints.new(kind)
        made.target, made.subtarget = rig, flip(target)
        for name, value in settings.items():
            setattr(made, name, value)
        if by is not None:
            drive(rig, made, "influence", flip(by[0]), *by[1:])


def drive(rig: Any, owner: Any, path: str, bone: str, prop: str, expression: str = "x") -> None:
    """Drive a property by a custom property of a bone, or by a path that begins with a dot."""
    driver = owner.driver_add(path).driver
    driver.type, driver.expression = "SCRIPTED", expression
    variable = driver.variables.new()
    variable.name = "x"
    variable.targets[0].id = rig
    variable.targets[0].data_path = f'pose.bones["{bone}"]' + (prop if prop[0] == "." else f'["{prop}"]')


def ik(rig: Any, tip: str, target: str, pole: str = "", count: int = 2, **settings: Any) -> None:
    """Give a chain IK that shows the rest pose at rest."""
    constrain(rig, tip, "IK", target, chain_count=count, **settings)
    for end in (tip, flip_name(tip)) if pole else ():
        here = rig.pose.bones[end].constraints[-1]
        here.pole_target, here.pole_subtarget = rig, pole if end == tip else flip_name(pole)
        last, first = rig.data.bones[end], rig.data.bones[end].parent
        line, along = last.tail_local - first.head_local, first.tail_local - first.head_local
        towards = line.cross(rig.data.bones[here.pole_subtarget].head_local - first.head_local).cross(along)
        across = first.matrix_local.to_3x3().col[0]
        here.pole_angle = across.angle(towards) * (-1.0 if across.cross(towards).angle(along) < 1.0 else 1.0)


def child_of(rig: Any, bone: str, target: str, by: tuple[str, str, str]) -> None:
    """Let a bone hang on another one as its rest pose does, as much as a property says."""
    constrain(rig, bone, "CHILD_OF", target, by)
    for end in (bone, flip_name(bone)):
        made = rig.pose.bones[end].constraints[-1]
        made.inverse_matrix = rig.data.bones[made.subtarget].matrix_local.inverted()


def hang(rig: Any, bone: str, targets: dict[str, str], switch: tuple[str, str]) -> None:
    """Let a bone hang on one of several by an Armature constraint; a property says by expressions on which."""
    for flip in (str, flip_name)[: 1 + (flip_name(bone) != bone)]:
        made = rig.pose.bones[flip(bone)].constraints.new("ARMATURE")
        for target, weight in targets.items():
            one = made.targets.new()
            one.target, one.subtarget = rig, flip(target)
            drive(rig, one, "weight", flip(switch[0]), switch[1], weight)


def give(rig: Any, bone: str, name: str, value: float) -> None:
    """Give a bone, and its other side, a custom property."""
    for end in dict.fromkeys((bone, flip_name(bone))):
        rig.pose.bones[end][name] = value


def shown(rig: Any) -> Any:
    """The rig, evaluated with all of its properties."""
    rig.update_tag()
    bpy.context.view_layer.update()
    return rig


def auto_rig_pro(fk: float = 0.0) -> Any:
    """Like Auto-Rig Pro: reference bones blend IK and FK by Copy constraints, deforming ones twist and stretch."""
    rows: Rows = {
        "c_pos": (None, "ground", "front"), "c_traj": ("c_pos", "ground", "front"),
        "c_root_master.x": ("c_traj", "hips", "waist"), "c_root.x": ("c_root_master.x", "hips", "waist"),
        "root.x": ("c_root.x", "hips", "waist"), "c_spine_01.x": ("c_root_master.x", "waist", "ribs"),
        "spine_01.x": ("c_spine_01.x", "waist", "ribs"), "c_spine_02.x": ("c_spine_01.x", "ribs", "neck"),
        "spine_02.x": ("c_spine_02.x", "ribs", "neck"), "c_neck.x": ("c_spine_02.x", "neck", "skull"),
        "neck.x": ("c_neck.x", "neck", "skull"), "c_head.x": ("c_neck.x", "skull", "crown"),
        "head.x": ("c_head.x", "skull", "crown"), "c_shoulder.l": ("c_spine_02.x", "collar", "shoulder"),
        "shoulder.l": ("c_shoulder.l", "collar", "shoulder"), "c_thigh_b.l": ("c_root.x", "inside", "hip"),
        "thigh_b.l": ("c_thigh_b.l", "inside", "hip"),
        "c_hand_ik.l": ("c_traj", "wrist", "knuckles"), "c_arms_pole.l": ("c_traj", "behind", "further behind"),
        "c_foot_ik.l": ("c_traj", "ankle", "ball"), "c_leg_pole.l": ("c_traj", "ahead", "further ahead"),
        "c_foot_roll_cursor.l": ("c_foot_ik.l", "back", "heel"), "foot_heel_roll.l": ("c_foot_ik.l", "heel", "ball"),
        "c_foot_01.l": ("foot_heel_roll.l", "ball", "ankle"), "foot_01_ik.l": ("c_foot_01.l", "ankle", "ball"),
        "foot_ik_target.l": ("c_foot_01.l", "ankle", "back"), "c_toes_ik.l": ("foot_heel_roll.l", "ball", "toes"),
    }  # fmt: skip
    names = {"arm": ("arm", "forearm", "hand"), "leg": ("thigh", "leg", "foot")}
    bases = {"arm": "shoulder.l", "leg": "thigh_b.l"}
    for limb, joints in LIMBS:
        first, second, third = names[limb]
        for kind, last in (("c_{}_fk.l", 3), ("{}_ik.l", 2), ("{}.l", 3)):
            for k, name in enumerate(names[limb][:last]):
                parent = kind.format(names[limb][k - 1]) if k else bases[limb]
                rows[kind.format(name)] = (parent, joints[k], joints[k + 1])
        upper, lower = "/".join(joints[:2]), "/".join(joints[1:3])
        rows |= {
            f"c_stretch_{limb}.l": (f"{first}.l", joints[1], lower),
            f"{first}_twist.l": (bases[limb], joints[0], upper), f"{first}_stretch.l": (f"{first}.l", upper, joints[1]),
            f"{second}_stretch.l": (f"{second}.l", joints[1], lower),
            f"{second}_twist.l": (f"{second}.l", lower, joints[2]),
        }  # fmt: skip
    rows |= {"c_toes_fk.l": ("c_foot_fk.l", "ball", "toes"), "toes_01.l": ("foot.l", "ball", "toes")}
    ends = ("_twist", "_stretch", "root.", "spine_0", "neck.", "head.", "shoulder.", "hand.", "foot.", "toes_01.")
    rig = build(
        rows,
        lambda name: not name.startswith("c_") and any(end in name for end in ends),
        lambda name: not name.startswith("c_"),
    )
    for limb, control, target in (("arm", "c_hand_ik.l", "c_hand_ik.l"), ("leg", "c_foot_ik.l", "foot_ik_target.l")):
        first, second, third = names[limb]
        give(rig, control, "ik_fk_switch", fk)
        give(rig, control, "pole_parent", 1.0)
        pole = "c_arms_pole.l" if limb == "arm" else "c_leg_pole.l"
        ik(rig, f"{second}_ik.l", target, pole)
        child_of(rig, pole, "c_root_master.x" if limb == "arm" else "c_foot_ik.l", (control, "pole_parent", "x"))
        switch = (control, "ik_fk_switch", "x")
        for name in (first, second):
            constrain(rig, f"{name}.l", "COPY_TRANSFORMS", f"{name}_ik.l")
            constrain(rig, f"{name}.l", "COPY_TRANSFORMS", f"c_{name}_fk.l", switch)
        constrain(rig, f"{third}.l", "COPY_ROTATION", "c_hand_ik.l" if limb == "arm" else "foot_01_ik.l")
        constrain(rig, f"{third}.l", "COPY_ROTATION", f"c_{third}_fk.l", switch)
        constrain(rig, f"{first}_twist.l", "STRETCH_TO", f"c_stretch_{limb}.l")
        constrain(rig, f"{first}_stretch.l", "STRETCH_TO", f"c_stretch_{limb}.l")
        constrain(rig, f"{second}_stretch.l", "COPY_LOCATION", f"c_stretch_{limb}.l")
        constrain(rig, f"{second}_stretch.l", "STRETCH_TO", f"{second}_twist.l")
        constrain(rig, f"{second}_twist.l", "COPY_ROTATION", f"{third}.l", use_x=False, use_z=False,
                  target_space="LOCAL", owner_space="LOCAL", influence=0.5)  # fmt: skip
    constrain(rig, "toes_01.l", "COPY_ROTATION", "c_toes_ik.l")
    constrain(rig, "toes_01.l", "COPY_ROTATION", "c_toes_fk.l", ("c_foot_ik.l", "ik_fk_switch", "x"))
    for side in "lr":
        roll = rig.pose.bones[f"foot_heel_roll.{side}"]
        roll.rotation_mode = "XYZ"
        curve = roll.driver_add("rotation_euler", 0)
        curve.driver.type, curve.driver.expression = "SCRIPTED", "-2 * x"
        variable = curve.driver.variables.new()
        variable.name = "x"
        variable.targets[0].id = rig
        variable.targets[0].data_path = f'pose.bones["c_foot_roll_cursor.{side}"].location[2]'
    return shown(rig)


def cloud_rig(fk: float = 0.0) -> Any:
    """Like CloudRig: parents by Armature constraints, deforming bones stretch between STR bones, IK is on at 1."""
    rows: Rows = {
        "ROOT": (None, "ground", "front"), "Properties": ("ROOT", "crown", "skull"),
        "MSTR-Torso": ("ROOT", "hips", "ribs"), "MSTR-Hips": ("MSTR-Torso", "hips", "waist"),
        "FK-Spine": ("MSTR-Torso", "waist", "ribs"), "FK-RibCage": ("FK-Spine", "ribs", "neck"),
        "FK-Neck": ("FK-RibCage", "neck", "skull"), "FK-Head": ("FK-Neck", "skull", "crown"),
        "FK-Shoulder.L": ("FK-RibCage", "collar", "shoulder"),
    }  # fmt: skip
    trunk = {"Hips": ("hips", "waist"), "Spine": ("waist", "ribs"), "RibCage": ("ribs", "neck"),
             "Neck": ("neck", "skull"), "Head": ("skull", "crown"), "Shoulder.L": ("collar", "shoulder")}  # fmt: skip
    above = {"Spine": "Hips", "RibCage": "Spine", "Neck": "RibCage", "Head": "Neck", "Shoulder.L": "RibCage"}
    for name, (head, tail) in trunk.items():
        rows[f"ORG-{name}"] = (f"ORG-{above[name]}" if name in above else "ROOT", head, tail)
        rows[f"STR-{name}"] = (f"ORG-{name}", head, f"{head}/{tail}")
        rows[f"DEF-{name}"] = (f"STR-{name}", head, tail)
    names = {"arm": ("UpperArm", "Forearm", "Hand"), "leg": ("Thigh", "Shin", "Foot")}
    base = {"arm": "ORG-Shoulder.L", "leg": "ORG-Hips"}
    poles = {"arm": ("behind", "further behind"), "leg": ("ahead", "further ahead")}
    for limb, joints in LIMBS:
        first, _, third = names[limb]
        rows[f"ROOT-{first}.L"] = (base[limb], joints[0], joints[1])
        rows[f"H-FK-{first}.L"] = ("ROOT", joints[0], joints[1])
        for kind, start in (("FK", f"H-FK-{first}.L"), ("IK", f"ROOT-{first}.L"), ("ORG", base[limb])):
            for k, name in enumerate(names[limb][: 2 if kind == "IK" else 3]):
                rows[f"{kind}-{name}.L"] = (f"{kind}-{names[limb][k - 1]}.L" if k else start, joints[k], joints[k + 1])
        for k, name in enumerate(names[limb][:2]):
            middle = f"{joints[k]}/{joints[k + 1]}"
            for number, head, tail in ((1, joints[k], middle), (2, middle, joints[k + 1])):
                rows[f"STR-{name}{number}.L"] = (f"ORG-{name}.L", head, tail)
                rows[f"DEF-{name}{number}.L"] = (f"STR-{name}{number}.L", head, tail)
        rows |= {
            f"STR-{third}.L": (f"ORG-{third}.L", *joints[2:]), f"DEF-{third}.L": (f"STR-{third}.L", *joints[2:]),
            f"P-IK-MSTR-{third}.L": (None, *joints[2:]), f"IK-MSTR-{third}.L": (f"P-IK-MSTR-{third}.L", *joints[2:]),
            f"P-IK-POLE-{first}.L": (None, *poles[limb]), f"IK-POLE-{first}.L": (f"P-IK-POLE-{first}.L", *poles[limb]),
        }  # fmt: skip
    rows |= {
        "ROLL-Foot.L": ("IK-MSTR-Foot.L", "back", "heel"), "ROLL-Heel.L": ("IK-MSTR-Foot.L", "heel", "ball"),
        "RIK-Toe.L": ("ROLL-Heel.L", "toes", "ball"), "RIK-Foot.L": ("RIK-Toe.L", "ball", "ankle"),
        "IK-TGT-Foot.L": ("RIK-Foot.L", "ankle", "ball"), "IK-TGT-Hand.L": ("IK-MSTR-Hand.L", "wrist", "knuckles"),
        "FK-Toe.L": ("ORG-Foot.L", "ball", "toes"), "ORG-Toe.L": ("FK-Toe.L", "ball", "toes"),
        "DEF-Toe.L": ("ORG-Toe.L", "ball", "toes"),
    }  # fmt: skip
    mechanism = (
        "DEF-",
        "ORG-",
        "P-",
        "H-",
        "ROOT-",
        "IK-TGT",
        "RIK-",
        "ROLL-Heel",
        *(f"IK-{name}" for name in (*names["arm"], *names["leg"])),
    )
    rig = build(rows, lambda name: name.startswith("DEF-"), lambda name: name.startswith(mechanism))
    give(rig, "Properties", "ik_pole_follow", 1.0)
    give(rig, "Properties", "fk_hinge", 0.0)
    for limb in names:
        give(rig, "Properties", f"ik_{limb}", 1.0 - fk)
        give(rig, "Properties", f"ik_parents_{limb}", 0.0)
    for name in trunk:
        constrain(rig, f"ORG-{name}", "COPY_TRANSFORMS", "MSTR-Hips" if name == "Hips" else f"FK-{name}")
    for name, after in (("Hips", "Spine"), ("Spine", "RibCage"), ("RibCage", "Neck"), ("Neck", "Head")):
        constrain(rig, f"DEF-{name}", "STRETCH_TO", f"STR-{after}")
    for limb, _ in LIMBS:
        first, second, third = names[limb]
        hang(rig, f"H-FK-{first}.L", {base[limb]: "1 - x", "ROOT": "x"}, ("Properties", "fk_hinge"))
        constrain(rig, f"H-FK-{first}.L", "COPY_LOCATION", f"ROOT-{first}.L")
        parents = {"ROOT": "x == 0", "MSTR-Torso": "x == 1", base[limb]: "x == 2"}
        hang(rig, f"P-IK-MSTR-{third}.L", parents, ("Properties", f"ik_parents_{limb}"))
        follow = {"ROOT": "1 - x", f"IK-MSTR-{third}.L" if limb == "leg" else "MSTR-Torso": "x"}
        hang(rig, f"P-IK-POLE-{first}.L", follow, ("Properties", "ik_pole_follow"))
        ik(rig, f"IK-{second}.L", f"IK-TGT-{third}.L", f"IK-POLE-{first}.L")
        for name in (first, second, third):
            target = f"IK-TGT-{third}.L" if name == third else f"IK-{name}.L"
            constrain(rig, f"ORG-{name}.L", "COPY_TRANSFORMS", f"FK-{name}.L")
            constrain(rig, f"ORG-{name}.L", "COPY_TRANSFORMS", target, ("Properties", f"ik_{limb}", "x"))
        spans = [f"{name}{number}.L" for name in (first, second) for number in (1, 2)]
        for here, after in zip(spans, (*spans[1:], f"{third}.L"), strict=True):
            constrain(rig, f"DEF-{here}", "STRETCH_TO", f"STR-{after}")
        for side in "LR":
            for name in (first, second):
                rig.pose.bones[f"IK-{name}.{side}"].ik_stretch = 0.1
    constrain(rig, "ROLL-Heel.L", "COPY_ROTATION", "ROLL-Foot.L", target_space="LOCAL", owner_space="LOCAL")
    return shown(rig)


def reverse_foot(pole: bool) -> Any:
    """Made by hand: a leg's target hangs on ball and heel of a reverse foot; foot and toes have IK of their own."""
    rows: Rows = BODY | {
        "ik_foot.L": ("root", "heel", "toes"), "roll_heel.L": ("ik_foot.L", "heel", "back"),
        "roll_toe.L": ("roll_heel.L", "toes", "ball"), "roll_ball.L": ("roll_toe.L", "ball", "ankle"),
        "target_leg.L": ("roll_ball.L", "ankle", "back"), "target_ball.L": ("roll_toe.L", "ball", "ground"),
        "target_toe.L": ("roll_toe.L", "toes", "front"), "ik_hand.L": ("root", "wrist", "knuckles"),
        "pole_knee.L": ("ik_foot.L", "ahead", "further ahead"), "pole_elbow.L": ("chest", "behind", "further behind"),
    }  # fmt: skip
    if not pole:
        rows = {name: row for name, row in rows.items() if not name.startswith("pole")}
    rig = build(rows, lambda name: name in BODY or flip_name(name) in BODY, lambda name: name.startswith("target"))
    ik(rig, "shin.L", "target_leg.L", "pole_knee.L" if pole else "")
    ik(rig, "foot.L", "target_ball.L", count=1)
    ik(rig, "toe.L", "target_toe.L", count=1)
    ik(rig, "forearm.L", "ik_hand.L", "pole_elbow.L" if pole else "")
    constrain(rig, "hand.L", "COPY_ROTATION", "ik_hand.L")
    if not pole:
        _hinge(rig, "shin.L")
    return shown(rig)


def ik_on_the_end(free: bool = False) -> Any:
    """Made by hand: IK without poles on hand and foot, up to their heads; the targets are not where these are."""
    rows: Rows = BODY | {
        "ctrl_foot.L": ("root", "heel", "toes"), "goal_foot.L": ("ctrl_foot.L", "ankle", "ball"),
        "ctrl_hand.L": ("root", "knuckles", "behind"), "goal_hand.L": ("ctrl_hand.L", "wrist", "knuckles"),
    }  # fmt: skip
    rig = build(rows, lambda name: name in BODY or flip_name(name) in BODY, lambda name: name.startswith("goal"))
    for end in ("foot", "hand"):
        ik(rig, f"{end}.L", f"goal_{end}.L", count=2, use_tail=False)
        constrain(rig, f"{end}.L", "COPY_ROTATION", f"goal_{end}.L")
    if not free:
        _hinge(rig, "shin.L")
    return shown(rig)


def _hinge(rig: Any, bone: str) -> None:
    """Let IK bend a bone about its X axis alone."""
    for end in (bone, flip_name(bone)):
        rig.pose.bones[end].lock_ik_y = rig.pose.bones[end].lock_ik_z = True


def mmd(doubled: bool) -> Any:
    """Like models of MikuMikuDance; `doubled`: with D bones, which repeat the legs' turns, as mmd_tools has them."""
    rows: Rows = {
        "全ての親": (None, "ground", "front"), "センター": ("全ての親", "hips", "ground"),
        "グルーブ": ("センター", "hips", "ribs"), "腰": ("グルーブ", "waist", "ribs"),
        "下半身": ("腰", "waist", "hips"), "上半身": ("腰", "waist", "ribs"), "上半身2": ("上半身", "ribs", "neck"),
        "首": ("上半身2", "neck", "skull"), "頭": ("首", "skull", "crown"), "左肩": ("上半身2", "collar", "shoulder"),
        "左腕": ("左肩", "shoulder", "elbow"), "左ひじ": ("左腕", "elbow", "wrist"),
        "左手首": ("左ひじ", "wrist", "knuckles"), "左足": ("下半身", "hip", "knee"),
        "左ひざ": ("左足", "knee", "ankle"), "左足首": ("左ひざ", "ankle", "ball"),
        "左足IK親": ("全ての親", "heel", "back"), "左足ＩＫ": ("左足IK親", "ankle", "back"),
        "左つま先ＩＫ": ("左足ＩＫ", "ball", "toes"),
    }  # fmt: skip
    legs = {"足": "下半身", "ひざ": "足", "足首": "ひざ"}
    if doubled:
        for name, parent in legs.items():
            _, *ends = rows[f"左{name}"]
            over = parent if parent == "下半身" else f"左{parent}"
            rows[f"左{name}D"] = (over if parent == "下半身" else f"左{parent}D", *ends)
            rows[f"_dummy_左{name}D"] = (f"左{name}", *ends)
            rows[f"_shadow_左{name}D"] = (over, *ends)
        rows["左足先EX"] = ("左足首D", "ball", "toes")
    rig = build(rows, hidden=lambda name: name[0] == "_")
    for side in "左右":
        turned, foot = rig.pose.bones[f"{side}ひざ"], rig.pose.bones[f"{side}足首"]
        for bone, target, count in ((turned, "足ＩＫ", 2), (foot, "つま先ＩＫ", 1)):
            made = bone.constraints.new("IK")
            made.target, made.subtarget, made.chain_count = rig, side + target, count
        turned.use_ik_limit_x = turned.use_ik_limit_y = turned.use_ik_limit_z = True
        turned.ik_min_x, turned.ik_max_x = 0.0, np.pi
        turned.ik_min_y = turned.ik_max_y = turned.ik_min_z = turned.ik_max_z = 0.0
        for name in legs if doubled else ():
            shadow = rig.pose.bones[f"_shadow_{side}{name}D"].constraints.new("COPY_TRANSFORMS")
            shadow.target, shadow.subtarget = rig, f"_dummy_{side}{name}D"
            adds = rig.pose.bones[f"{side}{name}D"].constraints.new("TRANSFORM")
            adds.target, adds.subtarget = rig, f"_shadow_{side}{name}D"
            adds.target_space = adds.owner_space = "LOCAL"
            adds.map_from = adds.map_to = "ROTATION"
            adds.use_motion_extrapolate, adds.mix_mode_rot = True, "AFTER"
            for axis in "xyz":
                setattr(adds, f"map_to_{axis}_from", axis.upper())
                for end, angle in (("min", -np.pi), ("max", np.pi)):
                    setattr(adds, f"from_{end}_{axis}_rot", angle)
                    setattr(adds, f"to_{end}_{axis}_rot", angle)
    return shown(rig)


def quaternius() -> Any:
    """Like Quaternius' people: feet are the IK targets of the shins and hang on the root, as their poles do."""
    rows: Rows = {
        "Bone": (None, "ground", "front"), "Body": ("Bone", "hips", "waist"), "Hips": ("Body", "hips", "waist"),
        "Abdomen": ("Hips", "waist", "ribs"), "Torso": ("Abdomen", "ribs", "neck"), "Neck": ("Torso", "neck", "skull"),
        "Head": ("Neck", "skull", "crown"), "Shoulder.L": ("Torso", "collar", "shoulder"),
        "UpperArm.L": ("Shoulder.L", "shoulder", "elbow"), "LowerArm.L": ("UpperArm.L", "elbow", "wrist"),
        "Palm.L": ("LowerArm.L", "wrist", "knuckles"), "UpperLeg.L": ("Body", "hip", "knee"),
        "LowerLeg.L": ("UpperLeg.L", "knee", "ankle"), "Foot.L": ("Bone", "ankle", "ball"),
        "PoleTarget.L": ("Bone", "ahead", "further ahead"),
    }  # fmt: skip
    rig = build(rows)
    ik(rig, "LowerLeg.L", "Foot.L", "PoleTarget.L")
    return shown(rig)


@dataclass(frozen=True)
class Built:
    """A rig, and its parts: the bones that a person sees move."""

    make: Callable[[], Any]
    parts: tuple[str, str, str]  # hips, left hand, left foot


ARP: Final = ("root.x", "hand.l", "foot.l")
CLOUD: Final = ("DEF-Hips", "DEF-Hand.L", "DEF-Foot.L")
PLAIN: Final = ("hips", "hand.L", "foot.L")
MMD: Final = ("腰", "左手首", "左足首")
BUILT: Final[dict[str, Built]] = {
    "Auto-Rig Pro on IK": Built(auto_rig_pro, ARP),
    "Auto-Rig Pro on FK": Built(lambda: auto_rig_pro(1.0), ARP),
    "CloudRig on IK": Built(cloud_rig, CLOUD),
    "CloudRig on FK": Built(lambda: cloud_rig(1.0), CLOUD),
    "legs on IK with poles": Built(make_ik_body, PLAIN),
    "reverse feet with poles": Built(lambda: reverse_foot(True), PLAIN),
    "reverse feet without poles": Built(lambda: reverse_foot(False), PLAIN),
    "IK without poles on hands and feet": Built(ik_on_the_end, PLAIN),
    "MMD": Built(lambda: mmd(False), MMD),
    "MMD with D bones": Built(lambda: mmd(True), ("腰", "左手首", "左足首D")),
    "Quaternius": Built(quaternius, ("Body", "Palm.L", "Foot.L")),
}
