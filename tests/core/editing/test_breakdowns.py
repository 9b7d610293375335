"""Keys of the whole body at few common frames."""

import numpy as np

from core import Motion, Pose, Skeleton, forward, rotation
from core.editing.breakdowns import find_breakdowns
from core.editing.reduction import channels_of

FRAMES = np.arange(31.0)
KEYS = np.array([0, 10, 20, 30])


def two_bones() -> Skeleton:
    offsets = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    return Skeleton(("root", "arm"), [-1, 0], offsets, np.tile(rotation.IDENTITY, (2, 1)), [1.0, 1.0])


def motion_of(moves: np.ndarray) -> Motion:
    """The root at places (F,) along X, in quaternions that do not turn."""
    rotations = np.tile(rotation.IDENTITY, (len(FRAMES), 2, 1))
    translations = np.zeros((len(FRAMES), 2, 3))
    translations[:, 0, 0] = moves
    return Motion(Pose(rotations, translations), FRAMES, 30.0)


def test_a_cubic_needs_no_breakdown() -> None:
    t = FRAMES / 30.0
    motion, skeleton = motion_of(t**3 - 2.0 * t**2 + 0.3 * t), two_bones()
    found = find_breakdowns(skeleton, motion, channels_of(skeleton, motion), KEYS, 5, 1e-9)
    assert found.frames.tolist() == KEYS.tolist()
    assert found.error < 1e-9
    root = next(one for one in found.bones if one.bone == 0)
    np.testing.assert_allclose(root.keys.evaluate(FRAMES)[:, 4], motion.pose.translations[:, 0, 0], atol=1e-9)


def test_all_bones_get_a_key_where_the_curves_differ_most_and_its_pose_is_exact() -> None:
    motion, skeleton = motion_of(0.1 * np.exp(-0.5 * (FRAMES - 14.0) ** 2)), two_bones()
    channels = channels_of(skeleton, motion)
    found = find_breakdowns(skeleton, motion, channels, KEYS, 1)
    assert found.frames.tolist() == [0.0, 10.0, 14.0, 20.0, 30.0]
    for one in found.bones:
        assert one.keys.frames.tolist() == found.frames.tolist()
        own = next(channel for channel in channels if channel.bone == one.bone)
        np.testing.assert_array_equal(one.keys.values, own.values[found.frames.astype(int)])


def test_the_error_is_how_far_the_body_is_off_and_falls_with_more_breakdowns() -> None:
    generator = np.random.default_rng(3)
    turns = np.cumsum(generator.normal(scale=0.05, size=(len(FRAMES), 2, 3)), axis=0)
    skeleton = two_bones()
    motion = Motion(Pose(rotation.exp(turns), np.zeros((len(FRAMES), 2, 3))), FRAMES, 30.0)
    channels, errors = channels_of(skeleton, motion), []
    for most in (0, 3, 10, 27):
        found = find_breakdowns(skeleton, motion, channels, KEYS, most)
        assert len(found.frames) <= len(KEYS) + most
        rotations = np.stack([rotation.normalize(one.keys.evaluate(FRAMES)[:, :4]) for one in found.bones], axis=1)
        heads, frames = forward(skeleton, Pose(rotations, motion.pose.translations))
        true, turned = forward(skeleton, motion.pose)
        along, across = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
        off = [
            np.linalg.norm((heads + rotation.rotate(frames, place)) - (true + rotation.rotate(turned, place)), axis=-1)
            for place in (along, across)
        ]
        assert np.max(off) <= found.error + 1e-9
        errors.append(found.error)
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-6
