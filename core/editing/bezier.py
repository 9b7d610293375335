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
    def of_slopes(cls, frames: Array, values: Array, slopes: Array) -> Self:
        """Handles a third of the way to the next keys, in line: the curve is a cubic of the frame between two keys."""
        third = np.diff(frames) / 3.0
        outside = 1.0 / 3.0  # before the first key and after the last one handles are for the eye only
        handles: list[Array] = []
        for lengths in (-np.append(outside, third), np.append(third, outside)):
            times = np.broadcast_to((frames + lengths)[:, None], values.shape)
            handles.append(np.stack([times, values + lengths[:, None] * slopes], axis=-1))
        return cls(frames, values, *handles)

    def evaluate(self, at: Array) -> Array:
        """(S, C) at frames (S,)."""
        if len(self.frames) == 1:
            return np.broadcast_to(self.values[0], (len(at), self.values.shape[1]))
        inside = np.clip(at, self.frames[0], self.frames[-1])
        here = np.clip(np.searchsorted(self.frames, inside, side="right") - 1, 0, len(self.frames) - 2)
        start, end = self.frames[here, None], self.frames[here + 1, None]
        first, last = self.values[here], self.values[here + 1]
        out = self.right[here] - np.stack(np.broadcast_arrays(start, first), -1)
        back = np.stack(np.broadcast_arrays(end, last), -1) - self.left[here + 1]
        out, back = (  # a handle that reaches beyond the other key would go back in time
            handle * ((end - start) / np.maximum(np.abs(handle[..., 0]), end - start))[..., None]
            for handle in (out, back)
        )
        two, three = start + out[..., 0], end - back[..., 0]
        low, high = np.zeros_like(two), np.ones_like(two)
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            early = _cubic(start, two, three, end, middle) < inside[:, None]
            low, high = np.where(early, middle, low), np.where(early, high, middle)
        return _cubic(first, first + out[..., 1], last - back[..., 1], last, 0.5 * (low + high))


def _cubic(a: Array, b: Array, c: Array, d: Array, t: Array) -> Array:
    s = 1.0 - t
    return s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
