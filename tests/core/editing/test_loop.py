"""A loop ends as it begins, in pose and velocity, as far on as the body has travelled."""

from dataclasses import replace

import numpy as np
import pytest

from core import CoreError, Motion, Pose, forward, rotation
from core.editing.loop import Loop, find_cycle, make_loop
from core.editing.root_motion import find_travel, set_carrier
from core.skeleton import Skeleton

CYCLE, FPS = 32, 30.0


def figure(root: bool) -> Skeleton:
    """Hips with a leg and a chest, below a root bone or not."""
    names, parents = ("root", "hips", "chest", "thigh", "shin"), np.array([-1, 0, 1, 1, 3])
    offsets = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0.3], [0.1, 0, 0], [0, 0, -0.5]])
    rests = rotation.normalize(np.random.default_rng(3).normal(size=(5, 4)))
    rests[0] = rotation.IDENTITY  # the ground is level for what hangs on the root, too
    first = 0 if root else 1
    return Skeleton(
        names[first:], np.maximum(parents[first:] - first, -1), offsets[first:], rests[first:], np.full(5 - first, 0.4),
        translatable=np.ones((5 - first, 3), bool),
    )  # fmt: skip


def walk(skeleton: Skeleton, frames: int, drift: float = 0.0, turn: float = 0.0) -> Motion:
    """Steps of a cycle of 32 frames that go on and turn evenly; the pose drifts away from the cycle if asked."""
    time = np.arange(frames) / CYCLE
    swing, hips = np.sin(2.0 * np.pi * time), skeleton.index("hips")
    ways = np.random.default_rng(4).normal(size=(1, len(skeleton), 3))
    ways[:, hips] = [0.5, 0.2, 0.1]
    turns = rotation.exp((0.4 * swing + drift * time)[:, None, None] * ways)
    turns[:, :hips] = rotation.IDENTITY  # the root bone rests
    rest = skeleton.rest_rotations[hips]
    heading = rotation.exp(turn * time[:, None] * [0.0, 0.0, 1.0])
    turns[:, hips] = rotation.mul(rotation.mul(rotation.inv(rest), rotation.mul(heading, rest)), turns[:, hips])
    moves = np.zeros((frames, len(skeleton), 3))
    sway = np.stack([0.0 * swing, 0.1 * swing, 0.05 * swing + 0.2 * drift * time], axis=1)
    way = time[:, None] * [1.0, 0.0, 0.0]
    if turn:  # along a circle
        centre = np.array([0.0, 1.0 / turn, 0.0])
        way = centre - rotation.rotate(heading, centre)
    moves[:, hips] = rotation.rotate(rotation.inv(rest), way + rotation.rotate(heading, sway))
    return Motion(Pose(turns, moves), np.arange(5.0, frames + 5.0), FPS)


def seams(skeleton: Skeleton, loop: Loop) -> tuple[float, float]:
    """How far the ends are from each other, and their velocities, of three cycles one after the other."""
    three, count = loop.three(skeleton), len(loop.motion)
    assert len(three) == 3 * count - 2
    np.testing.assert_allclose(three.frames[count - 1 : 2 * count - 1], loop.motion.frames)
    heads, _ = forward(skeleton, three.pose)
    steps = np.diff(heads, axis=0)
    apart = forward(skeleton, loop.shifted(skeleton, loop.motion.pose[:1], 1))[0] - heads[2 * count - 2]
    return float(np.abs(apart).max()), float(np.abs(steps[count - 1] - steps[count - 2]).max())


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("turning", [True, False])
def test_the_ends_meet_in_pose_and_velocity(root: bool, turning: bool) -> None:
    skeleton = figure(root)
    motion = walk(skeleton, 44, drift=0.3, turn=0.4)
    before, _ = forward(skeleton, motion.pose)
    loop = make_loop(skeleton, motion, skeleton.index("hips"), 10.0, turning=turning)
    gap, jump = seams(skeleton, loop)
    usual = np.abs(np.diff(before, 2, axis=0)).max()
    assert gap < 1e-9
    assert jump < 2.0 * usual
    angle = np.arctan2(loop.travel[1, 0], loop.travel[0, 0])
    assert abs(angle) > 0.3 if turning else angle == pytest.approx(0.0, abs=1e-12)
    between = slice(11, 33)
    np.testing.assert_allclose(loop.motion.pose.rotations[between], motion.pose.rotations[between], atol=1e-12)


