"""Restart from other poses when a goal is missed, a limb stays straight or a joint turns too far.

First with the preferred bends, since a straight limb has no direction to bend in; then from the reference, for joints
far away from it; then from the middle of all limits; then from random poses within them. All frames have the same
starts: the solution of a frame does not depend on its batch.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array
from . import numbers

if TYPE_CHECKING:
    from .problem import Problem
    from .progress import Progress

_ASTRAY: Final = np.radians(90.0)  # turn of a joint from the reference
_BATCH: Final = 8  # frames times starts that are tried together
_STEPS: Final = 70  # largest number of steps from a start


class Restarts:
    """Restarts of a problem; bends (3 R,) of its joints about the axes of x, None if no joint has one."""

    def __init__(self, problem: "Problem", bends: Array | None) -> None:
        self.problem: Problem = proxy(problem)  # a weak reference avoids a reference cycle
        self.limits = problem.limit_rows
        self.bends = bends
        self.turning = problem.tree.turning

    def try_bends(self, progress: "Progress") -> "Progress":
        """Try the preferred bends in frames that miss a goal, and in frames with a straight limb at its limit.

        The former start from where they are, the latter from the reference with these limbs well bent: a straight limb
        has pulled the rest of the body along.
        """
        if self.bends is None:
            return progress
        missed = np.flatnonzero(~self.problem.met(progress))
        progress = self._tried(progress, missed, progress.x[missed, : self.turning] + self.bends)
        straight = self._at_limits(progress) & self.bends.reshape(-1, 3).any(axis=1)
        held = np.flatnonzero(straight.any(axis=1))
        if not len(held):
            return progress
        middle = self.limits.draw(np.zeros_like(progress.x[held]), held, np.full((straight.shape[1], 3), 0.5))
        return self._tried(progress, held, middle[:, : self.turning] * np.repeat(straight[held], 3, axis=1))

    def try_reference(self, progress: "Progress", begun: Array) -> "Progress":
        """Try the reference in frames with a joint more than a quarter turn away from it, unless they began there.

        begun (B, D). A limb, or the whole body, may reach a position turned round.
        """
        if not self.problem.method.starts:
            return progress
        turns = np.linalg.norm(progress.x[:, : self.turning].reshape(len(progress.x), -1, 3), axis=-1)
        if self.bends is not None:  # elbows and knees may bend so far
            turns[:, self.bends.reshape(-1, 3).any(axis=1)] = 0.0
        astray = np.flatnonzero((turns > _ASTRAY).any(axis=1) & begun.any(axis=1))
        return self._tried(progress, astray, np.zeros((len(astray), self.turning)))

    def _tried(self, progress: "Progress", left: NDArray[np.int64], turns: Array) -> "Progress":
        """Try a start in the frames `left`, with rotation vectors (n, 3 R) of the joints."""
        if not len(left):
            return progress
        begin = self._started(progress.x[left], left, turns)
        return self._better(progress, left, self.problem.iterate(begin, left, _STEPS))

    def try_others(self, progress: "Progress") -> "Progress":
        """Try as many further starts as the method has in frames that miss a goal."""
        generator = np.random.default_rng(0)
        starts = [self._another(generator, attempt) for attempt in range(self.problem.method.starts)]
        while starts:
            left = np.flatnonzero(~self.problem.met(progress))
            if not len(left):
                break
            several = max(1, _BATCH // len(left))  # a step of a few frames costs as much as a step of one
            now, starts = starts[:several], starts[several:]
            frames = np.tile(left, len(now))
            begin = np.concatenate([self._started(progress.x[left], left, *start) for start in now])
            others = self.problem.iterate(begin, frames, _STEPS)
            for number in range(len(now)):  # in this order, so that a batch has the solutions of single frames
                progress = self._better(progress, left, others[np.arange(len(left)) + number * len(left)])
        return progress

    def _at_limits(self, progress: "Progress") -> NDArray[np.bool_]:
        """Return which joints (B, R) are at a limit."""
        held = np.zeros((len(progress.x), self.turning // 3), bool)
        for row in np.flatnonzero(self.limits.real).tolist():
            held[:, self.limits.joint[row]] |= progress.active[:, row]
        return held

    def _better(self, progress: "Progress", left: NDArray[np.int64], other: "Progress") -> "Progress":
        """Take over frames `left` from `other` that are better: nearer to the goals, or as near and less strained."""
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
        """Return rotation vectors (3 R,) for joints without limits and shares (R, 3) of their ranges for the others."""
        joints = self.turning // 3
        if not attempt and self.limits.real.any():
            return np.zeros(self.turning), np.full((joints, 3), 0.5)
        turns = np.sqrt(self.problem.variance[: self.turning]) * generator.normal(size=self.turning)
        return turns, generator.random((joints, 3))

    def _started(self, x: Array, frames: NDArray[np.int64], turns: Array, shares: Array | None = None) -> Array:
        """Return x (n, D) of frames with their joints at another start, within the limits."""
        result = x.copy()
        result[:, : self.turning] = turns
        if shares is not None:
            result = self.limits.draw(result, frames, shares)
        return self.problem.clamped(result, frames)
