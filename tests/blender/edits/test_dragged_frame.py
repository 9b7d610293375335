"""A point of the body is dragged at one frame of a motion: what that does to that frame, and to all others."""

import math
import re
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import CoreError
from core.editing.contacts import runs
from edits.dragged_frame import SLID, DraggedFrame, Falloff, find_falloff
from edits.pin_list import set_pins
from edits.timed_pins import add_timed_pin
from edits.trails import Trail
from tests.blender.edits.test_in_between import leave
from tests.blender.edits.test_trails import WALK, trails_of
from tests.blender.retargets import rigify_walk
from tests.blender.rigs import contents, context, load, make_armature, make_ik_body, make_walk, select, world
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")
NEAR = 1e-3  # of the size of the body


def captured() -> Any:
    """A walk that is keyed on every frame, with its trails."""
    rig = load(WALK)[0]
    context.view_layer.objects.active = rig
    context.scene.frame_start = 2  # the clip begins with its rest pose
    context.scene.frame_set(20)
    return rig


def trail_of(rig: Any, role: str) -> Trail:
    rig.poise_use_trails = True
    roles = bridge.read_roles(rig, bridge.read_rig(rig).skeleton)
    return trails_of(rig)[rig.pose.bones[roles.bone(role)].name]


def drag(
    rig: Any, trail: Trail, frame: int, way: Sequence[float], width: float = 10.0, steps: bool = False,
    falloff: Falloff | None = None,
) -> Falloff:  # fmt: skip
    """Drag the dot of a frame, and write; the way is in sizes of the body."""
    falloff = falloff or find_falloff(trail, int(np.flatnonzero(trail.frames == frame)[0]), width)
    edit = DraggedFrame(context, rig, trail.bone, trail.point, frame, falloff, steps)
    edit.shift(np.array(way) * size(rig))
    edit.solve()
    edit.write(rig, new=False)
    return falloff


def size(rig: Any) -> float:
    return bridge.read_rig(rig).skeleton.size * float(bridge.length_scale(bridge.world_matrix(rig)))


def keys_of(rig: Any) -> dict[tuple[str, int], np.ndarray]:
    """The keys (n, 2) of all curves."""
    curves = bridge.motion.active_curves(rig)
    return {(c.data_path, c.array_index): np.array([tuple(k.co) for k in c.keyframe_points]) for c in curves}


def moved(before: dict[str, Trail], after: dict[str, Trail], bone: str) -> np.ndarray:
    return after[bone].positions - before[bone].positions


def smootherstep(share: np.ndarray) -> np.ndarray:
    t = np.clip(share, 0.0, 1.0)
    return 6.0 * t**5 - 15.0 * t**4 + 10.0 * t**3


def test_frames_follow_by_the_falloff_and_feet_stay() -> None:
    rig = captured()
    hand = trail_of(rig, "hand.L")
    before, keys = trails_of(rig), keys_of(rig)
    drag(rig, hand, 30, (0.0, 0.05, 0.12), width=8)
    after, changed = trails_of(rig), keys_of(rig)
    shares = smootherstep(1.0 - np.abs(hand.frames - 30.0) / 8.0)
    wanted = shares[:, None] * size(rig) * np.array([0.0, 0.05, 0.12])
    np.testing.assert_allclose(moved(before, after, hand.bone), wanted, atol=NEAR * size(rig))
    for role in ("foot.L", "foot.R"):
        assert np.abs(moved(before, after, trail_of(rig, role).bone)).max() < NEAR * size(rig)
    assert changed.keys() == keys.keys()
    for name, row in keys.items():
        beside = np.abs(row[:, 0] - 30.0) >= 8.0
        assert changed[name][beside].tolist() == row[beside].tolist()  # bit for bit
        assert changed[name][:, 0].tolist() == row[:, 0].tolist()


