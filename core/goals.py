"""What is wanted of a pose."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from . import rotation
from .errors import CoreError
from .rotation import Array
from .skeleton import frozen

_UNIT: Final = 1e-3  # target quaternions further from unit length than this are refused


@dataclass(frozen=True, eq=False)
class Goal:
    """One bone's wish, in armature space: a position for a point of it, a rotation for its frame, or both.

    bone       name or index
    position   (..., 3) for `point`, or None
    rotation   (..., 4) for the bone's frame, or None
    point      (3,) in the bone's frame; the head by default, (0, length, 0) is the tail
    weights    share of the error where goals of one priority contradict each other; (...) to change over frames, 0: off
    priority   0 is served first; a lower-priority goal never moves a higher one

    Leading axes go with the batch of the pose.
    """

    bone: str | int
    position: Array | None = None
    rotation: Array | None = None
    point: Array | tuple[float, float, float] = (0.0, 0.0, 0.0)
    position_weight: Array | float = 1.0
    rotation_weight: Array | float = 1.0
    priority: int = 0

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise CoreError(f'The goal of "{self.bone}" wants neither a position nor a rotation.')
        for name, size in (("position", 3), ("rotation", 4), ("point", 3)):
            value = getattr(self, name)
            if value is None:
                continue
            array = frozen(value, float)
            if array.shape[-1:] != (size,) or (name == "point" and array.ndim != 1):
                raise CoreError(f'The {name} of the goal of "{self.bone}" needs {size} numbers.')
            if not np.isfinite(array).all():
                raise CoreError(f'The {name} of the goal of "{self.bone}" is not a finite number.')
            if name == "rotation":
                if np.any(np.abs(np.linalg.norm(array, axis=-1) - 1.0) > _UNIT):
                    raise CoreError(f'The rotation of the goal of "{self.bone}" is no unit quaternion.')
                array = frozen(rotation.normalize(array))
            object.__setattr__(self, name, array)
        for name in ("position_weight", "rotation_weight"):
            weight = frozen(getattr(self, name), float)
            if not np.isfinite(weight).all() or np.any(weight < 0.0):
                raise CoreError(f'The {name} of the goal of "{self.bone}" must be a number of at least 0.')
            object.__setattr__(self, name, weight)
        if int(self.priority) != self.priority or self.priority < 0:
            raise CoreError(f'The priority of the goal of "{self.bone}" must be 0, 1, 2 ..., not {self.priority}.')
