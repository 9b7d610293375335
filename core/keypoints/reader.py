"""Keypoints to rotations of the canonical body: filter, closed form, correction; a clip at once or frame after frame.

Of the figure two things are measured on the way: the lengths of its bones (medians over time), and how noisy its marks
are (how much those lengths vary, which no real bone does).
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..errors import CoreError
from ..rotation import Array
from .body import MARK
from .filters import DELAY, MarkFilter, smooth_clip
from .geometry import solve_frames
from .layouts import Marks
from .network import BONES, bone_ways, correct, default_network, read, source_network
from .outliers import elsewhere, torn_off

Method = Literal["corrected", "closed", "source", "swing"]
METHODS: Final[tuple[Method, ...]] = ("corrected", "closed", "source", "swing")

UNKNOWN_NOISE: Final = 0.005  # metres
_LARGEST_NOISE: Final = 0.03  # that the network knows
_SPREAD: Final = 1.4826  # standard deviations of a median deviation
_ENOUGH: Final = 10  # frames to measure on
_MEMORY: Final = 90  # frames that a live reader measures on
_EVERY: Final = 15  # frames after which it measures again
_RIGID: Final = np.array(
    [BONES.index(f"{mark}.{side}") for mark in ("elbow", "wrist", "knee", "ankle") for side in "LR"]
)
_HIPS: Final = np.array([MARK["hip.L"], MARK["hip.R"]])


@dataclass(frozen=True, eq=False)
class Figure:
    """What was measured: lengths (B,) of the bones of the tree in metres, 0 for unseen ones; noise in metres."""

    lengths: Array
    noise: float


@dataclass(frozen=True, eq=False)
class Reading:
    """Rotations (F, P, 4) of the parts, the hips' middle (F, 3) in metres, Y up; marks (F, M, 3) and weights.

    left_out: marks of all frames that were there, but where no body has them.
    """

    rotations: Array
    hips: Array
    marks: Array
    weights: Array
    figure: Figure | None
    left_out: int = 0


def measure(places: Array, weights: Array) -> Figure | None:
    """Lengths and noise from marks (F, M, 3) over time; None where there are too few frames."""
    ways, believed = bone_ways(places, weights)
    sizes = np.where(believed > 0.0, np.sqrt(np.einsum("...i,...i->...", ways, ways)), np.nan)
    counts = np.isfinite(sizes).sum(axis=0)
    if counts[_RIGID].max(initial=0) < _ENOUGH:
        return None
    known = counts >= _ENOUGH
    lengths = np.zeros(len(BONES))
    lengths[known] = np.nanmedian(sizes[:, known], axis=0)
    rigid = _RIGID[known[_RIGID]]
    # both ends are noisy, so a length varies by sqrt 2 of that
    off = _SPREAD * np.nanmedian(np.abs(sizes[:, rigid] - lengths[rigid]), axis=0) / np.sqrt(2.0)
    return Figure(lengths, min(float(np.median(off)), _LARGEST_NOISE))


def read_frames(places: Array, weights: Array, noise: Array | float, lengths: Array | None, method: Method) -> Array:
    """Rotations (..., P, 4) of the parts from marks (..., M, 3) as they are."""
    if method not in METHODS:
        raise CoreError(f'method must be one of {", ".join(METHODS)}, not "{method}".')
    noise = np.broadcast_to(np.minimum(noise, _LARGEST_NOISE), places.shape[:-2])
    if method == "source":
        return rotation.from_matrix(read(source_network(), places, weights))
    frames = solve_frames(places, weights, noise, hinges=method != "swing")
    if method == "corrected":
        frames = correct(default_network(), frames, places, weights, noise, lengths)
    return rotation.from_matrix(frames)


def read_clip(
    marks: Marks, times: ArrayLike, method: Method = "corrected", smooth: bool = True, noise: float | None = None
) -> Reading:
    """A whole clip at increasing times (F,) in seconds, filtered without delay unless `smooth` is False.

    `noise` in metres, measured if not given. What no body can have is left out before it is filtered.
    """
    places, weights, left_out = marks.places, marks.weights, 0
    figure = measure(places, weights)
    if smooth:
        off = elsewhere(places, weights)[:, None] | (figure is not None and torn_off(places, weights, figure.lengths))
        left_out, weights = int(np.sum(off & (weights > 0.0))), np.where(off, 0.0, weights)
    level: Array | float = noise if noise is not None else figure.noise if figure is not None else UNKNOWN_NOISE
    if smooth and len(places) > 1:
        places, weights, level = smooth_clip(places, weights, np.asarray(times, float), level)
    rotations = read_frames(places, weights, level, None if figure is None else figure.lengths, method)
    return Reading(rotation.unroll(rotations), places[:, _HIPS].mean(axis=1), places, weights, figure, left_out)


class LiveReader:
    """Frames one after the other, of which some are read: `delay` frames late. Measures the figure as it goes."""

    def __init__(self, method: Method = "corrected", delay: int = DELAY) -> None:
        self.method: Method = method
        self.figure: Figure | None = None
        self._filter = MarkFilter(delay)
        self._seen: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
        self._count = 0

    def follow(self, places: Array, weights: Array, time: float) -> None:
        """Take one frame of marks (M, 3) with weights (M,) at a time in seconds."""
        if self.figure is not None:
            weights = np.where(torn_off(places[None], weights[None], self.figure.lengths)[0], 0.0, weights)
        self._seen.append((places, weights))
        self._count += 1
        if self._count % _EVERY == 0:
            columns = (np.stack(column) for column in zip(*self._seen, strict=True))
            self.figure = measure(*columns) or self.figure
        self._filter.add(places, weights, time, UNKNOWN_NOISE if self.figure is None else self.figure.noise)

    def read(self) -> Reading:
        """The frame that has waited for the delay, as a Reading of one frame."""
        found = self._filter.now()
        lengths = None if self.figure is None else self.figure.lengths
        rotations = read_frames(found.places[None], found.weights[None], found.noise, lengths, self.method)
        hips = found.places[None, _HIPS].mean(axis=1)
        return Reading(rotations, hips, found.places[None], found.weights[None], self.figure)
