"""Motions with timed pins: made of the list, changed with it, kept beside bones and actions that change, given back."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

import bridge
from core import CoreError
from core.editing.contacts import foot_of
from edits.fingerprints import fingerprint
from edits.foot_lock import LockedFeet, contact_points
from edits.pinned_actions import is_edited
from edits.pinned_motion import PinnedMotion
from overlay.strips import Strip, fit, lanes_of, strip_strokes
from panels.motion import POISE_PT_timed_pins
from tests.blender.edits.rigs import ENDS, hold, keyed, pins_of, stays
from tests.blender.rigs import (
    contents,
    context,
    drawn_by,
    keys_of,
    linked_copy,
    load,
    make_armature,
    make_empty,
    make_ik_body,
    select,
    world,
)
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

BEGIN, END = 20, 60  # a part of the clip, in which it walks


@pytest.fixture
def walker() -> Any:
    """A captured walk, two steps of it, in Pose Mode."""
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(BEGIN, END + 1))
    rig.animation_data.action = None
    every = range(len(read.skeleton))
    bridge.write_keys(rig, read, motion, every, [0], "walk", new=False)
    context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def places(rig: Any, bone: str, frames: range) -> np.ndarray:
    found = []
    for frame in frames:
        context.scene.frame_set(frame)
        found.append(world(rig, bone))
    return np.array(found)


def pin_hand(rig: Any) -> Any:
    """A pin that is quick to solve."""
    pin = rig.poise_timed_pins.add()
    pin.bone, pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = "RightHand", 30, 32, 30, 2, 2
    return pin


def action_of(rig: Any) -> str:
    return rig.animation_data.action.name


def test_contacts_are_listed_solved_and_given_back(walker: Any) -> None:
    before = contents()
    assert bpy.ops.poise.find_contacts() == {"FINISHED"}
    pins = [(pin.label, pin.start, pin.end, pin.held) for pin in walker.poise_timed_pins]
    assert {label.partition(".")[0] for label, *_ in pins} == {"heel", "ball", "toe"}
    assert all(BEGIN <= start <= end <= END and held == "PLACE" for _, start, end, held in pins)
    assert contents()["actions"] == before["actions"]

    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert action_of(walker) == "walk poise"
    assert contents()["actions"]["walk"] == before["actions"]["walk"]
    ball = next(pin for pin in walker.poise_timed_pins if pin.label.startswith("ball"))
    held = places(walker, ball.bone, range(ball.start, ball.end + 1))
    assert np.ptp(held, axis=0).max() < 1e-4 * bridge.read_rig(walker).skeleton.size

    bpy.ops.poise.remove_timed_pin(all=True)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert action_of(walker) == "walk"
    assert "walk poise" not in bpy.data.actions
    assert contents()["actions"] == before["actions"]


def test_each_solve_begins_with_the_original_motion(walker: Any) -> None:
    bpy.ops.poise.find_contacts()
    while len(walker.poise_timed_pins) > 4:
        walker.poise_timed_pins.remove(4)
    bpy.ops.poise.solve_motion()
    first = contents()["actions"]
    bpy.ops.poise.solve_motion()
    assert contents()["actions"] == first
    pin = walker.poise_timed_pins[0]
    for other in list(walker.poise_timed_pins)[1:]:
        other.mute = True
    bpy.ops.poise.solve_motion()
    source, made = (bpy.data.actions[name] for name in ("walk", "walk poise"))
    near = range(pin.start - pin.ease_in - 1, pin.end + pin.ease_out + 2)
    after = places(walker, "Hips", range(BEGIN, END + 1))
    bridge.assign(walker, source)
    there = places(walker, "Hips", range(BEGIN, END + 1))
    assert walker.poise_result == made
    moved = np.flatnonzero(np.abs(after - there).max(axis=1) > 1e-6) + BEGIN
    assert set(moved.tolist()) <= set(near)


def values_of(action: Any, frames: range) -> dict[Any, Any]:
    """Frames, values and handles of the keys in a range, by channel."""
    found: dict[Any, Any] = {}
    for curve in bridge.all_curves(action):
        keys = [key for key in curve.keyframe_points if key.co[0] in frames]
        found[curve.data_path, curve.array_index] = [(*key.co, *key.handle_left) for key in keys]
    return found


def test_a_changed_pin_is_solved_where_it_reaches_and_all_else_stays_bit_for_bit(walker: Any) -> None:
    for bone, start, end in (("RightFoot", 24, 28), ("LeftFoot", 30, 36), ("RightFoot", 44, 50)):
        pin = walker.poise_timed_pins.add()
        pin.bone, pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = bone, start, end, start, 2, 2
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made, early = walker.poise_result, range(BEGIN, 41)
    before = values_of(made, early)
    walker.poise_timed_pins[2].end = 53
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert walker.poise_result == made
    assert values_of(made, early) == before
    bones = ("Hips", "RightFoot", "LeftHand")
    found = [places(walker, bone, range(BEGIN, END + 1)) for bone in bones]

    assert PinnedMotion(context, walker).only is not None
    walker.poise_result_pins = ""  # as of a file from before: all of it is solved
    assert PinnedMotion(context, walker).only is None
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    whole = [places(walker, bone, range(BEGIN, END + 1)) for bone in bones]
    np.testing.assert_allclose(found, whole, atol=1e-3 * bridge.read_rig(walker).skeleton.size)

    walker.poise_timed_pins.remove(2)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    alone = places(walker, "RightFoot", range(42, END + 1))
    bridge.assign(walker, walker.poise_source)
    np.testing.assert_allclose(places(walker, "RightFoot", range(42, END + 1)), alone, atol=1e-4)


def test_controls_are_keyed_where_a_changed_pin_reaches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = make_ik_body()
    select(rig, [])
    for frame, height in ((1, 0.0), (30, -0.1)):
        rig.pose.bones["hips"].location.z = height
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    for bone, start in (("foot.L", 5), ("hand.R", 20)):
        pin = rig.poise_timed_pins.add()
        pin.bone, pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = bone, start, start + 3, start, 2, 2
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made, early = rig.poise_result, range(1, 16)
    before = values_of(made, early)
    rig.poise_timed_pins[1].frame = 22
    edit = PinnedMotion(context, rig)
    assert edit.controlled is not None
    assert edit.control_frames()[0] > 14
    edit.solve()
    looked, look = list[float](), edit.read_frames
    monkeypatch.setattr(
        edit, "read_frames", lambda rig, part: (looked.extend(edit.before.frames[part]), look(rig, part))[1]
    )
    report = edit.write(rig)
    assert looked == [20.0, 21.0, 22.0, 23.0]  # what the changed pin holds
    assert [goal.bone for goal in report.goals] == ["foot.L", "hand.R"]
    assert report.met
    assert rig.poise_result == made
    assert {key: values for key, values in values_of(made, early).items() if values} == before
    hand = places(rig, "hand.R", range(20, 24))
    assert np.ptp(hand, axis=0).max() < 1e-3
    bpy.ops.poise.give_motion_back()
    np.testing.assert_allclose(hand[0], places(rig, "hand.R", range(22, 23))[0], atol=1e-3)


def test_a_pin_that_was_missed_is_still_said_when_another_one_is_changed(walker: Any) -> None:
    for bone, start in (("RightHand", 24), ("LeftFoot", 44), ("LeftHand", 24)):
        pin = walker.poise_timed_pins.add()
        pin.bone, pin.start, pin.end, pin.frame, pin.ease_in, pin.ease_out = bone, start, start + 2, start, 2, 2
    walker.poise_timed_pins[0].held, walker.poise_timed_pins[0].position = "PLACE", (0.0, 0.0, 90.0)  # from the left
    said = []
    for end in (46, 48):
        walker.poise_timed_pins[1].end = end
        edit = PinnedMotion(context, walker)
        assert (edit.only is None) == (end == 46)
        edit.solve()
        said.append(edit.write(walker).explanations[:2])  # then why, of those that were solved
    assert [sentence.partition(" is ")[0] for sentence in said[0]] == ["RightHand", "LeftHand"]
    assert said[1] == said[0]


def test_a_motion_that_would_go_on_a_whole_turn_away_is_written_as_a_whole(walker: Any) -> None:
    pin_hand(walker)
    bpy.ops.poise.solve_motion()
    made = walker.poise_result
    for curve in bridge.all_curves(made):  # an arm that goes on a turn further, as after a turn that is no more
        if curve.data_path.endswith('"RightForeArm"].rotation_euler') and curve.array_index == 0:
            for key in curve.keyframe_points:
                key.co[1] += 2.0 * np.pi * (key.co[0] > 33.0)
            curve.update()
    walker.poise_result_print = fingerprint(made)
    walker.poise_timed_pins[0].position.z += 1.0
    walker.poise_timed_pins[0].frame = 31
    assert PinnedMotion(context, walker).only is not None
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    for curve in bridge.all_curves(walker.poise_result):
        if curve.data_path.endswith('"RightForeArm"].rotation_euler'):
            values = [curve.evaluate(frame) for frame in range(BEGIN, END + 1)]
            assert np.abs(np.diff(values)).max() < 1.0


def test_a_kept_motion_is_a_plain_action(walker: Any) -> None:
    bpy.ops.poise.find_contacts(points="FEET", ease=0.1)
    bpy.ops.poise.solve_motion()
    assert bpy.ops.poise.keep_motion() == {"FINISHED"}
    assert (walker.poise_source, walker.poise_result, len(walker.poise_timed_pins)) == (None, None, 0)
    assert action_of(walker) == "walk poise"
    with pytest.raises(RuntimeError, match="no pinned motion"):
        bpy.ops.poise.keep_motion()


def test_a_hand_is_held_at_a_frame_and_with_an_object_that_moves(walker: Any, tmp_path: Path) -> None:
    walker.data.bones.active = walker.data.bones["RightHand"]
    for bone in walker.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "RightHand"
    context.scene.frame_set(40)
    assert bpy.ops.poise.add_timed_pin(start=35, end=45) == {"FINISHED"}
    (pin,) = walker.poise_timed_pins
    assert (pin.bone, pin.start, pin.end, pin.held, pin.frame) == ("RightHand", 35, 45, "FRAME", 40)
    there = places(walker, "RightHand", range(40, 41))[0]
    bpy.ops.poise.solve_motion()
    np.testing.assert_allclose(places(walker, "RightHand", range(35, 46)), np.tile(there, (11, 1)), atol=1e-3)

    cup = make_empty("Cup")
    for frame, x in ((35, 0.0), (45, 1.0)):
        cup.location.x = x
        cup.keyframe_insert("location", frame=frame)
    pin.held, pin.target = "OBJECT", cup
    bridge.assign(walker, walker.poise_source)
    start = places(walker, "RightHand", range(35, 36))[0]
    bpy.ops.poise.solve_motion()
    cups = []
    for frame in range(35, 46):
        context.scene.frame_set(frame)
        cups.append(np.array(cup.matrix_world.translation))
    wanted = start + np.array(cups) - cups[0]
    np.testing.assert_allclose(places(walker, "RightHand", range(35, 46)), wanted, atol=2e-3)

    pin.target = linked_copy(cup, tmp_path / "cup.blend")
    cup.animation_data_clear()  # the one here has the same name
    bpy.ops.poise.solve_motion()
    np.testing.assert_allclose(places(walker, "RightHand", range(35, 46)), wanted, atol=2e-3)


def test_a_bone_that_was_dragged_at_one_frame_spreads_over_its_neighbours(walker: Any) -> None:
    for bone in walker.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "RightHand"
    before = places(walker, "RightHand", range(BEGIN, END + 1))
    context.scene.frame_set(40)
    walker.pose.bones["RightArm"].rotation_euler.z += 0.5  # as a drag leaves it: not keyed
    context.view_layer.update()
    there = world(walker, "RightHand")
    assert bpy.ops.poise.add_timed_pin(held="PLACE", ease=8) == {"FINISHED"}
    bpy.ops.poise.solve_motion()
    off = np.linalg.norm(places(walker, "RightHand", range(BEGIN, END + 1)) - before, axis=1)
    np.testing.assert_allclose(places(walker, "RightHand", range(40, 41))[0], there, atol=2e-3)
    peak = 40 - BEGIN
    assert off[peak] > 0.9 * off.max()
    before_it, after_it = off[[peak - 6, peak - 4, peak - 2]], off[[peak + 6, peak + 4, peak + 2]]
    assert (np.diff(before_it) > 0.0).all()  # it comes and goes, and nowhere else
    assert (np.diff(after_it) > 0.0).all()
    assert off[: peak - 8].max() < 1e-4
    assert off[peak + 9 :].max() < 1e-4


@pytest.mark.parametrize("frame", [36, 40])  # in the ease, and held
def test_a_pin_that_is_changed_shows_in_the_present_frame_at_once_without_keys(walker: Any, frame: int) -> None:
    context.scene.frame_set(40)
    pin = walker.poise_timed_pins.add()
    pin.bone, pin.start, pin.end, pin.held, pin.ease_in = "RightHand", 40, 44, "PLACE", 2
    pin.position = walker.pose.bones["RightHand"].head
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    context.scene.frame_set(frame)
    before, action = world(walker, "RightHand"), contents()["actions"]
    pin = walker.poise_timed_pins[0]
    pin.ease_in = 8
    np.testing.assert_array_equal(world(walker, "RightHand"), before)  # it was not asked for
    walker.poise_live_pins = True
    pin.position.z += 3.0  # one of the numbers
    context.view_layer.update()
    shown = world(walker, "RightHand")
    assert np.linalg.norm(shown - before) > 1.0
    assert contents()["actions"] == action

    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    np.testing.assert_allclose(places(walker, "RightHand", range(frame, frame + 1))[0], shown, atol=0.1)

    context.scene.frame_set(frame)
    walker.poise_timed_pins[0].mute = True
    context.view_layer.update()
    shown = world(walker, "RightHand")
    bpy.ops.poise.give_motion_back()
    np.testing.assert_allclose(places(walker, "RightHand", range(frame, frame + 1))[0], shown, atol=1e-3)


def test_what_cannot_be_solved_is_left_out_and_alone_changes_nothing(walker: Any) -> None:
    bpy.ops.poise.find_contacts()
    pins = walker.poise_timed_pins
    while len(pins) > 4:
        pins.remove(4)
    pins[0].held, pins[0].frame, pins[1].held, pins[2].bone = "FRAME", 500, "OBJECT", "gone"
    assert bpy.ops.poise.find_contacts(replace=False) == {"FINISHED"}  # no pin is in its way
    while len(pins) > 4:
        pins.remove(4)
    pins[3].mute = True
    before = contents()
    with pytest.raises(RuntimeError, match=r"needs frame 500.*no object to follow.*gone"):
        bpy.ops.poise.solve_motion()
    assert contents() == before
    pins[3].mute = False
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    edit = PinnedMotion(context, walker)
    assert (len(edit.pins), len(edit.left_out)) == (1, 3)


def test_bones_without_keys_are_as_they_were_in_every_solve_and_come_back() -> None:
    rig = make_armature()
    select(rig, [])
    for frame in (1, 40):
        rig.pose.bones["hand.R"].keyframe_insert("rotation_quaternion", frame=frame)
    before = [places(rig, "head", range(frame, frame + 1))[0] for frame in (1, 20, 39)]
    foot = world(rig, "foot.L")
    rig.poise_live_pins = True
    context.scene.frame_set(20)
    pin = rig.poise_timed_pins.add()
    pin.bone, pin.held, pin.start, pin.end, pin.ease_in = "hand.R", "PLACE", 18, 22, 4
    pin.position = rig.pose.bones["hand.R"].head + Vector((0.0, -0.9, -0.4))  # far enough for the trunk to follow
    context.view_layer.update()
    assert np.linalg.norm(world(rig, "head") - before[1]) > 0.1
    solved = []
    for ease in (4, 5):
        pin.ease_in = ease
        assert bpy.ops.poise.solve_motion() == {"FINISHED"}
        found = [places(rig, "head", range(frame, frame + 1))[0] for frame in (1, 20, 39)]
        np.testing.assert_allclose([found[0], found[2]], [before[0], before[2]], atol=1e-5)
        solved.append(found[1])
        context.scene.frame_set(20)
    np.testing.assert_allclose(solved[0], solved[1], atol=1e-3)
    other = rig.poise_timed_pins.add()  # of bones that have had no keys
    other.bone, other.held, other.start, other.end, other.ease_in, other.ease_out = "foot.L", "PLACE", 32, 33, 3, 3
    other.position = rig.pose.bones["foot.L"].head + Vector((0.0, -0.3, 0.3))
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    feet = places(rig, "foot.L", range(1, 41))
    np.testing.assert_allclose(feet[[0, 37, 39]], [foot] * 3, atol=1e-5)
    assert np.linalg.norm(feet[32] - foot) > 0.05
    np.testing.assert_allclose(places(rig, "head", range(20, 21))[0], solved[1], atol=1e-5)

    rig.poise_live_pins = False
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    np.testing.assert_allclose(places(rig, "head", range(20, 21))[0], before[1], atol=1e-6)


def test_a_hand_goes_with_an_object_that_the_other_hand_carries(walker: Any) -> None:
    cup = make_empty("Cup")
    cup.parent, cup.parent_type, cup.parent_bone = walker, "BONE", "RightHand"
    context.view_layer.objects.active = walker
    pin = walker.poise_timed_pins.add()
    pin.bone, pin.start, pin.end, pin.held, pin.target = "LeftHand", 30, 40, "OBJECT", cup
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    seen = []
    for frame in range(30, 41):
        context.scene.frame_set(frame)
        seen.append(np.array(cup.matrix_world.inverted() @ walker.matrix_world @ walker.pose.bones["LeftHand"].head))
    assert np.ptp(seen, axis=0).max() < 1e-3 * bridge.read_rig(walker).skeleton.size
    pin.target.parent_bone = "LeftHand"
    with pytest.raises(RuntimeError, match="which itself follows that bone"):
        bpy.ops.poise.solve_motion()


def test_what_was_changed_by_hand_in_the_pinned_motion_is_kept(walker: Any) -> None:
    pin_hand(walker)
    bpy.ops.poise.solve_motion()
    made = walker.poise_result
    context.scene.frame_set(30)
    walker.pose.bones["Head"].rotation_euler.z += 0.5
    walker.pose.bones["Head"].keyframe_insert("rotation_euler", frame=30)
    keys, name = keys_of(made), made.name
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert action_of(walker) != name
    assert keys_of(bpy.data.actions[name]) == keys
    assert bpy.data.actions[name].use_fake_user
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    assert (action_of(walker), len([a for a in bpy.data.actions if "poise" in a.name])) == ("walk", 1)


def test_the_original_motion_comes_back_in_place_of_any_other(walker: Any) -> None:
    pin_hand(walker)
    bpy.ops.poise.solve_motion()
    bridge.assign(walker, bpy.data.actions.new("other"))
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    assert action_of(walker) == "walk"


def test_others_that_share_the_action_do_not_make_the_motion_longer(walker: Any) -> None:
    other = make_empty("Camera")
    action = walker.animation_data.action
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new("OBJECT", "Camera")
    for frame in (1, 400):
        other.keyframe_insert("location", frame=frame)
    assert bridge.keyed_range(walker) == (BEGIN, END)
    action.use_frame_range, action.frame_start, action.frame_end = True, 25, 50
    assert bridge.keyed_range(walker) == (25, 50)


def test_an_animals_feet_are_found() -> None:
    path = SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb"
    rig = load(path)[0]
    context.view_layer.objects.active = rig
    walk = next((action for action in bpy.data.actions if "walk" in action.name.lower()), bpy.data.actions[0])
    bridge.assign(rig, walk)
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.poise.find_contacts() == {"FINISHED"}
    assert {pin.label for pin in rig.poise_timed_pins} >= {"leg.front.L", "leg.hind.R"}


def test_feet_that_hang_on_the_root_alone_are_refused_but_where_legs_end_in_them() -> None:
    path = SHARED / "rigs" / "real" / "quaternius_spider.fbx"
    if not path.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    rig = load(path)[0]
    context.view_layer.objects.active = rig
    walk = next(action for action in bpy.data.actions if action.name.endswith("Walk"))
    bridge.assign(rig, walk)
    with pytest.raises(CoreError, match="have no leg between them and the root"):
        contact_points(bridge.read_rig(rig).skeleton, bridge.read_roles(rig), ["feet"])
    edit = LockedFeet(context, rig, (1, 12))  # its body is known, so that the legs go along with their feet
    edit.solve()
    assert all(goal.met.all() for goal in edit.write(rig).goals)
    context.scene.frame_set(6)
    for leg, foot in (("FrontLeg3.L", "FrontFoot.L"), ("BackLeg3.R", "BackFoot.R")):
        gap = rig.pose.bones[leg].tail - rig.pose.bones[foot].head
        assert gap.length < 0.01 * max(rig.dimensions)


def test_the_panel_shows_the_list_and_its_tools(walker: Any) -> None:
    bpy.ops.poise.find_contacts()
    seen = drawn_by(POISE_PT_timed_pins)
    assert ("list", "poise_timed_pins") in seen
    tools = {name for kind, name in seen if kind == "operator"}
    assert {"poise.find_contacts", "poise.add_timed_pin", "poise.solve_motion", "poise.keep_motion"} <= tools
    settings = {name for kind, name in seen if kind == "prop"}
    assert {"start", "end", "ease_in", "ease_out", "held", "position"} <= settings


def test_strips_of_a_point_share_a_lane_and_ease_at_their_ends() -> None:
    strips = [
        Strip("heel.L", "foot.L", 4, 10, 20, 26, False, False),
        Strip("ball.L", "foot.L", 8, 14, 30, 36, True, False),
        Strip("heel.L", "foot.L", 44, 50, 60, 66, False, True),
    ]
    blue, white = (0.0, 0.0, 1.0, 0.8), (1.0, 1.0, 1.0, 1.0)
    lines = strip_strokes(strips, lambda frame: 10.0 * frame, 8.0, blue, white)
    np.testing.assert_allclose(lines.points[:3, :, 0], [[40, 100], [100, 210], [210, 270]])
    heights = lines.points[::3, 0, 1]
    assert heights[0] == heights[2] != heights[1]
    strong = lines.colours[1::3, 0]
    np.testing.assert_allclose(strong[0], blue)
    np.testing.assert_allclose(strong[1], white)
    assert strong[2, 3] < blue[3]
    assert (lines.colours[::3, 0, 3] < strong[:, 3]).all()


def test_strips_of_a_foot_share_a_lane_below_the_keys_where_there_is_little_room() -> None:
    points = [f"{point}.{side}" for point in ("heel", "ball", "toe") for side in "LR"]
    strips = [Strip(point, foot_of(point), 4, 10, 20, 26, False, False) for point in points]
    for room, lanes, height in ((90.0, 6, 9.0), (30.0, 6, 5.0), (12.0, 2, 6.0), (-10.0, 2, 2.0)):
        shown, found = fit(strips, room)
        assert (len(lanes_of(shown)), found) == (lanes, height)
        assert room < 0.0 or lanes * height <= room
    assert lanes_of(fit(strips, 0.0)[0]) == ["foot.R", "foot.L"]
    assert foot_of("hand.L") == "hand.L"


def noise(curve: Any) -> None:
    curve.modifiers.new("NOISE").strength = 0.2


def raise_handles(curve: Any) -> None:
    for key in curve.keyframe_points:
        key.interpolation, key.handle_right_type = "BEZIER", "FREE"
    curve.keyframe_points[0].handle_right.y += 0.3
    curve.update()


CHANGES = {
    "interpolation": lambda curve: setattr(curve.keyframe_points[0], "interpolation", "CONSTANT"),
    "easing": lambda curve: (
        setattr(curve.keyframe_points[0], "interpolation", "BOUNCE"),
        setattr(curve.keyframe_points[0], "easing", "EASE_IN"),
    ),
    "handles": raise_handles,
    "modifier": noise,
    "mute": lambda curve: setattr(curve, "mute", True),
    "extrapolation": lambda curve: setattr(curve, "extrapolation", "LINEAR"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=[*CHANGES])
def test_what_was_changed_by_hand_in_a_pinned_motion_is_kept(change: Any) -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made = rig.poise_result
    assert not is_edited(rig)
    change(next(curve for curve in bridge.all_curves(made) if "chest" in curve.data_path))
    assert is_edited(rig)
    rig.poise_timed_pins[0].end += 1
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert made != rig.poise_result
    assert made.use_fake_user


def test_settings_of_a_modifier_count_as_changes_by_hand() -> None:
    action = keyed().animation_data.action
    curve = next(bridge.all_curves(action))
    noise(curve)
    modifier = curve.modifiers.new("ENVELOPE")
    point = modifier.control_points.add(5.0)
    seen = [fingerprint(action)]
    curve.modifiers[0].strength += 0.5
    seen.append(fingerprint(action))
    point.max += 0.5
    seen.append(fingerprint(action))
    modifier.show_expanded = not modifier.show_expanded
    seen.append(fingerprint(action))
    assert len({*seen[:3]}) == 3
    assert seen[2] == seen[3]


def test_a_linked_double_keeps_its_motion_when_the_other_is_solved_again() -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    hold(rig, "foot.R", 30)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    made = rig.poise_result
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.duplicate(linked=True)
    double = context.active_object
    bpy.ops.object.mode_set(mode="POSE")
    assert double.animation_data.action == made

    def feet() -> list[Any]:
        found = []
        for frame in range(ENDS[0], ENDS[1] + 1):
            context.scene.frame_set(frame)
            found.append(world(rig, "foot.L"))
        return found

    before = feet()
    pin = double.poise_timed_pins[0]
    pin.held, pin.position = "PLACE", (0.3, -0.3, 0.2)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    np.testing.assert_array_equal(feet(), before)
    assert double.poise_result == double.animation_data.action != made
    assert rig.poise_result == rig.animation_data.action == made
    context.scene.frame_set(12)
    assert np.linalg.norm(world(double, "foot.L") - world(rig, "foot.L")) > 0.05
    first = double.poise_result
    double.poise_timed_pins[0].end += 1  # now it has its own
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert double.poise_result == first
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    np.testing.assert_array_equal(feet(), before)


def test_timed_pins_and_the_original_motion_go_with_bones_that_are_renamed() -> None:
    rig = keyed()
    hold(rig, "foot.L", 10)
    before = stays(rig, "hand.R")
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    solved = stays(rig, "foot.L")
    for bone, name in (("foot.L", "paw"), ("chest", "rib")):
        rig.data.bones[bone].name = name
    context.view_layer.update()
    assert pins_of(rig)[0][:2] == ("paw", "paw")
    assert not is_edited(rig)
    rig.poise_timed_pins[0].end += 1
    rig.poise_timed_pins[0].end -= 1
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    assert len(bpy.data.actions) == 2  # nothing was taken for changed by hand
    np.testing.assert_allclose(stays(rig, "paw"), solved, atol=1e-5)
    rig.data.bones["rib"].name = "ribs"
    assert bpy.ops.poise.give_motion_back() == {"FINISHED"}
    np.testing.assert_allclose(stays(rig, "hand.R"), before, atol=1e-5)
    assert len(bpy.data.actions) == 1
