"""From a job's goals to core's: the target of each frame, and the distance of a result from it."""

from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import bpy
import numpy as np

from ..core import Balance, CoreError, Distance, Goal, LookAt, Skeleton, rotation
from ..core.body import Roles
from ..core.body.ground import find_footing, find_free_turns, keep_flat
from ..core.body.masses import distance_beyond, masses_of
from ..core.formats import goals as wishes
from ..core.formats.job import Job
from ..core.formats.report import GoalReport
from ..core.goals import SUPPORT_RADIUS
from ..core.rotation import Array
from .evaluation import Evaluation, GoalSpace

_UP: Final = np.array([0.0, 0.0, 1.0])  # in the world
_NOTHING: Final = 1e-9  # length up to which a vector has no direction
_TILT: Final = 1e-6  # change of a unit vector up to which an object does not tilt


AnyWish = TypeVar("AnyWish", bound=wishes.Wish)


class _PreparedGoal(Generic[AnyWish]):
    """A goal for one bone, prepared for the frames of the motion before.

    bone: its index; share (F,): 0 where the goal is off, 1 where it is fully on; `at`: evaluations of the frames that
    pins are held at. `core_goals` returns goals for core, in armature space; `errors` the distances (F,) and angles
    (F,), in radians, of a result from the goal, in the goal's space.
    """

    def __init__(self, goal: AnyWish, skeleton: Skeleton, before: Evaluation, at: dict[int, Evaluation]) -> None:
        self.goal, self.skeleton, self.before, self.at = goal, skeleton, before, at
        self.bone = skeleton.index(goal.bone)
        self.kind: wishes.GoalKind = goal.kind
        self.point = self._point(goal.point, self.bone)
        self.share = _share(goal, before.frames)
        off = np.any(self.share == 0.0)
        self.weight = np.where(self.share > 0.0, goal.weight, 0.0) if off else goal.weight
        carrier = getattr(goal, "relative_to", None)
        self.carrier = None if carrier is None else skeleton.index(carrier)
        self.space: GoalSpace = goal.space if self.carrier is None else self.carrier

    def _point(self, point: wishes.Point, bone: int) -> Array:
        if point == "head":
            return np.zeros(3)
        return np.array([0.0, self.skeleton.lengths[bone], 0.0]) if point == "tail" else np.array(point, float)

    def _own_position(self, at: int | None = None) -> Array:
        """Return the bone's position in the goal's space in the motion before, in all frames or in one."""
        seen = self.before if at is None else self.at[at]
        return seen.positions_in(self.space, seen.bone_point(self.bone, self.point))

    def _since_first(self) -> tuple[int, Array]:
        """Return the index of the goal's first frame in the motion, and the seconds (F,) since then."""
        context: Any = bpy.context
        frames, render = self.before.frames, context.scene.render
        first = 0 if self.goal.frames is None else int(np.searchsorted(frames, self.goal.frames[0]))
        return first, (frames - frames[first]) * render.fps_base / render.fps

    def _positions(self, target: wishes.Target, seen: Evaluation) -> Array:
        """Return the target positions (F, 3) in the goal's space; followed objects are where `seen` has them."""
        match target:
            case wishes.Held(at):
                places = self._own_position(at)
            case wishes.Fixed(value):
                places = np.array(value)
            case wishes.Followed(_, offset):
                matrices = seen.objects[target.who]
                places = matrices[:, :3, 3] + (matrices[:, :3, :3] @ np.array(offset or (0.0, 0.0, 0.0)))
                return places if self.space == "world" else seen.positions_from("world", places)
            case wishes.Waypoints(times, points):
                frames = self.before.frames
                return np.stack([np.interp(frames, times, axis) for axis in np.transpose(points)], axis=-1)
            case wishes.Moving(rate):
                first, seconds = self._since_first()
                return self._own_position()[first] + seconds[:, None] * np.array(rate)
        return np.broadcast_to(places, (len(self.before.frames), 3))


