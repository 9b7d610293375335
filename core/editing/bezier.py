"""Keys with Bezier handles, evaluated as Blender does (BKE_fcurve_correct_bezpart and findzero in fcurve.cc).

Frame and value are both cubics of the parameter of the curve; the first is inverted for every frame. The curve is
constant before the first key and after the last one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from ..rotation import Array

_STEPS: Final = 60  # bisections: the parameter is exact to rounding


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of C curves at the same K frames.

    frames (K,) increasing; values (K, C); left, right (K, C, 2): absolute frames and values of the handles.
    """

    frames: Array
    values: Array
    left: Array
    right: Array

    @classmethod
    def of_slopes(cls, frames: Array, values: Array, slopes: Array, after: Array | None = None) -> Self:
        """Return keys with slopes (K, C), whose handles reach a third of the distance to the next keys.

        The curve is then a cubic of the frame. With `after` (K, C), `slopes` are those before the keys.
        """
        third = np.diff(frames) / 3.0
        outside = 1.0 / 3.0  # frames; handles before the first and after the last key have no effect
        handles: list[Array] = []
        sides = ((-np.append(outside, third), slopes), (np.append(third, outside), slopes if after is None else after))
        for lengths, slope in sides:
            times = np.broadcast_to((frames + lengths)[:, None], values.shape)
            handles.append(np.stack([times, values + lengths[:, None] * slope], axis=-1))
        return cls(frames, values, *handles)

    @classmethod
    def joined(cls, parts: "Sequence[Keys]") -> Self:
        """Return the keys of parts, each of which begins with the key that ends the one before."""
        first, *others = parts
        frames, values, left = (
            np.concatenate([getattr(first, name), *(getattr(part, name)[1:] for part in others)])
            for name in ("frames", "values", "left")
        )
        right = np.concatenate([*(part.right[:-1] for part in parts), parts[-1].right[-1:]])
        return cls(frames, values, left, right)

    def evaluate(self, at: Array) -> Array:
        """Return the values (S, C) at frames (S,)."""
        if len(self.frames) == 1:
            return np.broadcast_to(self.values[0], (len(at), self.values.shape[1]))
        inside = np.clip(at, self.frames[0], self.frames[-1])
        here = np.clip(np.searchsorted(self.frames, inside, side="right") - 1, 0, len(self.frames) - 2)
        start, end = (
            np.stack(np.broadcast_arrays(self.frames[place, None], self.values[place]), axis=-1)
            for place in (here, here + 1)
        )
        corners = _corrected(start, self.right[here], self.left[here + 1], end)
        return _cubic(corners, _parameter(corners, inside[:, None]))[..., 1]


def hermite(times: Array, at: Array) -> Array:
    """Return the Hermite basis (S, 3, K) at frames (S,): of values, slopes before and slopes after the keys."""
    result = np.zeros((len(at), 3, len(times)))
    here = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    span = (times[here + 1] - times[here]).astype(float)
    t = (at - times[here]) / span
    s = 1.0 - t
    rows = np.arange(len(at))
    result[rows, 0, here], result[rows, 0, here + 1] = (1.0 + 2.0 * t) * s * s, (3.0 - 2.0 * t) * t * t
    result[rows, 2, here], result[rows, 1, here + 1] = span * t * s * s, -span * t * t * s
    return result


def split(start: Array, right: Array, left: Array, end: Array, frame: float) -> Array:
    """Return the Bezier segment between two keys split at a frame: corners (2, 4, 2) of both halves.

    Keys and handles (2,) are frames and values; corners are start, right handle, left handle and end. By de Casteljau.
    """
    corners = _corrected(*(np.asarray(corner, float) for corner in (start, right, left, end)))
    t = _parameter(corners, np.array(frame))
    rows = [np.stack(corners)]
    while len(rows[-1]) > 1:
        rows.append((1.0 - t) * rows[-1][:-1] + t * rows[-1][1:])
    return np.array([[row[0] for row in rows], [row[-1] for row in reversed(rows)]])


def _corrected(start: Array, right: Array, left: Array, end: Array) -> tuple[Array, Array, Array, Array]:
    """Return the corners (..., 2) with handles shortened that reach beyond the other key."""
    out, back, span = right - start, end - left, (end - start)[..., 0]
    out, back = (handle * (span / np.maximum(np.abs(handle[..., 0]), span))[..., None] for handle in (out, back))
    return start, start + out, end - back, end


def _parameter(corners: tuple[Array, Array, Array, Array], frames: Array) -> Array:
    """Return the parameters at which the curve passes these frames, by bisection."""
    a, b, c, d = (corner[..., 0] for corner in corners)
    low, high = np.zeros_like(b), np.ones_like(b)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        early = _cubic((a, b, c, d), middle) < frames
        low, high = np.where(early, middle, low), np.where(early, high, middle)
    return 0.5 * (low + high)


def _cubic(corners: tuple[Array, Array, Array, Array], t: Array) -> Array:
    a, b, c, d = corners
    t = t.reshape(t.shape + (1,) * (a.ndim - t.ndim))
    s = 1.0 - t
    return s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
