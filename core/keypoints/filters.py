"""Smoothing of landmarks: a Kalman filter with a fixed-lag or fixed-interval smoother (Rauch, Tung and Striebel 1965).

Each coordinate moves with its speed under random accelerations, and is measured with known noise. So resting landmarks
are smoothed strongly and moving ones do not lag; after `delay` frames, or in a whole clip, later frames improve earlier
ones. Landmarks are relative to the midpoint of the hips. One that is not seen slows down to a halt there, and loses its
weight after `HOLD` seconds; in a whole clip it goes from where it was to where it is seen again, and keeps it. (The One
Euro filter, Casiez et al., CHI 2012, is measured against it in benchmarks.)
"""

from collections import deque
from typing import Final, NamedTuple

import numpy as np

from ..rotation import Array
from ..skeleton import Flags
from .body import HIPS, LANDMARKS

HOLD: Final = 0.5  # seconds
DELAY: Final = 2  # frames
_ACCELERATION: Final = 5.0  # metres per second squared: standard deviation
_FIRST_SPEED: Final = 1.0  # metres per second: standard deviation when a landmark appears
_FADE: Final = 0.15  # seconds: time constant of the speed of unseen landmarks
_LONGEST: Final = 1.0  # seconds: the filter restarts after longer gaps
_LEAST_NOISE: Final = 5e-4  # metres, for numerical stability
_BODY: Final = [*range(len(LANDMARKS)), -1]  # rows of the body, without hands


class _Step(NamedTuple):
    """One frame of N rows, the landmarks and last the hips.

    predicted, state                  (N, 2, 3) position and speed, before and after the measurement
    predicted_covariance, covariance  (N, 2, 2) likewise
    transition                        (N, 2, 2) from the state before to the prediction
    weights (N,); unseen (N,) seconds since a row was seen
    """

    time: float
    predicted: Array
    predicted_covariance: Array
    state: Array
    covariance: Array
    transition: Array
    weights: Array
    unseen: Array


class Filtered(NamedTuple):
    """Landmarks (M, 3) with weights (M,), and the standard deviation of their remaining noise, in metres."""

    positions: Array
    weights: Array
    noise: float


class LandmarkFilter:
    """Smooths live frames, with a lag of `delay` frames."""

    def __init__(self, delay: int = DELAY) -> None:
        self._steps: deque[_Step] = deque(maxlen=delay + 1)

    def add(self, positions: Array, weights: Array, time: float, noise: float) -> None:
        """Add landmarks (M, 3), metres, with weights (M,) at a time in seconds; noise in metres."""
        if self._steps and not 0.0 < time - self._steps[-1].time < _LONGEST:
            self._steps.clear()
        self._steps.append(_advance(self._steps[-1] if self._steps else None, positions, weights, time, noise))

    def now(self) -> Filtered:
        """Return the frame `delay` frames ago, or the first one."""
        return _result(*_smooth(list(self._steps))[0])


def smooth_clip(positions: Array, weights: Array, times: Array, noise: float) -> tuple[Array, Array, Array]:
    """Return smoothed landmarks (F, M, 3), weights (F, M) and remaining noise (F,) of a whole clip.

    times (F,) in seconds, increasing; noise in metres.
    """
    positions, weights = _with_both_hips(positions, weights, times)
    first = np.argmax(weights > 0.0, axis=0)
    steps: list[_Step] = []
    for position, weight, time in zip(positions, weights, times.tolist(), strict=True):
        steps.append(_advance(steps[-1] if steps else None, position, weight, time, noise, np.inf))
    found = _smooth(steps, np.inf)
    _, kept, left = (np.array(column) for column in zip(*(_result(*one) for one in found), strict=True))
    places = np.stack([state[:, 0] for _, state, _ in found])
    before, rows = np.arange(len(times))[:, None] < first, np.arange(len(first))
    relative = np.where(before[..., None], places[first, rows], places[:, :-1])
    return relative + places[:, -1:], np.maximum(kept, _weights_of_gaps(weights, times)), left


def _with_both_hips(positions: Array, weights: Array, times: Array) -> tuple[Array, Array]:
    """Return landmarks (F, M, 3) and weights (F, M) with both hips, to which all else is relative, in all frames.

    One that is not seen is beside the other; where neither is, their midpoint goes straight from where it was to where
    it is seen again.
    """
    seen = weights[:, HIPS] > 0.0
    both, one = seen.all(axis=1), seen.any(axis=1)
    if both.all() or not both.any():
        return positions, weights

    def between(known: Flags, values: Array) -> Array:
        columns = [np.interp(times, times[known], values[known, column]) for column in range(values.shape[1])]
        return np.stack(columns, axis=1)

    here = positions[:, HIPS]
    half = between(both, 0.5 * (here[:, 1] - here[:, 0]))[:, None] * [[-1.0], [1.0]]  # from the midpoint to each hip
    middle = (seen[..., None] * (here - half)).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)[:, None]
    positions, weights = positions.copy(), weights.copy()
    positions[:, HIPS] = np.where(seen[..., None], here, between(one, middle)[:, None] + half)
    weights[:, HIPS] = np.where(seen, weights[:, HIPS], between(both, weights[:, HIPS]))
    return positions, weights


