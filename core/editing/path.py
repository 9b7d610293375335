"""Edits of the root path of a motion: moved, scaled and bent. Feet may slide: lock them afterwards."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..motion import Motion, forward_of
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .timed_pins import share_within


def edit_path(
    skeleton: Skeleton,
    motion: Motion,
    bone: int,
    offset: ArrayLike = (0.0, 0.0, 0.0),
    scale: float = 1.0,
    bend: float = 0.0,
    up: ArrayLike = (0.0, 0.0, 1.0),
    span: tuple[float, float] | None = None,
    ease: float = 0.0,
) -> Motion:
    """Return the motion with the horizontal path of a bone, such as the hips, edited; `up` (3,) is vertical.

    offset (3,) in armature space. `scale` of the path's length. `bend` in radians: path and body turn evenly over its
    length, at the end by this angle. The first frame keeps its position but for the offset.

    `span`: frame numbers between which the path is edited. Later frames continue from its new end; the offset is eased
    in and out over `ease` frames beside the span.
    """
    axis = np.asarray(up, float) / np.linalg.norm(up)
    heads = forward_of(skeleton, motion.pose, [bone])[0][:, 0]
    flat = heads - (heads @ axis)[:, None] * axis
    steps = np.diff(flat, axis=0)
    first, last = (motion.frames[0], motion.frames[-1]) if span is None else span
    within = (motion.frames[:-1] >= first) & (motion.frames[1:] <= last)
    length = np.concatenate([[0.0], np.cumsum(within * rotation.lengths(steps))])
    angles = bend * length / length[-1] if length[-1] > 0.0 else np.zeros(len(length))
    turns = rotation.exp(angles[:, None] * axis)
    halfway = rotation.exp(0.5 * (angles[1:] + angles[:-1])[:, None] * axis)
    scales = np.where(within, scale, 1.0)[:, None]
    moved = flat[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(scales * rotation.rotate(halfway, steps), axis=0)])
    moved += share_within(motion.frames, (first, last), ease)[:, None] * np.asarray(offset, float)
    return replace(motion, pose=move_roots(skeleton, motion, flat, turns, moved))


def move_roots(skeleton: Skeleton, motion: Motion, start: Array, turns: Array, end: Array) -> Pose:
    """Return the poses with all roots turned about points `start` (F, 3) and moved with them to `end` (F, 3)."""
    pose = motion.pose
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    roots = np.flatnonzero(skeleton.parents < 0).tolist()
    heads, _ = forward_of(skeleton, pose, roots)
    for place, root in enumerate(roots):
        rest = skeleton.rest_rotations[root]
        own = rotation.mul(rotation.inv(rest), rotation.mul(turns, rest))
        shift = rotation.rotate(turns, heads[:, place] - start) + end - heads[:, place]
        local = rotation.rotate(rotation.inv(rest), shift) if skeleton.local_location[root] else shift
        rotations[:, root] = rotation.mul(own, rotations[:, root])
        translations[:, root] += local
    return Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices)
