"""Breakdowns: few frames in which all bones get keys, so that the curves through these follow a motion.

As an animator works: the frame between two keys that is furthest from what the curves make of it becomes a key of the
whole body. Values at keys are exact, slopes are the least-squares fit of all channels to the motion.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ..channels import to_rotations
from ..motion import Motion
from ..pose import Pose
from ..rotation import Array, lengths
from ..skeleton import Indices, Skeleton
from .bezier import Keys, hermite
from .bone_keys import BoneChannels, BoneKeys
from .reduction import watched_points

_WORSE: Final = 0.5  # of the largest error: frames that are keyed in the same round


class Breakdowns(NamedTuple):
    """Keys of bones, all at the same frames (K,), and how far the body is off between them, in armature units."""

    frames: Array
    bones: tuple[BoneKeys, ...]
    error: float


def find_breakdowns(
    skeleton: Skeleton,
    motion: Motion,
    channels: Sequence[BoneChannels],
    keys: Indices,
    most: int,
    tolerance: float = 0.0,
) -> Breakdowns:
    """Return keys of bones at `keys` (K,), indices of frames with the first and the last one, and in `most` others.

    `channels` are what bones have in the frames of the motion. There are fewer where heads, tails and points a bone's
    length beside the heads are within `tolerance`, in armature units.
    """
    values: Array = np.concatenate([np.zeros((len(motion), 0)), *(one.values for one in channels)], axis=1, dtype=float)
    bones = list(range(len(skeleton)))
    wanted = watched_points(skeleton, motion.pose, bones)
    places, left = np.asarray(keys, int), most
    while True:
        slopes, found = _fitted(values, motion.frames, places)
        points = watched_points(skeleton, _posed(motion.pose, channels, found), bones)
        far = lengths(points - wanted).max(axis=(1, 2))
        far[places] = 0.0
        worst = [first + int(far[first:last].argmax()) for first, last in pairwise(places.tolist())]
        least = max(tolerance, _WORSE * float(far.max()))
        chosen = [place for place in sorted(worst, key=lambda place: -far[place])[:left] if far[place] > least]
        if not chosen:
            break
        places, left = np.union1d(places, chosen), left - len(chosen)
    at = motion.frames[places]
    made = (
        BoneKeys(one.bone, one.mode, one.location is not None, Keys.of_slopes(at, values[places, own], slopes[:, own]))
        for one, own in _columns(channels)
    )
    return Breakdowns(at, tuple(made), float(far.max()))


def _fitted(values: Array, frames: Array, places: Indices) -> tuple[Array, Array]:
    """Return the slopes (K, C) of curves through values (F, C) in some frames that follow all best, and the curves."""
    basis = hermite(frames[places], frames)
    sloped = basis[:, 1] + basis[:, 2]
    through = basis[:, 0] @ values[places]
    slopes = np.linalg.lstsq(sloped, values - through, rcond=None)[0]
    return slopes, through + sloped @ slopes


def _posed(pose: Pose, channels: Sequence[BoneChannels], values: Array) -> Pose:
    """Return poses (F) with channels of bones, side by side (F, C)."""
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    for one, own in _columns(channels):
        turns, places = np.split(values[:, own], [one.rotation.shape[1]], axis=1)
        rotations[:, one.bone] = to_rotations(turns, one.mode)
        if one.location is not None:
            translations[:, one.bone] = places
    return Pose(rotations, translations, pose.scales, pose.driven_matrices)


def _columns(channels: Sequence[BoneChannels]) -> Iterator[tuple[BoneChannels, "slice[int, int]"]]:
    """Yield the channels of each bone with their columns."""
    end = 0
    for one in channels:
        begin, end = end, end + one.values.shape[1]
        yield one, slice(begin, end)
