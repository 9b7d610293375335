"""Solve three or more priority levels lexicographically.

Level by level, the goals down to it rest by Newton steps (`rest`), with so much more weight on the levels above that
goals out of reach stay as near as they were, to second order. Goals that are met give way a little; their aims then
move the other way (the method of multipliers) until they are held where they were.

Stretched limbs still twist about themselves, and spare joints turn, however firm the levels are: the poses that serve
all levels equally well form a surface. On it only the prior counts; next to weights of 1e14 a prior of 1 would be lost
in rounding. With H the second derivatives of the weighted levels, split by their eigenvalues into the directions that
the levels hold and the surface's tangent Z, and p the prior's slope, a step is a Newton step onto the surface and one
along it:

    dx = -H^+ g - Z (Z^T K Z)^-1 Z^T p,    K = P'' + dH,    dH = (H(x - y) - H(x + y)) / 2,    y = H^+ p

K is the prior's second derivative on the surface: y is the distance that the prior would pull the levels off it, and
the rate of H along -y is the curvature of the surface.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from . import numbers
from .rest import Newton, Objective, Shape, State, is_flat, project, shifts, shortened
from .tree import Batch

_SHARPEST: Final = 1e2  # largest factor on the weights of goals that are nearly met
_LEVEL_APART: Final = 1e-6  # `LEVEL_RANGE` for levels out of reach, whose aims move away
_NEWTON_LOST: Final = 1e-10  # standard deviations of a radius at which the search for a lower value ends
_LEVEL_ROUNDS: Final = 4  # largest number of passes through all levels
_LEVEL_HELD: Final = 2e-5  # length or angle by which lower levels may move an upper one
_LEVEL_FURTHER: Final = 20.0  # largest factor by which the aim of a level out of reach moves away
_LEVEL_MET: Final = 1e-4  # length or angle of errors up to which a level is firm for those below it
_SURFACE_STEPS: Final = 6  # largest number of steps back to the surface
_ON_SURFACE: Final = 1e-12  # standard deviations from the surface that do not count: only there free directions show
_OFF_SURFACE: Final = 1e-6  # standard deviations from the surface at which a step was too long
_NEWTON_UPPER: Final = 0.03  # share of D for a level that has others below it: next to nothing else may count


@dataclass(frozen=True, eq=False)
class _Place(Batch):
    """B frames at one x near the surface; in standard deviations, unless noted."""

    x: Array  # (B, D) in its own units
    value: Array  # (B,) the prior on the surface next to x, to second order
    off: Array  # (B,) distance of x from the surface
    back: Array  # (B, D) step onto it, and to the limits that a step meets
    axes: Array  # (B, D, D) columns along the surface, zero where there are less
    fall: Array  # (B, D) the prior's slope along them
    bends: Array  # (B, D) and its second derivatives
    active: NDArray[np.bool_]  # (B, K) limits
    projectors: Array  # (B, R, 3, 3) along these
    held: Array  # (B, m) errors of the firm rows at which their weights balance their forces

    def step(self, radius: Array) -> tuple[Array, Array]:
        """Return the step (B, D) within the radius (B,), and its length (B,) along the surface."""
        along = self.fall / (self.bends + shifts(self.bends, self.fall, radius)[:, None])
        return self.back - _times(self.axes, along), np.sqrt(np.sum(along * along, axis=1))


@dataclass(frozen=True, eq=False)
class _Levels:
    """H of the levels in B frames, in standard deviations."""

    back: Array  # (B, D) the step onto the surface
    axes: Array  # (B, D, D) its directions
    wall: NDArray[np.bool_]  # (B, D) those that the levels hold
    inverse: Array  # (B, D) 1 / H along them, 0 along the others

    def least(self, slope: Array) -> Array:
        """Return H^+ g (B, D)."""
        return _times(self.axes, self.inverse * _times(np.swapaxes(self.axes, -1, -2), slope))


@dataclass(frozen=True, eq=False)
class _Shapes:
    """F about one x, and its parts."""

    state: State
    whole: Shape  # all of it
    levels: Shape  # without the prior, but for soft limits
    soft: Shape | None  # soft limits alone, if there are any

    @property
    def prior_slope(self) -> Array:
        """Return the slope (B, D) of the prior and of soft limits, which both give way to goals."""
        slope = self.whole.slope - self.levels.slope
        return slope if self.soft is None else slope + self.soft.slope


class Levels(Newton):
    """Newton's method for a problem with any number of levels."""

    def rest(
        self, x: Array, frames: NDArray[np.int64], met: bool
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return as `descend`, but lower levels do not move upper ones that are out of reach.

        For two levels whose first one is met `descend` suffices.
        """
        levels = self.rows.levels
        if met or len(levels) == 1:
            return self.descend(x, frames, met)
        if len(levels) > 2:
            return self._by_level(x, frames)
        x, steps, active = x.copy(), np.zeros(len(x), int), self.limits.nothing(len(x))
        lacks = self.lacks_first(x, frames)
        if lacks.any():
            first = self._first(x[lacks], frames[lacks])
            still = self.lacks_first(first, frames[lacks])
            lacks[lacks] = still
            x[lacks] = first[still]
        for some, rest in ((~lacks, self.descend), (lacks, self._by_level)):
            if some.any():
                x[some], steps[some], active[some] = rest(x[some], frames[some])
        return x, steps, active

    def sharpened(
        self, x: Array, frames: NDArray[np.int64], shares: Array
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return as `descend` with the last level's weights times squares of `shares` (B,), at most _SHARPEST."""
        weights = self._weights(frames)
        weights[:, self.rows.levels[-1]] *= np.clip(np.square(shares), 1.0, _SHARPEST)[:, None]
        return self._descend(x, frames, Objective(weights, np.zeros_like(weights), np.zeros_like(x), self.rows.rows))

    def _first(self, x: Array, frames: NDArray[np.int64]) -> Array:
        """Return x (B, D) where the first level alone rests."""
        aims, missed = np.zeros((len(x), self.rows.rows)), np.zeros((len(x), len(self.rows.levels)), bool)
        return self._descend(x, frames, self._objective(x, frames, aims, missed, 0))[0]

    def _by_level(self, x: Array, frames: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Repeat `_once_by_level` until x stays: a limit that held an upper level back may be released meanwhile."""
        x, steps, active = x.copy(), np.zeros(len(x), int), self.limits.nothing(len(x))
        alive = np.arange(len(x))
        for _ in range(_LEVEL_ROUNDS if self.limits.count else 1):
            there, more, active[alive], eased = self._once_by_level(x[alive], frames[alive])
            moved = np.max(np.abs(there - x[alive]), axis=1, initial=0.0) > numbers.STAYS
            x[alive] = there
            steps[alive] += more
            alive = alive[moved & eased]
            if not len(alive):
                break
        return x, steps, active

    def _once_by_level(
        self, x: Array, frames: NDArray[np.int64]
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Rest level by level; returns as `descend`, and whether the prior's descent on the surface has ended (B,)."""
        levels = self.rows.levels
        steps, active = np.zeros(len(x), int), self.limits.nothing(len(x))
        aims, held = np.zeros((2, len(x), self.rows.rows))
        missed = np.zeros((len(x), len(levels)), bool)
        objective = self._objective(x, frames, aims, missed, 0)
        for rank, level in enumerate(levels):
            for _ in range(numbers.LEVEL_TURNS):
                objective = self._objective(x, frames, aims, missed, rank)
                x, more, active = self._descend(x, frames, objective)
                steps += more
                errors = self._errors(self.problem.links[frames].place(x), 0.0, frames)
                held[:, level] = errors[:, level]
                moved = (errors - held)[:, : level.start]
                if np.abs(moved).max(initial=0.0) < _LEVEL_HELD:
                    break
                aims = self._further(aims, held, moved, missed)
            missed[:, rank] = self._lacks(x, frames, level)
        violated = (
            self._gaps(self.problem.links[frames].place(x), objective.aims, frames)[:, self.rows.one_sided_rows] < 0.0
        )
        x, more, active = self._ease(x, frames, replace(objective, pressed=violated), active)
        return x, steps + more, active, more < numbers.NEWTON_STEPS

    def _further(self, aims: Array, held: Array, moved: Array, missed: NDArray[np.bool_]) -> Array:
        """Return aims (B, M) that move upper levels back, which were moved (B, m) from where they are held.

        A level out of reach is held by its pull alone: along a direction that costs it nothing to first order it gives
        way by the square root. Its aim therefore moves away, and those of the levels above it by the same factor,
        unless the first level is met, which would be under that force.
        """
        aims, further = aims.copy(), np.ones((len(aims), 1))
        for level, out in reversed(list(zip(self.rows.levels, missed.T, strict=True))):
            if level.start < moved.shape[1]:
                gap, pulls = moved[:, level], (out & missed[:, 0])[:, None]
                size = np.max(np.abs(gap), axis=1, keepdims=True)
                factor = np.clip(np.sqrt(size / _LEVEL_HELD), 1.0, _LEVEL_FURTHER)
                further = np.where(pulls, further * factor, further)
                beyond = held[:, level] - further * (held[:, level] - aims[:, level])
                aims[:, level] = np.where(pulls, beyond, further * (aims[:, level] - gap))
        return aims

    def lacks_first(self, x: Array, frames: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the first level is out of reach, (B,)."""
        return self._lacks(x, frames, self.rows.levels[0])

    def _lacks(self, x: Array, frames: NDArray[np.int64], level: slice) -> NDArray[np.bool_]:
        """Return whether a level is out of reach, (B,)."""
        errors = self._errors(self.problem.links[frames].place(x), 0.0, frames)[:, level]
        return np.abs(errors * (self.rows.ordered_scales(frames)[:, level] > 0.0)).max(axis=1) > _LEVEL_MET

    def _short(self, x: Array, frames: NDArray[np.int64]) -> Array:
        """Return the norms (B, L) of the levels' errors."""
        errors = self._errors(self.problem.links[frames].place(x), 0.0, frames)
        return np.stack([np.linalg.norm(errors[:, level], axis=1) for level in self.rows.levels], axis=1)

    def _objective(
        self, x: Array, frames: NDArray[np.int64], aims: Array, missed: NDArray[np.bool_], rank: int
    ) -> Objective:
        """Return the objective of the levels down to `rank`: those above it that are met are firm.

        missed (B, L): levels out of reach; each of them above `rank` has the damping of the next one times a share.
        """
        rows = self.rows
        above = missed[:, :rank]
        count = above.sum(axis=1, keepdims=True)
        firm_first = ~above[:, :1].any(axis=1, keepdims=True)  # levels met above them weigh more than all of them
        parts = np.maximum(count + firm_first, 1)
        apart = np.where(firm_first, numbers.LEVEL_RANGE, _LEVEL_APART)
        share = np.maximum(numbers.LEVEL_DAMPING, apart ** (1.0 / parts))
        levels = np.zeros((len(x), len(rows.levels)))
        levels[:, :rank] = np.where(above, share ** (np.cumsum(above, axis=1) - count - 1.0), 1.0 / numbers.LEVEL_RANGE)
        levels[:, rank] = 1.0
        damping = numbers.NEWTON_DAMPING * (1.0 if rank == len(rows.levels) - 1 else _NEWTON_UPPER)
        blocks = np.repeat(levels @ rows.block_in_level.T, 3, axis=1) / damping
        firm = np.repeat(np.where(above, 0.0, 1.0), [level.stop - level.start for level in rows.levels[:rank]], axis=1)
        return Objective((rows.scales[frames] ** 2 * blocks)[:, rows.order], aims, x, rows.levels[rank].start, firm)

    def _ease(
        self, x: Array, frames: NDArray[np.int64], objective: Objective, active: NDArray[np.bool_]
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return x (B, D) on the surface where the prior is least, the number of steps and the active limits."""
        trusted, steps = np.full(len(x), numbers.NEWTON_RADIUS), np.zeros(len(x), int)
        now = self._place(x, frames, objective, active, trusted)
        short = self._short(x, frames) + _LEVEL_HELD

        def kept(place: _Place, some: NDArray[np.int64]) -> NDArray[np.bool_]:
            """Return which places keep the levels; forces of limits may hide a distance from the surface."""
            return (self._short(place.x, frames[some]) <= short[some]).all(axis=1)

        alive = np.arange(len(x))
        alive = alive[kept(now, alive)]
        strayed = np.setdiff1d(np.arange(len(x)), alive)
        steps[strayed] = numbers.NEWTON_STEPS
        for _ in range(numbers.NEWTON_STEPS):
            if not len(alive):
                break
            here, where = now[alive], frames[alive]
            step, size = here.step(trusted[alive])
            there = self._place(self._stepped(here.x, step), where, objective[alive], here.active, trusted[alive], here)
            better = (there.value <= here.value * (1.0 + numbers.NEWTON_NOISE)) & (there.off < _OFF_SURFACE)
            better &= kept(there, alive)
            now.put(alive[better], there[better])
            wider = np.minimum(np.maximum(trusted[alive], 2.0 * size), numbers.NEWTON_WIDEST)
            trusted[alive] = np.where(better, wider, 0.25 * size)
            worse = alive[~better]
            if len(worse) and self.limits.count:  # a shorter step meets fewer limits
                old = now[worse]
                again = self._place(old.x, frames[worse], objective[worse], old.active, trusted[worse], old)
                stays = kept(again, worse)
                now.put(worse[stays], again[stays])
                trusted[worse[~stays]] = 0.0
            steps[alive] += 1
            moves = np.max(np.abs(step * self.spread), axis=1, initial=0.0) >= numbers.NEWTON_RESTS
            lost = trusted[alive] < _NEWTON_LOST
            steps[alive[lost]] = numbers.NEWTON_STEPS
            alive = alive[moves & ~lost]
        result, limits = now.x.copy(), now.active.copy()
        result[strayed], limits[strayed] = x[strayed], active[strayed]
        return result, steps, limits

    def _stepped(self, x: Array, step: Array) -> Array:
        return self._turned(x, shortened(step * self.spread))

    def _place(
        self, x: Array, frames: NDArray[np.int64], objective: Objective, active: NDArray[np.bool_], radius: Array,
        last: _Place | None = None,
    ) -> _Place:  # fmt: skip
        """Return the surface next to x (B, D); `last`: a place nearby, as free directions show on the surface only."""
        shapes, levels, active = self._onto(x, frames, objective, active, last)
        state, whole = shapes.state, shapes.whole
        own = shapes.prior_slope * self.spread
        value = state.value + np.sum(own * levels.back, axis=1)
        off = np.abs(levels.back).max(axis=1, initial=0.0)
        turn = 0
        while True:
            turn += 1
            pulled = levels.least(own)
            bend = self._in_deviations(whole.hessian(active)) + self._sides(
                state.x, pulled, frames, objective, active, whole.held
            )
            flat = levels.axes * ~levels.wall[:, None, :]
            bends, turned = np.linalg.eigh(np.swapaxes(flat, -1, -2) @ bend @ flat + np.eye(len(self.spread)))
            flat = flat @ turned
            fall = _times(np.swapaxes(flat, -1, -2), own)
            projectors = whole.linear.fixed(self.spread, active)[1]
            place = _Place(state.x, value, off, levels.back, flat, fall, bends, active, projectors, whole.held)
            if not self.limits.count or turn == numbers.NEWTON_ROUNDS:
                return place
            step = place.step(radius)[0]
            push = whole.slope + _times(whole.hessian(active), (step - pulled) * self.spread)
            push += step * self.spread * self.stiffness
            changed = whole.linear.revise(active, step * self.spread, push, release=turn <= 2)
            if not changed.any():
                return place
            active = active ^ changed
            levels = self._levels(shapes, active)

    def _onto(
        self, x: Array, frames: NDArray[np.int64], objective: Objective, active: NDArray[np.bool_], last: _Place | None
    ) -> tuple[_Shapes, _Levels, NDArray[np.bool_]]:
        """Return the shapes, levels and active limits on the surface next to x (B, D)."""
        turn = 0
        while True:
            turn += 1
            if last is not None:
                x = self._met_again(x, frames, objective, last)
            shapes = self._shapes(x, frames, objective, active)
            active = shapes.whole.linear.begin(active)
            levels = self._levels(shapes, active, last)
            if turn == _SURFACE_STEPS or np.abs(levels.back).max(initial=0.0) < _ON_SURFACE:
                return shapes, levels if last is None else self._levels(shapes, active), active
            x = self._stepped(shapes.state.x, levels.back)

    def _met_again(self, x: Array, frames: NDArray[np.int64], objective: Objective, last: _Place) -> Array:
        """Return x (B, D) with the firm rows back where they are held: off it they bend all else."""
        links = self.problem.links[frames]
        assert objective.firm is not None
        for _ in range(_SURFACE_STEPS):
            step = self._back(links, links.place(x), objective, frames, objective.firm, last.held, last.projectors)
            x = self._turned(x, step)
            if np.abs(step).max(initial=0.0) < _ON_SURFACE:
                break
        return x

    def _shapes(self, x: Array, frames: NDArray[np.int64], objective: Objective, active: NDArray[np.bool_]) -> _Shapes:
        """Return the shapes at x (B, D), clamped to the limits."""
        links, still = self.problem.links[frames], np.zeros_like(objective.weights)
        alone = Objective(still, objective.aims, np.zeros_like(x), 0)
        state = self._reach(links, x, alone, frames)
        whole, levels = (
            self._shape(links, state, replace(objective, home=home), frames, active) for home in (alone.home, state.x)
        )
        soft = None
        if self.limits.variance.any():
            soft = self._shape(links, state, replace(alone, home=state.x), frames, active)
        return _Shapes(state, whole, levels, soft)

    def _levels(self, shapes: _Shapes, active: NDArray[np.bool_], last: _Place | None = None) -> _Levels:
        """Return the levels' Hessian split into walls and free directions, along the active limits."""
        fixed, projectors = shapes.levels.linear.fixed(self.spread, active)
        hessian, slope = shapes.levels.hessian(active), shapes.levels.slope
        if shapes.soft is not None:
            hessian, slope = hessian - shapes.soft.hessian(active), slope - shapes.soft.slope
        hessian = self._in_deviations(hessian)
        if last is not None:
            across = np.eye(len(self.spread)) - last.axes @ np.swapaxes(last.axes, -1, -2)
            hessian = across @ hessian @ across
        reduced, left = self._reduced(hessian, slope * self.spread, fixed, projectors)
        values, axes = np.linalg.eigh(reduced)
        wall = ~is_flat(values)
        levels = _Levels(fixed, project(projectors, axes), wall, wall / np.where(wall, values, 1.0))
        return replace(levels, back=fixed - levels.least(left[..., 0]))

    def _sides(
        self,
        x: Array,
        pulled: Array,
        frames: NDArray[np.int64],
        objective: Objective,
        active: NDArray[np.bool_],
        held: Array,
    ) -> Array:
        """Return dH (B, D, D) at constant forces of the firm rows: no step is short enough for their weights."""
        frames, active = np.concatenate([frames, frames]), np.concatenate([active, active])
        links = self.problem.links[frames]
        at = links.place(np.concatenate([self._turned(x, side * self.spread) for side in (-pulled, pulled)]))
        weights, aims, m = objective.weights.copy(), objective.aims.copy(), objective.above
        assert objective.firm is not None
        aims[:, :m] = np.where(objective.firm > 0.0, -weights[:, :m] * held, aims[:, :m])
        weights[:, :m] = np.where(objective.firm > 0.0, 1.0, weights[:, :m])
        weights, aims = (np.concatenate([part, part]) for part in (weights, aims))
        both = Objective(weights, aims, np.zeros_like(at.x), 0)
        state = self._state(at, self.limits.measure(at, frames), both, frames)
        ahead, behind = np.split(self._shape(links, state, both, frames, active).hessian(active), 2)
        return 0.5 * self._in_deviations(ahead - behind)

    def _in_deviations(self, hessian: Array) -> Array:
        return hessian * self.spread * self.spread[:, None]


def _times(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., None])[..., 0]
