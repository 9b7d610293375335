"""Limits of joints from what they do in the action."""

from typing import Any, Final

import bpy
import numpy as np
from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError, rotation
from ..core.limits import learn_polygon
from .tool import Tool, counted, selected_bones

_MOST: Final = 5000  # frames that are looked at
_STILL: Final = float(np.radians(0.1))  # a bone that turns by less may just not be keyed: it is not held there


class POISE_OT_learn_limits(Tool, bpy.types.Operator):
    """The selected bones turn and twist no further than in the action; those that stand still in it are left out"""

    bl_idname = "poise.learn_limits"
    bl_label = "Learn Limits"

    margin: FloatProperty(
        name="Margin", description="How much further than in the action", subtype="ANGLE", default=np.radians(5.0),
        min=0.0, max=np.pi / 2.0,
    )  # fmt: skip

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        names = selected_bones(context)
        data = object.animation_data
        if data is None or data.action is None:
            raise CoreError(f'"{object.name}" has no action to learn from.')
        rig = bridge.read_rig(object)
        free = [name for name in names if name not in rig.driven]
        if not free:
            raise CoreError("All selected bones are driven: limits would not hold them.")
        first, last = (int(frame) for frame in data.action.frame_range)
        step = 1 + (last - first) // _MOST
        motion, _ = bridge.read_motion(object, rig, np.arange(first, last + 1, step))
        turns = {name: motion.pose.rotations[:, rig.skeleton.index(name)] for name in free}
        polygons = {name: learn_polygon(own, self.margin) for name, own in turns.items()
                    if rotation.angle_between(own, own[0]).max() > _STILL}  # fmt: skip
        if not polygons:
            raise CoreError("None of the selected bones turns in the action: there is nothing to learn.")
        for name, polygon in polygons.items():
            bridge.write_learned(object.pose.bones[name], polygon)
        said = [f"Learnt the limits of {counted(len(polygons), 'bone')} from {counted(len(motion), 'frame')}"]
        if len(motion) * step < motion.fps:
            said[0] += ", less than a second"
        still, driven = [name for name in free if name not in polygons], [name for name in names if name in rig.driven]
        for left_out, why in ((still, "left out, standing still in it"), (driven, "left out, being driven")):
            said += [bridge.said_of(left_out, why)] if left_out else []
        return "WARNING" if len(said) > 1 or len(motion) * step < motion.fps else "INFO", "; ".join(said)


class POISE_OT_forget_limits(Tool, bpy.types.Operator):
    """Take the learnt limits off the selected bones"""

    bl_idname = "poise.forget_limits"
    bl_label = "Forget Limits"

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        bones = [object.pose.bones[name] for name in selected_bones(context)]
        learned = [bone for bone in bones if bone.poise_learned]
        if not learned:
            raise CoreError("None of the selected bones has learnt limits.")
        for bone in learned:
            bridge.write_learned(bone, None)
        return "INFO", f"Forgot the limits of {counted(len(learned), 'bone')}"


CLASSES = (POISE_OT_learn_limits, POISE_OT_forget_limits)
