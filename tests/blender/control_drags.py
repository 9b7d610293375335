"""Control rigs that are dragged and solved, and measured where Blender has their bones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import addon_utils
import bpy
import numpy as np
from mathutils import Vector

import bridge
from bridge import Grab
from bridge.channels import rotation_channel
from core import forward, rotation
from edits.drag.explain import explain
from edits.drag.session import DragSession
from edits.info import describe
from edits.job import perform_job
from edits.pin_list import find_pin, set_pins
from edits.pins import job_from_pins
from tests.blender.control_rigs import BUILT, flip_name
from tests.blender.rigs import load, put_on_fk, select, world
from tests.paths import SHARED

STILL: Final = np.array([1.0, 0.0, 0.0, 0.0])
WAYS: Final = {  # of a human of 1.7 m, metres
    "hips": (0.0, 0.0, -0.05), "hand.L": (0.0, -0.08, 0.06), "hand.R": (0.05, -0.03, 0.04),
    "foot.L": (0.02, -0.1, 0.08), "foot.R": (-0.03, 0.08, 0.1),
}  # fmt: skip
TICKS: Final = 10
NEAR: Final = 1e-3  # metres of such a human
TURNED: Final = 0.5  # degrees

Parts = Mapping[str, str]  # role -> bone
Made = tuple[Any, Parts]


def built(name: str) -> Made:
    """One of the rigs that are built here, in Pose Mode, in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, (hips, hand, foot) = BUILT[name].make(), BUILT[name].parts
    select(rig, [])
    return rig, {
        "hips": hips, "hand.L": hand, "hand.R": flip_name(hand), "foot.L": foot, "foot.R": flip_name(foot),
    }  # fmt: skip


def shared(file: str, fk: float = 0.0, pole: bool = False, **named: str) -> Made:
    """A rig of ../shared/data, without a motion, with its parts by role; those of animals have to be named."""
    path = SHARED / "rigs" / file
    rig = next(rig for rig in load(generated(path) if "_metarig_" in file else path) if rig.name != "metarig")
    if rig.animation_data is not None:
        rig.animation_data.action = None
    for bone in rig.pose.bones:
        if "pole_vector" in bone:
            bone["pole_vector"] = pole
    put_on_fk(rig, fk)
    select(rig, [])
    return rig, _parts(rig, **named)


@cache
def generated(metarig: Path) -> Path:
    """A file with Rigify's rig of a metarig, in Blender's folder for the session: it takes up to a minute to make."""
    select(load(metarig)[0], [])
    addon_utils.enable("rigify", default_set=True)  # with False, Rigify registers without its parameters
    bpy.ops.pose.rigify_generate()
    path = Path(bpy.app.tempdir) / metarig.name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def _parts(rig: Any, **named: str) -> Parts:
    whole = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, whole.skeleton)
    sided = {key.replace("_", "."): bone for key, bone in named.items()}
    sided |= {key.replace(".L", ".R"): flip_name(bone) for key, bone in sided.items()}
    return sided | {role: whole.skeleton.names[roles.bone(role)] for role in WAYS if role not in sided}


_HUMAN: Final = "scripted/rigify_generated_human.blend"
RIGS: Final[dict[str, Callable[[], Made]]] = {
    **{name: (lambda name=name: built(name)) for name in BUILT},
    "Rigify on IK": lambda: shared(_HUMAN),
    "Rigify on IK with poles": lambda: shared(_HUMAN, pole=True),
    "Rigify on FK": lambda: shared(_HUMAN, fk=1.0),
    "Rigify's wolf": lambda: shared(
        "scripted/rigify_generated_wolf.blend", hips="DEF-spine.005", foot_L="DEF-foot.L", hand_L="DEF-front_foot.L"
    ),
    "Rigify's cat": lambda: shared(
        "scripted/rigify_metarig_cat.blend", hips="DEF-spine.001", foot_L="DEF-foot.L", hand_L="DEF-hand.L"
    ),
    "Rigify's horse": lambda: shared(
        "scripted/rigify_metarig_horse.blend", hips="DEF-spine.002", foot_L="DEF-hind_foot.L", hand_L="DEF-forefoot.L"
    ),
    "Rigify's basic quadruped": lambda: shared(
        "scripted/rigify_metarig_basic_quadruped.blend",
        hips="DEF-spine.004",
        foot_L="DEF-foot.L",
        hand_L="DEF-front_foot.L",
    ),
    "MMD of the shared data": lambda: shared("scripted/named_mmd_japanese.blend"),
    "Quaternius' man": lambda: shared("real/quaternius_male_casual.blend"),
}


