"""Ranges of single joints: they begin with the anatomy, are mirrored, and take the place of other limits."""

import numpy as np
import pytest

from core import CoreError, EulerBox, Goal, PinAndDrag, Pose, forward, rotation, solve
from core.body.anatomy import anatomy
from core.body.detection import find_roles
from core.body.ranges import JointRange, joint_range, limits_of, with_joint_ranges
from core.limits import OrderFreeBox, excess
from core.limits.outline import swing_outline
from core.rotation import to_matrix
from tests.core.body.rigs import STRAIGHT
from tests.core.rigs import skeleton_of


@pytest.mark.parametrize("seed", [None, 3])
def test_a_range_begins_as_that_of_the_anatomy_and_mirrors_to_the_other_side(seed: int | None) -> None:
    skeleton = skeleton_of(STRAIGHT, None if seed is None else np.random.default_rng(seed))
    roles, rng = find_roles(skeleton), np.random.default_rng(0)
    turns = to_matrix(rotation.exp(rng.normal(scale=0.8, size=(200, 1, 3))))
    for name in ("upper_arm", "thigh", "foot", "clavicle"):
        left, right = (skeleton.index(f"{name}.{side}") for side in "LR")
        known = next(group for group in anatomy(skeleton, roles).ranges if left in group.bones)
        known = known.take(np.flatnonzero(known.bones == left))
        (own,) = limits_of({left: joint_range(skeleton, roles, left)})
        inside = [~np.any(excess(group, group.coordinates(turns)), axis=(-1, -2)) for group in (known, own)]
        np.testing.assert_array_equal(*inside)
        assert 10 < inside[0].sum() < 190
        there = joint_range(skeleton, roles, right)
        mirrored = joint_range(skeleton, roles, left).mirrored_to(there)
        np.testing.assert_allclose([mirrored.lower, mirrored.upper], [there.lower, there.upper], atol=1e-9)


@pytest.mark.parametrize("seed", [None, 3])
def test_elbows_and_knees_begin_with_the_axis_that_they_bend_about(seed: int | None) -> None:
    """Turns about one axis have one angle, with an order and without: both know the same turns as inside."""
    skeleton = skeleton_of(STRAIGHT, None if seed is None else np.random.default_rng(seed))
    roles, angles = find_roles(skeleton), np.radians(np.arange(-170.0, 171.0, 5.0) + 1.0)
    vectors = (angles[:, None, None] * np.eye(3)).reshape(-1, 3)
    for name in ("forearm", "shin"):
        for side in "LR":
            bone = skeleton.index(f"{name}.{side}")
            (hinges,) = anatomy(skeleton, roles).limits
            known = hinges.take(np.flatnonzero(hinges.bones == bone))
            before, after = (rotation.inv(frame[0]) for frame in known.frames)
            turns = to_matrix(rotation.mul(rotation.mul(before, rotation.exp(vectors)), after))[:, None]
            (own,) = limits_of({bone: joint_range(skeleton, roles, bone)})
            out = [excess(group, group.coordinates(turns)) for group in (known, own)]
            inside = [~np.any(np.abs(some) > 1e-6, axis=(-1, -2)) for some in out]  # elbows end at 0 degrees
            np.testing.assert_array_equal(*inside)
            there = joint_range(skeleton, roles, skeleton.index(f"{name}.R"))
            mirrored = joint_range(skeleton, roles, skeleton.index(f"{name}.L")).mirrored_to(there)
            np.testing.assert_allclose([mirrored.lower, mirrored.upper], [there.lower, there.upper], atol=1e-9)


def test_a_bone_of_no_part_has_no_bounds_until_they_are_said() -> None:
    skeleton = skeleton_of([("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2))])
    free = joint_range(skeleton, find_roles(skeleton), 1)
    (group,) = limits_of({1: free})
    assert np.isinf(group.lower).all()
    own = free.within(np.radians([-20, -180, -10]), np.radians([30, 180, 10]))
    limited = with_joint_ranges(skeleton, {1: own})
    goal = Goal("b", [0.0, 1.0, 1.0], point=(0.0, 1.0, 0.0))
    pose = solve(limited, Pose.rest(limited), [goal], PinAndDrag(root="fixed", restarts=0)).pose
    angles = np.degrees(rotation.to_order_free(pose.rotations[1]))
    assert np.abs(angles[2]) < 10.0 + 1e-3
    assert -20.0 - 1e-3 < angles[0] < 30.0 + 1e-3
    assert not np.allclose(forward(limited, pose)[0][1], goal.position)


def test_a_range_takes_the_place_of_the_limits_of_its_bone_alone() -> None:
    box = EulerBox([1, 2], ["XYZ"] * 2, np.full((2, 3), -0.1), np.full((2, 3), 0.1))
    rows = [
        (name, above, (0, 0, z), (0, 0, z + 1)) for z, (name, above) in enumerate((("a", None), ("b", "a"), ("c", "b")))
    ]
    skeleton = skeleton_of(rows, limits=(box,))
    found = with_joint_ranges(skeleton, {1: joint_range(skeleton, find_roles(skeleton), 1)})
    assert [group.bones.tolist() for group in found.limits] == [[2], [1]]
    assert with_joint_ranges(skeleton, {}) is skeleton


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    turn = rotation.IDENTITY
    with pytest.raises(CoreError, match="about Y goes from 10 to -10 degrees: it ends before it begins"):
        JointRange(np.radians([0.0, 10.0, 0.0]), np.radians([0.0, -10.0, 0.0]), turn, turn)


def test_the_outline_of_a_box_is_where_its_angles_end() -> None:
    box = OrderFreeBox([0], np.radians([[-40.0, -180.0, -60.0]]), np.radians([[70.0, 180.0, 20.0]]))
    ways = swing_outline(box)
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 1.0)
    about_x = np.degrees(np.arctan2(ways[:, 2], ways[:, 1]))[np.abs(ways[:, 0]) < 1e-6]  # the bone is along Y
    assert sorted(about_x) == pytest.approx([-40.0, 70.0], abs=2.1)
    about_z = np.degrees(np.arctan2(-ways[:, 0], ways[:, 1]))[np.abs(ways[:, 2]) < 1e-6]
    assert sorted(about_z) == pytest.approx([-60.0, 20.0], abs=2.1)
