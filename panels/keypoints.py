"""The panel Keypoints: import files, and listen to live trackers."""

from typing import Any, Final

import bpy

from ..languages.interface import translated
from .side import ArmaturePanel, Side, draw_sentence, draw_setting, draw_tools, is_narrow, labelled

_COUNTS: Final = ("received", "applied", "used", "parts", "refused", "late", "skipped", "lost")


class POISE_PT_keypoints(ArmaturePanel, bpy.types.Panel):
    """Motion from keypoints of files and live trackers"""

    bl_label = "Keypoints"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.import_keypoints", icon="IMPORT")
        armature, live = context.active_object, context.window_manager.poise_live
        if live.owner:
            layout.operator("poise.stop_listening", icon="PAUSE", depress=True)
        else:
            layout.operator("poise.listen", icon="PLAY")
        column = settings(layout, live)
        column.prop(armature, "poise_live_layout", **({"text": ""} if is_narrow() else {}))
        draw_setting(column, armature, "poise_live_port")
        column.prop(armature, "poise_live_record")
        if live.status:
            draw_sentence(layout, context, live.status, "RADIOBUT_ON" if live.owner else "RADIOBUT_OFF")
        if live.recorded:
            layout.label(text=translated(f"{live.recorded} poses recorded"))


class POISE_PT_live_settings(Side, bpy.types.Panel):
    """Settings of live keypoints"""

    bl_label = "Live Settings"
    bl_parent_id = "POISE_PT_keypoints"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        column = settings(self.layout, context.window_manager.poise_live)
        for name in ("unit", "up", "travel", "delay", "exchange", "limits", "remote"):
            draw_setting(column, context.active_object, f"poise_live_{name}")


class POISE_PT_live_statistics(Side, bpy.types.Panel):
    """Packets that were received, and how long the pose waits for them"""

    bl_label = "Statistics"
    bl_parent_id = "POISE_PT_keypoints"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        live = context.window_manager.poise_live
        return bool(live.received or live.owner)

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        live, column = context.window_manager.poise_live, layout.column(align=True)
        column.label(text=translated(f"{live.rate:.0f} packets a second"))
        column.label(text=translated(f"{live.wait:.0f} ms wait, {live.latency:.1f} ms to pose"))
        column.label(text=translated(f"{live.held:.0f} ms filter delay"))
        for name in _COUNTS:
            count = getattr(live, name)
            if count or name in ("received", "applied"):
                split = column.split(factor=0.5)
                split.label(text=live.bl_rna.properties[name].name)
                split.label(text=str(count))


def settings(layout: Any, live: Any) -> Any:
    """Return a column for settings that apply when listening starts."""
    column = labelled(layout.column())
    column.enabled = not live.owner
    return column


class POISE_MT_keypoints(bpy.types.Menu):
    """Motion from keypoints of files and live trackers"""

    bl_label = "Keypoints"

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        layout.operator("poise.import_keypoints", text="Import Keypoints (Mocap)")
        draw_tools(layout, ("listen", "stop_listening"))


CLASSES = (POISE_PT_keypoints, POISE_PT_live_settings, POISE_PT_live_statistics, POISE_MT_keypoints)
