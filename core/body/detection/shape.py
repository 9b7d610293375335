"""A body told by its shape alone: two legs and two arms on a trunk, whatever the bones are called.

A limb is a chain that hangs on the trunk with a like one beside it. Which of its joints are the shoulder, the elbow and
the wrist (hip, knee, ankle) is a question of proportion: upper and lower half are straight and about equally long, what
comes before (clavicle, half of a pelvis) and after (hand, foot) is short.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Final

import numpy as np

from ...rotation import Array, lengths
from ...skeleton import Indices
from ..axes import angle
from .tree import BodyTree

LEAST_REACH: Final = 0.25  # of the skeleton's size: shorter chains are no arms and legs
_STRANDS: Final = 12  # chains on one bone that are looked at, the longest: hair and skirts have dozens
_MANY: Final = 8  # pairs on one bone
LONGEST: Final = 12  # bones of a chain that are looked at
_LIKE: Final = 0.3  # the reach of two sides differs by less than this, relatively
_TINY: Final = 1e-4  # of the size: no direction

# Proportions, by length of the whole limb where not said otherwise: what is usual and how far a body may be off it.
# All costs are squares of (value - usual) / spread.
_HALVES: Final = (0.05, 0.5)  # ln(upper / lower)
_BENT: Final = (0.0, 0.02)  # 1 - chord / path within one half
_PARTS: Final = 1.35  # cost of each further bone within one half
_KINKED: Final = (0.0, np.radians(10.0))  # how much more the parts of a half turn than the limb does at its joints
_BEFORE: Final = (0.0, 0.4)  # clavicle, half of a pelvis
_BEFORE_ARM: Final = (0.2, 0.25)
_BEFORE_LEG: Final = (0.0, 0.15)
_SIDEWAYS: Final = (0.0, 0.2)  # 1 - cosine: they run sideways
_AFTER: Final = (0.45, 0.15)  # hand or foot, if longer
_DOUBT: Final = 1.2  # a limb with a hand (or foot) and one without that differ by less cannot be told apart
_NARROW: Final = (-0.1, 0.05)  # half the distance of the two sides, if smaller (with a minus)
_SIDES: Final = (0.0, 0.2)  # ln(left / right) of each half
_CROOKED: Final = 0.2  # part of the gaps between the sides that is not along one line
_CROSSING: Final = 0.1  # weight of the lower joints in the line from side to side
_NO_MIRROR: Final = 0.5  # more of it: the two are no pair; a walking figure has 0.2
_MIRROR: Final = (0.0, 0.2)  # 1 - cosine between the lines from side to side of arms and legs; cosine to the trunk
_LEAN: Final = np.radians(30.0)  # between the trunk and the line from feet to hips
_LEG_TO_TRUNK: Final = (0.5, 0.5)  # ln
_ARM_TO_LEG: Final = (-0.4, 0.5)  # ln
_HEADLESS: Final = 9.0  # nothing beyond the shoulders
_HEAD_LENGTH: Final = 0.1  # of the trunk's length, what is beyond the shoulders at least
_BODY: Final = 16.0  # a body that costs more is none
_UNSURE: Final = 0.4  # confidence in joints of a limb that may be read in two ways
UPRIGHT: Final = np.radians(55.0)  # a trunk that is further off the line of the legs lies: an animal's


@dataclass(frozen=True, eq=False)
class LimbShape:
    """A chain from the trunk to the tip, and the places of its three joints in it.

    A limb that ends early has as many bones as it has; a joint at `len(chain)` is the tip of the last bone.
    """

    chain: tuple[int, ...]
    joints: tuple[int, int, int]
    cost: float
    points: Array  # (4, 3) where the chain begins, and the joints; of what is missing, where it would be
    sure: bool  # which joints they are; a limb whose end may be missing may be read in two ways

    @property
    def before(self) -> tuple[int, ...]:
        """Clavicle or half of a pelvis."""
        return self.chain[: self.joints[0]]

    @property
    def after(self) -> tuple[int, ...]:
        """Fingers or toes."""
        return self.chain[self.joints[2] + 1 :]

    @property
    def bones(self) -> tuple[int, ...]:
        """Upper arm, forearm and hand; thigh, shin and foot; as many as there are."""
        return tuple(self.chain[joint] for joint in self.joints if joint < len(self.chain))


@dataclass(frozen=True, eq=False)
class LimbPair:
    """Two like limbs on one bone of the trunk."""

    trunk: int
    limbs: tuple[LimbShape, LimbShape]
    across: Array  # (3,) unit vector from the second to the first


@dataclass(frozen=True, eq=False)
class BodyShape:
    """A body: limbs as (one side, other side), the same side first in both; a limb that is missing has no chain."""

    legs: tuple[LimbShape, LimbShape]
    arms: tuple[LimbShape, LimbShape]
    cost: float

    @property
    def confidence(self) -> float:
        """0.9 for a body of textbook proportions, below 0.5 for one that is barely taken."""
        return float(0.9 * np.exp(-0.75 * self.cost / _BODY))

    def trust(self, role: str) -> float:
        """The confidence of one role of the limbs."""
        legs = role.startswith(("thigh", "shin", "foot", "toe"))
        sure = all(limb.sure for limb in (self.legs if legs else self.arms))
        return self.confidence if sure else min(self.confidence, _UNSURE)


def find_shape(tree: BodyTree) -> BodyShape | None:
    """The most human choice of two legs and two arms; None if no choice is. Hands and feet may be missing."""
    return best_body(tree, permutations(long_pairs(tree), 2))


def long_pairs(tree: BodyTree) -> list[LimbPair]:
    """Pairs that may be arms and legs: the longest on every bone."""
    longest: dict[int, list[LimbPair]] = {}
    pairs = limb_pairs(tree, LEAST_REACH, tips=True)
    for pair in sorted(pairs, key=lambda pair: -tree.reach[pair.limbs[0].chain[0]]):
        longest.setdefault(pair.trunk, []).append(pair)
    return [pair for hanging in longest.values() for pair in hanging[:_MANY]]


def best_body(tree: BodyTree, choices: Iterable[tuple[LimbPair, LimbPair]], most: float = _BODY) -> BodyShape | None:
    """The most human of these (legs, arms); None if none costs less than `most`."""
    shapes = [_body(tree, legs, arms) for legs, arms in choices if _apart(tree, legs, arms)]
    best = min((shape for shape in shapes if shape is not None), key=lambda shape: shape.cost, default=None)
    return best if best is not None and best.cost < most else None


def longest_chains(tree: BodyTree, trunk: int, least_reach: float) -> list[int]:
    """The first bones of the longest chains on a bone."""
    starts = [bone for bone in tree.children[trunk] if tree.reach[bone] > least_reach]
    return sorted(sorted(starts, key=lambda bone: -tree.reach[bone])[:_STRANDS])


def limb_pairs(tree: BodyTree, least_reach: float, tips: bool = False) -> list[LimbPair]:
    """Pairs of like chains, longer than `least_reach` of the size, that hang on one bone.

    With `tips` a chain may end where hand or foot would begin.
    """
    found: list[LimbPair] = []
    for trunk in tree.members:
        chains = {bone: tree.chain(bone) for bone in longest_chains(tree, trunk, least_reach)}
        for one, other in combinations(chains, 2):
            reach = tree.reach[one], tree.reach[other]
            if abs(reach[0] - reach[1]) < _LIKE * max(reach):
                pair = _fit(tree, trunk, chains[one], chains[other], tips)
                found += [pair] if pair is not None else []
    return found


def _apart(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> bool:
    """The two pairs are no parts of each other and do not hang on one bone."""
    starts = {limb.chain[0] for limb in legs.limbs if limb.chain}, {limb.chain[0] for limb in arms.limbs if limb.chain}
    return (
        legs.trunk != arms.trunk
        and not starts[0] & set(tree.ancestors(arms.trunk))
        and not starts[1] & set(tree.ancestors(legs.trunk))
    )


def _fit(tree: BodyTree, trunk: int, one: Sequence[int], other: Sequence[int], tips: bool) -> LimbPair | None:
    """The best three joints, the same on both sides; None where a chain has fewer or the two are no mirror images."""
    count = min(len(one), len(other), LONGEST)
    points, reach = tree.heads[[one[:count], other[:count]]], tree.reach[[one[0], other[0]]]
    if tips and count == len(one) == len(other):
        points = np.append(points, tree.tips[[one[-1:], other[-1:]]], axis=1)
    found = fit(points, reach, count)
    if found is None:
        return None
    joints, cost, across, sure = found
    limbs = [
        LimbShape(tuple(chain), joints, cost, points[n][[0, *joints]], sure) for n, chain in enumerate((one, other))
    ]
    return LimbPair(trunk, (limbs[0], limbs[1]), across)


def fit(points: Array, reach: Array, count: int) -> tuple[tuple[int, int, int], float, Array, bool] | None:
    """The best three joints of two chains: their places, cost, the line from side to side (3,), and if they are sure.

    points (2, m, 3) of both; the first `count` are joints, a further one is the tip of the last bone. reach (2,) to
    the ends. None where there are less than three, or the two are no mirror images.
    """
    if points.shape[1] < 3:
        return None
    joints, costs, across, crooked = _readings(points, reach)
    best = int(np.argmin(costs))
    if crooked[best] > _NO_MIRROR:
        return None
    sure = True
    if points.shape[1] > count > 1:
        # tails say little in some files: the last bone may as well be as long as the one before
        straight = np.append(points[:, :count], 2.0 * points[:, [count - 1]] - points[:, [count - 2]], axis=1)
        for others, rivals, *_ in ((joints, costs), _readings(straight, reach)):
            differ = (others[:, :2] != joints[best, :2]).any(axis=1)
            differ &= (others[:, 2] == count) != (joints[best, 2] == count)
            sure &= not np.any(rivals[differ] < costs[best] + _DOUBT)
    i, j, k = joints[best].tolist()
    return (i, j, k), float(costs[best]), across[best], bool(sure)


def _readings(points: Array, reach: Array) -> tuple[Indices, Array, Array, Array]:
    """All choices of three joints (n, 3) of `points` (2, m, 3), their costs (n,), and as `_mirrors`."""
    joints = np.array(list(combinations(range(points.shape[1]), 3)))
    across, crooked = _mirrors(points, joints)
    return joints, _proportions(points, joints, reach, across) + crooked / _CROOKED, across, crooked


def _mirrors(points: Array, joints: Indices) -> tuple[Array, Array]:
    """Lines from side to side (n, 3), unit vectors, and which part of the gaps between the sides is off them (n,).

    points (2, count, 3) of both sides, joints (n, 3) choices of three.
    """
    gaps = points[0][joints] - points[1][joints]
    across: Array = gaps[:, 0] + _CROSSING * gaps.sum(axis=1)  # legs may cross
    across = across / np.maximum(lengths(across)[:, None], _TINY)
    along = (gaps @ across[..., None]) * across[:, None]  # of the gaps, (n, 3, 3)
    return across, _squares(gaps - along) / np.maximum(_squares(gaps), _TINY**2)


def _squares(gaps: Array) -> Array:
    """Sums of squares (n,) of gaps (n, 3, 3)."""
    return np.square(lengths(gaps.reshape(len(gaps), -1)))


def _proportions(points: Array, joints: Indices, reach: Array, across: Array) -> Array:
    """How unlike limbs the chains are with these joints (n,); `reach` (2,) to their ends, the rest as `_mirrors`."""
    i, j, k = joints.T
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    way = np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)], axis=1)
    upper, lower = np.maximum(way[:, j] - way[:, i], _TINY), np.maximum(way[:, k] - way[:, j], _TINY)
    whole = upper + lower
    chords = (np.linalg.norm(points[:, b] - points[:, a], axis=2) for a, b in ((i, j), (j, k)))

    turns: Array = _turns(points)[:, :, None]
    places = np.arange(len(points[0])).reshape(-1, 1)
    at_elbow: Array = turns[:, j, 0]
    in_upper = (turns * ((i < places) & (places < j))).max(axis=1) - np.maximum(turns[:, i, 0], at_elbow)
    in_lower = (turns * ((j < places) & (places < k))).max(axis=1) - at_elbow

    before, after = way[:, i] / whole, (reach[:, None] - way[:, k]) / whole
    lead = points[:, i] - points[:, :1]
    sideways = np.abs(np.sum(lead * across, axis=2)) / np.maximum(np.linalg.norm(lead, axis=2), _TINY)
    width: Array = 0.5 * lengths(points[0, i] - points[1, i]) / whole.mean(axis=0)

    costs = (
        _square(np.log(upper / lower), _HALVES)
        + sum(_square(1.0 - chord / half, _BENT) for chord, half in zip(chords, (upper, lower), strict=True))
        + _PARTS * (k - i - 2)
        + _above(in_upper, _KINKED)
        + _above(in_lower, _KINKED)
        + _above(before, _BEFORE)
        + _above(after, _AFTER)
        + _square(np.where(before > _TINY, 1.0 - sideways, 0.0), _SIDEWAYS)
    ).mean(axis=0)
    costs += sum(_square(np.log(half[0] / half[1]), _SIDES) for half in (upper, lower))
    return costs + _above(-width, _NARROW)


def _turns(points: Array) -> Array:
    """Angles (n, count) by which polygons (n, count, 3) turn at each point; 0 at the ends."""
    steps = np.diff(points, axis=1)
    steps = steps / np.maximum(np.linalg.norm(steps, axis=2, keepdims=True), _TINY)
    cosines = np.sum(steps[:, :-1] * steps[:, 1:], axis=2)
    return np.pad(np.arccos(np.clip(cosines, -1.0, 1.0)), ((0, 0), (1, 1)))


def _body(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> BodyShape | None:
    """The body of these limbs; None if it does not stand."""
    hips, knees, ankles = (_ends(legs, n) for n in range(3))
    if np.sum(legs.across * arms.across) < 0.0:
        arms = LimbPair(arms.trunk, (arms.limbs[1], arms.limbs[0]), -arms.across)
    shoulders, elbows, wrists = (_ends(arms, n) for n in range(3))
    trunk = shoulders.mean(axis=0) - hips.mean(axis=0)
    length = float(np.linalg.norm(trunk))
    lean = angle(hips.mean(axis=0) - ankles.mean(axis=0), trunk)
    if length < _TINY or lean > UPRIGHT:
        return None
    up = trunk / length
    leg = _length(hips, knees) + _length(knees, ankles)
    arm = _length(shoulders, elbows) + _length(elbows, wrists)
    beyond = _beyond(tree, legs, arms)
    rise = float(np.max((tree.tips[beyond] - shoulders.mean(axis=0)) @ up)) if beyond else 0.0
    cost = (
        legs.limbs[0].cost
        + arms.limbs[0].cost
        + _square(_before(legs) / leg, _BEFORE_LEG)
        + _square(_before(arms) / arm, _BEFORE_ARM)
        + (lean / _LEAN) ** 2
        + _square(np.log(leg / length), _LEG_TO_TRUNK)
        + _square(np.log(arm / leg), _ARM_TO_LEG)
        + (_HEADLESS if rise < _HEAD_LENGTH * length else 0.0)
        + _square(1.0 - legs.across @ arms.across, _MIRROR)
        + _square(float(legs.across @ up), _MIRROR)
    )
    return BodyShape(legs.limbs, arms.limbs, float(cost))


def _beyond(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> list[int]:
    """What hangs on the bone of the arms beside the arms and beside what leads to the legs: neck and head."""
    stop = {bone for pair in (legs, arms) for limb in pair.limbs for bone in limb.chain[:1]}
    stop |= set(tree.ancestors(legs.trunk))
    found: list[int] = [child for child in tree.children[arms.trunk] if child not in stop]
    for bone in found:  # grows while it is read
        found += tree.children[bone]
    return found


def _ends(pair: LimbPair, joint: int) -> Array:
    return np.stack([limb.points[1 + joint] for limb in pair.limbs])


def _length(a: Array, b: Array) -> float:
    return float(np.linalg.norm(b - a, axis=1).mean())


def _before(pair: LimbPair) -> float:
    return _length(np.stack([limb.points[0] for limb in pair.limbs]), _ends(pair, 0))


def _above(value: Any, usual: tuple[float, float]) -> Any:
    """As _square, and nothing below the usual."""
    return _square(np.maximum(value, usual[0]), usual)


def _square(value: Any, usual: tuple[float, float]) -> Any:
    return ((value - usual[0]) / usual[1]) ** 2
