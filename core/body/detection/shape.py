"""Find two legs and two arms on a trunk by shape alone.

Limbs are pairs of similar chains on one bone of the trunk. Proportions tell which of their joints are the shoulder, the
elbow and the wrist (hip, knee, ankle): upper and lower half are straight and about equally long, the bones before them
(clavicle, half of a pelvis) and after them (hand, foot) are short.
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
_CHAINS: Final = 12  # chains on one bone that are compared, the longest: hair and skirts have dozens
_PAIRS: Final = 8  # pairs on one bone that are compared
_BEST: Final = 24  # pairs of all bones that are compared; no known body has more than 11
LONGEST: Final = 12  # bones of a chain that are compared
_LIKE: Final = 0.3  # the reach of two sides differs by less than this, relatively
_TINY: Final = 1e-4  # of the size: shorter vectors have no direction

# Proportions: usual value and spread, as shares of the limb's length unless another unit is named. Their costs are
# ((value - usual) / spread)^2.
_HALVES: Final = (0.05, 0.5)  # ln(upper / lower)
_BENT: Final = (0.0, 0.02)  # 1 - chord / path within one half
_PARTS: Final = 1.35  # cost of each further bone within one half
_KINKED: Final = (0.0, np.radians(10.0))  # angle within a half beyond the angle at the limb's joints
_BEFORE: Final = (0.0, 0.4)  # clavicle, half of a pelvis
_BEFORE_ARM: Final = (0.2, 0.25)
_BEFORE_LEG: Final = (0.0, 0.15)
_SIDEWAYS: Final = (0.0, 0.2)  # 1 - cosine of their direction to the line from side to side, less if they are short
_LONG: Final = 0.25  # from this share of the limb's length on that direction counts fully
_AFTER: Final = (0.45, 0.15)  # hand or foot, if longer
_DOUBT: Final = (
    1.2  # difference of cost: two readings with and without a hand (or foot) that are closer are both possible
)
_NARROW: Final = (-0.1, 0.05)  # minus half the distance of the two sides, if it is larger
_SIDES: Final = (0.0, 0.2)  # ln(left / right) of each half
_CROOKED: Final = 0.2  # share of the gaps between the sides that is not along one line: the spread
_CROSSING: Final = 0.1  # weight of the lower joints in the line from side to side
NO_MIRROR: Final = 0.5  # share of the gaps off the line: with more the two are no pair; a walking figure has 0.2
_MIRROR: Final = (0.0, 0.2)  # 1 - cosine between the lines from side to side of arms and legs; cosine to the trunk
_LEAN: Final = np.radians(30.0)  # between the trunk and the line from feet to hips: the spread
_LEG_TO_TRUNK: Final = (0.5, 0.5)  # ln
_ARM_TO_LEG: Final = (-0.4, 0.5)  # ln
_HEADLESS: Final = 9.0  # cost of a body with nothing beyond the shoulders
_HEAD_LENGTH: Final = 0.1  # of the trunk's length: least extent beyond the shoulders
_BODY: Final = 16.0  # largest cost of a body
_UNSURE: Final = 0.4  # confidence in the joints of a limb with two possible readings
UPRIGHT: Final = np.radians(55.0)  # a trunk at a larger angle to the legs is horizontal: an animal's


@dataclass(frozen=True, eq=False)
class LimbShape:
    """The chain of a limb and its three joints.

    chain   bones from the trunk to the tip; fewer if the end of the limb is missing
    joints  positions of the joints in the chain; `len(chain)` is the tip of the last bone
    cost    difference from the usual proportions
    points  (4, 3) the head of the chain and the joints; the expected points of missing bones
    sure    only one reading of the joints is possible; there may be two where the end of a limb may be missing
    """

    chain: tuple[int, ...]
    joints: tuple[int, int, int]
    cost: float
    points: Array
    sure: bool

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
        """Upper arm, forearm and hand, or thigh, shin and foot; fewer if some are missing."""
        return tuple(self.chain[joint] for joint in self.joints if joint < len(self.chain))


@dataclass(frozen=True, eq=False)
class LimbPair:
    """Two similar limbs on one bone of the trunk."""

    trunk: int
    limbs: tuple[LimbShape, LimbShape]
    across: Array  # (3,) unit vector from the second to the first

    @property
    def cost(self) -> float:
        """Difference of both limbs from the usual proportions."""
        return self.limbs[0].cost

    @property
    def starts(self) -> set[int]:
        """The first bone of each limb that has bones."""
        return {limb.chain[0] for limb in self.limbs if limb.chain}

    @property
    def bones(self) -> set[int]:
        """All bones of both limbs."""
        return {bone for limb in self.limbs for bone in limb.chain}

    def joint(self, number: int) -> Array:
        """Return the positions (2, 3) of a joint of both limbs; 0 is the head of the chain."""
        return np.stack([limb.points[number] for limb in self.limbs])


@dataclass(frozen=True, eq=False)
class BodyShape:
    """A body: the limbs of both sides, the same side first in both pairs; a missing limb has an empty chain."""

    legs: tuple[LimbShape, LimbShape]
    arms: tuple[LimbShape, LimbShape]
    cost: float

    @property
    def confidence(self) -> float:
        """0.9 for a body of usual proportions, less than 0.5 near the largest cost."""
        return float(0.9 * np.exp(-0.75 * self.cost / _BODY))

    def trust(self, role: str) -> float:
        """Return the confidence of one role of the limbs."""
        legs = role.startswith(("thigh", "shin", "foot", "toe"))
        sure = all(limb.sure for limb in (self.legs if legs else self.arms))
        return self.confidence if sure else min(self.confidence, _UNSURE)


def find_shape(tree: BodyTree) -> BodyShape | None:
    """Return the most human choice of two legs and two arms, or None. Hands and feet may be missing."""
    return best_body(tree, permutations(long_pairs(tree), 2))


def long_pairs(tree: BodyTree) -> list[LimbPair]:
    """Return the pairs that may be arms and legs, the best of the longest on every bone."""
    longest: dict[int, list[LimbPair]] = {}
    pairs = limb_pairs(tree, LEAST_REACH, tips=True)
    for pair in sorted(pairs, key=lambda pair: -tree.reach[pair.limbs[0].chain[0]]):
        longest.setdefault(pair.trunk, []).append(pair)
    likely = (pair for on_bone in longest.values() for pair in on_bone[:_PAIRS])
    return sorted(likely, key=lambda pair: pair.cost)[:_BEST]


def best_body(tree: BodyTree, choices: Iterable[tuple[LimbPair, LimbPair]], most: float = _BODY) -> BodyShape | None:
    """Return the most human of these (legs, arms), or None if all cost at least `most`."""
    best: BodyShape | None = None
    for legs, arms in choices:
        if legs.cost + arms.cost < most and _apart(tree, legs, arms):
            shape = _body(tree, legs, arms)
            if shape is not None and shape.cost < most:
                best, most = shape, shape.cost
    return best


def longest_chains(tree: BodyTree, trunk: int, least_reach: float) -> list[int]:
    """Return the first bones of the longest chains on a bone."""
    starts = [bone for bone in tree.children[trunk] if tree.reach[bone] > least_reach]
    return sorted(sorted(starts, key=lambda bone: -tree.reach[bone])[:_CHAINS])


def limb_pairs(
    tree: BodyTree, least_reach: float, tips: bool = False, off: float = NO_MIRROR, on: Iterable[int] | None = None
) -> list[LimbPair]:
    """Return the pairs of similar chains on one bone that are longer than `least_reach`, by the size.

    With `tips` a chain may end where the hand or foot would begin. `off`: see `fit_pair`. `on`: bones, by default all.
    """
    found: list[LimbPair] = []
    for trunk in tree.members if on is None else on:
        for one, other in combinations(longest_chains(tree, trunk, least_reach), 2):
            reach = tree.reach[one], tree.reach[other]
            if abs(reach[0] - reach[1]) < _LIKE * max(reach):
                pair = _fit(tree, trunk, tree.chain(one), tree.chain(other), tips, off)
                found += [pair] if pair is not None else []
    return found


def _apart(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> bool:
    """Return whether the pairs are on different bones and neither is on a limb of the other."""
    return (
        legs.trunk != arms.trunk
        and not tree.in_branches(arms.trunk, legs.starts)
        and not tree.in_branches(legs.trunk, arms.starts)
    )


def _fit(
    tree: BodyTree, trunk: int, one: Sequence[int], other: Sequence[int], tips: bool, off: float
) -> LimbPair | None:
    """Return two chains as a pair of limbs, or None if they have too few joints or are no mirror images."""
    count = min(len(one), len(other), LONGEST)
    points, reach = tree.heads[[one[:count], other[:count]]], tree.reach[[one[0], other[0]]]
    if tips and count == len(one) == len(other):
        points = np.append(points, tree.tips[[one[-1:], other[-1:]]], axis=1)
    return fit_pair(trunk, (one, other), points, reach, count, off)


def fit_pair(
    trunk: int, chains: tuple[Sequence[int], Sequence[int]], points: Array, reach: Array, count: int,
    off: float = NO_MIRROR,
) -> LimbPair | None:  # fmt: skip
    """Return two chains as a pair of limbs with the three best joints, the same on both sides.

    points (2, m, 3): the first `count` are heads, a further one is the tip of the last bone; reach (2,): to the ends.
    None if there are less than three points, or the chains are no mirror images: if more than the share `off` of the
    gaps between them is off the line from side to side.
    """
    if points.shape[1] < 3:
        return None
    joints, costs, across, crooked = _readings(points, reach)
    best = int(np.argmin(costs))
    if crooked[best] > off:
        return None
    sure = True
    if points.shape[1] > count > 1:
        # tails are arbitrary in some files: also try a last bone as long as the one before
        straight = np.append(points[:, :count], 2.0 * points[:, [count - 1]] - points[:, [count - 2]], axis=1)
        for others, rivals, *_ in ((joints, costs), _readings(straight, reach)):
            differ = (others[:, :2] != joints[best, :2]).any(axis=1)
            differ &= (others[:, 2] == count) != (joints[best, 2] == count)
            sure &= not np.any(rivals[differ] < costs[best] + _DOUBT)
    i, j, k = joints[best].tolist()
    one, other = (
        LimbShape(tuple(chain), (i, j, k), float(costs[best]), places[[0, i, j, k]], bool(sure))
        for chain, places in zip(chains, points, strict=True)
    )
    return LimbPair(trunk, (one, other), across[best])


def _readings(points: Array, reach: Array) -> tuple[Indices, Array, Array, Array]:
    """Return all choices of three joints (n, 3) of `points` (2, m, 3), their costs (n,), and `_mirrors` of them."""
    joints = np.array(list(combinations(range(points.shape[1]), 3)))
    across, crooked = _mirrors(points, joints)
    return joints, _proportions(points, joints, reach, across) + crooked / _CROOKED, across, crooked


def _mirrors(points: Array, joints: Indices) -> tuple[Array, Array]:
    """Return unit vectors (n, 3) from side to side, and the share (n,) of the gaps between the sides off these lines.

    points (2, count, 3) of both sides, joints (n, 3) choices of three.
    """
    gaps = points[0][joints] - points[1][joints]
    across: Array = gaps[:, 0] + _CROSSING * gaps.sum(axis=1)  # legs may cross
    across = across / np.maximum(lengths(across)[:, None], _TINY)
    along = (gaps @ across[..., None]) * across[:, None]  # of the gaps, (n, 3, 3)
    return across, _squares(gaps - along) / np.maximum(_squares(gaps), _TINY**2)


def _squares(gaps: Array) -> Array:
    """Return the sums of squares (n,) of gaps (n, 3, 3)."""
    return np.square(lengths(gaps.reshape(len(gaps), -1)))


def _proportions(points: Array, joints: Indices, reach: Array, across: Array) -> Array:
    """Return the costs (n,) of the proportions with these joints; reach (2,) to the ends, the rest as `_mirrors`."""
    i, j, k = joints.T
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    path = np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)], axis=1)
    upper, lower = np.maximum(path[:, j] - path[:, i], _TINY), np.maximum(path[:, k] - path[:, j], _TINY)
    whole = upper + lower
    chords = (np.linalg.norm(points[:, b] - points[:, a], axis=2) for a, b in ((i, j), (j, k)))

    turns: Array = _turns(points)[:, :, None]
    places = np.arange(len(points[0])).reshape(-1, 1)
    at_elbow: Array = turns[:, j, 0]
    in_upper = (turns * ((i < places) & (places < j))).max(axis=1) - np.maximum(turns[:, i, 0], at_elbow)
    in_lower = (turns * ((j < places) & (places < k))).max(axis=1) - at_elbow

    before, after = path[:, i] / whole, (reach[:, None] - path[:, k]) / whole
    start = points[:, i] - points[:, :1]
    sideways = np.abs(np.sum(start * across, axis=2)) / np.maximum(np.linalg.norm(start, axis=2), _TINY)
    width: Array = 0.5 * lengths(points[0, i] - points[1, i]) / whole.mean(axis=0)

    costs = (
        _square(np.log(upper / lower), _HALVES)
        + sum(_square(1.0 - chord / half, _BENT) for chord, half in zip(chords, (upper, lower), strict=True))
        + _PARTS * (k - i - 2)
        + _above(in_upper, _KINKED)
        + _above(in_lower, _KINKED)
        + _above(before, _BEFORE)
        + _above(after, _AFTER)
        + _square(np.minimum(before / _LONG, 1.0) * (1.0 - sideways), _SIDEWAYS)
    ).mean(axis=0)
    costs += sum(_square(np.log(half[0] / half[1]), _SIDES) for half in (upper, lower))
    return costs + _above(-width, _NARROW)


def _turns(points: Array) -> Array:
    """Return the angles (n, count) at each point of polygons (n, count, 3); 0 at the ends."""
    steps = np.diff(points, axis=1)
    steps = steps / np.maximum(np.linalg.norm(steps, axis=2, keepdims=True), _TINY)
    cosines = np.sum(steps[:, :-1] * steps[:, 1:], axis=2)
    return np.pad(np.arccos(np.clip(cosines, -1.0, 1.0)), ((0, 0), (1, 1)))


def _body(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> BodyShape | None:
    """Return the body of these limbs; None if its trunk is horizontal or has no length."""
    if np.sum(legs.across * arms.across) < 0.0:
        arms = LimbPair(arms.trunk, (arms.limbs[1], arms.limbs[0]), -arms.across)
    (pelvis, hips, knees, ankles), (chest, shoulders, elbows, wrists) = (
        map(pair.joint, range(4)) for pair in (legs, arms)
    )
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
        legs.cost
        + arms.cost
        + _square(_length(pelvis, hips) / leg, _BEFORE_LEG)
        + _square(_length(chest, shoulders) / arm, _BEFORE_ARM)
        + (lean / _LEAN) ** 2
        + _square(np.log(leg / length), _LEG_TO_TRUNK)
        + _square(np.log(arm / leg), _ARM_TO_LEG)
        + (_HEADLESS if rise < _HEAD_LENGTH * length else 0.0)
        + _square(1.0 - legs.across @ arms.across, _MIRROR)
        + _square(float(legs.across @ up), _MIRROR)
    )
    return BodyShape(legs.limbs, arms.limbs, float(cost))


def _beyond(tree: BodyTree, legs: LimbPair, arms: LimbPair) -> list[int]:
    """Return the bones on the arms' bone of the trunk, without the limbs and the bones that carry the legs."""
    stop = legs.starts | arms.starts | set(tree.ancestors(legs.trunk))
    found: list[int] = [child for child in tree.children[arms.trunk] if child not in stop]
    for bone in found:  # the loop extends the list it reads
        found += tree.children[bone]
    return found


def _length(a: Array, b: Array) -> float:
    """Return the mean distance of points (n, 3)."""
    return float(np.linalg.norm(b - a, axis=1).mean())


def _above(value: Any, usual: tuple[float, float]) -> Any:
    """Return `_square` of values above the usual one, 0 for others."""
    return _square(np.maximum(value, usual[0]), usual)


def _square(value: Any, usual: tuple[float, float]) -> Any:
    """Return ((value - usual) / spread)^2."""
    return ((value - usual[0]) / usual[1]) ** 2