def _advance(
    before: _Step | None, positions: Array, weights: Array, time: float, noise: float, hold: float = HOLD
) -> _Step:
    """Return the next step of the Kalman filter; a row that was unseen for `hold` seconds begins again."""
    hips_seen = bool(weights[HIPS].min() > 0.0)
    hips = positions[HIPS].mean(axis=0) if hips_seen or before is None else before.state[-1, 0]
    weights = np.append(weights, float(hips_seen or before is None))
    seen = weights > 0.0
    rows = np.concatenate([positions - hips, hips[None]])
    rows[~seen] = 0.0
    variance = max(noise, _LEAST_NOISE) ** 2
    first = np.stack([rows, np.zeros_like(rows)], axis=1)
    first_covariance = np.broadcast_to(np.diag([variance, _FIRST_SPEED**2]), (len(rows), 2, 2))
    if before is None:
        transition = np.broadcast_to(np.eye(2), first_covariance.shape)
        unseen = np.where(seen, 0.0, np.inf)
        return _Step(time, first, first_covariance, first, first_covariance, transition, weights, unseen)
    step = time - before.time
    transition = np.zeros((len(rows), 2, 2))
    transition[:, 0, 0], transition[:, 0, 1] = 1.0, step
    transition[:, 1, 1] = np.where(seen, 1.0, np.exp(-step / _FADE))
    push = np.array([0.5 * step * step, step]) * _ACCELERATION
    predicted = transition @ before.state
    predicted_covariance = transition @ before.covariance @ transition.swapaxes(1, 2) + np.outer(push, push)
    fresh = (seen & ~(before.unseen < hold))[:, None, None]
    predicted = np.where(fresh, first, predicted)
    predicted_covariance = np.where(fresh, first_covariance, predicted_covariance)
    gain = predicted_covariance[:, :, 0] / (predicted_covariance[:, :1, 0] + variance)
    gain[~seen] = 0.0
    state = predicted + gain[:, :, None] * (rows - predicted[:, 0])[:, None]
    covariance = predicted_covariance - gain[:, :, None] * predicted_covariance[:, None, 0]
    kept = np.where(seen, weights, before.weights)
    unseen = np.where(seen, 0.0, before.unseen + step)
    return _Step(time, predicted, predicted_covariance, state, covariance, transition, kept, unseen)


def _smooth(steps: list[_Step], hold: float = HOLD) -> list[tuple[_Step, Array, Array]]:
    """Return each step with its state and covariance from all steps, by the Rauch-Tung-Striebel recursion."""
    state, covariance = steps[-1].state, steps[-1].covariance
    result = [(steps[-1], state, covariance)]
    for step, after in zip(steps[-2::-1], steps[:0:-1], strict=True):
        gain = step.covariance @ after.transition.swapaxes(1, 2) @ np.linalg.inv(after.predicted_covariance)
        gain[~(step.unseen < hold)] = 0.0  # appears later: independent of later frames
        state = step.state + gain @ (state - after.predicted)
        covariance = step.covariance + gain @ (covariance - after.predicted_covariance) @ gain.swapaxes(1, 2)
        result.append((step, state, covariance))
    return result[::-1]


def _result(step: _Step, state: Array, covariance: Array) -> Filtered:
    weights = step.weights[:-1] * _held(step.unseen[:-1])
    return Filtered(state[:-1, 0] + state[-1, 0], weights, float(np.sqrt(np.median(covariance[_BODY, 0, 0]))))


def _held(unseen: Array) -> Array:
    """Return factors on weights after seconds unseen: 1 for half of `HOLD`, then falling to 0."""
    return np.clip(2.0 - 2.0 * unseen / HOLD, 0.0, 1.0)


def _weights_of_gaps(weights: Array, times: Array) -> Array:
    """Return the weight (F, M) of each landmark in frames (F,) before it is seen: that which it has then.

    Before it is seen at all it has that for `HOLD` seconds; in gaps, both ends of which are known, all the time.
    """
    result = np.empty(weights.shape)
    time, weight = np.full(weights.shape[1], np.inf), np.zeros(weights.shape[1])
    begun = np.maximum.accumulate(weights > 0.0, axis=0)
    for frame in range(len(weights) - 1, -1, -1):
        seen = weights[frame] > 0.0
        time, weight = np.where(seen, times[frame], time), np.where(seen, weights[frame], weight)
        result[frame] = np.where(begun[frame], 1.0, _held(time - times[frame])) * weight
    return result
