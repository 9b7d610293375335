"""Make the present pose the rest pose."""

from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..edits.words import counted
from .tool import Tool


class POISE_OT_make_rest(Tool, bpy.types.Operator):
    """Apply the current pose as the rest pose. Meshes keep their current shape, and the action keeps its motion"""

    bl_idname = "poise.make_rest"
    bl_label = "Make Rest Pose"

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if context.mode != "POSE":
            raise CoreError("Switch to Pose Mode to change the rest pose.")

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        done = bridge.make_rest(context, armature)
        said = ["Applied the current pose as the rest pose"]
        said += [f"{counted(len(done.meshes), 'object')} reshaped"] if done.meshes else []
        said += [f'keys of "{done.action}" changed to keep its motion'] if done.action else []
        lost = (
            [f"learned limits and stiffness of {counted(len(done.forgotten), 'bone')} removed"]
            if done.forgotten
            else []
        )
        if done.limited:
            lost.append(f"limits of {counted(len(done.limited), 'bone')} are now relative to the new rest pose")
        return "WARNING" if lost else "INFO", ", ".join([*said, *lost])