class _PreparedPose(_PreparedGoal[wishes.JobGoal]):
    """A position, a rotation, or both."""

    def core_goals(self, pins_first: bool) -> list[Goal]:
        """Return one goal, or two where position and rotation have different priorities."""
        goal, before, space = self.goal, self.before, self.space
        by_level: dict[int, dict[str, Array]] = {}
        if goal.position is not None:
            places = self._positions(goal.position, before)
            if np.any(self.share < 1.0):  # a goal that eases in starts from the motion
                own = self._own_position()
                places = own + self.share[:, None] * (places - own)
            places = places if self.carrier is not None else before.positions_from(space, places)
            by_level.setdefault(goal.level(pins_first, isinstance(goal.position, wishes.Held)), {})["position"] = places
        if goal.rotation is not None:
            turns = self._rotations(goal.rotation, before)
            if np.any(self.share < 1.0):
                turns = rotation.slerp(self._own_rotation(), turns, self.share)
            turns = turns if self.carrier is not None else before.rotations_from(space, turns)
            by_level.setdefault(goal.level(pins_first, isinstance(goal.rotation, wishes.Held)), {})["rotation"] = turns
        return [
            Goal(
                goal.bone,
                **targets,
                point=self.point,
                position_weight=self.weight,
                rotation_weight=self.weight,
                priority=level,
                position_axes=_array(goal.axes if "position" in targets else None),
                rotation_axes=_array(goal.rotation_axes if "rotation" in targets else None),
                axes=before.axes_of("world") if space == "world" and (goal.axes or goal.rotation_axes) else None,
                relative_to=goal.relative_to,
            )
            for level, targets in by_level.items()
        ]

    def errors(self, after: Evaluation) -> tuple[Array | None, Array | None]:
        goal, space = self.goal, self.space
        far = turned = None
        if goal.position is not None:
            gap = after.positions_from(space, self._positions(goal.position, after))
            gap = gap - after.bone_point(self.bone, self.point)
            far = np.linalg.norm(after.vectors_in("world", self._counted(gap, goal.axes, after)), axis=-1)
        if goal.rotation is not None:
            target = after.rotations_from(space, self._rotations(goal.rotation, after))
            turn = rotation.log(rotation.mul(target, rotation.inv(after.bone_rotation(self.bone))))
            turned = np.linalg.norm(self._counted(turn, goal.rotation_axes, after), axis=-1)
        return far, turned

    def _counted(self, vectors: Array, axes: tuple[float, ...] | None, seen: Evaluation) -> Array:
        """Return vectors (F, 3) in armature space without their components along free axes."""
        if axes is None:
            return vectors
        frames = seen.axes_of(self.space)
        return rotation.rotate(frames, rotation.rotate(rotation.inv(frames), vectors) * (np.array(axes) > 0.0))

    def _own_rotation(self, at: int | None = None) -> Array:
        """Return the bone's rotation in the goal's space in the motion before, in all frames or in one."""
        seen = self.before if at is None else self.at[at]
        return seen.rotations_in(self.space, seen.bone_rotation(self.bone))

    def _rotations(self, target: wishes.Target, seen: Evaluation) -> Array:
        """Return the target rotations (F, 4) in the goal's space."""
        match target:
            case wishes.Held(at):
                turns = self._own_rotation(at)
            case wishes.Fixed(value):
                turns = np.array(value)
            case wishes.Followed(_, offset):
                turns = rotation.from_matrix(rotation.nearest_rotation(seen.objects[target.who][:, :3, :3]))
                turns = rotation.mul(turns, np.array(offset)) if offset else turns
                return turns if self.space == "world" else seen.rotations_from("world", turns)
            case wishes.Waypoints():
                raise CoreError(f'The path of "{self.goal.bone}" can only have positions.')
            case wishes.Moving(rate):
                first, seconds = self._since_first()
                return rotation.mul(rotation.exp(seconds[:, None] * np.array(rate)), self._own_rotation()[first])
        return np.broadcast_to(turns, (len(self.before.frames), 4))


class _PreparedLookAt(_PreparedGoal[wishes.LookAtGoal]):
    """An axis that aims at a target."""

    def core_goals(self, pins_first: bool) -> list[LookAt]:
        before = self.before
        places = before.positions_from(self.space, self._positions(self.goal.target, before))
        if np.any(self.share < 1.0):  # the shorter rotation from the present direction
            eye = before.bone_point(self.bone, self.point)
            far = np.linalg.norm(places - eye, axis=-1, keepdims=True)
            own = _unit(rotation.rotate(before.bone_rotation(self.bone), self.goal.axis))
            places = eye + far * _between(own, _unit(places - eye), self.share)
        if self.carrier is not None:
            places = before.positions_in(self.space, places)
        goal, axis, level = self.goal, np.array(self.goal.axis), self.goal.level(pins_first)
        return [LookAt(goal.bone, places, axis, self.point, self.weight, level, relative_to=goal.relative_to)]

    def errors(self, after: Evaluation) -> tuple[None, Array]:
        """Return the angles in the goal's space."""
        space = self.goal.space
        target = after.positions_from(self.space, self._positions(self.goal.target, after))
        there = after.vectors_in(space, target - after.bone_point(self.bone, self.point))
        here = after.vectors_in(space, rotation.rotate(after.bone_rotation(self.bone), self.goal.axis))
        sine, cosine = np.linalg.norm(np.cross(here, there), axis=-1), np.sum(here * there, axis=-1)
        return None, np.arctan2(sine, cosine)


