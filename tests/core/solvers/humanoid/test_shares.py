"""Shares: how much each bone of spine and neck turns."""

import numpy as np
import pytest

from core import CoreError, Goal, Humanoid, Pose, Skeleton, forward, rotation, solve
from tests.core.rigs import FIGURE, skeleton_of
from tests.core.solvers.humanoid.rigs import place, six_points, turned

ROWS = [  # a spine of three bones
    ("hips", None, (0, 0, 0.95), (0, 0, 1.06)),
    ("spine", "hips", (0, 0, 1.06), (0, 0, 1.17)),
    ("spine.001", "spine", (0, 0, 1.17), (0, 0, 1.28)),
    ("chest", "spine.001", (0, 0, 1.28), (0, 0, 1.48)),
    *FIGURE[3:],
]
BACK = ("spine", "spine.001", "chest")


def bent(shares: dict[str, float], place_too: bool = False) -> tuple[Skeleton, Pose, Pose]:
    """The body with its chest turned by 40 degrees to its left, and led a little aside."""
    skeleton = skeleton_of(ROWS)
    rest = Pose.rest(skeleton)
    _, turns = forward(skeleton, rest)
    chest = rotation.mul(rotation.exp(np.radians([0.0, 0.0, 40.0])), turns[skeleton.index("chest")])
    wanted = place(skeleton, rest, "chest") + np.array([0.02, -0.03, -0.005]) if place_too else None
    goals = [Goal("chest", wanted, chest), *six_points(skeleton, rest, ("hips",))]
    return skeleton, rest, solve(skeleton, rest, goals, Humanoid(shares=shares, finish=False)).pose


def test_the_turn_of_the_chest_is_shared_by_the_numbers_and_by_the_places() -> None:
    for shares, expected in (
        ({}, (1.0, 2.0, 3.0)),
        ({"spine": 2.0}, (2.0, 2.0, 3.0)),
        ({"spine": 3.0, "spine.001": 1.5, "chest": 1.0}, (3.0, 3.0, 3.0)),
        ({"spine.001": 0.0}, (1.0, 0.0, 3.0)),
    ):
        skeleton, rest, pose = bent(shares)
        angles = turned(pose, rest)[[skeleton.index(bone) for bone in BACK]]
        np.testing.assert_allclose(angles, 40.0 * np.array(expected) / sum(expected), atol=1e-6)


def test_a_bone_without_a_share_stays_straight_where_the_chest_is_also_led() -> None:
    skeleton, rest, pose = bent({"spine.001": 0.0}, place_too=True)
    angles = turned(pose, rest)[[skeleton.index(bone) for bone in BACK]]
    assert angles[1] == pytest.approx(0.0, abs=1e-6)
    assert min(angles[0], angles[2]) > 1.0


@pytest.mark.parametrize(
    ("shares", "why"),
    [
        ({"hand.L": 1.0}, '"hand.L" is not a bone of the spine or the neck'),
        ({"spine": -1.0}, 'that of "spine" must be at least 0, not -1'),
        ({"spine": np.nan}, 'that of "spine" must be at least 0'),
        (dict.fromkeys(BACK, 0.0), "at least one bone of the spine must rotate"),
        ({"nobody": 1.0}, 'No bone "nobody"'),
    ],
)
def test_shares_that_make_no_sense_are_refused(shares: dict[str, float], why: str) -> None:
    with pytest.raises(CoreError, match=why):
        bent(shares)
