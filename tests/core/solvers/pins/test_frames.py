"""Many frames at once: the least-squares steps of a bake are what they say."""

from dataclasses import replace

import numpy as np
import pytest

from core import Goal, PinAndDrag, Pose, Skeleton, Solution, forward, motion, rotation
from core.solvers.pins import numbers
from core.solvers.pins.drag import Drag
from core.solvers.pins.many_frames import FramesSolver, algebra
from core.solvers.pins.many_frames.places import CLAMP, Places
from core.solvers.pins.problem import Problem
from core.solvers.pins.strengths import APART
from core.solvers.pins.tree import Kinematics
from tests.core.rigs import random_pose, skeleton_of
from tests.core.solvers.pins.rigs import ENDS, KINDS, limited_figure, outside, pins

pytestmark = pytest.mark.long

FRAMES = 20
TIED = (("thigh.L", 0, "shin.L", 0, -0.7), ("thigh.L", 0, "shin.R", 1, 0.4), ("spine", 2, "head", 0, 0.5))


def correlations(skeleton: Skeleton, tied: bool) -> tuple[tuple[int, int, int, int, float], ...]:
    index = skeleton.index
    return tuple((index(bone), axis, index(other), its, r) for bone, axis, other, its, r in TIED if tied)


def led(skeleton: Skeleton, method: PinAndDrag, seed: int, size: float = 0.3) -> Drag:
    """Hands, feet and head are led to where random poses have them, on two levels and with uneven weights."""
    rng = np.random.default_rng(seed)
    goals = pins(skeleton, random_pose(skeleton, rng, (FRAMES,), size), *ENDS)
    goals = [
        Goal(goal.bone, goal.position, goal.rotation if number < 2 else None, position_weight=weight, priority=rank)
        for number, (goal, weight, rank) in enumerate(
            zip(goals, rng.uniform(0.2, 1.0, (len(goals), FRAMES)), (0, 0, 1, 0, 1), strict=True)
        )
    ]
    return method.prepare(skeleton, random_pose(skeleton, rng, (), 0.1), goals)


def both(drag: Drag) -> tuple[Solution, Solution]:
    """What the solve says with least-squares steps, and what with Newton steps alone."""
    assert drag.problem.plain
    return drag.solve(), Drag(drag.method, replace(drag.problem, plain=False)).solve()


def cut_errors(problem: Problem, at: Kinematics) -> np.ndarray:
    """The weighted errors (FRAMES, K, 3), those of a level cut by one factor: their balance stays."""
    rows, everything = problem.rows, np.arange(FRAMES)
    furthest = (rows.lengths(at, everything)[:, :, None] * rows.block_in_level).max(axis=1)
    cut = (CLAMP / np.maximum(furthest, CLAMP)) @ rows.block_in_level.T
    return rows.vectors(at, everything) * rows.scales.reshape(FRAMES, -1, 3) * cut[..., None]