class _PreparedDistance(_PreparedGoal[wishes.DistanceGoal]):
    """A distance to a point of another bone, or to a place."""

    def __init__(
        self, goal: wishes.DistanceGoal, skeleton: Skeleton, before: Evaluation, at: dict[int, Evaluation]
    ) -> None:
        super().__init__(goal, skeleton, before, at)
        self.other = skeleton.index(goal.to) if isinstance(goal.to, str) else None
        self.other_point = np.zeros(3) if self.other is None else self._point(goal.to_point, self.other)

    def core_goals(self, pins_first: bool) -> list[Distance]:
        goal, before = self.goal, self.before
        length = np.full(len(before.frames), goal.length) / before.scale_of(goal.space)
        if np.any(self.share < 1.0):  # from the present distance; a bound that is met changes nothing
            own = np.linalg.norm(self._vector(before), axis=-1)
            own = np.maximum(own, length) if goal.bound == "at most" else own
            own = np.minimum(own, length) if goal.bound == "at least" else own
            length = own + self.share * (length - own)
        there = self._there(before) if self.other is None else self.other_point
        level = goal.level(pins_first)
        return [Distance(goal.bone, self.other, length, self.point, there, goal.bound, self.weight, level)]

    def errors(self, after: Evaluation) -> tuple[Array, None]:
        far = np.linalg.norm(after.vectors_in(self.goal.space, self._vector(after)), axis=-1) - self.goal.length
        far *= after.scale_of("world") / after.scale_of(self.goal.space)
        bound = self.goal.bound
        return np.abs(far) if bound == "exactly" else np.maximum(far if bound == "at most" else -far, 0.0), None

    def _vector(self, seen: Evaluation) -> Array:
        """Return the vector from the other point, (F, 3) in armature space."""
        return seen.bone_point(self.bone, self.point) - self._there(seen)

    def _there(self, seen: Evaluation) -> Array:
        if self.other is not None:
            return seen.bone_point(self.other, self.other_point)
        assert not isinstance(self.goal.to, str)
        return seen.positions_from(self.space, self._positions(self.goal.to, seen))


class _PreparedBalance:
    """The centre of mass over the supports, and feet that stay flat; gravity is the world's -Z.

    It has what `_PreparedGoal` has.
    """

    kind: wishes.GoalKind = "balance"

    def __init__(
        self, balance: wishes.JobBalance, supports: Sequence[str], skeleton: Skeleton, roles: Roles, before: Evaluation,
        flat: Sequence[str] = (),
    ) -> None:  # fmt: skip
        nowhere = np.zeros((len(before.frames), 3))
        ups = _unit(before.positions_from("world", nowhere + _UP) - before.positions_from("world", nowhere))
        scales = before.scale_of(balance.space)
        if np.abs(ups - ups[0]).max() > _TILT or np.ptp(scales) > _TILT * scales[0]:
            raise CoreError("balance: the armature object must not tilt or change its scale over the frames.")
        self.balance, self.skeleton = balance, skeleton
        self.supports = [skeleton.index(bone) for bone in supports]
        self.bone = skeleton.ancestors(self.supports[0])[-1]
        self.share = np.ones(len(before.frames))
        self.flat = keep_flat(
            {bone: before.bone_rotation(bone) for bone in map(skeleton.index, flat)}, balance.priority + 1
        )
        self.up = ups[0]
        self.masses = masses_of(skeleton, roles)
        if balance.masses is not None:
            self.masses = np.zeros(len(skeleton))
            for bone, mass in balance.masses.items():
                self.masses[skeleton.index(bone)] = mass
        radius = balance.radius
        self.radius = SUPPORT_RADIUS * skeleton.size if radius is None else radius / float(scales[0])
        if balance.keeps:
            self.radius = max(self.radius, float(np.max(self._beyond(before))))

    def core_goals(self, pins_first: bool) -> list[Balance | Goal]:
        masses, radius = self.masses, self.radius
        supports, priority = tuple(self.supports), self.balance.priority
        balance = Balance(self.bone, supports, masses=masses, up=self.up, radius=radius, priority=priority)
        return [balance, *self.flat]

    def errors(self, after: Evaluation) -> tuple[Array, None]:
        return np.maximum(self._beyond(after) - self.radius, 0.0) * after.scale_of("world"), None

    def _beyond(self, seen: Evaluation) -> Array:
        return distance_beyond(self.skeleton, seen.matrices, self.masses, self.supports, self.up)


PreparedGoal = _PreparedPose | _PreparedLookAt | _PreparedDistance | _PreparedBalance
_PREPARED: Final[dict[type[wishes.Wish], Any]] = {
    wishes.JobGoal: _PreparedPose, wishes.LookAtGoal: _PreparedLookAt, wishes.DistanceGoal: _PreparedDistance,
}  # fmt: skip


def prepare_goal(goal: wishes.Wish, skeleton: Skeleton, before: Evaluation, at: dict[int, Evaluation]) -> PreparedGoal:
    """Return a prepared goal; raises CoreError if the skeleton has no such bone."""
    return _PREPARED[type(goal)](goal, skeleton, before, at)


