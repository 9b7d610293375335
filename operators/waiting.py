"""Progress at the mouse and a text in the status bar while a modal operator works."""

from typing import Any, Final

TICK: Final = 0.05  # seconds between two events of the timer
SLICE: Final = 0.1  # seconds of work between two draws
_STEPS: Final = 100  # of the progress


class Waiting:
    """From the start of a modal operator to its end; it works at the events of the timer."""

    def __init__(self, context: Any, operator: Any, text: str | None, tick: float = TICK) -> None:
        manager = context.window_manager
        self._timer: Any = manager.event_timer_add(tick, window=context.window)
        manager.progress_begin(0, _STEPS)
        manager.modal_handler_add(operator)
        if text is not None:
            context.workspace.status_text_set(text)

    def show(self, context: Any, share: float) -> None:
        """Show the share that is done."""
        context.window_manager.progress_update(round(_STEPS * share))

    def end(self, context: Any) -> None:
        """Remove all of it, also when Blender closes the file or the window."""
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
