"""Find fingers and the bones of the palm."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...rotation import lengths
from ..axes import angle
from ..roles import FINGERS
from .tree import BodyTree

_PHALANGES: Final = 3  # a longer chain begins in the palm


def named_fingers(tree: BodyTree, hand: int, side: str) -> dict[str, tuple[int, ...]]:
    """Return finger -> phalanges, and "palm.FINGER" -> (metacarpal,), of the bones below `hand`, by their names."""
    named = [bone for bone in tree.members if tree.readings[bone].side in ("", side) and not tree.readings[bone].twist]
    below = [bone for bone in named if tree.below(bone, hand)]
    found: dict[str, list[int]] = {}
    for bone in below:
        part = tree.readings[bone].part
        if part == "finger":
            part = _numbered(tree, below, bone)
        if part in FINGERS:
            found.setdefault(part, []).append(bone)
    result = {
        finger: tuple(sorted(found[finger], key=lambda b: tree.depth[b])) for finger in FINGERS if finger in found
    }
    for finger, bones in list(result.items()):
        above = tree.parents[bones[0]]
        if finger != "thumb" and above != hand and tree.readings[above].part == "palm":
            result[f"palm.{finger}"] = (above,)
    return result


def _numbered(tree: BodyTree, below: Sequence[int], bone: int) -> str:
    """Return the finger of a bone called finger and a number, counted from the thumb; a single chain is the middle.

    3ds Max counts from 0, and "Finger12" is a phalanx of finger 1; MakeHuman counts from 1.
    """
    fingers = [tree.readings[other].numbers for other in below if tree.readings[other].part == "finger"]
    firsts = {int(str(numbers[0])[0]) for numbers in fingers if numbers}
    numbers = tree.readings[bone].numbers
    if not numbers or len(firsts) < 2:
        return "middle"
    place = int(str(numbers[0])[0]) - (0 if 0 in firsts else 1)
    return FINGERS[place] if 0 <= place < len(FINGERS) else ""


def shaped_fingers(tree: BodyTree, hand: int, forearm: int) -> dict[str, tuple[int, ...]]:
    """Return `named_fingers` by shape: chains that fan out from the hand, in order; the thumb points most aside."""
    chains = _chains(tree, hand)
    if not 2 <= len(chains) <= len(FINGERS):
        return {}
    arm = tree.heads[hand] - tree.heads[forearm]
    aside = [angle(tree.heads[chain[-1]] - tree.heads[chain[0]], arm) for chain in chains]
    thumb = int(np.argmax(aside))
    others = [i for i in range(len(chains)) if i != thumb]
    others.sort(key=lambda i: float(lengths(tree.heads[chains[i][-1]] - tree.heads[chains[thumb][-1]])))
    result = {"thumb": tuple(chains[thumb][-_PHALANGES:])}
    for name, i in zip(FINGERS[1:] if len(others) > 1 else ("middle",), others, strict=False):
        result[name] = tuple(chains[i][-_PHALANGES:])
        if len(chains[i]) > _PHALANGES:
            result[f"palm.{name}"] = (chains[i][-_PHALANGES - 1],)
    return result


def _chains(tree: BodyTree, hand: int) -> list[list[int]]:
    """Return the chains from the hand to every tip; a palm bone that carries two fingers is in one chain only."""
    chains: list[list[int]] = []
    seen: set[int] = {hand}
    tips = [bone for bone in tree.members if not tree.children[bone] and tree.below(bone, hand)]
    for tip in sorted(tips, key=lambda bone: -tree.depth[bone]):
        chain = [bone for bone in tree.path(hand, tip) if bone not in seen]
        seen.update(chain)
        if len(chain) > 1:
            chains.append(chain)
    return chains