def test_the_hips_carry_the_body_and_feet_stay() -> None:
    rig = captured()
    hips = trail_of(rig, "hips")
    before = trails_of(rig)
    drag(rig, hips, 30, (0.0, 0.03, -0.08))
    after = trails_of(rig)
    at = hips.frames.tolist().index(30)
    np.testing.assert_allclose(
        moved(before, after, hips.bone)[at], size(rig) * np.array([0.0, 0.03, -0.08]), atol=NEAR * size(rig)
    )
    for role in ("foot.L", "foot.R"):
        assert np.abs(moved(before, after, trail_of(rig, role).bone)).max() < NEAR * size(rig)


def test_hips_that_are_raised_beyond_the_reach_of_legs_fall_short_and_the_body_does_not_topple() -> None:
    rig = captured()
    hips = trail_of(rig, "hips")
    drawn, before = rig.pose.bones[hips.bone], trails_of(rig)
    context.scene.frame_set(30)
    was = drawn.matrix.to_quaternion()
    drag(rig, hips, 30, (0.0, 0.0, 0.13))
    context.scene.frame_set(30)
    assert math.degrees(was.rotation_difference(drawn.matrix.to_quaternion()).angle) < 2.0
    after = trails_of(rig)
    up = moved(before, after, hips.bone)[hips.frames.tolist().index(30), 2] / size(rig)
    assert 0.0 < up < 0.1
    for role in ("foot.L", "foot.R"):
        assert np.abs(moved(before, after, trail_of(rig, role).bone)).max() < NEAR * size(rig)


def test_steps_go_along_with_the_hips_and_feet_are_planted_there() -> None:
    rig = captured()
    hips = trail_of(rig, "hips")
    before = trails_of(rig)
    drag(rig, hips, 32, (0.3, 0.0, 0.0), width=24, steps=True)
    after, near = trails_of(rig), NEAR * size(rig)
    at = hips.frames.tolist().index(32)
    np.testing.assert_allclose(moved(before, after, hips.bone)[at, :2], [0.3 * size(rig), 0.0], atol=near)
    far = []
    for role in ("foot.L", "foot.R"):
        foot = trail_of(rig, role)
        way = moved(before, after, foot.bone)
        assert np.abs(way[:, 1:]).max() < near
        assert np.abs(way[np.abs(foot.frames - 32) >= 24]).max() < near
        for first, last in runs(before[foot.bone].bears):
            inside = slice(first + 1, last)  # where heel and toes both tell that it stands
            if last - first > 4:
                assert np.ptp(way[inside, 0]) < near
                far.append(way[first + 1, 0] / size(rig))
    assert max(far) > 0.2


def test_where_a_foot_stands_it_is_moved_as_one_and_steps_beside_stay() -> None:
    rig = captured()
    foot = trail_of(rig, "foot.L")
    place = int(np.flatnonzero(foot.bears & (foot.frames > 25))[2])
    before = trails_of(rig)
    falloff = drag(rig, foot, round(foot.frames[place]), (0.06, 0.0, 0.0), width=30)
    way = moved(before, trails_of(rig), foot.bone)
    stands = (foot.frames >= falloff.start) & (foot.frames <= falloff.end)
    assert stands.sum() > 5
    assert foot.bears[stands].all()
    np.testing.assert_allclose(way[stands], [[0.06 * size(rig), 0.0, 0.0]] * stands.sum(), atol=NEAR * size(rig))
    others = foot.bears & ~stands
    assert others.any()
    assert np.abs(way[others]).max() < NEAR * size(rig)


def test_of_a_swing_the_falloff_ends_where_the_foot_stands() -> None:
    none, bears = np.zeros(12, bool), np.array([1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1], bool)
    trail = Trail("foot.L", (0.0, 0.0, 0.0), np.arange(12.0), np.zeros((12, 3)), none, bears)
    assert find_falloff(trail, 4, 10.0) == Falloff(4.0, 4.0, 3.0, 2.0)
    assert find_falloff(trail, 4, 1.0) == Falloff(4.0, 4.0, 1.0, 1.0)
    assert find_falloff(trail, 7, 10.0) == Falloff(6.0, 8.0, 5.0, 3.0)
    assert find_falloff(trail, 0, 10.0) == Falloff(0.0, 1.0, 10.0, 5.0)
    assert find_falloff(trail, 9, 10.0) == Falloff(9.0, 9.0, 1.0, 2.0)


