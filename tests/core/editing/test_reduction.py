"""Key reduction: the guarantee holds by an evaluation of its own, and simple motions take few keys."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from core import CoreError, Motion, Pose, Skeleton, forward, rotation
from core.channels import to_rotations
from core.editing.bezier import Keys
from core.editing.bone_keys import ReducedKeys
from core.editing.reduction import channels_of, reduce_keys
from tests.paths import DATA

WALK = DATA / "motion" / "cmu_07_12.bvh"
BONES = ("Hips", "Head", "LeftHand", "RightFoot")


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(WALK)


@pytest.fixture(scope="module")
def mixed(walk: Clip) -> Skeleton:
    """The skeleton with bones in all kinds of rotation modes."""
    modes = [("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")[bone % 4] for bone in range(len(walk.skeleton))]
    return replace(walk.skeleton, rotation_modes=tuple(modes))


def arm(turns: np.ndarray) -> tuple[Skeleton, Motion]:
    """A bone one unit long, turned about X by angles (F,)."""
    bone = Skeleton(["arm"], [-1], [[0.0] * 3], [[1.0, 0.0, 0.0, 0.0]], [1.0], rotation_modes=("XYZ",))
    pose = Pose(rotation.from_axis_angle([1.0, 0.0, 0.0], turns)[:, None], np.zeros((len(turns), 1, 3)))
    return bone, Motion(pose, np.arange(10.0, 10.0 + len(turns)), 24.0)


def poses_at(skeleton: Skeleton, motion: Motion, reduced: ReducedKeys, at: np.ndarray) -> Pose:
    """The motion with what the keys say at whole frames."""
    turns, moves = motion.pose.rotations.copy(), motion.pose.translations.copy()
    for bone in reduced.bones:
        values = bone.keys.evaluate(at)
        width = values.shape[1] - 3 * bone.located
        turns[:, bone.bone] = to_rotations(values[:, :width], bone.mode)
        if bone.located:
            moves[:, bone.bone] = values[:, width:]
    return Pose(turns, moves)


@pytest.mark.parametrize("tolerance", [0.002, 0.02])
def test_chosen_bones_stay_within_the_tolerance_at_every_frame(walk: Clip, mixed: Skeleton, tolerance: float) -> None:
    part = replace(walk.motion, pose=walk.motion.pose[:40], frames=walk.motion.frames[:40])
    reduced = reduce_keys(mixed, part, BONES, tolerance)
    assert reduced.error <= tolerance
    pose = poses_at(mixed, part, reduced, part.frames)
    for one, other in zip(forward(mixed, pose), forward(mixed, part.pose), strict=True):
        bones = [mixed.index(bone) for bone in BONES]
        if one.shape[-1] == 3:
            assert rotation.lengths(one - other)[:, bones].max() <= tolerance
        else:  # a tail is off by no more, either
            reach = mixed.lengths[bones]
            assert (rotation.angle_between(one, other)[:, bones] * reach).max() <= 2.01 * tolerance
    assert reduced.share < (0.45 if tolerance < 0.01 else 0.18)
    assert reduced.kept == sum(len(bone.keys.frames) for bone in reduced.bones)


def test_keys_are_for_the_chosen_bones_and_what_carries_them(walk: Clip) -> None:
    part = replace(walk.motion, pose=walk.motion.pose[:20], frames=walk.motion.frames[:20])
    reduced = reduce_keys(walk.skeleton, part, ["LeftUpLeg"], 0.01)
    names = [walk.skeleton.names[bone.bone] for bone in reduced.bones]
    assert names == ["Hips", "LHipJoint", "LeftUpLeg"]
    assert [bone.located for bone in reduced.bones] == [True, False, False]
    for bone in reduced.bones:
        np.testing.assert_array_equal(bone.keys.frames, np.round(bone.keys.frames))
        assert (bone.keys.frames[0], bone.keys.frames[-1]) == (part.frames[0], part.frames[-1])


def test_a_cubic_takes_two_keys_and_a_still_bone_no_more() -> None:
    t = np.linspace(0.0, 1.0, 33)
    for turns in (t * t * (3.0 - 2.0 * t), np.zeros(33)):
        skeleton, motion = arm(turns)
        reduced = reduce_keys(skeleton, motion, ["arm"], 1e-3)
        assert reduced.kept == 2
        assert reduced.before == 33


def test_a_jerk_between_frames_is_seen() -> None:
    turns = np.zeros(41)
    turns[20] = 0.5
    skeleton, motion = arm(turns)
    reduced = reduce_keys(skeleton, motion, ["arm"], 0.01)
    quarters = np.arange(10.0, 50.01, 0.25)
    angle = reduced.bones[0].keys.evaluate(quarters)[:, 0]
    assert reduced.error <= 0.01
    assert abs(angle[quarters == 30.0][0] - 0.5) < 0.01
    assert np.abs(angle[np.abs(quarters - 30.0) > 2.0]).max() < 0.01


@pytest.mark.parametrize("steps", [False, True])
def test_what_is_given_at_quarters_of_frames_is_kept_between_them(steps: bool) -> None:
    quarters = np.arange(0.0, 20.01, 0.25)
    corners = np.interp(quarters, [0, 7, 8, 9, 20], [0, 0, 1, 0, 0.2])
    skeleton, motion = arm(np.floor(quarters / 5) if steps else corners)
    motion = replace(motion, frames=10.0 + quarters)
    reduced = reduce_keys(skeleton, motion, ["arm"], 1e-3)
    off = np.abs(reduced.bones[0].keys.evaluate(motion.frames)[:, 0] - channels_of(skeleton, motion)[0].rotation[:, 0])
    assert reduced.error == pytest.approx(2.0 * np.sin(off.max() / 2.0))
    assert (reduced.error > 1e-3) == steps  # no handles make a step, and that is said
    assert steps or reduced.kept == 5
    assert reduced.missed == ((0,) if steps else ())


def test_corners_between_frames_get_keys_where_there_were_keys() -> None:
    corners = np.array([0.0, 7.3, 8.3, 9.3, 20.0])
    quarters = np.arange(0.0, 20.01, 0.25)
    skeleton, motion = arm(np.interp(quarters, corners, [0.0, 0.0, 1.0, 0.0, 0.2]))
    motion = replace(motion, frames=10.0 + quarters)
    (channels,) = channels_of(skeleton, motion)
    assert reduce_keys(skeleton, motion, ["arm"], 1e-3, [channels]).error > 1e-3
    reduced = reduce_keys(skeleton, motion, ["arm"], 1e-3, [replace(channels, times=10.0 + corners)])
    assert reduced.error <= 1e-3
    np.testing.assert_allclose(reduced.bones[0].keys.frames, 10.0 + corners)


def test_channels_of_whole_turns_are_taken_as_they_are_keyed() -> None:
    turns = np.linspace(0.0, 6.0 * np.pi, 61)
    skeleton, motion = arm(turns)
    found = channels_of(skeleton, motion)[0]
    np.testing.assert_allclose(found.rotation[:, 0], turns, atol=1e-9)
    assert found.location is None
    reduced = reduce_keys(skeleton, motion, ["arm"], 1e-3, [found])
    assert reduced.kept == 2


def test_handles_in_general_place_are_evaluated_by_their_closed_form() -> None:
    # with both handles at one half of the interval the horizontal cubic is 1.5 s^2 t + 1.5 s t^2 + t^3
    keys = Keys(
        np.array([0.0, 1.0]), np.array([[0.0], [1.0]]),
        np.array([[[-0.5, 0.0]], [[0.5, 1.0]]]), np.array([[[0.5, 0.0]], [[1.5, 1.0]]]),
    )  # fmt: skip
    t = np.linspace(0.0, 1.0, 21)
    s = 1.0 - t
    at = 1.5 * s * s * t + 1.5 * s * t * t + t**3
    np.testing.assert_allclose(keys.evaluate(at)[:, 0], 3.0 * s * t * t + t**3, atol=1e-12)
    np.testing.assert_allclose(keys.evaluate(np.array([-5.0, 7.0]))[:, 0], [0.0, 1.0], atol=1e-15)
    # handles that reach beyond the other key are cut back to it
    reach = np.array([[[0.5, 0.0]], [[0.5, 0.0]]])
    whole = replace(keys, right=keys.right + reach, left=keys.left - reach)
    long = replace(keys, right=keys.right + 9.0 * reach, left=keys.left - 9.0 * reach)
    np.testing.assert_allclose(long.evaluate(at), whole.evaluate(at), atol=1e-12)


def test_what_cannot_be_reduced_is_refused() -> None:
    skeleton, motion = arm(np.linspace(0.0, 1.0, 5))
    with pytest.raises(CoreError, match="positive number"):
        reduce_keys(skeleton, motion, ["arm"], 0.0)
    with pytest.raises(CoreError, match="Name the bones"):
        reduce_keys(skeleton, motion, [], 0.1)
    with pytest.raises(CoreError, match="consecutive frames"):
        reduce_keys(skeleton, replace(motion, frames=2.0 * motion.frames), ["arm"], 0.1)


def test_a_long_motion_is_reduced_in_parts_that_meet_smoothly(monkeypatch: pytest.MonkeyPatch) -> None:
    at = np.arange(241) / 4
    skeleton, motion = arm(np.sin(0.3 * at) + 0.3 * np.sin(1.1 * at))
    motion = replace(motion, frames=10.0 + at)
    whole = reduce_keys(skeleton, motion, ["arm"], 0.005)
    monkeypatch.setattr("core.editing.reduction.PART", 20)
    parts = reduce_keys(skeleton, motion, ["arm"], 0.005)
    keys = parts.bones[0].keys
    assert np.all(np.diff(keys.frames) > 0.0)
    assert parts.kept == len(keys.frames) <= whole.kept + 4
    turned = forward(skeleton, Pose(to_rotations(keys.evaluate(motion.frames), "XYZ")[:, None], np.zeros((241, 1, 3))))
    assert rotation.angle_between(turned[1], motion.pose.rotations).max() <= 0.005
    for border in (30.0, 50.0):
        place = int(np.flatnonzero(keys.frames == border)[0])
        left, right = (side[place, 0] - [border, keys.values[place, 0]] for side in (keys.left, keys.right))
        np.testing.assert_allclose(left[1] / left[0], right[1] / right[0], atol=0.02)  # up to 0.6
