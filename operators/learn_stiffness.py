"""Stiffness of all joints of an armature, from what they do in its action."""

from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.body.tuning import learn_tuning, turns_of
from ..core.pose import forward_matrices
from ..edits.words import counted
from .stepwise import Steps, Stepwise
from .tool import Tool

_MOST: Final = 500  # frames that are looked at: rigs whose bodies are driven are evaluated at each
_LITTLE: Final = 0.5  # a motion that counts for less than what is known of people


class POISE_OT_learn_stiffness(Stepwise, bpy.types.Operator):
    """Drags, Solve Here, Bake and jobs turn each joint, about each axis, as readily as it turns in the action"""

    bl_idname = "poise.learn_stiffness"
    bl_label = "Learn Stiffness"

    def steps(self, context: Any, armature: Any) -> Steps:
        data = armature.animation_data
        if data is None or data.action is None:
            raise CoreError(f'"{armature.name}" has no action to learn from.')
        body = bridge.read_body(armature)
        first, last = (int(frame) for frame in data.action.frame_range)
        frames = np.arange(first, last + 1, 1 + (last - first) // _MOST)
        motion, _ = yield from bridge.reading_motion(armature, body.rig, frames)
        pose = motion.pose
        if body.controlled is not None:
            pose = bridge.read_controlled(body.controlled, forward_matrices(body.rig.skeleton, pose))
        tuning = learn_tuning(body.skeleton, body.roles, turns_of(body.skeleton, body.roles, pose))
        if not tuning.learned.any():
            raise CoreError("No joint turns in the action: there is nothing to learn.")
        bridge.write_tuning(armature, body.skeleton, tuning)
        said = (
            f"Learnt the stiffness of {counted(int(tuning.learned.sum()), 'bone')} from {counted(len(motion), 'frame')}"
        )
        if tuning.share < _LITTLE:
            return "WARNING", f"{said}, which show few poses: they count for {tuning.share:.0%}"
        return "INFO", said


class POISE_OT_forget_stiffness(Tool, bpy.types.Operator):
    """Joints are as stiff again as those of people"""

    bl_idname = "poise.forget_stiffness"
    bl_label = "Forget Stiffness"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        learnt = bridge.forget_tuning(armature)
        if not learnt:
            raise CoreError(f'"{armature.name}" has no learnt stiffness.')
        return "INFO", f"Forgot the stiffness of {counted(learnt, 'bone')}"


CLASSES = (POISE_OT_learn_stiffness, POISE_OT_forget_stiffness)
