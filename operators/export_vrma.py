"""Save the motion of the active armature as a VRM Animation."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from .. import bridge
from ..edits.vrm_animation import export_vrma
from ..edits.words import counted
from .json_files import SavesFile
from .tool import Tool


class POISE_OT_export_vrma(SavesFile, Tool, bpy.types.Operator):
    """Save the motion of the active armature as a VRM Animation, for VRM avatars"""

    bl_idname = "poise.export_vrma"
    bl_label = "Export VRM Animation"

    filter_glob: StringProperty(default="*.vrma", options={"HIDDEN"})
    filename_ext = ".vrma"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, bytes]:
        first, last = bridge.keyed_range(armature)
        return counted(last - first + 1, "frame"), export_vrma(armature, (first, last))
