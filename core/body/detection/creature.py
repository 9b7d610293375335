"""Find limbs besides two legs and two arms, or instead of them: legs of animals, wings, tails, further arms.

Pairs of similar chains are found by shape, as human limbs are, and classified by names where they have any. Pairs that
reach the ground are legs; of several, the front ones are nearer to the head.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile
from typing import Final

import numpy as np

from ...rotation import Array
from ..axes import axis_vector, left_vector, nearest_axis, unit
from .human import fans_out
from .names import ARM_PARTS, LEG_PARTS
from .shape import LimbPair, limb_pairs
from .stance import MIDDLE, find_up, height_of, side_axis, standing_pairs, start_of
from .tree import BodyTree
from .trunk import Trunk, find_head, named_head, named_neck

_LEAST_REACH: Final = 0.1  # of the size: shorter pairs are ears and whiskers
_APART: Final = 0.4  # of their height: distance of the starts of front and hind legs, at least
_HIGH: Final = 0.3  # height of a leg by that of the highest, at least: targets on the ground are lower
_STRIDE: Final = 0.9  # share of the gaps between two limbs off the line from side to side: legs in a step, at most
_AMONG_OTHERS: Final = 0.25  # of the longest pair: least reach of a pair that is no legs
_CENTRED: Final = 0.2  # of its reach: offset of the middle of a pair from its bone of the trunk, at most
_ALONG: Final = 0.7  # cosine: a pair is parallel to the body's line from side to side
_OBLIQUE: Final = 20.0  # cost of a pair that is square to this line
_FLAT: Final = 0.03  # of the size: added to the extent of a trunk, which may be 0
_SAME_WAY: Final = 0.5  # length of the mean of the feet's directions, at least
_TAIL: Final = 3  # bones of a tail that no name tells, of a human body, at least
_BACK: Final = 0.1  # cosine of the angle between a tail and the way back, at least
_NECK: Final = 0.3  # rise of the direction in which a neck goes, by the way forward
_BEGINS: Final = 0.3  # of the reach: ears and eyes begin so far apart from the mirror image of the other one, at most
_AHEAD: Final = 0.7  # cosine: what points forward is no ear
_BACKWARDS: Final = (
    0.3  # share: a chain whose end is so much nearer to its parent than its start is parented by its tip
)
_EXTRA: Final = 0.6  # of the arms' reach: least reach of a further pair on a human trunk
_BY_NAME: Final = 0.9  # confidence
_BY_SHAPE: Final = 0.6
_GUESS: Final = 0.4


@dataclass(frozen=True, eq=False)
class CreatureLimbs:
    """Name of the limb -> bones from the trunk outwards, with confidences, and the axes of the body."""

    facing: str = "-Y"
    up: str = "+Z"
    bones: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    confidence: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, name: str, bones: Sequence[int], confidence: float) -> None:
        """Add a limb, unless it has no bones or the name is used."""
        if bones and name not in self.bones:
            self.bones[name] = tuple(bones)
            self.confidence[name] = confidence

    def add_pair(self, tree: BodyTree, name: str, pair: LimbPair, left: Array, confidence: float) -> None:
        """Add both limbs of a pair, each up to the bone where it fans out."""
        for limb, direction in zip(pair.limbs, (pair.across, -pair.across), strict=True):
            end = next((place for place, bone in enumerate(limb.chain, 1) if fans_out(tree, bone)), None)
            self.add(f"{name}.{'L' if direction @ left > 0.0 else 'R'}", limb.chain[:end], confidence)


def find_pairs(tree: BodyTree) -> list[LimbPair]:
    """Return the pairs of limbs of any body, so that every limb is in one pair, the best mirror images first."""
    return _chosen(tree, limb_pairs(tree, _LEAST_REACH, off=_STRIDE))


def stands_on_four(tree: BodyTree, pairs: Sequence[LimbPair]) -> bool:
    """Return whether two pairs of limbs stand on the ground that begin apart: robes begin where the legs do."""
    if not pairs:
        return False
    up = find_up(tree, pairs)
    heights = {pair: height_of(tree, pair, up) for pair in standing_pairs(tree, pairs, up)}
    highest = max(heights.values(), default=0.0)
    starts = [start_of(tree, pair) for pair, height in heights.items() if height > _HIGH * highest]
    return any(np.linalg.norm(one - other) > _APART * highest for one, other in combinations(starts, 2))


def find_creature(tree: BodyTree, pairs: Sequence[LimbPair]) -> CreatureLimbs:
    """Return the limbs, of these pairs, the trunk, tail and face of a body that is not human."""
    if not pairs:
        limbs = CreatureLimbs()
        limbs.add("tail", [bone for bone in tree.members if tree.readings[bone].part == "tail"], _BY_NAME)
        return limbs
    up = find_up(tree, pairs)
    legs, others = _legs_and_others(tree, pairs, up)
    forward, sure = _forward(tree, legs, others, up)
    left = np.cross(up, forward)
    limbs = CreatureLimbs(nearest_axis(forward), nearest_axis(up))
    legs.sort(key=lambda pair: -float(start_of(tree, pair) @ forward))
    places = {1: ("leg",), 2: ("leg.front", "leg.hind")}.get(len(legs), [f"leg.{n + 1}" for n in range(len(legs))])
    for name, pair in (*zip(places, legs, strict=True), *((_kind(tree, p, legs), p) for p in others)):
        trust = _BY_NAME if any(_parts(tree, pair)) else _BY_SHAPE
        limbs.add_pair(tree, name, pair, left, trust if sure else _GUESS)
    _add_trunk(limbs, tree, legs, others, forward)
    return limbs


def find_extras(
    tree: BodyTree, taken: Collection[int], trunk: Trunk, arm: int, axes: tuple[Array, Array, Array]
) -> CreatureLimbs:
    """Return the wings, tail and further arms of a human body.

    taken  bones that have roles
    arm    an upper arm
    axes   up, forward and left
    """
    up, forward, left = axes
    spine = trunk.spine or (trunk.hips,)  # may carry limbs; the last bone carries the arms
    limbs = CreatureLimbs()
    for pair in limb_pairs(tree, _EXTRA * float(tree.reach[arm]), on=[bone for bone in tree.members if bone in spine]):
        if not pair.bones.isdisjoint(taken):
            continue
        parts = _parts(tree, pair)
        if "wing" in parts or (not parts & ARM_PARTS and pair.trunk == spine[-1]):
            name = "wing"
        else:
            name = "arm.lower" if (start_of(tree, pair) - tree.heads[arm]) @ up < 0.0 else "arm.upper"
        limbs.add_pair(tree, name, pair, left, _BY_NAME if parts & (ARM_PARTS | {"wing"}) else _GUESS)
    tail = _tail(tree, trunk.hips, {*taken, *spine}, -forward, left, _TAIL)
    limbs.add("tail", tail, _BY_NAME if any(tree.readings[bone].part == "tail" for bone in tail) else _GUESS)
    return limbs


def _chosen(tree: BodyTree, pairs: Sequence[LimbPair]) -> list[LimbPair]:
    """Return pairs so that every limb is in one pair, the best mirror images first, without limbs of limbs."""
    pairs = [pair for pair in pairs if _off_centre(tree, pair) < _CENTRED]
    if not pairs:
        return []
    axis = side_axis(tree, pairs)
    along = {pair: abs(float(pair.across[axis])) for pair in pairs}
    chosen: list[LimbPair] = []
    used: set[int] = set()
    for pair in sorted(pairs, key=lambda pair: pair.cost + _OBLIQUE * (1.0 - along[pair])):
        if along[pair] > _ALONG and used.isdisjoint(pair.starts):
            chosen.append(pair)
            used |= pair.starts
    return [pair for pair in chosen if not tree.in_branches(pair.trunk, used)]


def _off_centre(tree: BodyTree, pair: LimbPair) -> float:
    """Return the offset of the middle of a pair from its bone of the trunk, from side to side, by its reach."""
    middle = np.mean([tree.heads[[limb.bones[0], limb.bones[2]]] for limb in pair.limbs], axis=(0, 1))
    return abs(float((middle - tree.heads[pair.trunk]) @ pair.across)) / _reach(tree, pair)


def _reach(tree: BodyTree, pair: LimbPair) -> float:
    """Return the reach of the longer limb of a pair."""
    return float(max(tree.reach[limb.chain[0]] for limb in pair.limbs))


def _parts(tree: BodyTree, pair: LimbPair) -> set[str]:
    """Return the parts that the names of a pair's bones say."""
    return {tree.readings[bone].part for bone in pair.bones}


