"""Samples of a generated motion, added and taken away in the tables of the panel."""

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty

from ..edits.generated_motion import add_sample, remove_sample
from .generate import GeneratedTool


class POISE_OT_add_sample(GeneratedTool, bpy.types.Operator):
    """Add a sample at the present frame, with the offset that the chosen track has there now"""

    bl_idname = "poise.add_sample"
    bl_label = "Add Sample"

    path: BoolProperty(name="Path", description="To the path, with where it is now", options={"SKIP_SAVE"})

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        frame = context.scene.frame_current
        add_sample(armature, self.path, frame)
        return "INFO", f"A sample at frame {frame}; Generate Anew heeds it"


class POISE_OT_remove_sample(GeneratedTool, bpy.types.Operator):
    """Take this sample away"""

    bl_idname = "poise.remove_sample"
    bl_label = "Remove Sample"

    path: BoolProperty(name="Path", description="Of the path, not of the chosen track", options={"SKIP_SAVE"})
    row: IntProperty(name="Row", description="Which one of the table, counted from 0", min=0, options={"SKIP_SAVE"})

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return "INFO", f"No sample at frame {remove_sample(armature, self.path, self.row):g} any more"


CLASSES = (POISE_OT_add_sample, POISE_OT_remove_sample)
