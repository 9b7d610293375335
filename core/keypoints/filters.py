"""Landmarks over time: a Kalman filter whose answer may wait for some frames (Rauch, Tung and Striebel's smoother).

Each coordinate moves on at its speed, pushed by random accelerations; how noisy it is measured is known. So what stands
still is smoothed as much as the noise asks for, what moves does not lag behind, and after `delay` frames, or with the
whole clip at hand, later frames say where an earlier one was. Landmarks are relative to the middle of the hips. One
that is not seen comes to a halt there, and is not believed any more after `HOLD` seconds.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from .body import LANDMARK

HOLD: Final = 0.5  # seconds
DELAY: Final = 2  # frames
_ACCELERATION: Final = 5.0  # metres a second squared, standard deviation of what pushes a landmark
_FIRST_SPEED: Final = 1.0  # metres a second
_FADE: Final = 0.15  # seconds in which a landmark that is not seen loses its speed
_LONGEST: Final = 1.0  # seconds between frames beyond which the filter begins anew
_LEAST_NOISE: Final = 5e-4  # metres: numbers have an end
_HIPS: Final = np.array([LANDMARK["hip.L"], LANDMARK["hip.R"]])


class _Step(NamedTuple):
    """One frame of N rows: time; states (N, 2, 3), place and speed, and covariances (N, 2, 2), foretold and found.

    move (N, 2, 2) took the states here; weights (N,); unseen (N,) seconds since a row was seen.
    """

    time: float
    foretold: Array
    foretold_spread: Array
    state: Array
    spread: Array
    move: Array
    weights: Array
    unseen: Array


@dataclass(frozen=True, eq=False)
class Filtered:
    """Landmarks (M, 3), how far they are believed (M,), and the standard deviation of their noise (metres)."""

    time: float
    positions: Array
    weights: Array
    noise: float


class LandmarkFilter:
    """Frame after frame; what comes out is `delay` frames old, but never older than what went in."""

    def __init__(self, delay: int = DELAY) -> None:
        self._steps: deque[_Step] = deque(maxlen=delay + 1)

    def add(self, positions: Array, weights: Array, time: float, noise: float) -> None:
        """Take landmarks (M, 3), metres, with weights (M,) at a time in seconds; noise in metres."""
        if self._steps and not 0.0 < time - self._steps[-1].time < _LONGEST:
            self._steps.clear()
        self._steps.append(_advance(self._steps[-1] if self._steps else None, positions, weights, time, noise))

    def now(self) -> Filtered:
        """The frame that has waited long enough, or the oldest there is."""
        return _result(*_smooth(list(self._steps))[0])


def smooth_clip(positions: Array, weights: Array, times: Array, noise: float) -> tuple[Array, Array, Array]:
    """Landmarks (F, M, 3), weights (F, M) and what is left of the noise (F,) of a clip whose later frames are known.

    times (F,) in seconds, increasing.
    """
    steps: list[_Step] = []
    for place, weight, time in zip(positions, weights, times.tolist(), strict=True):
        steps.append(_advance(steps[-1] if steps else None, place, weight, time, noise))
    found = [_result(*one) for one in _smooth(steps)]
    # where a landmark comes into sight again counts as much as where it went
    late = _held(_until_seen(weights > 0.0, times)) * _next_seen(weights)
    believed = np.maximum([one.weights for one in found], late)
    return np.stack([one.positions for one in found]), believed, np.array([one.noise for one in found])


def _advance(before: _Step | None, positions: Array, weights: Array, time: float, noise: float) -> _Step:
    """The next frame, as far as frames up to it tell."""
    hips_seen = bool(weights[_HIPS].min() > 0.0)
    hips = positions[_HIPS].mean(axis=0) if hips_seen or before is None else before.state[-1, 0]
    weights = np.append(weights, float(hips_seen or before is None))
    seen = weights > 0.0
    rows = np.concatenate([positions - hips, hips[None]])
    rows[~seen] = 0.0
    variance = max(noise, _LEAST_NOISE) ** 2
    first = np.stack([rows, np.zeros_like(rows)], axis=1)
    first_spread = np.broadcast_to(np.diag([variance, _FIRST_SPEED**2]), (len(rows), 2, 2))
    if before is None:
        move = np.broadcast_to(np.eye(2), first_spread.shape)
        return _Step(time, first, first_spread, first, first_spread, move, weights, np.where(seen, 0.0, np.inf))
    step = time - before.time
    move = np.zeros((len(rows), 2, 2))
    move[:, 0, 0], move[:, 0, 1], move[:, 1, 1] = 1.0, step, np.where(seen, 1.0, np.exp(-step / _FADE))
    push = np.array([0.5 * step * step, step]) * _ACCELERATION
    foretold = move @ before.state
    foretold_spread = move @ before.spread @ move.swapaxes(1, 2) + np.outer(push, push)
    fresh = (seen & ~(before.unseen < HOLD))[:, None, None]
    foretold, foretold_spread = np.where(fresh, first, foretold), np.where(fresh, first_spread, foretold_spread)
    gain = foretold_spread[:, :, 0] / (foretold_spread[:, :1, 0] + variance)
    gain[~seen] = 0.0
    state = foretold + gain[:, :, None] * (rows - foretold[:, 0])[:, None]
    spread = foretold_spread - gain[:, :, None] * foretold_spread[:, None, 0]
    kept = np.where(seen, weights, before.weights)
    unseen = np.where(seen, 0.0, before.unseen + step)
    return _Step(time, foretold, foretold_spread, state, spread, move, kept, unseen)


def _smooth(steps: list[_Step]) -> list[tuple[_Step, Array, Array]]:
    """Each frame with its states and covariances as all the frames tell."""
    state, spread = steps[-1].state, steps[-1].spread
    result = [(steps[-1], state, spread)]
    for step, after in zip(steps[-2::-1], steps[:0:-1], strict=True):
        gain = step.spread @ after.move.swapaxes(1, 2) @ np.linalg.inv(after.foretold_spread)
        gain[~(step.unseen < HOLD)] = 0.0  # began later: the frames after say nothing of it
        state = step.state + gain @ (state - after.foretold)
        spread = step.spread + gain @ (spread - after.foretold_spread) @ gain.swapaxes(1, 2)
        result.append((step, state, spread))
    return result[::-1]


def _result(step: _Step, state: Array, spread: Array) -> Filtered:
    positions = state[:-1, 0] + state[-1, 0]
    weights = step.weights[:-1] * _held(step.unseen[:-1])
    left = float(np.sqrt(np.median(spread[:, 0, 0])))
    return Filtered(step.time, positions, weights, left)


def _held(unseen: Array) -> Array:
    """Weights of landmarks not seen for some seconds: in full for half of `HOLD`, then less and less."""
    return np.clip(2.0 - 2.0 * unseen / HOLD, 0.0, 1.0)


def _until_seen(seen: NDArray[np.bool_], times: Array) -> Array:
    """Seconds (F, M) until each landmark is seen next."""
    result = np.empty(seen.shape)
    when = np.full(seen.shape[1], np.inf)
    for frame in range(len(seen) - 1, -1, -1):
        when = np.where(seen[frame], times[frame], when)
        result[frame] = when - times[frame]
    return result


def _next_seen(weights: Array) -> Array:
    """The weight (F, M) that each landmark has when it is seen next."""
    result = np.empty(weights.shape)
    after = np.zeros(weights.shape[1])
    for frame in range(len(weights) - 1, -1, -1):
        after = np.where(weights[frame] > 0.0, weights[frame], after)
        result[frame] = after
    return result
