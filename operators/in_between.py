"""Fill in the motion between key poses."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..edits.in_between import SHARE, TOLERANCE, InBetweenEdit
from ..edits.motion_edit import MotionEdit
from .keys import RangeTool


class POISE_OT_fill_between(RangeTool, bpy.types.Operator):
    """Fill in natural motion between the key poses, with feet that plant and step. The key poses do not change"""

    bl_idname = "poise.fill_between"
    bl_label = "Fill In-Betweens"

    plant: BoolProperty(
        name="Plant Feet",
        description="Hold planted feet in place, and let the others step. If disabled, only smooth the curves",
        default=True,
    )
    share: FloatProperty(
        name="Breakdowns",
        description="Maximum share of the frames between key poses that get a breakdown. Breakdowns are keyed where "
        "the curves differ most from the motion, at least one",
        default=SHARE,
        min=0.0,
        max=100.0,
        precision=0,
        subtype="PERCENTAGE",
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Distance in world space that the body may be off without further breakdowns",
        default=TOLERANCE,
        min=0.0,
        soft_max=0.1,
        precision=4,
        subtype="DISTANCE",
        unit="LENGTH",
    )

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        frames = self.frames(armature)
        return InBetweenEdit(context, armature, frames, self.plant, share=self.share, tolerance=self.tolerance)

    def end(self, context: Any, armature: Any, edit: InBetweenEdit) -> tuple[str, str]:
        report = edit.write(armature)
        return "INFO", f'{edit.summary()}, in "{report.action}"'
