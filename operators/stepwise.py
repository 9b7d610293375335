"""Operators that work in slices while Blender draws in between; Esc cancels them and changes nothing."""

from collections.abc import Generator
from contextlib import suppress
from time import perf_counter
from typing import Any, Final

import bpy

from ..core import CoreError
from ..core.steps import run_steps
from .tool import Tool

_PATIENCE: Final = 0.5  # seconds of work before the operator becomes modal
_STEPS: Final = 100  # of the progress

Steps = Generator[float, None, tuple[str, str]]


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
        context.workspace.status_text_set(f"{self.bl_label}: Esc cancels")
        return {"RUNNING_MODAL"}

    def show(self, context: Any, share: float) -> None:
        """Show the share that is done, once it is modal."""
        if self._timer is not None:
            context.window_manager.progress_update(round(_STEPS * share))

    def work(self, context: Any, seconds: float) -> set[str] | None:
        """Work for so many seconds; return the operator's result, or None if it goes on."""
        raise NotImplementedError

    def escape(self) -> set[str]:
        """Report that the work was cancelled; return the operator's result."""
        return self.refuse("Cancelled; nothing was changed", "WARNING")

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
        """Clean up; Blender calls this, too, when it closes the file or the window."""
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)


class Stepwise(Modal):
    """`steps` yields the share that is done, and writes at its end; closed before, it changes nothing."""

    def steps(self, context: Any, armature: Any) -> Steps:
        """Do the work; raises CoreError with nothing changed."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return run_steps(self.steps(context, armature))

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        self._steps = self.steps(context, context.active_object)
        return self.work(context, _PATIENCE) or self.wait(context)

    def work(self, context: Any, seconds: float) -> set[str] | None:
        until = perf_counter() + seconds
        share = 0.0
        try:
            while perf_counter() < until:
                share = next(self._steps)
        except StopIteration as end:
            return self.tell(*end.value)
        except CoreError as error:
            return self.refuse(error)
        self.show(context, share)
        return None

    def cancel(self, context: Any) -> None:
        with suppress(ReferenceError):  # the data that it reads may be gone
            self._steps.close()
        super().cancel(context)
