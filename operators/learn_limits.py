"""Learn limits of joints from the action."""

from typing import Any, Final

import bpy
import numpy as np
from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError, rotation
from ..core.limits import learn_polygon
from ..core.rotation import Array
from ..edits.words import counted
from .stepwise import Steps, Stepwise
from .tool import Tool, action_of, selected_bones

_MOST: Final = 5000  # frames that are read
_STILL: Final = float(np.radians(0.1))  # a bone that turns by less has no keys, and gets no limits


class POISE_OT_learn_limits(Stepwise, bpy.types.Operator):
    """The selected bones turn and twist no further than in the action; those that stand still in it are left out"""

    bl_idname = "poise.learn_limits"
    bl_label = "Learn Limits"

    margin: FloatProperty(
        name="Margin", description="How much further than in the action", subtype="ANGLE", default=np.radians(5.0),
        min=0.0, max=np.pi / 2.0,
    )  # fmt: skip

    def steps(self, context: Any, armature: Any) -> Steps:
        names = selected_bones(context)
        action = action_of(armature)
        rig = bridge.read_rig(armature)
        free = [name for name in names if name not in rig.driven]
        if not free:
            raise CoreError("All selected bones are driven: limits would not hold them.")
        first, last = (int(frame) for frame in action.frame_range)
        step = 1 + (last - first) // _MOST
        frames = np.arange(first, last + 1, step)
        turns = yield from bridge.reading_turns(armature, rig, frames, [rig.skeleton.index(name) for name in free])
        render = context.scene.render
        return _learn(armature, free, turns, self.margin, (last + 1 - first) * render.fps_base / render.fps)


def _learn(armature: Any, names: list[str], turns: Array, margin: float, seconds: float) -> tuple[str, str]:
    """Set limits of the bones that turn from their own rotations (F, n, 4); return the report.

    Raises CoreError if none turns.
    """
    moved = rotation.angle_between(turns, turns[:1]).max(axis=0) > _STILL
    if not moved.any():
        raise CoreError("None of the selected bones turns in the action: there is nothing to learn.")
    polygons = {names[place]: learn_polygon(turns[:, place], margin) for place in np.flatnonzero(moved)}
    for name, polygon in polygons.items():
        bridge.write_learned(armature.pose.bones[name], polygon)
    said = f"Learnt the limits of {counted(len(polygons), 'bone')} from {counted(len(turns), 'frame')}"
    said += ", less than a second" if seconds < 1.0 else ""
    still = [name for name in names if name not in polygons]
    said += f"; {bridge.sentence_about(still, 'left out, standing still in it')}" if still else ""
    return "WARNING" if still or seconds < 1.0 else "INFO", said


class POISE_OT_forget_limits(Tool, bpy.types.Operator):
    """Take the learnt limits off the selected bones"""

    bl_idname = "poise.forget_limits"
    bl_label = "Forget Limits"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        bones = [armature.pose.bones[name] for name in selected_bones(context)]
        learned = [bone for bone in bones if bone.poise_learned]
        if not learned:
            raise CoreError("None of the selected bones has learnt limits.")
        for bone in learned:
            bridge.write_learned(bone, None)
        return "INFO", f"Forgot the limits of {counted(len(learned), 'bone')}"
