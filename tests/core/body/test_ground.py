"""Feet on the ground and hands on a surface."""

from dataclasses import replace

import numpy as np
import pytest

from core import Humanoid, Pose, forward, rotation, solve
from core.body import find_roles
from core.body.ground import Plane, find_free_turns, find_palm, find_sole, ground_at_rest, lay_hands, plant_feet
from core.body.posture import take_posture
from tests.core.body.rigs import FORWARD, HANDS, LEFT, STRAIGHT, THUMBS, UP, VARIANTS, body, figure
from tests.core.rigs import skeleton_of


def test_a_sole_has_the_height_that_the_body_was_made_with() -> None:
    skeleton, roles = body(rng=np.random.default_rng(7))
    sole = find_sole(skeleton, roles, "L")
    frame = skeleton.rest_matrices[sole.foot]
    for contact in (sole.heel, sole.ball, sole.tip):
        assert abs((frame[:, :3] @ contact + frame[:, 3])[2]) < 1e-9
    heel, ball, tip = (float(FORWARD @ (frame[:, :3] @ at + frame[:, 3])) for at in (sole.heel, sole.ball, sole.tip))
    assert heel < 0.0 < ball < tip


@pytest.mark.parametrize("turns", [False, True])
def test_a_bone_that_does_not_turn_by_itself_holds_the_turn_of_its_foot(turns: bool) -> None:
    skeleton, _ = body()
    feet = {name for name in skeleton.names if name.startswith("foot")}
    toes = [name for name in skeleton.names if name.startswith("toe")]
    movable = skeleton.movable & (turns | ~np.isin(skeleton.names, toes))
    skeleton = replace(skeleton, movable=movable)
    assert {*find_free_turns(skeleton, find_roles(skeleton), toes, toes)} == (feet if turns else set())


@pytest.mark.parametrize("raised", [0.0, 0.5])
def test_feet_without_toes_stand_on_the_ground_at_rest(raised: float) -> None:
    up = raised * UP
    rows = [(name, parent, head + up, tail + up) for name, parent, head, tail in STRAIGHT if not name.startswith("toe")]
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    sole = find_sole(skeleton, roles, "L")
    frame = skeleton.rest_matrices[sole.foot]
    ground = ground_at_rest(skeleton, roles)
    assert abs((frame[:, :3] @ sole.heel + frame[:, 3])[2] - ground) < 1e-9
    assert abs(ground - raised) < 0.02  # the ankle is as high above it as a human's


@pytest.mark.parametrize(
    ("variant", "roll"),
    [*((variant, 25.0) for variant in VARIANTS.values()), *((VARIANTS["rolls"], roll) for roll in (-20.0, 0.0, 60.0))],
)
def test_feet_stand_on_a_slope_with_the_contact_that_the_roll_says(variant: dict, roll: float) -> None:
    fig = figure(**variant)
    skeleton, roles = fig.skeleton, find_roles(fig.skeleton)
    unit = skeleton.size
    up = fig.heading @ UP
    normal = up + 0.2 * fig.heading @ LEFT
    normal = normal / np.linalg.norm(normal)
    heads, _ = forward(skeleton, Pose.rest(skeleton))
    plane = Plane(heads[skeleton.index("foot.L")] - 0.06 * unit * up, normal)
    pose = take_posture(skeleton, roles, Pose.rest(skeleton), "RELAXED")
    pose, goals = plant_feet(skeleton, roles, pose, dict.fromkeys("LR", plane), np.radians(roll), np.radians(40.0))
    solution = solve(skeleton, pose, goals, Humanoid(roles))
    assert solution.converged
    heads, turns = forward(skeleton, solution.pose)
    for side in "LR":
        sole = find_sole(skeleton, roles, side)
        heights = {
            name: float((heads[sole.foot] + rotation.rotate(turns[sole.foot], at) - plane.point) @ normal) / unit
            for name, at in (("heel", sole.heel), ("ball", sole.ball), ("tip", sole.tip))
        }
        down = {-20.0: ["heel"], 0.0: ["heel", "ball", "tip"], 25.0: ["ball"], 60.0: []}[roll]
        assert all(abs(heights[name]) < 1e-4 for name in down), heights
        if roll == 25.0:
            assert heights["heel"] > 0.05
            tail = heads[sole.toe] + skeleton.lengths[sole.toe] * rotation.rotate(turns[sole.toe], [0.0, 1.0, 0.0])
            assert abs((tail - heads[sole.toe]) @ normal) < 0.25 * skeleton.lengths[sole.toe]  # the toes lie flat
        if roll == -20.0:
            assert heights["tip"] > 0.05


def test_palms_lie_flat_on_a_table() -> None:
    skeleton, roles = body([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(9))
    pose = take_posture(skeleton, roles, Pose.rest(skeleton), "RELAXED")
    plane = Plane(np.array([0.0, 0.0, 1.0]), UP)
    solution = solve(skeleton, pose, lay_hands(skeleton, roles, pose, dict.fromkeys("LR", plane)), Humanoid(roles))
    assert solution.converged
    heads, turns = forward(skeleton, solution.pose)
    for side in "LR":
        hand, palm, _, place = find_palm(skeleton, roles, side)
        assert rotation.rotate(turns[hand], palm) @ UP < -0.9999
        assert abs((heads[hand] + rotation.rotate(turns[hand], place))[2] - 1.0) < 1e-3
