"""Bring a body to rest: Newton's method on the objective of the solver, with the curvature of the body.

    F(x) = 1/2 sum of w |e|^2 + 1/2 x^T S^-1 x

Gauss-Newton steps leave out the curvature of the rows, the only one left where a stretched limb pulls: they circle or
creep. With forces f = w e, axes a and the rows J_j of a point, the Hessian is S^-1 + J^T W J - C with
C_ij = a_i . (J_j x f) for a joint i above or at j (the second derivative of a point is a_i x (a_j x r)), and
f . (a_i x a_j) / 2 for a frame.
Steps are those of a trust region in standard deviations (Nocedal and Wright, Numerical Optimization, 4.3), from the
eigenvalues of S^1/2 H S^1/2: they go down from a saddle, too. Limits hold as in `limits`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array, skew
from . import numbers
from .limits import LimitRows, LinearLimits, Measured
from .tree import Batch, Kinematics, Links

if TYPE_CHECKING:
    from .problem import Problem

_NEWTON_LEVEL: Final = 1e-8  # damping of the first of two levels, as a share of the second's
_LEVEL_GIVES: Final = 5e-5  # length or angle by which lower levels may move an upper one in a tick of a drag
_LEVEL_AIM: Final = 5e-3  # largest length or angle from a target to the aim of a level in a drag
_TRUST: Final = 0.25  # share of the expected gain at which the radius stays
_MENDED: Final = 0.9  # share of the expected gain below which a step is corrected towards the valley's floor
_MENDS: Final = 3  # largest number of such corrections
_FLAT: Final = 1e-14  # share of the largest curvature that is rounding
_STEEP: Final = 30.0  # curvature, in units of the prior's, from which a direction is a wall of the valley
_TINY_TURN: Final = 1e-5  # radians, of derivatives by differences
_HALVINGS: Final = 40  # steps of a bisection
_TORN: Final = 0.1  # share of its radius that a step keeps if it crosses a bound which it has just released
_TICK_STEPS: Final = 6  # steps in a tick of a drag that is out of reach
_TICK_RADIUS: Final = 0.2  # standard deviations of the first step in a tick
_TICK_RESTS: Final = np.radians(0.02)  # largest change in a step that counts as rest in a tick
_HEAVIEST: Final = 1e13  # largest weight of firm rows that depend on each other


@dataclass(frozen=True, eq=False)
class State(Batch):
    """B frames at x."""

    value: Array  # (B,) F
    measured: Measured
    at: Kinematics

    @property
    def x(self) -> Array:
        """Return the joints' states (B, D)."""
        return self.at.x


@dataclass(frozen=True, eq=False)
class Objective(Batch):
    """The terms of F in B frames."""

    weights: Array  # (B, M) w of the rows in their order
    aims: Array  # (B, M) errors at which rows rest: a level under a force has its aim beyond where it is held
    home: Array  # (B, D) the prior's mean
    above: int  # m, number of the upper levels' rows: those that are met stay so
    firm: Array | None = None  # (B, m) 1 for those, if known; rounding then frees next to nothing
    pressed: NDArray[np.bool_] | None = None  # (B, sided) one-sided rows that count though they are met
    follows: bool = False  # the target moves: see `_trusted`


@dataclass(frozen=True, eq=False)
class Shape:
    """F of B frames about one x, to second order."""

    slope: Array  # (B, D)
    pull: Array  # (B, D) the same with the forces that the firm rows have at rest
    goals: Array  # (B, D, D) second derivatives without those of the limits and the plain part of the prior
    firm: Array  # (B, m) 1 for rows that stay met
    held: Array  # (B, m) their errors at which their weights balance their forces
    limits: LimitRows
    linear: LinearLimits
    at: Kinematics
    frames: NDArray[np.int64]

    @cached_property
    def _bends(self) -> Array:
        return self.limits.curvatures(self.at, self.frames)

    def hessian(self, active: NDArray[np.bool_]) -> Array:
        """Return H (B, D, D) without the plain part of the prior: forces on a curved bound turn with it."""
        active = active & (self.limits.variance == 0.0)
        if not active.any():
            return self._soft
        return self._soft - self._on_joints(self.linear.multipliers(active, self.pull)[..., None, None] * self._bends)

    @cached_property
    def _soft(self) -> Array:
        """H (B, D, D) with soft limits."""
        if not self.limits.variance.any():
            return self.goals
        forces, stiffness = self.linear.strained()
        slopes = self.linear.slopes
        walls = stiffness[..., None, None] * slopes[..., :, None] * slopes[..., None, :]
        return self.goals + self._on_joints(walls + forces[..., None, None] * self._bends)

    def _on_joints(self, blocks: Array) -> Array:
        """Return the sum (B, D, D) of the limits' blocks (B, K, 3, 3) in the columns of their joints."""
        result = np.zeros_like(self.goals)
        columns = 3 * self.limits.joint[:, None] + np.arange(3)  # (K, 3)
        frame = np.arange(len(result))[:, None, None, None]
        np.add.at(result, (frame, columns[:, :, None], columns[:, None, :]), blocks)
        return result


