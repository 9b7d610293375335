"""Postures: one pose whatever the rest pose, with place and heading kept."""

import numpy as np
import pytest

from core import CoreError, Pose, forward, rotation
from core.body import find_roles
from core.body.gaze import look_at
from core.body.grip import pose_fingers
from core.body.posture import take_posture
from tests.core.body.rigs import LEFT, STRAIGHT, UP, VARIANTS, body, figure, way
from tests.core.rigs import random_pose, skeleton_of


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_a_t_pose_is_one_whatever_the_rest_pose_and_the_present_one_are(variant: dict) -> None:
    rng = np.random.default_rng(1)
    fig = figure(**variant)
    skeleton, roles = fig.skeleton, find_roles(fig.skeleton)
    out, down = fig.heading @ LEFT, fig.heading @ -UP
    for _ in range(3):
        pose = random_pose(skeleton, rng)
        pose = Pose(np.where(skeleton.parents[:, None] < 0, rotation.IDENTITY, pose.rotations), pose.translations)
        pose = take_posture(skeleton, roles, pose, "T")
        for first, last, wanted in (
            ("upper_arm.L", "forearm.L", out), ("forearm.L", "hand.L", out), ("upper_arm.R", "forearm.R", -out),
            ("thigh.L", "shin.L", down), ("shin.R", "foot.R", down),
        ):  # fmt: skip
            np.testing.assert_allclose(way(skeleton, pose, first, last), wanted, atol=1e-6)
        lowered = take_posture(skeleton, roles, pose, "A", np.radians(30.0))
        arm = np.cos(np.radians(30.0)) * -out + np.sin(np.radians(30.0)) * down
        np.testing.assert_allclose(way(skeleton, lowered, "upper_arm.R", "hand.R"), arm, atol=1e-6)


def test_a_posture_keeps_place_and_heading_and_bones_of_no_part() -> None:
    rows = [*STRAIGHT, ("tail", "hips", (0, 0.1, 0.95), (0, 0.3, 0.95))]
    skeleton, roles = body(rows, np.random.default_rng(2))
    hips, tail = skeleton.index("hips"), skeleton.index("tail")
    pose = random_pose(skeleton, np.random.default_rng(3))
    rest = rotation.from_matrix(skeleton.rest_matrices[hips, :, :3])
    turned = rotation.mul(rotation.exp(0.7 * UP), rotation.exp(0.4 * LEFT))
    rotations = np.array(pose.rotations)
    rotations[hips] = rotation.mul(rotation.inv(rest), rotation.mul(turned, rest))
    pose = Pose(rotations, pose.translations)
    after = take_posture(skeleton, roles, pose, "REST")
    heads, turns = forward(skeleton, after)
    np.testing.assert_allclose(heads[hips], forward(skeleton, pose)[0][hips], atol=1e-12)
    change = rotation.mul(turns[hips], rotation.inv(rest))
    np.testing.assert_allclose(rotation.log(rotation.positive(change)), 0.7 * UP, atol=0.05)
    assert np.array_equal(after.rotations[tail], pose.rotations[tail])
    np.testing.assert_array_equal(after.rotations[skeleton.index("shin.L")], rotation.IDENTITY)


def test_what_a_body_lacks_is_named() -> None:
    skeleton, roles = body([row for row in STRAIGHT if not row[0].startswith(("head", "neck"))])
    with pytest.raises(CoreError, match="No head was found"):
        look_at(skeleton, roles, Pose.rest(skeleton), np.zeros(3))
    with pytest.raises(CoreError, match=r"No fingers of hand.L were found"):
        pose_fingers(skeleton, roles, Pose.rest(skeleton), "L", 1.0, 0.0)
    chain = skeleton_of([("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2))])
    with pytest.raises(CoreError, match="No human body"):
        take_posture(chain, find_roles(chain), Pose.rest(chain), "T")
