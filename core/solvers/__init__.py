"""Solvers, one folder each. A method is a frozen set of settings with a function `solve`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..errors import CoreError
from ..goals import AnyGoal
from ..pose import Pose
from ..skeleton import Skeleton
from ..solution import Solution
from ..steps import Progress, no_progress
from .batches import check_inputs
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
            "The goals' numbers are too far apart to be solved; is a point or target in other units?"
        ) from error


__all__ = ["ContributionCCD", "Method", "PinAndDrag", "SeveralChains", "solve"]
