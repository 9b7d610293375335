"""Convert rotations to and from the rotation modes of Blender's bones.

Channels (..., 3 or 4) are quaternions, axis-angles with the angle first, or Euler angles. Rotations are unit
quaternions (..., 4).
"""

from typing import Final

import numpy as np

from . import rotation
from .rotation import Array
from .skeleton import Flags

_HALF_TURN_X: Final = np.array([0.0, 1.0, 0.0, 0.0])  # a zero quaternion after Blender's normalize_qt
_FOUR: Final = np.ones(4)  # a product with it sums four numbers faster than np.sum
_NO_TURN: Final = 1e-6  # radians: rotations by less have no axis


def to_rotations(values: Array, mode: str) -> Array:
    """Return the rotations (..., 4) of channels in a mode; quaternions of any length are normalized as in Blender."""
    if mode == "AXIS_ANGLE":
        return rotation.from_axis_angle(values[..., 1:], values[..., 0])
    if mode != "QUATERNION":
        return rotation.from_euler(values, mode)
    length = np.sqrt(np.sum(values * values, axis=-1, keepdims=True))
    if not length.all():
        values, length = np.where(length > 0.0, values, _HALF_TURN_X), np.where(length > 0.0, length, 1.0)
    return values / length


def rotations_to_channel(rotations: Array, mode: str, near: Array, locks: Flags | None = None) -> Array:
    """Return rotations (..., 4) as channels of a mode; those nearest to the channels `near`.

    `locks` (..., 3): Euler angles that stay as they are in `near`, see `rotation.near_euler`.
    """
    if mode == "QUATERNION":
        flip = (rotations * near) @ _FOUR < 0.0
        return np.where(flip[..., None], -rotations, rotations) if np.count_nonzero(flip) else rotations
    if mode == "AXIS_ANGLE":
        return _near_axis_angle(rotations, near)
    return rotation.near_euler(rotation.to_euler(rotations, mode), near, mode, locks)


def rotations_to_curves(rotations: Array, mode: str, start: Array, locks: Flags | None = None) -> Array:
    """Return rotations (F, k, 4) over time as continuous channels (F, k, n); the first frame is near `start` (k, n).

    `locks` (k, 3): as for `rotations_to_channel`.
    """
    if mode == "QUATERNION":
        return rotation.unroll(rotations, start)
    if mode != "AXIS_ANGLE":
        return rotation.unwrap_euler(rotation.to_euler(rotations, mode), mode, start, locks)
    result = np.empty_like(rotations)
    before = start
    for frame, turn in enumerate(rotations):
        before = result[frame] = _near_axis_angle(turn, before)
    return result


def _near_axis_angle(rotations: Array, near: Array) -> Array:
    """Return angles and axes (..., 4) of rotations, with the sign of the axis and the whole turns of `near`."""
    axis, angle = rotation.to_axis_angle(rotations)
    old_angle, old_axis = near[..., 0], near[..., 1:]
    length = np.linalg.norm(old_axis, axis=-1, keepdims=True)
    # the axis of the identity is arbitrary: keep the old one for smooth curves
    keep = (angle < _NO_TURN)[..., None] & (length > 0.0)
    axis = np.where(keep, old_axis / np.where(length > 0.0, length, 1.0), axis)
    side = np.where(np.sum(axis * old_axis, axis=-1) < 0.0, -1.0, 1.0)
    angle = old_angle + rotation.wrap(side * angle - old_angle)
    return np.concatenate([angle[..., None], side[..., None] * axis], axis=-1)
