"""Learn the stiffness of all joints of an armature from its action."""

from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.body.tuning import learn_tuning, turns_of
from ..core.pose import forward_matrices
from ..edits.words import counted
from .stepwise import Steps, Stepwise
from .tool import Tool, action_of

_MOST: Final = 500  # frames that are read: a driven body is evaluated at each
_LITTLE: Final = 0.5  # share of a motion that weighs less than the prior


class POISE_OT_learn_stiffness(Stepwise, bpy.types.Operator):
    """Drags, Solve Here, Bake and jobs turn each joint, about each axis, as readily as it turns in the action"""

    bl_idname = "poise.learn_stiffness"
    bl_label = "Learn Stiffness"

    def steps(self, context: Any, armature: Any) -> Steps:
        action = action_of(armature)
        body = bridge.read_body(armature)
        first, last = (int(frame) for frame in action.frame_range)
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
