"""Work that yields the share that is done after each step, so that others have their turn in between, or may end it."""

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")


def finish(steps: Generator[float, None, Result], progress: Callable[[float], object] | None = None) -> Result:
    """All of it at once; what it returns."""
    while True:
        try:
            share = next(steps)
        except StopIteration as end:
            return end.value
        if progress is not None:
            progress(share)