def sparse() -> Any:
    rig = make_armature()
    make_walk(rig)  # keys at 1, 5, 10, 15, 20
    context.view_layer.objects.active = rig
    return rig


def test_few_keys_stay_few() -> None:
    rig = sparse()
    hand = trail_of(rig, "hand.L")
    keys = keys_of(rig)
    before = world_at(rig, "hand.L", 12)
    drag(rig, hand, 12, (0.0, -0.05, 0.1), width=4)
    np.testing.assert_allclose(world_at(rig, "hand.L", 12) - before, size(rig) * np.array([0.0, -0.05, 0.1]), atol=1e-3)
    changed = keys_of(rig)
    for name, row in changed.items():
        own = keys.get(name)
        if own is None:  # a channel that had no keys: the change ends at the edges of the falloff
            assert row[:, 0].tolist() == [8.0, 10.0, 12.0, 15.0, 16.0]
            assert row[0, 1] == row[-1, 1]
        elif len(row) > len(own):
            assert row[:, 0].tolist() == [1.0, 5.0, 8.0, 10.0, 12.0, 15.0, 16.0, 20.0]
            assert row[[0, 1, 7]].tolist() == own[[0, 1, 4]].tolist()
        else:
            assert row.tolist() == own.tolist()
    assert any(len(row) > len(keys.get(name, row)) for name, row in changed.items())


def shown(rig: Any, frames: np.ndarray) -> np.ndarray:
    """Heads and tails of all bones as Blender shows them."""
    found: list[list[Any]] = []
    for frame in frames.tolist():
        context.scene.frame_set(int(frame), subframe=frame - int(frame))
        found.append([rig.matrix_world @ end for bone in rig.pose.bones for end in (bone.head, bone.tail)])
    return np.array(found)


@pytest.mark.parametrize("kind", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize(("role", "frame", "steps"), [("hand.L", 36, False), ("hips", 36, False), ("hips", 36, True)])
def test_beyond_the_falloff_nothing_moves_between_keys_either(kind: str, role: str, frame: int, steps: bool) -> None:
    rig = captured()
    leave(rig, {2, *range(3, 70, 8), 66})
    for curve in bridge.motion.active_curves(rig):
        for key in curve.keyframe_points:
            key.interpolation, key.handle_left_type, key.handle_right_type = kind, "AUTO_CLAMPED", "AUTO_CLAMPED"
        curve.update()
    trail, frames = trail_of(rig, role), np.arange(2.0, 66.5, 0.5)
    before = shown(rig, frames)
    begin, end = drag(rig, trail, frame, (0.02, -0.03, -0.04), width=6, steps=steps).edges
    moved = np.abs(shown(rig, frames) - before).max(axis=(1, 2)) / size(rig)
    beyond = (frames <= begin) | (frames >= end)
    assert moved[frames == frame] > 0.02
    assert moved[beyond].max() < 1e-6  # with handles that reach out from the keys within: 0.03
    added = {key for row in keys_of(rig).values() for key in row[:, 0].tolist()} - {2.0, *range(3, 70, 8), 66.0}
    assert len(added) <= 3 + 0.1 * len(trail.frames)


def test_keys_between_frames_change_by_their_share() -> None:
    rig = sparse()
    for bone in rig.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=13.5)
    keys = keys_of(rig)
    drag(rig, trail_of(rig, "hand.L"), 12, (0.0, -0.05, 0.1), width=4)
    changed = keys_of(rig)
    arm = [name for name in keys if "upper_arm.L" in name[0]]
    for name in arm:
        assert changed[name][:, 0].tolist() == [1.0, 5.0, 8.0, 10.0, 12.0, 13.5, 15.0, 16.0, 20.0]
    by_frame = {row[0]: np.zeros(4) for row in keys[arm[0]]}
    for name in arm:
        for frame, value in keys[name]:
            by_frame[frame][name[1]] = dict(changed[name])[frame] - value
    far = {frame: float(np.linalg.norm(change)) for frame, change in by_frame.items()}
    assert far[1.0] == far[5.0] == far[20.0] == 0.0
    assert far[13.5] > far[15.0] > 0.0


