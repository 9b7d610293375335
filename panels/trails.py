"""The panel Trails: paths of parts of the body in the viewport."""

from typing import Any

import bpy

from .side import ArmaturePanel, draw_choice, draw_setting, labelled


class POISE_PT_trails(ArmaturePanel, bpy.types.Panel):
    """Paths of parts of the active armature over time"""

    bl_label = "Trails"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        layout: Any = self.layout
        layout.prop(context.active_object, "poise_use_trails", text="")

    def draw(self, context: Any) -> None:
        armature: Any = context.active_object
        column = labelled(self.layout)
        column.active = armature.poise_use_trails
        draw_choice(column, armature, "poise_trail_bones")
        if armature.poise_trail_bones == "PARTS":
            column.column(align=True).prop(armature, "poise_trail_parts", expand=True)
        draw_choice(column, armature, "poise_trail_range")
        if armature.poise_trail_range == "AROUND":
            draw_setting(column, armature, "poise_trail_around")
        draw_setting(column, armature, "poise_trail_falloff")
        draw_setting(column, armature, "poise_trail_steps")


CLASSES = (POISE_PT_trails,)
