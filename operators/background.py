"""Operators that solve in a thread: they read, solve and write; Esc cancels and changes nothing.

Evaluations by Blender that are needed before keys are written, such as of the controls of a body, are done in slices:
Blender draws in between, and handles no event but Esc.
"""

from collections.abc import Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..edits.motion_edit import MotionEdit
from ..edits.work import Work
from .tool import Tool
from .waiting import SLICE, Waiting


class Background(Tool):
    """`begin` reads, `end` writes and reports; with a window Blender stays responsive in between."""

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        """Return the edit to solve; raises CoreError."""
        raise NotImplementedError

    def lead(self, armature: Any, edit: MotionEdit) -> Generator[float, None, None]:
        """Evaluate in Blender between both, see `MotionEdit.pose_controls`."""
        return edit.pose_controls(armature)

    def end(self, context: Any, armature: Any, edit: MotionEdit) -> tuple[str, str]:
        """Write the edit; return the report. Raises CoreError with nothing changed."""
        raise NotImplementedError

    def begin_more(self, context: Any, armature: Any) -> MotionEdit | None:
        """Return a second edit of what was written, or None; it is in the same undo step, and Esc skips it alone."""
        return None

    def end_more(self, context: Any, armature: Any, edit: MotionEdit) -> tuple[str, str]:
        """Write the second edit; return the report. Raises CoreError with nothing changed."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        edit = self.begin(context, armature)
        edit.solve()
        level, sentence = self.end(context, armature, edit)
        more = self.begin_more(context, armature)
        if more is None:
            return level, sentence
        more.solve()
        return _both((level, sentence), self.end_more(context, armature, more))

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
        self._leading: Generator[float, None, None] | None = None
        self._written: tuple[str, str] | None = None
        self._undone = False

        def undone(*_: Any) -> None:
            self._undone = True  # the data that was read is gone

        self._undone_by = undone
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            handlers.append(undone)
        self._waiting = Waiting(context, operator, f"{operator.bl_label}: Esc cancels")
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        operator: Any = self
        if self._undone or (event.type == "ESC" and event.value == "PRESS"):
            self.cancel(context)
            if self._written is not None and not self._undone:
                operator.report({"WARNING"}, f"{self._written[1]}; the rest was cancelled")
                return {"FINISHED"}
            operator.report({"WARNING"}, "Cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER" or not self._work.over:
            self._waiting.show(context, self._work.share)
            return {"PASS_THROUGH"} if self._leading is None else {"RUNNING_MODAL"}
        try:
            if not self._stage(context):
                return {"RUNNING_MODAL"}
        except CoreError as error:
            self.cancel(context)
            operator.report({"ERROR"}, str(error) if self._written is None else f"{self._written[1]}; {error}")
            return {"CANCELLED"} if self._written is None else {"FINISHED"}
        except BaseException:
            self.cancel(context)
            raise
        self.cancel(context)
        assert self._written is not None
        level, sentence = self._written
        operator.report({level}, sentence)
        return {"FINISHED"}

    def _stage(self, context: Any) -> bool:
        """Do the work in Blender after a thread has ended; return whether that was all."""
        if self._work.error is not None:
            raise self._work.error
        armature: Any = bridge.find_again(*self._who, self._edit.rig.skeleton.names)
        if self._written is not None:
            self._written = _both(self._written, self.end_more(context, armature, self._edit))
            return True
        if self._leading is None:
            self._leading = self.lead(armature, self._edit)
            self._waiting.show(context, 0.0)
        until = perf_counter() + SLICE
        for share in self._leading:
            self._waiting.show(context, share)
            if perf_counter() > until:
                return False
        self._leading = None
        self._written = self.end(context, armature, self._edit)
        more = self.begin_more(context, armature)
        if more is not None:
            self._edit, self._work = more, Work(more.solve)
        return more is None

    def cancel(self, context: Any) -> None:
        """Clean up; Blender calls this, too, when it closes the file or the window."""
        self._work.stop()
        if self._leading is not None:
            with suppress(ReferenceError):  # its data is gone after an undo
                self._leading.close()
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            if self._undone_by in handlers:
                handlers.remove(self._undone_by)
        self._waiting.end(context)


def _both(first: tuple[str, str], second: tuple[str, str]) -> tuple[str, str]:
    """Return two reports as one."""
    return "WARNING" if "WARNING" in (first[0], second[0]) else "INFO", f"{first[1]}; {second[1]}"