def world_at(rig: Any, bone: str, frame: int) -> np.ndarray:
    context.scene.frame_set(frame)
    return world(rig, bone)


def test_handles_go_along_with_their_keys() -> None:
    rig = sparse()
    for curve in bridge.motion.active_curves(rig):
        for number, key in enumerate(curve.keyframe_points):
            key.handle_left_type = key.handle_right_type = "FREE"
            key.handle_left = (key.co[0] - 1.0, key.co[1] - 0.01 * number)
            key.handle_right = (key.co[0] + 1.0, key.co[1] + 0.02 * number)

    def handles() -> dict[Any, Any]:
        return {
            (curve.data_path, curve.array_index, key.co[0]): (
                key.co[1], key.handle_left[1] - key.co[1], key.handle_right[1] - key.co[1],
            )
            for curve in bridge.motion.active_curves(rig) for key in curve.keyframe_points
        }  # fmt: skip

    before = handles()
    drag(rig, trail_of(rig, "hand.L"), 10, (0.0, -0.05, 0.1), falloff=Falloff(10.0, 10.0, 9.0, 10.0))
    after = handles()
    assert before.keys() <= after.keys()
    changed = [name for name, row in before.items() if abs(after[name][0] - row[0]) > 1e-4]
    assert {name[2] for name in changed} == {5.0, 10.0, 15.0}
    for name, row in before.items():
        np.testing.assert_allclose(after[name][1:], row[1:], atol=1e-5)


def test_pins_and_timed_pins_hold() -> None:
    rig = captured()
    hips, hand, other = (trail_of(rig, role) for role in ("hips", "hand.L", "hand.R"))
    select(rig, [])
    set_pins(context, rig, [hand.bone], "POSITION")
    with_pin = add_timed_pin(rig, other.bone, 25, 35)
    with_pin.held = "MOTION"
    before = trails_of(rig)
    drag(rig, hips, 30, (0.0, 0.0, -0.05), width=6)
    after = trails_of(rig)
    within = np.abs(hips.frames - 30) < 6
    for trail in (hand, other):
        assert np.abs(moved(before, after, trail.bone)[within]).max() < NEAR * size(rig)


@pytest.mark.parametrize("keys", [range(1, 66), range(2, 66, 6)])
def test_timed_pins_hold_by_their_share_in_their_eases(keys: range) -> None:
    rig, ease = captured(), 6
    leave(rig, keys)
    hips, hand = trail_of(rig, "hips"), trail_of(rig, "hand.R")
    select(rig, [])
    pin = add_timed_pin(rig, hand.bone, 26, 38)
    pin.held, pin.ease_in, pin.ease_out = "MOTION", ease, ease
    before = trails_of(rig)
    drag(rig, hips, 26, (0.0, 0.0, -0.05), width=12)
    after = trails_of(rig)
    off, own = (np.linalg.norm(moved(before, after, trail.bone), axis=-1) for trail in (hand, hips))
    at = hand.frames
    assert off[(at >= 26) & (at < 38)].max() < 2.0 * SLID * size(rig)
    eased = (at > 26 - ease) & (at < 26)
    assert np.all(off[eased] < own[eased])
    assert off[at == 25] < 0.2 * own[at == 25]
    assert np.abs(np.diff(off)).max() < 0.2 * own.max()  # it jumped by all of it


