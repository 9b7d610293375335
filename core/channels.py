"""Rotations in the modes of Blender's bones: quaternions, axis-angles (the angle comes first), Euler angles.

Values (..., 3 or 4) as the channels of a bone have them; rotations are unit quaternions (..., 4).
"""

from typing import Final

import numpy as np

from . import rotation
from .rotation import Array

_HALF_TURN_X: Final = np.array([0.0, 1.0, 0.0, 0.0])  # what Blender's normalize_qt makes of a zero quaternion
_FOUR: Final = np.ones(4)  # a product with it is a quicker sum of four numbers than numpy's
_NO_TURN: Final = 1e-6  # below this angle, in radians, a rotation has no axis of its own


def to_rotations(values: Array, mode: str) -> Array:
    """The unit quaternions that Blender evaluates: of any length and zero taken as it takes them."""
    if mode == "AXIS_ANGLE":
        return rotation.from_axis_angle(values[..., 1:], values[..., 0])
    if mode != "QUATERNION":
        return rotation.from_euler(values, mode)
    length = np.sqrt(np.sum(values * values, axis=-1, keepdims=True))
    if not length.all():
        values, length = np.where(length > 0.0, values, _HALF_TURN_X), np.where(length > 0.0, length, 1.0)
    return values / length


def rotations_to_channel(rotations: Array, mode: str, near: Array) -> Array:
    """Rotations (..., 4) in a bone's mode, (..., 3 or 4): of all ways to say it the nearest to the values `near`."""
    if mode == "QUATERNION":
        flip = (rotations * near) @ _FOUR < 0.0
        return np.where(flip[..., None], -rotations, rotations) if np.count_nonzero(flip) else rotations
    if mode == "AXIS_ANGLE":
        return _near_axis_angle(rotations, near)
    return rotation.near_euler(rotation.to_euler(rotations, mode), near, mode)


def rotations_to_curves(rotations: Array, mode: str, start: Array) -> Array:
    """Rotations over time (F, k, 4) in one mode, (F, k, n), without jumps; the first frame goes near `start` (k, n)."""
    if mode == "QUATERNION":
        return rotation.unroll(rotations, start)
    if mode != "AXIS_ANGLE":
        return rotation.unwrap_euler(rotation.to_euler(rotations, mode), mode, start)
    result = np.empty_like(rotations)
    before = start
    for frame, turn in enumerate(rotations):
        before = result[frame] = _near_axis_angle(turn, before)
    return result


def _near_axis_angle(rotations: Array, near: Array) -> Array:
    """Angle and axis (..., 4) of rotations, with the side of the axis and the whole turns of `near`."""
    axis, angle = rotation.to_axis_angle(rotations)
    old_angle, old_axis = near[..., 0], near[..., 1:]
    length = np.linalg.norm(old_axis, axis=-1, keepdims=True)
    # the axis of no rotation is arbitrary: the old one keeps curves smooth
    keep = (angle < _NO_TURN)[..., None] & (length > 0.0)
    axis = np.where(keep, old_axis / np.where(length > 0.0, length, 1.0), axis)
    side = np.where(np.sum(axis * old_axis, axis=-1) < 0.0, -1.0, 1.0)
    angle = old_angle + rotation.wrap(side * angle - old_angle)
    return np.concatenate([angle[..., None], side[..., None] * axis], axis=-1)
