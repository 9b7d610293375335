"""How far a joint of a chain can turn about an axis within its limits."""

from math import atan, cos, hypot
from typing import Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...limits import EulerBox, Framed, LimitGroup, OrderFreeBox
from ...pose import Pose
from ...rotation import Array
from ...skeleton import Skeleton
from ..pins.limits import locked_angles

SLACK: Final = 1e-9  # radians: crossing a bound by less is allowed, and bounds are found to within this
_STEPS: Final = 32  # parts of a range, tried at once for one frame; fewer for many frames
_FEW: Final = 32  # frames for which half of that is tried
_STEP: Final = np.pi / _STEPS  # radians: narrower forbidden ranges may be missed

_QUARTERS: Final = np.array([0.0, 0.5 * np.pi, np.pi])  # radians: turns that tell a wave
CLOSE: Final = 1e-6  # radians: more than the error of an angle between two rotations
_POLE: Final = float(np.radians(85.0))  # of half the angle of a rotation, short of where its angles are not told

Bounded = tuple[LimitGroup, Array, Array]  # limits, and the lowest and highest coordinates inside
Room = tuple[float, float]  # radians: half the angle of a rotation, and the distance of its angles from their bounds


def limit_groups(skeleton: Skeleton, bones: list[int], pose: Pose, limits: bool) -> tuple[LimitGroup, ...]:
    """Return the limits of some bones: their locked Euler angles in a pose (B, J), and with `limits` the skeleton's."""
    return (*locked_angles(skeleton, pose.rotations, bones), *(groups_of(skeleton, bones) if limits else ()))


def groups_of(skeleton: Skeleton, bones: list[int]) -> tuple[LimitGroup, ...]:
    """Return the skeleton's limits of some bones."""
    kept = [(group, np.flatnonzero(np.isin(group.bones, bones))) for group in skeleton.limits]
    return tuple(group if len(some) == len(group) else group.take(some) for group, some in kept if len(some))


def limits_by_bone(groups: tuple[LimitGroup, ...]) -> dict[int, tuple[LimitGroup, ...]]:
    """Return bone -> its limits in groups of one bone, for those that have any."""
    found: dict[int, tuple[LimitGroup, ...]] = {}
    for group in groups:
        for bone, one in zip(group.bones.tolist(), group.by_bone, strict=True):
            found[bone] = (*found.get(bone, ()), one)
    return found


def at_frames(groups: tuple[LimitGroup, ...], frames: NDArray[np.int64]) -> list[Bounded]:
    """Return the limits of one bone with their bounds in frames (B,) of their batch, for `allowed`."""
    here = [group.at_frames(frames) for group in groups]
    return [(group, group.lower - SLACK, group.upper + SLACK) for group in here]


def find_room(limits: list[Bounded], own: Array) -> Room | None:
    """Return the room that angles without an order leave around an own rotation (4,); None for other limits."""
    middle, across = 0.0, np.inf
    for group, lower, upper in limits:
        if not isinstance(group.group if isinstance(group, Framed) else group, OrderFreeBox):
            return None
        angles = group.coordinates(rotation.to_matrix(own)[None])
        middle = max(middle, atan(hypot(*np.tan(0.5 * angles[0]).tolist())))
        across = min(across, float(np.minimum(angles - lower, upper - angles).min()))
    return middle, across - CLOSE


def is_within(room: Room, way: float) -> bool:
    """Return whether no turn by `way` radians leaves the room.

    Half the angle of the rotation changes by at most half of `way`, the angles by at most `way` over its cosine.
    """
    middle, across = room
    farthest = middle + way
    return farthest < _POLE and way <= cos(farthest) * across


