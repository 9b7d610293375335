"""Favour the key pose before the present frame, or the one after it, under the mouse."""

from typing import Any, Final

import bpy
from bpy.props import FloatProperty

from .. import bridge
from ..core import CoreError
from ..edits.breakdown import Breakdown
from .tool import Tool, attempt

_WHEEL: Final = {"WHEELUPMOUSE": 0.05, "WHEELDOWNMOUSE": -0.05}
_CONFIRM: Final = {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}
_CANCEL: Final = {"ESC", "RIGHTMOUSE"}
_WIDTH: Final = 0.5  # of the region: way of the mouse from one key pose to the other


class POISE_OT_breakdown(Tool, bpy.types.Operator):
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
        self._mouse, self.factor = event.mouse_x, self._breakdown.share
        context.window_manager.modal_handler_add(self)
        return self._show(context, armature)

    def modal(self, context: Any, event: Any) -> set[str]:
        return attempt(self, context, event, self._handle)

    def _handle(self, context: Any, event: Any) -> set[str]:
        armature: Any = bridge.find_again(*self._who)
        pressed = event.value == "PRESS"
        if event.type in _CANCEL and pressed:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type in _CONFIRM and pressed:
            context.workspace.status_text_set(None)
            return self.tell(*self._end(context, armature, self._breakdown))
        if event.type == "MOUSEMOVE":
            self.factor += (event.mouse_x - self._mouse) / (_WIDTH * context.region.width)
            self._mouse = event.mouse_x
            return self._show(context, armature)
        if event.type in _WHEEL and pressed:
            self.factor += _WHEEL[event.type]
            return self._show(context, armature)
        return {"RUNNING_MODAL"}

    def cancel(self, context: Any) -> None:
        """Give the pose back; Blender calls this, too, when it closes the file or the window."""
        context.workspace.status_text_set(None)
        try:
            self._breakdown.restore(bridge.find_again(*self._who))
        except CoreError:  # it is gone
            return

    def _show(self, context: Any, armature: Any) -> set[str]:
        self._breakdown.show(armature, self.factor)
        context.workspace.status_text_set(
            f"{self.factor:.0%} of the next key pose   Mouse, wheel: change   Click, Enter: confirm   Esc: cancel"
        )
        return {"RUNNING_MODAL"}

    def _end(self, context: Any, armature: Any, breakdown: Breakdown) -> tuple[str, str]:
        keyed = breakdown.key(context, armature)
        said = "not keyed, since auto-keying is off" if keyed is None else f"{len(keyed)} bones keyed"
        return "INFO", f"{self.factor:.0%} of the next key pose; {said}"
