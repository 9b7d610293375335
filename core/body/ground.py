"""Feet on the ground and hands on a surface: where soles and palms are, and the goals that put them there.

A foot has three contacts: heel, ball and tip of the toes. One number rolls it, as animators' foot rigs do: below zero
it stands on the heel, from zero on the ball with the toes flat, beyond a break on the tip.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..goals import Goal
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .axes import axis_vector, mirror_direction, unit
from .roles import SIDES, Roles

# Shares of the size, which a human of 1.7 m has as metres.
_MADE_ON: Final = (-0.02, 0.08)  # the lowest joint of a foot is so far above the ground that the body was made on
_ANKLE: Final = (0.03, 0.13)  # height of an ankle above the sole; else _HIGH
_HIGH: Final = 0.08
_BALL: Final = 0.12  # from ankle to ball where no bone says it
_TOES: Final = 0.06  # from ball to tip
_HEEL: Final = 0.35  # behind the ankle, of the way from ankle to ball
_PALM: Final = 0.015  # thickness of a hand below its bones
_HAND: Final = 0.09  # from wrist to knuckles where no finger says it
_AFTER: Final = 1  # the priority: what is to stay where it is goes before what is brought to a plane


@dataclass(frozen=True, eq=False)
class Sole:
    """The underside of a foot, in the frame of the foot's bone: contacts (3,), the unit ways up and forward (3,)."""

    foot: int
    toe: int  # -1: none
    heel: Array
    ball: Array
    tip: Array
    up: Array
    forward: Array


@dataclass(frozen=True, eq=False)
class Plane:
    """A point (3,) and the unit normal (3,), in armature space."""

    point: Array
    normal: Array

    def project(self, place: Array) -> Array:
        """The nearest place (3,) on the plane."""
        return place - ((place - self.point) @ self.normal) * self.normal


def find_sole(skeleton: Skeleton, roles: Roles, side: str) -> Sole:
    """Where a foot stands; raises CoreError if the body has none.

    At rest the body stands on the armature's origin, if its feet are near that, else on their lowest joint.
    """
    foot = roles.require(f"foot.{side}")[0]
    up = axis_vector(roles.up)
    rest = skeleton.rest_matrices[:, :, 3]
    feet = [bone for other in SIDES for role in ("foot", "toe") for bone in roles.chain(f"{role}.{other}")]
    lowest = float(np.min(rest[feet] @ up))
    low, high = np.array(_MADE_ON) * skeleton.size
    ground = 0.0 if low <= lowest <= high else lowest
    height = float(rest[foot] @ up) - ground
    if not _ANKLE[0] * skeleton.size <= height <= _ANKLE[1] * skeleton.size:
        height = _HIGH * skeleton.size
    known = anatomy(skeleton, roles)
    heads, turns = forward(skeleton, replace(Pose.rest(skeleton), rotations=known.canonical))
    toe = next(iter(roles.chain(f"toe.{side}")), -1)
    tails = heads + skeleton.lengths[:, None] * rotation.rotate(turns, np.array([0.0, 1.0, 0.0]))
    ankle = heads[foot]
    end = heads[toe] if toe >= 0 else tails[foot]
    ahead = _level(end - ankle, up)
    if ahead @ axis_vector(roles.facing) < 0.5 * _BALL * skeleton.size:  # a bone that points down, or nowhere
        ahead = _BALL * skeleton.size * axis_vector(roles.facing)
    forth = unit(ahead)
    tip = _TOES * skeleton.size
    if toe >= 0:
        tip = max(tip, float(_level(tails[toe] - heads[toe], up) @ forth))
    down, back = -height * up, rotation.inv(turns[foot])
    contacts = (down - _HEEL * ahead, down + ahead, down + ahead + tip * forth, up, forth)
    return Sole(foot, toe, *(rotation.rotate(back, contact) for contact in contacts))


