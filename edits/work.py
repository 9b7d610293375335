"""Work in a thread beside Blender."""

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from .motion_edit import Progress


class _Cancelled(Exception):
    """The user pressed Esc."""


class Work:
    """A function that runs in its own thread: the share that is done, its result, and the error that ended it."""

    def __init__(self, work: Callable[[Progress], object]) -> None:
        self.share = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Progress], object]) -> None:
        try:
            self.result = work(self._note)
        except BaseException as error:  # the caller raises it again
            self.error = error

    def _note(self, share: float) -> None:
        self.share = share
        if self._stop.is_set():
            raise _Cancelled

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Cancel the work after its present step; its result is dropped."""
        self._stop.set()
