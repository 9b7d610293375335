"""A problem that is solved again and again while its targets move, as in a drag."""

from collections.abc import Sequence

import numpy as np

from ...errors import CoreError
from ...goals import AnyGoal, Goal
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton, is_whole
from ...solution import Explains, Solution
from . import pipeline
from .goals.targets import check_replacement, checked_target
from .problem import Problem, carried
from .tree import LinkTree


class Drag:
    """A problem and the state of its solve. Each solve goes on from the last one. Not thread-safe."""

    def __init__(self, method: Explains, problem: Problem) -> None:
        self.method, self.problem = method, problem
        self.state = pipeline.begin(problem)

    @property
    def goals(self) -> tuple[AnyGoal, ...]:
        """Return the goals with their targets as they are now."""
        return self.problem.goals

    @property
    def tree(self) -> LinkTree:
        """Return the links that move the goals."""
        return self.problem.tree

    def set_goal(self, index: int, goal: AnyGoal) -> None:
        """Give goal `index` other targets and weights; its bones, kind and priority stay.

        Raises CoreError if there is no such goal, or if the new one differs in more than targets and weights.
        """
        check_replacement(self.problem.skeleton, self._goal(index), goal, index)
        self._check_frames(goal.bone, *goal.batch_shapes())
        self.problem = self.problem.aimed(self.problem.rows.with_goal(index, goal))

    def move(self, index: int, position: Array | None = None, rotation: Array | None = None) -> None:
        """Give goal `index` another position (..., 3), rotation (..., 4) or both, in armature space: a tick of a drag.

        Raises CoreError if the goal has no such target, or if the numbers are no valid one.
        """
        goal = self._goal(index)
        targets: list[Array | None] = []
        for name, target, size in (("position", position, 3), ("rotation", rotation, 4)):
            if target is None:
                targets.append(None)
                continue
            array = checked_target(goal, name, target, size)
            if array.ndim > 1:  # one target is for all frames
                self._check_frames(goal.bone, array.shape[:-1])
            targets.append(array)
        self.problem = self.problem.aimed(self.problem.rows.moved(index, *targets))

    def _check_frames(self, bone: str | int, *shapes: tuple[int, ...]) -> None:
        frames = self.problem.batch_shape
        try:
            fits = np.broadcast_shapes(frames, *shapes) == frames
        except ValueError:
            fits = False
        if not fits:
            raise CoreError(f'The goal of "{bone}" has other frames than those that are solved: {frames}.')

    def _goal(self, index: int) -> AnyGoal:
        if not is_whole(index) or not 0 <= index < len(self.goals):
            raise CoreError(f"There is no goal {index}: there are {len(self.goals)}.")
        return self.goals[index]

    def advance(self, seconds: float) -> None:
        """Move the targets of goals with velocities on by a number of seconds. Raises CoreError for another value."""
        if not isinstance(seconds, (int, float, np.number)) or not np.isfinite(seconds):  # pyright: ignore
            raise CoreError(f"Goals advance by a number of seconds, not by {seconds!r}.")
        for index, goal in enumerate(self.goals):
            if isinstance(goal, Goal):
                self.set_goal(index, goal.moved(seconds))

    def with_goals(self, goals: Sequence[AnyGoal]) -> "Drag":
        """Return a drag with other goals that starts from the last solution: pins come and go without a jump.

        The last solution also becomes the reference, unless the method names one.
        """
        problem = self.problem
        pose = problem.pose_at(self.state.x).reshape(problem.batch_shape)
        return Drag(self.method, Problem.of(problem.settings, problem.skeleton, pose, goals))

    def carried(self, skeleton: Skeleton, pose: Pose, reference: Pose) -> "Drag":
        """Return a drag with the same goals from another pose and reference (J), with the limits of a skeleton.

        As where something else has changed lengths. It goes on with the forces that this one has, in a single frame.
        """
        drag = Drag(self.method, carried(self.problem, skeleton, pose, reference))
        if drag.state.frame is not None and self.state.frame is not None:
            drag.state.frame.resume(self.state.frame)
        return drag

    def solve(self) -> Solution:
        """Return the solution, from the reference if it settles, else from the last one, at first the start pose."""
        return self._through(pipeline.TICK if self.problem.dragged else pipeline.STAGES)

    def relax(self) -> Solution:
        """Return the solution a step nearer to the reference, with the same targets: a drag under a still mouse."""
        return self._through(pipeline.STILL if self.problem.dragged else pipeline.STAGES)

    def _through(self, stages: tuple[pipeline.Stage, ...]) -> Solution:
        problem = self.problem
        self.state = pipeline.run(problem, self.state, stages)
        progress, frame = self.state.progress, self.state.frame
        if problem.dragged and frame is not None:  # which has no batch axis
            positions, rotations = frame.aims.errors(progress.lengths[0])
            pose, met, one = frame.places.pose(frame.at), problem.met(progress.lengths)[0], 0
        else:
            positions, rotations = problem.rows.errors_of_goals(progress.lengths)
            pose, met, one = problem.pose_at(progress.x), problem.met(progress.lengths), slice(None)
        solution = Solution(
            problem.skeleton, problem.goals, pose, positions, rotations, progress.iterations[one], met,
            problem.position_tolerance, problem.settings.rotation_tolerance, problem.given[one],
            problem.brought_in[one], self.method, problem.limit_rows.names,
            progress.active[one, problem.limit_rows.real],
        )  # fmt: skip
        return solution if solution.iterations.shape == problem.batch_shape else solution.reshape(problem.batch_shape)