def allowed(limits: list[Bounded], own: Array, axis: int, angles: Array) -> Array:
    """Return the largest parts (B,) of `angles` (B,) about an axis, from the left, that keep `own` (B, 4) inside.

    What is outside may turn inside.
    """
    matrices = rotation.to_matrix(own)[:, None]
    boxes = [(group, lower, upper) for group, lower, upper in limits if is_euler(group)]
    if len(boxes) < len(limits):
        return _scanned(limits, matrices, axis, angles)
    sign, size = np.where(angles < 0.0, -1.0, 1.0), np.abs(angles)
    turned = _turned(matrices, axis, _QUARTERS[:, None] * sign)
    crossed = [np.zeros((1, len(own))), size[None]]
    for group, lower, upper in boxes:
        begin, quarter, half = group.margins(turned, lower, upper)[:, :, 0].swapaxes(1, 2)
        # a turn by an angle makes it middle + wave cos(angle - phase)
        middle, along = 0.5 * (begin + half), 0.5 * (begin - half)
        beside = quarter - middle
        phase, wave = np.arctan2(beside, along), np.hypot(along, beside)
        reached = np.abs(middle) <= wave
        apart = np.arccos(np.where(reached, -middle / np.where(wave > 0.0, wave, 1.0), 1.0))
        at = np.concatenate([phase - apart, phase + apart]) % (2.0 * np.pi)
        crossed.append(np.where(np.tile(reached, (2, 1)) & (at < size), at, size))
    ends = np.sort(np.concatenate(crossed), axis=0)
    ends = ends[: max(1, int((ends < size).sum(axis=0).max())) + 1]
    outside = _outside(limits, matrices, axis, 0.5 * sign * (ends[1:] + ends[:-1]))
    left = outside & np.logical_or.accumulate(~outside, axis=0)
    place = np.where(outside.all(axis=0), 0, np.where(left.any(axis=0), left.argmax(axis=0), len(left)))
    farthest = np.take_along_axis(ends, place[None], axis=0)[0]
    return sign * np.where(farthest < size, np.maximum(farthest - SLACK, 0.0), size)


def is_euler(group: LimitGroup) -> TypeGuard["EulerBox | Framed"]:
    """Return whether limits are ranges of Euler angles."""
    return isinstance(group.group if isinstance(group, Framed) else group, EulerBox)


def _scanned(limits: list[Bounded], matrices: Array, axis: int, angles: Array) -> Array:
    """Return what `allowed` does for matrices (B, 1, 3, 3): bounds are looked for in steps, then between two."""
    count = max(1, int(np.ceil(np.abs(angles).max() / _STEP)))
    outside = _outside(limits, matrices, axis, np.arange(1, count + 1)[:, None] / count * angles)
    stopped = np.flatnonzero(outside.any(axis=0))
    result = np.array(angles)
    if not len(stopped):
        return result
    first, column = outside[:, stopped].argmax(axis=0), np.arange(len(stopped))
    low, high = first / count, (first + 1) / count
    here = at_frames(tuple(group for group, _, _ in limits), stopped)
    turned, angles = matrices[stopped], angles[stopped]
    parts = max(1, _STEPS * _FEW // (len(stopped) + _FEW - 1))
    inner = np.arange(1, parts + 1)[:, None] / (parts + 1)
    while np.max((high - low) * np.abs(angles)) > SLACK:
        shares = low + (high - low) * inner
        outside = _outside(here, turned, axis, shares * angles)
        first = np.where(outside.any(axis=0), outside.argmax(axis=0), parts)
        ends = np.concatenate([low[None], shares, high[None]])
        low, high = ends[first, column], ends[first + 1, column]
    result[stopped] = low * angles
    return result


def _outside(limits: list[Bounded], matrices: Array, axis: int, angles: Array) -> NDArray[np.bool_]:
    """Return which turns (S, B) of matrices (B, 1, 3, 3) by angles (S, B) leave the limits."""
    tried, outside = _turned(matrices, axis, angles), np.zeros(angles.shape, bool)
    for group, lower, upper in limits:
        coordinates = group.coordinates(tried)
        outside |= ((coordinates < lower) | (coordinates > upper)).any(axis=(-1, -2))
    return outside


def _turned(matrices: Array, axis: int, angles: Array) -> Array:
    """Return matrices (B, 1, 3, 3) turned about an axis, from the left, by angles (S, B): (S, B, 1, 3, 3)."""
    sine, cosine = np.sin(angles)[..., None, None], np.cos(angles)[..., None, None]
    one, other = (axis + 1) % 3, (axis + 2) % 3
    here, there = matrices[..., one, :], matrices[..., other, :]
    turned = np.empty((*angles.shape, 1, 3, 3))
    turned[..., axis, :] = matrices[..., axis, :]
    turned[..., one, :] = cosine * here - sine * there
    turned[..., other, :] = sine * here + cosine * there
    return turned