def prepare_balance(
    balance: wishes.JobBalance, goals: Sequence[wishes.Wish], skeleton: Skeleton, roles: Roles, before: Evaluation
) -> PreparedGoal | None:
    """Return a prepared balance, or None without both feet where it is kept over feet.

    Raises CoreError if there are no supports.
    """
    pinned = tuple(dict.fromkeys(goal.bone for goal in goals if _is_support(goal, before.frames)))
    supports = balance.supports or pinned
    if balance.feet:
        supports = find_footing(skeleton, roles, supports)
        turned = {goal.bone for goal in goals if getattr(goal, "rotation", None) is not None}
        flat = find_free_turns(skeleton, roles, supports, turned)
        return _PreparedBalance(balance, supports, skeleton, roles, before, flat) if supports else None
    if not supports:
        raise CoreError(
            'balance: no bone has its position pinned in all frames; name the bones to stand on in "supports".'
        )
    return _PreparedBalance(balance, supports, skeleton, roles, before)


def check_scale(goals: Sequence[wishes.Wish], balance: wishes.JobBalance | None, before: Evaluation) -> None:
    """Raise CoreError for goals that are undefined if the armature object is scaled unevenly."""
    named = {
        f"goals[{number}].{field}": goal.space
        for number, goal in enumerate(goals)
        for field, name in (("distance", "length"), ("axes", "axes"), ("rotation_axes", "rotation_axes"))
        if getattr(goal, name, None) is not None and getattr(goal, "relative_to", None) is None
    }
    if balance is not None:
        named["balance"] = balance.space
    wrong = next((field for field, space in named.items() if space == "world"), None)
    if wrong is not None and not before.scaled_evenly():
        raise CoreError(
            f'{wrong}: the armature object is scaled unevenly; apply its scale, or use "space": "armature".'
        )


def followed_objects(goals: Sequence[wishes.Wish]) -> dict[tuple[str, str | None], Any]:
    """Return the objects that goals follow, by name and library; None for those that are missing.

    Without a library that is the object of this file before a linked one of its name.
    """
    objects: Any = bpy.data.objects
    names = {target.who for goal in goals for target in goal.targets if isinstance(target, wishes.Followed)}
    return {who: objects.get(who) or (objects.get(who[0]) if who[1] is None else None) for who in names}


def held_frames(goals: Sequence[wishes.Wish]) -> list[int]:
    """Return the frames that pins are held at."""
    held = [target.at for goal in goals for target in goal.targets if isinstance(target, wishes.Held)]
    return sorted({at for at in held if at is not None})


def report_goal(goal: PreparedGoal, skeleton: Skeleton, after: Evaluation, job: Job) -> GoalReport:
    """Report the errors of a goal, as Blender evaluates the result, in the frames where it was fully on."""
    on, name, tolerance = goal.share == 1.0, skeleton.names[goal.bone], job.tolerance
    far, turned = (None if error is None else error[on] for error in goal.errors(after))
    degrees = None if turned is None else np.degrees(turned)
    return GoalReport(name, goal.kind, after.frames[on], far, degrees, tolerance.position, tolerance.rotation)


def _is_support(goal: wishes.Wish, frames: Array) -> bool:
    """Return whether a goal pins its bone's position in all frames, so that it supports the body."""
    held = isinstance(goal, wishes.JobGoal) and isinstance(goal.position, wishes.Held) and goal.relative_to is None
    return held and bool(np.all(_share(goal, frames) > 0.0))


def _share(goal: wishes.Wish, frames: Array) -> Array:
    """Return how far a goal is on (F,): smoothly from 0 to 1 and back over `ease` frames at both ends."""
    first, last = goal.frames or (frames[0], frames[-1])
    inside = (frames >= first) & (frames <= last)
    if not goal.ease:
        return inside.astype(float)
    t = np.clip(np.minimum(frames - first, last - frames) / goal.ease, 0.0, 1.0)
    return inside * t * t * (3.0 - 2.0 * t)


def _between(start: Array, end: Array, share: Array) -> Array:
    """Interpolate unit vectors (F, 3) along the great circle; for opposite ones any of them."""
    cross = np.cross(start, end)
    aside = np.cross(start, np.eye(3)[np.argmin(np.abs(start), axis=-1)])
    sine = np.linalg.norm(cross, axis=-1, keepdims=True)
    axis = _unit(np.where(sine > _NOTHING, cross, aside))
    angle = np.arctan2(sine, np.sum(start * end, axis=-1, keepdims=True))
    return rotation.rotate(rotation.exp(share[:, None] * angle * axis), start)


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(length, _NOTHING)


def _array(values: tuple[float, ...] | None) -> Array | None:
    return None if values is None else np.array(values)
