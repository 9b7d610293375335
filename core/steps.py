"""Work in steps: generators that yield the share of the work that is done, 0 to 1, so that callers may interrupt it."""

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TypeVar

Result = TypeVar("Result")
Progress = Callable[[float], object]  # is called with the share that is done, 0 to 1, and may raise to cancel


def no_progress(share: float) -> None:
    """Show no progress."""


def share_of(progress: Progress, first: float, last: float) -> Progress:
    """Return the progress of a part of the work that goes from one share of it to another one."""
    return lambda share: progress(first + share * (last - first))


def run_steps(steps: Generator[float, None, Result], progress: Progress = no_progress) -> Result:
    """Run all steps, report each share to `progress`, and return the result."""
    with closing(steps):
        while True:
            try:
                share = next(steps)
            except StopIteration as end:
                return end.value
            progress(share)
