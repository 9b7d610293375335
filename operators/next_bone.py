"""Go through the bones that overlap under the mouse."""

from typing import Any

import bpy

from .. import bridge
from ..bridge.grab import picks, step
from ..languages.interface import translated
from ..overlay.draw import ui_scale


class POISE_OT_next_bone(bpy.types.Operator):
    """Select the next of the bones that overlap under the mouse"""

    bl_idname = "poise.next_bone"
    bl_label = "Next Bone Under Mouse"

    @classmethod
    def poll(cls, context: Any) -> bool:
        if context.mode != "POSE" or context.region_data is None:
            cls.poll_message_set(translated("Move the mouse over a bone in Pose Mode", "tooltips"))
            return False
        return True

    def invoke(self, context: Any, event: Any) -> set[str]:
        mouse = (event.mouse_region_x, event.mouse_region_y)
        view = bridge.read_view(context.region, context.region_data)
        found = picks(context, view, mouse, ui_scale(context))
        if len(found) < 2:
            self.report({"INFO"}, translated("No other bone is under the mouse", "reports"))
            return {"CANCELLED"}
        step(context, mouse)
        context.area.tag_redraw()
        return {"FINISHED"}
