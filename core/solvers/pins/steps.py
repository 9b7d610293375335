"""Damped least-squares steps with a joint target (CN1420453; Nakamura and Yamane, IEEE TVCG 9(3), 2003).

One step is the weighted, damped pseudo-inverse and the joint target of the source in one: the maximum of a Gaussian
prior about the reference pose, x ~ N(0, S), under the linearised goals J dx = e:

    dx = S J^T y - g x,     (J S J^T + d I) y = e + g J x

solved in the dual (rows of goals, never columns of joints). S is diagonal: the squared standard deviations of each
joint about its own axes and of each root's shift; a stiffness is 1 / sd^2. g = 1 / (1 + m) and d = D (1 + m) with
Levenberg-Marquardt's m, raised where a step raises the merit: an unreachable goal is approached without overshoot.

Priorities: two levels are one system in which the first has 1e-4 of the second's damping. A lower level out of reach
can push a higher one by that share of its own clamped error, 0.05 mm, and the last steps take it back. More levels are
eliminated one after the other from the Gram matrix; the step of a level uses the damped inverse with D, the projector
onto its null space one with _CUT: directions in which the level moves less than sqrt(_CUT) per standard deviation count
as free, continuously.

Limits are an active set above all levels: a coordinate at its bound takes its direction out of the joint's S, is set to
the bound, and the step is solved again.

This is the reference for `frames` and `one_frame`, which take the same steps faster for rigid bodies with plain goals
on at most two levels.
"""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from . import numbers
from .goals.rows import Errors
from .limits import LinearLimits
from .progress import Progress
from .tree import Kinematics, Links

if TYPE_CHECKING:
    from .problem import Problem

_CUT: Final = 1e-9  # damping of the projectors onto null spaces


def iterate(problem: "Problem", x: Array, frames: NDArray[np.int64], most: int | None, fewest: int) -> Progress:
    """See `Problem.iterate`."""
    method = problem.method
    links = problem.links[frames]
    x = x.copy()
    limits = problem.limit_rows
    rows = problem.rows
    scales = rows.ordered_scales(frames)
    still = numbers.NEARLY_SETTLED if method.settle else numbers.SETTLED
    active = np.ones((len(x), limits.count), bool)  # `begin` keeps those at a bound
    iterations = np.zeros(len(x), int)
    damping = np.zeros(len(x))
    calm = np.zeros(len(x), int)
    at = links.place(x)
    errors = rows.errors(at, frames)
    far = _far(problem, errors, frames)
    if len(far):
        x[far, problem.tree.turning : problem.tree.moving] += _root_shifts(problem, links[far], at[far], frames[far])
        at.put(far, links[far].place(x[far]))
        errors.put(far, rows.errors(at[far], frames[far]))
    # one-sided rows that hold: at their bound, and pressed there by a force
    held = errors.rows[:, rows.one_sided_rows] < numbers.LIMIT_NEAR * scales[:, rows.one_sided_rows]
    measured = limits.measure(at, frames)
    here = _merit(problem, errors, x, limits.strain(measured, frames))
    met = problem.met(errors)
    # frames just within tolerance take a step, too: they would jitter beside corrected neighbours
    alive = np.arange(len(x)) if method.settle or method.coherent else np.flatnonzero(~met)
    while len(alive) >= fewest and (most is None or iterations.max() < most):
        whole = len(alive) == len(x)
        pick = slice(None) if whole else alive
        now = at if whole else at[alive]
        part = links if whole else links[alive]
        where = frames[alive]
        wanted, share = errors.rows[pick], scales[pick]
        if len(rows.one_sided):
            wanted, share = _switch(problem, wanted, share, held[pick])
        jacobian = rows.jacobian(part, now, share, where)
        prior = 1.0 / (1.0 + damping[pick])
        linear = limits.linearize(now, measured if whole else measured[alive], where)
        step, active[pick], force = _step(
            problem, jacobian, wanted, x[pick], linear, active[pick], damping[pick], prior
        )
        held[pick] = force[:, rows.one_sided_rows] < 0.0
        trial = x[pick] + shortened(step)
        there = part.place(trial)
        reached = limits.measure(there, where)
        drifted = limits.outside(reached, where, numbers.LIMIT_DRIFT)
        if len(drifted):
            trial[drifted] = limits.clamp(trial[drifted], reached[drifted], where[drifted])
            there.put(drifted, part[drifted].place(trial[drifted]))
            reached.put(drifted, limits.measure(there[drifted], where[drifted]))
        new = rows.errors(there, where)
        merit = _merit(problem, new, trial, limits.strain(reached, where))
        better = merit <= here[pick] * (1.0 + numbers.LIMIT_SLACK) + numbers.LIMIT_SLACK
        turned = np.max(np.abs(trial - x[pick]), axis=1, initial=0.0)
        rest = turned < still
        calming = method.settle or (method.coherent and turned > numbers.STRIDE)  # neighbours must end alike
        raised = np.maximum(numbers.LM_START, damping[pick] * numbers.LM_GROWTH)
        lowered = np.where(damping[pick] > numbers.LM_START, damping[pick] / numbers.LM_GROWTH, 0.0)
        damping[pick] = np.where(better, lowered, raised)
        good = alive[better]
        x[good], here[good] = trial[better], merit[better]
        if whole and better.all():
            at, errors, measured = there, new, reached
        else:
            at.put(good, there[better])
            measured.put(good, reached[better])
            errors.put(good, new[better])
        iterations[alive] += 1
        met = problem.met(errors)[alive]
        calm[alive] = np.where(rest, calm[alive] + 1, 0)
        patience = np.where(damping[alive] > 0.0, numbers.CALM_DAMPED, numbers.CALM)
        stuck = (
            (calm[alive] >= patience) | (damping[alive] > numbers.LM_LIMIT) | (iterations[alive] >= method.iterations)
        )
        done = met & ((rest & (damping[alive] == 0.0)) | stuck | np.logical_not(calming))
        done |= stuck
        alive = alive[~done]
    drifted = limits.outside(measured, frames, numbers.LIMIT_SLACK)
    if len(drifted):
        x[drifted] = limits.clamp(x[drifted], measured[drifted], frames[drifted])
        errors.put(drifted, rows.errors(links[drifted].place(x[drifted]), frames[drifted]))
    done = np.ones(len(x), bool)
    done[alive] = False
    return Progress(x, iterations, active, done, errors.lengths, errors.costs)


