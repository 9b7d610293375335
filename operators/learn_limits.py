"""Learn limits of joints from the action, and share them as files."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError
from ..core.formats.limits import limits_text, read_limits
from ..core.steps import run_steps
from ..edits.learn import learn_limits
from ..edits.words import counted
from .json_files import LoadsJson, SavesJson
from .lasting import Lasting
from .tool import Tool, selected_bones


class POISE_OT_learn_limits(Lasting, bpy.types.Operator):
    """Limit the selected bones to how far they swing and twist in the action. Bones that stay still are left out"""

    bl_idname = "poise.learn_limits"
    bl_label = "Learn Limits"

    margin: FloatProperty(
        name="Margin",
        description="How much further bones may rotate than they do in the action",
        subtype="ANGLE",
        default=np.radians(5.0),
        min=0.0,
        max=np.pi / 2.0,
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        steps = learn_limits(context, armature, selected_bones(context), self.margin)
        learned = run_steps(steps, bridge.check_stopped)
        return "WARNING" if learned.little else "INFO", learned.sentence


class POISE_OT_forget_limits(Tool, bpy.types.Operator):
    """Remove the learned limits of the selected bones"""

    bl_idname = "poise.forget_limits"
    bl_label = "Clear Learned Limits"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        bones = [armature.pose.bones[name] for name in selected_bones(context)]
        learned = [bone for bone in bones if bone.poise_learned]
        if not learned:
            raise CoreError("None of the selected bones has learned limits.")
        for bone in learned:
            bridge.write_learned(bone, None)
        return "INFO", f"Cleared the learned limits of {counted(len(learned), 'bone')}"


class POISE_OT_save_limits(SavesJson, Tool, bpy.types.Operator):
    """Save the learned limits of the armature as JSON, for other armatures with the same bone names"""

    bl_idname = "poise.save_limits"
    bl_label = "Save Limits"

    def content(self, context: Any, armature: Any, path: Path) -> tuple[str, str]:
        learned = {bone.name: bridge.read_learned(bone) for bone in armature.pose.bones if bone.poise_learned}
        if not learned:
            raise CoreError(f'No bone of "{armature.name}" has learned limits.')
        return f"the limits of {counted(len(learned), 'bone')}", limits_text(learned)


class POISE_OT_load_limits(LoadsJson, Tool, bpy.types.Operator):
    """Replace the learned limits of bones with those of a JSON file"""

    bl_idname = "poise.load_limits"
    bl_label = "Load Limits"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        limits = read_limits(self.path)
        strange = next((bone for bone in limits if bone not in armature.pose.bones), None)
        if strange is not None:
            raise CoreError(f'"{armature.name}" has no bone "{strange}", whose limits are in the file.')
        for bone, polygon in limits.items():
            bridge.write_learned(armature.pose.bones[bone], polygon)
        return "INFO", f"Loaded the limits of {counted(len(limits), 'bone')}"
