"""Algebra of arrays whose last axis is the frames: of length 1 where all frames are equal."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....rotation import Array
from .. import numbers

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


class FramesLast:
    """A dataclass of arrays whose last axis is the frames, of length 1 where all frames are equal."""

    def take(self, index: Indices) -> Self:
        return replace(self, **{name: pick(array, index) for name, array in vars(self).items()})  # pyright: ignore

    def put(self, index: Indices, part: Self) -> None:
        for name, array in vars(part).items():
            if array is not None:
                getattr(self, name)[..., index] = array


def pick(array: NDArray[Any], index: Indices) -> NDArray[Any]:
    """Return some frames of an array (..., B) or (..., 1)."""
    return array if array.shape[-1] == 1 else array.take(index, axis=-1)


def frames_last(array: Array) -> Array:
    """Return an array (B, n, ...) as (..., n, B), contiguous."""
    return np.ascontiguousarray(array.transpose(*range(2, array.ndim), 1, 0))


def one_or_all(array: Array) -> Array:
    """Return an array (..., B) as (..., 1) where all frames are equal."""
    return np.ascontiguousarray(array[..., :1] if (array == array[..., :1]).all() else array)


def product(a: Array, b: Array) -> Array:
    """Return products of matrices (3, 3, n, B); each B may be 1."""
    return np.einsum("ijnb,jknb->iknb", a, b)


def times(a: Array, b: Array) -> Array:
    """Return matrices (3, 3, n, B) times vectors (3, n, B)."""
    return np.einsum("ijnb,jnb->inb", a, b)


def squares(vectors: Array) -> Array:
    """Return the squared lengths (..., B) of vectors (m, ..., B)."""
    return np.einsum("i...,i...->...", vectors, vectors)


def exponential(x: Array) -> tuple[Array, Array]:
    """Return the rotation matrices (3, 3, n, B) of rotation vectors (3, n, B), and `rate` for `right_jacobian`.

    See `rotation.exp_features`: exp = a I + b [x] + c x x^T.
    """
    square = squares(x)
    safe = np.maximum(square, rotation.SMALL_ANGLE**2)
    angle = np.sqrt(safe)
    second, third = (1.0 - np.cos(angle)) / safe, (1.0 - np.sin(angle) / angle) / safe
    rate = np.stack([1.0 - third * square, second, third])
    return combined(x, 1.0 - second * square, rate[0], second), rate


def right_jacobian(x: Array, rate: Array) -> Array:
    """Return Jr (3, 3, n, B) of rotation vectors (3, n, B): exp(x + dx) = exp(x) exp(Jr dx)."""
    return combined(x, rate[0], -rate[1], rate[2])


def combined(x: Array, a: Array, b: Array, c: Array) -> Array:
    """Return a I + b [x] + c x x^T, (3, 3, n, B)."""
    result = np.empty((3, *x.shape))
    along, across = c * x, b * x
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(along[i], x[i], out=result[i, i])
        result[i, i] += a
        both = along[i] * x[j]
        np.subtract(both, across[k], out=result[i, j])
        np.add(both, across[k], out=result[j, i])
    return result


def solved(system: Array) -> Array:
    """Return y (M, B) of A y = w by Cholesky of all frames at once; A over w (M + 1, M, B) is overwritten."""
    size, count = system.shape[1:]
    scale = np.empty((size, 1, count))
    for k in range(size):
        column = system[k:, k]
        if k:
            column -= np.einsum("rjb,jb->rb", system[k:, :k], system[k, :k])
        np.maximum(column[0], numbers.DAMPING**2, out=scale[k, 0])
        np.sqrt(scale[k], out=scale[k])
        np.reciprocal(scale[k], out=scale[k])
        column *= scale[k]
    y = system[size].copy()
    for k in range(size - 1, -1, -1):
        if k < size - 1:
            y[k] -= np.einsum("jb,jb->b", system[k + 1 : size, k], y[k + 1 :])
        y[k] *= scale[k, 0]
    return y
