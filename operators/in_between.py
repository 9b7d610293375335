"""Fill in the motion between key poses."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..edits.in_between import SHARE, InBetweenEdit
from ..edits.motion_edit import MotionEdit
from .keys import ToleranceTool, tolerance_of, tolerance_property


class POISE_OT_fill_between(ToleranceTool, bpy.types.Operator):
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
    tolerance: tolerance_property(
        "Distance in world space that the body may be off without further breakdowns. By default 5 mm for a human of "
        "1.7 m, in proportion for other sizes",
        least=0.0,
    )

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        frames, tolerance = self.frames(armature), tolerance_of(self, armature)
        return InBetweenEdit(context, armature, frames, self.plant, share=self.share, tolerance=tolerance)

    def end(self, context: Any, armature: Any, edit: InBetweenEdit) -> tuple[str, str]:
        report = edit.write(armature)
        return "INFO", f'{edit.summary()}, in "{report.action}"'
