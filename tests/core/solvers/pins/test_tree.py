"""Jacobian and gradient of the pins solver against central differences, on random trees in random poses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Balance, Distance, EllipticSwing, EulerBox, Goal, LookAt, PinAndDrag, Pose, rotation
from core.goals import AnyGoal
from core.limits import LimitGroup
from core.rotation import Array
from core.solvers.pins.goals.rows import GoalRows
from core.solvers.pins.one_frame.objective import Objective
from core.solvers.pins.one_frame.places import Places
from core.solvers.pins.problem import Problem
from core.solvers.pins.tree import Links, LinkTree
from tests.core.rigs import FIGURE, random_pose, skeleton_of
from tests.core.solvers.pins.rigs import KINDS as LIMITS
from tests.core.solvers.pins.rigs import limited_figure, random_tree

STEP = 1e-6
FRAMES = 3


def random_problem(seed: int, bones: int, root: str, turned: bool, stretch: bool) -> tuple[GoalRows, Links, np.ndarray]:
    """Goals of two priorities on a random tree, links taken at random poses, and x (FRAMES, D) away from them."""
    rng = np.random.default_rng(seed)
    skeleton = random_tree(rng, bones)
    if stretch:
        skeleton = replace(skeleton, stretch=rng.uniform(0.1, 1.0, bones) * (rng.random(bones) < 0.5))
    kinds = [(True, True), (True, False), (False, True)]
    goals = [
        Goal(
            int(rng.integers(bones)),
            skeleton.size * rng.normal(size=(FRAMES, 3)) if placed else None,
            rotation.normalize(rng.normal(size=(FRAMES, 4))) if turns else None,
            rng.normal(size=3),
            float(rng.uniform(0.2, 3.0)),
            float(rng.uniform(0.2, 3.0)),
            priority=int(rng.integers(2)),
        )
        for placed, turns in kinds
    ]
    axes = rotation.normalize(rng.normal(size=(bones, 4))) if turned else None
    rows = GoalRows(skeleton, goals, (FRAMES,), root, stretch, axes)
    pose = random_pose(skeleton, rng, (FRAMES,))
    if stretch:
        pose = Pose(pose.rotations, pose.translations, np.ones((FRAMES, bones, 3)))
    links = rows.tree.fit(pose, np.zeros((FRAMES, rows.tree.degrees)))
    return rows, links, 0.5 * rng.normal(size=(FRAMES, rows.tree.degrees))


def columns_of(x: np.ndarray) -> list[np.ndarray]:
    return [STEP * np.broadcast_to(row, x.shape) for row in np.eye(x.shape[1])]


trees = given(
    seed=st.integers(0, 10**6),
    bones=st.integers(2, 10),
    root=st.sampled_from(["free", "translate", "fixed"]),
    turned=st.booleans(),
    stretch=st.booleans(),
)


@settings(max_examples=30)
@trees
def test_points_and_frames_move_as_the_jacobian_says(
    seed: int, bones: int, root: str, turned: bool, stretch: bool
) -> None:
    rows, links, x = random_problem(seed, bones, root, turned, stretch)
    jacobian = links.jacobian(links.place(x), np.ones((FRAMES, rows.tree.rows))).copy()
    for column, dx in enumerate(columns_of(x)):
        ahead, behind = links.place(x + dx), links.place(x - dx)
        points = (ahead.points - behind.points).reshape(FRAMES, -1)
        turns = rotation.log(rotation.from_matrix(ahead.ends @ np.swapaxes(behind.ends, -1, -2))).reshape(FRAMES, -1)
        expected = np.concatenate([points, turns], axis=1)[:, rows.tree.order] / (2.0 * STEP)
        np.testing.assert_allclose(jacobian[..., column], expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


@settings(max_examples=30)
@trees
def test_a_step_goes_down_the_gradient_of_what_is_wanted(
    seed: int, bones: int, root: str, turned: bool, stretch: bool
) -> None:
    """J^T e is the gradient of half of each level's squared error."""
    rows, links, x = random_problem(seed, bones, root, turned, stretch)
    at, everything = links.place(x), np.arange(FRAMES)

    def errors(x: np.ndarray) -> np.ndarray:
        vectors = rows.vectors(links.place(x), everything)
        vectors[:, rows.one_sided, 0] = np.minimum(vectors[:, rows.one_sided, 0], 0.0)
        return vectors.reshape(FRAMES, -1)[:, rows.order] * rows.ordered_scales(everything)

    jacobian = rows.jacobian(links, at, rows.ordered_scales(everything), everything).copy()
    for level in rows.levels:
        numeric = [
            (np.square(errors(x + dx)) - np.square(errors(x - dx)))[:, level].sum(axis=1) for dx in columns_of(x)
        ]
        down = (np.swapaxes(jacobian[:, level], -1, -2) @ errors(x)[:, level, None])[..., 0]
        expected = -0.5 * np.stack(numeric, axis=-1).reshape(FRAMES, x.shape[1]) / (2.0 * STEP)
        np.testing.assert_allclose(down, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("order", rotation.EULER_ORDERS)
def test_angles_of_a_box_change_as_its_gradients_say(order: str) -> None:
    check_gradients(EulerBox([0], [order], [[-2.0, -1.2, -2.0]], [[2.0, 1.2, 2.0]]), 1.0)


def test_swing_and_twist_change_as_their_gradients_say() -> None:
    check_gradients(EllipticSwing([0], [[-1.0, -0.5, -0.7]], [[0.6, 0.5, 1.2]]), 0.8)
    check_gradients(EllipticSwing([0], [[-1.0, -0.5, -np.inf]], [[0.6, 0.5, np.inf]]), 0.8)


def check_gradients(group: LimitGroup, spread: float) -> None:
    own = rotation.to_matrix(rotation.exp(spread * np.random.default_rng(0).uniform(-1.0, 1.0, (50, 1, 3))))
    slopes = group.gradients(own, group.coordinates(own))
    for axis, omega in enumerate(STEP * np.eye(3)):
        ahead, behind = (group.coordinates(own @ rotation.to_matrix(rotation.exp(s * omega))) for s in (1.0, -1.0))
        expected = rotation.wrap(ahead - behind) / (2.0 * STEP)
        np.testing.assert_allclose(slopes[..., axis], expected, atol=1e-6)


TURN = rotation.exp([0.7, -0.4, 0.9])
KINDS = {
    "position": Goal("hand.L", [0.1, 0.2, 0.3]),
    "rotation": Goal("hand.L", None, TURN),
    "by axis": Goal("hand.L", [0.1, 0.2, 0.3], position_axes=[1.0, 0.3, 0.0], axes=TURN),
    "about axes": Goal("hand.L", None, TURN, rotation_axes=[1.0, 0.2, 0.0]),
    "relative": Goal("hand.L", [0.1, 0.2, 0.1], TURN, relative_to="hand.R"),
    "relative by axis": Goal("hand.L", [0.1, 0.2, 0.1], relative_to="hand.R", position_axes=[1.0, 0.0, 0.2]),
    "relative about axes": Goal("hand.L", None, TURN, relative_to="hand.R", rotation_axes=[1.0, 0.2, 0.0]),
    "look-at": LookAt("head", [0.3, -0.5, 1.2]),
    "relative look-at": LookAt("head", [0.1, 0.2, 0.1], relative_to="hand.L"),
    "distance": Distance("hand.L", "hand.R", 0.3),
    "balance": Balance("hips", ("foot.R",), masses=np.ones(len(FIGURE))),
}


def turned(x: Array, step: Array, tree: LinkTree) -> Array:
    """x (D,) with joints turned by a step in their tangent space, not along their rotation vectors."""
    result = x + step
    before, way = (some[: tree.turning].reshape(-1, 3) for some in (x, step))
    turn = (rotation.exp_and_jacobian(before)[1] @ way[..., None])[..., 0]
    result[: tree.turning] = rotation.log(rotation.mul(rotation.exp(before), rotation.exp(turn))).ravel()
    return result


def check_second_order(problem: Problem, x: Array) -> None:
    """The model of what is minimised about x (D,) against differences."""
    rng, places = np.random.default_rng(5), Places(problem, problem.begin()[1], 0)
    objective = Objective(problem, places)
    at, slips = places.place(x), np.ones(1, bool)
    size, strength = objective.aims.sizes(at.rows), objective.strength(np.zeros(1))
    assert size > 0.1
    model = objective.model(at, at.rows * objective.pulls(size, slips, strength), slips, bend=True)
    along = at.rows @ model.rows / size
    slope = model.slope - strength * along
    hessian = model.hessian + strength / size * (model.rows.T @ model.rows - np.outer(along, along))
    here = objective.value(x)
    for way in rng.normal(size=(8, x.size)):
        step = 1e-3 * way / np.linalg.norm(way)
        ahead, behind = (objective.value(turned(x, s * objective.spread, problem.tree)) for s in (step, -step))
        rate, bend = (ahead - behind) / 2.0, ahead - 2.0 * here + behind
        assert abs(rate - slope @ step) < 1e-4 * np.linalg.norm(slope * step)
        assert abs(bend - step @ hessian @ step) < 1e-4 * (step * step) @ np.abs(np.diag(hessian))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_minimised_goes_on_to_second_order_as_its_derivatives_say(kind: str) -> None:
    """A trust region is as good as its model, and a body rests where the slope is nothing."""
    figure = skeleton_of(FIGURE)
    goals: list[AnyGoal] = [KINDS[kind]]
    problem = Problem.of(PinAndDrag(), figure, Pose.rest(figure), goals)
    check_second_order(problem, 0.4 * np.random.default_rng(5).normal(size=problem.tree.degrees))


@pytest.mark.parametrize("kind", LIMITS)
def test_soft_limits_give_as_their_derivatives_say(kind: str) -> None:
    figure = limited_figure(kind, 0.3)
    problem = Problem.of(PinAndDrag(limits="soft"), figure, Pose.rest(figure), [KINDS["position"]])
    x = 0.2 * np.random.default_rng(6).normal(size=problem.tree.degrees)
    places = Places(problem, problem.begin()[1], 0)
    assert places.limits.soft.energy(places.place(x)) > 1.0
    check_second_order(problem, x)


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_constants_of_a_frame_say_what_its_links_say(kind: str, rigid: bool) -> None:
    rng, figure = np.random.default_rng(7), skeleton_of(FIGURE)
    axes = rotation.normalize(rng.normal(size=(len(figure), 4)))
    if not rigid:
        inherit = ~np.isin(figure.names, ["thigh.L", "foot.L", "upper_arm.R"])
        figure = replace(figure, stretch=rng.uniform(0.1, 1.0, len(figure)), inherit_rotation=inherit)
    goals = [Goal("foot.L", [0.1, 0.2, 0.3], TURN, point=(0.1, 0.2, 0.0), priority=1), KINDS[kind]]
    problem = Problem.of(PinAndDrag(axes=axes, stretch=not rigid), figure, random_pose(figure, rng), goals)
    rows, frames, (_, links) = problem.rows, np.zeros(1, int), problem.begin()
    x = 0.4 * rng.normal(size=problem.tree.degrees)
    places, reference = Places(problem, links, 0), links.place(x[None])
    at = places.place(x)
    np.testing.assert_allclose(at.vectors, rows.vectors(reference, frames).reshape(-1)[rows.order], atol=1e-12)
    np.testing.assert_allclose(places.aims.lengths(at), rows.lengths(reference, frames)[0], atol=1e-12)
    expected = rows.jacobian(links, reference, np.ones((1, rows.rows)), frames)[0]
    np.testing.assert_allclose(places.jacobian(at, places.rates(at))[0], expected, atol=1e-12)
    ours, theirs = places.pose(at), problem.pose_at(x[None])
    np.testing.assert_allclose(rotation.angle_between(ours.rotations, theirs.rotations[0]), 0.0, atol=1e-7)
    np.testing.assert_allclose(ours.translations, theirs.translations[0], atol=1e-12)
    assert rigid or np.abs(np.log(ours.scales)).max() > 0.1
    assert rigid == (ours.scales is None)
    assert rigid or np.allclose(ours.scales, theirs.scales[0], rtol=1e-12)