def test_limbs_on_ik_follow_by_their_targets() -> None:
    rig = make_ik_body()
    context.view_layer.objects.active = rig
    for frame in (1, 10, 20):
        for bone in rig.pose.bones:
            bone.location = (0.0, 0.001 * frame, 0.0)
            bone.keyframe_insert("location", frame=frame)
    context.scene.frame_start, context.scene.frame_end = 1, 20
    foot, hips, other = (trail_of(rig, role) for role in ("foot.L", "hips", "foot.R"))
    for trail, way in ((hips, (0.0, 0.0, -0.06)), (foot, (0.0, -0.1, 0.08))):
        before = [world_at(rig, one.bone, 12) for one in (trail, other)]
        drag(rig, trail, 12, way, width=5)
        now = [world_at(rig, one.bone, 12) for one in (trail, other)]
        np.testing.assert_allclose(now[0] - before[0], size(rig) * np.array(way), atol=2e-3)
        np.testing.assert_allclose(now[1], before[1], atol=2e-3)
    assert "foot_ik.L" in {path.split('"')[1] for path, _ in keys_of(rig)}


def test_what_cannot_be_keyed_is_refused_and_nothing_changes() -> None:
    rig = captured()
    hand = trail_of(rig, "hand.L")
    with pytest.raises(CoreError, match="not 999"):
        DraggedFrame(context, rig, hand.bone, hand.point, 999, Falloff(999.0, 999.0, 1.0, 1.0))
    curves = list(bridge.motion.active_curves(rig))
    for curve in curves:
        if "LeftArm" in curve.data_path:
            curve.lock = True
    before = contents()
    with pytest.raises(CoreError, match="is locked"):
        drag(rig, hand, 30, (0.0, 0.0, 0.1))
    assert contents() == before


def test_a_draft_is_near_to_what_is_keyed_and_changes_nothing() -> None:
    rig = captured()
    hand = trail_of(rig, "hand.L")
    falloff = find_falloff(hand, int(np.flatnonzero(hand.frames == 30)[0]), 20)
    edit = DraggedFrame(context, rig, hand.bone, hand.point, 30, falloff)
    before = contents()
    places: list[np.ndarray] = []
    for draft in (True, False):
        edit.shift(np.array([0.0, 0.0, 0.1 * size(rig)]), draft)
        edit.solve()
        point = bridge_point(edit, rig, hand)
        places.append(edit.places([point])[:, 0])
    assert contents() == before
    assert np.abs(places[0] - places[1]).max() < 0.01 * size(rig)


def bridge_point(edit: DraggedFrame, rig: Any, trail: Trail) -> Any:
    from core.editing.contacts import BodyPoint

    return BodyPoint(trail.bone, *edit.part_of(rig, trail.bone, trail.point))


def test_the_operator_keys_and_reports() -> None:
    rig = sparse()
    select(rig, [])
    before = world_at(rig, "hand.L", 12)
    done = bpy.ops.poise.drag_frame(bone="hand.L", frame=12, shift=(0.0, -0.05, 0.1), before=4, after=4)
    assert done == {"FINISHED"}
    np.testing.assert_allclose(world_at(rig, "hand.L", 12) - before, [0.0, -0.05, 0.1], atol=1e-3)
    with pytest.raises(RuntimeError, match="No bone"):
        bpy.ops.poise.drag_frame(bone="nobody", frame=12)


def report_of(rig: Any, trail: Trail, frame: int, way: Sequence[float]) -> tuple[str, str]:
    """What the operator says about a dot that is dragged by sizes of the body, and its level."""
    shift = np.array(way) * size(rig)
    edit = DraggedFrame(context, rig, trail.bone, trail.point, frame, Falloff(frame, frame, 10.0, 10.0))
    edit.shift(shift)
    edit.solve()
    report = edit.write(rig, new=False)
    return "; ".join(report.explanations), edit.between_keys()


def said_miss(sentence: str, bone: str) -> tuple[float, float]:
    """The length, in metres, and the frame that a sentence says about a bone."""
    found = re.search(rf"{bone} is ([\d.]+) (m|mm) .* at frame ([\d.]+)", sentence)
    assert found is not None, sentence
    return float(found[1]) * (1.0 if found[2] == "m" else 1e-3), float(found[3])


