"""Blender's own interpolation between key poses: Bezier curves with auto-clamped handles."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from core import Motion, rotation
from core.skeleton import Indices


def interpolate(motion: Motion, keys: Indices) -> Motion:
    """The motion as Blender makes it of keys at these indices, of all quaternions and the location of the root."""
    pose, frames, count = motion.pose, motion.frames, motion.pose.rotations.shape[1]
    turns = rotation.unroll(pose.rotations[keys]).reshape(len(keys), -1)
    values = np.concatenate([turns, pose.translations[keys][:, 0]], axis=1)
    found = np.empty((len(motion), values.shape[1]))
    owner: Any = bpy.data.objects.new("curves", None)
    action: Any = bpy.data.actions.new("curves")
    owner.animation_data_create().action = action
    for column, heights in enumerate(values.T):
        curve = action.fcurve_ensure_for_datablock(owner, f'["c{column}"]', index=0)
        curve.keyframe_points.add(len(keys))
        curve.keyframe_points.foreach_set("co", np.stack([frames[keys], heights], axis=1).astype(np.float32).ravel())
        for point in curve.keyframe_points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()
        found[:, column] = [curve.evaluate(frame) for frame in frames.tolist()]
    bpy.data.objects.remove(owner)
    bpy.data.actions.remove(action)
    rotations = rotation.normalize(found[:, :-3].reshape(len(motion), count, 4))
    translations = pose.translations.copy()
    translations[:, 0] = found[:, -3:]
    return replace(motion, pose=replace(pose, rotations=rotations, translations=translations))
