"""The preferences of Poise: its shortcuts."""

from typing import Any

import bpy
import rna_keymap_ui

from . import keymaps


class POISE_AP_preferences(bpy.types.AddonPreferences):
    """Poise's shortcuts"""

    bl_idname = __package__ or ""

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.label(text="Shortcuts in Pose Mode, with any tool")
        configs = context.window_manager.keyconfigs
        for keymap, item in keymaps.user_items(configs):
            rna_keymap_ui.draw_kmi([], configs.user, keymap, item, layout.column(), 0)


CLASSES = (POISE_AP_preferences,)
