"""Find what a body stands on: the pairs of limbs that end at its lowest points."""

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from ...rotation import Array
from .shape import LimbPair
from .tree import BodyTree

MIDDLE: Final = 0.02  # of the size: distance aside of a bone in the middle, at most
_LEGS: Final = 4  # pairs
_GROUND: Final = 0.2  # of the height: distance of the ends of legs from the lowest point of the body, at most


def side_axis(tree: BodyTree, pairs: Sequence[LimbPair]) -> int:
    """Return the axis, 0 to 2, from side to side: that of pairs that are like limbs, with many bones in the middle."""
    along = np.sum([abs(pair.across) / (1.0 + pair.cost) for pair in pairs], axis=0)
    centre = np.median(tree.heads[[pair.trunk for pair in pairs]], axis=0)
    middle = np.abs(tree.heads[list(tree.members)] - centre) < MIDDLE
    return int(np.argmax(along * middle.mean(axis=0)))


def standing_pairs(tree: BodyTree, pairs: Sequence[LimbPair], up: Array) -> list[LimbPair]:
    """Return the pairs whose limbs both end near the lowest point of the body."""
    low = _lowest(tree, tree.members, up)
    high = max(float(start_of(tree, pair) @ up) for pair in pairs)
    return [
        pair
        for pair in pairs
        if max(_lowest(tree, limb.chain, up) for limb in pair.limbs) - low < _GROUND * (high - low)
    ]


def find_up(tree: BodyTree, pairs: Sequence[LimbPair]) -> Array:
    """Return the axis upwards (3,), along which pairs stand highest: of fur and feathers no more count than of legs."""
    side = side_axis(tree, pairs)
    axes = [up for up in (np.array([0.0, 0.0, 1.0]), *np.eye(3), *-np.eye(3)) if up[side] == 0.0]

    def heights(up: Array) -> float:
        return sum(sorted(height_of(tree, pair, up) for pair in standing_pairs(tree, pairs, up))[-_LEGS:])

    return max(axes, key=heights)


def start_of(tree: BodyTree, pair: LimbPair) -> Array:
    """Return the middle (3,) between the first joints of a pair."""
    return tree.heads[[limb.bones[0] for limb in pair.limbs]].mean(axis=0)


def height_of(tree: BodyTree, pair: LimbPair, up: Array) -> float:
    """Return how high the limbs of a pair begin above their ends."""
    return float(np.mean([(tree.heads[limb.chain[0]] - tree.tips[limb.chain[-1]]) @ up for limb in pair.limbs]))


def _lowest(tree: BodyTree, bones: Collection[int], up: Array) -> float:
    """Return the height of the lowest head or tip of bones."""
    return float(np.minimum(tree.tips[list(bones)] @ up, tree.heads[list(bones)] @ up).min())
