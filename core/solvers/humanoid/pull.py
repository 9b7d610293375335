"""The pull: what limbs, chest and head cannot reach moves clavicles, spine and hips (CN106502395).

Remainders are carried inwards part by part. Each part makes the small turn about its pivot that serves all remainders
beyond it best in the sense of least squares, weighted by the ends' pulls and by the remainders themselves; hips are
shifted, too. The whole is repeated until no part moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ... import rotation
from ...rotation import Array, lengths
from .bend import LimbTask
from .nodes import Nodes, PosedNodes
from .targets import Targets
from .trunk import LEFT, RIGHT, SHIFT, SPINE, TURN, UNKNOWNS, place_trunk

_CLAVICLES: Final = 2.0 * np.radians((4.0, 8.0, 10.0))  # radians about the anatomical axes, at most: 2 deviations
# Shares of the remainder that a part takes on in a round
_SHOULDER_GAIN: Final = 0.5
_SPINE_GAIN: Final = 0.3
_TURN_GAIN: Final = 0.3
_RESISTING: Final = {"spine": "spine", "turn": "hips", "shift": "hips"}  # move of the trunk -> part that resists it


@dataclass(frozen=True, eq=False)
class _Tether:
    """A limb as a tether of a `length` (B,) from the head of its first bone to a place `wanted` (B, 3).

    one_way  it pulls where it is too short, but does not push where it is too long
    """

    root: int
    wanted: Array
    length: Array
    weight: float
    one_way: bool

    def pull(self, nodes: Nodes) -> "_Pull":
        here = nodes.head(self.root)
        way = self.wanted - here
        far = lengths(way)
        over = far - self.length
        over = np.maximum(over, 0.0) if self.one_way else over
        return _Pull(self.root, here, (over / np.maximum(far, np.finfo(float).tiny))[:, None] * way, self.weight)


@dataclass(eq=False)
class _Pull:
    """A place (B, 3) on a node that should move by `short` (B, 3)."""

    bone: int
    place: Array
    short: Array
    weight: float


def pull_trunk(
    start: PosedNodes,
    targets: Targets,
    limbs: Sequence[LimbTask],
    weights: Mapping[int, float],
    gives: Mapping[str, float],
    reach: float,
    rests: float,
    rounds: int,
    shares: Mapping[int, float],
) -> Array:
    """Return the unknowns (B, 18) of `place_trunk`.

    weights  node that pulls -> how hard, 0 to 1
    gives    part of the trunk -> how far it goes along, 0 to 1
    reach    the share of its length to which a limb stretches before it pulls
    rests    radians, or parts of the skeleton's size: the rounds end when no unknown changes by more
    rounds   as many at most
    shares   as in `place_trunk`
    """
    x = np.zeros((len(start.heads), UNKNOWNS))
    tethers, points = _tethers(start, limbs, weights, reach), _points(start, targets, weights)
    gains = _gains(start, targets, gives)
    if not tethers and not points:
        return x
    # hips that are free take a head to its place, and the neck what is left: a neck is short, and alone it folds
    last = -1 if start.figure.hips in targets.nodes else start.figure.head
    carried = {bone: replace(one, position=None) if bone == last else one for bone, one in targets.nodes.items()}
    for _ in range(rounds):
        nodes = place_trunk(start, carried, x, shares)
        pulls = [tether.pull(nodes) for tether in tethers]
        for bone, point, wanted in points:
            here = nodes.point(bone, point)
            pulls.append(_Pull(bone, here, wanted - here, weights[bone]))
        step = _carry(nodes, x, pulls, gains)
        x = x + step
        if np.abs(step).max() < rests:
            break
    return x


def _tethers(start: PosedNodes, limbs: Sequence[LimbTask], weights: Mapping[int, float], reach: float) -> list[_Tether]:
    """Return the limbs with a target: of the end, else of the middle joint."""
    found: list[_Tether] = []
    for limb in limbs:
        bones, weight, length = limb.bones, weights[limb.bones.end], limb.upper + limb.lower
        if weight <= 0.0:
            continue
        if limb.wanted is not None:
            now = lengths(start.point(bones.end, limb.point) - start.head(bones.upper))
            soft = np.maximum(reach * length, np.minimum(now, length))
            found.append(_Tether(bones.upper, limb.wanted, soft, weight, True))
        elif limb.middle is not None:
            found.append(_Tether(bones.upper, limb.middle, limb.upper, weight, False))
    return found


def _points(start: PosedNodes, targets: Targets, weights: Mapping[int, float]) -> list[tuple[int, Array, Array]]:
    """Return nodes of the trunk with a wanted position that pulls: node, point of its frame, and position."""
    bones = sorted({start.figure.chest, start.figure.head} - {-1, start.figure.hips})
    pulling = [(bone, targets.nodes[bone]) for bone in bones if bone in targets.nodes and weights[bone] > 0.0]
    return [(bone, target.point, target.position) for bone, target in pulling if target.position is not None]


def _gains(start: PosedNodes, targets: Targets, gives: Mapping[str, float]) -> dict[str, float]:
    """Return the share of the remainder that each move of the trunk takes on."""
    figure = start.figure
    hips, chest = targets.nodes.get(figure.hips), targets.nodes.get(figure.chest)
    free = {
        "spine": bool(figure.spine) and (chest is None or chest is hips or chest.rotation is None),
        "turn": hips is None or hips.rotation is None,
        "shift": figure.shifts and (hips is None or hips.position is None),
    }
    # the last move that is free takes on all that is left
    shares = {"spine": _SPINE_GAIN, "turn": _TURN_GAIN, "shift": 1.0}
    last = next((move for move in reversed(free) if free[move]), "")
    shares |= {last: 1.0} if last else {}
    gains = {move: gives[_RESISTING[move]] * shares[move] * free[move] for move in free}
    return {"shoulder": gives["shoulder"] * _SHOULDER_GAIN, **gains}


def _carry(nodes: Nodes, x: Array, pulls: list[_Pull], gains: Mapping[str, float]) -> Array:
    """Return the change (B, 18) of the unknowns in a round, from the clavicles inwards."""
    figure, step = nodes.figure, np.zeros_like(x)
    for name, unknown in (("arm.L", LEFT), ("arm.R", RIGHT)):
        limb = figure.limbs.get(name)
        if limb is None or limb.clavicle < 0 or not gains["shoulder"]:
            continue
        mine = [pull for pull in pulls if pull.bone == limb.upper]
        axes = rotation.mul(nodes.frame(limb.clavicle), figure.anatomy.axes[limb.clavicle])
        turn = rotation.rotate(rotation.inv(axes), gains["shoulder"] * _lever(mine, nodes.head(limb.clavicle)))
        turn = np.clip(x[:, unknown] + turn, -_CLAVICLES, _CLAVICLES) - x[:, unknown]
        step[:, unknown] = turn
        _take_turn(mine, rotation.rotate(axes, turn), nodes.head(limb.clavicle))
    upper = figure.below[figure.spine[0]] if figure.spine else ()
    above = [pull for pull in pulls if figure.rows[pull.bone] in upper]
    if figure.spine and gains["spine"]:
        middle = np.mean([nodes.head(bone) for bone in figure.spine], axis=0)
        turn = gains["spine"] * _lever(above, middle)
        step[:, SPINE] = turn
        _take_turn(above, turn, middle)
    hips = nodes.head(figure.hips)
    if gains["turn"]:
        step[:, TURN] = gains["turn"] * _lever(above, hips)
        _take_turn(pulls, step[:, TURN], hips)
    if gains["shift"]:
        weights = [pull.weight * lengths(pull.short) for pull in pulls]
        total = np.maximum(np.sum(weights, axis=0), np.finfo(float).tiny)
        shift = sum(weight[:, None] * pull.short for weight, pull in zip(weights, pulls, strict=True))
        step[:, SHIFT] = gains["shift"] * shift / total[:, None] / figure.skeleton.size
    return step


def _lever(pulls: list[_Pull], pivot: Array) -> Array:
    """Return the small turn (B, 3) about a pivot (B, 3) that serves the pulls best, by weight and remainder."""
    size = np.finfo(float).tiny
    moment: Array = np.zeros_like(pivot)
    for pull in pulls:
        arm, weight = pull.place - pivot, pull.weight * lengths(pull.short)
        moment = moment + weight[:, None] * rotation.cross(arm, pull.short)
        size = size + weight * np.sum(arm * arm, axis=-1)
    return moment / np.reshape(size, (-1, 1))


def _take_turn(pulls: list[_Pull], turn: Array, pivot: Array) -> None:
    """Subtract from the remainders of the pulls what a small turn (B, 3) about a pivot does for them."""
    for pull in pulls:
        pull.short = pull.short - rotation.cross(turn, pull.place - pivot)
