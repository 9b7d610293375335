"""Where a limb is on IK in some frames of a motion and on FK in others, each frame is posed by what drives it there."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge.channels import rotation_channel
from core import forward, rotation
from core.formats.job import parse
from core.pose import frame_rotations
from core.steps import run_steps
from edits.body import BodyEdit
from edits.body_tools import PlantFeet
from edits.controls import frames_of_body
from edits.evaluation import evaluate
from edits.foot_lock import LockedFeet
from edits.job import JobEdit
from edits.pinned_motion import PinnedMotion
from tests.blender.rigs import load, put_on_fk, select, world
from tests.paths import SHARED

context: Any = bpy.context
FRAMES, SWITCH = np.arange(1, 41), 20
IK = ("hand_ik.L", "hand_ik.R", "foot_ik.L", "foot_ik.R")


def switches(rig: Any) -> dict[str, list[tuple[float, float, str]]]:
    """The keys of IK_FK."""
    return {
        curve.data_path: [(*key.co, key.interpolation) for key in curve.keyframe_points]
        for curve in bridge.motion.active_curves(rig)
        if "IK_FK" in curve.data_path
    }


def key_both(rig: Any) -> set[str]:
    """Key a step on IK and on FK at 1, 20 and 40; IK_FK switches all limbs to FK at `SWITCH`. Return all controls."""
    whole = bridge.read_rig(rig)
    roles, names = bridge.read_roles(rig, whole.skeleton), whole.skeleton.names
    controls: set[str] = set()
    for fk in (1.0, 0.0):
        put_on_fk(rig, fk)
        context.view_layer.update()
        found = bridge.find_controlled(rig, whole, roles)
        assert found is not None
        controls |= {names[bone] for bone in found.keyed}
    bones = rig.pose.bones
    for frame in (1, 20, 40):
        for number, name in enumerate((*IK, "torso")):
            share = 0.05 * (frame / 40.0) * (-1.0) ** number
            bones[name].location = (share, 0.5 * share, 0.3 * share)
        for name, sign in (("upper_arm_fk", 1.0), ("forearm_fk", 1.0), ("thigh_fk", -1.0), ("shin_fk", 1.0)):
            half = 0.004 * frame * sign
            for side in "LR":
                bones[f"{name}.{side}"].rotation_quaternion = (np.cos(half), np.sin(half), 0.0, 0.0)
        for name in controls:
            bones[name].keyframe_insert("location", frame=frame)
            bones[name].keyframe_insert(rotation_channel(bones[name].rotation_mode), frame=frame)
    for bone in (bone for bone in bones if "IK_FK" in bone):
        for frame, value in ((1, 0.0), (SWITCH, 1.0)):
            bone["IK_FK"] = value
            bone.keyframe_insert('["IK_FK"]', frame=frame)
    for curve in bridge.motion.active_curves(rig):
        for key in curve.keyframe_points if "IK_FK" in curve.data_path else ():
            key.interpolation = "CONSTANT"
    context.scene.frame_set(1)
    return controls


@pytest.fixture
def stepping() -> Any:
    rig = next(one for one in load(SHARED / "rigs/scripted/rigify_generated_human.blend") if one.name != "metarig")
    select(rig, [])
    key_both(rig)
    return rig


def motion_of(rig: Any) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """The names of the bones, and the rotations and locations that the action has for them in all frames."""
    whole = bridge.read_rig(rig)
    pose = bridge.read_motion(rig, whole, FRAMES)[0].pose
    return whole.skeleton.names, pose.rotations, pose.translations


def differences(rig: Any, edit: Any, heads: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far Blender shows the parts from where they were solved: millimetres and degrees (F, N)."""
    seen = frames_of_body(edit.controlled, evaluate(context, rig, FRAMES)).matrices
    apart = 1000.0 * np.linalg.norm(seen[..., 3] - heads, axis=-1)
    return apart, np.degrees(rotation.angle_between(frame_rotations(seen[..., :3]), turns))


def assert_only_controls_that_drive_changed(before: Any, after: Any) -> None:
    names = before[0]
    off = rotation.angle_between(before[1], after[1]) + np.linalg.norm(after[2] - before[2], axis=-1) > 1e-5
    changes = [off[(FRAMES >= SWITCH) == fk].any(axis=0) for fk in (0, 1)]
    changed = {(names[bone], fk) for fk, on in enumerate(changes) for bone in np.flatnonzero(on)}
    ik = {name for name in names if "_ik." in name and not name.startswith(("MCH-", "DEF-", "ORG-"))}
    fk = {name for name in names if "_fk." in name and not name.startswith("spine")}
    assert changed & {(name, 0) for name in ik}
    assert changed & {(name, 1) for name in fk}
    assert not changed & {*((name, 1) for name in ik), *((name, 0) for name in fk)}


@pytest.mark.parametrize("present", [pytest.param(1, marks=pytest.mark.long), 30])
def test_a_bake_with_pins_over_a_switch_shows_what_is_solved_in_all_frames(stepping: Any, present: int) -> None:
    context.scene.frame_set(present)
    reach = np.add(world(stepping, "DEF-hand.L"), (-0.1, -0.2, 0.1))
    goals = [
        {"bone": "DEF-foot.L", "pin": ["position", "rotation"]},
        {"bone": "DEF-foot.R", "pin": ["position", "rotation"]},
        {"bone": "DEF-hand.L", "position": reach.tolist()},
    ]
    before, keyed = motion_of(stepping), switches(stepping)
    edit = JobEdit(context, stepping, parse({"version": 1, "frames": [1, 40], "goals": goals}))
    edit.solve()
    run_steps(edit.pose_controls(stepping))
    report = edit.write(stepping)
    assert report.met, report.explanations
    assert switches(stepping) == keyed
    apart, turned = differences(stepping, edit, *forward(edit.body, edit.solution.pose))
    assert apart.max() < 1.0
    assert turned.max() < 0.5
    assert_only_controls_that_drive_changed(before, motion_of(stepping))


@pytest.mark.long
@pytest.mark.parametrize("tool", ["lock-feet", "timed pins"])
def test_held_feet_stay_where_they_are_over_a_switch(stepping: Any, tool: str) -> None:
    keyed, stood = switches(stepping), world(stepping, "DEF-foot.L")
    if tool == "lock-feet":
        edit: Any = LockedFeet(context, stepping, (1, 40))
    else:
        pin = stepping.poise_timed_pins.add()
        pin.bone, pin.start, pin.end, pin.frame = "DEF-foot.L", 1, 40, 1
        edit = PinnedMotion(context, stepping)
    edit.solve()
    report = edit.write(stepping)
    assert report.met, report.explanations
    assert switches(stepping) == keyed
    if tool == "timed pins":
        places = evaluate(context, stepping, FRAMES).matrices[:, edit.rig.skeleton.index("DEF-foot.L"), :, 3]
        np.testing.assert_allclose(places, np.broadcast_to(stood, places.shape), atol=1e-3)
    else:
        assert edit.pins
    apart, turned = differences(stepping, edit, *forward(edit.skeleton, edit.after.pose))
    assert apart.max() < 1.0
    assert turned.max() < 0.5


@pytest.mark.long
def test_a_tool_poses_each_frame_by_what_drives_it_there(stepping: Any) -> None:
    keyed, before = switches(stepping), motion_of(stepping)
    edit = BodyEdit(context, stepping, (1, 40), PlantFeet(side="L", height=0.1))
    edit.solve()
    report = edit.write(stepping)
    assert report.met, report.explanations
    assert switches(stepping) == keyed
    assert_only_controls_that_drive_changed(before, motion_of(stepping))