CONTROLS: Final[dict[str, tuple[str, ...]]] = {  # rig -> controls on its left side that are dragged themselves
    "Auto-Rig Pro on IK": ("c_hand_ik.l", "c_foot_ik.l"),
    "CloudRig on IK": ("IK-MSTR-Hand.L", "IK-TGT-Hand.L", "IK-POLE-UpperArm.L", "IK-MSTR-Foot.L"),
    "legs on IK with poles": ("foot_ik.L", "knee.L"),
    "reverse feet with poles": ("ik_foot.L", "roll_heel.L", "pole_knee.L", "ik_hand.L", "pole_elbow.L"),
    "reverse feet without poles": ("ik_foot.L", "roll_heel.L", "ik_hand.L"),
    "MMD": ("左足IK親", "左足ＩＫ", "左つま先ＩＫ"),
    "MMD with D bones": ("左足IK親", "左足ＩＫ", "左つま先ＩＫ"),
    "Quaternius": ("Foot.L", "PoleTarget.L"),
    "Rigify on IK": ("hand_ik.L", "foot_ik.L", "foot_heel_ik.L", "toe_ik.L"),
    "Rigify on IK with poles": ("hand_ik.L", "foot_ik.L", "upper_arm_ik_target.L", "thigh_ik_target.L"),
    "Rigify's wolf": ("front_foot_ik.L", "foot_ik.L", "front_foot_heel_ik.L", "foot_heel_ik.L", "front_toe.L", "toe.L"),
    "Rigify's cat": ("hand_ik.L", "foot_ik.L", "hand_heel_ik.L", "foot_heel_ik.L"),
    "Rigify's horse": (
        "forefoot_ik.L", "hind_foot_ik.L", "forefoot_heel_ik.L", "hind_foot_heel_ik.L", "f_toe_ik.L", "r_toe_ik.L",
    ),
    "Rigify's basic quadruped": (
        "front_foot_ik.L", "foot_ik.L", "front_foot_heel_ik.L", "front_toe_tweak.L", "toe_tweak.L",
    ),
    "MMD of the shared data": ("左足ＩＫ親", "左足ＩＫ"),
    "Quaternius' man": ("Foot.L", "PoleTarget.L"),
}  # fmt: skip
CONTROL_WAY: Final = (0.03, -0.05, 0.06)  # of them, metres of a human of 1.7 m


@dataclass(frozen=True)
class Shown:
    """What Blender shows of a solved pose.

    off, turned  the largest distance (metres of a human of 1.7 m) and angle (degrees) of a part from where it was
                 solved, and `worst`, the names of these parts
    short        how far the dragged bone is from where it was wanted, likewise
    pins         how far a pinned bone is from its pin at most, likewise
    said         the sentences about what is not as wanted
    """

    off: float
    turned: float
    worst: tuple[str, str]
    short: float
    pins: float
    said: tuple[str, ...]


def size_of(rig: Any) -> float:
    """The size of a rig; 1 is that of a human of 1.7 m."""
    return bridge.read_rig(rig).skeleton.size


def pin_feet(rig: Any, parts: Parts, dragged: str) -> None:
    """Pin the feet that are not dragged."""
    set_pins(bpy.context, rig, [parts[foot] for foot in ("foot.L", "foot.R") if foot != dragged], "BOTH", "WORLD")


def key_step(rig: Any, frames: Sequence[int], sparse: bool = False) -> None:
    """Key the controls of a body at frames, in a step; go to the second of them. `sparse`: their places alone."""
    scene: Any = bpy.context.scene
    whole = bridge.read_rig(rig)
    controlled = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    moved, posed = [0], [*range(len(rig.pose.bones))]
    if controlled is not None:
        moved, posed = sorted({*controlled.bones_that("moves").tolist()} - {-1}), sorted(controlled.keyed)
    for frame in frames:
        for number, bone in enumerate(moved):
            share = 0.05 * whole.skeleton.size * (frame / 40.0) * (-1.0) ** number
            rig.pose.bones[bone].location = (share, 0.5 * share, 0.3 * share)
        for bone in moved if sparse else posed:
            keyed = rig.pose.bones[bone]
            keyed.keyframe_insert("location", frame=frame)
            if not sparse:
                keyed.keyframe_insert(rotation_channel(keyed.rotation_mode), frame=frame)
    scene.frame_set(frames[1])


def drag(rig: Any, parts: Parts, role: str) -> Shown:
    """Drag a part as the mouse does, until nothing moves any more, and keep the pose."""
    pin_feet(rig, parts, role)
    return drag_bone(rig, parts[role], WAYS[role])


