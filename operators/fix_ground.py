"""Raise a motion where it is below the ground."""

from typing import Any

import bpy
from bpy.props import FloatProperty

from ..edits.fix_ground import FARTHEST, FixedGround
from ..edits.motion_edit import MotionEdit
from ..edits.words import counted
from .keys import RangeTool


class POISE_OT_fix_ground(RangeTool, bpy.types.Operator):
    """Raise feet, hands and knees that are below the ground. Heels and toes roll on it"""

    bl_idname = "poise.fix_ground"
    bl_label = "Fix Ground"

    height: FloatProperty(
        name="Height", description="Height of the ground, where it has no mesh of the collection Ground", default=0.0,
        min=-FARTHEST, max=FARTHEST, subtype="DISTANCE", unit="LENGTH",
    )  # fmt: skip

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        return FixedGround(context, armature, self.frames(armature), self.height)

    def end(self, context: Any, armature: Any, edit: FixedGround) -> tuple[str, str]:
        report = edit.write(armature)
        if report.action is None:
            return "INFO", edit.summary()
        return "INFO", f'{edit.summary()}; {counted(len(report.frames), "frame")} in "{report.action}"'
