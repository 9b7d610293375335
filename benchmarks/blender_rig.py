"""A rig as an armature object, for what is measured inside Blender."""

from collections.abc import Sequence
from typing import Any

import bpy
from mathutils import Matrix

from .work import Array


def build(names: Sequence[str], parents: Any, lengths: Array, rest: Array, near: float | None = None) -> Any:
    """The armature object in Pose Mode, of rest matrices (J, 3, 4); bones are connected where a tail is `near`."""
    context: Any = bpy.context
    armature = bpy.data.armatures.new("rig")
    armature_object: Any = bpy.data.objects.new("rig", armature)
    context.scene.collection.objects.link(armature_object)
    context.view_layer.objects.active = armature_object
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, name in enumerate(names):
        new: Any = armature.edit_bones.new(name)
        new.tail = (0.0, lengths[bone], 0.0)
        new.matrix = Matrix.LocRotScale(rest[bone, :, 3].tolist(), Matrix(rest[bone, :, :3].tolist()), None)
        if parents[bone] >= 0:
            new.parent = armature.edit_bones[names[int(parents[bone])]]
            new.use_connect = near is not None and (new.parent.tail - new.head).length < near
    bpy.ops.object.mode_set(mode="POSE")
    context.view_layer.update()
    return armature_object
