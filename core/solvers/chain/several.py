"""Several chains, and pins beside them: each list turns the joints of its chain, then the pins solver goes on.

Chains are solved one after the other. Frames in which a goal is missed then, since a pin is no chain's, or because two
chains share joints, are solved by `PinAndDrag`, which stays near the pose that the lists have made. It turns the joints
of the lists, and what pinned bones hang on; the lists alone decide the root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...defaults import POSITION_TOLERANCE
from ...errors import CoreError
from ...goals import AnyGoal
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton
from ...solution import Reasons, Solution
from ...steps import Progress, no_progress, share_of
from ..batches import batch_shape_of, flat_pose
from ..pins import PinAndDrag
from ..pins.problem import Problem, missing
from .method import ContributionCCD

_TOGETHER: Final = 8  # frames that pins are solved for at once, between two looks at the progress


@dataclass(frozen=True, eq=False)
class SeveralChains:
    """The method for `solve` with several goals, some of which are led by chains.

    chains  place of a goal -> the method that leads it
    pins    serves the other goals, near the pose that the chains make
    """

    chains: Mapping[int, ContributionCCD]
    pins: PinAndDrag

    def solve(
        self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], progress: Progress = no_progress
    ) -> Solution:
        """Return the solution for pose and goals (...).

        Raises CoreError if a chain has no goal, or if its goal, its list or its base do not fit.
        """
        shape = batch_shape_of(goals, pose)
        count = int(np.prod(shape, dtype=int))
        if shape:
            at = np.unravel_index(np.arange(count), shape)
            goals = [goal.at(at, shape) for goal in goals]
        start = found = flat_pose(pose, shape)
        used, outside = np.zeros(count, int), np.zeros(start.rotations.shape[:-1], bool)
        parts = len(self.chains) + 1
        for number, (place, chain) in enumerate(self.chains.items()):
            if place >= len(goals):
                raise CoreError(f"A chain is for goal {place}, but there are {len(goals)}.")
            led = chain.solve(skeleton, found, [goals[place]], share_of(progress, number / parts, (number + 1) / parts))
            found, used, outside = led.pose, used + led.iterations, outside | led.brought_in
        far, off = self._errors(skeleton, found, goals)
        missed = np.flatnonzero(~self._met(skeleton, far, off))
        if len(missed):
            freed, rotations, translations = (
                self._freed(skeleton, goals),
                found.rotations.copy(),
                found.translations.copy(),
            )
            for first in range(0, len(missed), _TOGETHER):
                progress(1.0 - (1.0 - first / len(missed)) / parts)
                some = missed[first : first + _TOGETHER]
                near, wanted = found[some], [goal.at((some,), (count,)) for goal in goals]
                limits = tuple(group.at_frames(some) for group in freed.limits)
                solved = replace(self.pins, reference=near).solve(replace(freed, limits=limits), near, wanted)
                rotations[some], translations[some] = solved.pose.rotations, solved.pose.translations
                used[some] += solved.iterations
            found = replace(found, rotations=rotations, translations=translations)
            far, off = self._errors(skeleton, found, goals)
        return Solution(
            skeleton, tuple(goals), found, far, off, used, self._met(skeleton, far, off), self._tolerance(skeleton),
            self.pins.rotation_tolerance, start, outside, self,
        ).reshape(shape)  # fmt: skip

    def explain(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...]) -> Reasons:
        """Return what tells why a goal is missed: what holds joints of the lists and those that pins turn."""
        return replace(self.pins, reference=None).explain(self._freed(skeleton, goals), pose, goals)

    def _freed(self, skeleton: Skeleton, goals: Sequence[AnyGoal]) -> Skeleton:
        """Return the skeleton in which only joints of lists, and what the other goals hang on, may turn."""
        free = {skeleton.index(one.bone) for chain in self.chains.values() for one in chain.actuations}
        for place, goal in enumerate(goals):
            if place not in self.chains:
                free.update(skeleton.ancestors(skeleton.index(goal.bone)))
        return replace(skeleton, movable=skeleton.movable & np.isin(np.arange(len(skeleton)), list(free)))

    def _errors(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> tuple[Array, Array]:
        return missing(Problem.of(PinAndDrag(limits=False), skeleton, pose, goals))

    def _tolerance(self, skeleton: Skeleton) -> float:
        tolerance = self.pins.position_tolerance
        return POSITION_TOLERANCE * skeleton.size if tolerance is None else float(tolerance)

    def _met(self, skeleton: Skeleton, far: Array, off: Array) -> NDArray[np.bool_]:
        return np.all((far <= self._tolerance(skeleton)) & (off <= self.pins.rotation_tolerance), axis=-1)
