"""Pins and drag: prioritised goals on any bones of a skeleton (CN1420453; Nakamura and Yamane, IEEE TVCG 9(3), 2003).

Each file imports those before it in this list only (`tests/test_layers.py`):

`tree`, `prior`, `limits`, `goals`   links and their Jacobian, the prior, bounds, errors and rows of goals
`settings`, `problem`                what is asked: frozen data
`strengths`, `progress`              forces of levels, and what is known of frames
`one_frame`                          Newton steps, frame by frame
`many_frames`                        least-squares steps of motions
`starts`, `pipeline`                 the stages of a solve: start, steps, other starts, unlock, rest, refit
`drag`                               a problem and its state, solved again and again while its targets move
`explain`                            why a goal is missed
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...goals import AnyGoal
from ...pose import Pose
from ...skeleton import Skeleton
from ...solution import Reasons, Solution
from ...steps import Progress, no_progress
from .drag import Drag
from .explain import explained
from .problem import Problem
from .settings import ROOTS as ROOTS
from .settings import Root as Root
from .settings import Settings


@dataclass(frozen=True, eq=False)
class PinAndDrag(Settings):
    """The pins solver as a method for `solve`; `Settings` says what its settings are."""

    def prepare(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> Drag:
        """Return a problem that can be solved again and again while its targets move, as in a drag.

        Raises CoreError if pose, goals and settings do not fit the skeleton or each other.
        """
        return Drag(self, Problem.of(self, skeleton, pose, goals))

    def solve(
        self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal], progress: Progress = no_progress
    ) -> Solution:
        """Return the solution of one or many frames; see `core.solve`."""
        progress(0.0)
        solution = self.prepare(skeleton, pose, goals).solve()
        progress(1.0)
        return solution

    def explain(self, skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> Reasons:
        """Return what says in sentences why a goal is missed in `pose`, one frame; nothing if it is met."""
        return explained(Problem.of(replace(self, reference=None), skeleton, pose, goals))
