"""Ranges of single joints: begin with the anatomical one, mirror it to the other side."""

from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.body.ranges import joint_range
from ..edits.words import counted
from .tool import Tool, selected_bones


class POISE_OT_set_range(Tool, bpy.types.Operator):
    """Limit the selected bones to the range of human joints. Bones that are not part of the body are left out"""

    bl_idname = "poise.set_range"
    bl_label = "Set Range from Anatomy"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = selected_bones(context)
        skeleton = bridge.read_rig(armature).skeleton
        roles = bridge.read_roles(armature, skeleton)
        ranges = {name: joint_range(skeleton, roles, skeleton.index(name)) for name in names}
        human = {name: one for name, one in ranges.items() if one.bounded}
        if not human:
            raise CoreError("None of the selected bones has a human range.")
        for name, one in human.items():
            bridge.write_range(armature.pose.bones[name], one)
        return "INFO", f"Set the human range for {counted(len(human), 'bone')}"


class POISE_OT_mirror_range(Tool, bpy.types.Operator):
    """Copy the ranges of the selected bones to the other side, mirrored"""

    bl_idname = "poise.mirror_range"
    bl_label = "Mirror Range"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        bones = armature.pose.bones
        names = [name for name in selected_bones(context) if bones[name].poise_use_range]
        if not names:
            raise CoreError("None of the selected bones has a range.")
        skeleton = bridge.read_rig(armature).skeleton
        roles = bridge.read_roles(armature, skeleton)
        others = bridge.other_sides(armature, names)
        alone = next((name for name in names if name not in others), None)
        if alone is not None:
            raise CoreError(f'"{alone}" has no counterpart on the other side.')
        for name, other in others.items():
            mirrored = bridge.read_range(bones[name]).mirrored_to(joint_range(skeleton, roles, skeleton.index(other)))
            bridge.write_range(bones[other], mirrored)
        return "INFO", f"Mirrored {counted(len(names), 'range')}"
