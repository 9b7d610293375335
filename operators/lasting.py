"""Operators that take long: they work in turns with Blender, which draws in between and hears Esc.

Esc changes nothing until keys are written; after that it leaves out what is left, such as measuring. While a motion is
solved, which does not need Blender, everything else can be done beside.
"""

from collections.abc import Callable
from typing import Any, Final

import bpy

from .. import bridge
from ..bridge.turns import Turns, beside_blender, present_turns
from ..core import CoreError
from ..edits.motion_edit import MotionEdit
from ..languages.interface import translated
from .handlers import remove_handler
from .tool import Tool

_PATIENCE: Final = 0.5  # seconds of work before the operator becomes modal
_STEPS: Final = 100  # of the progress


class Modal(Tool):
    """A tool that works at the events of a timer, with its progress at the mouse."""

    tick = 0.05  # seconds between two events of the timer
    budget = 0.1  # seconds of work between two draws
    _timer: Any = None  # once it is modal

    def wait(self, context: Any) -> set[str]:
        """Become modal."""
        context.window_manager.modal_handler_add(self)
        return self.go_on(context)

    def go_on(self, context: Any) -> set[str]:
        """Work at the events of a timer, once it is modal."""
        manager = context.window_manager
        self._timer = manager.event_timer_add(self.tick, window=context.window)
        manager.progress_begin(0, _STEPS)
        context.workspace.status_text_set(translated(f"{translated(self.bl_label)}: Esc cancels"))
        return {"RUNNING_MODAL"}

    def show(self, context: Any, share: float) -> None:
        """Show the share that is done, once it is modal."""
        if self._timer is not None:
            context.window_manager.progress_update(round(_STEPS * share))
            context.workspace.status_text_set(translated(f"{translated(self.bl_label)}: {share:.0%}, Esc cancels"))

    def work(self, context: Any, seconds: float) -> set[str] | None:
        """Work for so many seconds; return the operator's result, or None if it goes on."""
        raise NotImplementedError

    def escape(self) -> set[str]:
        """Report that the work was cancelled; return the operator's result."""
        return self.refuse("Canceled; nothing was changed", "WARNING")

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            return self.escape()
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            done = self.work(context, self.budget)
        except BaseException:
            self.cancel(context)
            raise
        if done is None:
            return {"RUNNING_MODAL"}
        self.cancel(context)
        return done

    def cancel(self, context: Any) -> None:
        """Clean up; Blender calls this, too, when it closes the file or the window, or a dialog is left by Esc."""
        if self._timer is None:
            return
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)


class Lasting(Modal):
    """A tool whose `act` may take long: with a window it becomes modal."""

    _turns: Turns | None = None  # once it is at work
    _undone = False  # whether the data that was read is gone
    _written = ""  # the report of what is written already

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        return self.become_modal(context)

    def execute(self, context: Any) -> set[str]:
        options: Any = self.options  # pyright: ignore
        if options.is_invoke and not options.is_repeat and not bpy.app.background:  # confirmed in a dialog
            return self.become_modal(context)
        return super().execute(context)

    def become_modal(self, context: Any) -> set[str]:
        """Begin, and become modal if it takes long; return the operator's result."""
        armature = context.active_object
        try:
            self.check_idle(context)
        except CoreError as error:
            return self.refuse(error)
        self.begin_turns(lambda: self.act(context, armature))
        done = self.work(context, _PATIENCE)
        if done is not None:
            self.end_turns()
            return done
        return self.wait(context)

    def check_idle(self, context: Any) -> None:
        """Raise CoreError if the operator is at work already."""
        if any(running.bl_idname == type(self).__name__ for window in context.window_manager.windows
               for running in window.modal_operators):  # fmt: skip
            raise CoreError(f"{self.bl_label} is still running. Press Esc to cancel it.")

    def begin_turns(self, work: Callable[[], tuple[str, str]]) -> None:
        """Begin work that returns a report."""

        def undone(*_: Any) -> None:
            self._undone = True

        self._turns, self._undone_by = Turns(work), undone
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            handlers.append(undone)

    def end_turns(self) -> None:
        """End the work, if there is some."""
        if self._turns is None:
            return
        self._turns.end()
        for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
            remove_handler(handlers, self._undone_by)

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        assert self._turns is not None
        if self._undone:
            self.cancel(context)
            return self.escape()
        if event.type == "ESC" and event.value == "PRESS" and not self._turns.beside:
            self._turns.stop()
            return {"RUNNING_MODAL"}
        passing = self._turns.beside and event.type != "TIMER"
        done = super().modal(context, event)
        return {"PASS_THROUGH"} if passing and done == {"RUNNING_MODAL"} else done

    def work(self, context: Any, seconds: float) -> set[str] | None:
        turns = self._turns
        assert turns is not None
        turns.go_on(seconds)
        if not turns.over:
            self.show(context, turns.share)
            return None
        if turns.error is None:
            return self.tell(*turns.result)
        if isinstance(turns.error, bridge.Stopped):
            return self.escape()
        if isinstance(turns.error, CoreError):
            return self.refuse(turns.error)
        raise turns.error

    def escape(self) -> set[str]:
        if self._written:
            return self.tell("WARNING", f"{self._written}; the rest was canceled")
        return super().escape()

    def cancel(self, context: Any) -> None:
        self.end_turns()
        super().cancel(context)


class Background(Lasting):
    """A tool that makes an edit: `begin` reads, the edit is solved, `end` writes and reports."""

    measured = False  # whether what Blender shows is compared with the solved pose, which takes as long as reading

    def begin(self, context: Any, armature: Any) -> MotionEdit:
        """Return the edit to solve; raises CoreError."""
        raise NotImplementedError

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
        return self.carry_out(context, armature, self.begin(context, armature))

    def carry_out(self, context: Any, armature: Any, edit: MotionEdit) -> tuple[str, str]:
        """Solve and write an edit, and then the second one; return the report. Raises CoreError."""
        armature = self._solve(armature, edit)
        level, sentence = self.end(context, armature, edit)
        level = "WARNING" if edit.misfit else level
        sentence = "; ".join([sentence, *(one for one in (*edit.misfit, *edit.stays) if one not in sentence)])
        self._written = sentence
        try:
            more = self.begin_more(context, armature)
            if more is None:
                return level, sentence
            armature = self._solve(armature, more)
            other, rest = self.end_more(context, armature, more)
        except CoreError as error:
            return "ERROR", f"{sentence}; {error}"
        return "WARNING" if "WARNING" in (level, other) else "INFO", f"{sentence}; {rest}"

    def _solve(self, armature: Any, edit: MotionEdit) -> Any:
        """Solve an edit and return the armature, which may have got another name; raises CoreError if it is gone."""
        edit.measured &= self.measured or present_turns() is None
        who = armature.name, armature.session_uid
        with beside_blender():
            edit.solve()
        return bridge.find_again(*who, edit.rig.skeleton.names)
