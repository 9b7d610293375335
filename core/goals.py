"""Goals of a pose: positions, rotations, directions, distances and balance.

All goals have a `bone` (name or index), a `priority` (0 is the highest; a goal never increases the errors of goals with
higher priority) and weights that balance the errors of contradicting goals of one priority, 0 to switch a goal off.
Positions are in armature space and armature units, rotations are frames in armature space. Arrays with leading axes
(...) have values for each pose of a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from . import rotation
from .defaults import UNIT_LENGTH
from .errors import CoreError
from .rotation import Array
from .skeleton import frozen, is_whole

LARGEST: Final = 1e30  # largest number in a goal: squares of larger ones overflow
LAST_PRIORITY: Final = 10**6
SUPPORT_RADIUS: Final = 0.04  # of the skeleton's size: half the width of a human foot

Bone = str | int
Vector = Array | tuple[float, float, float]
Bound = Literal["exactly", "at most", "at least"]


def is_bone(value: object) -> bool:
    """Return whether a value may be a bone's name or index."""
    return isinstance(value, str) or is_whole(value)


class _GoalBase:
    """The fields and checks that all goals share."""

    bone: Bone
    priority: int
    _batched: ClassVar[dict[str, int]]  # fields with values for each pose -> number of their own axes

    def batch_shapes(self) -> list[tuple[int, ...]]:
        """Return the leading shapes of the fields that may have values for each pose."""
        values = [(getattr(self, name), tail) for name, tail in self._batched.items()]
        return [np.shape(value)[: np.ndim(value) - tail] for value, tail in values if value is not None]

    def at(self, index: tuple[Any, ...], batch_shape: tuple[int, ...]) -> Self:
        """Return the goal of one pose of a batch."""
        changed: dict[str, Any] = {}
        for name, tail in self._batched.items():
            value = getattr(self, name)
            if value is not None and np.ndim(value) > tail:
                shape = np.shape(value)[np.ndim(value) - tail :]
                changed[name] = np.broadcast_to(value, (*batch_shape, *shape))[index]
        return replace(self, **changed) if changed else self  # pyright: ignore

    def at_targets(self, **targets: Array) -> Self:
        """Return the goal with other targets, which are not checked."""
        result = object.__new__(type(self))
        vars(result).update(vars(self), **{name: frozen(value) for name, value in targets.items()})
        return result

    def _called(self, name: str) -> str:
        """Return how sentences call a field."""
        return f'The {name} of the goal of "{self.bone}"'

    def _vectors(self, name: str, size: int, batched: bool = True) -> Array | None:
        """Make a field an array (..., size), or (size,) unless `batched`. Raises CoreError for other values."""
        array = self._numbers(name)
        if array is not None and (array.shape[-1:] != (size,) or not (batched or array.ndim == 1)):
            raise CoreError(f"{self._called(name)} needs {size} numbers.")
        return array

    def _direction(self, name: str, called: str) -> None:
        """Make a field a unit vector (3,). Raises CoreError for a zero vector."""
        self._vectors(name, 3, batched=False)
        vector: Array = getattr(self, name)
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            raise CoreError(f"{called} must not be zero.")
        self._set(name, frozen(vector / length))

    def _numbers(self, name: str) -> Array | None:
        """Make a field a read-only array and return it; None if it is not given and None by default.

        Raises CoreError unless it has finite numbers up to LARGEST.
        """
        value = getattr(self, name)
        if value is None:
            if getattr(type(self), name, ...) is None:
                return None
            raise CoreError(f"{self._called(name)} needs numbers.")
        try:
            array = frozen(value, float)
        except (TypeError, ValueError):
            raise CoreError(f"{self._called(name)} needs numbers.") from None
        if not np.isfinite(array).all():
            raise CoreError(f"{self._called(name)} is not a finite number.")
        if np.any(np.abs(array) > LARGEST):
            raise CoreError(f"{self._called(name)} is too large a number.")
        self._set(name, array)
        return array

    def _quaternions(self, name: str) -> None:
        """Make a field unit quaternions (..., 4), if it is given. Raises CoreError for other lengths."""
        value = self._vectors(name, 4)
        if value is None:
            return
        if np.any(np.abs(np.linalg.norm(value, axis=-1) - 1.0) > UNIT_LENGTH):
            raise CoreError(f"{self._called(name)} is not a unit quaternion.")
        self._set(name, frozen(rotation.normalize(value)))

    def _not_negative(self, *names: str) -> None:
        """Make fields arrays. Raises CoreError for negative numbers."""
        for name in names:
            array = self._numbers(name)
            if array is not None and np.any(array < 0.0):
                raise CoreError(f"{self._called(name)} must be a number of at least 0.")

    def _check_names(self, other: object = None, supports: Sequence[object] = ()) -> None:
        """Raise CoreError if the bone, another bone, supports or the priority have wrong types."""
        for bone in (self.bone, *([] if other is None else [other]), *supports):
            if not is_bone(bone):
                raise CoreError(f"A bone of a goal is given by its name or its number, not by {bone!r}.")
        if not is_whole(self.priority) or not 0 <= self.priority <= LAST_PRIORITY:
            raise CoreError(f'The priority of the goal of "{self.bone}" must be 0, 1, 2 ..., not {self.priority}.')

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Goal(_GoalBase):
    """A position of a point of a bone, a rotation of its frame, or both.

    position          (..., 3) of `point`, or None
    rotation          (..., 4) of the bone's frame, or None
    point             (3,) in the bone's frame; the head by default, (0, length, 0) is the tail
    position_axes     (3,) or (..., 3) further weights by axis, 0 leaves the axis free
    rotation_axes     the same for the rotation vector of the error
    axes              (..., 4) the frame of these axes; armature space, or the frame of `relative_to`, by default
    relative_to       another bone in whose frame position and rotation are; both bones are moved
    velocity          (..., 3) armature units per second, see `moved`; without a position it starts at the bone's own
    angular_velocity  (..., 3) radians per second
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
        targets = (self.position, self.rotation, self.velocity, self.angular_velocity)
        if all(target is None for target in targets):
            raise CoreError(f'The goal of "{self.bone}" has neither a position nor a rotation.')
        self._check_names(self.relative_to)
        for name in ("position", "velocity", "angular_velocity", "position_axes", "rotation_axes"):
            self._vectors(name, 3)
        self._vectors("point", 3, batched=False)
        self._quaternions("rotation")
        self._quaternions("axes")
        self._not_negative("position_weight", "rotation_weight", "position_axes", "rotation_axes")

    def moved(self, seconds: float) -> "Goal":
        """Return the goal with its position and rotation moved by their velocities."""
        position, turned = self.position, self.rotation
        if position is not None and self.velocity is not None:
            position = position + seconds * self.velocity
        if turned is not None and self.angular_velocity is not None:
            turned = rotation.mul(rotation.exp(seconds * self.angular_velocity), turned)
        return replace(self, position=position, rotation=turned)


@dataclass(frozen=True, eq=False)
class LookAt(_GoalBase):
    """Aim an axis of a bone at a point, such as that of eyes, a head or a gun.

    target       (..., 3) in armature space, or in the frame of `relative_to`
    axis         (3,) in the bone's frame, of any length; along the bone by default
    point        (3,) in the bone's frame, where the axis starts
    relative_to  a bone in whose frame the target is; it is moved too
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
        self._check_names(self.relative_to)
        self._vectors("target", 3)
        self._direction("axis", self._called("axis"))
        self._vectors("point", 3, batched=False)
        self._not_negative("weight")


