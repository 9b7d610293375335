"""Find soles and palms, and the goals that put feet on the ground and hands on a surface.

A foot has three contacts: heel, ball and tip of the toes. One number rolls it, as in animators' foot rigs: a negative
roll puts it on the heel, a positive one on the ball with the toes flat, one beyond the break on the tip.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from .. import rotation
from ..goals import Goal
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .axes import axis_vector, mirror_direction, unit
from .posture import rest_turn
from .roles import SIDES, Roles

# Lengths as shares of the skeleton's size: metres of a human of 1.7 m.
# Height of the lowest joint of a foot above the ground, if that is at the origin, and else where it is taken to be.
_ANKLE: Final = (0.03, 0.17)  # height of an ankle above the sole; others are replaced by _HIGH
_HIGH: Final = 0.08
_MADE_ON: Final = {"toe": (-0.02, 0.08, 0.0), "foot": (*_ANKLE, _HIGH)}
_BALL: Final = 0.12  # from ankle to ball, without toe bones
_TOES: Final = 0.06  # from ball to tip, at least
_FLAT: Final = 100.0  # weight of the turn of a foot: as a last goal it bends an ankle up to its stop
_THICK: Final = 0.05  # height of the joint of the toes above the sole, at most, where a foot without them may end in it
_HEEL: Final = 0.35  # from ankle to heel, as a share of that from ankle to ball
_PALM: Final = 0.015  # thickness of a hand below its bones
_HAND: Final = 0.09  # from wrist to knuckles, without finger bones
_ALONG: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # points of a sole without skin, from heel to ball and on to the tip
# Ways (17, 3) across, up and forward in which the furthest points of the skin are looked for: none is upward.
_WAYS: Final = np.array([way for way in product((-1.0, 0.0, 1.0), (-1.0, 0.0), (-1.0, 0.0, 1.0)) if any(way)])
_AFTER: Final = 1  # priority of these goals: after the goals that keep other bones


@dataclass(frozen=True, eq=False)
class Sole:
    """The sole of a foot in the frame of the foot's bone: contacts (3,), unit vectors up and forward (3,).

    toe   the bone of the toes; -1 if there is none that hangs on the foot
    thickness  how high its joint is above the ground on a flat foot, or the end of a foot without toes if that is where
               they would turn and the skin is not known; else 0
    ball  (3,) below the joint of the toes, or where it would be; the tip of a foot without toes whose skin is known
    end   (3,) the tip in the frame of the toes, or of the foot if there are none
    flat  (4,) the frame of the toes relative to that of the foot, when both stand flat
    skin  furthest points of the skin, (n, 3) in the frame of the foot and (m, 3) in that of the toes, if it is known
    """

    foot: int
    toe: int
    thickness: float
    heel: Array
    ball: Array
    tip: Array
    up: Array
    forward: Array
    end: Array
    flat: Array
    skin: tuple[Array, Array]

    @property
    def under(self) -> tuple[Array, Array]:
        """The points that are to be on the ground or above: (n, 3) in the frame of the foot, (m, 3) in the toes'."""
        if any(map(len, self.skin)):
            return self.skin
        share = np.array(_ALONG)[:, None]
        sole = self.heel + share * (self.ball - self.heel)
        if self.toe < 0:
            return np.append(sole, self.tip[None], axis=0), np.zeros((0, 3))
        low, high = self.tips
        return sole, np.append(share * low - (1.0 - share) * (high - low), high[None], axis=0)

    @property
    def ends(self) -> tuple[Array, ...]:
        """The ends of the toes in their frame, one of which is lower than their joint however they bend: the tip, and
        the middle of the rear edge of their skin, as a bend cannot raise a corner of a foot that leans aside.
        """
        if not len(self.skin[1]):
            return (self.end,)
        ways = -self.up - self.forward, np.cross(self.up, self.forward)
        back, across = rotation.rotate(rotation.inv(self.flat), ways)
        edge = self.skin[1][(self.skin[1] @ back).argmax()]
        return self.end, edge - edge @ across * across

    @property
    def tips(self) -> tuple[Array, Array]:
        """The tip in the frame of the toes, below and as high above the sole as their joint."""
        return self.end, self.end + self.thickness * rotation.rotate(rotation.inv(self.flat), self.up)


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane in armature space: a point (3,) and the unit normal (3,)."""

    point: Array
    normal: Array

    def project(self, place: Array) -> Array:
        """Return the nearest point (3,) on the plane."""
        return place - ((place - self.point) @ self.normal) * self.normal


def find_footing(skeleton: Skeleton, roles: Roles, bones: Sequence[str]) -> tuple[str, ...]:
    """Return those of some bones that are of the feet of a human body, if they are of both feet, else none."""
    feet = [
        [bone for bone in bones if roles.bone(f"foot.{side}") in skeleton.ancestors(skeleton.index(bone))]
        for side in SIDES
    ]
    return tuple(bone for foot in feet for bone in foot) if roles.humanoid and all(feet) else ()


def find_free_turns(skeleton: Skeleton, roles: Roles, footing: Sequence[str], held: Collection[str]) -> list[str]:
    """Return those of the footing, and feet of which the toes are in it, whose rotations are not held.

    A bone that does not turn by itself, as a control beside its part, holds the one above it.
    """
    feet = {roles.bone(f"foot.{side}") for side in SIDES}
    above = {bone for name in footing for bone in skeleton.ancestors(skeleton.index(name)) if bone in feet}
    chains = [skeleton.ancestors(skeleton.index(name)) for name in held]
    fixed = {bone for chain in chains for at, bone in enumerate(chain) if not skeleton.movable[chain[:at]].any()}
    return [
        bone
        for bone in dict.fromkeys([*footing, *(skeleton.names[foot] for foot in sorted(above))])
        if skeleton.index(bone) not in fixed
    ]


def keep_flat(turns: Mapping[int, Array], priority: int) -> list[Goal]:
    """Return goals for the turns (..., 4) of `find_free_turns`, by bone.

    People stand on flat feet until an ankle is at its stop. With the last priority, feet turn where others need it.
    """
    return [Goal(foot, rotation=turn, rotation_weight=_FLAT, priority=priority) for foot, turn in turns.items()]


def ground_at_rest(skeleton: Skeleton, roles: Roles) -> float:
    """Return the height of the ground of the rest pose.

    It is at the lowest point of the skin of the feet, if that is known; else at the armature's origin if the feet are
    near it, or if there are none; else at the lowest joint of toes, or so far below an ankle without toes as a human's
    is above the sole. Under an animal it is at its lowest tip of a leg.
    """
    if roles.soles:
        return float(min((points @ axis_vector(roles.up)).min() for points in roles.soles.values()))
    heights = skeleton.rest_matrices[:, :, 3] @ axis_vector(roles.up)
    if not roles.humanoid and roles.legs:
        tips = heights + skeleton.lengths * (skeleton.rest_matrices[:, :, 1] @ axis_vector(roles.up))
        return float(min(tips[leg[-1]] for leg in roles.legs.values()))
    feet = [(heights[bone], part) for side in SIDES for part in _MADE_ON for bone in roles.chain(f"{part}.{side}")]
    if not feet:
        return 0.0
    lowest, part = min(feet)
    low, high, above = np.array(_MADE_ON[part]) * skeleton.size
    return 0.0 if low <= lowest <= high else float(lowest - above)


def find_sole(skeleton: Skeleton, roles: Roles, side: str) -> Sole:
    """Return the sole of the foot of one side, on the `ground_at_rest`. Raises CoreError if there is no foot.

    Where the skin of the foot is known, that says how high the ankle is above the sole, and how far the sole goes.
    """
    foot = roles.require(f"foot.{side}")[0]
    up = axis_vector(roles.up)
    rest = skeleton.rest_matrices[:, :, 3]
    height = float(rest[foot] @ up) - ground_at_rest(skeleton, roles)
    if not _ANKLE[0] * skeleton.size <= height <= _ANKLE[1] * skeleton.size:
        height = _HIGH * skeleton.size
    known = anatomy(skeleton, roles)
    heads, turns = forward(skeleton, replace(Pose.rest(skeleton), rotations=known.canonical))
    toe = next(iter(roles.chain(f"toe.{side}")), -1)
    tails = heads + skeleton.lengths[:, None] * rotation.rotate(turns, np.array([0.0, 1.0, 0.0]))
    ankle = heads[foot]
    joint = heads[toe] if toe >= 0 else tails[foot]
    ahead = _level(joint - ankle, up)
    known_ahead = ahead @ axis_vector(roles.facing) >= 0.5 * _BALL * skeleton.size
    if not known_ahead:  # the bone points down, or has no direction
        ahead = _BALL * skeleton.size * axis_vector(roles.facing)
    along = unit(ahead)
    tip = _TOES * skeleton.size
    if toe >= 0:
        tip = max(tip, float(_level(tails[toe] - heads[toe], up) @ along))
    hangs = toe >= 0 and foot in skeleton.ancestors(toe)[1:]
    last = toe if hangs else foot
    back, far = -_HEEL * ahead, ahead + tip * along
    parts = {foot: f"foot.{side}"} | ({toe: f"toe.{side}"} if hangs else {})
    skin = {bone: _skin_of(skeleton, roles, role, bone) for bone, role in parts.items()}
    places = np.concatenate([heads[bone] + rotation.rotate(turns[bone], own) for bone, own in skin.items()]) - ankle
    if len(places):
        height = -float((places @ up).min())
        back, far = (float(end) * along for end in ((places @ along).min(), (places @ along).max()))
        if not hangs:  # a sole without a joint rolls over its tip
            ahead, joint = far, ankle - height * up
    down, inverse = -height * up, rotation.inv(turns[foot])
    contacts = (down + back, down + ahead, down + far, up, along)
    end = rotation.rotate(rotation.inv(turns[last]), ankle + contacts[2] - heads[last])
    heel, ball, front, sole_up, ahead = (rotation.rotate(inverse, contact) for contact in contacts)
    flat = rotation.mul(inverse, turns[last])
    thickness = height + float((joint - ankle) @ up)
    if not (hangs or (toe < 0 and known_ahead and 0.0 <= thickness <= _THICK * skeleton.size)):
        thickness = 0.0
    frame = np.stack([np.cross(sole_up, ahead), sole_up, ahead])
    frames = {foot: frame, last: rotation.rotate(rotation.inv(flat), frame)} if hangs else {foot: frame}
    own = [_furthest(skin[bone], axes) for bone, axes in frames.items()] + [np.zeros((0, 3))] * (not hangs)
    return Sole(foot, toe if hangs else -1, thickness, heel, ball, front, sole_up, ahead, end, flat, (own[0], own[1]))


def _skin_of(skeleton: Skeleton, roles: Roles, role: str, bone: int) -> Array:
    """Return the points (n, 3) of the skin of a part in the frame of its bone; none where it is not known."""
    places = roles.soles.get(role, np.zeros((0, 3)))
    return rotation.rotate(rotation.inv(rest_turn(skeleton, bone)), places - skeleton.rest_matrices[bone, :, 3])


def _furthest(points: Array, axes: Array) -> Array:
    """Return the points (m, 3) of some (n, 3) that are furthest in one of `_WAYS` along axes (3, 3)."""
    return points[np.unique((points @ (_WAYS @ axes).T).argmax(axis=0))] if len(points) else points


def plant_feet(
    skeleton: Skeleton, roles: Roles, pose: Pose, planes: Mapping[str, Plane], roll: float = 0.0, bend: float = 0.6
) -> tuple[Pose, list[Goal]]:
    """Return a pose (J) with posed toes, and goals that put the feet of these sides each on its plane.

    A foot keeps its heading and its position along the plane. `roll` is in radians, up to `bend` on the ball. Raises
    CoreError if there is no foot.
    """
    heads, turns = forward(skeleton, pose)
    rotations = np.array(pose.rotations)
    canonical = anatomy(skeleton, roles).canonical
    goals: list[Goal] = []
    for side, plane in planes.items():
        sole = find_sole(skeleton, roles, side)
        normal = plane.normal
        flat = _frame_to(turns[sole.foot], sole.up, sole.forward, normal)
        ankle = plane.project(heads[sole.foot]) - (rotation.rotate(flat, sole.ball) @ normal) * normal
        across = np.cross(normal, rotation.rotate(flat, sole.forward))
        frame, toe = flat, flat
        if roll < 0.0:
            frame, ankle = _about(sole.heel, rotation.from_axis_angle(across, roll), frame, ankle)
            toe = frame
        else:
            at_ball, at_tip = min(roll, bend), max(roll - bend, 0.0)
            tip = ankle + rotation.rotate(flat, sole.tip)
            frame, ankle = _about(sole.ball, rotation.from_axis_angle(across, at_ball), frame, ankle)
            over = rotation.from_axis_angle(across, at_tip)
            ankle = tip + rotation.rotate(over, ankle - tip)
            frame, toe = rotation.mul(over, frame), rotation.mul(over, toe)
        goals.append(Goal(sole.foot, ankle, frame, priority=_AFTER))
        if sole.toe >= 0:
            # the toes of a flat foot at rest, relative to the rolled foot
            bend_back = rotation.mul(rotation.inv(frame), toe)
            rest = skeleton.rest_rotations[sole.toe]
            rotations[sole.toe] = rotation.mul(
                rotation.inv(rest), rotation.mul(bend_back, rotation.mul(rest, canonical[sole.toe]))
            )
    return replace(pose, rotations=rotations), goals


def plant_legs(skeleton: Skeleton, roles: Roles, pose: Pose, planes: Mapping[str, Plane]) -> list[Goal]:
    """Return goals that stand the legs of an animal each on its plane, as they stand on the ground at rest.

    The last bone keeps its heading and where it stands along the plane.
    """
    heads, turns = forward(skeleton, pose)
    up, ground, rest = axis_vector(roles.up), ground_at_rest(skeleton, roles), skeleton.rest_matrices
    goals: list[Goal] = []
    for name, plane in planes.items():
        bone = roles.limbs[name][-1]
        tip, frame = np.array([0.0, float(skeleton.lengths[bone]), 0.0]), rest_turn(skeleton, bone)
        height = float((rest[bone, :, 3] + rotation.rotate(frame, tip)) @ up) - ground
        heading = rotation.swing_twist(rotation.mul(turns[bone], rotation.inv(frame)), up)[1]
        flat = rotation.mul(rotation.shortest(up, plane.normal), rotation.mul(heading, frame))
        place = plane.project(heads[bone] + rotation.rotate(turns[bone], tip)) + height * plane.normal
        goals.append(Goal(bone, place, flat, point=tip, priority=_AFTER))
    return goals


def lay_hands(skeleton: Skeleton, roles: Roles, pose: Pose, planes: Mapping[str, Plane]) -> list[Goal]:
    """Return goals that put the palms of these sides flat on their planes, with the direction of the fingers kept.

    Raises CoreError if there is no hand.
    """
    heads, turns = forward(skeleton, pose)
    goals: list[Goal] = []
    for side, plane in planes.items():
        hand, palm, out, place = find_palm(skeleton, roles, side)
        frame = _frame_to(turns[hand], -palm, out, plane.normal)
        here = heads[hand] + rotation.rotate(turns[hand], place)
        goals.append(Goal(hand, plane.project(here), frame, point=place, priority=_AFTER))
    return goals


def find_palm(skeleton: Skeleton, roles: Roles, side: str) -> tuple[int, Array, Array, Array]:
    """Return the hand of one side, and in its frame the palm's normal, the fingers' direction and the palm (each (3,)).

    Raises CoreError if there is no hand.
    """
    hand = roles.require(f"hand.{side}")[0]
    rest = skeleton.rest_matrices
    frame = anatomy(skeleton, roles).axes[hand]
    palm = rotation.rotate(frame, np.array([0.0, -1.0, 0.0]))
    out = rotation.rotate(frame, mirror_direction((1.0, 0.0, 0.0), side))
    back = rotation.inv(rest_turn(skeleton, hand))
    firsts = roles.knuckles(side)
    reach = _HAND * skeleton.size * out
    if firsts:
        knuckles = rotation.rotate(back, rest[firsts, :, 3] - rest[hand, :, 3])
        reach = knuckles.mean(axis=0)
        out = unit(reach)
        if len(firsts) > 1:  # the plane of wrist and knuckles is more exact
            square = np.cross(knuckles[0] - knuckles[-1], out) * (1.0 if side == "L" else -1.0)
            palm = unit(square) if square @ palm > 0.0 else palm
    palm = unit(palm - (palm @ out) * out)
    return hand, palm, out, 0.5 * reach + _PALM * skeleton.size * palm


def _frame_to(turn: Array, up: Array, along: Array, normal: Array) -> Array:
    """Return the frame (4,) nearest to `turn` (4,) with its `up` (3,) along `normal`; `along` (3,) keeps direction."""
    ahead = _level(rotation.rotate(turn, along), normal)
    if not np.linalg.norm(ahead) > np.finfo(float).eps:  # it is parallel to the normal: `up` gives the direction
        ahead = _level(-rotation.rotate(turn, up), normal)
    ahead, own = unit(ahead), unit(_level(along, up))
    after = np.stack([np.cross(normal, ahead), normal, ahead], axis=-1)
    before = np.stack([np.cross(up, own), up, own], axis=-1)
    return rotation.from_matrix(after @ before.T)


def _about(contact: Array, turn: Array, frame: Array, ankle: Array) -> tuple[Array, Array]:
    """Return the frame (4,) and ankle (3,) of a foot after a rotation about a contact (3,) of its frame."""
    place = ankle + rotation.rotate(frame, contact)
    return rotation.mul(turn, frame), place + rotation.rotate(turn, ankle - place)


def _level(vector: Array, up: Array) -> Array:
    """Return the part (3,) of a vector that is square to `up`."""
    return vector - (vector @ up) * up
