"""A drag while the motion plays: each frame is keyed from its own pose, with pins held."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab, autokey, read_channels
from core import CoreError, Goal, rotation
from edits.drag.chain import begin_drag
from edits.drag.recording import Recording, reduce_recorded
from edits.drag.session import DragSession
from tests.blender.edits.rigs import curve
from tests.blender.rigs import choose, load, make_armature, make_ik_body, make_walk, select, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context
FEET = ("foot.L", "foot.R")
NEAR = 1e-3  # metres
SAME = 1e-5
FIRST, LAST = 6, 14  # of the recorded frames, of 20
HANDLERS = bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post


@pytest.fixture(autouse=True)
def auto_key(empty_file: None) -> Iterator[None]:
    """Auto-key is on, also for channels without keys."""
    edit = bpy.context.preferences.edit
    before, edit.use_keyframe_insert_available = edit.use_keyframe_insert_available, False
    context.scene.tool_settings.use_keyframe_insert_auto = True
    known_before = [list(handlers) for handlers in HANDLERS]
    yield
    edit.use_keyframe_insert_available = before
    for handlers, known in zip(HANDLERS, known_before, strict=True):
        handlers[:] = known


@pytest.fixture
def walker() -> Any:
    """A walk whose feet are pinned to the animation."""
    rig = make_armature()
    make_walk(rig)
    select(rig, FEET)
    bpy.ops.poise.pin(kind="POSITION")
    select(rig, [])
    context.scene.frame_set(FIRST)
    return rig


def places(rig: Any, *bones: str) -> dict[int, Any]:
    """Where bones are in each frame; the scene stays at its frame."""
    here, found = context.scene.frame_current, {}
    for frame in range(1, 21):
        context.scene.frame_set(frame)
        found[frame] = np.array([world(rig, bone) for bone in bones])
    context.scene.frame_set(here)
    return found


def begin(rig: Any, bone: str = "hand.L") -> tuple[DragSession, Recording]:
    session = begin_drag(context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))], live=True)
    return session, Recording(context.scene, [session])


def shift_at(frame: int) -> np.ndarray:
    """How far the mouse has come at a frame."""
    return (frame - FIRST) / (LAST - FIRST) * np.array([0.05, -0.2, 0.15])


def play(session: DragSession, recording: Recording, frames: Any = range(FIRST, LAST + 1)) -> None:
    """As the mouse moves while the motion plays: the frame changes, then the mouse moves on."""
    for frame in frames:
        if frame != context.scene.frame_current:
            context.scene.frame_set(frame)
        recording.drag(shift_at(frame), rotation.IDENTITY)


def keep(rig: Any, session: DragSession, recording: Recording) -> None:
    assert recording.finish()
    autokey.key(
        context, rig, *recording.changes(session), before=session.body.channels, frames=recording.frames(session)
    )


def record(rig: Any, *, frames: Any = range(FIRST, LAST + 1)) -> None:
    session, recording = begin(rig)
    play(session, recording, frames)
    keep(rig, session, recording)


def test_each_frame_has_the_hand_under_the_mouse_and_the_feet_where_it_had_them(walker: Any) -> None:
    before, start = places(walker, *FEET), world(walker, "hand.L")
    record(walker)
    after, hands = places(walker, *FEET), places(walker, "hand.L")
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=NEAR)
        np.testing.assert_allclose(after[frame], before[frame], atol=NEAR)


def test_what_was_seen_last_in_a_frame_is_keyed_there(walker: Any) -> None:
    session, recording = begin(walker)
    seen = {}
    for frame in range(FIRST, LAST + 1):
        play(session, recording, [frame])
        context.view_layer.update()
        seen[frame] = np.array(walker.pose.bones["forearm.L"].matrix)
    keep(walker, session, recording)
    for frame, matrix in seen.items():
        context.scene.frame_set(frame)
        np.testing.assert_allclose(np.array(walker.pose.bones["forearm.L"].matrix), matrix, atol=SAME)


def test_keys_at_other_frames_and_of_bones_that_do_not_follow_stay(walker: Any) -> None:
    bones = [bone.name for bone in walker.pose.bones]
    before = places(walker, *bones)
    walker.pose.bones["hand.R"].keyframe_insert("rotation_quaternion", frame=3)
    walker.poise_root = "FIXED"
    record(walker)
    after = places(walker, *bones)
    for frame in (1, 5, 15, 20):  # the keys of the walk, beside the recorded frames
        np.testing.assert_allclose(after[frame], before[frame], atol=SAME)
    path = walker.pose.bones["hand.R"].path_from_id("rotation_quaternion")
    assert [key.co.x for key in curve(walker, path).keyframe_points] == [3]
    path = walker.pose.bones["upper_arm.L"].path_from_id("rotation_quaternion")
    assert [key.co.x for key in curve(walker, path).keyframe_points] == [1, 5, *range(FIRST, LAST + 1), 15, 20]
    path = walker.pose.bones["forearm.L"].path_from_id("rotation_quaternion")  # which had no keys
    assert [key.co.x for key in curve(walker, path).keyframe_points] == [5, *range(FIRST, LAST + 1), 15]


def test_frames_that_the_player_leaves_out_are_keyed_on_the_way(walker: Any) -> None:
    before, start = places(walker, *FEET), world(walker, "hand.L")
    record(walker, frames=[FIRST, 9, 10, LAST])
    hands, after = places(walker, "hand.L"), places(walker, *FEET)
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=NEAR)
        np.testing.assert_allclose(after[frame], before[frame], atol=NEAR)


def test_a_new_round_records_over_the_last_one_and_leaves_the_frames_between_alone(walker: Any) -> None:
    session, recording = begin(walker)
    play(session, recording, [18, 19, 20, 1, 2, 3])
    keep(walker, session, recording)
    assert recording.span == (1, 20)
    path = walker.pose.bones["forearm.L"].path_from_id("rotation_quaternion")
    assert [key.co.x for key in curve(walker, path).keyframe_points] == [1, 2, 3, FIRST, 18, 19, 20]


def test_given_back_the_motion_and_the_bones_without_keys_are_as_they_were(walker: Any) -> None:
    start, called = read_channels(walker), [list(handlers) for handlers in HANDLERS]
    session, recording = begin(walker)
    play(session, recording)
    session.restore()
    recording.close()
    context.scene.frame_set(FIRST)
    for name, values in read_channels(walker).items():
        np.testing.assert_array_equal(values, start[name])
    assert [list(handlers) for handlers in HANDLERS] == called


def test_the_hand_stays_under_the_mouse_while_the_armature_travels(walker: Any) -> None:
    for frame, place in ((1, 0.0), (20, 1.0)):
        walker.location.x = place
        walker.keyframe_insert("location", frame=frame)
    context.scene.frame_set(FIRST)
    start = world(walker, "hand.L")
    record(walker)
    hands = places(walker, "hand.L")
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=NEAR)


def test_recorded_keys_are_reduced_within_five_millimetres(walker: Any) -> None:
    session, recording = begin(walker)
    play(session, recording)
    keep(walker, session, recording)
    before = places(walker, "hand.L", "head", *FEET)
    told = reduce_recorded(context, walker, recording.span, recording.changes(session))
    assert "keys kept" in told
    path = walker.pose.bones["forearm.L"].path_from_id("rotation_quaternion")
    assert len(curve(walker, path).keyframe_points) < LAST - FIRST + 1
    after = places(walker, "hand.L", "head", *FEET)
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(after[frame], before[frame], atol=5e-3)


def test_controls_of_a_driven_body_are_recorded() -> None:
    rig = make_ik_body()
    for frame, place in ((1, 0.0), (20, 0.2)):
        rig.pose.bones["foot_ik.L"].location = (0.0, 0.0, place)
        rig.pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    select(rig, [])
    context.scene.frame_set(FIRST)
    start = world(rig, "hand.L")
    session, recording = begin(rig)
    play(session, recording)
    keep(rig, session, recording)
    hands = places(rig, "hand.L")
    for frame in range(FIRST, LAST + 1):
        np.testing.assert_allclose(hands[frame][0], start + shift_at(frame), atol=3e-3)


def test_a_chain_is_recorded_by_its_list(walker: Any) -> None:
    choose(walker, "upper_arm.L", "hand.L")
    assert bpy.ops.poise.add_chain() == {"FINISHED"}
    start = world(walker, "hand.L")
    record(walker)
    hands = places(walker, "hand.L")
    path = walker.pose.bones["upper_arm.L"].path_from_id("rotation_quaternion")
    assert [key.co.x for key in curve(walker, path).keyframe_points] == [1, 5, *range(FIRST, LAST + 1), 15, 20]
    np.testing.assert_allclose(hands[FIRST + 1][0], start + shift_at(FIRST + 1), atol=0.02)


def test_what_goes_wrong_in_a_frame_is_raised_to_the_one_who_drags(walker: Any) -> None:
    _, recording = begin(walker)
    bpy.ops.object.mode_set(mode="OBJECT")
    context.scene.frame_set(FIRST + 1)
    with pytest.raises(CoreError, match="is no longer in Pose Mode"):
        recording.check()
    recording.close()


def test_a_recorded_drag_is_not_repeated_with_other_numbers(walker: Any) -> None:
    with pytest.raises(RuntimeError, match="Drag again during playback"):
        bpy.ops.poise.drag(bone="hand.L", shift=(0.1, 0.0, 0.0), recorded=True)


@pytest.mark.parametrize("kind", [pytest.param("POSITION", marks=pytest.mark.long), "BOTH"])
def test_feet_stay_also_where_the_hand_is_far_out_of_reach(empty_file: None, kind: str) -> None:
    rig = load(DATA / "motion" / "cmu_07_12.bvh")[0]
    context.scene.frame_end = 80
    context.scene.frame_set(20)
    select(rig, ["LeftFoot", "RightFoot"])
    bpy.ops.poise.pin(kind=kind)
    session, recording = begin(rig, "LeftHand")
    shifts = {25: 0.26, 28: 0.78, 32: 1.04, 36: 1.3, 39: 1.55, 41: 1.81, 43: 2.07}
    off = list[float]()
    for frame in range(20, 50):
        context.scene.frame_set(frame)
        recording.check()
        if frame in shifts:
            recording.drag(shifts[frame] * np.array([1.0, 1.97, 1.3]), rotation.IDENTITY)
        feet = [isinstance(goal, Goal) for goal in session.solution.goals]  # the balance comes last, and is given up
        off.append(float(session.solution.position_error[feet][1:].max()))
    recording.close()
    assert max(off) < 1e-3 * rig.dimensions.z
