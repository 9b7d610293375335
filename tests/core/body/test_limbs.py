"""Limbs with a hinge: ends stay, middle joints are where they were, and bend as a hinge lets them."""

import numpy as np
import pytest

from core import Pose, Skeleton, forward, rotation
from core.body.limbs import HingedLimb, bend_limbs, take_twists

COUNT = 200
LIMB = HingedLimb(1, 2, 3, np.array([1.0, 0.0, 0.0]))


def arm(bend: float) -> Skeleton:
    """A shoulder, an upper arm and a forearm along Z, bent at rest about X by an angle, and a hand."""
    rest = np.tile(rotation.IDENTITY, (4, 1))
    rest[2] = rotation.from_axis_angle([1.0, 0.0, 0.0], bend)
    offsets = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, 0.3], [0.0, 0.0, 0.25]])
    return Skeleton(("shoulder", "upper", "lower", "hand"), np.array([-1, 0, 1, 2]), offsets, rest, np.full(4, 0.1))


def poses(skeleton: Skeleton, least: float, most: float, roll: float = 0.0) -> Pose:
    """Random poses in which the elbow is bent about its hinge, further than at rest; then the upper arm is rolled."""
    rng = np.random.default_rng(7)
    rotations = rotation.normalize(rng.normal(size=(COUNT, 4, 4)))
    side = np.sign(rotation.log(skeleton.rest_rotations[2])[0])
    rotations[:, 2] = rotation.from_axis_angle([1.0, 0.0, 0.0], side * rng.uniform(least, most, COUNT))
    rolled = rotation.from_axis_angle([0.0, 0.0, 1.0], roll)
    below = rotation.mul(skeleton.rest_rotations[2], rotations[:, 2])
    rotations[:, 1] = rotation.mul(rotations[:, 1], rolled)
    rotations[:, 2] = rotation.mul(rotation.inv(rotation.mul(rolled, skeleton.rest_rotations[2])), below)
    return Pose(rotations, np.zeros((COUNT, 4, 3)))


def segments(heads: np.ndarray) -> np.ndarray:
    """The lengths (..., 2) of both segments."""
    return np.linalg.norm(np.diff(heads[..., 1:, :], axis=-2), axis=-1)


@pytest.mark.parametrize("bend", [0.05, -0.05, 0.6])
def test_a_limb_that_bends_about_its_hinge_stays_as_it_is(bend: float) -> None:
    skeleton = arm(bend)
    pose = poses(skeleton, 0.0, 2.0)
    np.testing.assert_allclose(
        forward(skeleton, bend_limbs(skeleton, pose, [LIMB]))[0], forward(skeleton, pose)[0], atol=1e-9
    )
    turned = rotation.angle_between(bend_limbs(skeleton, pose, [LIMB]).rotations, pose.rotations)
    assert turned.max() < 1e-6


@pytest.mark.parametrize("roll", np.radians([-130.0, -40.0, 40.0]))
def test_joints_stay_where_they_are_and_the_roll_of_the_upper_bone_goes(roll: float) -> None:
    skeleton = arm(0.05)
    pose = poses(skeleton, 0.5, 2.0, roll)
    bent = bend_limbs(skeleton, pose, [LIMB])
    np.testing.assert_allclose(forward(skeleton, bent)[0], forward(skeleton, pose)[0], atol=1e-3)
    np.testing.assert_allclose(forward(skeleton, bent)[1][:, 3], forward(skeleton, pose)[1][:, 3], atol=1e-9)
    np.testing.assert_allclose(bent.rotations[:, 2, 2:], 0.0, atol=1e-12)  # about X alone
    about = rotation.angle_between(forward(skeleton, bent)[1], forward(skeleton, pose)[1])[:, 1]
    np.testing.assert_allclose(about, abs(roll), atol=0.02)


def test_a_limb_that_bends_backwards_bends_forwards_and_keeps_its_roll() -> None:
    skeleton = arm(0.05)
    pose = poses(skeleton, -0.2, -0.1)  # the other way: by 3 to 9 degrees
    bent = bend_limbs(skeleton, pose, [LIMB])
    ends = [forward(skeleton, one)[0][:, 3] for one in (bent, pose)]
    np.testing.assert_allclose(*ends, atol=1e-9)
    assert (rotation.log(rotation.mul(skeleton.rest_rotations[2], bent.rotations[:, 2]))[:, 0] > 0.0).all()
    turned = rotation.angle_between(forward(skeleton, bent)[1], forward(skeleton, pose)[1])[:, 1]
    assert turned.max() < 0.2