def _legs_and_others(tree: BodyTree, pairs: Sequence[LimbPair], up: Array) -> tuple[list[LimbPair], list[LimbPair]]:
    """Return the pairs that reach the ground, and others: those with names of arms, and long ones but for a face's."""
    legs = standing_pairs(tree, pairs, up)
    least, called = _AMONG_OTHERS * max(_reach(tree, pair) for pair in pairs), ARM_PARTS | {"wing"}
    rest = [pair for pair in pairs if pair not in legs]
    others = [pair for pair in rest if _reach(tree, pair) > least or _parts(tree, pair) & called]
    if len(legs) > 1:  # pairs beyond the front legs are a face
        front = max((leg.trunk for leg in legs), key=lambda bone: tree.depth[bone])
        others = [pair for pair in others if not tree.below(pair.trunk, front) or _parts(tree, pair) & called]
    return legs, others


def _forward(tree: BodyTree, legs: Sequence[LimbPair], others: Sequence[LimbPair], up: Array) -> tuple[Array, bool]:
    """Return the unit vector (3,) of the axis towards the head, and whether there is any evidence for it."""
    pairs = [*legs, *others]
    level = np.ones(3) - abs(up)
    level[side_axis(tree, pairs)] = 0.0
    heads = [bone for bone in tree.members if tree.readings[bone].part == "head" and not tree.readings[bone].rest]
    if heads:
        ahead = tree.tips[heads[0]] - np.mean([start_of(tree, pair) for pair in pairs], axis=0)
    else:
        # arms and wings are in front of legs; of two pairs of legs, the hind ones are nearer to the root
        def place(pair: LimbPair) -> tuple[bool, int]:
            return bool(_parts(tree, pair) & ARM_PARTS), tree.depth[pair.trunk]

        front = others[0] if others else max(legs, key=place)
        hind = min(legs or others, key=place)
        ahead = (start_of(tree, front) - start_of(tree, hind)) * level
        if place(front) == place(hind) and legs:  # feet point forward; those of spiders all around
            ends = [limb.chain[-1] for pair in legs for limb in pair.limbs]
            steps = (tree.tips[ends] - tree.heads[ends]) * level
            steps /= np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), _FLAT)
            ahead = steps.mean(axis=0) * (np.linalg.norm(steps.mean(axis=0)) > _SAME_WAY)
    ahead = ahead * level
    return axis_vector(nearest_axis(ahead if ahead.any() else level)), bool(ahead.any())


