"""Newton steps of one frame, until it rests: damping, what is active and what slips from step to step. See `step`."""

import numpy as np

from .... import rotation
from ....rotation import Array
from .. import numbers
from ..goals.rows import GoalRows
from ..problem import Problem
from ..strengths import GIVES
from ..tree import Links
from .objective import Flags, Objective
from .placed import Placed
from .places import Places
from .step import LEAST_DAMPED, NewtonStep

Kept = tuple[Placed, Array, Flags, Array, dict[int, float]]  # where a frame is and what it knows


class FrameSolver:
    """The steps of one frame of a problem."""

    def __init__(self, problem: Problem, links: Links, frame: int) -> None:
        self.places = Places(problem, links, frame)
        self.aims, self.limits = self.places.aims, self.places.limits
        self.objective = Objective(problem, self.places)
        self.newton = NewtonStep(problem, self.objective)
        self.turning, self.spread = problem.tree.turning, problem.prior.spread
        self.largest_turn = problem.settings.turn if problem.dragged else np.inf
        self.tolerances = problem.tolerances
        self.by_row = np.repeat(problem.tolerances[self.aims.blocks], 3)
        self.tried = False  # other starts, since targets moved

    def begin(self, x: Array) -> None:
        """Begin at x (D,), before any force is known."""
        self.limits.forget()
        self.forces: Array = np.zeros(len(self.aims.member))
        self.slips: Flags = np.zeros(self.aims.member.shape[1], bool)
        self.least: Array = np.zeros(len(self.slips))  # strengths, which only grow while targets stay
        self.at = self.places.inside(self.places.place(x))

    def state(self) -> Kept:
        """Return where the frame is and what it knows, for `restore`."""
        return self.at, self.forces, self.slips, self.least, dict(self.limits.active)

    def restore(self, kept: Kept) -> None:
        """Go back to where the frame was."""
        self.at, self.forces, self.slips, self.least, self.limits.active = kept

    def resume(self, other: "FrameSolver") -> None:
        """Go on here with what a frame of the same goals knows; where limits have moved is seen in the next step."""
        _, self.forces, self.slips, self.least, active = other.state()
        self.tried, rows = other.tried, range(len(self.limits.lower))
        self.limits.active = {row: bound for row, bound in active.items() if row in rows} | self.limits.active

    def fit(self, links: Links) -> None:
        """Take over other links of the problem."""
        self.places.fit(links)
        self.at = self.places.place(self.at.x)

    def unlock(self, x: Array | None = None) -> bool:
        """Bend all joints that a limit holds the other way, by a step, or at x (D,); return whether there are any."""
        limits, active = self.limits, self.limits.active
        bends = 2.0 * self.newton.bends * self.spread  # from so far back to so far on
        bent = limits.bent(self.at, self.places.rates(self.at), bends)
        if not bent:
            return False
        if x is None:
            soft, locked = limits.soft, limits.locked
            limits.soft, limits.active, limits.locked = soft.without(bent), active | bent, locked | bent.keys()
            local = self.objective.model(self.at, self.forces, self.slips, bend=False)
            x = self.newton.take(local, self.slips, self.least, np.inf, GIVES).at.x
            limits.locked, limits.soft = locked, soft
        else:
            x = x.copy()
            for joint in {limits.owner[row] for row in bent}:
                x[3 * joint : 3 * joint + 3] = bends[3 * joint : 3 * joint + 3]
        self.begin(x)
        return True

    def descend(self, goals: GoalRows, most: int, still: float, begun: Array | None = None) -> tuple[int, bool]:
        """Take at most `most` steps, until one turns every joint by less than `still`; as one that rests.

        goals: the problem's, whose targets may have moved since the last steps; begun: x (D,) where the tick began,
        which turns joints no further than a tick may, or None for any way. Returns the number of steps, and whether
        the body is where it goes: not where `most` or what a tick may turn ended them.
        """
        bound = np.inf if begun is None else self.largest_turn
        rows = self.at.rows
        self.aims.aim(goals)
        if self.newton.turned(self.at.x) > np.pi:
            self.at, begun = self.places.place(unwound(self.at.x, self.turning)), None
        self.aims.compare(self.at)
        damping, steps, bent, begun = 0.0, 0, False, self.at.x if begun is None else begun
        moved = float(np.abs(self.at.rows - rows).max(initial=0.0))  # of the targets
        if moved:
            self.least, self.tried = np.zeros(len(self.slips)), False
        turn = bound * max(1.0, moved / numbers.CENTIMETRE)
        # a tick under the mouse, from which the next one goes on, need not be more exact than its goals
        exact = 0.5 * self.by_row * self.aims.scales
        as_near_as_can_be = still <= numbers.NEWTON_RESTS
        live = turn < np.inf and not as_near_as_can_be
        self.limits.allow(numbers.NEARLY if live else numbers.DAMPING)
        if not live:  # steps from outside, back to the bounds, would go up
            exact, self.at = GIVES, self.places.inside(self.at)
        while steps < most:
            left = turn - self.newton.turned(self.at.x - begun) if turn < np.inf else turn
            if left < numbers.NEWTON_RESTS:
                return steps, False
            steps += 1
            self.limits.begin(self.at)
            active, blind = dict(self.limits.active), not self.forces.any()
            local = self.objective.model(self.at, self.forces, self.slips, bend=as_near_as_can_be)
            local.hessian.ravel()[:: len(self.spread) + 1] += damping
            end = self.newton.take(local, self.slips, self.least, left, exact)
            went = end.at.x - self.at.x
            turned = max(self.newton.turned(went), float(np.abs(went[self.turning :]).max(initial=0.0)))
            newton = end.better and end.whole and not (damping or end.slips.any())
            # what a step under the mouse leaves of a pose that meets its goals, the next tick takes
            met = live and newton and bool((np.abs(self.aims.pressing(end.at.rows)) <= exact).all())
            rests = met or turned < (still if newton else min(still, 2.0 * numbers.ROTATION_TOLERANCE))  # side to side
            # the curvature of forces, and limits and levels that have just changed, may show a way on
            same = self.limits.active.keys() == active.keys() or turned < numbers.NEWTON_RESTS
            seen = not (blind and end.forces.any()) and not end.cut and bool((end.slips == self.slips).all())
            done = rests and not (damping and end.better) and same and seen
            if end.better:
                self.at, self.forces, self.least = end.at, end.forces, end.strengths
                if end.cut:  # it pulled as hard as it can, and will with less
                    self.forces = self.objective.holding(self.at)
                else:
                    self.slips = end.slips
                damping = 0.125 * damping if damping > LEAST_DAMPED else 0.0
            else:
                self.limits.active = active
                damping = max(1.0, end.stiffness, 4.0 * damping)
            if done and not bent:
                bent, reached = True, bool((self.aims.lengths(self.at) <= self.tolerances).all())
                done = not self._gives_way(turn - self.newton.turned(self.at.x - begun))
                if reached and live and not done:
                    return steps, False  # the next tick goes on
            if done or damping * numbers.DAMPING > 1.0:
                break
        return steps, steps < most

    def _gives_way(self, turn: float) -> bool:
        """Take a step that bends joints which a limit holds straight, or bent back, if what is minimised falls.

        Not the merit, which may rise by what a tick leaves of its goals: knees would bend and straighten for ever.

        A knee that is not bent does not show that a leg which is pushed in would be nearer with it: see the `bends` of
        the settings. The step takes it over to the other side, if the model falls there. It is as exact as one that
        rests: what firm levels are off would outweigh what it gains.
        """
        limits, bends = self.limits, 2.0 * self.newton.bends  # from so far back to so far on
        active, locked = limits.active, limits.locked
        bent = limits.bent(self.at, self.places.rates(self.at), bends * self.spread)
        if not bent:
            return False
        soft = limits.soft
        limits.soft = soft.without(bent)  # bent so far they are within them
        local = self.objective.model(self.at, self.forces, self.slips, bend=False)
        limits.active, limits.locked = active | bent, locked | bent.keys()
        falls = (self.newton.least(local, self.slips).push * bends)[: self.turning].reshape(-1, 3).sum(axis=1) < 0.0
        bent = {row: bound for row, bound in bent.items() if falls[limits.owner[row]]}
        limits.active = active | bent
        end = self.newton.take(local, self.slips, self.least, turn, GIVES) if bent else None
        limits.locked, limits.soft = locked, soft
        if end is None or self.objective.value_at(end.at) >= self.objective.value_at(self.at):
            limits.active = active
            return False
        limits.active = {row: bound for row, bound in limits.active.items() if row not in bent}
        self.at, self.forces, self.slips, self.least = end.at, end.forces, end.slips, end.strengths
        return True


def unwound(x: Array, turning: int) -> Array:
    """Return x (D,) with joints that are more than half a turn away turned the short way round: the same pose.

    Else what is minimised would depend on the way to a pose, too.
    """
    lengths = rotation.lengths(x[:turning].reshape(-1, 3))
    turns = np.rint(lengths / (2.0 * np.pi))
    result = x.copy()
    result[:turning] *= np.repeat(1.0 - turns * 2.0 * np.pi / np.where(turns > 0.0, lengths, 1.0), 3)
    return result
