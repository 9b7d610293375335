"""Blender's own inverse kinematics: an IK constraint on the last bone, an empty moved from target to target."""

from itertools import pairwise
from time import process_time
from typing import Any

import bpy
import numpy as np

from .work import Array, Work


class Blender:
    """The scene is updated once for each target: Blender solves as it evaluates, from the bones' own rotations."""

    def __init__(self, work: Work) -> None:
        self.work, self.name = work, f"Blender {bpy.app.version_string}, IK constraint"
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene: Any = bpy.context.scene
        data = bpy.data.armatures.new("chain")
        self._object: Any = bpy.data.objects.new("chain", data)
        self._target: Any = bpy.data.objects.new("target", None)
        for item in (self._object, self._target):
            scene.collection.objects.link(item)
        layer: Any = bpy.context.view_layer
        layer.objects.active = self._object
        bpy.ops.object.mode_set(mode="EDIT")
        ends = np.concatenate([[0.0], np.cumsum(work.lengths)])
        for i, (head, tail) in enumerate(pairwise(ends)):
            bone = data.edit_bones.new(f"b{i}")
            bone.head, bone.tail = (0.0, head, 0.0), (0.0, tail, 0.0)
            if i:
                bone.parent, bone.use_connect = data.edit_bones[f"b{i - 1}"], True
        bpy.ops.object.mode_set(mode="OBJECT")
        last: Any = self._object.pose.bones[-1]
        constraint: Any = last.constraints.new("IK")
        constraint.target, constraint.chain_count = self._target, len(work.lengths)
        for bone, turn in zip(self._object.pose.bones, work.start, strict=True):
            bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", turn
        self._matrices = np.empty((len(work.targets), len(work.lengths), 4, 4), np.float32)

    def run(self) -> float:
        layer: Any = bpy.context.view_layer
        bones, target = self._object.pose.bones, self._target
        flat = self._matrices.reshape(len(self._matrices), -1)
        targets = self.work.targets.tolist()
        begin = process_time()
        for number, place in enumerate(targets):
            target.location = place
            layer.update()
            bones.foreach_get("matrix", flat[number])
        return process_time() - begin

    def answers(self) -> Array:
        frames = np.swapaxes(self._matrices, -1, -2)[..., :3, :3].astype(float)  # columns come first
        before = np.concatenate([np.broadcast_to(np.eye(3), (len(frames), 1, 3, 3)), frames[:, :-1]], axis=1)
        return _quaternions(np.swapaxes(before, -1, -2) @ frames)


def _quaternions(frames: Array) -> Array:
    """Quaternions (..., 4) of rotation matrices: the eigenvector of the largest eigenvalue (Bar-Itzhack)."""
    m = frames
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    x, y, z = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    rows = [[x + y + z, a, b, c], [a, x - y - z, d, e], [b, d, y - x - z, f], [c, e, f, z - x - y]]
    table = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return np.linalg.eigh(table)[1][..., -1]
