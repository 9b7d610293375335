"""Keys that are breakdowns, by Blender's key types, and those that are not: the key poses."""

from collections.abc import Container

import numpy as np

from ..core.rotation import Array
from .channels import ArmatureObject
from .driven import split_path
from .keys import curves_of
from .motion import SAME_FRAME
from .points import item, read_keys


def key_pose_frames(armature: ArmatureObject, first: float, last: float) -> Array:
    """Return the frames (K,) from `first` to `last`, in order, in which bones have keys that are no breakdowns."""
    frames = [np.zeros(0)]
    for (path, _), curve in curves_of(armature).items():
        if split_path(path) is not None:
            keys = read_keys(curve.keyframe_points, ("co", "type"))
            at, kinds = keys["co"][:, 0], keys["type"][:, 0]
            within = (at >= first - SAME_FRAME) & (at <= last + SAME_FRAME)
            frames.append(at[within & (kinds != item("type", "BREAKDOWN"))].astype(float))
    return np.unique(np.concatenate(frames).round(2))


def mark_breakdowns(armature: ArmatureObject, bones: Container[str], times: Array) -> None:
    """Give the keys of bones at times (F,) the type of breakdowns."""
    for (path, _), curve in curves_of(armature).items():
        place = split_path(path)
        if place is not None and place[0] in bones:
            keys = read_keys(curve.keyframe_points, ("co", "type"))
            near = np.abs(keys["co"][:, :1] - times).min(axis=1, initial=np.inf)
            kinds = np.where(near < SAME_FRAME, item("type", "BREAKDOWN"), keys["type"][:, 0])
            curve.keyframe_points.foreach_set("type", kinds.astype(np.intc))
