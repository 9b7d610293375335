"""Take the travel out of a motion, give it to a root bone or the object, or give it back to the body."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

from .. import bridge
from ..edits.motion_edit import MotionEdit
from ..edits.root_motion import LONGEST, SMOOTH, RootMotion
from ..edits.words import counted
from .keys import RangeTool
from .tool import fill_in


class POISE_OT_root_motion(RangeTool, bpy.types.Operator):
    """Let the root bone or the object carry the travel of a motion over the ground, or the body, or take it out"""

    bl_idname = "poise.root_motion"
    bl_label = "Root Motion"

    carrier: EnumProperty(
        name="Travel",
        description="What travels over the ground",
        items=(
            ("NOBODY", "In Place", "Nothing: the body moves in place, with its sway and its ups and downs"),
            (
                "ROOT",
                "Root Bone",
                "The topmost bone above the hips, as for game engines; the body stays where it is",
            ),
            ("OBJECT", "Object", "The armature object; the body stays where it is, the root bone where it begins"),
            ("BODY", "Body", "The hips; the root bone stays where it is in the first frame"),
        ),
    )
    smooth: FloatProperty(
        name="Smooth", description="Sway and turns of the hips that are quicker stay with the body", default=SMOOTH,
        min=0.0, soft_max=2.0, max=LONGEST, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )  # fmt: skip
    axes: EnumProperty(
        name="Axes",
        description="How the body travels",
        items=(("X", "X", "Along X of the world"), ("Y", "Y", "Along Y of the world"), ("TURN", "Turn", "Its heading")),
        options={"ENUM_FLAG"},
        default={"X", "Y", "TURN"},
    )

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        first, last = bridge.keyed_range(context.active_object)
        fill_in(self, frame_start=first, frame_end=last)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Change")

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        carrier: Any = self.carrier.lower()
        axes = {axis.lower() for axis in self.axes}
        return RootMotion(context, armature, self.frames(armature), carrier, self.smooth, axes)

    def end(self, context: Any, armature: Any, edit: RootMotion) -> tuple[str, str]:
        report = edit.write(armature)
        return "INFO", f'{edit.summary()}; {counted(len(report.frames), "frame")} in "{report.action}"'
