"""Newton steps of one frame; `descent` says what they minimise, and why so."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from .. import descent, numbers
from ..goals.rows import GoalRows
from ..problem import Problem
from ..strengths import GIVES, Strengths, walls
from ..tree import Links
from .limits import Slopes
from .placed import Placed
from .places import Places

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Local:
    """What is minimised about one place, to second order, in deviations."""

    at: Placed
    rates: Array  # (R, 3, 3) right Jacobians of exp
    counts: Array  # (M,) 1 for rows that count: of one-sided ones those that are not kept, or hold by a force
    rows: Array  # (M, D) weighted
    hessian: Array  # (D, D) of the prior and the curvature of rows
    slope: Array  # (D,) of the prior
    sizes: Array  # (L,) |E_l|
    strengths: Array  # (L,)
    springs: Array  # (L,) error of a level by a unit of its force


@dataclass(frozen=True, eq=False)
class _Found:
    """A step in deviations, and what it has found."""

    step: Array  # (D,)
    forces: Array  # (M,) of held rows
    held: Array  # (M,) 1 for rows of levels that hold
    back: Array  # (D, M) the step that takes an error of each held row away
    push: Array  # (D,) slope of the model at its end, but for the forces of held rows
    slopes: Slopes


@dataclass(frozen=True, eq=False)
class _End:
    """The end of a step."""

    at: Placed
    forces: Array  # (M,)
    slips: Flags  # (L,)
    better: bool  # the merit did not rise
    stiffness: float  # of the model along the step


class FrameSolver:
    """The steps of one frame of a problem: a rigid body with hard limits."""

    def __init__(self, problem: Problem, links: Links, frame: int) -> None:
        self.places = Places(problem, links, frame)
        self.limits = self.places.limits
        rows, tree = problem.rows, problem.tree
        self.turning = tree.turning
        self.spread, self.stiff, self.precision = problem.prior.spread, problem.prior.stiff, problem.prior.precision
        self.both = np.multiply.outer(self.spread, self.spread)
        self.deviations: list[list[float]] = self.spread[: self.turning].reshape(-1, 3).tolist()
        self.bends = descent.sides_of(problem.bends, self.stiff)
        self.above = tree.above
        columns = np.arange(self.turning).reshape(-1, 3)
        self.blocks = columns[:, :, None], columns[:, None, :]  # of the Hessian, by joint
        self.rests = False  # as near as can be
        self.eye = np.eye(len(self.spread))
        self.levels = rows.levels
        self.largest_turn = problem.settings.turn if problem.dragged else np.inf
        self.strength = Strengths(len(self.levels), problem.settings.strength)
        self.member = np.repeat(rows.block_in_level[self.places.blocks], 3, axis=0)  # (M, L)
        self.half = np.repeat(np.where(rows.turning[self.places.blocks], 0.5, 1.0), 3)
        self.tolerances = np.repeat(problem.tolerances[self.places.blocks], 3)
        plain = rows.plain_points + rows.plain_ends
        by_block = np.argsort(self.places.blocks)  # where its rows are
        self.further = (3 * by_block[plain:, None] + np.arange(3)).tolist()  # rows of each goal that is not plain
        self.plain = np.flatnonzero(np.repeat(self.places.blocks < plain, 3)) if self.further else slice(None)

    def begin(self, x: Array) -> None:
        """Begin at x (D,), before any force is known."""
        self.limits.forget()
        self.forces: Array = np.zeros(len(self.member))
        self.slips: Flags = np.zeros(len(self.levels), bool)
        self.at = self.places.inside(self.places.place(x))

    def descend(self, goals: GoalRows, most: int, still: float) -> int:
        """Take at most `most` steps, until one turns every joint by less than `still`; see `Descent`.

        goals: the problem's, whose targets may have moved since the last steps. Returns the number of steps.
        """
        errors = self.at.vectors
        self.places.aim(goals)
        if self._turn(self.at.x) > np.pi:
            self.at = self.places.place(descent.unwound(self.at.x, self.turning))
        self.places.compare(self.at)
        damping, steps, begun = 0.0, 0, self.at.x
        moved = float(np.abs(self.at.vectors - errors).max(initial=0.0))  # of the targets
        turn = self.largest_turn * max(1.0, moved / numbers.CENTIMETRE)
        # a tick under the mouse, from which the next one goes on, need not be more exact than its goals
        exact = 0.5 * self.tolerances * self.places.scales
        self.rests = still <= numbers.NEWTON_RESTS
        live = turn < np.inf and not self.rests
        self.limits.allow(numbers.LIMIT_DRIFT if live else numbers.LIMIT_SLACK)
        if not live:  # steps from outside, back to the bounds, would go up
            exact, self.at = GIVES, self.places.inside(self.at)
        while steps < most:
            left = turn - self._turn(self.at.x - begun) if steps and turn < np.inf else turn
            if left < numbers.NEWTON_RESTS:
                break
            steps += 1
            self.limits.begin(self.at)
            active, blind, slips = dict(self.limits.active), not self.forces.any(), self.slips
            end = self._step(damping, left, exact)
            went = end.at.x - self.at.x
            turned = max(self._turn(went), float(np.abs(went[self.turning :]).max(initial=0.0)))
            newton = end.better and not (damping or end.slips.any())
            rests = turned < (still if newton else max(descent.SLOWER * still, numbers.NEWTON_RESTS))
            # the curvature of forces, and limits and levels that have just changed, may show a way on
            same = self.limits.active.keys() == active.keys() or turned < numbers.NEWTON_RESTS
            seen = not (blind and end.forces.any()) and bool((end.slips == slips).all())
            done = rests and not (damping and end.better) and same and seen
            if end.better:
                self.at, self.forces, self.slips = end.at, end.forces, end.slips
                damping = 0.125 * damping if damping > descent.LEAST_DAMPED else 0.0
            else:
                self.limits.active = active
                damping = max(descent.DAMPED, end.stiffness, 4.0 * damping)
            if done or damping * numbers.DAMPING > 1.0:
                break
        return steps

    def _sizes(self, rows: Array) -> Array:
        rows = self.places.pressing(rows)
        return np.sqrt((rows * rows).dot(self.member))

    def _turn(self, step: Array) -> float:
        """Return by how much a step (D,) turns the joint that turns most, radians."""
        turns = step[: self.turning].reshape(-1, 3)
        return sqrt((turns * turns).dot(rotation.ONES).max(initial=0.0))

    def _merit(self, at: Placed, weights: Array, springs: Array) -> float:
        z = at.x * self.stiff
        merit = 0.5 * float(z.dot(self.precision).dot(z))
        sizes: list[float] = self._sizes(at.rows).tolist()
        for size, weight, spring in zip(sizes, weights.tolist(), springs.tolist(), strict=True):
            # see `strengths.spring_energy`
            near = min(size, weight * spring)
            merit += weight * (size - near) + 0.5 * near * near / spring
        return merit

    def _curvature(self, at: Placed, rows: Array, raw: Array) -> Array:
        """Return C (D, D), see `descent`, under the forces; rows (M, D) without weights, raw those of the features."""
        forces = self.forces * self.places.scales
        turns = (forces * self.half)[self.plain].reshape(-1, 3).dot(rotation.SKEW).reshape(-1, 3, 3)
        bend = -turns.transpose(1, 0, 2).reshape(3, -1).dot(rows[self.plain])  # sum of J x f
        sides = np.zeros(())
        for block, own in zip(self.places.goals.blocks, self.further, strict=True):
            if forces[own].any():
                none = np.zeros((1, 3))
                places = self.places
                more, side = block.bend(places.links, at.kinematics, raw[None], forces[None, own], none, places.one)
                bend, sides = bend + more[0], sides + side[0]
        turned = self.places.columns[:3].T.dot(bend) * self.above
        return turned + turned.T + sides

    def _bend(self, hessian: Array, at: Placed, rates: Array, slope: Array, raw: Array) -> None:
        """Subtract the curvature of rotation vectors and active bounds, as `Descent` does; slope (D,) of the prior."""
        vectors, pulls = (some[: self.turning].reshape(-1, 3) for some in (at.x, slope))
        own = np.linalg.solve(rates.transpose(0, 2, 1), pulls[:, :, None])[:, :, 0]
        rate = rotation.right_jacobian_bend(vectors, own)
        bends = 0.5 * (rate + rate.transpose(0, 2, 1))
        if self.limits.active:
            push = slope - (self.forces * self.places.scales).dot(raw)
            bends += self.limits.curvature(at, rates, self.limits.slopes(at, rates), push)
        hessian[self.blocks] -= bends * self.both[self.blocks]

    def _model(self, at: Placed, damping: float) -> _Local:
        """Return the model about a place but for what the rounds of a step find."""
        rates = self.places.rates(at)
        unweighted, raw = self.places.jacobian(at, rates)
        rows = unweighted * self.places.scales[:, None] * self.spread
        hessian = self.precision + damping * self.eye
        strengths = self.strength(self._sizes(self.forces))
        sizes = self._sizes(at.rows)
        if self.forces.any():
            hessian -= self._curvature(at, unweighted, raw) * self.both
        slope = self.precision.dot(at.x * self.stiff)
        if self.rests:
            self._bend(hessian, at, rates, slope * self.stiff, unweighted)
        counts, sided = np.ones(len(rows)), self.places.sided
        if len(sided):
            counts[sided] = (at.rows[sided] < 0.0) | (self.forces[sided] < 0.0)
        return _Local(at, rates, counts, rows, hessian, slope, sizes, strengths, GIVES / strengths)

    def _least(self, local: _Local, slips: Flags) -> _Found:
        """Return the step to the least value of the model along the active limits that takes the held errors away."""
        at, rows = local.at, local.rows
        weights = np.where(slips, local.strengths / np.maximum(local.sizes, GIVES), descent.WALL)
        by_row = self.member.dot(weights) * local.counts
        model: Array = (rows.T * by_row).dot(rows) + local.hessian
        for level in np.flatnonzero(slips).tolist():  # a norm has no curvature along itself
            span, size = self.levels[level], max(float(local.sizes[level]), GIVES)
            along = (at.rows * local.counts)[span].dot(rows[span]) * (np.sqrt(weights[level]) / size)
            model -= along[:, None] * along
        slope = local.slope - (by_row * at.rows).dot(rows)
        held: Array = self.member.dot(~slips) * local.counts
        kept = rows * held[:, None]
        slopes = self.limits.slopes(at, local.rates) if self.limits.active else {}
        fixed, projectors = self.limits.fixed(at, slopes, self.deviations)
        sides = np.empty((len(slope), 1 + len(kept)))
        sides[:, 0], sides[:, 1:] = slope, kept.T
        whole = model
        if projectors:
            whole = model.copy()
            sides[:, 0] += model.dot(fixed)
        for joint, projector in projectors.items():
            span = slice(3 * joint, 3 * joint + 3)
            model[span] = projector.dot(model[span])
            model[:, span] = model[:, span].dot(projector)
            model[span, span] += self.eye[:3, :3] - projector
            sides[span] = projector.dot(sides[span])
        buckles = np.zeros_like(slope)
        if not _has_least(model):
            values, vectors = np.linalg.eigh(model)
            buckles = descent.aside(vectors[:, 0], slope, self.bends)
            more = max(-2.0 * float(values[0]), descent.INDEFINITE) * self.eye
            model, whole = model + more, whole + more
        solved: Array = np.linalg.solve(model, sides)
        free = sides[:, 1:].T
        gap: Array = at.rows * held + free.dot(solved[:, 0]) - kept.dot(fixed)
        gram: Array = free.dot(solved[:, 1:])
        gram.ravel()[:: len(gram) + 1] += self.member.dot(local.springs) + 1.0 - held
        for joint, projector in projectors.items():
            span = slice(3 * joint, 3 * joint + 3)
            solved[span] = projector.dot(solved[span])
        inverse: Array = np.linalg.inv(gram)
        forces, back = inverse.dot(gap), solved[:, 1:].dot(inverse)
        step = back.dot(gap) - solved[:, 0] + fixed + buckles
        push = slope + whole.dot(step)
        return _Found(step, forces, held, back, push, slopes)

    def _rounds(self, local: _Local, turn: float) -> tuple[_Local, _Found, Placed, Flags]:
        """Return the step under the limits that it meets, its end, and the levels that slip in it.

        And the model with the strengths that levels have by their forces in this step.
        """
        count = len(local.sizes)
        slips = np.zeros(count, bool)
        last = descent.ROUNDS + count - 1
        for round_ in range(last + 1):
            found = self._least(local, slips)
            if round_ == 0:
                strengths = self.strength(self._sizes(found.forces))
                local = replace(local, strengths=strengths, springs=GIVES / strengths)
            loads = np.where(slips, 0.0, self._sizes(found.forces) / local.strengths)
            breaking = loads.max() > 1.0
            switched = self._switched(local, found, slips, release=round_ < descent.RELEASES)
            if round_ < last and (breaking or len(switched)):
                local.counts[switched] = 1.0 - local.counts[switched]
                if breaking:
                    slips[loads.argmax()] = True  # it may be what breaks others
                continue
            step = found.step * self._share(local, found, slips)
            step *= descent.FURTHEST / max(sqrt(step.dot(step)), descent.FURTHEST)
            if turn < np.inf:
                step *= turn / max(self._turn(step * self.spread), turn)
            there = self.places.place(local.at.x + step * self.spread)
            if round_ == last:
                break
            if self.limits.activate(there):
                continue
            held_by = len(self.limits.active)
            if found.slopes and round_ < descent.RELEASES:
                push = found.push - (found.forces * found.held).dot(local.rows)
                self.limits.release(push * self.stiff, found.slopes)
            if len(self.limits.active) == held_by:
                break
        return local, found, there, slips  # pyright: ignore[reportPossiblyUnboundVariable]

    def _share(self, local: _Local, found: _Found, slips: Flags) -> float:
        """Return the share of a step after which a level that slips would go past its target."""
        if not slips.any():
            return 1.0
        errors, gone = local.at.rows * local.counts, local.rows.dot(found.step)
        along, length = (errors * gone).dot(self.member), (gone * gone).dot(self.member)
        past = slips & (along > (errors * errors).dot(self.member)) & (local.sizes > GIVES)  # nearer it is a spring
        return float((along[past] / length[past]).min(initial=1.0))

    def _switched(self, local: _Local, found: _Found, slips: Flags, release: bool) -> NDArray[np.int64]:
        """Return the one-sided rows that the step does not keep, and those that pull back, if these are released.

        Where their level slips those that are not kept now count.
        """
        sided = self.places.sided
        if not len(sided):
            return sided
        on, slipping = local.counts[sided] > 0.0, self.member[sided].dot(slips) > 0.0
        errors = local.at.rows[sided]
        pressed = np.where(on, found.forces[sided] < 0.0, errors - local.rows[sided].dot(found.step) < 0.0)
        pressed = np.where(slipping, errors < 0.0, pressed)
        return sided[(pressed != on) & (release | pressed | slipping)]

    def _step(self, damping: float, turn: float, exact: Array | float) -> _End:
        """Take a step that turns no joint by more than `turn`, and leave errors (M,) of held rows up to `exact`."""
        at = self.at
        local = self._model(at, damping)
        local, found, there, slips = self._rounds(local, turn)
        pulls = self.places.pressing(at.rows) * self.member.dot(
            slips * local.strengths / np.maximum(local.sizes, GIVES)
        )
        forces = np.where(found.held > 0.0, found.forces, pulls)
        weights = walls(self._sizes(forces), local.strengths)
        # as the model has it; a step that was cut is not brought to its goals, but keeps the first level
        moved = (there.x - at.x) * self.stiff
        left = at.rows - local.rows.dot(moved)
        held = found.held if moved.dot(moved) > 0.99 * found.step.dot(found.step) else found.held * self.member[:, 0]
        there = self.places.inside(there)
        before, after = (self._merit(some, weights, local.springs) for some in (at, there))
        for _ in range(descent.CORRECTIONS):
            missing: Array = (there.rows - left) * held
            if not np.count_nonzero(np.abs(missing) > exact):
                break
            other = self.places.inside(self.places.place(there.x + found.back.dot(missing) * self.spread))
            new = self._merit(other, weights, local.springs)
            if new >= after:
                break
            there, after = other, new
        noise = descent.NOISE * (1.0 + before) + float(weights[~slips].sum()) * float(np.max(exact, initial=0.0))
        better = after <= before + noise
        stiffness = 0.0 if better else self._stiffness(local, found)
        return _End(there, forces, slips, better, stiffness)

    def _stiffness(self, local: _Local, found: _Found) -> float:
        """Return the second derivative of the model along the step, but for the walls of held levels."""
        step, gone = found.step, local.rows.dot(found.step) * ~found.held.astype(bool)
        weights = self.member.dot(local.strengths / np.maximum(local.sizes, GIVES)) * local.counts
        along = float(step.dot(local.hessian).dot(step)) + float((weights * gone).dot(gone))
        return along / max(float(step.dot(step)), numbers.DAMPING)


def _has_least(hessian: Array) -> bool:
    try:
        np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return False
    return True
