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
    parts = {bone: tree.readings[bone].part for bone in below}
    called = [bone for bone in below if parts[bone] in FINGERS]
    # a bone that carries fingers with names is of the palm: CMU's FingerBase
    fingers = [bone for bone in below if parts[bone] == "finger" and not any(tree.below(one, bone) for one in called)]
    parts |= _numbered(tree, fingers)
    found: dict[str, list[int]] = {}
    for bone, part in parts.items():
        if part in FINGERS:
            found.setdefault(part, []).append(bone)
    result = {
        finger: tuple(sorted(found[finger], key=lambda b: tree.depth[b])) for finger in FINGERS if finger in found
    }
    for finger, bones in list(result.items()):
        above = tree.parents[bones[0]]
        if finger != "thumb" and above != hand and tree.readings[above].part in ("palm", "finger"):
            result[f"palm.{finger}"] = (above,)
    return result


def _numbered(tree: BodyTree, bones: Sequence[int]) -> dict[int, str]:
    """Return the fingers of bones called finger and a number, counted from the thumb; a single chain is the middle.

    3ds Max counts from 0, and "Finger12" and "Finger01" are phalanges of the fingers 1 and 0; MakeHuman counts from 1.
    """
    numbers = {bone: said[0] for bone in bones if (said := tree.readings[bone].numbers)}
    padded = all(len(number) > 1 and number[0] == "0" for number in numbers.values())
    firsts = {bone: int(number[padded]) for bone, number in numbers.items()}
    if len({*firsts.values()}) < 2:
        return dict.fromkeys(bones, "middle")
    least = 0 if 0 in firsts.values() else 1
    named = {bone: FINGERS[first - least] for bone, first in firsts.items() if first - least < len(FINGERS)}
    return dict.fromkeys((bone for bone in bones if bone not in firsts), "middle") | named


def shaped_fingers(tree: BodyTree, hand: int, forearm: int) -> dict[str, tuple[int, ...]]:
    """Return `named_fingers` by shape: chains that fan out from the hand, in order; the thumb points most aside."""
    chains = _without_tips(tree, hand, _chains(tree, hand))
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


def _without_tips(tree: BodyTree, hand: int, chains: list[list[int]]) -> list[list[int]]:
    """Return the chains without joints at the fingertips: there are some if long chains begin beyond the palm."""
    long = [tree.heads[[hand, *chain[:2]]] for chain in chains if len(chain) > _PHALANGES]
    begun = [bool(lengths(first - wrist) > lengths(second - first)) for wrist, first, second in long]
    tips = bool(begun) and np.mean(begun) > 0.5
    return [chain[:-1] if tips and len(chain) > _PHALANGES else chain[: _PHALANGES + 1] for chain in chains]


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
