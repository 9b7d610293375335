"""Timed pins in the list: going to their frames, and holding them where the pose has them."""

from typing import Any

import bpy
from bpy.props import IntProperty

from ..core import CoreError
from ..edits.timed_pins import hold_as_posed
from .tool import Tool


class TimedPinTool(Tool):
    """A tool for a timed pin of the list, by default the chosen one."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if not len(armature.poise_timed_pins):
            raise CoreError(f'"{armature.name}" has no timed pins; find contacts or add one first.')

    def place(self, armature: Any, given: int) -> int:
        """Which one of the list; raises CoreError if there is none."""
        place = armature.poise_active_timed_pin if given < 0 else given
        if not 0 <= place < len(armature.poise_timed_pins):
            raise CoreError("No timed pin is chosen in the list.")
        return place


class POISE_OT_goto_timed_pin(TimedPinTool, bpy.types.Operator):
    """Go to the first frame in which it is held; from there to the last one"""

    bl_idname = "poise.goto_timed_pin"
    bl_label = "Go to Timed Pin"

    row: IntProperty(
        name="Row", description="Which one of the list, counted from 0; by default the chosen one", default=-1, min=-1,
        options={"SKIP_SAVE"},
    )  # fmt: skip

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        armature.poise_active_timed_pin = place = self.place(armature, self.row)
        pin = armature.poise_timed_pins[place]
        frame = pin.end if context.scene.frame_current == pin.start else pin.start
        context.scene.frame_set(frame)
        return "INFO", f"{pin.label}: frame {frame}"


class POISE_OT_place_timed_pin(TimedPinTool, bpy.types.Operator):
    """Hold the bone of the chosen timed pin at a place: where, and as, it stands now, as after a drag"""

    bl_idname = "poise.place_timed_pin"
    bl_label = "Hold as Posed"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        pin = armature.poise_timed_pins[self.place(armature, -1)]
        context.view_layer.update()
        hold_as_posed(armature, pin)
        return "INFO", f"{pin.label} is held where it stands now"


CLASSES = (POISE_OT_goto_timed_pin, POISE_OT_place_timed_pin)
