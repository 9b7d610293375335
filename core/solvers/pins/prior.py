"""The prior: how far joints stray from the reference, and which of their turns go together.

    1/2 x^T S^-1 x,    S = D R D

with standard deviations D and correlations R, which is 1 but for turns that go together, such as those of hip and knee.
Inside the solver x is in standard deviations, z = D^-1 x, where the Hessian of the prior is R^-1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...errors import CoreError
from ...rotation import Array
from . import numbers


@dataclass(frozen=True, eq=False)
class Prior:
    """The prior of D coordinates."""

    spread: Array  # (D,) standard deviations, 0 where nothing moves
    stiff: Array  # (D,) what makes standard deviations of x: 1 / spread, 0 where nothing moves
    precision: Array  # (D, D) R^-1

    @classmethod
    def of(cls, spread: Array, correlations: Sequence[tuple[int, int, float]]) -> Self:
        """Return the prior with correlations of some pairs of coordinates.

        Raises CoreError if they contradict each other: turns that go with the same one go together.
        """
        stiff = np.where(spread > numbers.DAMPING, 1.0 / np.maximum(spread, numbers.DAMPING), 0.0)
        precision = np.eye(len(spread))
        for first, second, value in correlations:
            if stiff[first] and stiff[second]:
                precision[first, second] = precision[second, first] = value
        tied = _tied(precision)
        together = precision[np.ix_(tied, tied)]
        if np.linalg.eigvalsh(together).min(initial=1.0) < numbers.DAMPING:
            raise CoreError("The correlations contradict each other.")
        precision[np.ix_(tied, tied)] = np.linalg.inv(together)
        return cls(spread, stiff, precision)

    def strain(self, x: Array) -> Array:
        """Return x^T S^-1 x (...) of x (..., D)."""
        z = x * self.stiff
        return np.sum(z * (z @ self.precision), axis=-1)

    def ties(self) -> tuple[Array, Array]:
        """Return deviations (D,) and rows A (k, D): R^-1 in units of these deviations is 1 + A^T A."""
        tied = _tied(self.precision)
        if not len(tied):
            return self.spread, np.zeros((0, len(self.spread)))
        values, vectors = np.linalg.eigh(self.precision[np.ix_(tied, tied)])
        wider, rows = self.spread.copy(), np.zeros((len(tied), len(self.spread)))
        wider[tied] /= np.sqrt(values[0])
        rows[:, tied] = np.sqrt(values / values[0] - 1.0)[:, None] * vectors.T
        return wider, rows[1:]


def _tied(matrix: Array) -> NDArray[np.int64]:
    """Return the coordinates that a symmetric matrix ties to others."""
    return np.flatnonzero(np.count_nonzero(matrix, axis=1) > 1)
