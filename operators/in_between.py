"""Fill in the motion between key poses."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..edits.in_between import TOLERANCE, InBetweenEdit, fewer_keys
from ..edits.motion_edit import MotionEdit
from ..edits.reduce import Reduced
from ..edits.words import counted
from .keys import RangeTool


class POISE_OT_fill_between(RangeTool, bpy.types.Operator):
    """Fill in the motion between your key poses as a body moves: feet stand and step. The key poses do not change"""

    bl_idname = "poise.fill_between"
    bl_label = "Fill In-Betweens"

    plant: BoolProperty(
        name="Plant Feet",
        description="Hold feet that stand, and let the others step. If disabled, only smooth the curves",
        default=True,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Maximum distance in world space that the body may be off because keys are left out. At 0, key "
        "every frame",
        default=TOLERANCE,
        min=0.0,
        soft_max=0.1,
        precision=4,
        subtype="DISTANCE",
        unit="LENGTH",
    )

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        return InBetweenEdit(context, armature, self.frames(armature), self.plant)

    def end(self, context: Any, armature: Any, edit: InBetweenEdit) -> tuple[str, str]:
        report = edit.write(armature)
        self._filled = edit
        return "INFO", f'{counted(len(edit.keys), "key pose")} filled in, in "{report.action}"'

    def begin_more(self, context: Any, armature: Any) -> MotionEdit | None:
        return fewer_keys(context, armature, self._filled, self.tolerance) if self.tolerance > 0.0 else None

    def end_more(self, context: Any, armature: Any, edit: Reduced) -> tuple[str, str]:
        edit.write(armature, new=False)
        return "INFO", edit.summary()