def test_lengths_that_are_shown_are_taken_over_and_the_end_stays() -> None:
    skeleton = arm(0.05)
    pose = poses(skeleton, 0.5, 2.0)
    shown = Pose(
        pose.rotations, np.tile([[0.0, 0.0, 0.0]] * 2 + [[0.0, 0.0, -0.003], [0.0, 0.0, 0.002]], (COUNT, 1, 1))
    )
    bent = bend_limbs(skeleton, pose, [LIMB], shown)
    heads, before = forward(skeleton, bent)[0], forward(skeleton, pose)[0]
    np.testing.assert_allclose(heads[:, 3], before[:, 3], atol=1e-9)
    np.testing.assert_allclose(segments(heads), segments(forward(skeleton, shown)[0]), atol=1e-9)
    planes = [np.cross(one[:, 2] - one[:, 1], one[:, 3] - one[:, 1]) for one in (heads, before)]
    cosines = np.sum(planes[0] * planes[1], axis=-1) / np.prod(np.linalg.norm(planes, axis=-1), axis=0)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-9)


def test_an_end_out_of_reach_is_as_near_as_the_lengths_and_ik_let_it_be() -> None:
    skeleton = arm(0.05)
    pose = poses(skeleton, 0.0, 0.01)
    short = Pose(pose.rotations, np.tile([[0.0, 0.0, 0.0]] * 2 + [[0.0, 0.0, -0.05]] * 2, (COUNT, 1, 1)))
    heads, before = (forward(skeleton, one)[0] for one in (bend_limbs(skeleton, pose, [LIMB], short), pose))
    first, second = segments(forward(skeleton, short)[0]).T
    straight = np.sqrt(first**2 + second**2 + 2.0 * first * second * np.cos(np.radians(0.3)))  # as Blender's IK has it
    lack = np.linalg.norm(before[:, 3] - before[:, 1], axis=-1) - straight
    np.testing.assert_allclose(np.linalg.norm(heads[:, 3] - before[:, 3], axis=-1), lack, atol=1e-9)


def test_a_limb_that_is_shown_straighter_than_ik_makes_limbs_stays_so() -> None:
    skeleton = arm(0.05)
    pose = poses(skeleton, -0.05, -0.05)
    heads = forward(skeleton, bend_limbs(skeleton, pose, [LIMB], pose))[0]
    np.testing.assert_allclose(heads, forward(skeleton, pose)[0], atol=1e-6)


def test_one_pose_without_a_batch_and_an_end_at_the_root() -> None:
    skeleton = arm(0.05)
    one = bend_limbs(skeleton, Pose.rest(skeleton), [LIMB])
    np.testing.assert_allclose(one.rotations, Pose.rest(skeleton).rotations, atol=1e-12)
    folded = Pose(np.tile(rotation.IDENTITY, (4, 1)), np.array([[0.0] * 3] * 2 + [[0.0, 0.0, -0.3], [0.0, 0.0, -0.25]]))
    assert np.isfinite(bend_limbs(skeleton, folded, [LIMB], Pose.rest(skeleton)).rotations).all()


def test_bones_without_a_twist_of_their_own_are_twisted_as_shown_and_nothing_else_turns() -> None:
    skeleton = arm(0.6)
    pose = poses(skeleton, 0.0, 2.0)
    shown = pose[::-1]
    loose = np.zeros((COUNT, 4), bool)
    loose[: COUNT // 2, 2] = True
    before, there, after = (
        forward(skeleton, one)[1] for one in (pose, shown, take_twists(skeleton, pose, shown, loose))
    )
    kept = rotation.angle_between(before, after)
    assert kept[~loose].max() < 1e-6
    own = rotation.mul(rotation.inv(before), after)[loose]
    np.testing.assert_allclose(own[:, [1, 3]], 0.0, atol=1e-9)  # about Y alone
    left = rotation.mul(rotation.inv(after), there)[loose]
    np.testing.assert_allclose(left[:, 2], 0.0, atol=1e-9)  # no twist
    assert kept[loose].max() > 0.1
