"""Poses of bones that constraints drive, as channels that show the same when nothing drives the bones any more."""

from typing import Final

import numpy as np

from . import rotation
from .pose import Pose, inherited_basis
from .rotation import Array, lengths
from .skeleton import Flags, Skeleton

_SAME: Final = 1e-6  # of the skeleton's size, and of unit vectors: what is nearer is rounding


def freed_pose(
    skeleton: Skeleton, pose: Pose, matrices: Array, decided: Flags, free: Flags
) -> tuple[Pose, Flags, Array]:
    """Return the pose (...) that shows frames (..., J, 3, 4) when nothing drives the bones `free` (J,) any more.

    Also returned are the bones (J,) whose channels are not those of `pose`: free ones that are `decided` (J,) by
    something else, and free ones below a bone that is not as it was; and the frames (..., J, 3, 4) that it shows.
    Heads, directions and lengths are exact, but for connected bones that were not at their parents' tails. Shear across
    a bone is lost.
    """
    turns, moves = np.array(pose.rotations), np.array(pose.translations)
    scales = np.ones_like(moves) if pose.scales is None else np.array(pose.scales)
    made, exact, changed = np.array(matrices, float), np.ones(len(skeleton), bool), np.zeros(len(skeleton), bool)
    for bone, above in enumerate(skeleton.parents.tolist()):
        driven = decided[bone] and free[bone]
        if not driven and (decided[bone] or above < 0 or exact[above]):
            continue
        wanted = matrices[..., bone, :, :]
        base = np.broadcast_to(np.eye(3, 4), wanted.shape) if above < 0 else made[..., above, :, :]
        own = turns[..., bone, :], moves[..., bone, :], scales[..., bone, :]
        if driven or (free[bone] and not _is_same(skeleton, _frame(skeleton, bone, base, *own), wanted)):
            own = _channels(skeleton, bone, base, wanted)
            turns[..., bone, :], moves[..., bone, :], scales[..., bone, :] = own
            changed[bone] = True
        made[..., bone, :, :] = _frame(skeleton, bone, base, *own)
        exact[bone] = _is_same(skeleton, made[..., bone, :, :], wanted)
    return Pose.trusted(turns, moves, None if (scales == 1.0).all() else scales, None), changed, made


def _is_same(skeleton: Skeleton, frames: Array, others: Array) -> bool:
    off = np.abs(frames - others)
    return bool(off[..., :3].max() <= _SAME and off[..., 3].max() <= _SAME * skeleton.size)


def _frame(skeleton: Skeleton, bone: int, base: Array, turn: Array, move: Array, scale: Array) -> Array:
    """Return the frame (..., 3, 4) of one bone below a parent's frame `base` (..., 3, 4)."""
    moved = skeleton.rest_bases[bone] @ move[..., None] if skeleton.local_location[bone] else move[..., None]
    away = skeleton.offsets[bone][:, None] + (0.0 if skeleton.connected[bone] else moved)
    basis = inherited_basis(skeleton, bone, base[..., :3], rotation.to_matrix(turn) * scale[..., None, :])
    return np.concatenate([basis, base[..., :3] @ away + base[..., 3:]], axis=-1)


def _channels(skeleton: Skeleton, bone: int, base: Array, wanted: Array) -> tuple[Array, Array, Array]:
    """Return rotation (..., 4), translation and scale (..., 3) that show a bone's frame (..., 3, 4) below `base`."""
    own = np.linalg.pinv(inherited_basis(skeleton, bone, base[..., :3], np.eye(3))) @ wanted[..., :3]
    along = own[..., 1]
    y = along / np.maximum(lengths(along), np.finfo(float).tiny)[..., None]
    mirrored = np.where(np.linalg.det(own) < 0.0, -1.0, 1.0)[..., None]
    across = [own[..., axis] - np.sum(own[..., axis] * y, axis=-1, keepdims=True) * y for axis in (0, 2)]
    one, other = (vector / np.maximum(lengths(vector), np.finfo(float).tiny)[..., None] for vector in across)
    x = one + mirrored * np.cross(y, other)  # shear is shared by both
    x = x / np.maximum(lengths(x), np.finfo(float).tiny)[..., None]
    axes = np.stack([x, y, np.cross(x, y)], axis=-1)
    away = (np.linalg.pinv(base[..., :3]) @ (wanted[..., 3:] - base[..., 3:]))[..., 0] - skeleton.offsets[bone]
    if skeleton.local_location[bone]:
        away = (np.linalg.inv(skeleton.rest_bases[bone]) @ away[..., None])[..., 0]
    return rotation.from_matrix(axes), away * (not skeleton.connected[bone]), np.sum(axes * own, axis=-2)
