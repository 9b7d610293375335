"""The One-Euro filter (Casiez, Roussel, Vogel, CHI 2012), to be measured against: slow landmarks are smoothed more."""

import numpy as np

from benchmarks.naturalness.motion import Array

CUTOFF, SLOPE, SPEED_CUTOFF = 1.5, 4.0, 3.0  # Hz, Hz for a metre a second, Hz: the best of a search on these clips


def one_euro(landmarks: Array, fps: float, cutoff: float = CUTOFF, slope: float = SLOPE) -> Array:
    """Landmarks (F, M, 3) filtered, without delay but with lag; relative to the hips' middle (F, 3) it is given in."""
    result, speed = landmarks.copy(), np.zeros(landmarks.shape[1:])
    for frame in range(1, len(landmarks)):
        before = result[frame - 1]
        speed = speed + _alpha(SPEED_CUTOFF, fps) * ((landmarks[frame] - before) * fps - speed)
        fast = np.linalg.norm(speed, axis=-1, keepdims=True)
        result[frame] = before + _alpha(cutoff + slope * fast, fps) * (landmarks[frame] - before)
    return result


def _alpha(cutoff: Array | float, fps: float) -> Array:
    turn = 2.0 * np.pi * np.asarray(cutoff) / fps
    return turn / (1.0 + turn)
