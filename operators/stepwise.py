"""Operators that evaluate many frames in Blender: with a window in slices; Esc cancels and changes nothing."""

from collections.abc import Generator
from contextlib import suppress
from time import perf_counter
from typing import Any, Final

import bpy

from ..core import CoreError
from ..core.steps import finish
from .tool import Tool
from .waiting import SLICE, Waiting

_PATIENCE: Final = 0.5  # seconds of work before the operator becomes modal

Steps = Generator[float, None, tuple[str, str]]


class Stepwise(Tool):
    """`steps` yields the share that is done, and writes at its end; closed before, it changes nothing."""

    def steps(self, context: Any, armature: Any) -> Steps:
        """Do the work; raises CoreError with nothing changed."""
        raise NotImplementedError

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        return finish(self.steps(context, armature))

    def invoke(self, context: Any, event: bpy.types.Event) -> set[str]:
        self._steps = self.steps(context, context.active_object)
        done = self._go(_PATIENCE)
        if done is not None:
            return done
        operator: Any = self
        self._waiting = Waiting(context, operator, f"{operator.bl_label}: Esc cancels")
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: bpy.types.Event) -> set[str]:
        operator: Any = self
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            operator.report({"WARNING"}, "Cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            done = self._go(SLICE)
        except BaseException:
            self.cancel(context)
            raise
        if done is None:
            self._waiting.show(context, self._share)
            return {"RUNNING_MODAL"}
        self.cancel(context)
        return done

    def cancel(self, context: Any) -> None:
        """Clean up; Blender calls this, too, when it closes the file or the window."""
        with suppress(ReferenceError):  # the data that it reads may be gone
            self._steps.close()
        self._waiting.end(context)

    def _go(self, seconds: float) -> set[str] | None:
        """Work for so many seconds; return the operator's result, or None if it goes on."""
        operator: Any = self
        until = perf_counter() + seconds
        try:
            while perf_counter() < until:
                self._share = next(self._steps)
        except StopIteration as end:
            level, sentence = end.value
            operator.report({level}, sentence)
            return {"FINISHED"}
        except CoreError as error:
            operator.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return None