def test_the_report_has_the_worst_frame_of_the_falloff_not_only_the_dragged_one() -> None:
    rig = captured()
    hips, way = trail_of(rig, "hips"), (0.0, 0.0, 0.05)
    before = trails_of(rig)
    said, between = report_of(rig, hips, 36, way)
    shares = smootherstep(1.0 - np.abs(hips.frames - 36.0) / 10.0)[:, None]
    far = np.linalg.norm(moved(before, trails_of(rig), hips.bone) - shares * np.array(way) * size(rig), axis=1)
    assert far[hips.frames == 36] < 1e-3
    length, frame = said_miss(said, hips.bone)
    assert frame == hips.frames[far.argmax()] == 34
    assert length == pytest.approx(far.max(), rel=0.01)  # 0.13
    assert not between


def test_between_few_keys_the_report_says_how_far_the_point_is_beside_its_falloff() -> None:
    rig = captured()
    leave(rig, {2, *range(3, 70, 8), 66})
    hand, way = trail_of(rig, "hand.L"), (0.0, 0.0, 0.1)
    before = trails_of(rig)
    said, between = report_of(rig, hand, 40, way)
    shares = smootherstep(1.0 - np.abs(hand.frames - 40.0) / 10.0)[:, None]
    far = np.linalg.norm(moved(before, trails_of(rig), hand.bone) - shares * np.array(way) * size(rig), axis=1)
    assert not said
    assert said_miss(between, hand.bone) == (pytest.approx(far.max(), rel=0.01), hand.frames[far.argmax()])


def test_a_bone_without_curves_in_a_limb_follows_in_all_frames_in_which_the_others_have_keys() -> None:
    rig = captured()
    bag = rig.animation_data.action.layers[0].strips[0].channelbags[0]
    for curve in [one for one in bag.fcurves if '"LeftForeArm"' in one.data_path]:
        bag.fcurves.remove(curve)
    hand, way = trail_of(rig, "hand.L"), (0.0, 0.0, 0.1)
    before = trails_of(rig)
    drag(rig, hand, 40, way)
    shares = smootherstep(1.0 - np.abs(hand.frames - 40.0) / 10.0)[:, None]
    wanted = shares * np.array(way) * size(rig)
    np.testing.assert_allclose(moved(before, trails_of(rig), hand.bone), wanted, atol=NEAR * size(rig))


