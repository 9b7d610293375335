"""Keys with Bezier handles, as Blender evaluates them: BKE_fcurve_correct_bezpart and findzero in fcurve.cc.

The horizontal place of a point of the curve is a cubic in its parameter, too: it is inverted for every frame. Before
the first key and after the last one the curve is constant.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from ..rotation import Array

_STEPS: Final = 60  # halvings: the parameter is exact to rounding


@dataclass(frozen=True, eq=False)
class Keys:
    """C curves with their keys at the same K frames.

    frames (K,) increasing; values (K, C); left, right (K, C, 2): the handles' frames and values, not relative to keys.
    """

    frames: Array
    values: Array
    left: Array
    right: Array

    @classmethod
    def of_slopes(cls, frames: Array, values: Array, slopes: Array, after: Array | None = None) -> Self:
        """Handles a third of the way to the next keys: the curve is a cubic of the frame between two keys.

        slopes (K, C) at the keys, or before them where they are others `after` them.
        """
        third = np.diff(frames) / 3.0
        outside = 1.0 / 3.0  # before the first key and after the last one handles are for the eye only
        handles: list[Array] = []
        sides = ((-np.append(outside, third), slopes), (np.append(third, outside), slopes if after is None else after))
        for lengths, slope in sides:
            times = np.broadcast_to((frames + lengths)[:, None], values.shape)
            handles.append(np.stack([times, values + lengths[:, None] * slope], axis=-1))
        return cls(frames, values, *handles)

    def evaluate(self, at: Array) -> Array:
        """(S, C) at frames (S,)."""
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


def split(start: Array, right: Array, left: Array, end: Array, frame: float) -> Array:
    """The Bezier segment between two keys in two (2, 4, 2): both start, right and left handle and end, as one curve.

    Keys and handles (2,) are frames and values; `frame` is between the keys. By de Casteljau.
    """
    corners = _corrected(*(np.asarray(corner, float) for corner in (start, right, left, end)))
    t = _parameter(corners, np.array(frame))
    rows = [np.stack(corners)]
    while len(rows[-1]) > 1:
        rows.append((1.0 - t) * rows[-1][:-1] + t * rows[-1][1:])
    return np.array([[row[0] for row in rows], [row[-1] for row in reversed(rows)]])


def _corrected(start: Array, right: Array, left: Array, end: Array) -> tuple[Array, Array, Array, Array]:
    """The corners (..., 2), handles that reach beyond the other key made shorter: they would go back in time."""
    out, back, span = right - start, end - left, (end - start)[..., 0]
    out, back = (handle * (span / np.maximum(np.abs(handle[..., 0]), span))[..., None] for handle in (out, back))
    return start, start + out, end - back, end


def _parameter(corners: tuple[Array, Array, Array, Array], frames: Array) -> Array:
    """Where the curve is at these frames."""
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
