"""Bring bodies to rest: Newton's method where every level of goals pulls with a limited force.

    F(x) = 1/2 x^T S^-1 x + sum over levels of f_l |E_l(x)|    within the limits

x is the state about the reference with covariance S, E_l the weighted errors of the goals of one
level as one vector, and f_l the strength of the level. Where a level is met its force y_l is whatever keeps E_l = 0, as
long as |y_l| < f_l: the level holds. A larger force is not to be had: the level slips, y_l = f_l E_l / |E_l|, and the
body comes to rest where its own resistance balances that pull. A level that is so much stronger than those below it
does not give way to them: norms, unlike their squares, are exact penalties (Nocedal and Wright, Numerical
Optimization, 17.2).

One step minimises the quadratic model

    1/2 d^T (S^-1 - C + J^T W J) d - d^T (J^T y - S^-1 x)

with the curvature C of the rows under the forces (the second derivative of a point r is a_i x (a_j x r) for a joint i
above or at j) and W = 1 / D for a level that holds, f_l / |E_l| across E_l for one that slips. Holding forces are
multipliers that steps carry on (augmented Lagrangian, Nocedal and Wright, 17.3), which levels slip and which limits
are active is found in rounds of the same step. It is cut where a level that slips would go past its target, which the
model does not see. A held level is brought back to E = 0 after the step, whose path is straight where the level's
surface is curved (second-order correction, 18.3). The merit is F with twice the forces of a level and of those below it
for f_l.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...rotation import Array, skew
from . import numbers
from .limits import LinearLimits, Measured, along_bounds, project
from .problem import Problem
from .strengths import GIVES, Strengths, spring_energy, walls
from .tree import Batch, Kinematics, Links

Flags = NDArray[np.bool_]
Frames = NDArray[np.int64]

WALL: Final = 1e4  # weight of a held level in the Hessian, which has a least value across it then
ROUNDS: Final = 8  # of levels that slip and limits that are active, in a step
RELEASES: Final = 3  # of these may release
FURTHEST: Final = 0.5  # standard deviations of a step
SLOWER: Final = 0.05  # share of what counts as rest after a damped step, or where a level slips: they end less near
DAMPED: Final = 1.0  # first damping after a step that raised the merit, in the prior's stiffness
LEAST_DAMPED: Final = 0.05  # damping below which the next step has none
POOR: Final = 0.25  # share of the promised gain below which a step keeps its damping
CALM: Final = 6  # steps at rest in a row after which a frame ends, damped or not
CORRECTIONS: Final = 3  # of held levels after a step
INDEFINITE: Final = 0.1  # least damping where the model has no minimum
NO_SIDE: Final = 1e-3  # slope below which nothing bends a straight joint to either side
NOISE: Final = 1e-12  # share of the merit that is rounding


@dataclass(frozen=True, eq=False)
class State(Batch):
    """B frames on their way, and what the next step begins with."""

    at: Kinematics
    measured: Measured
    errors: Array  # (B, M) weighted, in order of priority; one-sided ones may be positive
    forces: Array  # (B, M) of levels that hold
    slips: Flags  # (B, L)
    active: Flags  # (B, K) limits


@dataclass(frozen=True, eq=False)
class _Model(Batch):
    """The quadratic model about a state but for what rounds change, in standard deviations."""

    rows: Array  # (B, M, D)
    hessian: Array  # (B, D, D) of the prior, soft limits and the curvature of rows
    slope: Array  # (B, D) of the prior and soft limits
    sizes: Array  # (B, L) |E_l|
    strengths: Array  # (B, L)


@dataclass(frozen=True, eq=False)
class _Step(Batch):
    """A step of B frames in standard deviations, and what it has found."""

    step: Array  # (B, D)
    stiffness: Array  # (B,) curvature of the model along the step
    left: Array  # (B, M) errors after it in the model
    forces: Array  # (B, M)
    slips: Flags
    active: Flags
    answers: Array  # (B, D, M) to the pull of each held row
    gram: Array  # (B, M, M) the same, seen by the held rows


class Descent:
    """Newton steps of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.rows, self.limits, self.tree = problem.rows, problem.limit_rows, problem.tree
        self.prior = problem.prior
        self.spread, self.stiff = self.prior.spread, self.prior.stiff
        self.bends = sides_of(problem.bends, self.stiff)
        self.above = problem.tree.above
        sizes = [level.stop - level.start for level in self.rows.levels]
        self.member = np.repeat(np.eye(len(sizes)), sizes, axis=0)  # (M, L)
        self.strength = Strengths(len(sizes), problem.settings.strength)
        self.place_of_row = np.argsort(self.rows.order)
        self.eye = np.eye(len(self.spread))
        # joints that turn about all their axes: `_turned` would turn others about their stiff axes, too
        self.round = np.all(self.spread[: self.tree.turning].reshape(-1, 3) > 0.0, axis=1)

    # -- states ------------------------------------------------------------------------------------------------------

    def begin(self, links: Links, x: Array, frames: Frames) -> State:
        """Return the state of frames at x (B, D) before any force is known."""
        at, measured = self._within(links, x, frames)
        none = np.zeros((len(x), self.rows.rows))
        slips = np.zeros((len(x), len(self.rows.levels)), bool)
        return State(at, measured, self._errors(at, frames), none, slips, np.ones((len(x), self.limits.count), bool))

    def again(self, links: Links, state: State, frames: Frames) -> State:
        """Return the state with the errors that moved targets, or other links, have."""
        at = links.place(state.at.x)
        return replace(state, at=at, errors=self._errors(at, frames))

    def _within(self, links: Links, x: Array, frames: Frames) -> tuple[Kinematics, Measured]:
        """Return the kinematics and limit coordinates at x (B, D), the short way round and clamped to the limits."""
        at = links.place(unwound(x, self.tree.turning))
        measured = self.limits.measure(at, frames)
        outside = self.limits.outside(measured, frames, numbers.LIMIT_SLACK)
        if len(outside):
            inside = self.limits.clamp(at.x[outside], measured[outside], frames[outside])
            at.put(outside, links[outside].place(inside))
            measured.put(outside, self.limits.measure(at[outside], frames[outside]))
        return at, measured

    def _errors(self, at: Kinematics, frames: Frames) -> Array:
        vectors = self.rows.vectors(at, frames).reshape(len(at.x), -1)[:, self.rows.order]
        return vectors * self.rows.ordered_scales(frames)

    def _strengths(self, here: State) -> Array:
        return self.strength(np.sqrt((here.forces * here.forces) @ self.member))

    def _sizes(self, errors: Array) -> Array:
        """Return |E_l| (B, L); one-sided rows that hold count nothing."""
        sided = self.rows.one_sided_rows
        if len(sided):
            errors = errors.copy()
            errors[:, sided] = np.minimum(errors[:, sided], 0.0)
        return np.sqrt((errors * errors) @ self.member)

    def value(self, x: Array, frames: Frames, links: Links) -> Array:
        """Return F (B,) at x (B, D)."""
        state = self.begin(links, x, frames)
        strengths = self._strengths(state)
        return self._merit(state.at, state.measured, state.errors, frames, strengths, GIVES / strengths)

    def strained(self, links: Links, x: Array, frames: Frames) -> Flags:
        """Return in which frames (B,), which meet their goals at x (B, D), a level pulls with more than it has."""
        at, scales = links.place(x), self.rows.ordered_scales(frames)
        rows = np.array(self.rows.jacobian(links, at, scales, frames)) * self.spread
        columns = np.swapaxes(rows, -1, -2)
        gram = rows @ np.linalg.solve(self.prior.precision, columns) + numbers.DAMPING * np.eye(rows.shape[1])
        forces = np.linalg.solve(gram, rows @ (x * self.stiff)[..., None])[..., 0]
        sizes = np.sqrt((forces * forces) @ self.member)
        return (sizes > self.strength(sizes)).any(axis=1)

    def _merit(
        self, at: Kinematics, measured: Measured, errors: Array, frames: Frames, weights: Array, springs: Array
    ) -> Array:
        strain = self.prior.strain(at.x) + self.limits.strain(measured, frames)
        return 0.5 * strain + np.sum(spring_energy(self._sizes(errors), weights, springs), axis=1)

    # -- descent -----------------------------------------------------------------------------------------------------

    def descend(
        self, links: Links, state: State, frames: Frames, most: int, still: float
    ) -> tuple[State, NDArray[np.int64]]:
        """Return the state at rest, and the number of steps (B,).

        most: largest number of steps; still: largest change of x in a step that counts as rest.
        """
        now = state[np.arange(len(frames))]
        steps, damping = np.zeros(len(frames), int), np.zeros(len(frames))
        alive, calm = np.arange(len(frames)), np.zeros(len(frames), int)
        for _ in range(most):
            here, part, where = now[alive], links[alive], frames[alive]
            there, better, poor, steep = self._step(part, here, where, damping[alive])
            turned = self._moves(there.at.x - here.at.x)
            now.put(alive[better], there[better])
            steps[alive] += 1
            damped = damping[alive] > 0.0
            eased = np.where(damping[alive] > LEAST_DAMPED, 0.125 * damping[alive], 0.0)
            raised = np.maximum(steep, 4.0 * damping[alive])
            damping[alive] = np.where(better, np.where(poor, damping[alive], eased), raised)
            newton = ~(there.slips.any(axis=1) | damped)
            done = turned < np.where(newton & better, still, max(SLOWER * still, numbers.NEWTON_RESTS))
            # the curvature of forces, and limits and levels that have just changed, may show a way on
            same = (there.active == here.active).all(axis=1) | (turned < numbers.NEWTON_RESTS)
            seen = here.forces.any(axis=1) | ~there.forces.any(axis=1)
            done &= ~(damped & better) & same & seen & (there.slips == here.slips).all(axis=1)
            calm[alive] = np.where(turned < numbers.NEWTON_RESTS, calm[alive] + 1, 0)
            done |= calm[alive] >= CALM  # at a kink in the limits only damped steps go down
            alive = alive[~(done | (damping[alive] * numbers.DAMPING > 1.0))]
            if not len(alive):
                break
        return now, steps

    def _moves(self, steps: Array) -> Array:
        """Return by how much steps (B, D) turn or shift what they move most, (B,)."""
        turns = steps[:, : self.tree.turning].reshape(len(steps), -1, 3)
        turned = np.sqrt(np.max(np.sum(turns * turns, axis=-1), axis=1, initial=0.0))
        return np.maximum(turned, np.max(np.abs(steps[:, self.tree.turning :]), axis=1, initial=0.0))

    def _step(self, links: Links, here: State, frames: Frames, damping: Array) -> tuple[State, Flags, Flags, Array]:
        """Return the state after a step, whether it lowers the merit, or by too little, and the stiffness along it."""
        linear = self.limits.linearize(here.at, here.measured, frames, folds=True)
        model = self._model(links, here, linear, frames)
        model, found = self._rounds(model, here, linear, damping)
        springs = GIVES / model.strengths
        weights = walls(np.sqrt((found.forces * found.forces) @ self.member), model.strengths)
        before = self._merit(here.at, here.measured, here.errors, frames, weights, springs)
        at, measured = self._within(links, self._turned(here.at.x, found.step * self.spread), frames)
        errors = self._errors(at, frames)
        after = self._merit(at, measured, errors, frames, weights, springs)
        held = (found.slips @ self.member.T == 0.0) & (found.forces != 0.0)
        wanted = here.errors - (model.rows @ found.step[..., None])[..., 0]
        for _ in range(CORRECTIONS):
            missing = (errors - wanted) * held
            left = np.flatnonzero((np.abs(missing) > GIVES).any(axis=1))
            if not len(left):
                break
            gram: Array = found.gram[left]
            short: Array = missing[left, :, None]
            back = (found.answers[left] @ np.linalg.solve(gram, short))[..., 0]
            other, its = self._within(links[left], self._turned(at.x[left], back * self.spread), frames[left])
            there = self._errors(other, frames[left])
            new = self._merit(other, its, there, frames[left], weights[left], springs[left])
            closer = new < after[left]
            kept = left[closer]
            at.put(kept, other[closer])
            measured.put(kept, its[closer])
            errors[kept], after[kept] = there[closer], new[closer]
            if not closer.all():
                break
        drop = np.sum(found.step * (model.slope + 0.5 * (model.hessian @ found.step[..., None])[..., 0]), axis=1)
        drop += np.sum(weights * (self._sizes(found.left) - model.sizes), axis=1)
        better = after <= before * (1.0 + NOISE) + GIVES * np.sum(weights * ~found.slips, axis=1) + NOISE
        poor = before - after < POOR * -drop  # of what the model promises
        steep = np.maximum(DAMPED, found.stiffness)
        return State(at, measured, errors, found.forces, found.slips, found.active), better, poor, steep

    def _model(self, links: Links, here: State, linear: LinearLimits, frames: Frames) -> _Model:
        scales = self.rows.ordered_scales(frames)
        raw = links.jacobian(here.at, np.ones((len(frames), self.tree.rows)))
        jacobian = self.rows.jacobian(links, here.at, scales, frames, raw)
        sizes = self._sizes(here.errors)
        slips, strengths = here.slips & (sizes > GIVES), self._strengths(here)
        forces = self._pulls(here.errors, sizes, slips, strengths) + here.forces * ((~slips) @ self.member.T)
        weights = (slips * strengths / np.maximum(sizes, GIVES)) @ self.member.T
        hessian = -self._curvature(links, here.at, raw, (forces, weights), scales, frames)
        # at rest all slopes cancel where x may move
        slope = (here.at.x * self.stiff) @ self.prior.precision
        self._take_map(hessian, here.at.x, slope * self.stiff)
        hessian = self.prior.precision + hessian * np.multiply.outer(self.spread, self.spread)
        if self.limits.count:
            slope = slope + linear.strain_slope(len(self.spread)) * self.spread
            active = linear.begin(here.active)
            if active.any() or self.limits.variance.any():
                pushed = slope * self.stiff - (forces[:, None] @ jacobian)[:, 0]
                bends = self.limits.curvatures(here.at, frames)
                hessian += linear.hessian(active, pushed, bends) * np.multiply.outer(self.spread, self.spread)
        return _Model(jacobian * self.spread, hessian, slope, sizes, strengths)

    def _pulls(self, errors: Array, sizes: Array, slips: Flags, strengths: Array) -> Array:
        """Return the forces (B, M) of the levels that slip, 0 for others."""
        sided = self.rows.one_sided_rows
        forces = errors * ((slips * strengths / np.maximum(sizes, GIVES)) @ self.member.T)
        forces[:, sided] = np.minimum(forces[:, sided], 0.0)
        return forces

    def _rounds(self, model: _Model, here: State, linear: LinearLimits, damping: Array) -> tuple[_Model, _Step]:
        """Return the step under the limits that it meets and with the levels that slip in it.

        And the model with the strengths that levels have by their forces in this step.
        """
        count, degrees = len(here.at.x), len(self.spread)
        sided = self.rows.one_sided_rows
        active = linear.begin(here.active) if self.limits.count else here.active.copy()
        slips = np.zeros_like(here.slips)  # every level holds unless that takes too much force
        counts = np.ones_like(here.errors)  # rows that count
        counts[:, sided] = (here.errors[:, sided] < 0.0) | (here.forces[:, sided] < 0.0)
        rows = self.rows.rows
        step, left, forces = np.zeros((count, degrees)), np.zeros((count, rows)), np.zeros((count, rows))
        answers, gram = np.zeros((count, degrees, rows)), np.zeros((count, rows, rows))
        result = _Step(step, np.zeros(count), left, forces, slips, active, answers, gram)
        todo, rounds = np.arange(count), ROUNDS + len(self.rows.levels)
        for turn in range(rounds):
            part, errors, size = model[todo], here.errors[todo], model.sizes[todo]
            slip, on = slips[todo], counts[todo]
            weights = np.where(slip, part.strengths / np.maximum(size, GIVES), WALL)
            by_row = (weights @ self.member.T) * on
            rows = np.swapaxes(part.rows, -1, -2)
            hessian = (rows * by_row[:, None, :]) @ part.rows + part.hessian + damping[todo, None, None] * self.eye
            for level, span in enumerate(self.rows.levels):  # a norm has no curvature along itself
                if slip[:, level].any():
                    unit = (errors * on)[:, span] / np.maximum(size[:, level, None], GIVES)
                    along = (unit[:, None] @ part.rows[:, span])[:, 0]
                    along *= np.sqrt(np.where(slip[:, level], weights[:, level], 0.0))[:, None]
                    hessian -= along[:, :, None] * along[:, None, :]
            slope = part.slope - (rows @ (by_row * errors)[..., None])[..., 0]
            fixed, project_ = linear[todo].fixed(self.spread, active[todo])
            held = on * ((~slip) @ self.member.T)
            step, forces, hessian, answers, gram = self._least(
                hessian, slope, part.rows, errors, held, fixed, project_, GIVES / part.strengths
            )
            if turn == 0:
                model = replace(model, strengths=self.strength(np.sqrt((forces * forces) @ self.member)))
                part = model[todo]
            left = errors - (part.rows @ step[..., None])[..., 0]
            along = np.sum(step * (hessian @ step[..., None])[..., 0], axis=1) - WALL * np.sum(
                held * (errors - left) ** 2, axis=1
            )
            stiffness = along / np.maximum(np.sum(step * step, axis=1), numbers.DAMPING)
            result.put(todo, _Step(step, stiffness, left, forces, slip, active[todo], answers, gram))
            if turn == rounds - 1:
                break
            release = turn < RELEASES
            loads = np.where(slip, 0.0, np.sqrt((forces * forces) @ self.member) / part.strengths)
            most = np.max(loads, axis=1, keepdims=True)  # the level that gives way first may be what breaks others
            breaking: Flags = (loads == most) & (loads > 1.0)
            pressed = np.where(on[:, sided] > 0.0, forces[:, sided] < 0.0, left[:, sided] < 0.0)
            slipping = (slip @ self.member.T)[:, sided] > 0.0
            pressed = np.where(slipping, errors[:, sided] < 0.0, pressed)
            switched = (pressed != (on[:, sided] > 0.0)) & (release | pressed | slipping)
            changed = breaking.any(axis=1) | switched.any(axis=1)
            slips[todo] = slip | breaking
            counts[np.ix_(todo, sided)] = np.where(switched, pressed, on[:, sided])
            if self.limits.count:
                push = slope + (hessian @ step[..., None])[..., 0] - ((forces * held)[:, None] @ part.rows)[:, 0]
                push *= self.stiff
                crossed = linear[todo].revise(active[todo], _shortened(step) * self.spread, push, release)
                crossed &= ~changed[:, None]  # first the forces
                active[todo] ^= crossed
                changed |= crossed.any(axis=1)
            todo = todo[changed]
            if not len(todo):
                break
        errors, gone = here.errors * counts, here.errors - result.left
        along, length = (errors * gone) @ self.member, (gone * gone) @ self.member
        # a level that slips would go past its target; at its target it is a spring, which the model sees
        past = result.slips & (along > (errors * errors) @ self.member) & (model.sizes > GIVES)
        share = np.min(np.where(past, along / np.where(past, length, 1.0), 1.0), axis=1)
        result.step[:] = _shortened(share[:, None] * result.step)
        pulls = self._pulls(here.errors, model.sizes, result.slips, model.strengths)
        result.forces[:] = np.where(result.slips @ self.member.T > 0.0, pulls, result.forces)
        return model, result

    def _least(
        self,
        hessian: Array,
        slope: Array,
        rows: Array,
        errors: Array,
        held: Array,
        fixed: Array,
        projectors: Array,
        springs: Array,
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Return the step (B, D) to the least value of the model along the bounds that takes the held errors away.

        And the forces (B, M) of the rows held (B, M), the Hessian, which is made to have a least value, and the
        answers and their Gram matrix as in `_Step`.
        """
        rows = rows * held[..., None]
        sides = np.concatenate([slope[..., None] + hessian @ fixed[..., None], np.swapaxes(rows, -1, -2)], axis=2)
        reduced, sides = along_bounds(hessian, projectors), project(projectors, sides)
        buckles = np.zeros_like(slope)
        try:
            np.linalg.cholesky(reduced)
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(reduced)
            least, way = values[:, 0], vectors[..., 0]
            falls = least < numbers.DAMPING
            more = np.where(falls, np.maximum(-2.0 * least, INDEFINITE), 0.0)[:, None, None]
            reduced, hessian = reduced + more * self.eye, hessian + more * self.eye
            buckles[falls] = aside(way[falls], slope[falls], self.bends)
        solved = np.linalg.solve(reduced, sides)
        free = np.swapaxes(sides[..., 1:], -1, -2)
        gap = errors * held + (free @ solved[..., :1] - rows @ fixed[..., None])[..., 0]
        gram = free @ solved[..., 1:]
        places = np.arange(self.rows.rows)
        gram[:, places, places] += springs @ self.member.T + (1.0 - held)
        forces = np.linalg.solve(gram, gap[..., None])
        answers = project(projectors, solved[..., 1:])
        step = fixed + buckles + (answers @ forces - project(projectors, solved[..., :1]))[..., 0]
        return step, forces[..., 0], hessian, answers, gram

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
        straight[:, :turning].reshape(len(x), -1, 3)[:, free] = after
        return straight

    def _take_map(self, hessian: Array, x: Array, slope: Array) -> None:
        """Subtract the curvature of the exponential map, d/dx of Jr(x)^T g, for slopes (B, D) in x: see `_turned`."""
        joints = len(self.tree.joints)
        vectors = x[:, : self.tree.turning].reshape(len(x), joints, 3)
        pull = slope[:, : self.tree.turning].reshape(len(x), joints, 3)
        own = (np.swapaxes(rotation.inverse_right_jacobian(vectors), -1, -2) @ pull[..., None])[..., 0]
        rate = rotation.right_jacobian_bend(vectors, own)
        blocks = 0.5 * (rate + np.swapaxes(rate, -1, -2))
        places = 3 * np.arange(joints)[:, None] + np.arange(3)
        hessian[:, places[:, :, None], places[:, None, :]] -= blocks

    def _curvature(
        self, links: Links, at: Kinematics, raw: Array, pulls: tuple[Array, Array], scales: Array, frames: Frames
    ) -> Array:
        """Return C (B, D, D) of forces on points, half the torques on frames, and of rotation errors.

        raw: the features' Jacobian; pulls: forces (B, M) of weighted rows, and the weights of those that slip.
        """
        points, plain = self.rows.plain_points, self.rows.plain_points + self.rows.plain_ends
        forces, weights = (
            (part * scale)[:, self.place_of_row].reshape(len(part), -1, 3)
            for part, scale in zip(pulls, (scales, scales * scales), strict=True)
        )
        own = np.concatenate([np.arange(3 * points), 3 * len(self.tree.point_nodes) + np.arange(3 * (plain - points))])
        rows = raw[:, own if self.rows.blocks else self.place_of_row].reshape(len(forces), plain, 3, len(self.spread))
        half = np.where(np.arange(plain) < points, 1.0, 0.5)[:, None]
        across = np.swapaxes(skew(half * forces[:, :plain]), -1, -2)
        bend = (across @ rows).sum(axis=1)  # sum of J x f
        turns = rotation.inverse_right_jacobian(self.rows.turns(at, frames))
        flatter = weights[:, points:plain, :, None] * (np.eye(3) - 0.5 * (turns + np.swapaxes(turns, -1, -2)))
        sides = (np.swapaxes(rows[:, points:], -1, -2) @ flatter @ rows[:, points:]).sum(axis=1)
        for number, block in enumerate(self.rows.blocks, plain):
            if not (forces[:, number].any() or weights[:, number].any()):
                continue
            more, side = block.bend(links, at, raw, forces[:, number], weights[:, number], frames)
            bend, sides = bend + more, sides + side
        turned = (np.swapaxes(links.axes_of(at), -1, -2) @ bend) * self.above
        return turned + np.swapaxes(turned, -1, -2) + sides


def sides_of(bends: Array | None, stiff: Array) -> Array:
    """Return the bends (D,) that joints prefer in deviations, 0 where they have none."""
    sides = np.zeros_like(stiff)
    if bends is not None:
        sides[: len(bends)] = bends * stiff[: len(bends)]
    return sides


def aside(way: Array, slope: Array, sides: Array) -> Array:
    """Return a step (..., D) along a way of unit length on which the model falls to both sides, to the preferred one.

    Zero where the model's slope has a side already. A straight limb that is pushed in has none: it buckles.
    """
    steep = np.abs(np.sum(way * slope, axis=-1, keepdims=True)) > NO_SIDE
    side = np.where(np.sum(way * sides, axis=-1, keepdims=True) >= 0.0, FURTHEST, -FURTHEST)
    return way * np.where(steep, 0.0, side)


def _shortened(steps: Array) -> Array:
    """Return steps (B, D) cut to the length FURTHEST."""
    length = np.sqrt(np.sum(steps * steps, axis=1, keepdims=True))
    return steps * (FURTHEST / np.maximum(length, FURTHEST))


def unwound(x: Array, turning: int) -> Array:
    """Return x (..., D) with joints that are more than half a turn away turned the short way round: the same pose.

    Else what is minimised would depend on the way to a pose, too.
    """
    lengths = rotation.lengths(x[..., :turning].reshape(*x.shape[:-1], -1, 3))
    turns = np.rint(lengths / (2.0 * np.pi))
    if not turns.any():
        return x
    result = x.copy()
    result[..., :turning] *= np.repeat(1.0 - turns * 2.0 * np.pi / np.where(turns > 0.0, lengths, 1.0), 3, axis=-1)
    return result
