"""Make the present pose the rest pose."""

from typing import Any

import bpy

from .. import bridge
from ..edits.words import counted
from .tool import Tool


class POISE_OT_make_rest(Tool, bpy.types.Operator):
    """Make the present pose the rest pose; meshes keep the shape that they show, the action keeps its motion"""

    bl_idname = "poise.make_rest"
    bl_label = "Make Rest Pose"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        done = bridge.make_rest(context, armature)
        said = ["The pose is the rest pose now"]
        said += [f"{counted(len(done.meshes), 'object')} reshaped"] if done.meshes else []
        said += [f'keys of "{done.action}" changed to keep its motion'] if done.action else []
        lost = [f"what {counted(len(done.forgotten), 'bone')} learnt forgotten"] if done.forgotten else []
        lost += [f"limits of {counted(len(done.limited), 'bone')} are about the new pose"] if done.limited else []
        return "WARNING" if lost else "INFO", ", ".join([*said, *lost])
