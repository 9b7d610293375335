"""The model of what is minimised beside differences of it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core import Balance, Distance, Goal, LookAt, PinAndDrag, forward
from core.goals import AnyGoal
from core.rotation import Array
from core.solvers.pins.one_frame import FrameSolver
from core.solvers.pins.problem import Problem
from tests.core.rigs import random_pose
from tests.core.solvers.pins.rigs import random_tree

BONES = 7
KINDS = ("position", "rotation", "distance", "look at", "relative")


def goal_of(kind: str, heads: Array, turns: Array, rng: np.random.Generator) -> AnyGoal:
    """A goal that is missed; but rotations are as the pose has them, where their rows are their derivatives."""
    match kind:
        case "rotation":
            return Goal(4, None, turns[4])
        case "distance":
            return Distance(3, length=0.3, other=6)
        case "look at":
            return LookAt(5, rng.normal(size=3), axis=[0.0, 1.0, 0.0])
        case "relative":
            return Goal(6, 0.1 * rng.normal(size=3), relative_to=2)
        case "balance":
            return Balance(0, (1,), masses=np.eye(BONES)[5] + np.eye(BONES)[6])
        case _:
            return Goal(6, heads[6] + 0.1 * rng.normal(size=3), point=0.1 * rng.normal(size=3))


def case_of(kind: str, stretch: bool, rng: np.random.Generator) -> tuple[FrameSolver, Array] | None:
    """A body with one goal, and an x at which only roots and lengths have moved; None where a balance is kept."""
    tree = random_tree(rng, BONES)
    modes = rng.choice(["FULL", "FIX_SHEAR", "ALIGNED", "NONE"], BONES).tolist()
    tree = replace(tree, limits=(), stretch=np.full(BONES, 0.5), inherit_scale=modes)
    pose = random_pose(tree, rng)
    problem = Problem.of(PinAndDrag(stretch=stretch), tree, pose, [goal_of(kind, *forward(tree, pose), rng)])
    x, links = problem.begin()
    solver = FrameSolver(problem, links, 0)
    solver.begin(x[0])
    if kind == "balance" and solver.at.rows[0] > -1e-3:
        return None
    moved = 0.3 * rng.normal(size=len(solver.spread)) * solver.spread
    return solver, np.where(np.arange(len(moved)) < problem.tree.turning, 0.0, moved)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "stretch"),
    [*product(KINDS, (False, True)), ("balance", False)],  # lengths do not count in the centre of mass
)
def test_the_model_has_the_second_derivatives_of_the_goals_under_their_forces(kind: str, stretch: bool) -> None:
    rng = np.random.default_rng(20)
    cases = [case for _ in range(12) if (case := case_of(kind, stretch, rng))]
    assert cases
    for solver, x in cases:
        forces, slips = rng.normal(size=len(solver.objective.member)), np.zeros(solver.objective.member.shape[1], bool)

        def slope_and_hessian(step: Array, solver=solver, x=x, forces=forces, slips=slips) -> tuple[Array, Array]:
            local = solver.objective.model(solver.places.place(x + step * solver.spread), forces, slips, bend=True)
            return local.slope - forces @ local.rows, local.hessian

        around = [[slope_and_hessian(step * way)[0] for way in solver.newton.eye] for step in (-1e-5, 1e-5)]
        measured = (np.array(around[1]) - around[0]) / 2e-5
        hessian = slope_and_hessian(np.zeros_like(x))[1]
        np.testing.assert_allclose(hessian, 0.5 * (measured + measured.T), atol=1e-7)
