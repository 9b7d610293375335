"""Favour the key pose before the present frame, or the one after it, under the mouse."""

from typing import Any

import bpy

from .. import bridge
from ..edits.breakdown import Breakdown
from .pose_slider import PoseTool, factor_property


class POISE_OT_breakdown(PoseTool, bpy.types.Operator):
    """Set a breakdown between the previous and the next key pose, along the path that a body would take"""

    bl_idname = "poise.breakdown"
    bl_label = "Breakdown"
    of = "the next key pose"

    factor: factor_property("Factor", "0 is the previous key pose, 1 the next one")

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        bridge.keyed_range(armature)

    def begin(self, context: Any, armature: Any) -> Breakdown:
        return Breakdown(context, armature)
