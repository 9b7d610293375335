"""How far a joint of a chain may turn about an axis before it leaves its limits."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..limits import EulerBox, LimitGroup, excess
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton

SLACK: Final = 1e-9  # radians beyond a bound that are no crossing, and how exactly a bound is found
_STEPS: Final = 32  # angles that are tried at once: forbidden ranges narrower than 180 / 32 degrees may be stepped over
_HALF_TURN_STEPS: Final = int(np.ceil(np.log(np.pi / SLACK) / np.log(_STEPS)))
_SHARES: Final[Array] = np.arange(1, _STEPS + 1)[:, None] / _STEPS


def limit_groups(skeleton: Skeleton, bones: list[int], pose: Pose, limits: bool) -> dict[int, tuple[LimitGroup, ...]]:
    """Bone -> its own limits in groups of one bone, for those of `bones` that have any.

    Locked Euler angles are limits, too: ranges of no width at what the flat pose (B, J) has, even without `limits`.
    """
    found: dict[int, list[LimitGroup]] = {}
    for bone in bones:
        held = skeleton.rotation_locks[bone]
        if held.any():
            mode = skeleton.rotation_modes[bone]
            order = mode if mode in rotation.EULER_ORDERS else "XYZ"
            angles = rotation.to_euler(pose.rotations[:, [bone]], order)
            box = EulerBox([bone], [order], np.where(held, angles, -np.inf), np.where(held, angles, np.inf))
            found.setdefault(bone, []).append(box)
    for group in skeleton.limits if limits else ():
        for place, bone in enumerate(group.bones.tolist()):
            if bone in bones:
                found.setdefault(bone, []).append(group.take(np.array([place])))
    return {bone: tuple(groups) for bone, groups in found.items()}


def allowed(groups: tuple[LimitGroup, ...], own: Array, axis: int, angles: Array, frames: NDArray[np.int64]) -> Array:
    """The largest parts (B,) of `angles` (B,) about the axis, from the left, over which own rotations stay inside.

    own (B, 4); frames (B,): where in the batch of the limits these are.
    """
    matrices = rotation.to_matrix(own)[:, None]
    here = [group.at_frames(frames) for group in groups]
    low, high = np.zeros(len(angles)), np.ones(len(angles))
    for _ in range(_HALF_TURN_STEPS):
        shares = low + (high - low) * _SHARES
        turns = np.zeros((*shares.shape, 3))
        turns[..., axis] = shares * angles
        tried = rotation.to_matrix(rotation.exp(turns))[:, :, None] @ matrices
        outside = np.zeros(shares.shape, bool)
        for group in here:
            outside |= (np.abs(excess(group, group.coordinates(tried))) > SLACK).any(axis=(-1, -2))
        stopped = outside.any(axis=0)
        first = np.where(stopped, outside.argmax(axis=0), _STEPS)
        reached = np.concatenate([low[None], shares])
        column = np.arange(len(angles))
        low = reached[first, column]
        high = np.where(stopped, reached[np.minimum(first + 1, _STEPS), column], low)
        if not stopped.any() or np.max((high - low) * np.abs(angles)) <= SLACK:
            break
    return low * angles
