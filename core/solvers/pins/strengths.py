"""The strengths of levels: with what force each pulls at most.

A level is a short spring that reaches its strength at an error of GIVES, the loss of Huber.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...rotation import Array

FIRM: Final = 1e4  # strength of the last of the firm levels, squared deviations per unit of error
APART: Final = (
    1e2  # factor from the strength of a level to that of a firm one above it, and from weight to weight in motions
)
PULL: Final = 145.0  # a hand's strength, squared deviations per unit of error
WEAKER: Final = 0.1  # strength of a level after that which pulls as a hand, as a share of that of the one above it
GIVES: Final = (
    1e-5  # error up to which a level is a spring, and needs no correction: there it pulls with all its strength
)


class Strengths:
    """The strengths of levels, by the forces with which they pull.

    Firm levels are as much stronger than those below them as they must be not to give way to them, and no more: walls
    that are steeper than needed let steps along them be short only.
    """

    def __init__(self, ranks: NDArray[np.int64], strength: float, first: int = 1) -> None:
        """Take by how many levels each (L,) comes after the one that pulls with `strength`; the `first` are firm."""
        self.firm = (np.arange(len(ranks)) < first) | (strength == np.inf)  # (L,)
        # before it each pulls as hard as all after it together, and a hand more: it does not give way to them
        limited = PULL * min(strength, FIRM) * np.where(ranks < 0, 2.0, WEAKER) ** np.abs(ranks)
        self.least = np.where(self.firm, FIRM, np.minimum(FIRM, limited))  # (L,)
        last = int(self.firm.sum()) - 1
        self.above: list[int] = list(range(last))[::-1]  # firm levels that have other firm ones below them
        if not self.firm.all():
            # with all that those below have, however hard they pull: else it would depend on the way
            self.least[last] = max(FIRM, APART * self.least[last + 1])

    def __call__(self, forces: Array) -> Array:
        """Return the strengths (L,) where levels pull with forces (L,), 0 as long as they are not known.

        In plain Python: there are few levels.
        """
        if not self.above:
            return self.least
        strengths = [float(strength) for strength in self.least]
        known = [float(force) for force in forces] if forces.any() else [FIRM / GIVES] * len(strengths)
        below = 0.0  # the largest pull of a level below
        for level in self.above:
            below = max(below, min(known[level + 1], strengths[level + 1]))
            strengths[level] = min(max(APART * below, FIRM), FIRM / GIVES)  # no stiffer than its spring
        return np.array(strengths)


def walls(forces: Array, strengths: Array) -> Array:
    """Return the weights (..., L) of levels in the merit: twice what they and those below them pull with."""
    return np.minimum(strengths, 2.0 * np.cumsum(forces[..., ::-1], axis=-1)[..., ::-1])


def spring_energy(size: float, strength: float, spring: float) -> float:
    """Return the energy of a level whose force grows with its error up to its strength: the loss of Huber."""
    near = min(size, strength * spring)
    return strength * (size - near) + 0.5 * near * near / spring