def shortened(steps: Array) -> Array:
    """Return steps (B, D) cut to the length STEP_CLAMP."""
    length = np.sqrt(np.sum(steps * steps, axis=1, keepdims=True))
    return steps * (numbers.STEP_CLAMP / np.maximum(length, numbers.STEP_CLAMP))


def _switch(problem: "Problem", wanted: Array, share: Array, held: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return errors and scales with 0 for one-sided rows that are neither violated nor held by a force."""
    places = problem.rows.one_sided_rows
    on = (wanted[:, places] < 0.0) | held
    wanted, share = wanted.copy(), share.copy()
    wanted[:, places] *= on
    share[:, places] *= on
    return wanted, share


def _merit(problem: "Problem", errors: Errors, x: Array, soft: Array | float) -> Array:
    """Return the merit (B,), which a step must not raise."""
    return errors.costs @ problem.level_weights + problem.strain(x) + soft


def _step(
    problem: "Problem", jacobian: Array, rows: Array, x: Array, linear: LinearLimits, active: NDArray[np.bool_],
    damping: Array, prior: Array,
) -> tuple[Array, NDArray[np.bool_], Array]:  # fmt: skip
    """Return a step (B, D), its active limits (B, K) and the forces y (B, M) of the rows."""
    gain = prior[:, None]
    levelled = numbers.DAMPING * (1.0 + damping)
    wanted = rows + gain * (jacobian @ x[..., None])[..., 0]
    if not problem.limit_rows.count:
        weighted = _weighted(problem, jacobian)
        y = dual(problem, weighted @ np.swapaxes(jacobian, -1, -2), wanted, levelled)
        return (np.swapaxes(weighted, -1, -2) @ y[..., None])[..., 0] - gain * x, active, y
    active = linear.begin(active)
    step, forces = np.empty_like(x), np.empty_like(wanted)
    todo = np.arange(len(x))
    for turn in range(numbers.ACTIVE_SET_ROUNDS):
        everything = len(todo) == len(x)
        pick = slice(None) if everything else todo
        jac, own, share = jacobian[pick], x[pick], gain[pick]
        part = linear if everything else linear[todo]
        mean, covariance, held = part.condition(problem.variance, own, share, active[pick])
        weighted = _weighted(problem, jac)
        for joint in held.tolist():
            columns = slice(3 * joint, 3 * joint + 3)
            weighted[:, :, columns] = jac[:, :, columns] @ covariance[:, joint]
        gap = wanted[pick] - (jac @ mean[..., None])[..., 0]
        y = dual(problem, weighted @ np.swapaxes(jac, -1, -2), gap, levelled[pick])
        z = mean + (np.swapaxes(weighted, -1, -2) @ y[..., None])[..., 0]
        step[pick], forces[pick] = z - share * own, y
        if turn == numbers.ACTIVE_SET_ROUNDS - 1:
            break
        force = (np.swapaxes(jac, -1, -2) @ y[..., None])[..., 0]
        push = z / np.maximum(problem.variance, numbers.DAMPING * numbers.DAMPING) - force
        changed = part.revise(active[pick], step[pick], push, release=turn < 2)
        active[pick] = active[pick] ^ changed
        todo = todo[changed.any(axis=1)]
        if not len(todo):
            break
    return step, active, forces


def _weighted(problem: "Problem", jacobian: Array) -> Array:
    return np.multiply(jacobian, problem.variance, out=problem.tree.workspace("weighted", *jacobian.shape))


def dual(problem: "Problem", gram: Array, wanted: Array, damping: Array) -> Array:
    """Return y (B, M) of the dual system with Gram matrices (B, M, M), level by level; damping (B,)."""
    size = gram.shape[-1]
    eye = np.eye(size)
    if problem.damping_shares is not None:
        damped = gram + damping[:, None, None] * (problem.damping_shares * eye)
        return np.linalg.solve(damped, wanted[..., None])[..., 0]
    y = np.zeros_like(wanted)
    combine = np.broadcast_to(eye, gram.shape).copy()  # rows of the projected Jacobian in terms of the given ones
    residual = wanted.copy()
    gram = gram.copy()
    for number, level in enumerate(problem.rows.levels):
        own = gram[:, level, level]
        here = eye[: own.shape[-1], : own.shape[-1]]
        z = np.linalg.solve(own + damping[:, None, None] * here, residual[:, level, None])
        y += (np.swapaxes(combine[:, level], -1, -2) @ z)[..., 0]
        if number == len(problem.rows.levels) - 1:
            break
        rest = slice(level.stop, size)
        across = gram[:, level, rest]
        residual[:, rest] -= (np.swapaxes(across, -1, -2) @ z)[..., 0]
        project = np.swapaxes(np.linalg.solve(own + _CUT * here, across), -1, -2)
        gram[:, rest, rest] -= project @ across
        combine[:, rest] -= project @ combine[:, level]
    return y


def _far(problem: "Problem", errors: Errors, frames: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the frames in which all targets are so far away that the root moves first."""
    points = problem.rows.plain_points
    if len(problem.tree.roots) != 1 or not points or not (errors.lengths[:, :points] > numbers.FAR).any():
        return np.zeros(0, int)
    lengths = errors.lengths[:, :points]
    on = problem.rows.scales[frames, : 3 * points : 3] > 0.0
    nearest = np.min(np.where(on, lengths, np.inf), axis=1)
    return np.flatnonzero(np.isfinite(nearest) & (nearest > numbers.FAR))


def _root_shifts(problem: "Problem", links: Links, at: Kinematics, frames: NDArray[np.int64]) -> Array:
    """Return the shifts (B, 3) of the one root by the mean distance of the points from their targets."""
    points, roots = problem.rows.plain_points, slice(problem.tree.turning, problem.tree.moving)
    weight = problem.rows.scales[frames, : 3 * points : 3] > 0.0
    gap = problem.rows.target_points[frames] - at.points[:, :points]
    mean = np.sum(gap * weight[..., None], axis=1) / weight.sum(axis=1)[:, None]
    return (np.swapaxes(links.slide[:, 0], -1, -2) @ mean[..., None])[..., 0] * (problem.variance[roots] > 0.0)
