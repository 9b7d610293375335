"""Close the fingers of a hand round a surface until they touch.

Every finger flexes from straight towards a fist. A joint stops where its motion would press a touching point further
in; the joints beyond go on, as in a finger that is pulled by a tendon (A. T. Miller and P. K. Allen, "GraspIt!", 2004).
No step is so long that a point could pass its distance from the surface (conservative advancement, B. Mirtich 1996), so
that no finger goes through what is thin. A finger that is inside when it is open begins less open. Ways to close, with
other spread, curls and opposition of the thumb, are tried side by side, and those in which most skin touches are taken.
The thumb closes after the fingers, or before them where it would meet them before it touches.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..limits import clamp_rotations
from ..pose import Pose, forward, forward_matrices, stack
from ..rotation import Array, lengths
from ..skeleton import Indices, Skeleton
from .axes import unit
from .grip import FIST, SPREAD, THUMB_CLOSES, bent_at_rest, finger_chains, finger_hinges, require_fingers
from .ground import find_palm
from .posture import rest_turn
from .roles import Roles
from .skin import LEAST, Skin, capsule_distances, round_bones, with_round_fingers

# Lengths as shares of the skeleton's size: metres of a human of 1.7 m.
TOUCH: Final = 2.5e-4  # what is nearer touches
_NEAR: Final = 3e-3  # skin that is so far off counts by 1/e, where ways to close are compared
_APART: Final = 1.5e-3  # between points of the skin: no edge of the surface gets in further
_BEGIN: Final = (300, 3000)  # points of a finger by which it is seen how it may begin: in all ways, and in that taken
_SAMPLE: Final = 150  # the same by which ways to close are compared
_STEPS: Final = 1000  # of a hand, at most
_STALE: Final = 0.5  # a distance is measured again when it may be less than this share of what it was
_OPEN: Final = {"thumb": -30.0}  # degrees of the first joint of open fingers, of others _FLAT; the next are straight
_FLAT: Final = -15.0
_OPENED: Final = (0.0, 0.25, 0.5, 0.75)  # from open to a fist: where fingers may begin
_THUMB: Final = tuple(most for _, most in THUMB_CLOSES)  # degrees: as far as thumbs go, for they meet the fingers first
_CURLS: Final = ((1.0, 1.0), (1.0, 0.5), (0.6, 1.0))  # how fast knuckles and the other joints close
_SPREADS: Final = (0.0, -0.25, 0.25, 0.5, 0.75, 1.0)  # shares of a spread hand
_OPPOSED: Final = (60.0, 30.0, 0.0, 90.0)  # degrees that a thumb is below the plane of the palm
_OUT: Final = -15.0  # the same of an open hand
_BESIDE: Final = 5e-3  # skin so far from a surface that goes through the finger is on both of its sides
_SWINGS: Final = 4.0  # how fast fingers swing to the side beside how fast they close
_OWN: Final = 0.5  # of the weights of a point of a finger; others are of the palm, or between fingers
_EASY: Final = 0.01  # of the skin that touches: the first ways are taken unless others have so much more each
_ROUNDING: Final = 1e-9  # radians
_CLAMPS: Final = 33  # angles at which a bone's own limits are looked at

Surface = Callable[
    [Array], tuple[Array, Array]
]  # points (n, 3) -> distances (n,), negative inside, unit normals (n, 3)


@dataclass(frozen=True, eq=False)
class Grip:
    """A pose (J) in which fingers are closed round something.

    touching  the fingers of which skin touches it
    depth     how far the deepest point of the fingers is inside of it; 0 if none is
    places    (k, 3) where they touch
    held      the number of fingers, of which those that do not touch count the less the further off they are
    ways      finger -> the number of the way in which it closes, in the order in which they do
    """

    pose: Pose
    touching: tuple[str, ...]
    depth: float
    places: Array
    held: float
    ways: Mapping[str, int]


def close_fingers(
    skeleton: Skeleton, roles: Roles, pose: Pose, side: str, skin: Skin, surface: Surface, margin: float = 0.0,
    before: Grip | None = None,
) -> Grip:  # fmt: skip
    """Return a pose (J) with the fingers of a hand closed round a surface, up to `margin` from it.

    They close as in a grip `before`, while the same fingers touch: over time, other ways would be jumps. Fingers
    without points of `skin` are as thick as fingers are. Fingers that reach nothing close to a fist. Lengths are those
    of armature space. Raises CoreError if there is no hand, or it has no fingers.
    """
    chains = require_fingers(roles, side)
    whole = with_round_fingers(skeleton, chains.values(), skin).filled(skeleton, _APART * skeleton.size)
    near, thumb = TOUCH * skeleton.size, [name for name in chains if name == "thumb"]
    parts = [part for part in ([name for name in chains if name != "thumb"], thumb) if part]
    orders = [parts, parts[::-1]] if len(parts) > 1 else [parts]
    if before is not None:
        orders.sort(key=lambda order: order[0] != [*before.ways][: len(order[0])])
        found = _close_in_turn(skeleton, roles, pose, side, whole, surface, margin, orders[0], before.ways)
        if {*before.touching} <= {*found.touching}:
            return found
    grips = list[Grip]()
    for order in orders:
        grips.append(_close_in_turn(skeleton, roles, pose, side, whole, surface, margin, order, None))
        if {*parts[-1]} <= {*grips[-1].touching} and grips[-1].depth <= near:
            break  # the other fingers have no more room after the thumb
    return max(grips, key=lambda grip: grip.held - grip.depth / near)


def _close_in_turn(
    skeleton: Skeleton, roles: Roles, pose: Pose, side: str, skin: tuple[Array, Indices, Array], surface: Surface,
    margin: float, order: Sequence[list[str]], taken_ways: Mapping[str, int] | None,
) -> Grip:  # fmt: skip
    """Return a pose (J) with fingers closed in an `order`, each group stopped by those before; see `close_fingers`.

    `skin` as of `Skin.filled`.
    """
    hand, palm, ahead, _ = find_palm(skeleton, roles, side)
    at_rest = [rotation.rotate(rest_turn(skeleton, hand), way) for way in (palm, ahead)]
    pressed = -forward_matrices(skeleton, pose)[hand, :, :3] @ palm  # the normal of what touches the palm
    chains, taken = finger_chains(roles, side), surface
    touching, places, ways = list[str](), [np.zeros((0, 3))], dict[str, int]()
    deepest, held = 0.0, 0.0
    for names in order:
        fingers = _Fingers(skeleton, roles, pose, {name: chains[name] for name in names}, skin, *at_rest)
        swings = np.repeat(fingers.swings, len(_CURLS), axis=0)
        curls = np.tile(np.repeat(np.array(_CURLS)[:, None], len(names), axis=1), (len(fingers.swings), 1, 1))
        if taken_ways is None:
            begins = np.repeat(fingers.sampled(_BEGIN[0]).begun(fingers.swings, surface), len(_CURLS), axis=0)
            best = fingers.sampled(_SAMPLE).close(begins, swings, curls, taken, surface, margin).best(pressed)
        else:
            best = np.array([taken_ways[name] for name in names])
        ways |= dict(zip(names, best.tolist(), strict=True))
        rows = best, np.arange(len(names))
        begins = fingers.sampled(_BEGIN[1]).begun(swings[rows][None], surface)
        found = fingers.close(begins, swings[rows][None], curls[rows][None], taken, surface, margin)
        near = found.gaps[0] <= found.near
        places.append(found.places[0, near])
        touched = [*np.unique(found.finger[near & fingers.own]).tolist()]
        touching += [names[finger] for finger in touched]
        held += found.held(fingers.own)
        pose, deepest = found.pose[0], max(deepest, -margin - float(found.gaps.min()))
        pressed = found.normal() if touched else pressed
        taken = _both(surface, fingers.capsules(found))
    return Grip(pose, tuple(touching), deepest, np.concatenate(places), held, ways)


def _both(one: Surface, other: Surface) -> Surface:
    """Return the distances from the nearer of two surfaces."""

    def nearer(points: Array) -> tuple[Array, Array]:
        (first, normals), (second, others) = one(points), other(points)
        return np.minimum(first, second), np.where((first <= second)[:, None], normals, others)

    return nearer


def hand_reach(skeleton: Skeleton, roles: Roles, pose: Pose, side: str) -> tuple[Array, float]:
    """Return a sphere in armature space that the fingers of a hand do not leave: its centre (3,) and its radius."""
    heads, _ = forward(skeleton, pose)
    (hand,), chains = roles.require(f"hand.{side}"), finger_chains(roles, side)
    far = [
        lengths(np.diff(heads[[hand, *chain]], axis=0)).sum() + skeleton.lengths[chain[-1]] for chain in chains.values()
    ]
    return heads[hand], float(max(far, default=0.0))


@dataclass(frozen=True, eq=False)
class _Closed:
    """Fingers that are closed in C ways: poses (C, J), and of V points the places, the distances from where they touch,
    and normals.

    finger (V,) is that of a point, near the length that counts as touching
    """

    pose: Pose
    places: Array
    gaps: Array
    normals: Array
    finger: Indices
    near: float

    def best(self, pressed: Array) -> Indices:
        """Return the ways (F,) in which most skin touches, pressing against a normal (3,), with one spread for all.

        Those count less in which a finger is further inside than in others.
        """
        shares = self._weights() * 0.5 * (1.0 - self.normals @ pressed)
        fingers = np.eye(int(self.finger.max()) + 1)[self.finger].T  # (F, V)
        score = shares @ (fingers / fingers.sum(axis=1, keepdims=True)).T
        deep = np.stack([-self.gaps[:, own > 0.0].min(axis=1) for own in fingers], axis=1)
        score *= np.exp(np.minimum(np.maximum(deep.min(axis=0), 0.0) - deep, 0.0) / self.near)
        eased = score - _EASY * score.max() * np.arange(len(score))[:, None]
        spreads = eased.reshape(-1, len(_CURLS), eased.shape[1])
        best = int(spreads.max(axis=1).sum(axis=1).argmax())
        return len(_CURLS) * best + spreads[best].argmax(axis=0)

    def held(self, own: NDArray[np.bool_]) -> float:
        """Return how many fingers touch in the first way with their `own` (V,) points, by how near these are."""
        nearest = np.zeros(int(self.finger.max()) + 1)
        np.maximum.at(nearest, self.finger, np.where(own, self._weights()[0], 0.0))
        return float(nearest.sum())

    def normal(self) -> Array:
        """Return the mean normal (3,) of what is touched in the first way."""
        return unit(self._weights()[0] @ self.normals[0])

    def _weights(self) -> Array:
        return np.exp(-np.maximum(self.gaps, 0.0) / (_NEAR / TOUCH * self.near))


class _Fingers:
    """Some fingers (F) of a hand, with n joints: the swing of the first bone to the side, and the flexion of each bone.

    Joints that a finger lacks are -1 and never move. Of the points (V) of their skin it has the finger, the last joint
    that moves it, where it is in the frames of its bones (V, K, 3), their indices and weights (V, K), and how far it is
    from the joints (V, n) at most, 0 from those after it; `own` (V,) are those that other bones move less. `swings`
    (C, F) are the angles of swings to try.
    """

    def __init__(
        self, skeleton: Skeleton, roles: Roles, pose: Pose, chains: Mapping[str, tuple[int, ...]],
        skin: tuple[Array, Indices, Array], palm: Array, ahead: Array,
    ) -> None:  # fmt: skip
        """`skin` as of `Skin.filled`; `palm` and `ahead` (3,): the palm's normal and the fingers' direction at rest."""
        self._skeleton, self._pose = skeleton, pose
        self._near = TOUCH * skeleton.size
        hinges = finger_hinges(skeleton, roles)
        count = max(map(len, chains.values()))
        self._bones = np.array([[chain[0], *chain, *[-1] * (count - len(chain))] for chain in chains.values()])
        self._axes = np.array([[hinges.get(bone, (np.zeros(3),))[0] for bone in row] for row in self._bones.tolist()])
        self._ends = np.zeros((2, *self._bones.shape))  # radians of open fingers and of a fist
        for finger, (name, chain) in enumerate(chains.items()):
            fist = _THUMB if name == "thumb" else FIST
            for joint, bone in enumerate(chain):
                opened, closed = np.radians(
                    [_OPEN.get(name, _FLAT) if joint == 0 else 0.0, fist[min(joint, len(fist) - 1)]]
                )
                bent = bent_at_rest(skeleton, hinges, chain, joint)
                angles: Array = np.linspace(float(opened), float(closed), _CLAMPS) - bent
                self._ends[:, finger, joint + 1] = self._allowed(bone, hinges[bone][0], angles)
        self._axes[:, 0] = [hinges[chain[0]][1] for chain in chains.values()]
        self.swings = np.radians(np.outer(_SPREADS, [SPREAD[name] for name in chains]))
        if "thumb" in chains:
            heads, (base, *_, last) = skeleton.rest_matrices[:, :, 3], self._bones[0]
            back = rotation.inv(rest_turn(skeleton, base))
            side = np.cross(rotation.rotate(rest_turn(skeleton, base), self._axes[0, 0]), ahead)  # where it points
            self._axes[0, 0] = rotation.rotate(back, np.cross(side, palm))
            along = heads[last] - heads[base]
            lowered = np.radians([_OUT, *_OPPOSED]) - np.arctan2(along @ palm, along @ side)
            self._ends[0, 0, 0], self.swings = lowered[0], lowered[1:, None]
        limited = [bone for group in skeleton.limits for bone in group.bones.tolist()]
        still = ~skeleton.movable[self._bones[:, 0]] | np.isin(self._bones[:, 0], limited)
        self._ends[0, still, 0], self.swings[:, still] = 0.0, 0.0
        self._take(*skin)

    def _allowed(self, bone: int, hinge: Array, angles: Array) -> tuple[float, float]:
        """Return the first and the last of some angles of a joint, radians, that the bone's own limits let it take."""
        if not self._skeleton.movable[bone]:
            return 0.0, 0.0
        rotations = np.tile(rotation.IDENTITY, (len(angles), len(self._skeleton), 1))
        rotations[:, bone] = rotation.exp(angles[:, None] * hinge)
        inside = angles[~clamp_rotations(self._skeleton.limits, rotations)[1][:, bone]]
        return (float(inside[0]), float(inside[-1])) if len(inside) else (0.0, 0.0)

    def _take(self, local: Array, bones: Indices, weights: Array) -> None:
        """Take the points of a skin, as of `Skin.filled`, that these fingers move, finger by finger."""
        finger_of, joint_of = np.full((2, len(self._skeleton)), -1)
        for (finger, joint), bone in np.ndenumerate(self._bones):
            if bone >= 0:
                finger_of[bone], joint_of[bone] = finger, joint
        weights, of = np.where(weights > LEAST, weights, 0.0), finger_of[bones]
        shares = np.stack([np.where(of == finger, weights, 0.0).sum(axis=1) for finger in range(len(self._bones))])
        mostly = shares.argmax(axis=0)
        points = np.flatnonzero(shares.any(axis=0))
        points = points[np.argsort(mostly[points], kind="stable")]
        own = (of == mostly[:, None]) & (weights > 0.0)
        self._finger = mostly[points]
        self.own = shares[mostly, np.arange(len(mostly))][points] >= _OWN
        self._local, self._moved_by, self._weights = local[points], bones[points], weights[points]
        self._joint = np.where(own[points], joint_of[self._moved_by], -1).max(axis=1)
        matrices = forward_matrices(self._skeleton, self._pose)
        heads = matrices[self._bones][..., 3]
        ways = np.cumsum(lengths(np.diff(heads, axis=1, prepend=heads[:, :1])), axis=1)
        here = self._places(matrices[None], np.zeros(len(points), int), np.arange(len(points)))
        reach = ways[self._finger, self._joint] + lengths(here - heads[self._finger, self._joint])
        number: Array = np.arange(self._bones.shape[1], dtype=float)
        self._levers: Array = np.where(number <= self._joint[:, None], reach[:, None] - ways[self._finger], 0.0)

    def sampled(self, most: int) -> "_Fingers":
        """Return the same fingers with at most so many points each."""
        counts = np.bincount(self._finger)
        number = np.arange(len(self._finger)) - np.searchsorted(self._finger, self._finger)
        few = number % -(-counts // most)[self._finger] == 0
        other = copy(self)
        for name in ("own", "_finger", "_joint", "_local", "_moved_by", "_weights", "_levers"):
            setattr(other, name, getattr(self, name)[few])
        return other

    def begun(self, swings: Array, surface: Surface) -> Array:
        """Return the angles (C, F, n) at which fingers that are to swing (C, F) begin.

        A hand takes its shape before it comes to the object: a finger begins open with its swing. If the surface then
        goes through it, points are inside, or those near to it are on both of its sides: it begins with the swing of an
        open hand, or more closed, where it is free, and where it never is, where it is least inside.
        """
        found = np.tile(self._ends[0], (*swings.shape[:1], 1, 1))
        least = np.full(swings.shape, np.inf)
        free: NDArray[np.bool_] = np.zeros(swings.shape, bool)
        tried = [(opened, swing) for opened in _OPENED for swing in (swings, self._ends[0, :, 0])]
        for number, (opened, swing) in enumerate(tried):
            angles = np.tile(self._ends[0] + opened * (self._ends[1] - self._ends[0]), (len(swings), 1, 1))
            angles[..., 0] = swing
            inside, blocked = self._inside(angles, ~free, surface)
            inside = np.where(blocked, inside + (1 + number) * self._near, 0.0)  # unless later ones are much better
            better: NDArray[np.bool_] = ~free & (inside < least)
            found[better], least[better] = angles[better], inside[better]
            free |= ~blocked
            if free.all():
                break
        return found

    def _inside(self, angles: Array, due: NDArray[np.bool_], surface: Surface) -> tuple[Array, NDArray[np.bool_]]:
        """Return how far points are inside on average (C, F), and whether the surface goes through, of `due` fingers.

        Of others both are 0.
        """
        way, point = np.nonzero(due[:, self._finger])
        distances, normals = surface(self._places(forward_matrices(self._skeleton, self._pose_at(angles)), way, point))
        near, of = distances < _BESIDE * self._skeleton.size, (way, self._finger[point])
        count, deep, beside = (np.zeros(due.shape) for _ in range(3))
        sides, through = np.zeros((*due.shape, 3)), np.zeros(due.shape, bool)
        np.add.at(count, of, 1.0)
        np.add.at(deep, of, np.maximum(-distances, 0.0))
        np.add.at(beside, of, near)
        np.add.at(sides, of, normals * near[:, None])
        np.logical_or.at(through, of, distances < -self._near)
        return deep / np.maximum(count, 1.0), through | (lengths(sides) < 0.5 * beside)

    def close(
        self, begins: Array, swings: Array, curls: Array, taken: Surface, surface: Surface, margin: float
    ) -> _Closed:
        """Return the fingers closed in C ways from `begun` angles (C, F, n), with swings (C, F) and curls (C, F, 2).

        They are stopped by what is `taken`, and their distances are those from the surface.
        """
        ways, points, joints = len(curls), len(self._finger), self._bones.shape[1]
        moves = np.array([self._levers[self._finger == one].any(axis=0) for one in range(len(self._bones))])
        ends, angles = np.tile(self._ends[1], (ways, 1, 1)), begins
        ends[..., 0] = swings
        rates: Any = np.where(moves, ends - angles, 0.0)  # (C, F, n)
        rates[..., 0] *= _SWINGS
        rates[..., 1:] *= np.repeat(curls, (1, joints - 2), axis=2)
        gaps, measured = np.zeros((2, ways, points))
        normals = np.zeros((ways, points, 3))
        for _ in range(_STEPS):
            pose = self._pose_at(angles)
            matrices = forward_matrices(self._skeleton, pose)
            speeds = (np.abs(rates)[:, self._finger] * self._levers).sum(axis=-1)  # no point is faster
            due = np.nonzero((speeds > 0.0) & (gaps <= np.maximum(self._near, _STALE * measured)))
            places = self._places(matrices, *due)
            distances, normals[due] = taken(places)
            gaps[due] = measured[due] = distances - margin
            touching = gaps[due] <= self._near
            way, point = (index[touching] for index in due)
            motion = self._motion(matrices[way], angles[way], point, places[touching])
            pressing = (motion * normals[way, point][:, None]).sum(axis=-1) * rates[way, self._finger[point]] < 0.0
            stopped = np.abs(ends - angles) <= _ROUNDING
            np.logical_or.at(stopped, (way, self._finger[point]), pressing & (self._levers[point] > 0.0))
            rates = np.where(stopped, 0.0, rates)
            if not rates.any():
                break
            speeds = (np.abs(rates)[:, self._finger] * self._levers).sum(axis=-1)
            step = self._longest(np.maximum(gaps, self._near), speeds, ends - angles, rates)
            angles = angles + step[..., None] * rates
            gaps -= step[:, self._finger] * speeds
        pose = self._pose_at(angles)
        matrices = forward_matrices(self._skeleton, pose)
        places = self._places(matrices, *np.indices((ways, points)).reshape(2, -1))
        distances, found = surface(places)
        placed, normals = (values.reshape(ways, points, 3) for values in (places, found))
        return _Closed(pose, placed, distances.reshape(ways, points) - margin, normals, self._finger, self._near)

    def capsules(self, closed: _Closed) -> Surface:
        """Return the distances from these fingers, as they are closed in the first way, each bone as a capsule.

        Those next to the palm are left out: the skin of the thumb begins there.
        """
        heads = forward_matrices(self._skeleton, closed.pose[0])[..., 3]
        found = [
            round_bones(heads[row[row >= 0]], closed.places[0, own], self._joint[own] - 1)
            for finger, row in enumerate(self._bones[:, 1:])
            for own in [self._finger == finger]
        ]
        starts, ends, radii = (np.concatenate([part[1:] for part in parts]) for parts in zip(*found, strict=True))
        return lambda points: capsule_distances(points, starts, ends, radii)

    def _longest(self, gaps: Array, speeds: Array, left: Array, rates: Array) -> Array:
        """Return the longest step (C, F) in which no point goes further than its gap, and no joint beyond its end."""
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(speeds > 0.0, gaps / speeds, np.inf)
            ends = np.where(rates != 0.0, left / rates, np.inf).min(axis=-1)
        nearest = [far[:, self._finger == one].min(axis=1, initial=np.inf) for one in range(len(self._bones))]
        return np.where(rates.any(axis=-1), np.minimum(np.stack(nearest, axis=1), ends), 0.0)

    def _motion(self, matrices: Array, angles: Array, points: Indices, places: Array) -> Array:
        """Return how points (k,) at places (k, 3) move (k, n, 3) while each joint turns."""
        finger = self._finger[points]
        frames = np.take_along_axis(matrices, self._bones[finger][..., None, None], axis=1)
        axes = self._axes[finger]
        flexed = angles[np.arange(len(points)), finger, 1, None] * axes[:, 1]
        axes[:, 0] = rotation.rotate(
            rotation.inv(rotation.exp(flexed)), axes[:, 0]
        )  # the bone swings when it is flexed
        return np.cross((frames[..., :3] @ axes[..., None])[..., 0], places[:, None] - frames[..., 3])

    def _places(self, matrices: Array, ways: Indices, points: Indices) -> Array:
        """Return where points (k,) are in bone frames (C, J, 3, 4) of some ways (k,)."""
        frames = matrices[ways[:, None], self._moved_by[points]]
        moved = (frames[..., :3] @ self._local[points][..., None])[..., 0] + frames[..., 3]
        return (self._weights[points][..., None] * moved).sum(axis=1)

    def _pose_at(self, angles: Array) -> Pose:
        """Return the poses (C, J) of the body with angles (C, F, n) of the joints."""
        turns = rotation.exp(angles[..., None] * self._axes)
        turns[:, :, 1] = rotation.mul(turns[:, :, 0], turns[:, :, 1])
        free = (self._bones >= 0) & self._skeleton.movable[self._bones]
        free[:, 0] = False
        rotations = np.tile(self._pose.rotations, (len(angles), 1, 1))
        rotations[:, self._bones[free]] = turns[:, free]
        return replace(stack([self._pose] * len(angles)), rotations=rotations)
