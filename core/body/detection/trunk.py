"""Find the trunk between the limbs: hips, spine, neck and head."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ...rotation import Array, lengths
from .human import HumanLimbs
from .tree import BodyTree

_MUCH_NEARER: Final = 0.6  # a parent whose distance to the hip joints is less than this share is the pelvis
_RISES: Final = 0.3  # cosine to `up` of the next bone of a neck, at least
_CENTRED: Final = 0.4  # sine of the angle of a middle chain to the middle, at most
_SHORT_HEAD: Final = 0.06  # of the size: a longer bone is no link of a neck
_JAW: Final = 0.6  # of the length of the head: a last bone that begins nearer to its joint is a jaw
_HARDLY: Final = 0.002  # of the size: a shorter step is no link either


@dataclass(frozen=True)
class Trunk:
    """Bones of the trunk by their index in the skeleton."""

    hips: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int  # -1 if there is none


def find_trunk(tree: BodyTree, body: HumanLimbs, up: Array, across: Array) -> Trunk | None:
    """Return the trunk that carries the limbs, or None. `up` and `across` are unit vectors (3,)."""
    legs, arms = body.firsts("leg"), body.firsts("arm")
    pelvis, chest = (tree.common(*(tree.parents[bone] for bone in bones)) if bones else -1 for bones in (legs, arms))
    if not arms and pelvis >= 0:
        chest = _chest(tree, pelvis)
    if chest < 0:
        return None
    hips = _hips(tree, tree.common(pelvis, chest) if pelvis >= 0 else chest, body.of("thigh"))
    if hips < 0:
        return None
    head = named_head(tree, chest)
    if head < 0:
        head = find_head(tree, chest, {*legs, *arms}, up, across)
    spine, neck = tree.path(hips, chest), tree.path(chest, head)[:-1] if head >= 0 else []
    spine, neck = named_neck(tree, spine, neck) if head >= 0 else (spine, neck)
    return Trunk(hips, tuple(spine), tuple(neck), head)


def named_neck(tree: BodyTree, spine: Sequence[int], neck: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return spine and neck with the last bones of the spine in the neck if they are called so: Biped's clavicles."""
    start = len(spine)
    while start and tree.readings[spine[start - 1]].part == "neck":
        start -= 1
    return [*spine[:start]], [*spine[start:], *neck]


def _chest(tree: BodyTree, pelvis: int) -> int:
    """Return the bone that carries the neck, or the head, of a body without arms; -1 if no bone is called a head."""
    head = named_head(tree, pelvis)
    carriers = reversed([pelvis, *tree.path(pelvis, head)[:-1]]) if head >= 0 else ()
    return next((bone for bone in carriers if tree.readings[bone].part != "neck"), -1)


def _hips(tree: BodyTree, common: int, thighs: Sequence[int]) -> int:
    """Return the bone that carries legs and spine, or an ancestor that is the pelvis by its name or position."""
    if common < 0:
        return common
    above = tree.ancestors(common)
    for bone in above:
        if tree.readings[bone].part == "hips" and not tree.readings[bone].rest:
            return bone
    if not thighs:
        return common
    middle = tree.heads[list(thighs)].mean(axis=0)
    gap = [float(lengths(tree.heads[bone] - middle)) for bone in above]
    return above[1] if len(above) > 1 and gap[1] < _MUCH_NEARER * gap[0] else common


def named_head(tree: BodyTree, chest: int) -> int:
    """Return the first bone beyond the chest that is called a head; -1 if there is none."""
    heads = [
        bone
        for bone in tree.members
        if tree.readings[bone].part == "head" and not tree.readings[bone].side and tree.below(bone, chest)
    ]
    return min(heads, key=lambda bone: (tree.readings[bone].rest, tree.depth[bone]), default=-1)


def find_head(tree: BodyTree, chest: int, limbs: set[int], up: Array, across: Array, human: bool = True) -> int:
    """Return the head by shape; -1 if no chain continues beyond the chest.

    The head is the bone that carries a face, else the last bone of the middle chain in the direction `up` (an animal's:
    forward), else the longest bone of a human's chain: further bones are hair or an end bone.
    """
    chain: list[int] = []
    bone = chest
    while True:
        beyond = [child for child in tree.children[bone] if child not in limbs]
        steps = {child: tree.heads[child] - tree.heads[bone] for child in beyond}
        aside = [float(step @ across) for step in steps.values()]
        if chain and aside and min(aside) < -_HARDLY and max(aside) > _HARDLY:  # eyes, ears
            carries_face_only = len(chain) > 1 and _rises(tree, chain[-2], up) and not _rises(tree, bone, up)
            return chain[-2] if carries_face_only else bone
        onward = [child for child in beyond if _goes_on(tree, child, tree.heads[bone], up, across, not chain)]
        if chain and not human:  # jaws begin within the head
            within = _JAW * _norm(tree.tips[bone] - tree.heads[bone])
            onward = [child for child in onward if tree.children[child] or _norm(steps[child]) > within]
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
    """Return whether the next joint, or for the first link any joint of the chain, is above `start`, in the middle."""
    steps = tree.heads[tree.chain(bone) if first else [bone]] - start
    lengths = np.linalg.norm(steps, axis=1)
    above = steps @ up > np.maximum(_HARDLY, _RISES * lengths)
    return bool(np.any(above & (abs(steps @ across) < _CENTRED * lengths)))


def _rises(tree: BodyTree, bone: int, up: Array) -> bool:
    """Return whether a bone points up."""
    step = tree.tips[bone] - tree.heads[bone]
    return bool(step @ up > _RISES * _norm(step))


def _rise(tree: BodyTree, bone: int, start: Array, up: Array) -> float:
    """Return the height of the end of a bone's chain above `start`, less its distance aside."""
    step = tree.tips[tree.chain(bone)[-1]] - start
    rise = float(step @ up)
    return rise - _norm(step - rise * up)


def _norm(vector: Array) -> float:
    return float(np.linalg.norm(vector))
