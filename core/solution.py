"""What came of a solve, and why."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .goals import AnyGoal, Goal
from .pose import Pose, forward
from .rotation import Array
from .skeleton import Skeleton

_STRETCHED: Final = 0.999  # share of a chain's length at which it counts as fully stretched
_MANY: Final = 3  # limits named in one sentence


@dataclass(frozen=True, eq=False)
class Solution:
    """The pose and how well it does; leading axes are the batch of the pose that was given.

    position_error (..., G) in armature units, rotation_error (..., G) in radians, 0 where the goal does not ask;
    iterations (...), converged (...): every goal within tolerance;
    limit_names: every limit as (bone, axis), and limits_active (..., K) which of them held the pose back.
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
    limit_names: tuple[tuple[int, str], ...] = ()
    limits_active: NDArray[np.bool_] | None = None
    start: Pose | None = None
    brought_in: NDArray[np.bool_] | None = None
    method: Any = None

    def reshape(self, batch_shape: tuple[int, ...]) -> "Solution":
        """The same with other leading axes."""
        drop = self.iterations.ndim

        def shaped(array: NDArray[Any]) -> NDArray[Any]:
            return array.reshape(batch_shape + array.shape[drop:])

        active = self.limits_active
        return replace(
            self,
            pose=self.pose.reshape(batch_shape),
            position_error=shaped(self.position_error),
            rotation_error=shaped(self.rotation_error),
            iterations=shaped(self.iterations),
            converged=shaped(self.converged),
            limits_active=None if active is None else shaped(active),
        )

    def met(self) -> NDArray[np.bool_]:
        """(..., G) which goals are within tolerance."""
        near = self.position_error <= self.position_tolerance
        return near & (self.rotation_error <= self.rotation_tolerance)

    def explain(self) -> list[str]:
        """A sentence for each unmet goal: how far off it is, in which frame of the batch at worst, what stopped it."""
        met = self.met().reshape(-1, len(self.goals))
        errors = self.position_error.reshape(met.shape)
        turns = self.rotation_error.reshape(met.shape)
        sentences: list[str] = []
        for index, goal in enumerate(self.goals):
            if met[:, index].all():
                continue
            score = errors[:, index] / self.position_tolerance + turns[:, index] / self.rotation_tolerance
            worst = int(np.argmax(score))
            short: list[str] = []
            if errors[worst, index] > self.position_tolerance:
                short.append(f"{errors[worst, index]:.3g} short")
            if turns[worst, index] > self.rotation_tolerance:
                short.append(f"turned {np.degrees(turns[worst, index]):.1f} degrees off")
            where = f" at step {worst}" if len(met) > 1 else ""
            reasons = self.reasons(index, worst)
            name = self.skeleton.names[self.skeleton.index(goal.bone)]
            sentences.append(f"{name} is {' and '.join(short)}{where}" + (f": {', '.join(reasons)}" if reasons else ""))
        return sentences

    def reasons(self, index: int, frame: int = 0) -> list[str]:
        """What keeps goal `index` from being met in one frame of the flat batch: limits, full extension."""
        chain = set(self.skeleton.ancestors(self.skeleton.index(self.goals[index].bone)))
        active: NDArray[np.bool_] | list[bool] = []
        if self.limits_active is not None and self.limit_names:
            active = self.limits_active.reshape(-1, len(self.limit_names))[frame]
        hit = [
            f"{self.skeleton.names[bone]} at its {axis} limit"
            for (bone, axis), on in zip(self.limit_names, active, strict=True)
            if on and bone in chain
        ]
        reasons = hit[:_MANY] + ([f"{len(hit) - _MANY} more limits"] if len(hit) > _MANY else [])
        if not any(self.skeleton.movable[bone] or self.skeleton.translatable[bone].any() for bone in chain):
            reasons.append("no bone that carries it may be changed")
        reasons += [
            f"another goal wants {self.skeleton.names[bone]} elsewhere"
            for other, goal in enumerate(self.goals)
            for bone in [self.skeleton.index(goal.bone)]
            if other != index and bone == self.skeleton.index(self.goals[index].bone) and self._same_kind(index, other)
        ][:1]
        return reasons + self._stretched(index, frame)

    def _same_kind(self, one: int, two: int) -> bool:
        """Whether two goals of a bone can contradict each other: both positions of one point, or both rotations."""
        a, b = self.goals[one], self.goals[two]
        turned = a.rotation is not None and b.rotation is not None
        placed = a.position is not None and b.position is not None
        return turned or (placed and bool(np.array_equal(a.point, b.point)))

    def _stretched(self, index: int, frame: int) -> list[str]:
        """Other goals to which the chain from this goal is straight."""
        goal = self.goals[index]
        if goal.position is None:
            return []
        batch = self.pose.batch_shape
        pose = self.pose[np.unravel_index(frame, batch)] if batch else self.pose
        heads, _ = forward(self.skeleton, pose)
        here = self.skeleton.index(goal.bone)
        chain = self.skeleton.ancestors(here)
        reasons: list[str] = []
        for other, rival in enumerate(self.goals):
            if other == index or rival.position is None:
                continue
            there = self.skeleton.index(rival.bone)
            theirs = self.skeleton.ancestors(there)
            shared = next((bone for bone in chain if bone in theirs), None)
            if shared is None or shared in (here, there):
                continue
            path = chain[: chain.index(shared) + 1] + theirs[: theirs.index(shared)][::-1]
            length = float(np.sum(np.linalg.norm(np.diff(heads[path], axis=0), axis=-1)))
            if np.linalg.norm(heads[here] - heads[there]) > _STRETCHED * length:
                verb = "pinned" if rival.priority < goal.priority else "held"
                reasons.append(f"fully stretched from {self.skeleton.names[there]}, which is {verb}")
        return reasons