def plant_feet(
    skeleton: Skeleton, roles: Roles, pose: Pose, planes: Mapping[str, Plane], roll: float = 0.0, bend: float = 0.6
) -> tuple[Pose, list[Goal]]:
    """One pose (J) with toes as they will be, and goals for the feet of these sides, each on its plane.

    A foot keeps its heading and its place along the plane; `roll` radians, up to `bend` on the ball.
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
        stand, toe = flat, flat
        if roll < 0.0:
            stand, ankle = _about(sole.heel, rotation.from_axis_angle(across, roll), stand, ankle)
            toe = stand
        else:
            at_ball, at_tip = min(roll, bend), max(roll - bend, 0.0)
            tip = ankle + rotation.rotate(flat, sole.tip)
            stand, ankle = _about(sole.ball, rotation.from_axis_angle(across, at_ball), stand, ankle)
            over = rotation.from_axis_angle(across, at_tip)
            ankle = tip + rotation.rotate(over, ankle - tip)
            stand, toe = rotation.mul(over, stand), rotation.mul(over, toe)
        goals.append(Goal(sole.foot, ankle, stand, priority=_AFTER))
        if sole.toe >= 0 and sole.foot in skeleton.ancestors(sole.toe)[1:]:
            # the toes as they are at rest on a flat foot, seen from the foot as it stands
            bend_back = rotation.mul(rotation.inv(stand), toe)
            rest = skeleton.rest_rotations[sole.toe]
            rotations[sole.toe] = rotation.mul(
                rotation.inv(rest), rotation.mul(bend_back, rotation.mul(rest, canonical[sole.toe]))
            )
    return replace(pose, rotations=rotations), goals


def lay_hands(skeleton: Skeleton, roles: Roles, pose: Pose, planes: Mapping[str, Plane]) -> list[Goal]:
    """Goals for the hands of these sides: each palm flat on its plane, pointing where it points along that."""
    heads, turns = forward(skeleton, pose)
    goals: list[Goal] = []
    for side, plane in planes.items():
        hand, palm, out, place = find_palm(skeleton, roles, side)
        stand = _frame_to(turns[hand], -palm, out, plane.normal)
        here = heads[hand] + rotation.rotate(turns[hand], place)
        goals.append(Goal(hand, plane.project(here), stand, point=place, priority=_AFTER))
    return goals


def find_palm(skeleton: Skeleton, roles: Roles, side: str) -> tuple[int, Array, Array, Array]:
    """The hand, and in its frame: which way its palm looks, where its fingers point (3,), and its place (3,)."""
    hand = roles.require(f"hand.{side}")[0]
    rest = skeleton.rest_matrices
    frame = anatomy(skeleton, roles).axes[hand]
    palm = rotation.rotate(frame, np.array([0.0, -1.0, 0.0]))
    out = rotation.rotate(frame, mirror_direction((1.0, 0.0, 0.0), side))
    back = rotation.inv(rotation.from_matrix(rest[hand, :, :3]))
    firsts = [chain[0] for finger in ("index", "middle", "ring", "pinky")
              if (chain := roles.chain(f"{finger}.{side}"))]  # fmt: skip
    reach = _HAND * skeleton.size * out
    if firsts:
        knuckles = rotation.rotate(back, rest[firsts, :, 3] - rest[hand, :, 3])
        reach = knuckles.mean(axis=0)
        out = unit(reach)
        if len(firsts) > 1:  # the plane of wrist and knuckles says it better
            square = np.cross(knuckles[0] - knuckles[-1], out) * (1.0 if side == "L" else -1.0)
            palm = unit(square) if square @ palm > 0.0 else palm
    palm = unit(palm - (palm @ out) * out)
    return hand, palm, out, 0.5 * reach + _PALM * skeleton.size * palm


def _frame_to(turn: Array, up: Array, along: Array, normal: Array) -> Array:
    """(4,) the frame nearest to `turn` (4,) in which its way `up` (3,) is the normal, keeping where `along` points."""
    ahead = _level(rotation.rotate(turn, along), normal)
    if not np.linalg.norm(ahead) > np.finfo(float).eps:  # it points along the normal: what is up says where
        ahead = _level(-rotation.rotate(turn, up), normal)
    ahead, own = unit(ahead), unit(_level(along, up))
    there = np.stack([np.cross(normal, ahead), normal, ahead], axis=-1)
    here = np.stack([np.cross(up, own), up, own], axis=-1)
    return rotation.from_matrix(there @ here.T)


def _about(contact: Array, turn: Array, stand: Array, ankle: Array) -> tuple[Array, Array]:
    """Frame and ankle of a foot that is turned about a contact of its frame."""
    place = ankle + rotation.rotate(stand, contact)
    return rotation.mul(turn, stand), place + rotation.rotate(turn, ankle - place)


def _level(way: Array, up: Array) -> Array:
    """(3,) the part of a way that is square to `up`."""
    return way - (way @ up) * up
