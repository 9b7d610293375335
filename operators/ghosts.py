"""Ghosts: show the active armature's poses at other frames, and go to the frame of one.

They are evaluated by a timer, soon after a change and not while another operator runs or the animation plays: what is
dragged gets keys when it is let go, so that the poses at other frames stay as they are until then.
"""

from typing import Any, Final

import bpy
from bpy.app.handlers import persistent

from .. import bridge
from ..edits.ghosts import ghost_frames, nearest_ghost, read_ghosts
from ..overlay.draw import theme_colours, ui_scale
from ..overlay.ghosts import GhostDrawing, GhostMark
from ..overlay.strokes import Colour
from .handlers import remove_handler
from .tool import OfArmature, frame_property

_SOON: Final = 0.03  # seconds after a change
_REACH: Final = 12.0  # pixels between the mouse and a ghost that is clicked, at a scale of 1
_FAINTEST: Final = 0.3  # opacity of the ghost furthest away, as a share of that of the nearest one


class GhostShow:
    """Keeps the ghosts of the active armature up to date and draws them until `close`."""

    def __init__(self) -> None:
        self._known: dict[float, GhostMark] = {}  # by frame; drawn until others are read
        self._stale = False
        self._shown: list[float] = []
        self._armature = 0  # session_uid of the one whose they are
        self._reading = False
        self._drawing = GhostDrawing(self._find)

        @persistent
        def note_change(scene: Any, graph: Any) -> None:
            if not self._reading and any(not isinstance(update.id, bpy.types.Scene) for update in graph.updates):
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

    def close(self) -> None:
        """Remove the drawing, the handlers and the timer."""
        self._drawing.close()
        for calls, call in self._connections:
            remove_handler(calls, call)
        if bpy.app.timers.is_registered(self._renew):
            bpy.app.timers.unregister(self._renew)

    def _expect(self, graph: Any) -> None:
        """Renew the ghosts soon, if the active object has any."""
        armature = graph.view_layer.objects.active
        if armature is not None and armature.poise_use_ghosts and not bpy.app.timers.is_registered(self._renew):
            bpy.app.timers.register(self._renew, first_interval=_SOON)

    def _renew(self) -> float | None:
        """Read the ghosts that are not known; a timer calls it."""
        context: Any = bpy.context
        window = next(iter(context.window_manager.windows), None)
        if window is None:
            return None
        if len(window.modal_operators) or window.screen.is_animation_playing:
            return _SOON
        with context.temp_override(window=window):
            armature = context.active_object
            if armature is None or armature.type != "ARMATURE" or not armature.poise_use_ghosts:
                return None
            if self._stale or armature.session_uid != self._armature:
                self._known, self._armature, self._stale = {}, armature.session_uid, False
            self._shown = ghost_frames(context, armature)
            missing = [frame for frame in self._shown if frame not in self._known]
            self._reading = True
            try:
                for ghost in read_ghosts(context, armature, missing) if missing else ():
                    self._known[ghost.frame] = GhostMark(ghost.points, ghost.corners, ghost.normals)
                context.view_layer.update()
            finally:
                self._reading = False
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()
        return None

    def _find(self, context: Any) -> list[tuple[GhostMark, Colour]]:
        """Return the ghosts to draw, the furthest in time first."""
        armature = context.active_object
        if armature is None or armature.session_uid != self._armature or not armature.poise_use_ghosts:
            return []
        colours, now = theme_colours(context), context.scene.frame_current_final
        found: list[tuple[float, GhostMark, Colour]] = []
        for frames, count, (*rgb, _) in (
            ([frame for frame in reversed(self._shown) if frame < now], armature.poise_ghosts_before, colours.before),
            ([frame for frame in self._shown if frame > now], armature.poise_ghosts_after, colours.after),
        ):
            for place, frame in enumerate(frames):
                share = 1.0 - (1.0 - _FAINTEST) * place / max(count, 1)
                if frame in self._known:
                    colour = (*rgb, share * armature.poise_ghost_opacity)
                    found.append((abs(frame - now), self._known[frame], colour))
        return [(mark, colour) for _, mark, colour in sorted(found, key=lambda one: -one[0])]


class POISE_OT_goto_ghost(OfArmature, bpy.types.Operator):
    """Go to the frame of the ghost under the mouse"""

    bl_idname = "poise.goto_ghost"
    bl_label = "Go to Ghost"
    bl_options = {"REGISTER", "UNDO"}

    frame: frame_property("Frame", "The frame of the ghost")

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        armature, mouse = context.active_object, (event.mouse_region_x, event.mouse_region_y)
        if not armature.poise_use_ghosts:
            return {"PASS_THROUGH"}
        view, scale = bridge.read_view(context.region, context.region_data), ui_scale(context)
        if bridge.pick(context, view, mouse, scale) is not None:  # the body at the present frame comes first
            return {"PASS_THROUGH"}
        hit = nearest_ghost(read_ghosts(context, armature, ghost_frames(context, armature)), view, mouse)
        if hit is None or hit[0] > _REACH * scale:
            return {"PASS_THROUGH"}
        self.frame = round(hit[1].frame)
        return self.execute(context)

    def execute(self, context: Any) -> set[str]:
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


def show_ghosts() -> GhostShow:
    """Show the ghosts of the active armature until it is closed."""
    return GhostShow()
