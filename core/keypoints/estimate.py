"""Estimation of the canonical body's rotations from landmarks, of a clip at once or live, frame after frame.

Landmarks are filtered, converted in closed form and corrected by a network. Two things are measured of the subject: the
bone lengths (medians over time), and the noise of the landmarks (by the variation of lengths of rigid bones). What the
filter leaves of the noise is measured likewise: how much that is depends on how noise is correlated over time.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from .. import rotation
from ..body import SIDES
from ..errors import CoreError
from ..rotation import Array
from .body import HIPS, LANDMARKS
from .bones import BONES, bone_lengths
from .conversion import Landmarks
from .filters import DELAY, LandmarkFilter, smooth_clip
from .gaps import bridge_gaps
from .geometry import solve_frames
from .hands import finger_rotations, hold_unseen
from .network import correct, load_network, predict_frames
from .outliers import displaced_frames, stretched_landmarks

Method = Literal["corrected", "closed", "source", "swing"]
METHODS: Final[tuple[Method, ...]] = ("corrected", "closed", "source", "swing")

UNKNOWN_NOISE: Final = 0.005  # metres
_LARGEST_NOISE: Final = 0.03  # metres, in the training of the network
_SPREAD: Final = 1.4826  # standard deviation of a normal distribution by its median absolute deviation
_ENOUGH: Final = 10  # frames to measure on
_MEMORY: Final = 90  # frames that a live estimator measures on
_EVERY: Final = 15  # frames between its measurements
_RIGID: Final = np.array(
    [BONES.index(f"{landmark}.{side}") for landmark in ("elbow", "wrist", "knee", "ankle") for side in SIDES]
)


@dataclass(frozen=True, eq=False)
class Subject:
    """Measurements of the captured person: bone lengths (B,) in metres, 0 for unseen bones, and noise in metres."""

    lengths: Array
    noise: float


@dataclass(frozen=True, eq=False)
class CapturedMotion:
    """A motion of the canonical body: F frames, metres, Y up.

    rotations  (F, P, 4) of the parts in the world
    hips       (F, 3) midpoint of the hips
    landmarks  (F, M, 3) with weights (F, M), 0 (unseen) to 1
    left_out   number of outliers among the landmarks of all frames
    fingers    (F, 2, 15, 4) rotations of the phalanges of both hands relative to the hand, from the thumb on, outwards;
               NaN: not seen. None if no fingers are tracked
    """

    rotations: Array
    hips: Array
    landmarks: Array
    weights: Array
    subject: Subject | None
    left_out: int = 0
    fingers: Array | None = None


def measure(positions: Array, weights: Array) -> Subject | None:
    """Return measurements from landmarks (F, M, 3), metres, with weights (F, M); None with too few frames."""
    sizes, bone_weights = bone_lengths(positions, weights)
    sizes = np.where(bone_weights > 0.0, sizes, np.nan)
    counts = np.isfinite(sizes).sum(axis=0)
    if counts[_RIGID].max(initial=0) < _ENOUGH:
        return None
    known = counts >= _ENOUGH
    lengths = np.zeros(len(BONES))
    lengths[known] = np.nanmedian(sizes[:, known], axis=0)
    rigid = _RIGID[known[_RIGID]]
    # both ends are noisy: lengths vary by sqrt 2 of the noise
    off = _SPREAD * np.nanmedian(np.abs(sizes[:, rigid] - lengths[rigid]), axis=0) / np.sqrt(2.0)
    return Subject(lengths, min(float(np.median(off)), _LARGEST_NOISE))


def estimate_rotations(
    positions: Array, weights: Array, noise: Array | float, lengths: Array | None, method: Method
) -> Array:
    """Return rotations (..., P, 4) of the parts from landmarks (..., M, 3) with weights (..., M), without filtering.

    noise (...) and lengths (..., B) in metres, as in `Subject`. Raises CoreError for unknown methods.
    """
    if method not in METHODS:
        raise CoreError(f'method must be one of {", ".join(METHODS)}, not "{method}".')
    positions, weights = positions[..., : len(LANDMARKS), :], weights[..., : len(LANDMARKS)]
    noise = np.broadcast_to(np.minimum(noise, _LARGEST_NOISE), positions.shape[:-2])
    if method == "source":
        return rotation.from_matrix(predict_frames(load_network("source"), positions, weights))
    frames = solve_frames(positions, weights, noise, hinges=method != "swing")
    if method == "corrected":
        frames = correct(load_network("correction"), frames, positions, weights, noise, lengths)
    return rotation.from_matrix(frames)


def estimate_clip(
    landmarks: Landmarks, times: Array, method: Method = "corrected", smooth: bool = True, noise: float | None = None
) -> CapturedMotion:
    """Return the motion of a whole clip, with landmarks at increasing times (F,) in seconds.

    Unless `smooth` is False outliers are removed and landmarks filtered, using later frames too. `noise` in metres is
    measured if None. Raises CoreError for unknown methods.
    """
    positions, weights, left_out = landmarks.positions, landmarks.weights, 0
    subject = measure(positions, weights)
    if smooth:
        off = np.broadcast_to(displaced_frames(positions, weights)[:, None], weights.shape).copy()
        if subject is not None:
            off[:, : len(LANDMARKS)] |= stretched_landmarks(positions, weights, subject.lengths)
        left_out, weights = int(np.sum(off & (weights > 0.0))), np.where(off, 0.0, weights)
    seen, times = weights > 0.0, np.asarray(times, float)
    level: Array | float = noise if noise is not None else subject.noise if subject is not None else UNKNOWN_NOISE
    if smooth and len(positions) > 1:
        positions, weights, level = smooth_clip(positions, weights, times, level)
        left = measure(positions, weights) if noise is None else None
        level = level if left is None else left.noise
    rotations = estimate_rotations(positions, weights, level, None if subject is None else subject.lengths, method)
    if smooth:
        rotations = bridge_gaps(rotations, seen, times)
    hips = positions[:, HIPS].mean(axis=1)
    fingers = finger_rotations(positions, weights)
    fingers = None if fingers is None else rotation.unroll(hold_unseen(fingers))
    return CapturedMotion(rotation.unroll(rotations), hips, positions, weights, subject, left_out, fingers)


class _Recent:
    """What is measured of the last frames: `subject`, None until there are enough."""

    def __init__(self) -> None:
        self.subject: Subject | None = None
        self._frames: deque[tuple[Array, Array]] = deque(maxlen=_MEMORY)
        self._count = 0

    def add(self, positions: Array, weights: Array) -> None:
        """Add a frame of landmarks (M, 3) with weights (M,)."""
        self._frames.append((positions, weights))
        self._count += 1
        if self._count % _EVERY == 0:
            columns = (np.stack(column) for column in zip(*self._frames, strict=True))
            self.subject = measure(*columns) or self.subject


class LiveEstimator:
    """Estimates live frames, each `delay` frames late, and measures the subject meanwhile."""

    def __init__(self, method: Method = "corrected", delay: int = DELAY) -> None:
        self.method: Method = method
        self._filter = LandmarkFilter(delay)
        self._seen, self._filtered = _Recent(), _Recent()
        self._fingers: Array | None = None

    @property
    def subject(self) -> Subject | None:
        """Measurements of the landmarks as they came; None until there are enough."""
        return self._seen.subject

    def add(self, positions: Array, weights: Array, time: float) -> None:
        """Add one frame of landmarks (M, 3) with weights (M,) at a time in seconds."""
        if self.subject is not None:
            off = stretched_landmarks(positions[None], weights[None], self.subject.lengths)[0]
            weights = np.where(np.append(off, np.zeros(len(weights) - len(off), bool)), 0.0, weights)
        self._seen.add(positions, weights)
        self._filter.add(positions, weights, time, UNKNOWN_NOISE if self.subject is None else self.subject.noise)

    def estimate(self) -> CapturedMotion:
        """Return the motion of the frame that has waited for the delay, a motion of one frame."""
        found = self._filter.now()
        self._filtered.add(found.positions, found.weights)
        noise = found.noise if self._filtered.subject is None else self._filtered.subject.noise
        lengths = None if self.subject is None else self.subject.lengths
        rotations = estimate_rotations(found.positions[None], found.weights[None], noise, lengths, self.method)
        hips = found.positions[None, HIPS].mean(axis=1)
        fingers = finger_rotations(found.positions[None], found.weights[None])
        if fingers is not None and self._fingers is not None:  # those out of sight stay
            fingers = np.where(np.isfinite(fingers), fingers, self._fingers)
        self._fingers = fingers
        return CapturedMotion(
            rotations, hips, found.positions[None], found.weights[None], self.subject, fingers=fingers
        )  # fmt: skip
