"""The panel "Keypoints": files onto the armature, and live trackers."""

from typing import Any, Final

import bpy

from .side import Side, draw_sentence

_COUNTS: Final = ("received", "applied", "used", "refused", "late", "skipped", "lost")


class POISE_PT_keypoints(Side, bpy.types.Panel):
    """Motion from a body's keypoints: files and live trackers"""

    bl_label = "Keypoints"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.active_object is not None and context.active_object.type == "ARMATURE"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.import_keypoints", icon="IMPORT")
        object, live = context.active_object, context.window_manager.poise_live
        box = layout.column()
        box.use_property_split, box.use_property_decorate = True, False
        box.enabled = not live.owner
        for name in ("layout", "unit", "up", "travel", "delay", "port"):
            box.prop(object, f"poise_live_{name}")
        for name in ("exchange", "limits", "record", "remote"):
            box.prop(object, f"poise_live_{name}")
        if live.owner:
            layout.operator("poise.stop_listening", icon="PAUSE", depress=True)
        else:
            layout.operator("poise.listen", icon="PLAY")
        if live.status:
            draw_sentence(layout, context, live.status, "RADIOBUT_ON" if live.owner else "RADIOBUT_OFF")
        if live.received or live.owner:
            column = layout.column(align=True)
            column.label(text=f"{live.rate:.0f} packets a second, {live.latency:.1f} ms to the pose")
            for name in _COUNTS:
                count = getattr(live, name)
                if count or name in ("received", "applied"):
                    split = column.split(factor=0.5)
                    split.label(text=live.bl_rna.properties[name].name)
                    split.label(text=str(count))
            if live.recorded:
                column.label(text=f"{live.recorded} poses recorded")


CLASSES = (POISE_PT_keypoints,)
