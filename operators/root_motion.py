"""Take the travel out of a motion, give it to a root bone or the object, or give it back to the body."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from ..edits.motion_edit import MotionEdit
from ..edits.root_motion import LONGEST, SMOOTH, RootMotion
from ..edits.words import counted
from .keys import RangeTool


class POISE_OT_root_motion(RangeTool, bpy.types.Operator):
    """Transfer the travel of a motion over the ground to the root bone, the object or the hips, or remove it"""

    bl_idname = "poise.root_motion"
    bl_label = "Root Motion"

    carrier: EnumProperty(
        name="Travel",
        description="What travels over the ground",
        items=(
            ("NOBODY", "In Place", "Remove the travel, but keep sway and bob"),
            (
                "ROOT",
                "Root Bone",
                "Topmost bone above the hips, as game engines expect. The body stays where it is",
            ),
            ("OBJECT", "Object", "Armature object. The body stays where it is, and the root bone where it starts"),
            ("BODY", "Body", "Hips. The root bone stays where it is at the first frame"),
        ),
    )
    smooth: FloatProperty(
        name="Smooth",
        description="Time in seconds. Quicker sway and rotation of the hips are not transferred",
        default=SMOOTH,
        min=0.0,
        soft_max=2.0,
        max=LONGEST,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
    )
    axes: EnumProperty(
        name="Axes",
        description="What is transferred",
        items=(
            ("X", "X", "Travel along X of the world"),
            ("Y", "Y", "Travel along Y of the world"),
            ("TURN", "Rotation", "Heading of the body"),
        ),
        options={"ENUM_FLAG"},
        default={"X", "Y", "TURN"},
    )

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        carrier: Any = self.carrier.lower()
        axes = {axis.lower() for axis in self.axes}
        return RootMotion(context, armature, self.frames(armature), carrier, self.smooth, axes)

    def end(self, context: Any, armature: Any, edit: RootMotion) -> tuple[str, str]:
        report = edit.write(armature)
        level = "WARNING" if edit.advice() else "INFO"
        return level, f'{edit.summary()}; {counted(len(report.frames), "frame")} in "{report.action}"'
