"""Learn the stiffness of all joints of an armature from its action."""

from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.steps import run_steps
from ..edits.learn import learn_stiffness
from ..edits.words import counted
from .lasting import Lasting
from .tool import Tool


class POISE_OT_learn_stiffness(Lasting, bpy.types.Operator):
    """Learn from the action how easily each joint rotates in drags, Solve Here and Bake"""

    bl_idname = "poise.learn_stiffness"
    bl_label = "Learn Stiffness"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        learned = run_steps(learn_stiffness(armature), bridge.check_stopped)
        return "WARNING" if learned.little else "INFO", learned.sentence


class POISE_OT_forget_stiffness(Tool, bpy.types.Operator):
    """Restore the stiffness of human joints"""

    bl_idname = "poise.forget_stiffness"
    bl_label = "Clear Learned Stiffness"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        learned = bridge.forget_tuning(armature)
        if not learned:
            raise CoreError(f'"{armature.name}" has no learned stiffness.')
        return "INFO", f"Cleared the learned stiffness of {counted(learned, 'bone')}"