@pytest.mark.parametrize("root", [True, False])
def test_a_motion_that_repeats_does_not_change(root: bool) -> None:
    skeleton = figure(root)
    motion = walk(skeleton, CYCLE + 1, turn=0.5)
    if root:  # which stays, but for the rounding of its keys
        moves = motion.pose.translations.copy()
        moves[:, 0] = np.random.default_rng(5).normal(size=(len(motion), 3), scale=1e-8)
        motion = replace(motion, pose=replace(motion.pose, translations=moves))
    loop = make_loop(skeleton, motion, skeleton.index("hips"), 10.0, turning=True)
    np.testing.assert_allclose(forward(skeleton, loop.motion.pose)[0], forward(skeleton, motion.pose)[0], atol=1e-4)


def test_a_root_bone_that_rests_goes_on_resting_and_one_that_travels_goes_on_travelling() -> None:
    skeleton = figure(root=True)
    motion = walk(skeleton, 40, drift=0.2)
    loop = make_loop(skeleton, motion, 1, 8.0)
    assert not np.ptp(loop.motion.pose.translations[:, 0], axis=0).any()
    carried = set_carrier(skeleton, motion, find_travel(skeleton, motion, 1), 0, "root")
    loop = make_loop(skeleton, carried, 1, 8.0)
    gap, _ = seams(skeleton, loop)
    assert gap < 1e-9
    root, hips = (forward(skeleton, loop.motion.pose)[0][:, bone] for bone in (0, 1))
    np.testing.assert_allclose(root[-1] - root[0], hips[-1] - hips[0], atol=1e-9)
    assert np.ptp(root[:, 0]) > 1.0


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_the_cycle_is_found_where_the_drift_is_least(root: bool, turn: float) -> None:
    skeleton = figure(root)
    hips = skeleton.index("hips")
    motion = walk(skeleton, 130, turn=turn)
    first, last = find_cycle(skeleton, motion, hips)
    assert last - first == CYCLE
    noise = np.random.default_rng(5).normal(size=(130, len(skeleton), 3))
    noise[60:100] = 0.0
    noise[:, :hips] = 0.0  # the root bone rests
    shaky = Motion(
        Pose(rotation.mul(rotation.exp(0.01 * noise), motion.pose.rotations), motion.pose.translations),
        motion.frames,
        FPS,
    )
    first, last = find_cycle(skeleton, shaky, hips)
    assert first >= 59
    assert last <= 100
    assert last - first == CYCLE


def test_what_does_not_repeat_or_is_too_short_is_refused() -> None:
    skeleton = figure(root=False)
    with pytest.raises(CoreError, match="No cycle was found"):
        find_cycle(skeleton, walk(skeleton, CYCLE // 2), 0)
    with pytest.raises(CoreError, match="three frames"):
        make_loop(skeleton, walk(skeleton, 2), 0, 1.0)


def test_legs_that_cannot_be_moved_swing_on_the_spot() -> None:
    skeleton = figure(root=True)
    fixed = np.ones((len(skeleton), 3), bool)
    fixed[skeleton.index("shin")] = False  # connected to a thigh that hangs on hips that stay
    motion = walk(skeleton, CYCLE + 1)
    turns = motion.pose.rotations.copy()
    turns[:, skeleton.index("hips")] = rotation.IDENTITY
    motion = replace(motion, pose=Pose(turns, np.zeros_like(motion.pose.translations)))
    loop = make_loop(replace(skeleton, translatable=fixed), motion, 0, 8.0)
    assert skeleton.index("shin") not in loop.body.tolist()
    assert seams(skeleton, loop)[0] < 1e-9
