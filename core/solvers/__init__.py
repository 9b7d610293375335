"""Solvers, one folder each. A method is a frozen set of settings with a function `solve`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..errors import CoreError
from ..goals import AnyGoal
from ..motion import blocks
from ..pose import Pose
from ..skeleton import Skeleton
from ..solution import Solution, joined_solutions
from ..steps import Progress, no_progress, share_of
from .batches import batch_shape_of, check_inputs
from .chain import ContributionCCD, SeveralChains
from .pins import PinAndDrag


class Method(Protocol):
    """A method: the settings of a solver."""

    def solve(
        self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], progress: Progress = no_progress
    ) -> Solution:
        """Return the solution; the inputs stay as they are."""
        ...


def solve(
    skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], method: Method | None = None,
    progress: Progress = no_progress,
) -> Solution:  # fmt: skip
    """Return the solution of goals for a pose, one or many frames (...), by a method; by default `PinAndDrag()`.

    Pose, goals and solution have the same leading axes. An unreachable goal is no error, it is in the Solution. Raises
    CoreError for malformed input, and for goals whose numbers are too far apart. `progress` is called with the share of
    the work that is done and may raise to cancel: by chains frame by frame, by other methods before and after.
    """
    check_inputs(skeleton, pose, goals)
    chosen: object = method
    if not (chosen is None or callable(getattr(chosen, "solve", None))):
        raise CoreError(f"The method must be one like PinAndDrag(), not {method!r:.40}.")
    try:
        return (method or PinAndDrag()).solve(skeleton, pose, goals, progress)
    except np.linalg.LinAlgError as error:
        raise CoreError(
            "The numbers of the goals differ too much to be solved. Does a point or target use other units?"
        ) from error


def solve_in_blocks(
    skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], method: PinAndDrag, progress: Progress = no_progress
) -> Solution:
    """Return what `solve` does for F poses, solved a block of frames after the other, to limit memory.

    `progress`: see `solve`. Goals by velocity need a target by frame.
    """
    shape = batch_shape_of(goals, pose)
    count, reference = len(pose.rotations), method.reference

    def solved(part: slice) -> Solution:
        limits = tuple(group.at_frames(np.arange(count)[part]) for group in skeleton.limits)
        own = method if reference is None else replace(method, reference=reference[part])
        asked = [goal.at((part,), shape) for goal in goals]
        done = share_of(progress, part.start / count, part.stop / count)
        return solve(replace(skeleton, limits=limits), pose[part], asked, own, done)

    return joined_solutions(map(solved, blocks(count)), skeleton, tuple(goals), pose)


__all__ = ["ContributionCCD", "Method", "PinAndDrag", "SeveralChains", "solve", "solve_in_blocks"]
