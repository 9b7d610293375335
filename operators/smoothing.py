"""Take jitter and pops out of a motion."""

from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .. import bridge
from ..core.editing.smoothing import CUTOFF, STICKS_OUT
from ..edits.motion_edit import MotionEdit
from ..edits.smoothing import MOST, QUICKEST, SLOWEST, SmoothEdit
from ..edits.words import counted
from .keys import RangeTool
from .tool import fill_in, selected_bones


class POISE_OT_smooth_motion(RangeTool, bpy.types.Operator):
    """Take jitter, and frames that stick out, out of a motion; the feet stay where they are on the ground"""

    bl_idname = "poise.smooth_motion"
    bl_label = "Smooth Motion"

    cutoff: FloatProperty(
        name="Cutoff", description="What is quicker than this goes, in changes per second; less smooths more",
        default=CUTOFF, min=SLOWEST, soft_min=1.0, soft_max=15.0, max=QUICKEST,
    )  # fmt: skip
    pop: FloatProperty(
        name="Pops", description="Frames that stick out from their neighbours by more are replaced; 0: none is",
        default=STICKS_OUT, min=0.0, max=np.radians(MOST), subtype="ANGLE",
    )  # fmt: skip
    bones: EnumProperty(
        name="Bones",
        description="What is smoothed",
        items=(("ALL", "All", "All bones"), ("SELECTED", "Selected", "The selected bones")),
    )
    plant: BoolProperty(name="Plant Feet", description="Hold the feet while they are on the ground", default=True)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        first, last = bridge.keyed_range(context.active_object)
        fill_in(self, frame_start=first, frame_end=last)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Smooth")

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        bones = selected_bones(context) if self.bones == "SELECTED" else ()
        pop = float(np.degrees(self.pop))
        return SmoothEdit(context, armature, self.frames(armature), bones, self.cutoff, pop, self.plant)

    def end(self, context: Any, armature: Any, edit: SmoothEdit) -> tuple[str, str]:
        report = edit.write(armature)
        return "INFO", f'{edit.summary()}; {counted(len(report.frames), "frame")} in "{report.action}"'