@pytest.mark.parametrize("root", ["free", "translate", "fixed"])
@pytest.mark.parametrize("turned", [False, True])
def test_the_rows_of_all_limbs_are_the_jacobian(figure: Skeleton, root: str, turned: bool) -> None:
    rng = np.random.default_rng(1)
    axes = rotation.normalize(rng.normal(size=(len(figure), 4))) if turned else None
    deviations = rng.uniform(0.2, 0.8, (len(figure), 3))
    problem = led(figure, PinAndDrag(root=root, axes=axes, deviations=deviations), 2).problem  # pyright: ignore
    (x, links), rows, everything = problem.begin(), problem.rows, np.arange(FRAMES)
    x = rng.normal(size=x.shape) * 0.3
    places = Places(problem, links)
    given = places.given(rows, everything)
    at, reference = places.place(given, x.T), links.place(x)
    dense = rows.jacobian(links, reference, rows.ordered_scales(everything), everything)
    blocks = len(places.order)
    sparse = np.zeros((FRAMES, 3, blocks, x.shape[1]))
    for limb, part in zip(places.branches, places.jacobian(given, at), strict=True):
        part = np.broadcast_to(part, (*part.shape[:2], FRAMES)) / places.deviations[limb.columns]
        sparse[:, :, limb.blocks, limb.columns] = np.moveaxis(part.reshape(3, -1, *part.shape[1:]), -1, 0)
    by_block = sparse[:, :, np.argsort(places.order)].swapaxes(1, 2).reshape(FRAMES, 3 * blocks, -1)
    np.testing.assert_allclose(by_block[:, rows.order], dense, atol=1e-12)
    errors = rows.vectors(reference, everything) * rows.scales.reshape(FRAMES, -1, 3)
    own = np.moveaxis(at.rows[:, np.argsort(places.order)], -1, 0).swapaxes(1, 2).reshape(FRAMES, -1)
    np.testing.assert_allclose(own, cut_errors(problem, reference).reshape(FRAMES, -1), atol=1e-12)
    np.testing.assert_allclose(at.lengths.T, rows.lengths(reference, everything), atol=1e-12)
    np.testing.assert_allclose(at.costs.T, np.sum(errors * errors, axis=2) @ rows.block_in_level, rtol=1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("root", ["free", "translate", "fixed", "pull"])
def test_a_step_is_the_damped_pseudo_inverse_with_the_joint_target(figure: Skeleton, root: str, tied: bool) -> None:
    """dx = S J^T y - x with (J S J^T + D) y = e + J x, here in dense matrices of each frame."""
    deviations = np.random.default_rng(3).uniform(0.2, 0.8, (len(figure), 3))
    more = {"deviations": deviations, "correlations": correlations(figure, tied)}
    problem = led(figure, PinAndDrag(root=root, settle=False, **more), 4).problem  # pyright: ignore
    everything, rows, (start, links) = np.arange(FRAMES), problem.rows, problem.begin()
    found = FramesSolver(problem, links).iterate(rows, start, everything, 1)
    at, scales = links.place(start), rows.ordered_scales(everything)
    jacobian = rows.jacobian(links, at, scales, everything)
    errors = cut_errors(problem, at).reshape(FRAMES, -1)[:, rows.order]
    damping = np.repeat([APART**-2, 1.0], [level.stop - level.start for level in rows.levels])
    together = np.eye(problem.tree.degrees)
    joints = problem.tree.nodes[problem.tree.joints].tolist()
    for bone, axis, other, its, value in more["correlations"]:
        places = 3 * joints.index(bone) + axis, 3 * joints.index(other) + its
        together[places] = together[places[::-1]] = value
    covariance = together * np.multiply.outer(problem.prior.spread, problem.prior.spread)
    went = 0
    for frame in range(FRAMES):
        j, e, x = jacobian[frame], errors[frame], start[frame]
        gram = j @ covariance @ j.T + np.diag(numbers.DAMPING * damping)
        step = covariance @ (j.T @ np.linalg.solve(gram, e + j @ x)) - x
        step *= min(1.0, CLAMP / np.linalg.norm(step))
        if (found.x[frame] != x).any():  # else the merit would rise
            went += 1
            np.testing.assert_allclose(found.x[frame], x + step, atol=1e-6)
    assert went > FRAMES // 2


@pytest.mark.parametrize("root", ["free", "translate"])
def test_it_comes_to_rest_where_newton_steps_alone_do(figure: Skeleton, root: str) -> None:
    fast, slow = both(led(figure, PinAndDrag(root=root, restarts=0, coherent=True), 4))  # pyright: ignore
    met = fast.converged & slow.converged
    assert met.sum() > FRAMES // 2
    turned = np.degrees(rotation.angle_between(fast.pose.rotations, slow.pose.rotations)[met].max(axis=1))
    assert np.quantile(turned, 0.8) < 0.1, turned  # there can be two ways to rest


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_limits_of_every_kind_are_kept_and_cost_no_goal(kind: str, tied: bool) -> None:
    skeleton = limited_figure(kind, 0.5)
    method = PinAndDrag(settle=False, root="free", correlations=correlations(skeleton, tied))
    drag = led(skeleton, method, 5, 0.25)
    problem, (fast, slow) = drag.problem, both(drag)
    assert outside(skeleton, fast.pose) < 1e-8
    assert fast.limits_active is not None
    assert slow.limits_active is not None
    assert fast.limits_active.any(axis=1).mean() > 0.1
    assert fast.converged.sum() >= slow.converged.sum() - 1
    ours, theirs = (problem.prior.strain(problem.state_of(solution.pose)) for solution in (fast, slow))
    assert np.median((ours / theirs)[fast.converged & slow.converged]) < 1.01  # as natural


def test_the_dual_system_is_solved_for_few_frames_and_for_many() -> None:
    rng = np.random.default_rng(6)
    for count in (3, 133):
        rows = rng.normal(size=(count, 21, 60)) * np.logspace(0.0, -3.0, 21)[:, None]
        gram, wish = rows @ rows.swapaxes(1, 2) + 1e-9 * np.eye(21), rng.normal(size=(count, 21))
        system = np.concatenate([gram.transpose(1, 2, 0), wish.T[None]])
        y = algebra.solved(system.copy()).T
        np.testing.assert_allclose((gram @ y[..., None])[..., 0], wish, atol=1e-6)


def test_a_bake_comes_to_the_same_wherever_a_block_ends(figure: Skeleton, monkeypatch: pytest.MonkeyPatch) -> None:
    rest, time = Pose.rest(figure), np.linspace(0.0, 6.0, 60)
    hand = forward(figure, rest)[0][figure.index("hand.R")]
    way = np.stack([0.1 * np.sin(time), 0.15 * np.cos(2.0 * time), -0.2 + 0.0 * time], axis=1)
    goals = [*pins(figure, rest, "foot.L", "foot.R"), Goal("hand.R", hand + way, priority=1)]
    method = PinAndDrag(settle=False, coherent=True)
    whole = method.solve(figure, rest, goals)
    monkeypatch.setattr(motion, "BLOCK", 7)
    parts = method.solve(figure, rest, goals)
    assert whole.converged.all()
    assert parts.converged.all()
    turned = rotation.angle_between(whole.pose.rotations, parts.pose.rotations)
    assert np.degrees(turned.max()) < 1e-5
    along = rotation.angle_between(whole.pose.rotations[1:], whole.pose.rotations[:-1])
    assert np.degrees(along.max()) < 20.0


def test_bodies_that_stretch_or_break_are_left_to_newton_steps() -> None:
    broken = skeleton_of([("root", None, (0, 0, 0), (0, 0, 1)), ("tip", "root", (0, 0, 1), (0, 0, 2))])
    goals = [Goal("tip", np.array([[0.0, 0.5, 0.8], [0.0, 0.6, 0.7]]))]
    assert PinAndDrag().prepare(broken, Pose.rest(broken), goals).problem.plain
    soft = PinAndDrag(limits="soft").prepare(broken, Pose.rest(broken), goals)
    assert not soft.problem.plain
    assert soft.state.frames is None