def drag_bone(rig: Any, bone: str, way: Sequence[float]) -> Shown:
    """Drag a bone by metres of a human of 1.7 m, as the mouse does, until nothing moves any more, and keep the pose."""
    size = size_of(rig)
    shift = size * np.array(way)
    wanted = world(rig, bone) + shift
    session = DragSession(bpy.context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(1.0 / TICKS, 1.0, TICKS):
        session.drag(share * shift, STILL)
    for _ in range(TICKS):
        session.rest()
        if not session.restless:
            break
    session.finish()
    short = float(np.linalg.norm(world(rig, bone) - wanted)) / size
    body = session.body
    matrices, bones = bridge.read_matrices(rig), np.arange(len(body.skeleton))
    if body.controlled is None:
        seen = bridge.read_pose(rig, body.rig)
    else:
        seen, bones = bridge.read_controlled(body.controlled, matrices), body.controlled.bones
    own, names = np.flatnonzero(body.skeleton.movable | body.skeleton.translatable.any(axis=1)), body.skeleton.names
    frames = [forward(body.skeleton, pose) for pose in (session.pose, seen)]
    places = np.stack([frames[1][0], matrices[bones, :, 3]])  # of the bones that deform, too
    off = np.linalg.norm(places - frames[0][0], axis=-1).max(axis=0)[own] / size
    turned = np.degrees(rotation.angle_between(frames[0][1], frames[1][1]))[own]
    worst = names[own[off.argmax()]], names[own[turned.argmax()]]
    pins = max(pins_off(rig)[0].values(), default=0.0)
    return Shown(float(off.max()), float(turned.max()), worst, short, pins, tuple(explain(session)))


def solve_here(rig: Any, parts: Parts, role: str) -> Shown:
    """Pin the feet and a part beside its place, turn as it is, and solve; measured are the pinned bones."""
    size = size_of(rig)
    set_pins(bpy.context, rig, [*dict.fromkeys((parts["foot.L"], parts["foot.R"], parts[role]))], "BOTH", "WORLD")
    pin = find_pin(rig, parts[role])
    pin.position = np.add(pin.position, size * np.array(WAYS[role])).tolist()
    report = perform_job(bpy.context, rig, job_from_pins(rig))
    bpy.context.view_layer.update()
    off, turned = pins_off(rig)
    worst = max(off, key=off.__getitem__), max(turned, key=turned.__getitem__)
    return Shown(off[worst[0]], turned[worst[1]], worst, off[parts[role]], off[worst[0]], tuple(report.explanations))


def pins_off(rig: Any) -> tuple[dict[str, float], dict[str, float]]:
    """How far bones are from their pins in the world: distances (of a human of 1.7 m) and angles (degrees)."""
    off, turned, size = {}, {}, size_of(rig)
    for pin in rig.poise_pins:
        here = rig.matrix_world @ rig.pose.bones[pin.name].matrix
        off[pin.name] = float(np.linalg.norm(np.array(here.translation) - pin.position)) / size
        turn = rotation.angle_between(np.array(here.to_quaternion()), np.array(pin.rotation))
        turned[pin.name] = float(np.degrees(turn))
    return off, turned


def bake(rig: Any, parts: Parts) -> float:
    """Bake five frames in which the hips go down, feet pinned; return how far a foot is from its pin at most."""
    scene: Any = bpy.context.scene
    pin_feet(rig, parts, "hips")
    controls = describe(rig)["controls"]
    found = controls.get("hips") or controls["spine"]
    hips = rig.pose.bones[found if isinstance(found, str) else found[0]]
    for frame, share in ((1, 0.0), (5, 1.0)):
        down = hips.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -0.05 * size_of(rig)))
        hips.location = share * down
        hips.keyframe_insert("location", frame=frame)
    assert bpy.ops.poise.bake(frame_start=1, frame_end=5, action="NEW") == {"FINISHED"}
    found = []
    for frame in range(1, 6):
        scene.frame_set(frame)
        found.append(max(pins_off(rig)[0].values()))
    return max(found)


def t_pose(rig: Any) -> float:
    """Take a T-pose; return by how many degrees an arm is off at most."""
    assert bpy.ops.poise.take_posture(posture="T") == {"FINISHED"}
    whole = bridge.read_rig(rig)
    roles, names = bridge.read_roles(rig, whole.skeleton), whole.skeleton.names
    found = []
    for side, across in (("L", 1.0), ("R", -1.0)):
        line = np.subtract(*(world(rig, names[roles.bone(f"{part}.{side}")]) for part in ("hand", "upper_arm")))
        found.append(float(np.degrees(np.arccos(np.clip(across * line[0] / np.linalg.norm(line), -1.0, 1.0)))))
    return max(found)


def settings(rig: Any) -> dict[tuple[str, str], Any]:
    """Custom properties, constraints and modes of all bones. Blender 4.5 lists the marks of pins among the first."""
    found: dict[tuple[str, str], Any] = {}
    for bone in rig.pose.bones:
        own = {key: value for key, value in bone.items() if key != "poise_mark"}
        found |= {(bone.name, key): value for key, value in own.items() if isinstance(value, int | float)}
        found |= {(bone.name, one.name): (one.mute, one.influence) for one in bone.constraints}
        found[bone.name, "mode"] = bone.rotation_mode
    return found


def keys(rig: Any) -> dict[tuple[str, int], dict[float, float]]:
    return {
        (curve.data_path, curve.array_index): {key.co.x: key.co.y for key in curve.keyframe_points}
        for curve in bridge.motion.active_curves(rig)
    }


def seen(rig: Any, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    return bridge.read_matrices(rig)
