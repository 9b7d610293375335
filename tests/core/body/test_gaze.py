"""Heads and eyes that look at a place, and what they do not reach."""

import numpy as np
import pytest

from core import Pose, Solution, forward, rotation
from core.body.gaze import gaze_at, look_at
from tests.core.body.rigs import EYES, FORWARD, LEFT, STRAIGHT, body
from tests.core.rigs import random_pose


@pytest.mark.parametrize("target", [(0.5, -1.0, 1.4), (-0.8, -0.6, 1.9), (0.0, -2.0, 1.6)])
def test_the_head_looks_at_a_place_upright(target: tuple[float, float, float]) -> None:
    skeleton, roles = body(rng=np.random.default_rng(11))
    pose = look_at(skeleton, roles, random_pose(skeleton, np.random.default_rng(12), spread=0.05), np.array(target))
    heads, turns = forward(skeleton, pose)
    head = skeleton.index("head")
    change = rotation.mul(turns[head], rotation.inv(rotation.from_matrix(skeleton.rest_matrices[head, :, :3])))
    ahead = rotation.rotate(change, FORWARD)
    wanted = np.array(target) - heads[head]
    assert ahead @ wanted / np.linalg.norm(wanted) > np.cos(np.radians(1.0))
    assert abs(rotation.rotate(change, LEFT)[2]) < 0.25


def test_a_neck_turns_no_further_than_it_can_and_eyes_go_on() -> None:
    skeleton, roles = body([*STRAIGHT, *EYES], np.random.default_rng(13))
    behind = np.array([3.0, 2.0, 1.65])
    pose = look_at(skeleton, roles, Pose.rest(skeleton), behind)
    turns = forward(skeleton, pose)[1]
    angles = {}
    for name in ("head", "eye.L"):
        bone = skeleton.index(name)
        rest = rotation.from_matrix(skeleton.rest_matrices[bone, :, :3])
        ahead = rotation.rotate(rotation.mul(turns[bone], rotation.inv(rest)), FORWARD)
        angles[name] = np.degrees(np.arccos(ahead @ FORWARD))
    assert angles["head"] == pytest.approx(80.0, abs=0.5)
    assert 100.0 < angles["eye.L"] <= 115.5
    still = look_at(skeleton, roles, Pose.rest(skeleton), behind, head=0.0, eyes=0.0)
    np.testing.assert_array_equal(still.rotations, Pose.rest(skeleton).rotations)


def test_a_look_that_neck_and_eyes_do_not_reach_is_a_goal_that_is_missed() -> None:
    for rows, bone in ((STRAIGHT, "head"), ([*STRAIGHT, *EYES], "eye.L")):
        skeleton, roles = body(rows, np.random.default_rng(15))
        seen, unseen = (
            gaze_at(skeleton, roles, Pose.rest(skeleton), np.array(target))
            for target in ((0.8, -1.0, 1.4), (0.3, 2.0, 1.65))
        )
        assert isinstance(seen, Solution)
        assert isinstance(unseen, Solution)
        assert seen.converged
        assert seen.explain() == []
        assert np.array_equal(
            seen.pose.rotations,
            look_at(skeleton, roles, Pose.rest(skeleton), np.array((0.8, -1.0, 1.4))).rotations,
        )
        (sentence, *_) = unseen.explain()
        assert sentence.startswith(f"{bone} is rotated ")
        assert "neck and head rotate at most 80 degrees sideways" in sentence
    assert isinstance(gaze_at(skeleton, roles, Pose.rest(skeleton), np.ones(3), 0.5, 0.5), Pose)
