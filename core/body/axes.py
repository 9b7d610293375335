"""Directions of a body: named axes, the canonical frame, and vectors of the left side mirrored to the right.

The canonical frame has X to the body's left, Y up and Z to the front; the right side is the left one mirrored in X.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array

_AXES: Final = ("X", "Y", "Z")
DIRECTED_AXES: Final = tuple(sign + axis for axis in _AXES for sign in "+-")
_SMALLEST: Final = 1e-8  # product of two lengths, by the skeleton's size: shorter vectors have no direction

# Factors that mirror vectors, rotation vectors and quaternions in X.
MIRROR_VECTOR: Final = np.array([-1.0, 1.0, 1.0])
MIRROR_ROTATION: Final = np.array([1.0, -1.0, -1.0])
MIRROR_QUATERNION: Final = np.array([1.0, 1.0, -1.0, -1.0])


def nearest_axis(vector: Array) -> str:
    """Return the axis nearest to a vector (3,), such as "-Y"."""
    axis = int(np.argmax(np.abs(vector)))
    return ("-" if vector[axis] < 0.0 else "+") + _AXES[axis]


def axis_vector(axis: str) -> Array:
    """Return the unit vector (3,) of an axis such as "-Y"."""
    vector = np.zeros(3)
    vector[_AXES.index(axis[1])] = -1.0 if axis[0] == "-" else 1.0
    return vector


def usual_front(up: str) -> str:
    """Return the axis along which figures usually look: Blender's -Y; where Y is up, as in other programs, +Z."""
    return "-Y" if up[1] == "Z" else "+Z"


def left_vector(up: str, facing: str) -> Array:
    """Return the unit vector (3,) to the left of a body with these axes."""
    return np.cross(axis_vector(up), axis_vector(facing))


def canonical_frame(up: str, facing: str) -> Array:
    """Return the canonical frame (4,) in armature space, of a body with these axes."""
    return rotation.from_matrix(np.stack([left_vector(up, facing), axis_vector(up), axis_vector(facing)], axis=-1))


def mirror_direction(direction: Sequence[float], side: str) -> Array:
    """Return a direction (3,) of the left side, mirrored if `side` is "R"."""
    return np.asarray(direction) * MIRROR_VECTOR if side == "R" else np.asarray(direction)


def mirror_rotation(vector: Sequence[float] | Array, side: str) -> Array:
    """Return a rotation vector (..., 3) of the left side, mirrored if `side` is "R"."""
    return np.asarray(vector) * MIRROR_ROTATION if side == "R" else np.asarray(vector)


def unit(vector: Array) -> Array:
    """Return a vector (3,) with length 1; a zero vector is returned as it is."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector


def angle(a: Array, b: Array) -> float:
    """Return the angle between two vectors (3,), radians; a right angle if one of them is zero."""
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.arccos(np.clip(a @ b / lengths, -1.0, 1.0))) if lengths > _SMALLEST else np.pi / 2.0
