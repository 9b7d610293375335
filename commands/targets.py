"""From a job's goals to core's: where a bone is wanted at each frame, and how far from it a result is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .. import bridge
from ..core import CoreError, Goal, Skeleton, rotation
from ..core.pose import frame_rotations
from ..core.rotation import Array
from .job import Fixed, Followed, Held, JobGoal, Path, Space, Target


@dataclass(frozen=True, eq=False)
class Take:
    """Where everything is at F frames.

    frames (F,); worlds (F, 4, 4) from armature to world space; matrices (F, J, 3, 4) of the bones in armature space;
    objects: matrices (F, 4, 4) in world space of the objects that goals follow.
    """

    frames: Array
    worlds: Array
    matrices: Array
    objects: dict[str, Array] = field(default_factory=dict)

    def positions(self, space: Space, bone: int, point: Array) -> Array:
        """A point of a bone, (F, 3) in a goal's space."""
        own = self.matrices[:, bone]
        places = own[..., :3] @ point + own[..., 3]
        return _some(bridge.armature_to_world(self.worlds, places)[0]) if space == "world" else places

    def rotations(self, space: Space, bone: int) -> Array:
        """A bone's frame, (F, 4) in a goal's space."""
        turns = frame_rotations(self.matrices[:, bone, :, :3])
        return _some(bridge.armature_to_world(self.worlds, None, turns)[1]) if space == "world" else turns

    def object_positions(self, space: Space, name: str) -> Array:
        """The origin of a followed object, (F, 3) in a goal's space."""
        places = self.objects[name][:, :3, 3]
        return places if space == "world" else _some(bridge.world_to_armature(self.worlds, places)[0])

    def object_rotations(self, space: Space, name: str) -> Array:
        """The orientation of a followed object, (F, 4) in a goal's space."""
        turns = rotation.from_matrix(rotation.nearest_rotation(self.objects[name][:, :3, :3]))
        return turns if space == "world" else _some(bridge.world_to_armature(self.worlds, None, turns)[1])


@dataclass(frozen=True, eq=False)
class Wanted:
    """One goal over the frames of `before`, the motion as it was. `at`: the takes of the frames that pins are held at.

    share (F,): 0 where the goal is off, 1 where it is fully on.
    """

    goal: JobGoal
    bone: int
    point: Array
    before: Take
    at: dict[int, Take]
    share: Array

    def positions(self, take: Take) -> Array | None:
        """Where the point is wanted, (F, 3) in the goal's space; followed objects are where `take` has them."""
        target = self.goal.position
        if target is None:
            return None
        space, frames = self.goal.space, self.before.frames
        match target:
            case Held(None):
                return self.before.positions(space, self.bone, self.point)
            case Held(int(at)):
                places = self.at[at].positions(space, self.bone, self.point)
            case Fixed(value):
                places = np.array(value)
            case Followed(name):
                return take.object_positions(space, name)
            case Path(times, points):
                return np.stack([np.interp(frames, times, axis) for axis in np.transpose(points)], axis=-1)
        return np.broadcast_to(places, (len(frames), 3))

    def rotations(self, take: Take) -> Array | None:
        """How the bone is wanted to stand, (F, 4) in the goal's space."""
        target = self.goal.rotation
        if target is None:
            return None
        space, frames = self.goal.space, self.before.frames
        match target:
            case Held(None):
                return self.before.rotations(space, self.bone)
            case Held(int(at)):
                turns = self.at[at].rotations(space, self.bone)
            case Fixed(value):
                turns = np.array(value)
            case Followed(name):
                return take.object_rotations(space, name)
            case Path():
                raise CoreError(f'A path of "{self.goal.bone}" has positions only.')
        return np.broadcast_to(turns, (len(frames), 4))

    def errors(self, after: Take) -> tuple[Array | None, Array | None]:
        """Distances (F,) and angles (F,) in radians between the goal fully on and a result, in the goal's space."""
        space = self.goal.space
        places, turns = self.positions(after), self.rotations(after)
        far = turned = None
        if places is not None:
            far = np.linalg.norm(after.positions(space, self.bone, self.point) - places, axis=-1)
        if turns is not None:
            turned = rotation.angle_between(after.rotations(space, self.bone), turns)
        return far, turned

    def core_goals(self, pins_first: bool) -> list[Goal]:
        """Goals in armature space: one, or two where position and rotation have different priorities."""
        space, worlds = self.goal.space, self.before.worlds
        places, turns = self.positions(self.before), self.rotations(self.before)
        # a goal that blends in leads away from where the motion is
        if np.any(self.share < 1.0):
            if places is not None:
                own = self.before.positions(space, self.bone, self.point)
                places = own + self.share[:, None] * (places - own)
            if turns is not None:
                turns = rotation.slerp(self.before.rotations(space, self.bone), turns, self.share)
        if space == "world":
            places, turns = bridge.world_to_armature(worlds, places, turns)
        weight = self.goal.weight
        if np.any(self.share == 0.0):
            weight = np.where(self.share > 0.0, weight, 0.0)
        by_priority: dict[int, dict[str, Array]] = {}
        for name, target, values in (
            ("position", self.goal.position, places),
            ("rotation", self.goal.rotation, turns),
        ):
            if target is not None and values is not None:
                by_priority.setdefault(self._priority(target, pins_first), {})[name] = values
        return [
            Goal(
                self.goal.bone,
                **targets,
                point=self.point,
                position_weight=weight,
                rotation_weight=weight,
                priority=level,
            )
            for level, targets in by_priority.items()
        ]

    def _priority(self, target: Target, pins_first: bool) -> int:
        if self.goal.priority is not None:
            return self.goal.priority
        return 0 if isinstance(target, Held) == pins_first else 1


def want(goal: JobGoal, skeleton: Skeleton, before: Take, at: dict[int, Take]) -> Wanted:
    """A goal made ready; raises CoreError if the skeleton has no such bone."""
    bone = skeleton.index(goal.bone)
    if goal.point == "head":
        point = np.zeros(3)
    elif goal.point == "tail":
        point = np.array([0.0, skeleton.lengths[bone], 0.0])
    else:
        point = np.array(goal.point, float)
    return Wanted(goal, bone, point, before, at, _share(goal, before.frames))


def followed_objects(goals: Sequence[JobGoal]) -> list[str]:
    """Names of the objects that goals follow."""
    targets = [target for goal in goals for target in (goal.position, goal.rotation)]
    return sorted({target.object for target in targets if isinstance(target, Followed)})


def held_frames(goals: Sequence[JobGoal]) -> list[int]:
    """The frames that pins are held at."""
    targets = [target for goal in goals for target in (goal.position, goal.rotation)]
    return sorted({target.at for target in targets if isinstance(target, Held) and target.at is not None})


def _share(goal: JobGoal, frames: Array) -> Array:
    """(F,) smoothly from 0 to 1 and back over `ease` frames at both ends of the goal's frames."""
    first, last = goal.frames or (frames[0], frames[-1])
    inside = (frames >= first) & (frames <= last)
    if not goal.ease:
        return inside.astype(float)
    t = np.clip(np.minimum(frames - first, last - frames) / goal.ease, 0.0, 1.0)
    return inside * t * t * (3.0 - 2.0 * t)


def _some(array: Array | None) -> Array:
    assert array is not None  # what was given comes back
    return array
