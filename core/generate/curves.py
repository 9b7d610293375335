"""Smooth curves fitted to samples: weighted least-squares support vector machines with an RBF kernel.

    [ 0   1^T              ] [b]   [0]
    [ 1   K + diag(1/(g v))] [a] = [y],    y(t) = b + sum_i a_i K(t, t_i),    K = exp(-(t - t_i)^2 / (2 s^2))

The curve and all its derivatives are continuous. A larger weight v_i brings it nearer to sample i, a larger g nearer to
all samples; a larger width s makes it smoother. Sources: CN101246601; Suykens et al., "Weighted least squares support
vector machines", Neurocomputing 48, 2002.
"""

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
WIDTHS: Final = 1.2  # kernel width, in mean distances between samples


@dataclass(frozen=True, eq=False)
class FittedCurve:
    """C curves over time: times (n,) of the samples, coefficients (n, C), constants (C,), width of the kernel."""

    times: Array
    coefficients: Array
    constants: Array
    width: float

    def __call__(self, times: ArrayLike) -> Array:
        """Return the values (..., C) at times (...)."""
        return _kernel(np.asarray(times, float), self.times, self.width) @ self.coefficients + self.constants

    def slope(self, times: ArrayLike) -> Array:
        """Return the first derivatives (..., C) at times (...)."""
        t = np.asarray(times, float)
        scaled = (t[..., None] - self.times) / self.width**2
        return -(scaled * _kernel(t, self.times, self.width)) @ self.coefficients


def fit_curve(
    times: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None, width: float | None = None,
    gamma: float = GAMMA,
) -> FittedCurve:  # fmt: skip
    """Return the curve fitted to samples: times (n,), increasing, values (n,) or (n, C), weights (n,).

    The default weights are `default_weights`, the default width is `WIDTHS` times the mean distance of the samples.
    Raises CoreError for wrong shapes, values that are not finite, and weights, widths or gammas that are not positive.
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
    if width is None:
        width = WIDTHS * float(np.mean(np.diff(t))) if len(t) > 1 else 1.0
    for name, value in (("width", width), ("gamma", gamma)):
        if not (value > 0.0 and np.isfinite(value)):
            raise CoreError(f"The {name} of a curve must be a positive number, not {value}.")
    count = len(t)
    system = np.zeros((count + 1, count + 1))
    system[0, 1:] = system[1:, 0] = 1.0
    system[1:, 1:] = _kernel(t, t, width) + np.diag(1.0 / (gamma * v))
    found = np.linalg.solve(system, np.concatenate([np.zeros((1, columns.shape[1])), columns]))
    return FittedCurve(frozen(t), frozen(found[1:]), frozen(found[0]), float(width))


def default_weights(values: Array) -> Array:
    """Return weights (n,) of samples of values (n, C).

    With one value per sample (C = 1) samples at 0 and 1, the key poses, weigh EXACT and others LOOSE; with more, all
    weigh EXACT.
    """
    loose = (values != 0.0) & (values != 1.0)
    return np.where(loose.any(axis=1) & (values.shape[1] == 1), LOOSE, EXACT)


def _kernel(a: Array, b: Array, width: float) -> Array:
    return np.exp(-0.5 * np.square((a[..., None] - b) / width))