def _kind(tree: BodyTree, pair: LimbPair, legs: Sequence[LimbPair]) -> str:
    """Return "wing" for a pair with that name or longer than the legs, else "arm"."""
    parts = _parts(tree, pair)
    if "wing" in parts:
        return "wing"
    shorter = bool(legs) and _reach(tree, pair) < _reach(tree, legs[0])
    return "arm" if shorter or parts & (ARM_PARTS | LEG_PARTS) else "wing"


def _tail(tree: BodyTree, hips: int, taken: Collection[int], back: Array, left: Array, least: int = 1) -> Sequence[int]:
    """Return the middle chain on the hips that is called a tail, or the longest in the direction `back` (3,).

    One that no name tells has `least` bones.
    """
    best: Sequence[int] = ()
    longest = 0.0
    for child in tree.children[hips]:
        chain = tree.chain(child)
        named = [n for n, bone in enumerate(chain) if tree.readings[bone].part == "tail" and bone not in taken]
        if named:
            chain = list(takewhile(lambda bone: bone not in taken, chain[named[0] :]))
            child = chain[0]
        start, end = tree.heads[child], tree.tips[chain[-1]]
        if np.linalg.norm(end - tree.heads[hips]) < _BACKWARDS * np.linalg.norm(start - tree.heads[hips]):
            chain, start, end = chain[::-1], end, start  # generated Rigify rigs parent it by its tip
        if named:
            return chain
        way: Array = end - start
        aside = abs(float(way @ left)) + abs(float((start - tree.heads[hips]) @ left))
        reach = float(np.linalg.norm(way))
        behind = float(way @ back) > max(aside, _BACK * reach)
        if not set(chain) & set(taken) and len(chain) >= least and behind and reach > longest:
            best, longest = chain, reach
    return best


