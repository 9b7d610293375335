"""Listen to live keypoints, and stop."""

from typing import Any

import bpy

from ..core import CoreError
from ..edits.live import start
from ..edits.words import counted
from ..languages.interface import translated
from .tool import Tool


class POISE_OT_listen(Tool, bpy.types.Operator):
    """Pose the armature live by the keypoints that a tracker sends"""

    bl_idname = "poise.listen"
    bl_label = "Listen"
    bl_options = {"REGISTER"}

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if context.window_manager.poise_live.owner:
            raise CoreError("Another armature is listening. Stop it first.")
        if armature.poise_live_remote and not bpy.app.online_access:
            if bpy.app.online_access_override:  # by the command line: the preference cannot be changed
                raise CoreError(
                    "Listening to other machines needs Allow Online Access: restart Blender without --offline-mode."
                )
            raise CoreError(
                "Listening to other machines needs Allow Online Access: turn it on in Preferences > System > Network."
            )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        context.view_layer.update()
        port = start(context, armature)
        where = "this machine and others" if armature.poise_live_remote else "this machine"
        return "INFO", f"Listening to {where} on port {port}"


class POISE_OT_stop_listening(bpy.types.Operator):
    """Stop listening, and key what was recorded"""

    bl_idname = "poise.stop_listening"
    bl_label = "Stop"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not context.window_manager.poise_live.owner:
            cls.poll_message_set(translated("No armature is listening", "tooltips"))
            return False
        return True

    def execute(self, context: Any) -> set[str]:
        live = context.window_manager.poise_live
        live.stop = True  # the timer ends, with what it has to do
        self.report({"INFO"}, translated(f"Posed by {counted(live.applied, 'packet')}", "reports"))
        return {"FINISHED"}
