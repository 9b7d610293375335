"""The panel Ghosts: poses at other frames in the viewport."""

from typing import Any

import bpy

from .side import ArmaturePanel, draw_choice, draw_setting, labelled


class POISE_PT_ghosts(ArmaturePanel, bpy.types.Panel):
    """Poses of the active armature at other frames"""

    bl_label = "Ghosts"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Any) -> None:
        layout: Any = self.layout
        layout.prop(context.active_object, "poise_use_ghosts", text="")

    def draw(self, context: Any) -> None:
        armature: Any = context.active_object
        column = labelled(self.layout)
        column.active = armature.poise_use_ghosts
        draw_choice(column, armature, "poise_ghost_frames")
        frames = column.column(align=True)
        for name in ("ghosts_before", "ghosts_after", "ghost_step"):
            draw_setting(frames, armature, f"poise_{name}")
        draw_choice(column, armature, "poise_ghost_shape")
        draw_choice(column, armature, "poise_ghost_bones")
        draw_setting(column, armature, "poise_ghost_opacity", slider=True)


CLASSES = (POISE_PT_ghosts,)
