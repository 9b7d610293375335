"""A tool whose work takes its time: read, solved beside Blender in a thread, written; Esc changes nothing."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Any, Final

import bpy

from .. import bridge
from ..commands.edit import Edit, Progress
from ..core import CoreError
from .tool import Tool

_TICK: Final = 0.05  # seconds
_STEPS: Final = 100  # of the progress shown at the mouse


class _Cancelled(Exception):
    """Somebody pressed Esc."""


class Work:
    """What takes its time in a thread of its own: how much is done, and what went wrong."""

    def __init__(self, work: Callable[[Progress], object]) -> None:
        self.share = 0.0
        self.error: BaseException | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Progress], object]) -> None:
        try:
            work(self._note)
        except BaseException as error:  # it belongs to whoever asked for the work
            self.error = error

    def _note(self, share: float) -> None:
        self.share = share
        if self._stop.is_set():
            raise _Cancelled

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Ends after the present step, of which nobody hears any more."""
        self._stop.set()


class Background(Tool):
    """`begin` reads, `end` writes and says what to report; with a window, Blender goes on in between."""

    def begin(self, context: Any, object: Any) -> Edit:
        """What is to be solved; raises CoreError."""
        raise NotImplementedError

    def end(self, context: Any, object: Any, edit: Edit) -> tuple[str, str]:
        """Write it; returns what to report. Raises CoreError, with nothing changed."""
        raise NotImplementedError

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        edit = self.begin(context, object)
        edit.solve()
        return self.end(context, object, edit)

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        operator: Any = self
        if any(running.bl_idname == type(self).__name__ for window in context.window_manager.windows
               for running in window.modal_operators):  # fmt: skip
            operator.report({"ERROR"}, f"{operator.bl_label} is at work already; Esc cancels it.")
            return {"CANCELLED"}
        try:
            self._edit = self.begin(context, context.active_object)
        except CoreError as error:
            operator.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._who = (context.active_object.name, context.active_object.session_uid)
        self._work = Work(self._edit.solve)
        self._undone = False

        def undone(*_: Any) -> None:
            self._undone = True  # what was read is there no more

        self._undone_by = undone
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            handlers.append(undone)
        manager = context.window_manager
        self._timer = manager.event_timer_add(_TICK, window=context.window)
        manager.progress_begin(0, _STEPS)
        context.workspace.status_text_set(f"{operator.bl_label}: Esc cancels")
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        operator: Any = self
        if self._undone or (event.type == "ESC" and event.value == "PRESS"):
            self.cancel(context)
            operator.report({"WARNING"}, "Cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER" or not self._work.over:
            context.window_manager.progress_update(round(_STEPS * self._work.share))
            return {"PASS_THROUGH"}
        self.cancel(context)
        try:
            if self._work.error is not None:
                raise self._work.error
            object: Any = bridge.find_again(*self._who, self._edit.rig.skeleton.names)
            level, sentence = self.end(context, object, self._edit)
        except CoreError as error:
            operator.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        operator.report({level}, sentence)
        return {"FINISHED"}

    def cancel(self, context: Any) -> None:
        """Blender calls this, too, when it closes the file or the window."""
        self._work.stop()
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            if self._undone_by in handlers:
                handlers.remove(self._undone_by)
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