def _add_trunk(
    limbs: CreatureLimbs, tree: BodyTree, legs: Sequence[LimbPair], others: Sequence[LimbPair], forward: Array
) -> None:
    """Add spine, neck, head and tail."""
    left = left_vector(limbs.up, limbs.facing)
    hind, front = (legs or others)[-1], (legs if len(legs) > 1 or not others else others)[0]
    chest = front.trunk
    hips = tree.common(hind.trunk, chest)
    if hips < 0:
        return
    taken = {bone for pair in (*legs, *others) for bone in pair.bones}
    tail: Sequence[int] = ()
    for bone in tree.ancestors(hips):  # the tail may be on an ancestor of the bone that carries the legs
        tail = _tail(tree, bone, taken | set(tree.ancestors(chest)), -forward, left)
        if tail:
            hips = bone
            break
    head = named_head(tree, chest)
    if head < 0:
        ahead = unit(forward + _NECK * axis_vector(limbs.up))
        head = find_head(tree, chest, {*taken, *tail}, ahead, left, human=False)
    spine, neck = tree.path(hips, chest), tree.path(chest, head)[:-1] if head >= 0 else []
    if chest == hips:  # all limbs hang on one bone: the neck begins where its name says, or beyond the front ones
        begin = start_of(tree, front) @ forward
        called = [tree.readings[bone].part == "neck" for bone in neck]
        ahead = [float(tree.heads[bone] @ forward) > begin for bone in neck]
        place = (called if any(called) else [*ahead, True]).index(True)
        spine, neck = neck[:place], neck[place:]
    spine, neck = named_neck(tree, spine, neck)
    for name, bones in (
        ("hips", [hips]), ("spine", spine), ("neck", neck), ("head", [head] if head >= 0 else []), ("tail", tail)
    ):  # fmt: skip
        limbs.add(name, bones, _BY_NAME if any(tree.readings[bone].part for bone in bones) else _BY_SHAPE)
    if head >= 0:
        _add_face(limbs, tree, head, forward, left)


def _add_face(limbs: CreatureLimbs, tree: BodyTree, head: int, forward: Array, left: Array) -> None:
    """Add ears and jaw: the bones that are called so, else the longest pair that does not point forward, and the lowest
    bone in the middle that does.
    """
    below = [bone for bone in tree.members if tree.below(bone, head)]
    called = {part: [bone for bone in below if tree.readings[bone].part == part] for part in ("ear", "jaw")}
    up = axis_vector(limbs.up)
    for name, side in (("ear.L", "L"), ("ear.R", "R")):
        limbs.add(name, [bone for bone in called["ear"] if tree.readings[bone].side == side], _BY_NAME)
    middle = [bone for bone in (head, *below) if abs((tree.heads[bone] - tree.heads[head]) @ left) < MIDDLE]
    if not called["ear"]:
        pairs = [pair for bone in middle for pair in _mirrored(tree, tree.children[bone], left)]
        ears = [(one, other) for one, other in pairs if unit(_way(tree, one)) @ forward < _AHEAD]
        for name, first in zip(
            ("ear.L", "ear.R"), max(ears, key=lambda pair: _extent(tree, pair[0]), default=()), strict=False
        ):
            limbs.add(name, tree.chain(first), _BY_SHAPE)
    jaws = [bone for bone in called["jaw"] if not tree.readings[bone].side][:1]
    trust = _BY_NAME if jaws else _BY_SHAPE
    if not jaws:
        ahead = [bone for bone in middle if bone != head and unit(tree.tips[bone] - tree.heads[bone]) @ forward > 0.0]
        jaws = sorted(ahead, key=lambda bone: float(tree.heads[bone] @ up))[:1]
    limbs.add("jaw", jaws, trust)


def _mirrored(tree: BodyTree, bones: Sequence[int], left: Array) -> list[tuple[int, int]]:
    """Return pairs of bones, left and right, that begin and end in mirror images of each other."""
    found: list[tuple[int, int]] = []
    for one in bones:
        for other in bones:
            gaps = np.stack([tree.heads[one] - tree.heads[other], _end(tree, one) - _end(tree, other)])
            off = gaps - (gaps @ left)[:, None] * left
            if gaps[0] @ left > 0.0 and np.linalg.norm(off, axis=1).max() < _BEGINS * _extent(tree, one):
                found.append((one, other))
    return found


def _end(tree: BodyTree, bone: int) -> Array:
    """Return the tip (3,) of the chain of a bone."""
    return tree.tips[tree.chain(bone)[-1]]


def _way(tree: BodyTree, bone: int) -> Array:
    """Return the vector (3,) from the head of a bone to the tip of its chain."""
    return _end(tree, bone) - tree.heads[bone]


def _extent(tree: BodyTree, bone: int) -> float:
    """Return the distance from the head of a bone to the tip of its chain."""
    return float(np.linalg.norm(_way(tree, bone)))
