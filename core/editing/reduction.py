"""Fewer keys with a guarantee: chosen bones stay within a tolerance in armature space, between frames, too.

Every bone has key times of its own; values and slopes at its keys are the least-squares fit to its channels. What a
bone's misfit does to the chosen bones is linear for so small errors: a turn moves a point by its lever. So the error of
every point is a sum over bones, kept up to date. First each bone gets keys until it does no more than a small part of
the tolerance; then each key is tried without, in rounds that allow more and more, and left out if all stays within.
What is left is judged by exact evaluation, and what linear errors did not see is mended by a smaller aim. Curves are
smooth but at keys of two frames that follow each other: there each segment may have slopes of its own, so that corners
and jumps of the motion stay what they are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import rotation
from ..channels import rotations_to_channel, rotations_to_curves, to_rotations
from ..errors import CoreError
from ..goals import Bone
from ..motion import Motion
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Flags, Indices, Skeleton
from .bezier import Keys

QUARTERS: Final = 4  # samples of a frame
SPACING: Final = 12  # frames between the keys at first
APART: Final = 6  # frames between keys that are put in at once, and as far off as a frame without key is looked for
ASIDE: Final = 0.25  # of its length: a point beside the bone, so that its twist counts
WINDOW: Final = 2  # keys on each side that are fitted anew with one
RIDGE: Final = 1e-9  # of the normal equations, against windows with too few samples
AIM: Final = 0.99  # of the tolerance for linear errors, at first
LOWER: Final = 0.97  # times the aim, while exact errors are larger than linear ones
SHARE: Final = 0.3  # of the aim for each bone, at first
LESS: Final = 0.8  # times that share for a bone that does most of an error
ROUNDS: Final = (0.5, 0.75, 0.9, 1.0)  # shares of the aim up to which keys are left out, one after the other
FLOOR: Final = 1e-3  # of the aim: a bone that does less is not what an error is from
ROUND: Final = 0.01  # of a frame: as near as two keys cannot be
NEAR: Final = 0.75  # of a frame: where a bone has a key between frames, none is put nearer
LOWEST: Final = 0.7  # of the tolerance: an aim below is no help, as for curves that no key can follow
_OF_FOUR: Final = ("QUATERNION", "AXIS_ANGLE")
CONSTANT: Final = 1e-7  # of the size: a location that changes less has no keys


@dataclass(frozen=True, eq=False)
class BoneChannels:
    """What is keyed of a bone, frame by frame: rotation (F, 3 or 4) in the bone's own mode, location (F, 3) or None.

    `times`: the frames at which it has keys; where these are no whole ones, new keys may be there, too.
    """

    bone: int
    mode: str
    rotation: Array
    location: Array | None
    times: Array | None = None


@dataclass(frozen=True, eq=False)
class BoneKeys:
    """The keys of a bone: the columns are those of its rotation, then of its location if that is keyed."""

    bone: int
    mode: str
    located: bool
    keys: Keys


@dataclass(frozen=True, eq=False)
class ReducedKeys:
    """Keys by bone; `kept` of `before`, a key being all channels of a bone at one frame.

    error   the largest distance of a point of a chosen bone from where it was, at any quarter of a frame
    frame   where that is
    missed  bones (indices) without which the error may be small enough: no keys are found that bring them near enough
    """

    bones: tuple[BoneKeys, ...]
    kept: int
    before: int
    error: float
    frame: float
    missed: tuple[int, ...] = ()

    @property
    def share(self) -> float:
        return self.kept / max(self.before, 1)


def channels_of(skeleton: Skeleton, motion: Motion) -> tuple[BoneChannels, ...]:
    """The channels of all bones in their own modes without jumps; locations of those that move.

    For want of the values that were keyed: where they are known, take them.
    """
    found: list[BoneChannels] = []
    for bone, mode in enumerate(skeleton.rotation_modes):
        start = rotations_to_channel(rotation.IDENTITY, mode, np.zeros(4 if mode in _OF_FOUR else 3))
        values = rotations_to_curves(motion.pose.rotations[:, bone, None], mode, start[None])[:, 0]
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
    """The fewest keys that are found with which the chosen bones stay within `tolerance`, in armature units.

    A bone's head, its tail and a point beside it are watched. Keys are those of the chosen bones and of all that they
    hang on; other bones are left out, their keys are nobody's business here. `channels`: what is keyed in each frame,
    by default `channels_of`. A motion with every quarter of its frames says itself what is between them; of one with
    whole frames alone it is the smooth curve through them (Catmull-Rom). `progress` is told the share that is done, and
    may raise to cancel. The result says the error that was reached: it is larger than the tolerance only for curves
    that no keys with handles can follow between two frames, such as steps; `missed` are the bones that have them.

    Raises CoreError for a tolerance that is not positive, for no bones, for fewer than three frames, and for frames
    that do not follow each other by one, or by a quarter.
    """
    chosen = sorted({skeleton.index(bone) for bone in bones})
    if not chosen:
        raise CoreError("Name the bones that are to stay within the tolerance.")
    if not 0.0 < tolerance < np.inf:
        raise CoreError(f"The tolerance of a reduction must be a positive number, not {tolerance}.")
    spacing, count = motion.frames[1:] - motion.frames[:-1], len(motion)
    whole = bool(np.all(spacing == 1.0)) and count >= 3
    if not whole and (np.any(spacing != 1.0 / QUARTERS) or count < 2 * QUARTERS + 1 or (count - 1) % QUARTERS):
        raise CoreError("Keys can be left out of three or more frames that follow each other.")
    given = channels_of(skeleton, motion) if channels is None else channels
    carriers = {bone for one in chosen for bone in skeleton.ancestors(one)}
    work = _KeyReducer(skeleton, motion, chosen, [one for one in given if one.bone in carriers], tolerance)
    return work.reduced(progress or (lambda share: None))


class _Fit:
    """The channels of one bone at S samples, and a fit to them by keys at some frames; frames count from 0."""

    def __init__(self, channels: BoneChannels, whole: bool, first: float) -> None:
        self.channels = channels
        parts = [channels.rotation] if channels.location is None else [channels.rotation, channels.location]
        self.width = channels.rotation.shape[1]
        given = np.concatenate(parts, axis=1).astype(float)
        self.truth = _between(given) if whole else given
        frames = (len(self.truth) - 1) // QUARTERS + 1
        self.turns = to_rotations(self.truth[:, : self.width], channels.mode)
        self.places = _places(channels.times, first, frames - 1)  # where keys may be
        self.times = np.unique(np.append(self.places[:-1:SPACING], frames - 1))
        self.corners = np.zeros(len(self.times), bool)  # keys whose slopes before and after are two
        self.heights = self._flat()
        self.fitted = self.truth.copy()
        self.fit(0, len(self.times) - 1)

    def _flat(self) -> Array:
        """Values, slopes before and slopes after the keys, (3, K, C), that are to be fitted."""
        return np.zeros((3, len(self.times), self.truth.shape[1]))

    def fit(self, first: int, last: int) -> slice:
        """Fit keys first..last anew, the ones beside them as they are; the samples that this changes."""
        above, below = max(first - 1, 0), min(last + 1, len(self.times) - 1)
        samples = _within(self.times[above], self.times[below])
        basis = _hermite(self.times[above : below + 1], np.arange(samples.start, samples.stop) / QUARTERS)
        free = np.zeros((3, below - above + 1), bool)
        free[:, first - above : last - above + 1] = True
        heights = self.heights[:, above : below + 1]
        matrix = basis.reshape(len(basis), -1)
        rest = np.where(free[..., None], 0.0, heights).reshape(matrix.shape[1], -1)
        one = free[2] & ~self.corners[above : below + 1]  # the slopes are one number
        basis[:, 1, one] += basis[:, 2, one]
        free[2, one] = False
        used = matrix[:, free.ravel()]
        gap = self.truth[samples] - matrix @ rest
        square = used.T @ used
        square[np.diag_indices_from(square)] += RIDGE * np.trace(square)
        heights[free] = np.linalg.solve(square, used.T @ gap)
        heights[2, one] = heights[1, one]
        basis[:, 1, one] -= basis[:, 2, one]
        self.fitted[samples] = matrix @ heights.reshape(matrix.shape[1], -1)
        return samples

    def insert(self, frames: Sequence[float]) -> None:
        """Keys at further frames; all are fitted anew."""
        corners = self.times[self.corners]
        self.times = np.union1d(self.times, frames)
        self.corners = np.isin(self.times, corners)
        self.heights = self._flat()
        self.fit(0, len(self.times) - 1)

    def sharpen(self, frame: float) -> bool:
        """Let the keys beside a place have two slopes; False if they have, or are not the frames beside it."""
        place = min(int(np.searchsorted(self.times, frame, side="right")), len(self.times) - 1)
        beside = slice(place - 1, place + 1)
        if self.places[np.searchsorted(self.places, self.times[beside][0]) + 1] != self.times[beside][1]:
            return False
        if self.corners[beside].all():
            return False
        self.corners[beside] = True
        self.fit(0, len(self.times) - 1)
        return True

    def remove(self, place: int) -> slice:
        self.times, self.corners = np.delete(self.times, place), np.delete(self.corners, place)
        self.heights = np.delete(self.heights, place, axis=1)
        return self.fit(max(place - WINDOW, 0), min(place + WINDOW - 1, len(self.times) - 1))

    def state(self) -> tuple[Array, Flags, Array, Array]:
        """What `restore` brings back."""
        return self.times, self.corners, self.heights.copy(), self.fitted.copy()

    def restore(self, times: Array, corners: Flags, heights: Array, fitted: Array) -> None:
        self.times, self.corners, self.heights, self.fitted = times, corners, heights, fitted

    def keys(self, first: float) -> Keys:
        return Keys.of_slopes(first + self.times, *self.heights)


class _KeyReducer:
    """Bones with their fits, and the errors (S, P, 3) of the points that are watched, as sums over the bones."""

    def __init__(
        self,
        skeleton: Skeleton,
        motion: Motion,
        chosen: Sequence[int],
        channels: Sequence[BoneChannels],
        tolerance: float,
    ) -> None:
        self.skeleton, self.motion, self.tolerance = skeleton, motion, tolerance
        self.whole = bool(motion.frames[1] - motion.frames[0] == 1.0)
        self.fits = [_Fit(one, self.whole, float(motion.frames[0])) for one in channels]
        self.count = len(motion) if self.whole else (len(motion) - 1) // QUARTERS + 1  # frames
        places = [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (ASIDE, 0.0, 0.0)]
        self.owners = np.repeat(chosen, len(places))
        self.places = np.tile(places, (len(chosen), 1)) * skeleton.lengths[self.owners, None]
        self.base = self._sampled_base()
        self.heads, self.frames = forward(skeleton, self._pose([fit.truth for fit in self.fits]))
        self.truth = self._points(self.heads, self.frames)
        self.moved: list[Indices] = [
            np.flatnonzero([fit.channels.bone in skeleton.ancestors(int(owner)) for owner in self.owners])
            for fit in self.fits
        ]
        self.shares = [self._share(number, slice(0, len(self.truth))) for number in range(len(self.fits))]
        self.errors = np.zeros_like(self.truth)
        for moved, share in zip(self.moved, self.shares, strict=True):
            self.errors[:, moved] += share

    def _sampled_base(self) -> Pose:
        """The motion at the samples: what is not keyed stays as in the frame before, if there is nothing between."""
        if not self.whole:
            return self.motion.pose
        index = np.minimum(np.arange(QUARTERS * (len(self.motion) - 1) + 1) // QUARTERS, len(self.motion) - 1)
        return self.motion.pose[index]

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
        """What the misfit of one bone does to the points that it moves, (S, p, 3), to first order."""
        fit = self.fits[number]
        bone = fit.channels.bone
        frames = self.frames[samples, bone]
        turned = to_rotations(fit.fitted[samples, : fit.width], fit.channels.mode)
        omega = rotation.rotate(frames, rotation.log(rotation.mul(rotation.inv(fit.turns[samples]), turned)))
        levers = self.truth[samples][:, self.moved[number]] - self.heads[samples, bone, None]
        result = levers @ np.swapaxes(rotation.skew(omega), -1, -2)
        if fit.channels.location is not None:
            shift = fit.fitted[samples, fit.width :] - fit.truth[samples, fit.width :]
            rest = rotation.mul(frames, rotation.inv(fit.turns[samples]))
            if not self.skeleton.local_location[bone]:
                rest = rotation.mul(rest, rotation.inv(self.skeleton.rest_rotations[bone]))
            result += rotation.rotate(rest, shift)[:, None]
        return result

    def _update(self, number: int, samples: slice) -> None:
        share = self._share(number, samples)
        self.errors[samples, self.moved[number]] += share - self.shares[number][samples]
        self.shares[number][samples] = share

    def reduced(self, progress: Callable[[float], object]) -> ReducedKeys:
        aim = AIM * self.tolerance
        while True:
            missed = self._put_in(aim)
            self._leave_out(aim, progress)
            error, frame = self._exact()
            if error <= self.tolerance:
                missed = set[int]()
            elif aim < LOWEST * self.tolerance:
                missed |= self._blamed()
            elif not missed:  # they are no matter of the aim
                aim *= LOWER
                continue
            break
        keys = tuple(
            BoneKeys(fit.channels.bone, fit.channels.mode, fit.channels.location is not None,
                     fit.keys(float(self.motion.frames[0])))
            for fit in self.fits
        )  # fmt: skip
        kept = sum(len(fit.times) for fit in self.fits)
        bones = tuple(self.fits[number].channels.bone for number in sorted(missed))
        return ReducedKeys(keys, kept, len(self.fits) * self.count, error, frame, bones)

    def _exact(self) -> tuple[float, float]:
        """The largest error by exact evaluation of the keys that are written, and its frame."""
        first = float(self.motion.frames[0])
        at = first + np.arange(len(self.truth)) / QUARTERS
        pose = self._pose([fit.keys(first).evaluate(at) for fit in self.fits])
        errors = rotation.lengths(self._points(*forward(self.skeleton, pose)) - self.truth).max(axis=1)
        worst = int(np.argmax(errors))
        return float(errors[worst]), float(at[worst])

    def _blame(self, sample: int, point: int) -> int:
        """The number of the bone that does most of an error."""
        blame = [
            float(share[sample, moved == point].sum(axis=0) @ self.errors[sample, point])
            for share, moved in zip(self.shares, self.moved, strict=True)
        ]
        return int(np.argmax(blame))

    def _blamed(self) -> set[int]:
        """The numbers of the bones that do most of the largest error."""
        sample, point = np.unravel_index(int(np.argmax(rotation.lengths(self.errors))), self.errors.shape[:2])
        return {self._blame(int(sample), int(point))}

    def _put_in(self, aim: float) -> set[int]:
        """Keys until no point is further off than `aim`: each bone within a part of it of its own.

        The numbers of bones that are in the way of that, whatever keys they get.
        """
        parts = np.full(len(self.fits), SHARE * aim)
        while True:
            for number in range(len(self.fits)):
                self._refine(number, parts[number])
            length = rotation.lengths(self.errors)
            peaks = _peaks(length.max(axis=1), aim)
            helped, stuck = False, set[int]()
            for sample in peaks:
                worst = self._blame(sample, int(np.argmax(length[sample])))
                if parts[worst] > FLOOR * aim:
                    parts[worst] *= LESS
                    helped = True
                else:
                    stuck.add(worst)
            if not helped:
                return stuck

    def _refine(self, number: int, most: float) -> None:
        """Keys in one bone until what its misfit does to any point is at `most` so much."""
        fit = self.fits[number]
        while True:
            peaks = _peaks(rotation.lengths(self.shares[number]).max(axis=1), most)
            found = [(sample / QUARTERS, _free_frame(fit, sample / QUARTERS)) for sample in peaks]
            frames = sorted({frame for _, frame in found if frame >= 0})
            sharper = [fit.sharpen(place) for place, frame in found if frame < 0]
            if frames:
                fit.insert(frames)
            elif not any(sharper):
                return
            self._update(number, slice(0, len(self.truth)))

    def _leave_out(self, aim: float, progress: Callable[[float], object]) -> None:
        """Every key without which all stays within `aim`; within less at first, so that all bones have their share."""
        for turn, share in enumerate(ROUNDS):
            for number in range(len(self.fits)):
                progress((turn + number / len(self.fits)) / len(ROUNDS))
                for time in self.fits[number].times[1:-1].tolist():
                    self._try_without(number, time, share * aim)

    def _try_without(self, number: int, time: float, aim: float) -> None:
        fit, moved = self.fits[number], self.moved[number]
        place = int(np.searchsorted(fit.times, time))
        beside = _within(fit.times[place - 1], fit.times[place + 1])
        if rotation.lengths(self.errors[beside, moved]).max() > aim:  # it would hardly become better
            return
        before = fit.state()
        samples = fit.remove(place)
        share = self._share(number, samples)
        errors = self.errors[samples, moved] + share - self.shares[number][samples]
        if rotation.lengths(errors).max() <= aim:
            self.errors[samples, moved], self.shares[number][samples] = errors, share
        else:
            fit.restore(*before)


def _between(values: Array) -> Array:
    """Values (F, C) at all quarters, (S, C): the cubic through the frames whose slopes are central differences."""
    slopes = np.gradient(values, axis=0)
    frames = np.arange(len(values))
    basis_at = np.arange(QUARTERS * (len(values) - 1) + 1) / QUARTERS
    here = np.minimum(basis_at.astype(int), len(values) - 2)
    t = (basis_at - frames[here])[:, None]
    s = 1.0 - t
    ends = values[here] * (1.0 + 2.0 * t) * s * s + values[here + 1] * (3.0 - 2.0 * t) * t * t
    return ends + slopes[here] * t * s * s - slopes[here + 1] * t * t * s


def _hermite(times: Array, at: Array) -> Array:
    """(S, 3, K): what values, slopes before and slopes after key times do at frames (S,) within them."""
    result = np.zeros((len(at), 3, len(times)))
    if len(times) == 1:
        result[:, 0] = 1.0
        return result
    here = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    span = (times[here + 1] - times[here]).astype(float)
    t = (at - times[here]) / span
    s = 1.0 - t
    rows = np.arange(len(at))
    result[rows, 0, here], result[rows, 0, here + 1] = (1.0 + 2.0 * t) * s * s, (3.0 - 2.0 * t) * t * t
    result[rows, 2, here], result[rows, 1, here + 1] = span * t * s * s, -span * t * t * s
    return result


def _peaks(worst: Array, aim: float) -> list[int]:
    """Samples that are above `aim`, the worst ones first, none near another."""
    found: list[int] = []
    free = np.ones(len(worst), bool)
    for sample in np.argsort(-worst, kind="stable").tolist():
        if worst[sample] <= aim:
            break
        if free[sample]:
            found.append(sample)
            free[max(sample - APART * QUARTERS, 0) : sample + APART * QUARTERS] = False
    return found


def _free_frame(fit: _Fit, frame: float) -> float:
    """The place for a key nearest to a frame that has none, not far off; -1 if there is none."""
    ends = np.searchsorted(fit.places, [int(frame) - APART, int(frame) + APART + 1])
    free = np.setdiff1d(fit.places[slice(*ends)], fit.times)
    return float(free[np.argmin(np.abs(free - frame))]) if len(free) else -1.0


def _within(first: float, last: float) -> "slice[int, int]":
    """The samples from one frame to another."""
    return slice(math.ceil(QUARTERS * first), math.floor(QUARTERS * last) + 1)


def _places(times: Array | None, first: float, last: int) -> Array:
    """Where a bone may have keys, in frames from `first`, up to `last`: at whole ones if its keys are.

    Else where they are, since curves may have corners there, and at whole frames that have none of them near.
    """
    whole = np.arange(last + 1.0)
    if times is None or np.all(np.abs(times - np.round(times)) < ROUND):
        return whole
    own = np.unique(np.clip(times - first, 0.0, last))
    own = own[np.append(np.diff(own) > ROUND, True)]
    near = np.abs(whole[:, None] - own).min(axis=1) if len(own) else np.full(len(whole), NEAR)
    ends = (whole == 0.0) | (whole == last)
    inner = own[(own > ROUND) & (own < last - ROUND)]
    return np.union1d(whole[ends | (near >= NEAR)], inner)
