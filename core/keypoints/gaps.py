"""Limbs in the gaps of a clip, in frames in which some of their landmarks are not seen.

The plane of a limb tells its twist; with a guessed landmark of a limb that is nearly straight it is wrong. So in gaps
rotations relative to the part before go from one end to the other by the shortest arc, or stay, and are swung to the
direction that landmarks show, where these are seen.
"""

from typing import Final, NamedTuple

import numpy as np

from .. import rotation
from ..body import SIDES
from ..rotation import Array
from ..skeleton import Flags
from .body import LANDMARK, PART


class _Link(NamedTuple):
    """A part of a limb and the part before it; landmarks of its direction and of all of its rotation; its axis (3,)."""

    part: int
    parent: int
    along: list[int]
    all: list[int]
    axis: Array


def _links() -> list[_Link]:
    chains = {
        ("chest", "upper_arm", "forearm", "hand"): (("shoulder", "elbow", "wrist"), ("wrist", "index", "pinky")),
        ("hips", "thigh", "shin", "foot"): (("hip", "knee", "ankle"), ("ankle", "heel", "ball")),
    }
    found: list[_Link] = []
    for side in SIDES:
        for (trunk, upper, lower, end), (limb, tip) in chains.items():
            down = np.array([1.0 if side == "L" else -1.0, 0.0, 0.0] if trunk == "chest" else [0.0, -1.0, 0.0])
            near, middle, far = rows = [LANDMARK[f"{name}.{side}"] for name in limb]
            ends = [LANDMARK[f"{name}.{side}"] for name in tip]
            one, two, three = (PART[f"{part}.{side}"] for part in (upper, lower, end))
            found += [
                _Link(one, PART[trunk], [near, middle], rows, down),
                _Link(two, one, [middle, far], rows, down),
                _Link(three, two, ends, ends, down),
            ]
    return found


_LINKS: Final = _links()


def bridge_gaps(rotations: Array, seen: Flags, times: Array) -> Array:
    """Return rotations (F, P, 4) with those of limbs bridged where landmarks are not `seen` (F, M); times (F,)."""
    result = rotations.copy()
    for link in _LINKS:
        own = rotation.mul(rotation.inv(rotations[:, link.parent]), rotations[:, link.part])
        result[:, link.part] = rotation.mul(result[:, link.parent], own)
        known = np.flatnonzero(seen[:, link.all].all(axis=1))
        if not len(known):
            continue
        gaps = np.setdiff1d(np.arange(len(seen)), known)
        after = np.searchsorted(known, gaps)
        first, last = known[np.maximum(after - 1, 0)], known[np.minimum(after, len(known) - 1)]
        share = (times[gaps] - times[first]) / np.where(last > first, times[last] - times[first], 1.0)
        share[first == last] = 0.0
        between = rotation.mul(result[gaps, link.parent], rotation.slerp(own[first], own[last], share))
        shown = rotation.rotate(rotations[gaps, link.part], link.axis)
        turn = rotation.shortest(rotation.rotate(between, link.axis), shown)
        along = seen[gaps][:, link.along].all(axis=1)
        result[gaps, link.part] = np.where(along[:, None], rotation.mul(turn, between), between)
    return result
