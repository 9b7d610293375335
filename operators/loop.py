"""Close a motion to a loop."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..edits.loop import FADE, LONGEST, LoopEdit
from ..edits.motion_edit import MotionEdit
from .keys import RangeTool


class POISE_OT_make_loop(RangeTool, bpy.types.Operator):
    """Make the motion end as it begins, so that it can repeat. Feet stay planted across the seam"""

    bl_idname = "poise.make_loop"
    bl_label = "Make Loop"

    find: BoolProperty(name="Find Cycle", description="Use the cycle within the range that needs the least change")
    fade: FloatProperty(
        name="Fade", description="Time in seconds at the start and at the end over which the motion changes",
        default=FADE, min=0.01, soft_max=2.0, max=LONGEST, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )  # fmt: skip
    turning: BoolProperty(
        name="Keep Rotation",
        description="Let the body rotate in each cycle as it does in the range, instead of going straight ahead",
    )
    plant: BoolProperty(name="Plant Feet", description="Hold the feet while they touch the ground", default=True)
    preview: BoolProperty(
        name="Set Preview Range",
        description="Set the preview range of the scene to the frames that repeat. The frame range does not change",
        default=True,
    )

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        return LoopEdit(context, armature, self.frames(armature), self.find, self.fade, self.turning, self.plant)

    def end(self, context: Any, armature: Any, edit: LoopEdit) -> tuple[str, str]:
        report = edit.write(armature)
        first, last = edit.before.frames[[0, -1]].astype(int).tolist()
        if self.preview:
            scene = context.scene  # the last frame is the first one again
            scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, first, last - 1
        self.report({"INFO"}, f'{edit.apart()} in "{report.action}"')  # the status bar shows the last report alone
        return "WARNING" if edit.advice() else "INFO", f"Frames {first} to {last} repeat; {edit.change()}"
