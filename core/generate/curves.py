"""Smooth curves fitted to samples: weighted least-squares support vector machines with an RBF kernel.

    [ 0   1^T              ] [b]   [0]
    [ 1   K + diag(1/(g v))] [a] = [y],    y(t) = b + sum_i a_i K(u(t), i),    K = exp(-(u - i)^2 / (2 s^2))

The samples are fitted over their numbers i = 0, 1, ..., and u(t) is a monotone map from time to sample numbers: where
samples are equally far apart it is linear, and this is the curve of the source; where they are not, no gap is wider
than the kernel. A larger weight v_i brings the curve nearer to sample i, a larger g nearer to all samples; a larger
width s makes it smoother. Sources: CN101246601; Suykens et al., "Weighted least squares support vector machines",
Neurocomputing 48, 2002.

Such a curve swings beyond its samples. One that stays between them goes through all samples with the slopes of the
fitted curve, as far as it is monotone between each two of them: it is level where two samples are equal. Sources:
Fritsch and Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980; Fritsch and Butland,
SIAM J. Sci. Stat. Comput. 5, 1984 (slopes of the map).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CoreError
from ..rotation import Array
from ..skeleton import frozen

EXACT: Final = 0.1  # weight of samples at one of the two key poses (CN101246601)
LOOSE: Final = 0.02  # weight of other samples (CN101246601)
GAMMA: Final = 1e4
WIDTHS: Final = 1.2  # kernel width, in distances between samples
_STEEPEST: Final = 3.0  # times the slope between two samples: a cubic with steeper ends is not monotone

Curve = Callable[[ArrayLike], Array]


@dataclass(frozen=True, eq=False)
class Cubics:
    """C piecewise cubics over time through values (n, C) at times (n,) with slopes (n, C), constant outside."""

    times: Array
    values: Array
    slopes: Array

    def __call__(self, times: ArrayLike) -> Array:
        """Return the values (..., C) at times (...)."""
        return self._evaluate(times, 0)

    def slope(self, times: ArrayLike) -> Array:
        """Return the first derivatives (..., C) at times (...); 0 outside."""
        t = np.asarray(times, float)
        inside = (t >= self.times[0]) & (t <= self.times[-1])
        return self._evaluate(t, 1) * inside[..., None]

    def _evaluate(self, times: ArrayLike, derivative: int) -> Array:
        t = np.asarray(times, float)
        if len(self.times) == 1:
            return np.broadcast_to((1 - derivative) * self.values[0], (*t.shape, self.values.shape[1]))
        last = len(self.times) - 2
        before = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, last)
        size = np.diff(self.times)[before][..., None]
        s = np.clip((t - self.times[before])[..., None] / size, 0.0, 1.0)
        start, end = self.values[before], self.values[before + 1]
        first, second = size * self.slopes[before], size * self.slopes[before + 1]
        bend, turn = 3.0 * (end - start) - 2.0 * first - second, first + second - 2.0 * (end - start)
        if derivative:
            return (first + s * (2.0 * bend + 3.0 * s * turn)) / size
        return start + s * (first + s * (bend + s * turn))


@dataclass(frozen=True, eq=False)
class FittedCurve:
    """C curves over time: coefficients (n, C) of the samples, constants (C,), width of the kernel in sample numbers.

    number_of: the map (n, 1) from time to sample numbers
    """

    number_of: Cubics
    coefficients: Array
    constants: Array
    width: float

    def __call__(self, times: ArrayLike) -> Array:
        """Return the values (..., C) at times (...)."""
        return _kernel(self._numbers(times), len(self.coefficients), self.width) @ self.coefficients + self.constants

    def slope(self, times: ArrayLike) -> Array:
        """Return the first derivatives (..., C) at times (...)."""
        u = self._numbers(times)
        scaled = (u[..., None] - np.arange(len(self.coefficients))) / self.width**2
        kernel = _kernel(u, len(self.coefficients), self.width)
        return self._rates(times) * (-(scaled * kernel) @ self.coefficients)

    def staying(self, values: Array) -> Cubics:
        """Return the curves through values (n, C) at the samples that are monotone between each two of them."""
        times = self.number_of.times
        return Cubics(times, values, _monotone(times, values, self.slope(times)))

    def _numbers(self, times: ArrayLike) -> Array:
        """Return the sample numbers (...) at times (...): outside of the samples the map goes on straight."""
        return self.number_of(times)[..., 0] + self._beyond(times) * self._rates(times)[..., 0]

    def _rates(self, times: ArrayLike) -> Array:
        """Return the sample numbers per second (..., 1) at times (...)."""
        if len(self.coefficients) == 1:
            return np.zeros((*np.shape(times), 1))
        return self.number_of.slope(np.asarray(times, float) - self._beyond(times))

    def _beyond(self, times: ArrayLike) -> Array:
        """Return by how many seconds (...) times (...) are after the last sample or, negative, before the first."""
        known, t = self.number_of.times, np.asarray(times, float)
        return t - np.clip(t, known[0], known[-1])


@dataclass(frozen=True, eq=False)
class Straight:
    """C curves over time that go straight from one of the samples, times (n,) and values (n, C), to the next."""

    times: Array
    values: Array

    def __call__(self, times: ArrayLike) -> Array:
        """Return the values (..., C) at times (...), constant outside."""
        t = np.asarray(times, float)
        columns: list[Array] = [np.interp(t, self.times, column) for column in self.values.T]
        return np.stack(columns, axis=-1)


def fit_curve(
    times: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None, width: float | None = None,
    gamma: float = GAMMA,
) -> FittedCurve:  # fmt: skip
    """Return the curve fitted to samples: times (n,), increasing, values (n,) or (n, C), weights (n,).

    The default weights are `default_weights`. The width is in seconds of samples that are equally far apart; the
    default is `WIDTHS` times their distance. Raises CoreError for wrong shapes, values that are not finite, and
    weights, widths or gammas that are not positive.
    """
    t, y = np.asarray(times, float), np.asarray(values, float)
    columns = y[:, None] if y.ndim == 1 else y
    if t.ndim != 1 or not len(t) or columns.ndim != 2 or len(columns) != len(t):
        raise CoreError(f"A curve needs as many values as times, not {y.shape} for {t.shape}.")
    if not (np.isfinite(t).all() and np.isfinite(columns).all()):
        raise CoreError("The samples of a curve must be finite numbers.")
    if np.any(np.diff(t) <= 0.0):
        raise CoreError("The times of the samples must increase.")
    v = default_weights(columns) if weights is None else np.asarray(weights, float)
    if v.shape != t.shape or not np.all((v > 0.0) & np.isfinite(v)):
        raise CoreError("Every sample needs a positive weight.")
    distance = float(np.mean(np.diff(t))) if len(t) > 1 else 1.0
    width = WIDTHS * distance if width is None else width
    for name, value in (("width", width), ("gamma", gamma)):
        if not (value > 0.0 and np.isfinite(value)):
            raise CoreError(f"The {name} of a curve must be a positive number, not {value}.")
    count, spread = len(t), float(width) / distance
    system = np.zeros((count + 1, count + 1))
    system[0, 1:] = system[1:, 0] = 1.0
    system[1:, 1:] = _kernel(np.arange(float(count)), count, spread) + np.diag(1.0 / (gamma * v))
    found = np.linalg.solve(system, np.concatenate([np.zeros((1, columns.shape[1])), columns]))
    return FittedCurve(_count_over(t), frozen(found[1:]), frozen(found[0]), spread)


def default_weights(values: Array) -> Array:
    """Return weights (n,) of samples of values (n, C).

    With one value per sample (C = 1) samples at 0 and 1, the key poses, weigh EXACT and others LOOSE; with more, all
    weigh EXACT.
    """
    loose = (values != 0.0) & (values != 1.0)
    return np.where(loose.any(axis=1) & (values.shape[1] == 1), LOOSE, EXACT)


def _count_over(times: Array) -> Cubics:
    """Return the monotone map from time to the numbers of the samples at `times` (n,)."""
    numbers, gaps = np.arange(len(times), dtype=float)[:, None], np.diff(times)
    if len(times) == 1:
        return Cubics(times, numbers, np.zeros((1, 1)))
    # Fritsch and Butland: weighted harmonic means of the slopes beside a sample, those beside the ends at the ends
    slopes = np.concatenate([1.0 / gaps[:1], 2.0 / (gaps[:-1] + gaps[1:]), 1.0 / gaps[-1:]])
    return Cubics(times, numbers, _monotone(times, numbers, slopes[:, None]))


def _monotone(times: Array, values: Array, slopes: Array) -> Array:
    """Return slopes (n, C) with which a cubic is monotone between each two samples (n, C): near to the given ones."""
    if len(times) == 1:
        return np.zeros_like(values)
    between = np.diff(values, axis=0) / np.diff(times)[:, None]
    left, right = np.concatenate([between[:1], between]), np.concatenate([between, between[-1:]])
    largest = _STEEPEST * np.where(left * right > 0.0, np.minimum(np.abs(left), np.abs(right)), 0.0)
    return np.sign(left) * np.clip(np.sign(left) * slopes, 0.0, largest)


def _kernel(numbers: Array, count: int, width: float) -> Array:
    """Return the kernel (..., n) between numbers (...) and those of the samples."""
    return np.exp(-0.5 * np.square((numbers[..., None] - np.arange(count)) / width))
