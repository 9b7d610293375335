"""What is wanted of a pose. Positions are in armature space and armature units, rotations are armature-space frames.

All goals have a `bone` (name or index), a `priority` (0 is served first; a goal never moves one of a lower number) and
weights: shares of the error where goals of one priority contradict each other, (...) to change over frames, 0: off.
Leading axes (...) go with the batch of the pose.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import rotation
from .errors import CoreError
from .rotation import Array
from .skeleton import frozen, is_whole

LARGEST: Final = 1e30  # of any number in a goal: squares of larger ones overflow
_UNIT: Final = 1e-3  # target quaternions further from unit length than this are refused
LAST_PRIORITY: Final = 10**6
SUPPORT_RADIUS: Final = 0.04  # half the width of a human foot, by the skeleton's size

Bone = str | int
Vector = Array | tuple[float, float, float]
Bound = Literal["exactly", "at most", "at least"]


def is_bone(value: object) -> bool:
    """Whether it may name a bone."""
    return isinstance(value, str) or is_whole(value)


class _Checks:
    """Checks of the fields of a goal, in sentences that name its bone."""

    bone: Bone
    priority: int
    _batched: ClassVar[dict[str, int]]  # fields that may change over the batch, with the number of their own axes

    def batch_shapes(self) -> list[tuple[int, ...]]:
        """The leading shapes of what is given by frame."""
        values = {name: getattr(self, name) for name in self._batched}
        shapes = {name: np.shape(value) for name, value in values.items() if value is not None}
        return [shape[: len(shape) - self._batched[name]] for name, shape in shapes.items()]

    def at(self, index: tuple[Any, ...], batch_shape: tuple[int, ...]) -> Self:
        """The goal in one frame of a batch."""
        changed: dict[str, Any] = {}
        for name, tail in self._batched.items():
            value = getattr(self, name)
            if value is not None and np.ndim(value) > tail:
                shape = np.shape(value)[np.ndim(value) - tail :]
                changed[name] = np.broadcast_to(value, (*batch_shape, *shape))[index]
        return replace(self, **changed) if changed else self  # pyright: ignore

    def at_targets(self, **targets: Array) -> Self:
        """The goal with other targets, which the caller has checked."""
        result = object.__new__(type(self))
        vars(result).update(vars(self), **{name: frozen(value) for name, value in targets.items()})
        return result

    def _called(self, name: str) -> str:
        return f'The {name} of the goal of "{self.bone}"'

    def _vectors(self, name: str, size: int, batched: bool = True, optional: bool = False) -> None:
        """Make the field an array (..., size), or (size,)."""
        value = getattr(self, name)
        if value is None and optional:
            return
        array = self._numbers(name, value)
        if array.shape[-1:] != (size,) or not (batched or array.ndim == 1):
            raise CoreError(f"{self._called(name)} needs {size} numbers.")
        self._set(name, array)

    def _numbers(self, name: str, value: ArrayLike | None) -> NDArray[Any]:
        if value is None:
            raise CoreError(f"{self._called(name)} needs numbers.")
        try:
            array = frozen(value, float)
        except (TypeError, ValueError):
            raise CoreError(f"{self._called(name)} needs numbers.") from None
        if not np.isfinite(array).all():
            raise CoreError(f"{self._called(name)} is not a finite number.")
        if np.any(np.abs(array) > LARGEST):
            raise CoreError(f"{self._called(name)} is too large a number.")
        return array

    def _quaternions(self, name: str) -> None:
        self._vectors(name, 4, optional=True)
        value: Array | None = getattr(self, name)
        if value is None:
            return
        if np.any(np.abs(np.linalg.norm(value, axis=-1) - 1.0) > _UNIT):
            raise CoreError(f"{self._called(name)} is no unit quaternion.")
        self._set(name, frozen(rotation.normalize(value)))

    def _not_negative(self, *names: str) -> None:
        for name in names:
            array = self._numbers(name, getattr(self, name))
            if np.any(array < 0.0):
                raise CoreError(f"{self._called(name)} must be a number of at least 0.")
            self._set(name, array)

    def _check_names(self, *others: object) -> None:
        """The bone and others that are named, and the priority."""
        for bone in (self.bone, *others):
            if not is_bone(bone):
                raise CoreError(f"A goal names a bone by its name or its number, not by {bone!r}.")
        if not is_whole(self.priority) or not 0 <= self.priority <= LAST_PRIORITY:
            raise CoreError(f'The priority of the goal of "{self.bone}" must be 0, 1, 2 ..., not {self.priority}.')

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Goal(_Checks):
    """One bone's wish: a position for a point of it, a rotation for its frame, or both.

    position          (..., 3) for `point`, or None
    rotation          (..., 4) for the bone's frame, or None
    point             (3,) in the bone's frame; the head by default, (0, length, 0) is the tail
    position_axes     (3,) or (..., 3) further weights by axis, 0: free along it
    rotation_axes     the same for the error's rotation vector, 0: free about it
    axes              (..., 4) the frame whose axes those are; armature space, or the frame of `relative_to`, by default
    relative_to       another bone: position and rotation are in its frame, wherever it goes; neither leads
    velocity          (..., 3) per second, angular_velocity (..., 3) radians per second: a reference that moves on, see
                      `moved`. With a velocity and no position, it starts from where the pose has the bone.
    """

    bone: Bone
    position: Array | None = None
    rotation: Array | None = None
    point: Vector = (0.0, 0.0, 0.0)
    position_weight: Array | float = 1.0
    rotation_weight: Array | float = 1.0
    priority: int = 0
    position_axes: Array | None = None
    rotation_axes: Array | None = None
    axes: Array | None = None
    relative_to: Bone | None = None
    velocity: Array | None = None
    angular_velocity: Array | None = None
    _batched = {
        "position": 1, "rotation": 1, "position_weight": 0, "rotation_weight": 0, "position_axes": 1,
        "rotation_axes": 1, "axes": 1, "velocity": 1, "angular_velocity": 1,
    }  # fmt: skip

    def __post_init__(self) -> None:
        wishes = (self.position, self.rotation, self.velocity, self.angular_velocity)
        if all(wish is None for wish in wishes):
            raise CoreError(f'The goal of "{self.bone}" wants neither a position nor a rotation.')
        self._check_names(*([] if self.relative_to is None else [self.relative_to]))
        for name in ("position", "velocity", "angular_velocity", "position_axes", "rotation_axes"):
            self._vectors(name, 3, optional=True)
        self._vectors("point", 3, batched=False)
        self._quaternions("rotation")
        self._quaternions("axes")
        self._not_negative("position_weight", "rotation_weight")
        for name in ("position_axes", "rotation_axes"):
            if getattr(self, name) is not None:
                self._not_negative(name)

    def moved(self, seconds: float) -> "Goal":
        """The goal with its references moved on by their velocities."""
        position, turned = self.position, self.rotation
        if position is not None and self.velocity is not None:
            position = position + seconds * self.velocity
        if turned is not None and self.angular_velocity is not None:
            turned = rotation.mul(rotation.exp(seconds * self.angular_velocity), turned)
        return replace(self, position=position, rotation=turned)


@dataclass(frozen=True, eq=False)
class LookAt(_Checks):
    """Aim an axis of a bone at a point: eyes, a head, a gun.

    target       (..., 3) in armature space, or in the frame of `relative_to`
    axis         (3,) in the bone's frame, along the bone by default
    point        (3,) in the bone's frame, where the axis starts
    relative_to  a bone that carries the target along; it is moved for this, too
    """

    bone: Bone
    target: Vector
    axis: Vector = (0.0, 1.0, 0.0)
    point: Vector = (0.0, 0.0, 0.0)
    weight: Array | float = 1.0
    priority: int = 0
    relative_to: Bone | None = None
    _batched = {"target": 1, "weight": 0}

    def __post_init__(self) -> None:
        self._check_names(*([] if self.relative_to is None else [self.relative_to]))
        self._vectors("target", 3)
        self._vectors("axis", 3, batched=False)
        self._vectors("point", 3, batched=False)
        length = float(np.linalg.norm(self.axis))
        if length == 0.0:
            raise CoreError(f"{self._called('axis')} has no direction.")
        self._set("axis", frozen(np.asarray(self.axis) / length))
        self._not_negative("weight")


@dataclass(frozen=True, eq=False)
class Distance(_Checks):
    """Keep a point of a bone `length` away from a point of `other`, or (without it) from a place in armature space.

    point        (3,) in the bone's frame
    other_point  (3,) in the other bone's frame; without `other` (..., 3) in armature space
    length       (...) of at least 0
    bound        "exactly", "at most" (a rope) or "at least" (a bumper)
    """

    bone: Bone
    other: Bone | None
    length: Array | float
    point: Vector = (0.0, 0.0, 0.0)
    other_point: Vector = (0.0, 0.0, 0.0)
    bound: Bound = "exactly"
    weight: Array | float = 1.0
    priority: int = 0
    _batched = {"other_point": 1, "length": 0, "weight": 0}

    def __post_init__(self) -> None:
        self._check_names(*([] if self.other is None else [self.other]))
        self._vectors("point", 3, batched=False)
        self._vectors("other_point", 3, batched=self.other is None)
        self._not_negative("length", "weight")
        if self.bound not in ("exactly", "at most", "at least"):
            raise CoreError(f'The bound of the distance of "{self.bone}" is no "{self.bound}".')
        if self.bone == self.other:
            raise CoreError(f'The distance of "{self.bone}" to itself cannot be changed.')


@dataclass(frozen=True, eq=False)
class Balance(_Checks):
    """Keep the centre of mass over the bones that the body stands on, as far as `radius` beside them.

    bone      one that stands for the body in reports, such as the hips
    supports  bones that bear the body: the heads and tails of them and of all bones below them span the polygon
    masses    (J,) of the bones, each at the middle of its bone; None: a human's by role (see `humanoid.masses`)
    up        (3,) in armature space, against gravity
    radius    armature units beside the polygon; None: half the width of a foot
    """

    bone: Bone
    supports: tuple[Bone, ...]
    masses: Array | None = None
    up: Vector = (0.0, 0.0, 1.0)
    radius: float | None = None
    weight: Array | float = 1.0
    priority: int = 1
    _batched = {"weight": 0}

    def __post_init__(self) -> None:
        if not isinstance(self.supports, (tuple, list)) or not self.supports:  # pyright: ignore
            raise CoreError("Balance needs at least one bone that the body stands on, in a list.")
        self._check_names(*self.supports)
        self._vectors("up", 3, batched=False)
        length = float(np.linalg.norm(self.up))
        if length == 0.0:
            raise CoreError("The up direction of the balance has no direction.")
        self._set("up", frozen(np.asarray(self.up) / length))
        if self.masses is not None:
            self._not_negative("masses")
            if not np.sum(self.masses) > 0.0:
                raise CoreError("The masses of the balance are all 0.")
        if self.radius is not None:
            self._not_negative("radius")
            if np.ndim(self.radius):
                raise CoreError(f"{self._called('radius')} must be one number.")
        self._not_negative("weight")


AnyGoal = Goal | LookAt | Distance | Balance
