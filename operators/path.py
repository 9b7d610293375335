"""Edit the path of a motion over the ground."""

from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty

from ..edits.motion_edit import MotionEdit
from ..edits.path import EASE, PathEdit, check_changes
from ..edits.words import counted
from .keys import RangeTool


class POISE_OT_edit_path(RangeTool, bpy.types.Operator):
    """Move, scale or bend the path of the motion over the ground, and plant the feet again"""

    bl_idname = "poise.edit_path"
    bl_label = "Edit Path"

    offset: FloatVectorProperty(
        name="Offset", description="Offset of the motion in world space", size=3, subtype="TRANSLATION"
    )
    scale: FloatProperty(
        name="Scale", description="Scale of the length of the path", default=1.0, min=0.0, soft_max=3.0
    )
    bend: FloatProperty(
        name="Bend", description="Angle by which the path turns from its start to its end", subtype="ANGLE",
        soft_min=-np.pi, soft_max=np.pi,
    )  # fmt: skip
    ease: FloatProperty(
        name="Ease",
        description="Time in seconds beside the range over which an offset eases in and out",
        default=EASE,
        min=0.0,
        soft_max=2.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
    )
    plant: BoolProperty(name="Plant Feet", description="Hold the feet while they touch the ground", default=True)

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        bend = float(np.degrees(self.bend))
        frames = self.frames(armature)
        check_changes(self.offset, self.scale, bend)
        return PathEdit(context, armature, frames, tuple(self.offset), self.scale, bend, self.plant, self.ease)

    def end(self, context: Any, armature: Any, edit: PathEdit) -> tuple[str, str]:
        report, contacts = edit.write(armature), counted(len(edit.pins), "foot contact")
        first, last = edit.before.frames[edit.control_frames()][[0, -1]].astype(int).tolist()
        return "INFO", f'Edited frames {first} to {last} in "{report.action}" with {contacts}'