@dataclass(frozen=True, eq=False)
class _Model:
    """The quadratic model of B frames about one x, in standard deviations, and its best step."""

    step: Array  # (B, D) in x
    expected: Array  # (B,) by how much it should lower F
    projectors: Array  # (B, R, 3, 3) along the active limits
    firm: Array  # as in `Shape`
    held: Array
    least: Array  # (B,) the least eigenvalue, where it is negative
    pressed: NDArray[np.bool_]  # (B, sided) one-sided rows that count in it

    def __getitem__(self, index: NDArray[np.int64]) -> "_Model":
        names = "step", "expected", "projectors", "firm", "held", "least", "pressed"
        return replace(self, **{name: getattr(self, name)[index] for name in names})


def shortened(steps: Array) -> Array:
    """Return steps (B, D) cut to the length STEP_CLAMP."""
    length = np.sqrt(np.sum(steps * steps, axis=1, keepdims=True))
    return steps * (numbers.STEP_CLAMP / np.maximum(length, numbers.STEP_CLAMP))


def project(projectors: Array, columns: Array) -> Array:
    """Return columns (B, D, n) with those of limited joints projected along their bounds; projectors (B, R, 3, 3)."""
    count, joints = projectors.shape[:2]
    if not joints:
        return columns
    result = columns.copy()
    blocks = result[:, : 3 * joints].reshape(count, joints, 3, columns.shape[-1])
    result[:, : 3 * joints] = (projectors @ blocks).reshape(count, 3 * joints, columns.shape[-1])
    return result


