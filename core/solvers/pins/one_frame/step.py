"""Newton steps of one frame.

Where a level is met its force is whatever keeps E_l = 0, as long as that is less than its strength: the level holds. A
larger force is not to be had: the level slips, and the body comes to rest where its own resistance balances that pull.
In the model (see `objective`) a level that holds is eliminated: its forces are the multipliers that each step solves
for (Nocedal and Wright, Numerical Optimization, 18.1). Across E_l of one that slips W is f_l / |E_l|. Which levels slip
and which limits are active is found in rounds of the same step. It is cut where a level that slips
would go past its target, which the model does not see. A held level is brought back to E = 0 after the step, whose
path is straight where the level's surface is curved (second-order correction, 18.3). The merit is F, with twice the
forces of a firm level that holds and of those below it for its f_l; it has to fall by a share of what the model
promises (4.1), or the next step is shorter.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from .. import numbers
from ..problem import Problem
from ..strengths import FIRM, GIVES, walls
from .limits import Slopes
from .objective import Flags, Local, Objective
from .placed import Placed

FURTHEST: Final = 1.0  # standard deviations of a step
FALLS: Final = 0.25  # least share of what the model promises by which the merit has to fall
LEAST_DAMPED: Final = 0.05  # damping below which the next step has none, and least where the model has no minimum


@dataclass(frozen=True, eq=False)
class Found:
    """A step in deviations, and what it has found."""

    step: Array  # (D,)
    forces: Array  # (M,) of held rows
    held: Array  # (M,) 1 for rows of levels that hold
    back: Array  # (D, M) the step that takes an error of each held row away
    push: Array  # (D,) slope of the model at its end, which bounds balance
    slopes: Slopes
    least: bool  # the model has a least value, to which the step goes


@dataclass(frozen=True, eq=False)
class Trial:
    """A step under the limits that it meets, before it is brought back to what holds."""

    local: Local  # the model with the strengths that levels have by their forces in this step
    found: Found
    there: Placed  # where it ends
    slips: Flags  # (L,) levels that slip in it
    share: float  # of the step, after which a level that slips would go past its target; 1 if none would
    most: float  # of that, after which it is too long; 1 if it is not

    @property
    def cut(self) -> bool:
        """Whether it ends at the target of a level that slips."""
        return self.share < 1.0 <= self.most

    @property
    def whole(self) -> bool:
        """Whether it goes to the least value of the model."""
        return self.found.least and self.share >= 1.0 <= self.most


@dataclass(frozen=True, eq=False)
class End:
    """The end of a step."""

    at: Placed
    forces: Array  # (M,)
    slips: Flags  # (L,)
    strengths: Array  # (L,)
    cut: bool  # at the target of a level that slips, which may hold there
    whole: bool  # it went to the least value of the model
    better: bool  # the merit did not rise
    stiffness: float  # of the model along the step


class NewtonStep:
    """One step from a model, in rounds with other active limits and other levels that slip."""

    def __init__(self, problem: Problem, objective: Objective) -> None:
        self.objective, self.places = objective, objective.places
        self.aims, self.limits = objective.aims, objective.limits
        self.member, self.strength = objective.member, objective.strength
        self.turning, self.spread, self.stiff = objective.turning, objective.spread, objective.stiff
        self.deviations: list[list[float]] = self.spread[: self.turning].reshape(-1, 3).tolist()
        self.bends = np.zeros(len(self.spread))  # the sides to which joints bend rather, in deviations
        if problem.bends is not None:
            self.bends[: self.turning] = problem.bends * self.stiff[: self.turning]
        self.eye = np.eye(len(self.spread))
        self.levels = problem.rows.levels

    def turned(self, step: Array) -> float:
        """Return by how much a step (D,) turns the joint that turns most, radians."""
        turns = step[: self.turning].reshape(-1, 3)
        return sqrt(max((turns * turns).dot(rotation.ONES).tolist(), default=0.0))

    def take(self, local: Local, slipped: Flags, least: Array, turn: float, exact: Array | float) -> End:
        """Return a step that turns no joint by more than `turn`, and leaves errors (M,) of held rows up to `exact`.

        slipped: the levels (L,) that did in the last step; least: strengths (L,), which only grow while targets stay.
        The active limits are then those of the step.
        """
        at = local.at
        trial = self._rounds(local, slipped, least, turn)
        local, found, there, slips = trial.local, trial.found, trial.there, trial.slips
        loads = np.where(slips, local.strengths, self.aims.sizes(found.forces))
        weights = np.where(self.strength.firm, walls(loads, local.strengths), local.strengths)
        # as the model has it; a step that was cut is not brought to its goals, but keeps the first level
        moved = (there.x - at.x) * self.stiff
        left = at.rows - local.rows.dot(moved)
        held = found.held if moved.dot(moved) > 0.99 * found.step.dot(found.step) else found.held * self.member[:, 0]
        there = self.places.inside(there)
        before, after = (self.objective.merit(some, weights, local.springs) for some in (at, there))
        for _ in range(numbers.ROUNDS // 2):
            missing: Array = (there.rows - left) * held
            more = found.back.dot(missing)
            if not np.count_nonzero(np.abs(missing) > exact) or more.dot(more) > FURTHEST**2:
                break
            other = self.places.inside(self.places.place(there.x + more * self.spread))
            new = self.objective.merit(other, weights, local.springs)
            if new >= after:
                break
            there, after = other, new
        turned = self.turned(there.x - at.x)
        if turned > turn:  # corrections turn joints, too
            there = self.places.inside(self.places.place(at.x + (there.x - at.x) * (turn / turned)))
            after = self.objective.merit(there, weights, local.springs)
        noise = numbers.DAMPING * (1.0 + before) + float(weights[~slips].sum()) * float(np.max(exact, initial=0.0))
        unseen = float(weights.dot(np.maximum(there.sizes - self.aims.sizes(left), 0.0)))  # by the model
        better = after <= before - FALLS * max(before - after + unseen, 0.0) + noise
        stiffness = 0.0 if better else self._stiffness(local, found, slips)
        forces = self._forces(there, local, found, slips)
        return End(there, forces, slips, local.strengths, trial.cut, trial.whole, better, stiffness)

    def _rounds(self, local: Local, slipped: Flags, least: Array, turn: float) -> Trial:
        """Return the step under the limits that it meets.

        Levels that slipped in the last step do so from the first round on, unless one would go past its target.
        """
        active, counts, none = dict(self.limits.active), local.counts.copy(), np.zeros(len(local.at.sizes), bool)
        slipped = slipped & (local.at.sizes > GIVES)
        trial = self._rounds_from(local, least, turn, slipped)
        if slipped.any() and trial.cut:
            self.limits.active = active
            trial = self._rounds_from(replace(local, counts=counts), least, turn, none)
        return trial

    def _rounds_from(self, local: Local, least: Array, turn: float, slips: Flags) -> Trial:
        """See `_rounds`; some levels slip from the first round on."""
        last = numbers.ROUNDS + len(slips) - 1
        for round_ in range(last + 1):
            found = self.least(local, slips)
            sizes = self.aims.sizes(found.forces)
            strengths = np.maximum(self.strength(np.where(slips, np.inf, sizes)), least)
            local = replace(local, strengths=strengths, springs=GIVES / strengths)
            loads = np.where(slips, 0.0, sizes / local.strengths)
            breaking = loads.max() > 1.0
            further = max(int(slips.sum()) - 1, 0)  # levels that slip: each takes a round of its own
            release = round_ - further < numbers.ROUNDS // 2
            switched = self._switched(local, found, slips, release)
            if round_ < last and (breaking or len(switched)):
                local.counts[switched] = 1.0 - local.counts[switched]
                if breaking:
                    slips[loads.argmax()] = True  # it may be what breaks others
                continue
            share = self._share(local, found, slips)
            step = share * found.step
            most = FURTHEST / max(sqrt(step.dot(step)), FURTHEST)
            if turn < np.inf:
                most = min(most, turn / max(self.turned(step * self.spread), numbers.DAMPING))
            step *= most
            there = self.places.place(local.at.x + step * self.spread)
            if round_ == last:
                break
            if self.limits.activate(there):
                continue
            held_by = len(self.limits.active)
            if found.slopes and release:
                self.limits.release(found.push * self.stiff, found.slopes)
            if len(self.limits.active) == held_by:
                break
        return Trial(local, found, there, slips, share, most)  # pyright: ignore[reportPossiblyUnboundVariable]

    def _share(self, local: Local, found: Found, slips: Flags) -> float:
        """Return the share of a step after which a level that slips would go past its target."""
        if not slips.any():
            return 1.0
        errors, gone = local.at.rows * local.counts, local.rows.dot(found.step)
        along, length = (errors * gone).dot(self.member), (gone * gone).dot(self.member)
        past = slips & (along > (errors * errors).dot(self.member)) & (local.at.sizes > GIVES)  # nearer it is a spring
        return float((along[past] / length[past]).min(initial=1.0))

    def _switched(self, local: Local, found: Found, slips: Flags, release: bool) -> NDArray[np.int64]:
        """Return the one-sided rows that the step does not keep, and those that pull back, if these are released.

        Where their level slips those count that are not kept, or just so, now.
        """
        sided = self.aims.sided
        if not len(sided):
            return sided
        on, slipping = local.counts[sided] > 0.0, self.member[sided].dot(slips) > 0.0
        errors = local.at.rows[sided]
        pressed = np.where(on, found.forces[sided] < 0.0, errors - local.rows[sided].dot(found.step) < 0.0)
        pressed = np.where(slipping, errors < GIVES, pressed)  # also at the bound, where it has just given way
        return sided[(pressed != on) & (release | pressed | slipping)]

    def least(self, local: Local, slips: Flags) -> Found:
        """Return the step to the least value of the model along the active limits that takes the held errors away."""
        at, rows = local.at, local.rows
        shares = 1.0 + FIRM * local.springs
        # a least value across held levels, too, by springs that take a share of their forces
        weights = np.where(slips, local.strengths / np.maximum(local.at.sizes, GIVES), FIRM / shares)
        by_row = self.member.dot(weights) * local.counts
        model: Array = (rows.T * by_row).dot(rows) + local.hessian
        for level in np.flatnonzero(slips).tolist():  # a norm has no curvature along itself
            span, size = self.levels[level], max(float(local.at.sizes[level]), GIVES)
            along = (at.rows * local.counts)[span].dot(rows[span]) * (np.sqrt(weights[level]) / size)
            model -= along[:, None] * along
        slope = local.slope - (by_row * at.rows).dot(rows)
        held: Array = self.member.dot(~slips) * local.counts
        kept = rows * held[:, None]
        slopes = self.limits.slopes(at, local.rates, self.limits.active)
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
        free = sides[:, 1:].T
        across = model + free.T.dot(free / numbers.DAMPING)  # where levels hold nothing moves
        least = _has_least(across - numbers.NEARLY * self.eye)  # flatter, a solve finds none
        if not least:
            falls, ways = np.linalg.eigh(across)
            buckles = self._aside(ways[:, 0], slope)
            more = max(-2.0 * float(falls[0]), LEAST_DAMPED) * self.eye
            model, whole = model + more, whole + more
        solved: Array = np.linalg.solve(model, sides)
        gap: Array = at.rows * held + free.dot(solved[:, 0]) - kept.dot(fixed)
        gram: Array = free.dot(solved[:, 1:])
        gram.ravel()[:: len(gram) + 1] += self.member.dot(local.springs * shares) + 1.0 - held
        for joint, projector in projectors.items():
            span = slice(3 * joint, 3 * joint + 3)
            solved[span] = projector.dot(solved[span])
        inverse: Array = np.linalg.inv(gram)
        multipliers, back = inverse.dot(gap), solved[:, 1:].dot(inverse)
        step = back.dot(gap) - solved[:, 0] + fixed + buckles
        push = slope + whole.dot(step) - multipliers.dot(kept)
        return Found(step, multipliers * self.member.dot(shares), held, back, push, slopes, least)

    def _aside(self, way: Array, slope: Array) -> Array:
        """Return a step (D,) along a way of unit length on which the model falls to both sides, to the preferred one.

        Zero where the model's slope has a side already. A straight limb that is pushed in has none: it buckles. Where
        nothing is preferred, either, the joint that turns most turns by a positive angle, as in frames that are alike.
        """
        if abs(float(way.dot(slope))) > numbers.NEARLY:
            return np.zeros_like(way)
        side = float(way.dot(self.bends)) + numbers.NEARLY * float(way[np.abs(way).argmax()])
        return way * np.copysign(FURTHEST, side)

    def _forces(self, at: Placed, local: Local, found: Found, slips: Flags) -> Array:
        """Return the forces (M,) of a step at a place: those that hold, and the pull there of levels that slip."""
        pulls = self.objective.pulls(at.sizes, slips, local.strengths)
        return np.where(found.held > 0.0, found.forces, pulls * self.aims.pressing(at.rows))

    def _stiffness(self, local: Local, found: Found, slips: Flags) -> float:
        """Return the second derivative of the model along the step, but for the walls of held levels."""
        step, gone = found.step, local.rows.dot(found.step)
        pulls = self.objective.pulls(local.at.sizes, slips & (local.at.sizes > GIVES), local.strengths) * local.counts
        along = float(step.dot(local.hessian).dot(step)) + float((pulls * gone).dot(gone))
        return along / max(float(step.dot(step)), numbers.DAMPING)


def _has_least(hessian: Array) -> bool:
    try:
        np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return False
    return True
