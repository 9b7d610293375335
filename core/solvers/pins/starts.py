"""Other starts for frames that miss a goal, whose limbs stayed straight or that went astray: a local minimum is no end.

First the preferred bends, since a straight limb does not know which way to go; then the reference, for what has turned
far away from it; then the middle of every limit; then anywhere within them. The starts are the same for all frames: an
answer is a frame's own, whatever batch it is in.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from . import numbers

if TYPE_CHECKING:
    from .one_frame import FrameSolver
    from .problem import Problem
    from .progress import Progress

_ASTRAY: Final = np.radians(90.0)  # turn of a joint from the reference
_BATCH: Final = 8  # frames times starts that are tried together
_STEPS: Final = 70  # largest number of steps from a start


class Restarts:
    """`bends` (3 R,) of the problem's joints, about the axes of x; None: no joint has one."""

    def __init__(self, problem: "Problem", bends: Array | None) -> None:
        self.problem: Problem = proxy(problem)  # which has this one: arrays are not to wait for Python to find circles
        self.limits = problem.limit_rows
        self.bends = bends
        self.turning = problem.tree.turning

    def bent(self, progress: "Progress") -> "Progress":
        """The same with the preferred bends tried in frames that miss a goal, and in those that hold a limb straight.

        The former go on from what was progress, the latter from the reference with these limbs well bent: for their
        sake the rest of the body has gone out of its way.
        """
        if self.bends is None:
            return progress
        missed = np.flatnonzero(~self.problem.met(progress))
        progress = self._from(progress, missed, progress.x[missed, : self.turning] + self.bends)
        straight = self._held(progress) & self.bends.reshape(-1, 3).any(axis=1)
        held = np.flatnonzero(straight.any(axis=1))
        if not len(held):
            return progress
        middle = self.limits.draw(np.zeros_like(progress.x[held]), held, np.full((straight.shape[1], 3), 0.5))
        return self._from(progress, held, middle[:, : self.turning] * np.repeat(straight[held], 3, axis=1))

    def returned(self, progress: "Progress", begun: Array) -> "Progress":
        """The same with frames tried from the reference in which a joint is more than a quarter turn away from it.

        But for those that have `begun` there, (B, D).

        A limb whose end is known by its place alone may come to it the wrong way round, and so may the whole body.
        """
        if not self.problem.method.starts:
            return progress
        turns = np.linalg.norm(progress.x[:, : self.turning].reshape(len(progress.x), -1, 3), axis=-1)
        if self.bends is not None:  # elbows and knees may bend so far
            turns[:, self.bends.reshape(-1, 3).any(axis=1)] = 0.0
        astray = np.flatnonzero((turns > _ASTRAY).any(axis=1) & begun.any(axis=1))
        return self._from(progress, astray, np.zeros((len(astray), self.turning)))

    def _from(self, progress: "Progress", left: NDArray[np.int64], turns: Array) -> "Progress":
        """The same with another start tried in the frames `left`, their joints at `turns` (n, 3 R)."""
        if not len(left):
            return progress
        begin = self._begun(progress.x[left], left, turns)
        return self._better(progress, left, self.problem.iterate(begin, left, _STEPS))

    def elsewhere(self, progress: "Progress") -> "Progress":
        """The same with further starts tried in frames that miss a goal, as many as the method has."""
        generator = np.random.default_rng(0)
        starts = [self._another(generator, attempt) for attempt in range(self.problem.method.starts)]
        while starts:
            left = np.flatnonzero(~self.problem.met(progress))
            if not len(left):
                break
            several = max(1, _BATCH // len(left))  # a step costs nearly the same for many as for one
            now, starts = starts[:several], starts[several:]
            frames = np.tile(left, len(now))
            begin = np.concatenate([self._begun(progress.x[left], left, *start) for start in now])
            others = self.problem.iterate(begin, frames, _STEPS)
            for number in range(len(now)):  # in this order: a batch gives the answers of single frames
                progress = self._better(progress, left, others[np.arange(len(left)) + number * len(left)])
        return progress

    def bent_frame(
        self, frame: "FrameSolver", x: Array, used: int, active: NDArray[np.bool_]
    ) -> tuple[Array, int, NDArray[np.bool_]]:
        """As `bent`, in the lean form, of a frame that misses a goal."""
        if self.bends is None:
            return x, used, active
        bent = x.copy()
        bent[: self.turning] += self.bends
        return frame.better_of(x, bent, used, active)

    def _held(self, progress: "Progress") -> NDArray[np.bool_]:
        """(B, R) joints at a limit."""
        held = np.zeros((len(progress.x), self.turning // 3), bool)
        for row in np.flatnonzero(self.limits.real).tolist():
            held[:, self.limits.joint[row]] |= progress.active[:, row]
        return held

    def _better(self, progress: "Progress", left: NDArray[np.int64], other: "Progress") -> "Progress":
        """`progress` with what is better of `other` in the frames `left`: nearer, or as near and less bent."""
        problem = self.problem
        progress.iterations[left] += other.iterations
        before = progress[left]
        had, has = problem.met(before), problem.met(other)
        costs = [some.costs @ problem.level_weights for some in (other, before)]
        strains = [problem.strain(some.x) for some in (other, before)]
        nearer, easier = (new < numbers.WORTH_RESTART * old for new, old in (costs, strains))
        better = np.flatnonzero(np.where(had, has & easier, has | nearer))
        progress.put(left[better], replace(other[better], iterations=before.iterations[better]))
        return progress

    def _another(self, generator: np.random.Generator, attempt: int) -> tuple[Array, Array]:
        """Turns (3 R,) of the joints without limits and where (R, 3) in their limits the others are."""
        joints = self.turning // 3
        if not attempt and self.limits.real.any():
            return np.zeros(self.turning), np.full((joints, 3), 0.5)
        turns = np.sqrt(self.problem.variance[: self.turning]) * generator.normal(size=self.turning)
        return turns, generator.random((joints, 3))

    def _begun(self, x: Array, frames: NDArray[np.int64], turns: Array, shares: Array | None = None) -> Array:
        """Frames at x with their joints at another start, within the limits."""
        result = x.copy()
        result[:, : self.turning] = turns
        if shares is not None:
            result = self.limits.draw(result, frames, shares)
        return self.problem.clamped(result, frames)
