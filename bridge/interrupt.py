"""Ctrl-C as a flag that is looked at in every frame: Blender swallows exceptions in the handlers that it calls."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

import bpy

from .turns import Turns, present_turns

Tell = Callable[[str], object]


_QUIET: Final = 10.0  # seconds without a word


class Interruption:
    """What Python calls at Ctrl-C: it is kept in mind, and raised where Blender would not swallow it.

    The system's table of signals holds it, so that nothing else has to. `tell` is given a sentence now and then.
    """

    def __init__(self, tell: Tell | None = None) -> None:
        self.asked = False
        self.held = False  # until files are in their places
        self._tell, self._begin = tell, perf_counter()
        self._next = self._begin + _QUIET

    def __call__(self, number: int, frame: Any) -> None:
        self.asked = True
        if not self.held and not _in_handler(frame):
            raise KeyboardInterrupt

    def look(self, share: float | None) -> None:
        """Raise KeyboardInterrupt if it was asked for, and tell the share of a step that is done."""
        if self.asked:
            raise KeyboardInterrupt
        now = perf_counter()
        if self._tell is not None and share is not None and now > self._next:
            self._next = now + _QUIET
            self._tell(f"Working for {now - self._begin:.0f} s; {100.0 * share:.0f} % of this step is done.")


def _in_handler(frame: Any) -> bool:
    """Return whether Blender has called a handler, which would print the exception and go on."""
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    codes = {getattr(one, "__code__", None) for some in lists if isinstance(some, list) for one in some}
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


@contextmanager
def interruptible(tell: Tell | None = None) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt inside, at the latest at the next `check_stopped`.

    `tell` is called with a sentence about the progress of long work.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return
    before = signal.signal(signal.SIGINT, Interruption(tell))
    try:
        yield
    finally:
        # None: Blender's own handler, which Python cannot install again
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def check_stopped(share: float | None = None) -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed since `interruptible` began, even if the exception was lost.

    Work that takes turns with Blender hands over where it is time, see `Turns.look`, with the share of it that is done.
    """
    turns = present_turns()
    if turns is not None:
        turns.look(share)
    asked = signal.getsignal(signal.SIGINT)
    if isinstance(asked, Interruption):
        asked.look(share)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and Esc wait until what is inside is done."""
    asked: Any = present_turns() or signal.getsignal(signal.SIGINT)
    if not isinstance(asked, (Turns, Interruption)):
        yield
        return
    asked.held = True
    try:
        yield
    finally:
        asked.held = False