class Newton:
    """Minimisation of a problem's F by `descend`."""

    def __init__(self, problem: "Problem") -> None:
        self.problem: Problem = proxy(problem)  # a weak reference avoids a reference cycle
        self.rows, self.limits, self.tree = problem.rows, problem.limit_rows, problem.tree
        self.spread = np.sqrt(problem.variance)
        self.stiffness = 1.0 / np.maximum(problem.variance, numbers.DAMPING**2)
        self.above = self._find_order()
        # joints that turn about all their axes: `_turned` would turn others about their stiff axes, too
        self.round = np.all(self.spread[: self.tree.turning].reshape(-1, 3) > 0.0, axis=1)
        self.place_of_row = np.argsort(self.rows.order)

    def _find_order(self) -> Array:
        """Return (D, D): 1 where turning the row's joint turns the column's, 1/2 where both are of one joint."""
        tree = self.tree
        breaks = set(tree.breaks.tolist())
        turns = np.zeros((len(tree.nodes), len(tree.nodes)))
        for node in range(len(tree.nodes)):
            link = node
            while link not in breaks and tree.parents[link] >= 0:
                link = int(tree.parents[link])
                turns[link, node] = 1.0
        nodes = np.concatenate([np.repeat(tree.joints, 3), np.repeat(tree.roots, 3), tree.stretching]).astype(int)
        above = (turns + 0.5 * np.eye(len(tree.nodes)))[np.ix_(nodes, nodes)]
        above[:, tree.turning : tree.moving] = 0.0  # a root's translation does not turn with it
        above[:, tree.moving :] = np.ceil(above[:, tree.moving :])
        return above

    def descend(
        self, x: Array, frames: NDArray[np.int64], met: bool = False
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return x (B, D), the number of steps (B,) and the active limits (B, K) at rest; `met`: all goals stay met."""
        above = self.rows.rows if met else self.rows.levels[-1].start
        weights = self._weights(frames)
        return self._descend(x, frames, Objective(weights, np.zeros_like(weights), np.zeros_like(x), above))

    def _descend(
        self, x: Array, frames: NDArray[np.int64], objective: Objective,
        most: int = numbers.NEWTON_STEPS, radius: float = numbers.NEWTON_RADIUS,
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:  # fmt: skip
        """Take at most `most` steps, the first of at most `radius` standard deviations; return as `descend`."""
        links = self.problem.links[frames]
        at = links.place(x.copy())
        now = self._state(at, self.limits.measure(at, frames), objective, frames)
        trusted = np.full(len(x), radius)
        steps = np.zeros(len(x), int)
        active = np.ones((len(x), self.limits.count), bool)
        asked = np.zeros(len(x), bool)  # frames that take one more step to confirm rest
        alive = np.arange(len(x))
        for _ in range(most):
            where, part, here = frames[alive], links[alive], now[alive]
            model, active[alive] = self._model(part, here, objective[alive], where, active[alive], trusted[alive])
            step = model.step
            there = self._reach(part, self._turned(here.x, step), objective[alive], where)
            self._mend(part, here, there, objective[alive], where, model, active[alive])
            gained = here.value - there.value
            lower = gained >= -numbers.NEWTON_NOISE * here.value
            now.put(alive[lower], there[lower])
            steps[alive] += 1
            # trust region: widen it where the model predicted the gain
            true = gained > _TRUST * np.abs(model.expected)
            size = np.sqrt(np.sum(np.square(step / np.maximum(self.spread, numbers.DAMPING)), axis=1))
            wider = np.maximum(trusted[alive], np.minimum(2.0 * size, numbers.NEWTON_WIDEST))
            trusted[alive] = np.where(true, wider, 0.25 * size)
            # a step may be short for a small radius or a bound to be released: try once more without both
            turn = np.max(np.abs(step), axis=1, initial=0.0)
            calm = turn < (_TICK_RESTS if objective.follows else numbers.NEWTON_RESTS)
            rests = calm & (asked[alive] | objective.follows)
            once = alive[calm & ~rests]
            asked[once], trusted[once], active[once] = True, radius, True
            alive = alive[~rests]
            if not len(alive):
                break
        return now.x, steps, active

    def tick(self, x: Array, aims: Array) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_], Array]:
        """Take a few steps to rest in one frame x (1, D) of a drag out of reach; return as `descend`, and new aims.

        aims (1, M). Goals that are met and give way to lower levels are moved back by as much, here and in the next
        tick (the method of multipliers). Aims of goals out of reach go no further than _LEVEL_AIM.
        """
        frame, above = np.zeros(1, int), self.rows.levels[-1].start
        weights, steps, active = self._weights(frame), np.zeros(1, int), self.limits.nothing(1)
        for _ in range(numbers.LEVEL_TURNS):
            objective = Objective(weights, aims, np.zeros_like(x), above, follows=True)
            x, more, active = self._descend(x, frame, objective, _TICK_STEPS, _TICK_RADIUS)
            steps += more
            if len(self.rows.levels) <= 2:
                break
            at = self.problem.links[frame].place(x)
            errors = self._errors(at, 0.0, frame)[:, :above] * self._firm_rows(at, objective, frame)
            aims = np.zeros_like(aims)
            aims[:, :above] = np.clip(objective.aims[:, :above] - errors, -_LEVEL_AIM, _LEVEL_AIM)
            if np.abs(errors).max(initial=0.0) < _LEVEL_GIVES:
                break
        return x, steps, active, aims

    def _weights(self, frames: NDArray[np.int64]) -> Array:
        """Return the weights w (B, M) of the rows in their order."""
        rows = self.rows
        last = len(rows.levels) - 1
        apart = _NEWTON_LEVEL if last <= 1 else max(numbers.LEVEL_DAMPING, numbers.LEVEL_RANGE ** (1.0 / last))
        shares = apart ** (1.0 * last - np.arange(last + 1))
        blocks = np.repeat(rows.block_in_level @ (1.0 / (numbers.NEWTON_DAMPING * shares)), 3)
        return (rows.scales[frames] ** 2 * blocks)[:, rows.order]

    def value(self, x: Array, frames: NDArray[np.int64]) -> Array:
        """Return F (B,) at x (B, D)."""
        weights, at = self._weights(frames), self.problem.links[frames].place(x)
        objective = Objective(weights, np.zeros_like(weights), np.zeros_like(x), 0)
        return self._state(at, self.limits.measure(at, frames), objective, frames).value

    def _reach(self, links: Links, x: Array, objective: Objective, frames: NDArray[np.int64]) -> State:
        """Return the frames at x (B, D) with joints clamped to their limits."""
        at = links.place(x)
        measured = self.limits.measure(at, frames)
        drifted = self.limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(drifted):
            inside = self.limits.clamp(x[drifted], measured[drifted], frames[drifted])
            at.put(drifted, links[drifted].place(inside))
            measured.put(drifted, self.limits.measure(at[drifted], frames[drifted]))
        return self._state(at, measured, objective, frames)

    def _state(self, at: Kinematics, measured: Measured, objective: Objective, frames: NDArray[np.int64]) -> State:
        errors = self._errors(at, objective.aims, frames)
        value = (
            0.5 * np.sum(objective.weights * errors * errors, axis=1)
            + 0.5 * (at.x - objective.home) ** 2 @ self.stiffness
        )
        return State(value + 0.5 * self.limits.strain(measured, frames), measured, at)

    def _gaps(self, at: Kinematics, aims: Array | float, frames: NDArray[np.int64]) -> Array:
        """Return e (B, M) from the aims in the order of the rows; one-sided rows may be positive."""
        return self.rows.vectors(at, frames).reshape(len(at.x), -1)[:, self.rows.order] - aims

    def _errors(self, at: Kinematics, aims: Array | float, frames: NDArray[np.int64]) -> Array:
        """Return e (B, M) from the aims in the order of the rows, 0 for one-sided rows that hold."""
        errors = self._gaps(at, aims, frames)
        sided = self.rows.one_sided_rows
        errors[:, sided] = np.minimum(errors[:, sided], 0.0)
        return errors

    def _measure(self, at: Kinematics, objective: Objective, frames: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return which rows count (B, M), of one-sided ones those that are violated or pressed, and e (B, M)."""
        errors = self._gaps(at, objective.aims, frames)
        on = np.ones_like(errors)
        sided = self.rows.one_sided_rows
        on[:, sided] = errors[:, sided] < 0.0
        if objective.pressed is not None:
            on[:, sided] = np.maximum(on[:, sided], objective.pressed)
        return on, errors * on

    def _pressing(
        self, links: Links, here: State, objective: Objective, frames: NDArray[np.int64], step: Array
    ) -> NDArray[np.bool_]:
        """Return which one-sided rows (B, sided) are at their bound and would cross it by a step (B, D)."""
        sided, all_on = self.rows.one_sided_rows, np.ones_like(objective.weights)
        if not len(sided):
            return np.zeros((len(step), 0), bool)
        gaps = self._gaps(here.at, objective.aims, frames)[:, sided]
        moved = (self.rows.jacobian(links, here.at, all_on, frames)[:, sided] @ step[..., None])[..., 0]
        return (gaps >= 0.0) & (gaps < numbers.LIMIT_NEAR) & (gaps < moved)

    def _slope(
        self, links: Links, here: State, objective: Objective, frames: NDArray[np.int64]
    ) -> tuple[Array, Array, Array]:
        """Return the rows (B, M, D), the slope of F (B, D) and the forces (B, M) of the rows."""
        on, errors = self._measure(here.at, objective, frames)
        jacobian = self.rows.jacobian(links, here.at, on, frames)
        forces = objective.weights * errors
        return jacobian, (here.x - objective.home) * self.stiffness - (forces[:, None, :] @ jacobian)[:, 0], forces

    def _mend(
        self, links: Links, here: State, there: State, objective: Objective, frames: NDArray[np.int64], model: "_Model",
        active: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        """Move `there` to the floor of the valley: a straight step climbs its curved walls."""
        for turn in range(_MENDS):
            gained = here.value - there.value
            left = np.flatnonzero(gained < _MENDED * model.expected)
            if not len(left):
                break
            part, where, model_, on = links[left], frames[left], model[left], active[left]
            share = replace(objective[left], pressed=model_.pressed)
            other = there[left]
            if turn:
                aside = self._aside(part, other, share, where, on, model_.least)
                other = self._reach(part, self._turned(other.x, aside), share, where)
            elif not objective.above:
                continue
            if objective.above:
                back = self._back(part, other.at, share, where, model_.firm, model_.held, model_.projectors)
                nearer = self._reach(part, self._turned(other.x, back), share, where)
                other.put(closer := np.flatnonzero(nearer.value < other.value), nearer[closer])
            closer = np.flatnonzero(other.value < there.value[left])
            there.put(left[closer], other[closer])

    def _back(
        self, links: Links, at: Kinematics, objective: Objective, frames: NDArray[np.int64], firm: Array, held: Array,
        projectors: Array,
    ) -> Array:  # fmt: skip
        """Return a step (B, D) that brings the errors of the firm rows (B, m) back to `held`."""
        on, errors = self._measure(at, objective, frames)
        on[:, : objective.above] *= firm
        rows = self._free(self.rows.jacobian(links, at, on, frames)[:, : objective.above], projectors)
        gram = rows @ np.swapaxes(rows, -1, -2) + numbers.NEWTON_DAMPING**2 * np.eye(objective.above)
        gap = np.linalg.solve(gram, (errors[:, : objective.above] - held)[..., None])
        return shortened((np.swapaxes(rows, -1, -2) @ gap)[..., 0] * self.spread)

    def _aside(
        self, links: Links, there: State, objective: Objective, frames: NDArray[np.int64], active: NDArray[np.bool_],
        least: Array,
    ) -> Array:  # fmt: skip
        """Return a Newton step (B, D) along steep directions, with a damping that suppresses the others."""
        shape = self._shape(links, there, objective, frames, active)
        scaled = shape.hessian(active) * self.spread * self.spread[:, None]
        fixed, projectors = shape.linear.fixed(self.spread, active)
        damping = (1.0 + _STEEP - 2.0 * least)[:, None, None] * np.eye(len(self.spread))
        reduced, left = self._reduced(scaled, shape.slope * self.spread, fixed, projectors)
        z = fixed - np.linalg.solve(reduced + damping, left)[..., 0]
        return shortened(z * self.spread)

    def _shape(
        self, links: Links, here: State, objective: Objective, frames: NDArray[np.int64], active: NDArray[np.bool_]
    ) -> Shape:
        jacobian, slope, forces = self._slope(links, here, objective, frames)
        linear = self.limits.linearize(here.at, here.measured, frames, folds=True)
        strain = linear.strain_slope(len(self.spread))
        slope += strain
        firm = self._firm_rows(here.at, objective, frames)
        projectors = linear.fixed(self.spread, linear.begin(active))[1]
        rows = self._free(jacobian[:, : objective.above] * firm[..., None], projectors)
        steady = self._steady(rows, forces, slope, objective.weights)
        goals = np.swapaxes(jacobian * objective.weights[..., None], -1, -2) @ jacobian
        prior, wanted = (here.x - objective.home) * self.stiffness, -(steady[:, None, :] @ jacobian)[:, 0]
        loose = objective.weights.copy()
        loose[:, : objective.above] *= 1.0 - firm
        goals -= self._curvature(links, here.at, jacobian, steady, loose, frames)
        # at rest all slopes cancel where x may move; where it may not, the goals' own slope counts
        self._take_map(goals, here.x, np.where(self.spread > 0.0, prior, -wanted))
        held = steady[:, : objective.above] / np.maximum(objective.weights[:, : objective.above], 1.0)
        return Shape(slope, prior + wanted + strain, goals, firm, held, self.limits, linear, here.at, frames)

    def _model(
        self, links: Links, here: State, objective: Objective, frames: NDArray[np.int64], active: NDArray[np.bool_],
        radius: Array,
    ) -> tuple[_Model, NDArray[np.bool_]]:  # fmt: skip
        """Return the model with its step within the radius, and its active limits.

        A one-sided row that holds adds nothing to F, but a step across its bound meets a wall: such a row is pressed.
        """
        pressed = self._gaps(here.at, objective.aims, frames)[:, self.rows.one_sided_rows] < 0.0
        while True:
            model, active = self._best(links, here, replace(objective, pressed=pressed), frames, active, radius)
            more = self._pressing(links, here, objective, frames, model.step) & ~pressed
            if not more.any():
                return model, active
            pressed = pressed | more

    def _best(
        self, links: Links, here: State, objective: Objective, frames: NDArray[np.int64], active: NDArray[np.bool_],
        radius: Array,
    ) -> tuple[_Model, NDArray[np.bool_]]:  # fmt: skip
        """Return `_model` for given pressed rows."""
        shape = self._shape(links, here, objective, frames, active)
        fall = shape.slope * self.spread
        home = None if objective.firm is None else (here.x - objective.home) * self.stiffness * self.spread
        begun = shape.linear.begin(active)
        active = begun.copy()
        let_go, kept = np.zeros_like(active), np.zeros_like(active)
        busy: NDArray[np.bool_] = np.ones(len(active), bool)
        tears: NDArray[np.bool_] = np.zeros(len(active), bool)  # frames in which a short step releases a bound
        given, turn = radius, 0
        while True:
            turn += 1
            hessian = shape.hessian(active)
            scaled = hessian * self.spread * self.spread[:, None]
            fixed, projectors = shape.linear.fixed(self.spread, active)
            far = np.sqrt(np.sum(fixed * fixed, axis=1))
            fixed *= (radius / np.maximum(far, radius))[:, None]
            z, least = self._trusted(scaled, fall, home, fixed, projectors, radius, objective.follows)
            step = z * self.spread
            if not self.limits.count or turn >= numbers.NEWTON_ROUNDS:
                break
            push = shape.slope + (hessian @ step[..., None])[..., 0] + step * self.stiffness
            changed = shape.linear.revise(active, step, push, release=turn <= 2)
            changed = changed & ~(kept & active) & busy[:, None]
            if not changed.any():
                calm = np.max(np.abs(step), axis=1, initial=0.0) < numbers.NEWTON_RESTS
                held = calm & kept.any(axis=1)
                if not held.any():
                    break
                # the frame rests along the bounds: release them after all
                busy, tears, turn = held, tears | held, 0
                kept[held], let_go[held], active[held] = False, False, begun[held]
                radius = np.where(held, given, radius)
                continue
            # the slope may release a bound that a long step crosses again, where F is concave: step along the bound
            # first; where that rests, release the bound with a shorter step. A target that moves leaves no time
            torn = changed & let_go & self.limits.plain & (not objective.follows)
            let_go = changed & active | let_go & ~torn
            kept = kept | torn & ~tears[:, None]
            torn = torn & tears[:, None]
            radius = np.where(torn.any(axis=1), _TORN * radius, radius)
            active = active ^ (changed & ~torn)
        expected = -np.sum(z * (fall + 0.5 * (z + (scaled @ z[..., None])[..., 0])), axis=1)
        if objective.pressed is not None and objective.pressed.size:  # closing their gaps is no gain
            sided = self.rows.one_sided_rows
            gaps = np.maximum(self._gaps(here.at, objective.aims, frames)[:, sided], 0.0) * objective.pressed
            expected -= 0.5 * np.sum(objective.weights[:, sided] * gaps * gaps, axis=1)
        assert objective.pressed is not None
        return _Model(step, expected, projectors, shape.firm, shape.held, least, objective.pressed), active

    def _trusted(
        self, scaled: Array, fall: Array, home: Array | None, fixed: Array, projectors: Array, radius: Array,
        follows: bool,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return the step z (B, D) to the minimum of the model within the radius under the active limits, z = d + P z'.

        With `home`, the prior's slope, this slope alone counts along flat directions: the rest is rounding there. Also
        returns the model's least eigenvalues (B,), 0 where they are positive.
        """
        reduced, left = self._reduced(scaled, fall, fixed, projectors)
        reduced += np.eye(len(self.spread))
        z = _solved(reduced, left) if home is None else None
        if z is not None and np.all(np.sum(z * z, axis=1) <= radius * radius):
            return fixed + z, np.zeros(len(z))
        values, vectors = np.linalg.eigh(reduced)
        along = (np.swapaxes(vectors, -1, -2) @ left)[..., 0]
        if home is not None:
            flat = is_flat(values - 1.0)
            back = (np.swapaxes(vectors, -1, -2) @ project(projectors, home[..., None]))[..., 0]
            values, along = np.where(flat, 1.0, values), np.where(flat, back, along)
        if follows:
            values = np.abs(values)
        shift = shifts(values, along, radius)
        z = -(vectors @ (along / (values + shift[:, None]))[..., None])
        return fixed + project(projectors, z)[..., 0], np.minimum(values.min(axis=1), 0.0)

    def _reduced(self, scaled: Array, fall: Array, fixed: Array, projectors: Array) -> tuple[Array, Array]:
        """Return the Hessian (B, D, D), without the prior's 1, and the slope (B, D, 1) along the bounds, at `fixed`."""
        slope = fall + fixed + (scaled @ fixed[..., None])[..., 0]
        if not projectors.shape[1]:
            return scaled.copy(), slope[..., None]
        reduced = project(projectors, np.swapaxes(project(projectors, scaled), -1, -2))
        return reduced, project(projectors, slope[..., None])

    def _firm_rows(self, at: Kinematics, objective: Objective, frames: NDArray[np.int64]) -> Array:
        """Return (B, m): 1 for rows that stay met, those of the upper levels before the first one out of reach."""
        if objective.firm is not None:
            return objective.firm
        missed = (np.abs(self._errors(at, 0.0, frames)) > numbers.NEARLY) & (objective.weights > 0.0)
        kept, here = np.ones((len(missed), objective.above)), np.ones(len(missed), bool)
        for level in self.rows.levels:
            if level.start < objective.above:
                here &= ~missed[:, level].any(axis=1)
                kept[:, level] = here[:, None]
        return kept

    def _free(self, rows: Array, projectors: Array) -> Array:
        """Return rows (B, m, D) projected along the bounds, in standard deviations."""
        return np.swapaxes(project(projectors, np.swapaxes(rows * self.spread, -1, -2)), -1, -2)

    def _steady(self, rows: Array, forces: Array, slope: Array, weights: Array) -> Array:
        """Return the forces (B, M) with those of the firm rows (B, m, D) after a Gauss-Newton step along active limits.

        Firm rows have weights so large that their forces cannot be computed from their errors.
        """
        firm = rows.shape[1]
        if not firm:
            return forces
        gram, wanted = rows @ np.swapaxes(rows, -1, -2), rows @ (slope * self.spread)[..., None]
        apart = np.eye(firm) / np.maximum(weights[:, :firm, None], 1.0)
        result = forces.copy()
        try:
            result[:, :firm] += np.linalg.solve(gram + apart, wanted)[..., 0]
        except np.linalg.LinAlgError:  # a look-at has a dependent row, and heavy rows lose the ridge in rounding
            apart = np.maximum(apart, np.eye(firm) / _HEAVIEST)
            result[:, :firm] += np.linalg.solve(gram + apart, wanted)[..., 0]
        return result

    def _turned(self, x: Array, step: Array) -> Array:
        """Return x (B, D) with joints turned by a step in their tangent space, not along their rotation vectors.

        A straight limb stays straight when its joints turn about it; along rotation vectors that path is curved.
        """
        straight = x + step
        turning, free = self.tree.turning, self.round
        before, sum_ = (v[:, :turning].reshape(len(x), -1, 3)[:, free] for v in (x, straight))
        rates = rotation.exp_and_jacobian(before)[1]
        turn = (rates @ (sum_ - before)[..., None])[..., 0]
        after = rotation.log(rotation.mul(rotation.exp(before), rotation.exp(turn)))
        length = np.linalg.norm(after, axis=-1, keepdims=True)  # the same rotation in the other sense may be nearer
        other = after * (1.0 - 2.0 * np.pi / np.maximum(length, _TINY_TURN))
        near = rotation.lengths(after - sum_) <= rotation.lengths(other - sum_)
        straight[:, :turning].reshape(len(x), -1, 3)[:, free] = np.where(near[..., None], after, other)
        return straight

    def _take_map(self, hessian: Array, x: Array, slope: Array) -> None:
        """Subtract the curvature of the exponential map, d/dx of Jr(x)^T g, for slopes (B, D) in x: see `_turned`."""
        joints = len(self.tree.joints)
        vectors = x[:, : self.tree.turning].reshape(len(x), joints, 3)
        pull = slope[:, : self.tree.turning].reshape(len(x), joints, 3)
        own = (np.swapaxes(rotation.inverse_right_jacobian(vectors), -1, -2) @ pull[..., None])[..., 0]
        ahead, behind = (
            _sum_of_rates(
                vectors[:, :, None] + sign * np.eye(3), np.broadcast_to(own[:, :, None], (*own.shape[:2], 3, 3))
            )
            for sign in (_TINY_TURN, -_TINY_TURN)
        )
        rate = (ahead - behind) / (2.0 * _TINY_TURN)  # (B, R, along, 3)
        blocks = 0.5 * (rate + np.swapaxes(rate, -1, -2))
        for axis in range(3):
            for other in range(3):
                places = np.arange(joints) * 3
                hessian[:, places + axis, places + other] -= blocks[:, :, axis, other]

    def _curvature(
        self, links: Links, at: Kinematics, jacobian: Array, forces: Array, weights: Array, frames: NDArray[np.int64]
    ) -> Array:
        """Return C (B, D, D) of forces on points, half the torques on frames, and the curvature of rotation errors.

        weights (B, M) of rows whose forces are w e.
        """
        points, plain = self.rows.plain_points, self.rows.plain_points + self.rows.plain_ends
        parts = (part[:, self.place_of_row].reshape(len(forces), -1, 3) for part in (forces, weights))
        forces, weights = parts
        rows = jacobian[:, self.place_of_row[: 3 * plain]].reshape(len(forces), plain, 3, len(self.spread))
        half = np.where(np.arange(plain) < points, 1.0, 0.5)[:, None]
        bend = (np.swapaxes(skew(half * forces[:, :plain]), -1, -2) @ rows).sum(axis=1)  # sum of J x f
        turns = rotation.inverse_right_jacobian(self.rows.vectors(at, frames)[:, points:plain])
        flatter = weights[:, points:plain, :, None] * (np.eye(3) - 0.5 * (turns + np.swapaxes(turns, -1, -2)))
        sides = (np.swapaxes(rows[:, points:], -1, -2) @ flatter @ rows[:, points:]).sum(axis=1)
        if self.rows.blocks:
            raw = links.jacobian(at, np.ones((len(forces), self.tree.rows)))
            for number, block in enumerate(self.rows.blocks, plain):
                more, side = block.bend(links, at, raw, forces[:, number], weights[:, number], frames)
                bend, sides = bend + more, sides + side
        axes = links.axes_of(at)
        turned = (np.swapaxes(axes, -1, -2) @ bend) * self.above
        return turned + np.swapaxes(turned, -1, -2) + sides


def is_flat(values: Array) -> NDArray[np.bool_]:
    """Return which eigenvalues (B, D) are rounding of the largest."""
    size = np.abs(values)
    return size <= _FLAT * size.max(axis=1, keepdims=True, initial=0.0)


def _solved(hessian: Array, slope: Array) -> Array | None:
    """Return steps (B, D) to the minima of models with slopes (B, D, 1); None if one has no minimum."""
    try:
        np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return None
    return -np.linalg.solve(hessian, slope)[..., 0]


def _sum_of_rates(vectors: Array, slopes: Array) -> Array:
    """Return Jr(x)^T g for rotation vectors x and g (..., 3)."""
    return (np.swapaxes(rotation.exp_and_jacobian(vectors)[1], -1, -2) @ slopes[..., None])[..., 0]


def shifts(values: Array, along: Array, radius: Array) -> Array:
    """Return the least m >= 0 (B,) with values + m > 0 and |along / (values + m)| <= radius, by bisection."""
    least = np.maximum(-values.min(axis=1), 0.0) * (1.0 + numbers.LIMIT_SLACK)
    newton = np.sqrt(np.sum(np.square(along / np.maximum(values, numbers.LIMIT_SLACK)), axis=1))
    inside = (values.min(axis=1) > numbers.LIMIT_SLACK) & (newton <= radius)
    low, high = least, least + np.sqrt(np.sum(along * along, axis=1)) / radius + numbers.LIMIT_SLACK
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        size = np.sqrt(np.sum(np.square(along / (values + middle[:, None])), axis=1))
        long = size > radius
        low, high = np.where(long, middle, low), np.where(long, high, middle)
    return np.where(inside, 0.0, high)
