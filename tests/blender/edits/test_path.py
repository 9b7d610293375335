"""The way of a captured walk, moved, scaled and bent; feet stand."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from core import CoreError, forward, rotation
from core.editing.path import edit_path
from core.motion import shifted
from edits.foot_lock import LockedFeet
from edits.motion_edit import MotionEdit
from edits.path import PathEdit
from tests.blender.rigs import contents, context, load
from tests.paths import DATA

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]
FRAMES = (2, 66)


@pytest.fixture
def walker() -> Any:
    return load(DATA / "motion" / "cmu_07_12.bvh")[0]


def hips(rig: Any) -> np.ndarray:
    """(F, 3) in the world; the armature object stands at its origin."""
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(FRAMES[0], FRAMES[1] + 1))
    return forward(read.skeleton, motion.pose)[0][:, bridge.read_roles(rig, read.skeleton).bones["hips"]]


def test_without_a_change_the_motion_is_the_same(walker: Any) -> None:
    edit = PathEdit(context, walker, FRAMES, plant=False)
    np.testing.assert_allclose(edit.after.pose.translations, edit.before.pose.translations, atol=1e-9)
    np.testing.assert_allclose(edit.after.pose.rotations, edit.before.pose.rotations, atol=1e-12)


def test_a_bent_way_has_turned_by_that_much_and_is_as_long(walker: Any) -> None:
    edit = PathEdit(context, walker, FRAMES, bend=90.0, plant=False)
    bone = edit.roles.bones["hips"]
    before, after = (forward(edit.rig.skeleton, m.pose) for m in (edit.before, edit.after))
    steps = [np.diff(heads[:, bone, :2], axis=0) for heads, _ in (before, after)]
    np.testing.assert_allclose(np.linalg.norm(steps[1], axis=1), np.linalg.norm(steps[0], axis=1), rtol=1e-6)
    headings = [np.arctan2(step[:, 1], step[:, 0]) for step in steps]
    turned = np.degrees(np.unwrap(headings[1] - headings[0]))
    assert turned[-1] == pytest.approx(90.0, abs=2.0)
    assert turned[len(turned) // 2] == pytest.approx(45.0, abs=5.0)
    np.testing.assert_allclose(after[0][:, bone, 2], before[0][:, bone, 2], atol=1e-6)


def test_a_scaled_and_moved_way_keeps_its_feet_planted(walker: Any) -> None:
    was = hips(walker)
    actions = contents()["actions"]
    options = ["--scale", "1.2", "--offset", "1", "0", "0", "--frames", *(str(frame) for frame in FRAMES)]
    assert commands.run(["edit-path", *options]) == 0  # every foot at its place
    now = hips(walker)
    way = np.linalg.norm((now[-1] - now[0])[:2]) / np.linalg.norm((was[-1] - was[0])[:2])
    assert way == pytest.approx(1.2, abs=0.03)
    after = contents()["actions"]
    assert {name: after[name] for name in actions} == actions


def test_a_way_that_was_scaled_on_purpose_is_kept_where_that_is_said(walker: Any) -> None:
    def way() -> float:
        return float(np.linalg.norm((hips(walker)[-1] - hips(walker)[0])[:2]))

    assert commands.run(["edit-path", "--scale", "1.4", "--no-feet"]) == 0
    scaled = way()
    assert commands.run(["lock-feet", "--drift", "keep"]) == 0
    assert way() == pytest.approx(scaled, rel=0.02)


def test_feet_that_glide_do_not_stand_where_there_is_no_drift(walker: Any) -> None:
    edit = LockedFeet(context, walker, FRAMES)
    speed = 1.2 * edit.skeleton.size * np.arange(len(edit.before)) / edit.before.fps
    still = MotionEdit.read_frames(edit, walker, slice(None))[0]
    flat = forward(edit.skeleton, still.pose)[0][:, edit.roles.bones["hips"]] * [1.0, 1.0, 0.0]
    glide = speed[:, None] * [1.0, 0.0, 0.0]
    pose = shifted(edit.skeleton, still.pose, 0, glide - flat)
    bridge.write_keys(walker, edit.rig, replace(still, pose=pose), [], [0], new=False)
    with pytest.raises(CoreError, match="Nothing touches the ground"):
        LockedFeet(context, walker, FRAMES, drift="none")


def lowest_toes(rig: Any) -> float:
    """The lowest of the balls and tips of the toes in the motion, in the world."""
    found = []
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        context.scene.frame_set(frame)
        toes = [rig.pose.bones[f"{side}ToeBase"] for side in ("Left", "Right")]
        found += [(rig.matrix_world @ place).z for toe in toes for place in (toe.head, toe.tail)]
    return min(found)


@pytest.mark.parametrize("fps", [24, 25, 30, 48, 60])
@pytest.mark.parametrize("verb", ["scaled", "locked"])
def test_no_toe_is_deeper_than_before(walker: Any, verb: str, fps: int) -> None:
    context.scene.render.fps = fps
    before = lowest_toes(walker)
    edit = PathEdit(context, walker, FRAMES, scale=1.5) if verb == "scaled" else LockedFeet(context, walker, FRAMES)
    edit.solve()
    edit.write(walker)
    millimetre = 0.001 * edit.skeleton.size / 1.7
    assert lowest_toes(walker) > before - millimetre


def test_the_operator_does_the_same_and_says_which_frames_change(walker: Any, capfd: Any) -> None:
    context.view_layer.objects.active = walker
    was = hips(walker)
    assert bpy.ops.poise.edit_path(offset=(0.0, 2.0, 0.0), plant=False) == {"FINISHED"}
    np.testing.assert_allclose(hips(walker) - was, np.tile([0.0, 2.0, 0.0], (len(was), 1)), atol=1e-4)
    capfd.readouterr()
    part = {"frame_start": 20, "frame_end": 30, "ease": 0.2, "plant": False}
    assert bpy.ops.poise.edit_path(offset=(1.0, 0.0, 0.0), **part) == {"FINISHED"}
    assert "Edited frames 15 to 35 in " in capfd.readouterr().out


def test_a_body_that_stays_does_not_turn(walker: Any) -> None:
    read = bridge.read_rig(walker)
    motion, _ = bridge.read_motion(walker, read, [30])
    led = edit_path(read.skeleton, motion, 0, bend=1.0)
    np.testing.assert_allclose(led.pose.rotations, motion.pose.rotations)


def test_a_part_of_the_way_is_changed_without_a_jump_and_what_follows_goes_on(walker: Any) -> None:
    was, edit = hips(walker), PathEdit(context, walker, (20, 30), (1.0, 0.0, 0.0), plant=False, ease=0.2)
    edit.solve()
    edit.write(walker)
    shift = (hips(walker) - was)[:, 0]
    frames = np.arange(FRAMES[0], FRAMES[1] + 1)
    np.testing.assert_allclose(shift[(frames >= 20) & (frames <= 30)], 1.0, atol=1e-4)
    np.testing.assert_allclose(shift[(frames <= 14) | (frames >= 36)], 0.0, atol=1e-4)
    assert np.abs(np.diff(shift)).max() < 0.4

    edit = PathEdit(context, walker, (20, 30), bend=90.0, scale=2.0, plant=False)
    bone = edit.roles.bones["hips"]
    steps = [np.diff(forward(edit.rig.skeleton, m.pose)[0][:, bone, :2], axis=0) for m in (edit.before, edit.after)]
    lengths = [np.linalg.norm(step, axis=1) for step in steps]
    wanted = np.where((edit.before.frames[:-1] >= 20) & (edit.before.frames[1:] <= 30), 2.0, 1.0)
    np.testing.assert_allclose(lengths[1], wanted * lengths[0], rtol=1e-5)
    headings = [np.arctan2(step[:, 1], step[:, 0]) for step in steps]
    turned = np.degrees(np.unwrap(headings[1] - headings[0]))
    np.testing.assert_allclose(turned[edit.before.frames[:-1] >= 30], 90.0, atol=1e-3)


def test_an_offset_of_all_of_the_way_changes_no_pose(walker: Any) -> None:
    edit = PathEdit(context, walker, bridge.keyed_range(walker), (1.0, 0.0, 0.0))
    edit.solve()
    assert not edit.pins
    np.testing.assert_allclose(edit.after.pose.rotations, edit.before.pose.rotations, atol=1e-12)
    edit.write(walker)
    name = walker.animation_data.action.name
    edit.write(walker)
    assert name.endswith(" poise")
    assert walker.animation_data.action.name == f"{name}.001"


def test_feet_in_a_part_of_the_motion_are_locked_without_a_jump_at_its_ends(walker: Any) -> None:
    edit = LockedFeet(context, walker, (20, 30))
    edit.solve()
    assert all(pin.start <= 30 and pin.end >= 20 for pin in edit.pins)
    assert (min(pin.start for pin in edit.pins), max(pin.end for pin in edit.pins)) == (
        10,
        35,
    )  # none ends in its midst
    touched = (edit.before.frames >= 3) & (edit.before.frames <= 42)
    turned = rotation.angle_between(edit.before.pose.rotations, edit.after.pose.rotations).max(axis=1)
    assert turned[~touched].max() < 1e-12
    steps = np.abs(np.diff(turned))
    assert steps[edit.before.frames[:-1] == 30] < 0.5 * steps.max()


def test_of_some_frames_only_what_changes_is_planted(walker: Any) -> None:
    edit = PathEdit(context, walker, (40, 50), scale=1.3, ease=0.1)
    edit.solve()
    assert edit.pins
    assert all(pin.start <= 53.0 and pin.end >= 37.0 for pin in edit.pins)
    first = min(pin.start - pin.ease_in for pin in edit.pins) - edit.before.frames[0]
    assert first > 5
    still = slice(0, int(first))
    np.testing.assert_allclose(edit.after.pose.rotations[still], edit.before.pose.rotations[still], atol=1e-9)
    np.testing.assert_allclose(edit.after.pose.translations[still], edit.before.pose.translations[still], atol=1e-9)
