"""Travel is what is even in the way of the hips; taken out, given to a root bone and given back, nothing is lost."""

import numpy as np
import pytest

from core import CoreError, Motion, Pose, Skeleton, forward, rotation
from core.editing.loop import make_loop
from core.editing.root_motion import Carrier, find_travel, root_above, set_carrier, smoothed

FRAMES, FPS = 90, 30.0


def figure(root: bool = True) -> Skeleton:
    """Hips with a leg and a chest, below a root bone or not."""
    names = ("root", "hips", "chest", "thigh", "shin")
    parents, offsets = (
        np.array([-1, 0, 1, 1, 3]),
        np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0.3], [0.1, 0, 0], [0, 0, -0.5]]),
    )
    rng = np.random.default_rng(3)
    rests = rotation.normalize(rng.normal(size=(5, 4)))
    rests[:2] = rotation.IDENTITY  # so that the hips' location is that of their head
    first = 0 if root else 1
    return Skeleton(
        names[first:], np.maximum(parents[first:] - first, -1), offsets[first:], rests[first:], np.full(5 - first, 0.4),
        translatable=np.ones((5 - first, 3), bool),
    )  # fmt: skip


def walk(skeleton: Skeleton, turn: float = 1.5) -> Motion:
    """A curved way with sway, ups and downs, and limbs that swing."""
    rng, time = np.random.default_rng(4), np.arange(FRAMES) / FPS
    pose = Pose.rest(skeleton, (FRAMES,))
    swing = np.sin(2.0 * np.pi * 1.8 * time)
    rotations = rotation.mul(
        pose.rotations, rotation.exp(0.4 * swing[:, None, None] * rng.normal(size=(1, len(skeleton), 3)))
    )
    hips = skeleton.index("hips")
    rotations[:, :hips] = rotation.IDENTITY  # the root bone rests
    rotations[:, hips] = rotation.exp(np.stack([0.1 * swing, 0.05 * swing, 0.1 * swing - 0.3 * time], axis=1))
    translations = np.array(pose.translations)
    way = np.stack([np.sin(turn * time), time, 0.05 * swing], axis=1)
    translations[:, hips] = way + 0.03 * swing[:, None]
    return Motion(Pose(rotations, translations), np.arange(FRAMES, dtype=float), FPS)


def places(skeleton: Skeleton, motion: Motion) -> np.ndarray:
    return forward(skeleton, motion.pose)[0]


@pytest.mark.parametrize("deviation", [0.0, 0.4, 7.0, 500.0])
def test_what_is_straight_and_even_is_kept_by_smoothing(deviation: float) -> None:
    line = np.stack([3.0 + 0.5 * np.arange(40.0), -np.arange(40.0)], axis=1)
    np.testing.assert_allclose(smoothed(line, deviation), line, atol=1e-9)


def test_smoothing_leaves_little_of_a_sway() -> None:
    sway = np.sin(2.0 * np.pi * 1.8 * np.arange(180) / FPS)[:, None]
    assert np.abs(smoothed(sway, 0.5 * FPS)[60:-60]).max() < 0.01


@pytest.mark.parametrize("smooth", [0.0, 0.5])
def test_a_root_bone_travels_and_the_body_stays_where_it_is(smooth: float) -> None:
    skeleton = figure()
    motion = walk(skeleton, turn=0.5)
    travel = find_travel(skeleton, motion, 1, smooth=smooth)
    given = set_carrier(skeleton, motion, travel, 0, "root")
    before, after = places(skeleton, motion), places(skeleton, given)
    np.testing.assert_allclose(after[:, 1:], before[:, 1:], atol=1e-12)
    np.testing.assert_allclose(after[0], before[0], atol=1e-12)
    assert np.ptp(rotation.lengths(after[:, 1, :2] - after[:, 0, :2])) < (1e-9 if smooth == 0.0 else 0.15)
    assert np.ptp(after[:, 0, 2]) < 1e-12  # it stays on the ground
    back = set_carrier(skeleton, given, travel, 0, "body")
    np.testing.assert_allclose(back.pose.rotations, rotation.positive(motion.pose.rotations), atol=1e-9)
    np.testing.assert_allclose(back.pose.translations, motion.pose.translations, atol=1e-9)


