"""Solutions: the pose that a solver found, its errors, and explanations."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from . import rotation
from .causes import Cause, Explanation, Kind
from .errors import CoreError
from .goals import AnyGoal, Balance
from .pose import Pose, PoseBuffer
from .rotation import Array
from .skeleton import Skeleton, is_whole

_MANY: Final = 4  # reasons in one sentence, at most
_LEAST_TURN: Final = np.radians(0.1)  # least rotation of a bone that is named


Reasons = Callable[[int], list[Cause]]  # why a goal is not met, given its index; the greatest first


class Explains(Protocol):
    """A solver that can tell why a goal is not met."""

    def explain(self, skeleton: Skeleton, pose: Pose, goals: tuple[AnyGoal, ...]) -> Reasons:
        """Return what tells why a goal of one pose is not met."""
        ...


@dataclass(frozen=True, eq=False)
class Solution:
    """The pose that a solver found for G goals; leading axes (...) are the batch of the given pose.

    pose                the solved pose (..., J)
    position_error      (..., G) armature units, 0 if the goal has no position
    rotation_error      (..., G) radians, 0 if the goal has no rotation
    iterations          (...)
    converged           (...) all goals are within the tolerances
    start               the given pose
    brought_in          (..., J) bones that the given pose had outside their limits
    limit_names         K limits as (bone, axis)
    limits_active       (..., K) limits that hold the pose back
    finished            (...) `ContributionCCD` needed its least-squares finish
    """

    skeleton: Skeleton
    goals: tuple[AnyGoal, ...]
    pose: Pose
    position_error: Array
    rotation_error: Array
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]
    position_tolerance: float
    rotation_tolerance: float
    start: Pose
    brought_in: NDArray[np.bool_]
    method: Explains
    limit_names: tuple[tuple[int, str], ...] = ()
    limits_active: NDArray[np.bool_] | None = None
    finished: NDArray[np.bool_] | None = None
    # of the last frame that was asked for
    _explained: dict[int, Reasons] = field(init=False, repr=False, default_factory=dict[int, Reasons])

    @property
    def by_frame(self) -> dict[str, NDArray[Any]]:
        """Return the arrays (..., n), by their names."""
        names = ("position_error", "rotation_error", "iterations", "converged")
        names += ("brought_in", "limits_active", "finished")
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    def reshape(self, batch_shape: tuple[int, ...]) -> "Solution":
        """Return the same solution with other leading axes."""
        drop = self.iterations.ndim
        shaped = {name: array.reshape(batch_shape + array.shape[drop:]) for name, array in self.by_frame.items()}
        return replace(self, pose=self.pose.reshape(batch_shape), start=self.start.reshape(batch_shape), **shaped)

    def met(self) -> NDArray[np.bool_]:
        """Return which goals (..., G) are within the tolerances."""
        near = self.position_error <= self.position_tolerance
        return near & (self.rotation_error <= self.rotation_tolerance)

    def turned(self) -> Array:
        """Return the angles (..., J), radians, between the bones' own rotations and those of the start."""
        return rotation.angle_between(self.start.rotations, self.pose.rotations)

    def explain(
        self,
        bones: int = 0,
        say_length: Callable[[float], str] = "{:.3g}".format,
        tacit: Container[int] = (),
        names: Mapping[str, str] | None = None,
        seen: Callable[[Cause], Cause] = lambda cause: cause,
    ) -> list[str]:
        """Return sentences that explain the solution.

        First the bones that started outside their limits; then for each goal that is not met its largest error in the
        batch, with the frame, the reasons and what helps (an `Explanation`); then the `bones` bones with the largest
        rotations. `say_length` formats lengths in armature units; goals that are `tacit` are not explained. `names` has
        other names of bones, and `seen` returns how a cause is told. Raises CoreError if `bones` is no count.
        """
        if not is_whole(bones) or bones < 0:
            raise CoreError(f"explain() names a whole number of bones, not {bones!r}.")
        named = [(names or {}).get(name, name) for name in self.skeleton.names]
        outside = np.flatnonzero(self.brought_in.reshape(-1, len(named)).any(axis=0)).tolist()
        sentences = [f"{named[bone]} was outside its limits and was moved into them" for bone in outside]
        missed = np.flatnonzero(~self.met().reshape(-1, len(self.goals)).all(axis=0)).tolist()
        sentences += [self._sentence(index, say_length, named, seen) for index in missed if index not in tacit]
        sentences += self.explain_finish()
        turned = self.turned().reshape(-1, len(named)).max(axis=0)
        most = [bone for bone in np.argsort(-turned, kind="stable")[:bones].tolist() if turned[bone] > _LEAST_TURN]
        return sentences + [f"{named[bone]} rotated by {np.degrees(turned[bone]):.1f} degrees" for bone in most]

    def explain_finish(self) -> list[str]:
        """Return a sentence if `ContributionCCD` needed its least-squares finish, else none."""
        if self.finished is None or not self.finished.any():
            return []
        count, size = int(self.finished.sum()), self.finished.size
        where = f" in {count} of {size} steps" if size > 1 else ""
        return [f"plain CCD made no further progress{where}: the rest was solved by least squares"]

    def _sentence(
        self, index: int, say_length: Callable[[float], str], names: Sequence[str], seen: Callable[[Cause], Cause]
    ) -> Explanation:
        """Return the sentence about a goal that is not met."""
        errors = self.position_error.reshape(-1, len(self.goals))[:, index]
        turns = self.rotation_error.reshape(-1, len(self.goals))[:, index]
        worst = int(np.argmax(errors / self.position_tolerance + turns / self.rotation_tolerance))
        short: list[str] = []
        if errors[worst] > self.position_tolerance:
            short.append(f"{say_length(float(errors[worst]))} short of its target")
        if turns[worst] > self.rotation_tolerance:
            short.append(f"rotated {np.degrees(turns[worst]):.1f} degrees off")
        goal = self.goals[index]
        name = names[self.skeleton.index(goal.bone)]
        name = f"the balance of {name}" if isinstance(goal, Balance) else name
        missed = f"{name} is {' and '.join(short)}" + (f" at step {worst}" if len(errors) > 1 else "")
        return Explanation(missed, [seen(cause) for cause in self.reasons(index, worst)])

    def reasons(self, index: int, frame: int = 0) -> list[Cause]:
        """Return the reasons why goal `index` is not met in one frame of the flat batch: limits, other goals, reach.

        Raises CoreError if there is no such goal or frame.
        """
        for value, count, what in ((index, len(self.goals), "goal"), (frame, self.iterations.size, "frame")):
            if not is_whole(value) or not 0 <= value < count:
                raise CoreError(f"There is no {what} {value!r}: there are {count}.")
        if frame not in self._explained:
            self._explained.clear()
            self._explained[frame] = self._reasons_at(frame)
        found = self._explained[frame](index)
        if len(found) <= _MANY + 1:  # one more is told as soon as counted
            return found
        return [*found[:_MANY], Cause(Kind.MORE, "", str(len(found) - _MANY))]

    def _reasons_at(self, frame: int) -> Reasons:
        """Return what tells why a goal is not met in one frame of the flat batch."""
        batch = self.pose.batch_shape
        at = np.unravel_index(frame, batch) if batch else ()
        pose = self.pose[at] if batch else self.pose
        goals = tuple(goal.at(at, batch) for goal in self.goals)
        limits = tuple(group.at_frames(np.array([frame])) for group in self.skeleton.limits)
        skeleton = replace(self.skeleton, limits=limits) if batch and limits else self.skeleton
        return self.method.explain(skeleton, pose, goals)


def joined_solutions(
    parts: Iterable[Solution], skeleton: Skeleton, goals: tuple[AnyGoal, ...], start: Pose
) -> Solution:
    """Return the solution of all frames of `start` (F) from solutions of some after the other."""
    poses, arrays, done = PoseBuffer(*start.rotations.shape[:2]), dict[str, list[NDArray[Any]]](), 0
    one = None
    for one in parts:
        count = len(one.pose.rotations)
        poses.put(slice(done, done + count), one.pose)
        done += count
        for name, array in one.by_frame.items():
            arrays.setdefault(name, []).append(array)
    assert one is not None
    joined = {name: np.concatenate(some) for name, some in arrays.items()}
    return replace(one, skeleton=skeleton, goals=goals, pose=poses.pose(), start=start, **joined)
