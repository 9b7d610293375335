"""Work in steps: generators that yield the share of the work that is done, 0 to 1, so that callers may interrupt it."""

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")


def run_steps(steps: Generator[float, None, Result], progress: Callable[[float], object] | None = None) -> Result:
    """Run all steps, report each share to `progress`, and return the result."""
    while True:
        try:
            share = next(steps)
        except StopIteration as end:
            return end.value
        if progress is not None:
            progress(share)
