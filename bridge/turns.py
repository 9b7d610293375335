"""Work that takes turns with Blender, so that it draws and hears Esc: a thread that calls Blender while that waits.

Blender's data may be used in one thread at a time. That is the thread of the work as long as the main thread waits for
it in `Turns.go_on`. Where the work looks whether it is to stop, in every frame, it hands over when its time is up; what
does not call Blender goes on beside it.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from .errors import Stopped

Result = TypeVar("Result")


class Turns(threading.Thread):
    """A function in a thread of its own: the share that is done, its result, and the error that ended it.

    beside  whether it works without Blender now, which goes on meanwhile
    held    whether stopping waits
    """

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.share = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.over = self.beside = self.held = False
        self._work, self._until, self._stopping = work, 0.0, False
        self._asked: Callable[[], object] | None = None  # what the main thread is to do
        self._own, self._blenders = threading.Semaphore(0), threading.Semaphore(0)
        self.start()

    def run(self) -> None:
        self._own.acquire()
        try:
            self.result = self._work()
        except BaseException as error:  # the main thread raises it again
            self.error = error
        self.over = True
        self._blenders.release()

    def go_on(self, seconds: float) -> None:
        """Let it work for about so many seconds, if it needs Blender."""
        if self.over or self.beside:
            return
        self._until = perf_counter() + seconds
        self._own.release()
        self._blenders.acquire()
        while self._asked is not None:
            self._asked()
            self._asked = None
            self._own.release()
            self._blenders.acquire()

    def stop(self) -> None:
        """Have `Stopped` raised where it next looks whether it is to stop."""
        self._stopping = True

    def end(self) -> None:
        """Stop it at once; what it does without Blender ends later."""
        self.stop()
        if self.beside:
            self._own.release()
        self.go_on(float("inf"))

    # -- in the thread of the work ------------------------------------------------------------------------------------

    def look(self, share: float | None) -> None:
        """Note the share that is done, hand over when the time is up, and raise `Stopped` if it is to stop."""
        self.share = self.share if share is None else share
        if not self.beside and perf_counter() > self._until:
            self._hand_over()
        if self._stopping and not self.held:
            self._stopping = False  # what ends it may look again
            raise Stopped

    def ask(self, work: Callable[[], Result]) -> Result:
        """Have the main thread do something and return its result."""
        answer: Future[Result] = Future()

        def attempt() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:
                answer.set_exception(error)

        self._asked = attempt
        self._hand_over()
        return answer.result()

    @contextmanager
    def leaving_blender(self) -> Iterator[None]:
        """Let Blender go on while what is inside does not need it."""
        self.beside = True
        self._blenders.release()
        try:
            yield
        finally:
            self.beside = False
            self._own.acquire()
        self.look(None)

    def _hand_over(self) -> None:
        self._blenders.release()
        self._own.acquire()


def present_turns() -> Turns | None:
    """Return the work whose thread this is, or None."""
    thread = threading.current_thread()
    return thread if isinstance(thread, Turns) else None


@contextmanager
def beside_blender() -> Iterator[None]:
    """Let Blender go on meanwhile, in a thread that takes turns with it."""
    turns = present_turns()
    if turns is None:
        yield
        return
    with turns.leaving_blender():
        yield


def in_main_thread(work: Callable[[], Result]) -> Result:
    """Return the result of what only the main thread may do, or may see: selections, operators, handlers of frames."""
    turns = present_turns()
    return work() if turns is None else turns.ask(work)


def evaluated_graph(context: Any) -> Any:
    """Return Blender's dependency graph with everything evaluated."""
    return in_main_thread(context.evaluated_depsgraph_get)


def update(context: Any) -> None:
    """Let Blender evaluate what has changed."""
    in_main_thread(context.view_layer.update)