def test_on_rigify_the_controls_get_the_keys_and_few_keys_stay_few() -> None:
    rig = next(one for one in load(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend") if one.name == "rig")
    context.view_layer.objects.active = rig
    controls = [rig.pose.bones[name] for name in ("torso", "hand_ik.L", "hand_ik.R", "foot_ik.L", "foot_ik.R")]
    for frame, (down, ahead) in {1: (0.0, 0.0), 11: (-0.1, 0.05), 21: (0.0, 0.0)}.items():
        for bone in controls:
            bone.location = (0.0, ahead, down) if bone == controls[0] else (0.0, 0.0, 0.0)
            bone.keyframe_insert("location", frame=frame)
    context.scene.frame_start, context.scene.frame_end = 1, 21
    keys, trails = keys_of(rig), trails_of(rig)
    hips = trails["DEF-spine"]
    drag(rig, hips, 8, (0.04, 0.0, -0.03), width=6)
    changed, after = keys_of(rig), trails_of(rig)
    np.testing.assert_allclose(moved(trails, after, hips.bone)[7], size(rig) * np.array([0.04, 0.0, -0.03]), atol=2e-3)
    for name in ("DEF-foot.L", "DEF-foot.R"):
        assert np.abs(moved(trails, after, name)).max() < 2e-3
    for name, row in keys.items():
        assert {*changed[name][:, 0]} - {*row[:, 0]} <= {2.0, 8.0, 14.0}
        assert changed[name][[0, -1]].tolist() == row[[0, -1]].tolist()
    assert not any("DEF-" in path or "ORG-" in path for path, _ in changed)


def test_of_an_animal_paws_and_the_spine_are_dragged_and_other_paws_stay() -> None:
    rig = load(SHARED / "rigs" / "real" / "quaternius_cat.fbx")[0]
    context.view_layer.objects.active = rig
    rig.animation_data.action = next(action for action in bpy.data.actions if "Walking" in action.name)
    rig.animation_data.action_slot = rig.animation_data.action_suitable_slots[0]
    context.scene.frame_start, context.scene.frame_end = 1, 41
    for place, way in ((0, (0.0, 0.0, -0.1)), (1, (0.05, 0.0, 0.1))):
        trails = trails_of(rig)
        bones = list(trails)
        falloff = drag(rig, trails[bones[place]], 21, way, width=5)
        after = trails_of(rig)
        np.testing.assert_allclose(
            moved(trails, after, bones[place])[20], size(rig) * np.array(way), atol=NEAR * size(rig)
        )
        frames = trails[bones[0]].frames
        beyond = (frames <= falloff.edges[0]) | (frames >= falloff.edges[1])
        for bone in bones:
            assert np.abs(moved(trails, after, bone)[beyond]).max() < 1e-5 * size(rig)
        for bone in bones[1:]:
            if bone != bones[place]:
                assert np.abs(moved(trails, after, bone)).max() < NEAR * size(rig)


def rigify_on_fk() -> Any:
    """Rigify's generated human with a captured walk on its FK controls."""
    rig = rigify_walk()
    context.view_layer.objects.active = rig
    context.scene.frame_start, context.scene.frame_end = 2, 66
    return rig


@pytest.mark.long
def test_a_control_that_goes_with_a_part_is_dragged_by_its_name() -> None:
    rig = rigify_on_fk()
    before = np.array([(context.scene.frame_set(30), world(rig, bone))[1] for bone in ("hips", "DEF-spine")])
    assert bpy.ops.poise.drag_frame(bone="hips", frame=30, shift=(0.0, 0.0, -0.04), before=4, after=4) == {"FINISHED"}
    shown = np.array([world(rig, bone) for bone in ("hips", "DEF-spine")])
    keyed = [(context.scene.frame_set(30), world(rig, bone))[1] for bone in ("hips", "DEF-spine")]
    np.testing.assert_allclose([shown - before, keyed - before], [[[0.0, 0.0, -0.04]] * 2] * 2, atol=NEAR * size(rig))


@pytest.mark.parametrize("make", [captured, rigify_on_fk])
@pytest.mark.parametrize(
    ("role", "way"), [("hips", (0.0, 0.0, -0.05)), pytest.param("foot.L", (0.03, 0.0, 0.0), marks=pytest.mark.long)]
)
def test_what_stands_between_few_keys_gets_the_keys_that_hold_it(make: Any, role: str, way: Sequence[float]) -> None:
    rig = make()
    leave(rig, {2, *range(3, 70, 8), 66})
    trail, feet = trail_of(rig, role), {trail_of(rig, foot).bone for foot in ("foot.L", "foot.R")}
    before, keys = trails_of(rig), keys_of(rig)
    frame = int(np.median([*trail.frames[trail.bears & (trail.frames > 30)][:5]] or 31.0))
    falloff = drag(rig, trail, frame, way)
    after, changed = trails_of(rig), keys_of(rig)
    stands = (trail.frames >= falloff.start) & (trail.frames <= falloff.end)
    near = 2.0 * SLID * size(rig)  # without keys between: feet up to 0.032, the dragged one where it stands 0.0052
    assert np.abs(moved(before, after, trail.bone)[stands] - size(rig) * np.array(way)).max() < near
    for one in feet - {trail.bone}:
        assert np.abs(moved(before, after, one)).max() < near
    added = {frame for name, row in changed.items() for frame in {*row[:, 0]} - {*keys.get(name, row)[:, 0]}}
    further = added - {float(frame), *falloff.edges}
    assert len(further) <= 0.1 * len(trail.frames)
    assert further or role != "hips"  # a foot may stand without
