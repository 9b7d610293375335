"""The loss of a network, while it is trained, on people whom it does not learn from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

import numpy as np

# Of CMU: neither learned from nor, as 8, 10, 11, 29 and 94, measured on at the end.
SUBJECTS: Final = ("13", "16", "39")

Batch = TypeVar("Batch")
State = TypeVar("State")


class Validation(Generic[Batch, State]):
    """The same batches of each subject at each look; the state with the least mean over the subjects is the best.

    A subject counts as much as another one, however many frames there are of them. Raises ValueError for a subject
    without batches.
    """

    def __init__(self, batches: Mapping[str, Sequence[Batch]]) -> None:
        empty = [subject for subject, some in batches.items() if not some]
        if empty or not batches:
            raise ValueError(f"No frames of subject {', '.join(empty) or 'any'} to validate on.")
        self._batches = batches
        self.best: State | None = None
        self.least = np.inf
        self.step = 0  # of the best state

    def look(self, step: int, loss: Callable[[Batch], float], state: Callable[[], State]) -> dict[str, float]:
        """Return the mean loss of each subject; keep the state, a copy, if it is the best so far."""
        found = {subject: float(np.mean([loss(one) for one in some])) for subject, some in self._batches.items()}
        mean = float(np.mean(list(found.values())))
        if mean < self.least:
            self.least, self.step, self.best = mean, step, state()
        return found


def say(losses: Mapping[str, float]) -> str:
    """Return the losses in one line, each with its subject."""
    return "  ".join(f"{subject}: {loss:.4f}" for subject, loss in losses.items())