@pytest.mark.parametrize("carrier", ["root", "object", "nobody"])
def test_targets_that_rest_below_the_root_bone_go_along_with_it(carrier: Carrier) -> None:
    body = figure()
    skeleton = Skeleton(
        (*body.names, "ik root", "ik hand"), np.append(body.parents, [0, 5]),
        np.append(body.offsets, [[0, 0, 0], [0, 0, 1]], axis=0),
        np.append(body.rest_rotations, [rotation.IDENTITY] * 2, axis=0), np.append(body.lengths, [0.1, 0.1]),
        translatable=np.zeros((7, 3), bool) | (np.arange(7) < 5)[:, None],
    )  # fmt: skip
    motion, rest = walk(body), Pose.rest(skeleton, (FRAMES,))
    rotations, translations = np.array(rest.rotations), np.array(rest.translations)
    rotations[:, :5], translations[:, :5] = motion.pose.rotations, motion.pose.translations
    motion = Motion(Pose(rotations, translations), motion.frames, FPS)
    travel = find_travel(skeleton, motion, 1)
    given = set_carrier(skeleton, motion, travel, 0, carrier)
    np.testing.assert_array_equal(given.pose.rotations[:, 5:], rotations[:, 5:])
    np.testing.assert_array_equal(given.pose.translations[:, 5:], translations[:, 5:])
    seen = places(skeleton, given)
    apart = rotation.lengths(seen[:, 5:] - seen[:, :1])  # as far from the root bone as at rest
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0], apart.shape), atol=1e-12)


@pytest.mark.parametrize("root", [True, False])
def test_in_place_the_body_keeps_its_height_and_its_shape_and_goes_nowhere(root: bool) -> None:
    skeleton = figure(root)
    motion, hips = walk(skeleton), skeleton.index("hips")
    travel = find_travel(skeleton, motion, hips, smooth=0.0)
    still = set_carrier(skeleton, motion, travel, root_above(skeleton, hips), "nobody")
    before, after = places(skeleton, motion), places(skeleton, still)
    np.testing.assert_allclose(after[:, hips, :2], np.broadcast_to(before[0, hips, :2], (FRAMES, 2)), atol=1e-9)
    np.testing.assert_allclose(after[..., hips:, 2], before[..., hips:, 2], atol=1e-9)
    shape = rotation.lengths(before[:, hips:, None] - before[:, None, hips:])
    np.testing.assert_allclose(rotation.lengths(after[:, hips:, None] - after[:, None, hips:]), shape, atol=1e-9)


def test_taken_out_and_carried_again_is_where_it_was() -> None:
    skeleton = figure(root=False)
    motion = walk(skeleton)
    travel = find_travel(skeleton, motion, 0)
    still = places(skeleton, set_carrier(skeleton, motion, travel, None, "nobody"))
    carried = still @ np.swapaxes(travel.matrices[:, :3, :3], 1, 2) + travel.matrices[:, None, :3, 3]
    np.testing.assert_allclose(carried, places(skeleton, motion), atol=1e-9)


def test_only_the_chosen_axes_travel() -> None:
    skeleton = figure()
    motion = walk(skeleton)
    travel = find_travel(skeleton, motion, 1, axes=[[0.0, 1.0, 0.0]], turning=False)
    np.testing.assert_allclose(travel.turns, np.broadcast_to(rotation.IDENTITY, (FRAMES, 4)), atol=1e-12)
    np.testing.assert_allclose(travel.shifts[:, [0, 2]], 0.0, atol=1e-12)
    assert travel.shifts[-1, 1] > 1.0


def test_it_says_which_bone_is_missing_or_locked() -> None:
    skeleton = figure(root=False)
    motion = walk(skeleton)
    travel = find_travel(skeleton, motion, 0)
    with pytest.raises(CoreError, match="no bone above the hips"):
        set_carrier(skeleton, motion, travel, None, "root")
    locked = Skeleton(
        skeleton.names, skeleton.parents, skeleton.offsets, skeleton.rest_rotations, skeleton.lengths,
        translatable=np.zeros((4, 3), bool),
    )  # fmt: skip
    with pytest.raises(CoreError, match='"hips" cannot be moved'):
        set_carrier(locked, motion, travel, None, "nobody")


@pytest.mark.parametrize("smooth", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("turning", [False, True])
def test_a_loop_in_place_is_a_loop(turning: bool, smooth: float) -> None:
    """The way was smoothed as if it ended there: captured loops were 36 to 67 mm from themselves."""
    skeleton = figure(root=False)
    loop = make_loop(skeleton, walk(skeleton), 0, 20.0, turning=turning).motion
    travel = find_travel(skeleton, loop, 0, smooth=smooth, turning=turning)
    there = places(skeleton, set_carrier(skeleton, loop, travel, None, "nobody"))
    np.testing.assert_allclose(there[-1], there[0], atol=1e-9)
    speed = np.diff(there, axis=0)
    assert np.abs(speed[0] - speed[-1]).max() < 2.0 * np.abs(np.diff(speed, axis=0)).max()
