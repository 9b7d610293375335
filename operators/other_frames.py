"""What the viewport shows of other frames of the active armature, and the click that goes to one of them.

They are evaluated by a timer, soon after a change and not while another operator runs or the animation plays: what is
dragged gets keys when it is let go, so that the poses at other frames stay as they are until then. The first picture
that Blender draws after that has them renewed: no timer waits for it.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Protocol

import bpy
from bpy.app.handlers import persistent

from .. import bridge
from ..overlay.draw import ui_scale
from .handlers import remove_handler
from .tool import OfArmature, frame_property

_SOON: Final = 0.03  # seconds after a change
REACH: Final = 12.0  # pixels between the mouse and what is clicked, at a scale of 1


class Closable(Protocol):
    """What draws until it is closed."""

    def close(self) -> None: ...


class OtherFrames:
    """Keeps what `setting` of the active armature shows of other frames up to date, until `close`.

    Subclasses say which `frames` are shown and `read` those that are not known, into `known`; `drawing` draws them.
    """

    setting: str
    drawing: Closable
    opened: ClassVar[list["OtherFrames"]] = []
    _reading: ClassVar[bool] = False  # whether one of them evaluates other frames, which is no change

    def __init__(self) -> None:
        self.known: dict[float, Any] = {}  # by frame; drawn until others are read
        self.shown: list[float] = []
        self._stale = False
        self._due = False  # what is shown is to be renewed
        self._armature = 0  # session_uid of the one whose they are

        @persistent
        def note_change(scene: Any, graph: Any) -> None:
            if self._reading:
                return
            if self._stale or any(not isinstance(update.id, bpy.types.Scene) for update in graph.updates):
                self._stale = True
                self._expect(graph)

        @persistent
        def note_frame(scene: Any, graph: Any) -> None:
            if not self._reading:
                self._expect(graph)

        handlers: Any = bpy.app.handlers
        self._connections = ((handlers.depsgraph_update_post, note_change), (handlers.frame_change_post, note_frame))
        for calls, call in self._connections:
            calls.append(call)
        self.opened.append(self)

    def frames(self, context: Any, armature: Any) -> list[float]:
        """Return the frames that are shown, in order."""
        raise NotImplementedError

    def read(self, context: Any, armature: Any, frames: Sequence[float]) -> None:
        """Read some frames that are not known, or the first of them; the others are asked for again."""
        raise NotImplementedError

    def nearest(self, context: Any, view: bridge.View, mouse: tuple[float, float]) -> tuple[float, float] | None:
        """Return how many pixels the nearest of what is drawn is away from a pixel, and its frame, or None."""
        raise NotImplementedError

    def is_drawn(self, context: Any) -> bool:
        """Return whether what is known is to be drawn; it is renewed soon if it is due."""
        if self._due and not _is_busy():
            self._wake()
        return self.is_shown(context.active_object)

    def is_shown(self, armature: Any) -> bool:
        """Return whether what is known is of an armature that shows it."""
        return armature is not None and armature.session_uid == self._armature and getattr(armature, self.setting)

    def close(self) -> None:
        """Remove the drawing, the handlers and the timer."""
        self.opened.remove(self)
        self.drawing.close()
        for calls, call in self._connections:
            remove_handler(calls, call)
        if bpy.app.timers.is_registered(self._renew):
            bpy.app.timers.unregister(self._renew)

    def _expect(self, graph: Any) -> None:
        """Renew what is shown soon, if the active object shows it."""
        armature = graph.view_layer.objects.active
        if armature is not None and getattr(armature, self.setting):
            self._due = True
            self._wake()

    def _wake(self) -> None:
        """Have a timer renew what is shown."""
        if not bpy.app.timers.is_registered(self._renew):
            bpy.app.timers.register(self._renew, first_interval=_SOON)

    def _renew(self) -> float | None:
        """Read the frames that are not known; a timer calls it."""
        context: Any = bpy.context
        window = next(iter(context.window_manager.windows), None)
        if window is None or _is_busy():
            return None
        self._due = False
        with context.temp_override(window=window):
            armature = context.active_object
            if armature is None or armature.type != "ARMATURE" or not getattr(armature, self.setting):
                return None
            if self._stale or armature.session_uid != self._armature:
                self.known, self._armature, self._stale = {}, armature.session_uid, False
            self.shown = self.frames(context, armature)
            missing = [frame for frame in self.shown if frame not in self.known]
            OtherFrames._reading = True
            try:
                self.read(context, armature, missing)
                if missing:
                    context.view_layer.update()
            finally:
                OtherFrames._reading = False
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()
        return None if self.known.keys() >= {*self.shown} else _SOON


def _is_busy() -> bool:
    """Return whether an operator runs, or the animation plays, in a window."""
    context: Any = bpy.context
    windows = context.window_manager.windows
    return any(len(window.modal_operators) or window.screen.is_animation_playing for window in windows)


class POISE_OT_goto_frame(OfArmature, bpy.types.Operator):
    """Go to the frame of the ghost or the trail dot under the mouse"""

    bl_idname = "poise.goto_frame"
    bl_label = "Go to Frame"
    bl_options = {"REGISTER", "UNDO"}

    frame: frame_property("Frame", "Frame of the ghost or the dot")

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        shown = [one for one in OtherFrames.opened if one.is_shown(context.active_object)]
        if not shown:
            return {"PASS_THROUGH"}
        mouse = (event.mouse_region_x, event.mouse_region_y)
        view, scale = bridge.read_view(context.region, context.region_data), ui_scale(context)
        if bridge.pick(context, view, mouse, scale) is not None:  # the body at the present frame comes first
            return {"PASS_THROUGH"}
        hits = [hit for one in shown if (hit := one.nearest(context, view, mouse)) is not None]
        away, frame = min(hits, default=(float("inf"), 0.0))
        if away > REACH * scale:
            return {"PASS_THROUGH"}
        self.frame = round(frame)
        return self.execute(context)

    def execute(self, context: Any) -> set[str]:
        context.scene.frame_set(self.frame)
        return {"FINISHED"}
