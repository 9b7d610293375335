"""Arms and legs of the humanoid method stay within people's joints, and bend towards the plane of their hinge."""

import numpy as np
import pytest

from core import Goal, Humanoid, Pose, Skeleton, forward, rotation, solve
from core.body.anatomy import anatomy, with_ranges
from core.body.detection import find_roles
from core.limits import excess
from tests.core.body.rigs import STRAIGHT
from tests.core.rigs import skeleton_of
from tests.core.solvers.humanoid.rigs import MILLIMETRE, place, six_points, units

HELD = ("foot.L", "foot.R", "hips")


def starts(figure: Skeleton) -> dict[str, Pose]:
    return {"T": Pose.rest(figure), "relaxed": anatomy(figure).reference}


def off_the_line(skeleton: Skeleton, pose: Pose, *bones: str) -> np.ndarray:
    """(..., 3) of the middle joint of a limb from the line between its root and its end."""
    root, middle, end = (place(skeleton, pose, bone) for bone in bones)
    way = (end - root) / np.linalg.norm(end - root, axis=-1, keepdims=True)
    return middle - root - np.sum((middle - root) * way, axis=-1, keepdims=True) * way


@pytest.mark.parametrize("start", ["T", "relaxed"])
def test_hands_all_around_leave_every_joint_within_those_of_people(figure: Skeleton, start: str) -> None:
    pose, known = starts(figure)[start], anatomy(figure)
    rng = np.random.default_rng(0)
    hands = place(figure, pose, "upper_arm.L") + 0.53 * rng.uniform(0.3, 1.0, (100, 1)) * units(rng, 100)
    goals = [Goal("hand.L", hands), *six_points(figure, pose, HELD)]
    out: dict[bool, np.ndarray] = {}
    for kept in (True, False):
        skeleton = with_ranges(figure, find_roles(figure), pose) if kept else figure
        solution = solve(skeleton, pose, goals, Humanoid())
        assert solution.converged.all()
        turns = rotation.to_matrix(solution.pose.rotations)
        beyond = [np.abs(excess(g, g.coordinates(turns[:, g.bones]))).max(axis=(-1, -2)) for g in known.ranges]
        out[kept] = np.degrees(np.max(beyond, axis=0))
    assert out[True].max() < 1e-4
    assert np.sum(out[False] > 1.0) > 25  # closed forms know nothing of them


@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("start", ["T", "relaxed"])
def test_an_elbow_is_not_above_the_line_to_a_hand_at_the_mouth(figure: Skeleton, start: str, side: str) -> None:
    """It was 18 cm above it."""
    pose = starts(figure)[start]
    mouth = place(figure, pose, "head") + np.array([0.03 if side == "L" else -0.03, -0.14, 0.02])
    hand = Goal(f"hand.{side}", mouth)
    found = solve(figure, pose, [hand, *six_points(figure, pose, HELD)], Humanoid()).pose
    elbow = off_the_line(figure, found, *(f"{bone}.{side}" for bone in ("upper_arm", "forearm", "hand")))
    assert elbow[2] < 0.1 * MILLIMETRE
    assert elbow @ np.array([1.0 if side == "L" else -1.0, -1.0, 0.0]) > 0.1  # beside the body and before it


def test_knees_that_are_well_bent_bend_in_the_plane_of_their_hinge() -> None:
    """Feet lifted to all sides of a straight body, whose knees bend about X: their offsets have no part along it."""
    straight = skeleton_of(STRAIGHT)
    pose, ways = Pose.rest(straight), units(np.random.default_rng(1), 80)
    ways[:, 1:] = -np.abs(ways[:, 1:])
    ways = ways[np.abs(ways[:, 0]) < 0.7]
    feet = Goal("foot.L", place(straight, pose, "thigh.L") + 0.4 * ways)
    held = six_points(straight, pose, ("foot.R", "hips"))
    found = solve(straight, pose, [feet, *held], Humanoid(finish=False)).pose
    knees = off_the_line(straight, found, "thigh.L", "shin.L", "foot.L")
    assert np.abs(knees[:, 0]).max() < 1e-6 * np.linalg.norm(knees, axis=1).min()
    assert (knees[:, 1] < 0.0).all()  # forward
    turns = rotation.log(found.rotations[:, straight.index("shin.L")])
    hinge = anatomy(straight).bends[straight.index("shin.L")]
    np.testing.assert_allclose(np.cross(turns, hinge), 0.0, atol=1e-6)


def test_the_elbow_creeps_with_a_hand_that_goes_round_the_head(figure: Skeleton) -> None:
    """From the mouth over the ear and the crown to the other shoulder, a millimetre a step."""
    pose = anatomy(figure).reference
    corners = place(figure, pose, "head") + np.array(
        [[0.03, -0.16, 0.02], [0.14, -0.06, 0.08], [0.14, 0.03, 0.12], [0.04, -0.02, 0.24], [-0.1, -0.14, -0.1]]
    )
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    path = np.stack([np.interp(np.arange(0.0, far[-1], MILLIMETRE), far, corners[:, axis]) for axis in range(3)], 1)
    found = solve(figure, pose, [Goal("hand.L", path), *six_points(figure, pose, HELD)], Humanoid(finish=False)).pose
    steps = np.linalg.norm(np.diff(place(figure, found, "forearm.L"), axis=0), axis=1)
    assert steps.max() < 12.0 * MILLIMETRE
    heads, _ = forward(figure, found)
    assert np.isfinite(heads).all()
