"""Key reduction with a guarantee: chosen bones stay within a tolerance in armature space, between frames too.

Every bone has its own key times; values and slopes at its keys are the least-squares fit to its channels. To first
order the error of a watched point is a sum over bones: a small rotation moves a point by its lever. First each bone
gets keys until its own share of the error is a small part of the tolerance. Then keys are removed one by one, in rounds
that allow larger errors, if all points stay within the aim. Exact evaluation judges the result; if the error exceeds
the tolerance, the aim is lowered. Long motions are reduced in parts, so that time is linear and memory bounded: all
bones have a key where two parts meet, with the values and slopes of the motion. Curves are smooth, except at keys on
two successive frames: there each segment may have its own slopes, so that corners and jumps of the motion are kept.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from .. import rotation
from ..channels import rotations_to_channel, rotations_to_curves, to_rotations
from ..errors import CoreError
from ..goals import Bone
from ..motion import Motion
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Indices, Skeleton
from .bezier import Keys, hermite
from .bone_keys import QUARTERS, BoneChannels, BoneKeys, ReducedKeys

PART: Final = 512  # frames that are reduced at once
SPACING: Final = 12  # frames between the first keys
APART: Final = 6  # frames between keys inserted at once, and the reach of the search for a frame without key
# watched points, in lengths of their bone from its head: the tail, and points beside, which show twist; the head is
# between these
PLACES: Final = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0))
WINDOW: Final = 2  # keys fitted again on each side of a removed key
RIDGE: Final = 1e-9  # of the trace of the normal equations, against windows with too few samples
AIM: Final = 0.99  # of the tolerance: first aim for linear errors
LOWER: Final = 0.97  # factor on the aim while exact errors exceed the tolerance
SHARE: Final = 0.3  # of the aim: first part of each bone
LESS: Final = 0.8  # factor on the part of a bone that causes most of an error
ROUNDS: Final = (0.5, 0.75, 0.9, 1.0)  # of the aim: the errors allowed in each round of removing keys
FLOOR: Final = 1e-3  # of the aim: smallest part of a bone
ROUND: Final = 0.01  # frames: keys nearer than this are one
NEAR: Final = 0.75  # frames: smallest distance of new keys to keys between frames
LOWEST: Final = 0.7  # of the tolerance: lowest aim
CONSTANT: Final = 1e-7  # of the skeleton's size: a location that changes less has no keys
_OF_FOUR: Final = ("QUATERNION", "AXIS_ANGLE")


def watched_points(skeleton: Skeleton, pose: Pose, bones: Sequence[int]) -> Array:
    """Return the points (..., B, P, 3) of some bones that are to stay within a tolerance."""
    heads, frames = (part[..., list(bones), None, :] for part in forward(skeleton, pose))
    return heads + rotation.rotate(frames, np.array(PLACES) * skeleton.lengths[list(bones), None, None])


def channels_of(skeleton: Skeleton, motion: Motion) -> tuple[BoneChannels, ...]:
    """Return channels of all bones in their own rotation modes, without jumps; locations only of bones that move.

    Use them only if the original keyed values are not known.
    """
    found: list[BoneChannels] = []
    for bone, mode in enumerate(skeleton.rotation_modes):
        start = rotations_to_channel(rotation.IDENTITY, mode, np.zeros(4 if mode in _OF_FOUR else 3))
        turns, locks = motion.pose.rotations[:, bone, None], skeleton.rotation_locks[[bone]]
        values = rotations_to_curves(turns, mode, start[None], locks)[:, 0]
        places = motion.pose.translations[:, bone]
        moves = not skeleton.connected[bone] and np.ptp(places, axis=0).max() > CONSTANT * skeleton.size
        found.append(BoneChannels(bone, mode, values, places if moves else None))
    return tuple(found)


def reduce_keys(
    skeleton: Skeleton,
    motion: Motion,
    bones: Sequence[Bone],
    tolerance: float,
    channels: Sequence[BoneChannels] | None = None,
    progress: Callable[[float], object] | None = None,
) -> ReducedKeys:
    """Return as few keys as are found with which the chosen bones stay within `tolerance`, in armature units.

    Head, tail and points a bone's length beside the head of each chosen bone are watched. Only these bones and their
    ancestors get keys.
    `channels`: the keyed values in each frame, by default `channels_of`. Motions may be sampled at quarters of frames;
    at whole frames only, they are interpolated by Catmull-Rom splines. `progress` is called with the share done and may
    raise to cancel. The error exceeds the tolerance only for curves that keys with handles cannot follow between two
    frames, such as steps; `missed` has their bones.

    Raises CoreError for a tolerance that is not positive, no bones, fewer than three frames, and frames that are not
    spaced by one or by a quarter.
    """
    chosen = sorted({skeleton.index(bone) for bone in bones})
    if not chosen:
        raise CoreError("Name the bones to keep within the tolerance.")
    if not 0.0 < tolerance < np.inf:
        raise CoreError(f"The tolerance of a reduction must be a positive number, not {tolerance}.")
    spacing, count = motion.frames[1:] - motion.frames[:-1], len(motion)
    whole = bool(np.all(spacing == 1.0)) and count >= 3
    if not whole and (np.any(spacing != 1.0 / QUARTERS) or count < 2 * QUARTERS + 1 or (count - 1) % QUARTERS):
        raise CoreError("Keys can only be removed from at least three consecutive frames.")
    given = channels_of(skeleton, motion) if channels is None else channels
    keyed = {bone for one in chosen for bone in skeleton.ancestors(one)}
    given = [one for one in given if one.bone in keyed]
    if whole:
        return _KeyReducer(skeleton, motion, chosen, given, tolerance).reduce(progress or (lambda share: None))
    parts, found = _parts((count - 1) // QUARTERS), list[ReducedKeys]()
    for number, (first, last) in enumerate(parts):
        some = slice(QUARTERS * first, QUARTERS * last + 1)
        reducer = _KeyReducer(
            skeleton, replace(motion, pose=motion.pose[some], frames=motion.frames[some]), chosen,
            [one.within(some, first > 0, last < parts[-1][1]) for one in given], tolerance,
        )  # fmt: skip
        found.append(
            reducer.reduce(lambda share, n=number: None if progress is None else progress((n + share) / len(parts)))
        )
    return ReducedKeys.joined(found)


class _Fit:
    """Keys fitted to the channels of one bone at S samples; frames count from 0."""

    def __init__(self, channels: BoneChannels, whole: bool, first: float) -> None:
        self.channels, self.first = channels, first
        self.width = channels.rotation.shape[1]
        given = channels.values.astype(float)
        self.truth = _between(given) if whole else given
        frames = (len(self.truth) - 1) // QUARTERS + 1
        self.rotations = to_rotations(self.truth[:, : self.width], channels.mode)
        self.allowed = _allowed_times(channels.times, first, frames - 1)
        self.times = np.unique(np.append(self.allowed[:-1:SPACING], frames - 1))
        self.corners = np.zeros(len(self.times), bool)  # keys with different slopes before and after
        self.fitted = self.truth.copy()
        self._fit_all()

    def _fit_all(self) -> None:
        # values, slopes before and slopes after the keys
        self.heights = np.zeros((3, len(self.times), self.truth.shape[1]))
        for end, slope in zip((0, -1), self.channels.slopes, strict=True):
            if slope is not None:
                self.heights[:, end] = self.truth[end], slope, slope
        self.fit(0, len(self.times) - 1)

    def fit(self, first: int, last: int) -> slice:
        """Fit keys first..last with the others fixed, and return the samples that change."""
        above, below = max(first - 1, 0), min(last + 1, len(self.times) - 1)
        samples = _within(self.times[above], self.times[below])
        basis = hermite(self.times[above : below + 1], np.arange(samples.start, samples.stop) / QUARTERS)
        free = np.zeros((3, below - above + 1), bool)
        free[:, first - above : last - above + 1] = True
        before, after = self.channels.slopes
        free[:, 0] &= above > 0 or before is None
        free[:, -1] &= below < len(self.times) - 1 or after is None
        heights = self.heights[:, above : below + 1]
        matrix = basis.reshape(len(basis), -1)
        start = np.zeros_like(heights)  # a flat curve stays exactly so
        start[0] = self.truth[0]
        rest = np.where(free[..., None], start, heights).reshape(matrix.shape[1], -1)
        one = free[2] & ~self.corners[above : below + 1]  # both slopes are one unknown
        basis[:, 1, one] += basis[:, 2, one]
        free[2, one] = False
        used = matrix[:, free.ravel()]
        gap = self.truth[samples] - matrix @ rest
        square = used.T @ used
        square[np.diag_indices_from(square)] += RIDGE * np.trace(square)
        heights[free] = start[free] + np.linalg.solve(square, used.T @ gap)
        heights[2, one] = heights[1, one]
        basis[:, 1, one] -= basis[:, 2, one]
        self.fitted[samples] = matrix @ heights.reshape(matrix.shape[1], -1)
        return samples

    def refine(self, frames: Sequence[float]) -> bool:
        """Insert keys near some frames, sharpen where all allowed times have one, and fit all keys.

        Return whether there was any place left for that.
        """
        free = [self._free_frame(frame) for frame in frames]
        sharper = [self._sharpen(frame) for frame, key in zip(frames, free, strict=True) if key < 0.0]
        corners, keys = self.times[self.corners], [key for key in free if key >= 0.0]
        if not keys and not any(sharper):
            return False
        self.times = np.union1d(self.times, keys)
        self.corners = np.isin(self.times, corners)
        self._fit_all()
        return True

    def _free_frame(self, frame: float) -> float:
        """Return the allowed time without key nearest to a frame, within `APART`; -1 if there is none."""
        ends = np.searchsorted(self.allowed, [int(frame) - APART, int(frame) + APART + 1])
        free = np.setdiff1d(self.allowed[slice(*ends)], self.times)
        return float(free[np.argmin(np.abs(free - frame))]) if len(free) else -1.0

    def _sharpen(self, frame: float) -> bool:
        """Allow two slopes at the keys on both sides of a frame, and return whether that is new.

        False also where the keys are not on successive allowed times.
        """
        place = min(int(np.searchsorted(self.times, frame, side="right")), len(self.times) - 1)
        beside = slice(place - 1, place + 1)
        if self.allowed[np.searchsorted(self.allowed, self.times[beside][0]) + 1] != self.times[beside][1]:
            return False
        if self.corners[beside].all():
            return False
        self.corners[beside] = True
        return True

    def remove(self, place: int) -> slice:
        """Remove a key, fit those near it, and return the samples that change."""
        self.times, self.corners = np.delete(self.times, place), np.delete(self.corners, place)
        self.heights = np.delete(self.heights, place, axis=1)
        return self.fit(max(place - WINDOW, 0), min(place + WINDOW - 1, len(self.times) - 1))

    def keys(self) -> Keys:
        return Keys.of_slopes(self.first + self.times, *self.heights)


class _KeyReducer:
    """Fits of all bones, and the linear errors (S, P, 3) of the watched points as sums over the bones."""

    def __init__(
        self, skeleton: Skeleton, motion: Motion, chosen: list[int], channels: list[BoneChannels], tolerance: float
    ) -> None:  # fmt: skip
        self.skeleton, self.motion, self.tolerance = skeleton, motion, tolerance
        self.whole = bool(motion.frames[1] - motion.frames[0] == 1.0)
        self.fits = [_Fit(one, self.whole, float(motion.frames[0])) for one in channels]
        self.count = len(motion) if self.whole else (len(motion) - 1) // QUARTERS + 1  # frames
        self.owners = np.repeat(chosen, len(PLACES))
        self.places = np.tile(PLACES, (len(chosen), 1)) * skeleton.lengths[self.owners, None]
        # at the samples; channels without keys hold the values of the frame before
        held = np.minimum(np.arange(QUARTERS * (self.count - 1) + 1) // QUARTERS, self.count - 1)
        self.base = motion.pose[held] if self.whole else motion.pose
        self.heads, self.frames = forward(skeleton, self._pose([fit.truth for fit in self.fits]))
        self.truth = self._points(self.heads, self.frames)
        self.moved: list[Indices] = [
            np.flatnonzero([fit.channels.bone in skeleton.ancestors(int(owner)) for owner in self.owners])
            for fit in self.fits
        ]
        self.shares = [np.zeros_like(self.truth[:, moved]) for moved in self.moved]
        self.errors = np.zeros_like(self.truth)
        for number in range(len(self.fits)):
            self._update(number, slice(0, len(self.truth)))

    def _pose(self, values: Sequence[Array]) -> Pose:
        turns, moves = self.base.rotations.copy(), self.base.translations.copy()
        for fit, value in zip(self.fits, values, strict=True):
            turns[:, fit.channels.bone] = to_rotations(value[:, : fit.width], fit.channels.mode)
            if fit.channels.location is not None:
                moves[:, fit.channels.bone] = value[:, fit.width :]
        return Pose(turns, moves, self.base.scales, self.base.driven_matrices)

    def _points(self, heads: Array, frames: Array) -> Array:
        return heads[:, self.owners] + rotation.rotate(frames[:, self.owners], self.places)

    def _share(self, number: int, samples: slice) -> Array:
        """Return the linear errors (S, p, 3) of the points that a bone moves, from its misfit."""
        fit = self.fits[number]
        bone = fit.channels.bone
        frames = self.frames[samples, bone]
        turned = to_rotations(fit.fitted[samples, : fit.width], fit.channels.mode)
        omega = rotation.rotate(frames, rotation.log(rotation.mul(rotation.inv(fit.rotations[samples]), turned)))
        levers = self.truth[samples][:, self.moved[number]] - self.heads[samples, bone, None]
        result = levers @ np.swapaxes(rotation.skew(omega), -1, -2)
        if fit.channels.location is not None:
            shift = fit.fitted[samples, fit.width :] - fit.truth[samples, fit.width :]
            rest = rotation.mul(frames, rotation.inv(fit.rotations[samples]))
            if not self.skeleton.local_location[bone]:
                rest = rotation.mul(rest, rotation.inv(self.skeleton.rest_rotations[bone]))
            result += rotation.rotate(rest, shift)[:, None]
        return result

    def _update(self, number: int, samples: slice) -> None:
        share = self._share(number, samples)
        self.errors[samples, self.moved[number]] += share - self.shares[number][samples]
        self.shares[number][samples] = share

    def reduce(self, progress: Callable[[float], object]) -> ReducedKeys:
        aim = AIM * self.tolerance
        while True:
            missed = self._insert_keys(aim)
            self._remove_keys(aim, progress)
            error, frame = self._exact_error()
            if error <= self.tolerance:
                missed = set[int]()
            elif aim < LOWEST * self.tolerance:
                sample, point = np.unravel_index(int(np.argmax(rotation.lengths(self.errors))), self.errors.shape[:2])
                missed.add(self._main_cause(int(sample), int(point)))
            elif not missed:  # a lower aim may help
                aim *= LOWER
                continue
            break
        keys = tuple(
            BoneKeys(fit.channels.bone, fit.channels.mode, fit.channels.location is not None, fit.keys())
            for fit in self.fits
        )
        kept = sum(len(fit.times) for fit in self.fits)
        bones = tuple(self.fits[number].channels.bone for number in sorted(missed))
        return ReducedKeys(keys, kept, len(self.fits) * self.count, error, frame, bones)

    def _exact_error(self) -> tuple[float, float]:
        """Return the largest error of the keys by exact evaluation, and its frame."""
        at = float(self.motion.frames[0]) + np.arange(len(self.truth)) / QUARTERS
        pose = self._pose([fit.keys().evaluate(at) for fit in self.fits])
        errors = rotation.lengths(self._points(*forward(self.skeleton, pose)) - self.truth).max(axis=1)
        worst = int(np.argmax(errors))
        return float(errors[worst]), float(at[worst])

    def _main_cause(self, sample: int, point: int) -> int:
        """Return the number of the bone that causes most of an error."""
        parts = [
            float(share[sample, moved == point].sum(axis=0) @ self.errors[sample, point])
            for share, moved in zip(self.shares, self.moved, strict=True)
        ]
        return int(np.argmax(parts))

    def _insert_keys(self, aim: float) -> set[int]:
        """Insert keys until all linear errors are within `aim`, each bone's share within its own part.

        Return the numbers of bones that prevent it whatever keys they get.
        """
        parts = np.full(len(self.fits), SHARE * aim)
        while True:
            for number in range(len(self.fits)):
                self._refine(number, parts[number])
            length = rotation.lengths(self.errors)
            helped, stuck = False, set[int]()
            for sample in _peaks(length.max(axis=1), aim):
                worst = self._main_cause(sample, int(np.argmax(length[sample])))
                if parts[worst] > FLOOR * aim:
                    parts[worst] *= LESS
                    helped = True
                else:
                    stuck.add(worst)
            if not helped:
                return stuck

    def _refine(self, number: int, most: float) -> None:
        """Insert keys of one bone until its share of the errors is at most `most`."""
        fit = self.fits[number]
        while True:
            peaks = _peaks(rotation.lengths(self.shares[number]).max(axis=1), most)
            if not fit.refine([sample / QUARTERS for sample in peaks]):
                return
            self._update(number, slice(0, len(self.truth)))

    def _remove_keys(self, aim: float, progress: Callable[[float], object]) -> None:
        """Remove keys while errors stay within `aim`; first rounds allow less, which shares the error among bones."""
        for step, share in enumerate(ROUNDS):
            for number in range(len(self.fits)):
                progress((step + number / len(self.fits)) / len(ROUNDS))
                for time in self.fits[number].times[1:-1].tolist():
                    self._try_to_remove(number, time, share * aim)

    def _try_to_remove(self, number: int, time: float, aim: float) -> None:
        fit, moved = self.fits[number], self.moved[number]
        place = int(np.searchsorted(fit.times, time))
        beside = _within(fit.times[place - 1], fit.times[place + 1])
        if rotation.lengths(self.errors[beside, moved]).max() > aim:  # removing it will hardly help
            return
        before = fit.times, fit.corners, fit.heights.copy(), fit.fitted.copy()
        samples = fit.remove(place)
        share = self._share(number, samples)
        errors = self.errors[samples, moved] + share - self.shares[number][samples]
        if rotation.lengths(errors).max() <= aim:
            self.errors[samples, moved], self.shares[number][samples] = errors, share
        else:
            fit.times, fit.corners, fit.heights, fit.fitted = before


def _parts(frames: int) -> list[tuple[int, int]]:
    """Return the first and the last frame of parts of a motion, which share these, of about PART frames."""
    ends = np.linspace(0, frames, max(round(frames / PART), 1) + 1).astype(int).tolist()
    return list(pairwise(ends))


def _between(values: Array) -> Array:
    """Return values (F, C) interpolated at quarters of frames, (S, C), by Catmull-Rom splines."""
    slopes = np.gradient(values, axis=0)
    at = np.arange(QUARTERS * (len(values) - 1) + 1) / QUARTERS
    here = np.minimum(at.astype(int), len(values) - 2)
    t = (at - here)[:, None]
    s = 1.0 - t
    ends = values[here] * (1.0 + 2.0 * t) * s * s + values[here + 1] * (3.0 - 2.0 * t) * t * t
    return ends + slopes[here] * t * s * s - slopes[here + 1] * t * t * s


def _peaks(worst: Array, aim: float) -> list[int]:
    """Return samples above `aim`, the worst first, none within `APART` of another."""
    found: list[int] = []
    free = np.ones(len(worst), bool)
    for sample in np.argsort(-worst, kind="stable").tolist():
        if worst[sample] <= aim:
            break
        if free[sample]:
            found.append(sample)
            free[max(sample - APART * QUARTERS, 0) : sample + APART * QUARTERS] = False
    return found


def _within(first: float, last: float) -> "slice[int, int]":
    """Return the samples from one frame to another."""
    return slice(math.ceil(QUARTERS * first), math.floor(QUARTERS * last) + 1)


def _allowed_times(times: Array | None, first: float, last: int) -> Array:
    """Return the frames from `first`, up to `last`, at which a bone may have keys.

    These are whole frames; keys between frames may have corners, so their times are allowed too, and whole frames near
    them are not.
    """
    whole = np.arange(last + 1.0)
    if times is None or np.all(np.abs(times - np.round(times)) < ROUND):
        return whole
    own = np.unique(np.clip(times - first, 0.0, last))
    own = own[np.append(np.diff(own) > ROUND, True)]
    near = np.abs(whole[:, None] - own).min(axis=1)
    ends = (whole == 0.0) | (whole == last)
    inner = own[(own > ROUND) & (own < last - ROUND)]
    return np.union1d(whole[ends | (near >= NEAR)], inner)
