"""A drag that is recorded on Rigify: a limb on IK stays on IK, and a motion that switches it is not recorded over."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import read_channels
from core import CoreError
from tests.blender.edits.test_ik_fk_in_time import SWITCH, key_both, switches
from tests.blender.edits.test_recording import FIRST, HANDLERS, LAST, begin, keep, places, play, shift_at
from tests.blender.rigs import load, select, world
from tests.paths import SHARED

context: Any = bpy.context
NEAR = 3e-3  # metres
HAND = "DEF-hand.L"


@pytest.fixture
def rigify() -> Iterator[Any]:
    rig = next(one for one in load(SHARED / "rigs/scripted/rigify_generated_human.blend") if one.name != "metarig")
    select(rig, [])
    edit = context.preferences.edit
    before, edit.use_keyframe_insert_available = edit.use_keyframe_insert_available, False
    context.scene.tool_settings.use_keyframe_insert_auto = True
    known = [list(handlers) for handlers in HANDLERS]
    rig.poise_use_fk_switch = True
    yield rig
    edit.use_keyframe_insert_available = before
    for handlers, those in zip(HANDLERS, known, strict=True):
        handlers[:] = those


def keyed(rig: Any) -> set[str]:
    return {curve.data_path.split('"')[1] for curve in bridge.motion.active_curves(rig)}


def test_the_hand_of_an_arm_on_ik_is_recorded_by_its_control_and_the_arm_stays_on_ik(rigify: Any) -> None:
    """`poise_use_fk_switch` is on: under a mouse that stands still it would switch the arm where IK cannot show it."""
    for frame, place in ((1, 0.0), (20, 0.1)):
        rigify.pose.bones["torso"].location = (place, 0.0, 0.0)
        rigify.pose.bones["torso"].keyframe_insert("location", frame=frame)
    context.scene.frame_set(FIRST)
    start, values = world(rigify, HAND), {bone.name: bone["IK_FK"] for bone in rigify.pose.bones if "IK_FK" in bone}
    session, recording = begin(rigify, HAND)
    play(session, recording)
    keep(rigify, session, recording)
    hands = places(rigify, HAND)
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=NEAR)
    assert "hand_ik.L" in keyed(rigify)
    assert not [name for name in keyed(rigify) if "_fk" in name and not name.startswith("spine")]
    assert not switches(rigify)
    assert {bone.name: bone["IK_FK"] for bone in rigify.pose.bones if "IK_FK" in bone} == values


def test_a_motion_that_switches_the_arm_is_recorded_up_to_there_and_else_nothing_changes(rigify: Any) -> None:
    key_both(rigify)
    first = SWITCH - 4
    context.scene.frame_set(first)
    channels, curves = read_channels(rigify), keys(rigify)
    session, recording = begin(rigify, HAND)
    play(session, recording, range(first, SWITCH))
    context.scene.frame_set(SWITCH)
    with pytest.raises(CoreError, match=r"at this frame\. Record up to this frame"):
        recording.check()
    session.restore()
    recording.close()
    context.scene.frame_set(first)
    for name, values in read_channels(rigify).items():
        np.testing.assert_array_equal(values, channels[name])
    assert keys(rigify) == curves

    session, recording = begin(rigify, HAND)  # up to the switch
    start = world(rigify, HAND)
    play(session, recording, range(first, SWITCH))
    keep(rigify, session, recording)
    assert switches(rigify).items() <= curves.items()
    hands = places(rigify, HAND)
    for frame in range(first, SWITCH):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=NEAR)


@pytest.mark.parametrize("first", [SWITCH + 1])
def test_from_the_switch_on_the_arm_is_recorded_by_its_fk_controls(rigify: Any, first: int) -> None:
    key_both(rigify)
    context.scene.frame_set(first)
    before, start = keys(rigify), world(rigify, HAND)
    session, recording = begin(rigify, HAND)
    play(session, recording, range(first, first + 5))
    keep(rigify, session, recording)
    changed = {path.split('"')[1] for path, points in keys(rigify).items() if points != before.get(path)}
    assert "upper_arm_fk.L" in changed
    assert not [name for name in changed if "_ik" in name]
    assert switches(rigify).items() <= before.items()
    for frame in range(first, first + 5):
        context.scene.frame_set(frame)
        np.testing.assert_allclose(world(rigify, HAND), start + shift_at(frame), atol=NEAR)


def keys(rig: Any) -> dict[str, list[tuple[float, float, str]]]:
    """The keys of all curves, by path; of IK_FK as `switches` has them."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for curve in bridge.motion.active_curves(rig):
        points = [(*key.co, key.interpolation) for key in curve.keyframe_points]
        found.setdefault(curve.data_path, []).extend(points)
    return found
