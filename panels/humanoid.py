"""The panel Humanoid: settings of the humanoid method."""

from typing import Any

import bpy

from ..properties.humanoid import PULLS, RESISTS, SWIVELS
from .side import PAIR, ArmaturePanel, draw_setting, is_narrow, labelled


class POISE_PT_humanoid(ArmaturePanel, bpy.types.Panel):
    """Pull, reach, resist and swivel of the Humanoid method"""

    bl_label = "Humanoid"
    bl_parent_id = "POISE_PT_solver"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and context.active_object.poise_method == "HUMANOID"

    def draw(self, context: Any) -> None:
        armature: Any = context.active_object
        layout = labelled(self.layout)
        for heading, names in (("Pull", PULLS), ("Resist", RESISTS)):
            column = layout.column(align=True)
            column.label(text=heading)
            for name in names:
                draw_setting(column, armature, f"poise_{name}")
        draw_setting(layout, armature, "poise_reach")
        column = layout.column(align=True)
        column.label(text="Swivel")
        for name, (_, label) in SWIVELS.items():
            row = column.row(align=True, heading=label)
            row.prop(armature, f"poise_use_{name}", text="")
            side = (column if is_narrow(PAIR) else row).row(align=True)
            side.active = getattr(armature, f"poise_use_{name}")
            side.prop(armature, f"poise_{name}", text="")


CLASSES = (POISE_PT_humanoid,)