@dataclass(frozen=True, eq=False)
class Distance(_GoalBase):
    """Keep a point of a bone at a distance from a point of another bone, or of armature space.

    other        the other bone, or None for armature space
    length       (...) the distance, at least 0
    point        (3,) in the bone's frame
    other_point  (3,) in the other bone's frame, or (..., 3) in armature space
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
        self._check_names(self.other)
        self._vectors("point", 3, batched=False)
        self._vectors("other_point", 3, batched=self.other is None)
        self._not_negative("length", "weight")
        if self.bound not in ("exactly", "at most", "at least"):
            raise CoreError(f'The bound of the distance of "{self.bone}" cannot be "{self.bound}".')
        if self.bone == self.other:
            raise CoreError(f'"{self.bone}" cannot have a distance to itself.')


@dataclass(frozen=True, eq=False)
class Balance(_GoalBase):
    """Keep the centre of mass over the polygon of the supports.

    bone      names the body in reports, such as the hips
    supports  bones on the ground: `soles_of` them spans the polygon
    masses    (J,) of the bones, at their middles; None for those of `body.masses`
    up        (3,) in armature space, against gravity
    radius    armature units around the polygon; None for half the width of a foot
    weight    of the squared error; 100 because a body weighs about ten times what a hand pulls with
    """

    bone: Bone
    supports: tuple[Bone, ...]
    masses: Array | None = None
    up: Vector = (0.0, 0.0, 1.0)
    radius: float | None = None
    weight: Array | float = 100.0
    priority: int = 1
    _batched = {"weight": 0}

    def __post_init__(self) -> None:
        if not isinstance(self.supports, (tuple, list)) or not self.supports:  # pyright: ignore
            raise CoreError("Balance needs a list with at least one bone that supports the body.")
        self._check_names(supports=self.supports)
        self._direction("up", "The up direction of the balance")
        self._not_negative("masses")
        if self.masses is not None and not np.sum(self.masses) > 0.0:
            raise CoreError("The masses of the balance are all 0.")
        self._not_negative("radius")
        if self.radius is not None and np.ndim(self.radius):
            raise CoreError(f"{self._called('radius')} must be one number.")
        self._not_negative("weight")


AnyGoal = Goal | LookAt | Distance | Balance
