"""Keypoints to rotations of the canonical body: filter, closed form, correction; a clip at once or frame after frame.

Two things are measured: the lengths of its bones (medians over time), and how noisy its landmarks
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
from .body import LANDMARK
from .conversion import Landmarks
from .filters import DELAY, LandmarkFilter, smooth_clip
from .geometry import solve_frames
from .network import BONES, bone_vectors, correct, default_network, read, source_network
from .outliers import displaced_frames, stretched_landmarks

Method = Literal["corrected", "closed", "source", "swing"]
METHODS: Final[tuple[Method, ...]] = ("corrected", "closed", "source", "swing")

UNKNOWN_NOISE: Final = 0.005  # metres
_LARGEST_NOISE: Final = 0.03  # that the network knows
_SPREAD: Final = 1.4826  # standard deviations of a median deviation
_ENOUGH: Final = 10  # frames to measure on
_MEMORY: Final = 90  # frames that a live reader measures on
_EVERY: Final = 15  # frames after which it measures again
_RIGID: Final = np.array(
    [BONES.index(f"{landmark}.{side}") for landmark in ("elbow", "wrist", "knee", "ankle") for side in "LR"]
)
_HIPS: Final = np.array([LANDMARK["hip.L"], LANDMARK["hip.R"]])


@dataclass(frozen=True, eq=False)
class Subject:
    """What was measured: lengths (B,) of the bones of the tree in metres, 0 for unseen ones; noise in metres."""

    lengths: Array
    noise: float


@dataclass(frozen=True, eq=False)
class CapturedMotion:
    """Rotations (F, P, 4) of the parts, the hips' middle (F, 3) in metres, Y up; landmarks (F, M, 3) and weights.

    left_out: landmarks of all frames that were there, but where no body has them.
    """

    rotations: Array
    hips: Array
    landmarks: Array
    weights: Array
    subject: Subject | None
    left_out: int = 0


def measure(positions: Array, weights: Array) -> Subject | None:
    """Lengths and noise from landmarks (F, M, 3) over time; None where there are too few frames."""
    vectors, believed = bone_vectors(positions, weights)
    sizes = np.where(believed > 0.0, np.sqrt(np.einsum("...i,...i->...", vectors, vectors)), np.nan)
    counts = np.isfinite(sizes).sum(axis=0)
    if counts[_RIGID].max(initial=0) < _ENOUGH:
        return None
    known = counts >= _ENOUGH
    lengths = np.zeros(len(BONES))
    lengths[known] = np.nanmedian(sizes[:, known], axis=0)
    rigid = _RIGID[known[_RIGID]]
    # both ends are noisy, so a length varies by sqrt 2 of that
    off = _SPREAD * np.nanmedian(np.abs(sizes[:, rigid] - lengths[rigid]), axis=0) / np.sqrt(2.0)
    return Subject(lengths, min(float(np.median(off)), _LARGEST_NOISE))


def estimate_rotations(
    positions: Array, weights: Array, noise: Array | float, lengths: Array | None, method: Method
) -> Array:
    """Rotations (..., P, 4) of the parts from landmarks (..., M, 3) as they are."""
    if method not in METHODS:
        raise CoreError(f'method must be one of {", ".join(METHODS)}, not "{method}".')
    noise = np.broadcast_to(np.minimum(noise, _LARGEST_NOISE), positions.shape[:-2])
    if method == "source":
        return rotation.from_matrix(read(source_network(), positions, weights))
    frames = solve_frames(positions, weights, noise, hinges=method != "swing")
    if method == "corrected":
        frames = correct(default_network(), frames, positions, weights, noise, lengths)
    return rotation.from_matrix(frames)


def estimate_clip(
    landmarks: Landmarks,
    times: ArrayLike,
    method: Method = "corrected",
    smooth: bool = True,
    noise: float | None = None,
) -> CapturedMotion:
    """A whole clip at increasing times (F,) in seconds, filtered without delay unless `smooth` is False.

    `noise` in metres, measured if not given. What no body can have is left out before it is filtered.
    """
    positions, weights, left_out = landmarks.positions, landmarks.weights, 0
    subject = measure(positions, weights)
    if smooth:
        off = displaced_frames(positions, weights)[:, None] | (
            subject is not None and stretched_landmarks(positions, weights, subject.lengths)
        )
        left_out, weights = int(np.sum(off & (weights > 0.0))), np.where(off, 0.0, weights)
    level: Array | float = noise if noise is not None else subject.noise if subject is not None else UNKNOWN_NOISE
    if smooth and len(positions) > 1:
        positions, weights, level = smooth_clip(positions, weights, np.asarray(times, float), level)
    rotations = estimate_rotations(positions, weights, level, None if subject is None else subject.lengths, method)
    return CapturedMotion(
        rotation.unroll(rotations), positions[:, _HIPS].mean(axis=1), positions, weights, subject, left_out
    )


class LiveEstimator:
    """Frames one after the other, of which some are read: `delay` frames late. Measures the figure as it goes."""

    def __init__(self, method: Method = "corrected", delay: int = DELAY) -> None:
        self.method: Method = method
        self.subject: Subject | None = None
        self._filter = LandmarkFilter(delay)
        self._seen: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
        self._count = 0

    def follow(self, positions: Array, weights: Array, time: float) -> None:
        """Take one frame of landmarks (M, 3) with weights (M,) at a time in seconds."""
        if self.subject is not None:
            weights = np.where(
                stretched_landmarks(positions[None], weights[None], self.subject.lengths)[0], 0.0, weights
            )
        self._seen.append((positions, weights))
        self._count += 1
        if self._count % _EVERY == 0:
            columns = (np.stack(column) for column in zip(*self._seen, strict=True))
            self.subject = measure(*columns) or self.subject
        self._filter.add(positions, weights, time, UNKNOWN_NOISE if self.subject is None else self.subject.noise)

    def read(self) -> CapturedMotion:
        """The frame that has waited for the delay, as a Reading of one frame."""
        found = self._filter.now()
        lengths = None if self.subject is None else self.subject.lengths
        rotations = estimate_rotations(found.positions[None], found.weights[None], found.noise, lengths, self.method)
        hips = found.positions[None, _HIPS].mean(axis=1)
        return CapturedMotion(rotations, hips, found.positions[None], found.weights[None], self.subject)
