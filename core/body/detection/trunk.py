"""The trunk between the limbs: hips, spine, neck and head."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ...rotation import Array, lengths
from .human import HumanLimbs
from .names import NameReading
from .tree import BodyTree

_MUCH_NEARER: Final = 0.6  # a bone above that is so much nearer to the hip joints carries the pelvis
_RISES: Final = 0.3  # cosine: the next bone of the neck goes on upwards
_CENTRED: Final = 0.4  # sine: a middle chain is not further off the middle
_SHORT_HEAD: Final = 0.06  # of the size: a longer bone is no link of a neck
_HARDLY: Final = 0.002  # of the size: a bone that begins where its parent does is no link either


@dataclass(frozen=True)
class Trunk:
    hips: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int  # -1 if there is none


def find_trunk(
    tree: BodyTree, readings: Sequence[NameReading], body: HumanLimbs, up: Array, across: Array
) -> Trunk | None:
    """The trunk that carries the limbs; None if nothing carries them all. `up` and `across` are unit vectors (3,)."""
    legs, arms = body.firsts("leg"), body.firsts("arm")
    pelvis, chest = (tree.common(*(tree.parents[bone] for bone in bones)) if bones else -1 for bones in (legs, arms))
    if not arms and pelvis >= 0:
        chest = _chest(tree, readings, pelvis)
    if chest < 0:
        return None
    hips = _hips(tree, readings, tree.common(pelvis, chest) if pelvis >= 0 else chest, body.of("thigh"))
    if hips < 0:
        return None
    head = named_head(tree, readings, chest)
    if head < 0:
        head = find_head(tree, chest, {*legs, *arms}, up, across)
    neck = tree.path(chest, head)[:-1] if head >= 0 else []
    return Trunk(hips, tuple(tree.path(hips, chest)), tuple(neck), head)


def _chest(tree: BodyTree, readings: Sequence[NameReading], pelvis: int) -> int:
    """What carries the neck of a body without arms, or the head; -1 if no bone is called a head."""
    head = named_head(tree, readings, pelvis)
    carriers = tree.path(pelvis, head)[:-1] if head >= 0 else []
    return (
        next((bone for bone in reversed([pelvis, *carriers]) if readings[bone].part != "neck"), -1) if head >= 0 else -1
    )


def _hips(tree: BodyTree, readings: Sequence[NameReading], common: int, thighs: Sequence[int]) -> int:
    """The bone that carries legs and spine, or one above it if that is the pelvis by its name or its place."""
    if common < 0:
        return common
    above = tree.ancestors(common)
    for bone in above:
        if readings[bone].part == "hips" and not readings[bone].rest:
            return bone
    if not thighs:
        return common
    middle = tree.heads[list(thighs)].mean(axis=0)
    gap = [float(lengths(tree.heads[bone] - middle)) for bone in above]
    return above[1] if len(above) > 1 and gap[1] < _MUCH_NEARER * gap[0] else common


def named_head(tree: BodyTree, readings: Sequence[NameReading], chest: int) -> int:
    """The first bone beyond the chest that is called so; -1 if there is none."""
    heads = [
        bone
        for bone in tree.members
        if readings[bone].part == "head" and not readings[bone].side and tree.below(bone, chest)
    ]
    return min(heads, key=lambda bone: (readings[bone].rest, tree.depth[bone]), default=-1)


def find_head(tree: BodyTree, chest: int, limbs: set[int], up: Array, across: Array, human: bool = True) -> int:
    """The head by its shape; -1 if there is nothing beyond the chest.

    It carries a face, or is the last bone of the middle chain that goes up (an animal's: forward), or, of a human, the
    longest: what follows is hair or an end bone.
    """
    chain: list[int] = []
    bone = chest
    while True:
        beyond = [child for child in tree.children[bone] if child not in limbs]
        steps = {child: tree.heads[child] - tree.heads[bone] for child in beyond}
        aside = [float(step @ across) for step in steps.values()]
        if chain and aside and min(aside) < -_HARDLY and max(aside) > _HARDLY:  # eyes, ears
            carries_face_only = len(chain) > 1 and _goes(tree, chain[-2], up) and not _goes(tree, bone, up)
            return chain[-2] if carries_face_only else bone
        onward = [child for child in beyond if _goes_on(tree, child, tree.heads[bone], up, across, not chain)]
        if not onward:
            break
        bone = max(onward, key=lambda child: _rise(tree, child, tree.heads[bone], up))
        chain.append(bone)
    if len(chain) < 3 or not human:
        return chain[-1] if chain else -1
    reach = [_norm(tree.heads[after] - tree.heads[link]) for link, after in pairwise(chain)]
    reach.append(_norm(tree.tips[chain[-1]] - tree.heads[chain[-1]]))
    longest = int(np.argmax(reach))
    return chain[longest] if reach[longest] > _SHORT_HEAD else chain[-1]


def _goes_on(tree: BodyTree, bone: int, start: Array, up: Array, across: Array, first: bool) -> bool:
    """The next joint, or for the first link any of the chain, is above `start` and in the middle."""
    ways = tree.heads[tree.chain(bone) if first else [bone]] - start
    lengths = np.linalg.norm(ways, axis=1)
    return bool(np.any((ways @ up > np.maximum(_HARDLY, _RISES * lengths)) & (abs(ways @ across) < _CENTRED * lengths)))


def _goes(tree: BodyTree, bone: int, up: Array) -> bool:
    way = tree.tips[bone] - tree.heads[bone]
    return bool(way @ up > _RISES * _norm(way))


def _rise(tree: BodyTree, bone: int, start: Array, up: Array) -> float:
    """How far the chain of this bone goes up from `start`, less how far it goes aside."""
    step = tree.tips[tree.chain(bone)[-1]] - start
    rise = float(step @ up)
    return rise - _norm(step - rise * up)


def _norm(vector: Array) -> float:
    return float(np.linalg.norm(vector))
