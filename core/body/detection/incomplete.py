"""A body that lacks an arm or a leg, or the end of one: told by the other side and its mirror image.

Asked only where no whole body is found. A pair of like limbs, arms or legs, says where the middle of the body is; a
limb alone that makes a body with its own mirror image there is one of the other pair, and what of the mirror image is
there is what is left of its fellow.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...rotation import Array, lengths
from .shape import LEAST_REACH, LONGEST, BodyShape, LimbPair, LimbShape, best_body, fit, long_pairs, longest_chains
from .tree import BodyTree

_ASIDE: Final = 0.04  # of the limb's length: its first joint is at least so far off the middle, or it is a tail
_CENTRED: Final = 0.1  # of its reach: the bone that it hangs on is no further off the middle
_COST: Final = 4.5  # a half body that costs more is none: birds with a wing or a feather less begin here
_LESS_SURE: Final = 3.0  # its proportions count for so much more: a third of the evidence is not there
_SAME: Final = 0.01  # of the limb's length: a bone begins in the very place where the mirror image does
_NEAR: Final = 0.05  # and so near to it if it goes the same way
_ALIKE: Final = 0.15  # bones of both sides differ in length by less than this, relatively
_ASTRAY: Final = 0.6  # cosine between the first bones of both sides at least


def find_incomplete(tree: BodyTree) -> BodyShape | None:
    """The most human choice of a pair of limbs and a limb alone; None if no choice is."""
    pairs = long_pairs(tree)
    best = best_body(tree, _choices(tree, pairs), _COST)
    return BodyShape(best.legs, best.arms, _LESS_SURE * best.cost) if best is not None else None


def _choices(tree: BodyTree, pairs: Sequence[LimbPair]) -> Iterator[tuple[LimbPair, LimbPair]]:
    """(legs, arms) of which one is a pair and the other a limb with its mirror image."""
    singles = [(trunk, bone) for trunk in tree.members for bone in longest_chains(tree, trunk, LEAST_REACH)]
    for pair in pairs:
        taken = {bone for limb in pair.limbs for bone in limb.chain}
        for trunk, bone in singles:
            if bone not in taken and trunk not in taken:
                single = _mirrored(tree, trunk, bone, pair)
                if single is not None:
                    yield from ((pair, single), (single, pair))


def _mirrored(tree: BodyTree, trunk: int, bone: int, pair: LimbPair) -> LimbPair | None:
    """The limb that begins with a bone and its mirror image beside a pair; None if it is no limb, or not alone."""
    middle = np.mean([limb.points[1] for limb in pair.limbs], axis=0)
    if abs((tree.heads[trunk] - middle) @ pair.across) > _CENTRED * tree.reach[bone]:
        return None
    chain = tree.chain(bone)
    points = tree.heads[chain[:LONGEST]]
    if len(chain) <= LONGEST:
        points = np.append(points, tree.tips[chain[-1:]], axis=0)
    image = points - 2.0 * ((points - middle) @ pair.across)[:, None] * pair.across
    found = fit(np.stack([points, image]), tree.reach[[bone, bone]], min(len(chain), LONGEST))
    if found is None:
        return None
    joints, cost, across, sure = found
    places = points[[0, *joints]]
    length = float(lengths(np.diff(places[1:], axis=0)).sum())
    if abs((places[1] - middle) @ pair.across) < _ASIDE * length:
        return None
    left = _fellow(tree, trunk, chain, image, length)
    if len(left) >= min(joints[2] + 1, len(chain)):
        return None  # whole: the two would be a pair if they were alike
    limb = LimbShape(tuple(chain), joints, cost, places, sure)
    fellow = LimbShape(left, joints, cost, image[[0, *joints]], sure)
    return LimbPair(trunk, (limb, fellow), across)


def _fellow(tree: BodyTree, trunk: int, chain: Sequence[int], image: Array, length: float) -> tuple[int, ...]:
    """What is left of the limb whose whole fellow is `chain`, and that one's mirror image (m, 3); perhaps nothing."""
    aside = float(lengths(tree.heads[chain[0]] - image[0])) > _ASIDE * length
    starts = [bone for bone in tree.children[trunk] if bone != chain[0] and _begins(tree, bone, image, length, aside)]
    if not starts:
        return ()
    found = [min(starts, key=lambda bone: float(lengths(_next(tree, bone) - image[1])))]
    for place in range(1, min(len(chain), LONGEST)):
        wanted = float(lengths(image[place] - image[place - 1]))
        after = [bone for bone in tree.children[found[-1]]
                 if abs(lengths(tree.heads[bone] - tree.heads[found[-1]]) - wanted) <= _ALIKE * wanted]  # fmt: skip
        if not after:
            break
        found.append(max(after, key=lambda bone: float(tree.reach[bone])))
    return tuple(found)


def _begins(tree: BodyTree, bone: int, image: Array, length: float, aside: bool) -> bool:
    """Whether a bone begins in the place where the mirror image does, aside of the middle, or near it the same way."""
    gap = float(lengths(tree.heads[bone] - image[0]))
    way, wanted = _next(tree, bone) - tree.heads[bone], image[1] - image[0]
    along = float(way @ wanted) > _ASTRAY * float(lengths(way) * lengths(wanted))
    return (aside and gap < _SAME * length) or (along and gap < _NEAR * length)


def _next(tree: BodyTree, bone: int) -> Array:
    """Where the next joint is, or the bone's tip."""
    chain = tree.chain(bone)
    return tree.heads[chain[1]] if len(chain) > 1 else tree.tips[bone]
