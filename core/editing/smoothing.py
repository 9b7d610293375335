"""Smoothing of motions: frames that stick out are replaced, then what is quicker than people move is filtered.

The filter is Butterworth's of fourth order, forth and back, so that nothing is late (Winter, *Biomechanics and Motor
Control of Human Movement*, 2009, 3.4: 6 Hz for gait). It is applied to the sine series of what is beside the line from
the first to the last frame.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from .. import rotation
from ..motion import Motion, blocks
from ..pose import Pose, forward_matrices
from ..rotation import Array, lengths
from ..skeleton import Flags, Indices, Skeleton
from .contacts import runs

CUTOFF: Final = 6.0  # Hz
STICKS_OUT: Final = float(np.radians(20.0))  # of a frame from what its neighbours say
ORDER: Final = 4
ROUNDS: Final = 3  # of finding frames that stick out: two that are neighbours hide each other
LONGEST: Final = 2  # frames in a row that may stick out
APART: Final = 2.0  # times the steps beside them by which they stick out
NEAR: Final = 2  # frames on either side whose steps count
FEW: Final = 0.1  # of the joints of a body, which do not tell a jump
SHORT: Final = 4  # frames of a motion that are too few to tell a jump
ROTATION_LENGTH: Final = 0.3  # of the skeleton's size: length that weighs as much as a radian


def smooth_motion(
    skeleton: Skeleton, motion: Motion, bones: Indices, cutoff: float = CUTOFF, pop: float = STICKS_OUT
) -> Motion:
    """Return the motion with rotations and locations of `bones` smoothed. Frames are taken as equally far apart.

    cutoff  Hz: what is slower stays, what is quicker goes; where half of the frame rate is less, all stays
    pop     radians by which a frame sticks out from its neighbours that is replaced by what they say; for locations the
            lengths that weigh as much; 0: none is
    """
    pose, fps = motion.pose, motion.fps
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    for bone in bones[:, None]:  # one at a time, to limit memory
        spins = rotation.unroll(pose.rotations[:, bone])
        places = pose.translations[:, bone] / (ROTATION_LENGTH * skeleton.size)
        if pop > 0.0:
            spins = rotation.normalize(without_pops(spins, 2.0 * np.sin(0.25 * pop)))
            places = without_pops(places, pop)
        rotations[:, bone] = rotation.normalize(low_pass(spins, cutoff / fps))
        translations[:, bone] = low_pass(places, cutoff / fps) * ROTATION_LENGTH * skeleton.size
    return replace(motion, pose=Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices))


def steady_part(skeleton: Skeleton, motion: Motion) -> slice:
    """Return the frames without a first and a last one from which the body jumps, as from a rest pose.

    There more than a share `FEW` of the joints, as those of an arm and its hand, are away from where they are in the
    next two frames, and from where the line through these leads, by the length that weighs as much as `STICKS_OUT`, and
    by more than anywhere else.
    """
    count = len(motion)
    if count <= SHORT:
        return slice(0, count)
    away = np.empty((2, count - 2))  # of the first of three frames from the other two, and of the last
    for part in blocks(count - 2):
        places = forward_matrices(skeleton, motion.pose[part.start : part.stop + 2])[..., 3]
        one, two, three = places[:-2], places[1:-1], places[2:]
        for row, here, second in ((0, one, three), (1, three, one)):
            guesses = (two, second, 2.0 * two - second)
            off = np.min([lengths(here - guess) for guess in guesses], axis=0)
            away[row, part] = np.quantile(off, 1.0 - FEW, axis=1, method="lower")
    least = ROTATION_LENGTH * skeleton.size * STICKS_OUT
    first, last = (row[0] > max(least, row[1:].max()) for row in (away[0], away[1, ::-1]))
    return slice(int(first), count - int(last))


def without_pops(values: Array, least: float) -> Array:
    """Return values (F, n, k) with those that stick out by more than a distance replaced from their neighbours.

    These are at most `LONGEST` frames in a row, alone among those beside them, and each sticks out by more than `APART`
    times the steps there: what moves as quickly before or after is an accent, such as a kick, and stays.
    """
    out, replaced = np.zeros(values.shape[:2], bool), values
    for _ in range(ROUNDS if len(values) > 2 else 0):
        off = lengths(replaced - _expected(replaced))
        beside = np.pad(off, ((1, 1), (0, 0)))
        out |= (off > least) & (off >= beside[:-2]) & (off >= beside[2:])
        replaced = _without(values, out)
    for _ in range(ROUNDS):  # one that stays makes steps longer beside others
        off, steps = lengths(values - replaced), lengths(np.diff(replaced, axis=0))
        out &= off > least
        for row in np.flatnonzero(out.any(axis=0)).tolist():
            for first, last in _groups(out[:, row]):
                quickest = steps[max(first - NEAR, 0) : last + NEAR, row].max()
                if last - first >= LONGEST or off[first : last + 1, row].min() <= APART * quickest:
                    out[first : last + 1, row] = False
        replaced = _without(values, out)
    return replaced


def _groups(out: Flags) -> list[tuple[int, int]]:
    """Return the first and last index of flags (F,) that are set in a row, or with less than `NEAR` others between."""
    wide = np.convolve(out, np.ones(NEAR))[: len(out)] > 0.0
    return [(first, last - int(np.argmax(out[last::-1]))) for first, last in runs(wide)]


def _without(values: Array, out: Flags) -> Array:
    """Return values (F, n, k) with those that are `out` (F, n) on straight lines between those beside them."""
    found, frames = values.copy(), np.arange(len(values))
    for row in np.flatnonzero(out.any(axis=0)).tolist():
        bad, good = frames[out[:, row]], frames[~out[:, row]]
        for column, own in zip(found[:, row].T, values[:, row].T, strict=True):
            column[bad] = np.interp(bad, good, own[good])
    return found


def _expected(values: Array) -> Array:
    """Return what neighbours say of values (F, ...): the median of four guesses by straight lines.

    They are from the two frames before, from the two after, and between one, or two, on either side. So neither a frame
    that sticks out beside it nor a turn back counts.
    """
    nobody = np.full((2, *values.shape[1:]), np.nan)
    longer = np.concatenate([nobody, values, nobody])
    before2, before, after, after2 = (longer[2 + step : 2 + step + len(values)] for step in (-2, -1, 1, 2))
    guesses = [2.0 * before - before2, 2.0 * after - after2, 0.5 * (before + after), 0.5 * (before2 + after2)]
    return np.nanmedian(guesses, axis=0)


def low_pass(values: Array, cutoff: float) -> Array:
    """Return values (F, ...) without what is quicker than `cutoff`, in periods a frame; the first and last one stay."""
    if len(values) < 3:
        return values.copy()
    share = np.linspace(0.0, 1.0, len(values)).reshape(-1, *(1,) * (values.ndim - 1))
    line = values[0] + share * (values[-1] - values[0])
    beside = values - line
    wave = np.concatenate([beside, -beside[-2:0:-1]])  # odd about both ends: a sine series
    gain = 1.0 / (1.0 + (np.fft.rfftfreq(len(wave)) / cutoff) ** ORDER)
    spectrum = np.fft.rfft(wave, axis=0) * gain.reshape(-1, *(1,) * (values.ndim - 1))
    return line + np.fft.irfft(spectrum, n=len(wave), axis=0)[: len(values)]
