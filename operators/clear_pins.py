"""Let all pinned bones go."""

from typing import Any

import bpy

from .pins import PinsTool, release


class POISE_OT_clear_pins(PinsTool, bpy.types.Operator):
    """Let all bones of the armature go"""

    bl_idname = "poise.clear_pins"
    bl_label = "Clear Pins"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return "INFO", release(armature, list(range(len(armature.poise_pins))))


CLASSES = (POISE_OT_clear_pins,)
