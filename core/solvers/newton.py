"""How a body comes to rest: Newton's method on what the pins solver minimises, with the curvature of the body.

    F(x) = 1/2 sum of w |e|^2 + 1/2 x^T S^-1 x

Gauss-Newton steps leave out how rows bend, which is all there is where a stretched limb pulls: they circle or creep.
With forces f = w e, axes a and the rows J_j of a point, the Hessian is S^-1 + J^T W J - C with C_ij = a_i . (J_j x f)
for a joint i above or at j (the second derivative of a point is a_i x (a_j x r)), and f . (a_i x a_j) / 2 for a frame.
Steps are those of a trust region in standard deviations (Nocedal and Wright, Numerical Optimization, 4.3), from the
eigenvalues of S^1/2 H S^1/2: they go down from a saddle, too. Limits hold as in `limit_rows`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..rotation import Array, skew
from . import numbers
from .limit_rows import Measured
from .tree import Batch, Kinematics, Links

if TYPE_CHECKING:
    from .pins import Problem


@dataclass(frozen=True, eq=False)
class _State(Batch):
    """B frames at x."""

    value: Array  # (B,) F
    measured: Measured
    at: Kinematics

    @property
    def x(self) -> Array:
        return self.at.x


@dataclass(frozen=True, eq=False)
class _Model:
    """The quadratic model of B frames about a place, in standard deviations, and its best step."""

    step: Array  # (B, D) in x
    expected: Array  # (B,) what it should lower F by
    spread: Array  # (D,)
    projectors: Array  # (B, R, 3, 3) along the active limits
    held: Array  # (B, m) errors of the firm rows at which their weights bear their forces
    values: Array | None = None  # (B, D) eigenvalues, where the step had to be kept short
    vectors: Array | None = None  # (B, D, D) eigenvectors, of free directions only

    def aside(self, slope: Array) -> Array:
        """The step (B, D) to the bottom of the steep directions alone, from a slope (B, D) further on."""
        if self.vectors is None or self.values is None:
            return np.zeros_like(slope)
        along = (np.swapaxes(self.vectors, -1, -2) @ (slope * self.spread)[..., None])[..., 0]
        steep = self.values > numbers.NEWTON_STEEP
        down = np.where(steep, along / np.where(steep, self.values, 1.0), 0.0)
        return shortened(-(self.vectors @ down[..., None])[..., 0] * self.spread)

    def free(self, rows: Array) -> Array:
        """Rows (B, m, D) along the free directions only, in standard deviations."""
        return np.swapaxes(project(self.projectors, np.swapaxes(rows * self.spread, -1, -2)), -1, -2)


def shortened(steps: Array) -> Array:
    """Steps (B, D) with those cut that are too long."""
    length = np.sqrt(np.sum(steps * steps, axis=1, keepdims=True))
    return steps * (numbers.STEP_CLAMP / np.maximum(length, numbers.STEP_CLAMP))


def project(projectors: Array, columns: Array) -> Array:
    """Columns (B, D, n) with those of limited joints along their bounds only; projectors (B, R, 3, 3)."""
    count, joints = projectors.shape[:2]
    if not joints:
        return columns
    result = columns.copy()
    blocks = result[:, : 3 * joints].reshape(count, joints, 3, columns.shape[-1])
    result[:, : 3 * joints] = (projectors @ blocks).reshape(count, 3 * joints, columns.shape[-1])
    return result


class Newton:
    """F of a problem: `descend` brings frames to where it is smallest."""

    def __init__(self, problem: "Problem") -> None:
        self.problem, self.rows, self.limits, self.tree = problem, problem.rows, problem.limit_rows, problem.tree
        self.spread = np.sqrt(problem.variance)
        self.stiffness = 1.0 / np.maximum(problem.variance, numbers.DAMPING**2)
        self.above = self._find_order()
        self.place_of_row = np.argsort(self.rows.order)

    def _find_order(self) -> Array:
        """(D, D): 1 where turning the column's joint turns the other column's, halves where both are of one joint."""
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
        above[:, tree.turning : tree.moving] = 0.0  # where a root is does not turn with it
        above[:, tree.moving :] = np.ceil(above[:, tree.moving :])
        return above

    def descend(
        self,
        x: Array,
        frames: NDArray[np.int64],
        met: bool,
        most: int = numbers.NEWTON_STEPS,
        radius: float = numbers.NEWTON_RADIUS,
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """x (B, D), the number of steps and the active limits where F rests; `met`: with all goals met.

        At `most` so many steps, the first no longer than `radius` standard deviations.
        """
        self.firm = self.rows.rows if met else self.rows.levels[-1].start  # rows that stay met
        links = self.problem.links[frames]
        at = links.place(x.copy())
        weights = self._weights(frames)
        now = self._state(at, weights, frames)
        trusted = np.full(len(x), radius)
        steps = np.zeros(len(x), int)
        active = np.ones((len(x), self.limits.count), bool)
        alive = np.arange(len(x))
        for _ in range(most):
            where, part, here = frames[alive], links[alive], now[alive]
            model, active[alive] = self._model(part, here, weights[alive], where, active[alive], trusted[alive])
            step = model.step
            there = self._reach(part, here.x + step, weights[alive], where)
            # what must not move bends away from a step along it: back, before the step is judged
            for aside in (False, True, True):
                if not self.firm and model.vectors is None:
                    break
                other = there
                if aside and model.vectors is not None:
                    slope = self._slope(part, other, weights[alive], where)[1]
                    other = self._reach(part, other.x + model.aside(slope), weights[alive], where)
                if self.firm:
                    other = self._reach(part, other.x + self._back(part, other, model, where), weights[alive], where)
                closer = other.value < there.value
                there.put(np.flatnonzero(closer), other[closer])
            gained = here.value - there.value
            lower = gained >= -numbers.LIMIT_SLACK * here.value
            now.put(alive[lower], there[lower])
            steps[alive] += 1
            # the model is trusted as far as it told the truth
            true = gained > numbers.NEWTON_TRUST * model.expected
            size = np.sqrt(np.sum(np.square(step / np.maximum(self.spread, numbers.DAMPING)), axis=1))
            wider = np.maximum(trusted[alive], np.minimum(2.0 * size, numbers.NEWTON_WIDEST))
            trusted[alive] = np.where(true, wider, 0.25 * size)
            rests = np.max(np.abs(step), axis=1, initial=0.0) < numbers.NEWTON_RESTS
            alive = alive[~rests]
            if not len(alive):
                break
        return now.x, steps, active

    def _weights(self, frames: NDArray[np.int64]) -> Array:
        """w (B, M) of the rows in their order, by level."""
        rows = self.rows
        ranks = np.arange(len(rows.levels))
        share = numbers.NEWTON_LEVEL if len(ranks) <= 2 else numbers.LEVEL_DAMPING
        levels = 1.0 / (numbers.NEWTON_DAMPING * share ** (len(ranks) - 1.0 - ranks))
        blocks = np.repeat(rows.block_in_level @ levels, 3)
        return (rows.scales[frames] ** 2 * blocks)[:, rows.order]

    def _reach(self, links: Links, x: Array, weights: Array, frames: NDArray[np.int64]) -> _State:
        """The frames at x, with joints brought in that are outside their limits."""
        at = links.place(x)
        drifted = self.limits.outside(self.limits.measure(at, frames), frames, numbers.LIMIT_SLACK)
        if len(drifted):
            measured = self.limits.measure(at[drifted], frames[drifted])
            at.put(drifted, links[drifted].place(self.limits.clamp(x[drifted], measured, frames[drifted])))
        return self._state(at, weights, frames)

    def _state(self, at: Kinematics, weights: Array, frames: NDArray[np.int64]) -> _State:
        measured = self.limits.measure(at, frames)
        errors = self._errors(at, frames)
        value = 0.5 * np.sum(weights * errors * errors, axis=1) + 0.5 * (at.x * at.x) @ self.stiffness
        return _State(value + 0.5 * self.limits.strain(measured, frames), measured, at)

    def _errors(self, at: Kinematics, frames: NDArray[np.int64]) -> Array:
        """e (B, M) in the order of the rows; what a one-sided row allows is none."""
        errors = self.rows.vectors(at, frames).reshape(len(at.x), -1)[:, self.rows.order]
        sided = self.rows.one_sided_rows
        errors[:, sided] = np.minimum(errors[:, sided], 0.0)
        return errors

    def _measure(self, at: Kinematics, frames: NDArray[np.int64]) -> tuple[Array, Array]:
        """Which rows count (B, M), and e."""
        errors = self._errors(at, frames)
        on = np.ones_like(errors)
        sided = self.rows.one_sided_rows
        on[:, sided] = errors[:, sided] < 0.0
        return on, errors

    def _slope(
        self, links: Links, here: _State, weights: Array, frames: NDArray[np.int64]
    ) -> tuple[Array, Array, Array]:
        """Rows (B, M, D), the slope of F (B, D) and the forces (B, M) of the rows."""
        on, errors = self._measure(here.at, frames)
        jacobian = self.rows.jacobian(links, here.at, on, frames)
        forces = weights * errors
        return jacobian, here.x * self.stiffness - (forces[:, None, :] @ jacobian)[:, 0], forces

    def _back(self, links: Links, there: _State, model: _Model, frames: NDArray[np.int64]) -> Array:
        """A step (B, D) that takes the errors of the firm rows back to where their forces hold them."""
        on, errors = self._measure(there.at, frames)
        rows = model.free(self.rows.jacobian(links, there.at, on, frames)[:, : self.firm])
        gram = rows @ np.swapaxes(rows, -1, -2) + numbers.NEWTON_DAMPING**2 * np.eye(self.firm)
        wish = np.linalg.solve(gram, (errors[:, : self.firm] - model.held)[..., None])
        return shortened((np.swapaxes(rows, -1, -2) @ wish)[..., 0] * self.spread)

    def _model(
        self, links: Links, here: _State, weights: Array, frames: NDArray[np.int64], active: NDArray[np.bool_],
        radius: Array,
    ) -> tuple[_Model, NDArray[np.bool_]]:  # fmt: skip
        """The model with its step within the radius, and the limits that are active in it."""
        jacobian, slope, forces = self._slope(links, here, weights, frames)
        hessian = np.swapaxes(jacobian * weights[..., None], -1, -2) @ jacobian
        steady = self._steady(jacobian, forces, slope, weights)
        hessian -= self._curvature(links, here.at, jacobian, steady)
        self._add_map(hessian, here.x, -(steady[:, None, :] @ jacobian)[:, 0])
        fall = slope * self.spread
        linear = self.limits.linearize(here.at, here.measured, frames)
        active = linear.begin(active)
        bends = self.limits.curvatures(here.at, frames) if active.any() else None
        pull = here.x * self.stiffness - (steady[:, None, :] @ jacobian)[:, 0]
        turn = 0
        while True:
            turn += 1
            # along a curved bound what it holds against turns with it
            bent = hessian if bends is None else hessian - self._on_joints(linear.multipliers(active, pull), bends)
            scaled = bent * self.spread * self.spread[:, None] + np.eye(len(self.spread))
            fixed, projectors = linear.fixed(self.spread, active)
            z, values, vectors = self._trusted(scaled, fall, fixed, projectors, radius)
            step = z * self.spread
            if not self.limits.count or turn == numbers.ACTIVE_SET_ROUNDS:
                break
            push = slope + (bent @ step[..., None])[..., 0] + step * self.stiffness
            changed = linear.revise(active, step, push, release=turn <= 2)
            if not changed.any():
                break
            active = active ^ changed
            if bends is None:
                bends = self.limits.curvatures(here.at, frames)
        expected = -np.sum(z * (fall + 0.5 * (scaled @ z[..., None])[..., 0]), axis=1)
        held = steady[:, : self.firm] / np.maximum(weights[:, : self.firm], 1.0)
        return _Model(step, expected, self.spread, projectors, held, values, vectors), active

    def _on_joints(self, forces: Array, bends: Array) -> Array:
        """Second derivatives (B, K, 3, 3) of limits times their forces (B, K), for all of x: (B, D, D)."""
        joint = self.limits.joint
        blocks = np.zeros((len(forces), int(joint.max()) + 1, 3, 3))
        np.add.at(blocks, (slice(None), joint), forces[..., None, None] * bends)
        result = np.zeros((len(forces), len(self.spread), len(self.spread)))
        columns = 3 * np.arange(blocks.shape[1])[:, None, None] + np.arange(3)
        result[:, np.swapaxes(columns, -1, -2), columns] = blocks
        return result

    def _trusted(
        self, scaled: Array, fall: Array, fixed: Array, projectors: Array, radius: Array
    ) -> tuple[Array, Array | None, Array | None]:
        """z (B, D) to the bottom of the model within the radius under the active limits, z = d + P z'; eigenpairs.

        There are none where the bottom is within the radius in all frames.
        """
        left = project(projectors, (fall + (scaled @ fixed[..., None])[..., 0])[..., None])
        reduced = scaled
        if projectors.shape[1]:
            eye = np.broadcast_to(np.eye(len(self.spread)), scaled.shape)
            reduced = project(projectors, np.swapaxes(project(projectors, scaled), -1, -2))
            reduced = reduced + eye - project(projectors, eye)
        try:
            np.linalg.cholesky(reduced)
        except np.linalg.LinAlgError:
            pass
        else:
            z = -np.linalg.solve(reduced, left)[..., 0]
            if np.all(np.sum(z * z, axis=1) <= radius * radius):
                return fixed + z, None, None
        values, vectors = np.linalg.eigh(reduced)
        along = (np.swapaxes(vectors, -1, -2) @ left)[..., 0]
        shift = _shift(values, along, radius)
        vectors = project(projectors, vectors)
        z = -(vectors @ (along / (values + shift[:, None]))[..., None])[..., 0]
        return fixed + z, values, vectors

    def _steady(self, jacobian: Array, forces: Array, slope: Array, weights: Array) -> Array:
        """The forces (B, M), those of the firm rows as they are after a Gauss-Newton step.

        Their own errors are too small next to their weights to tell.
        """
        firm = self.firm
        if not firm:
            return forces
        rows = jacobian[:, :firm] * self.spread
        gram = rows @ np.swapaxes(rows, -1, -2) + np.eye(firm) / np.maximum(weights[:, :firm, None], 1.0)
        result = forces.copy()
        result[:, :firm] += np.linalg.solve(gram, rows @ (slope * self.spread)[..., None])[..., 0]
        return result

    def _add_map(self, hessian: Array, x: Array, slope: Array) -> None:
        """Add what the exponential map bends, d/dx of Jr(x)^T g: g is the goals' slope (B, D) in the bones' frames."""
        turning, joints = self.tree.turning, len(self.tree.joints)
        vectors = x[:, :turning].reshape(len(x), joints, 3)
        back = np.swapaxes(rotation.inverse_right_jacobian(vectors), -1, -2)
        own = (back @ slope[:, :turning].reshape(len(x), joints, 3, 1))[..., 0]
        ahead, behind = (
            _sum_of_rates(
                vectors[:, :, None] + sign * np.eye(3), np.broadcast_to(own[:, :, None], (*own.shape[:2], 3, 3))
            )
            for sign in (numbers.TINY_TURN, -numbers.TINY_TURN)
        )
        rate = (ahead - behind) / (2.0 * numbers.TINY_TURN)  # (B, R, along, 3)
        blocks = 0.5 * (rate + np.swapaxes(rate, -1, -2))
        for axis in range(3):
            for other in range(3):
                places = np.arange(joints) * 3
                hessian[:, places + axis, places + other] += blocks[:, :, axis, other]

    def _curvature(self, links: Links, at: Kinematics, jacobian: Array, forces: Array) -> Array:
        """C (B, D, D), of plain goals: forces on points and, by half, torques on frames."""
        points, plain = self.rows.plain_points, self.rows.plain_points + self.rows.plain_ends
        if not plain:
            return np.zeros((len(forces), len(self.spread), len(self.spread)))
        places = self.place_of_row[: 3 * plain]
        pull = forces[:, places].reshape(len(forces), plain, 3)
        pull[:, points:] *= 0.5
        rows = jacobian[:, places].reshape(len(forces), plain, 3, len(self.spread))
        bend = (np.swapaxes(skew(pull), -1, -2) @ rows).sum(axis=1)  # sum of J x f
        axes = links.axes_of(at)
        half = (np.swapaxes(axes, -1, -2) @ bend) * self.above
        return half + np.swapaxes(half, -1, -2)


def _sum_of_rates(vectors: Array, slopes: Array) -> Array:
    """Jr(x)^T g for rotation vectors and g (..., 3)."""
    return (np.swapaxes(rotation.exp_and_jacobian(vectors)[1], -1, -2) @ slopes[..., None])[..., 0]


def _shift(values: Array, along: Array, radius: Array) -> Array:
    """The least m >= 0 (B,) with values + m > 0 and |along / (values + m)| <= radius, by halving."""
    least = np.maximum(-values[:, 0], 0.0) * (1.0 + numbers.LIMIT_SLACK)
    newton = np.sqrt(np.sum(np.square(along / np.maximum(values, numbers.LIMIT_SLACK)), axis=1))
    inside = (values[:, 0] > numbers.LIMIT_SLACK) & (newton <= radius)
    low, high = least, least + np.sqrt(np.sum(along * along, axis=1)) / radius + numbers.LIMIT_SLACK
    for _ in range(numbers.HALVINGS):
        middle = 0.5 * (low + high)
        size = np.sqrt(np.sum(np.square(along / (values + middle[:, None])), axis=1))
        long = size > radius
        low, high = np.where(long, middle, low), np.where(long, high, middle)
    return np.where(inside, 0.0, high)
