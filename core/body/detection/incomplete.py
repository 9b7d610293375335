"""Find a body that lacks an arm or a leg, or the end of one, from the other side and its mirror image.

Used only where no whole body is found. A pair of similar limbs, arms or legs, gives the middle of the body. A single
limb that forms a body with its own mirror image is one of the other pair; the bones in the places of the mirror image
are the rest of the incomplete limb.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ...rotation import Array, lengths
from .shape import LEAST_REACH, LONGEST, BodyShape, LimbPair, best_body, fit_pair, long_pairs, longest_chains
from .tree import BodyTree

_ASIDE: Final = 0.04  # of the limb's length: distance of its first joint from the middle, at least; else it is a tail
_CENTRED: Final = 0.1  # of its reach: distance of its bone of the trunk from the middle, at most
_COST: Final = 4.5  # largest cost of an incomplete body: birds without a wing or a feather cost more
_LESS_SURE: Final = 3.0  # factor of the cost: a third of the evidence is missing
_SAME: Final = 0.01  # of the limb's length: a bone begins where the mirror image does
_NEAR: Final = 0.05  # of the limb's length: a bone with a similar direction begins near the mirror image
_ALIKE: Final = 0.15  # bones of both sides differ in length by less than this, relatively
_SIMILAR: Final = 0.6  # cosine: the first bones of both sides have a similar direction


def find_incomplete(tree: BodyTree) -> BodyShape | None:
    """Return the most human choice of a pair of limbs and a single limb, or None."""
    best = best_body(tree, _choices(tree, long_pairs(tree)), _COST)
    return BodyShape(best.legs, best.arms, _LESS_SURE * best.cost) if best is not None else None


def _choices(tree: BodyTree, pairs: Sequence[LimbPair]) -> Iterator[tuple[LimbPair, LimbPair]]:
    """Yield (legs, arms), of which one is a pair and the other a limb with its mirror image."""
    singles = [(trunk, bone) for trunk in tree.members for bone in longest_chains(tree, trunk, LEAST_REACH)]
    for pair in pairs:
        if pair.cost >= _COST:
            continue
        taken = pair.bones
        for trunk, bone in singles:
            if bone not in taken and trunk not in taken:
                single = _mirrored(tree, trunk, bone, pair)
                if single is not None:
                    yield from ((pair, single), (single, pair))


def _mirrored(tree: BodyTree, trunk: int, bone: int, pair: LimbPair) -> LimbPair | None:
    """Return the limb that begins with a bone and its mirror image beside a pair; None if it is no single limb."""
    middle = pair.joint(1).mean(axis=0)
    if abs((tree.heads[trunk] - middle) @ pair.across) > _CENTRED * tree.reach[bone]:
        return None
    chain = tree.chain(bone)
    points = tree.heads[chain[:LONGEST]]
    if len(chain) <= LONGEST:
        points = np.append(points, tree.tips[chain[-1:]], axis=0)
    image = points - 2.0 * ((points - middle) @ pair.across)[:, None] * pair.across
    both = np.stack([points, image]), tree.reach[[bone, bone]]
    found = fit_pair(trunk, (chain, chain), *both, min(len(chain), LONGEST))
    if found is None:
        return None
    limb, other = found.limbs
    length = float(lengths(np.diff(limb.points[1:], axis=0)).sum())
    if abs((limb.points[1] - middle) @ pair.across) < _ASIDE * length:
        return None
    rest = _incomplete_chain(tree, trunk, chain, image, length)
    if len(rest) >= min(limb.joints[2] + 1, len(chain)):
        return None  # complete: the two would be a pair if they were similar
    return replace(found, limbs=(limb, replace(other, chain=rest)))


def _incomplete_chain(tree: BodyTree, trunk: int, chain: Sequence[int], image: Array, length: float) -> tuple[int, ...]:
    """Return the bones of a limb along the mirror image (m, 3) of the chain of the other side, perhaps none."""
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
    """Return whether a bone begins where the mirror image does, off the middle, or near it in a similar direction."""
    gap = float(lengths(tree.heads[bone] - image[0]))
    step, wanted = _next(tree, bone) - tree.heads[bone], image[1] - image[0]
    along = float(step @ wanted) > _SIMILAR * float(lengths(step) * lengths(wanted))
    return (aside and gap < _SAME * length) or (along and gap < _NEAR * length)


def _next(tree: BodyTree, bone: int) -> Array:
    """Return the next joint (3,) of a bone's chain, or its tip."""
    chain = tree.chain(bone)
    return tree.heads[chain[1]] if len(chain) > 1 else tree.tips[bone]
