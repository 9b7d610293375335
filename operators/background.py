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
from .handlers import remove_handler
from .stepwise import Modal


class Background(Modal):
    """`begin` reads, `end` writes and reports; with a window Blender stays responsive in between."""

    measured = False  # whether `end` evaluates all frames again with a window, where nothing is drawn and no Esc heard

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        """Return the edit to solve; raises CoreError."""
        raise NotImplementedError

    def lead(self, armature: Any, edit: Any) -> Generator[float, None, None]:
        """Evaluate in Blender between both, see `MotionEdit.pose_controls`."""
        return edit.pose_controls(armature)

    def end(self, context: Any, armature: Any, edit: Any) -> tuple[str, str]:
        """Write the edit; return the report. Raises CoreError with nothing changed."""
        raise NotImplementedError

    def begin_more(self, context: Any, armature: Any) -> MotionEdit | None:
        """Return a second edit of what was written, or None; it is in the same undo step, and Esc skips it alone."""
        return None

    def end_more(self, context: Any, armature: Any, edit: Any) -> tuple[str, str]:
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
        return self.become_modal(context)

    def become_modal(self, context: Any) -> set[str]:
        """Read, and become modal; return the operator's result."""
        try:
            self.check_idle(context)
            self.start(context.active_object, self.begin(context, context.active_object))
        except CoreError as error:
            return self.refuse(error)
        return self.wait(context)

    def check_idle(self, context: Any) -> None:
        """Raise CoreError if the operator is at work already."""
        if any(running.bl_idname == type(self).__name__ for window in context.window_manager.windows
               for running in window.modal_operators):  # fmt: skip
            raise CoreError(f"{self.bl_label} is at work already; Esc cancels it.")

    def start(self, armature: Any, edit: MotionEdit) -> None:
        """Solve an edit in a thread."""
        self._edit = edit
        self._edit.measured &= self.measured
        self._who = (armature.name, armature.session_uid)
        self._thread = Work(self._edit.solve)
        self._leading: Generator[float, None, None] | None = None
        self._written: tuple[str, str] | None = None
        self._undone = False

        def undone(*_: Any) -> None:
            self._undone = True  # the data that was read is gone

        self._undone_by = undone
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            handlers.append(undone)

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        if self._undone:
            self.cancel(context)
            return super().escape()
        passing = self._leading is None and (event.type != "TIMER" or not self._thread.over)
        done = super().modal(context, event)
        return {"PASS_THROUGH"} if passing and done == {"RUNNING_MODAL"} else done

    def escape(self) -> set[str]:
        if self._written is None:
            return super().escape()
        return self.tell("WARNING", f"{self._written[1]}; the rest was cancelled")

    def work(self, context: Any, seconds: float) -> set[str] | None:
        if not self._thread.over:
            self.show(context, self._thread.share)
            return None
        try:
            report = self._stage(context, perf_counter() + seconds)
        except CoreError as error:
            return self.refuse(error) if self._written is None else self.tell("ERROR", f"{self._written[1]}; {error}")
        return None if report is None else self.tell(*report)

    def _stage(self, context: Any, until: float) -> tuple[str, str] | None:
        """Do the work in Blender after a thread has ended; return the report if that was all."""
        if self._thread.error is not None:
            raise self._thread.error
        armature: Any = bridge.find_again(*self._who, self._edit.rig.skeleton.names)
        if self._written is not None:
            return _both(self._written, self.end_more(context, armature, self._edit))
        if self._leading is None:
            self._leading = self.lead(armature, self._edit)
            self.show(context, 0.0)
        for share in self._leading:
            self.show(context, share)
            if perf_counter() > until:
                return None
        self._leading = None
        self._written = self.end(context, armature, self._edit)
        more = self.begin_more(context, armature)
        if more is None:
            return self._written
        self._edit, self._thread = more, Work(more.solve)
        return None

    def cancel(self, context: Any) -> None:
        self._thread.stop()
        if self._leading is not None:
            with suppress(ReferenceError):  # its data is gone after an undo
                self._leading.close()
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            remove_handler(handlers, self._undone_by)
        super().cancel(context)


def _both(first: tuple[str, str], second: tuple[str, str]) -> tuple[str, str]:
    """Return two reports as one."""
    return "WARNING" if "WARNING" in (first[0], second[0]) else "INFO", f"{first[1]}; {second[1]}"
