"""Favour the key pose before the present frame, or the one after it, under the mouse."""

from typing import Any

import bpy
from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError
from ..edits.breakdown import Breakdown
from .slider import Slider


class POISE_OT_breakdown(Slider, bpy.types.Operator):
    """Favour the key pose before the present frame, or the one after it, on the way that a body takes between them"""

    bl_idname = "poise.breakdown"
    bl_label = "Breakdown"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    factor: FloatProperty(
        name="Favor", description="0: the key pose before, 1: the one after", default=0.5, min=0.0, max=1.0,
        subtype="FACTOR", options={"SKIP_SAVE"},
    )  # fmt: skip

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        bridge.keyed_range(armature)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        breakdown = Breakdown(context, armature)
        breakdown.show(armature, self.factor)
        return self._end(context, armature, breakdown)

    def invoke(self, context: Any, event: Any) -> set[str]:
        armature = context.active_object
        try:
            self._breakdown = Breakdown(context, armature)
        except CoreError as error:
            return self.refuse(error)
        self._who = (armature.name, armature.session_uid, tuple(bone.name for bone in armature.pose.bones))
        self.factor = self._breakdown.share
        return self.start_sliding(context, event)

    def slide(self, context: Any, share: float) -> str:
        self.factor += share
        self._breakdown.show(bridge.find_again(*self._who), self.factor)
        return f"{self.factor:.0%} of the next key pose"

    def confirm(self, context: Any) -> set[str]:
        return self.tell(*self._end(context, bridge.find_again(*self._who), self._breakdown))

    def give_back(self) -> None:
        self._breakdown.restore(bridge.find_again(*self._who))

    def _end(self, context: Any, armature: Any, breakdown: Breakdown) -> tuple[str, str]:
        keyed = breakdown.key(context, armature)
        said = "not keyed, since auto-keying is off" if keyed is None else f"{len(keyed)} bones keyed"
        return "INFO", f"{self.factor:.0%} of the next key pose; {said}"
