"""The drift of the ground under a motion: what points that stand have in common, over time.

Sensors drift, captured floors are tilted, paths are scaled: then what stands slides, and goes up and down. Feet swing
in many ways, but all that stands moves as one. So the drift is where the velocities of low points are dense: a mean
over time with Geman and McClure's weights, whose width narrows from round to round (graduated non-convexity: Blake and
Zisserman, Visual Reconstruction, 1987). The height of the ground over time is the mean height of what then stands, each
point above the height at which it rests.
"""

from typing import Final

import numpy as np

from ..motion import Motion
from ..rotation import Array, lengths
from ..skeleton import Flags

# Lengths relative to the skeleton's size, times in seconds
REACH: Final = 0.2  # greatest height of points in contact
SPEED_SPAN: Final = 1.0 / 15.0  # time over which a speed is measured
STILL: Final = 0.05  # per second; slower speeds count as this
NONE: Final = 0.1  # per second; a slower drift is none, one twice as fast is all taken
WIDTHS: Final = (0.15, 0.5)  # standard deviations of means over time: of heights; of velocities, or where none stands
ROUNDS: Final = 12
WIDEST, NARROWEST = 4.0, 0.3  # per second: velocities so far apart are not of one drift, in the first and last round
TRUST: Final = 0.05  # weight of no drift, in seconds of a point
FAR: Final = 1e-3  # weight of the wider mean of heights, in seconds of a point
SPOT: Final = 1.5  # a drift that is larger than the way of the feet by this factor: the body moves on the spot


def find_drift(positions: Array, motion: Motion, up: Array, size: float, ground: float) -> Array:
    """Return how far (F, 3) the ground has moved since the first frame, and its height above `ground`, along `up` (3,).

    Positions (F, P, 3) are of points that may stand. A motion on the spot, as on a treadmill, has no drift.
    """
    near, velocity, drift, way = _moves(positions, motion, up, size, ground)
    if _is_on_the_spot(drift, way):
        return np.zeros_like(drift)
    speed = lengths(drift)[:, None]
    drift *= np.clip(speed / (NONE * size) - 1.0, 0.0, 1.0)
    steps = 0.5 * (drift[1:] + drift[:-1]) * (np.diff(motion.frames) / motion.fps)[:, None]
    carried = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    slow = near & (lengths(velocity - drift[:, None]) < NARROWEST * size)
    return carried + _heights(positions @ up - ground, slow, motion)[:, None] * up


def is_treadmill(positions: Array, motion: Motion, up: Array, size: float, ground: float) -> bool:
    """Return whether what stands slides under a body that stays, as on a treadmill; see `find_drift`."""
    _, _, drift, way = _moves(positions, motion, up, size, ground)
    return _is_on_the_spot(drift, way)


def _moves(
    positions: Array, motion: Motion, up: Array, size: float, ground: float
) -> tuple[Flags, Array, Array, Array]:
    """Return which points (F, P) are low, velocities (F, P, 3), and those (F, 3) of the ground and of all points."""
    near = positions @ up - ground < REACH * size
    velocity = velocities(positions, motion)
    flat = velocity - (velocity @ up)[..., None] * up
    drift = np.zeros((len(positions), 3))
    for scale in np.geomspace(WIDEST, NARROWEST, ROUNDS) * size:
        apart = np.square(lengths(flat - drift[:, None]) / scale)
        weights = near / np.square(1.0 + apart)
        drift = smooth(flat, weights, motion, WIDTHS[1], TRUST * motion.fps)
    return near, velocity, drift, smooth(flat, np.ones_like(near, float), motion, WIDTHS[1], 0.0)


def _is_on_the_spot(drift: Array, way: Array) -> bool:
    return bool(np.square(drift).sum() > SPOT**2 * np.square(way).sum())


def _heights(height: Array, slow: Flags, motion: Motion) -> Array:
    """Return the height (F,) over time of what stands, of heights (F, P) of points that are slow.

    It is 0 in a motion in which nothing is low for some time: that may be on stairs.
    """
    common = np.zeros(len(height))
    known, told = (smooth(np.ones((*height.shape, 1)), slow, motion, width, FAR * motion.fps)[:, 0] for width in WIDTHS)
    if told.min() < 0.5:
        return common
    for _ in range(ROUNDS):
        rest = (slow * (height - common[:, None])).sum(axis=0) / np.maximum(slow.sum(axis=0), 1)
        near, far = (smooth((height - rest)[..., None], slow, motion, width, 0.0)[:, 0] for width in WIDTHS)
        common = known * near + (1.0 - known) * far
    return common


def velocities(positions: Array, motion: Motion) -> Array:
    """Return velocities (F, P, 3), per second, of positions (F, P, 3), measured over `SPEED_SPAN` around each frame."""
    times = motion.frames / motion.fps
    if len(times) < 2:
        return np.zeros_like(positions)
    frame = float(np.median(np.diff(times)))
    half = max(1, round(0.5 * SPEED_SPAN / frame))
    here = np.arange(len(times))
    before, after = np.maximum(here - half, 0), np.minimum(here + half, len(times) - 1)
    return (positions[after] - positions[before]) / (times[after] - times[before])[:, None, None]


def smooth(values: Array, weights: Array | Flags, motion: Motion, width: float, prior: float) -> Array:
    """Return weighted means (F, k) of values (F, P, k) over points and, by a Gaussian of `width` seconds, over time.

    `prior` is the weight of 0. Frames are taken as equally far apart.
    """
    sums = np.concatenate([(weights[..., None] * values).sum(axis=1), weights.sum(axis=1)[:, None]], axis=1)
    frame = float(np.median(np.diff(motion.frames))) / motion.fps if len(motion) > 1 else 1.0
    reach = min(int(np.ceil(4.0 * width / frame)), len(motion) - 1)
    kernel = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) * frame / width))
    blurred = np.stack([np.convolve(column, kernel)[reach : reach + len(motion)] for column in sums.T], axis=1)
    return blurred[:, :-1] / np.maximum(blurred[:, -1:] + prior, np.finfo(float).tiny)
