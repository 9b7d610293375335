"""Hands that close and spread their fingers."""

from dataclasses import replace
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .body import unit
from .ground import find_palm
from .names import FINGERS
from .posture import rest_turn
from .roles import Roles
from .sides import mirrored

# Degrees of a fist, joint by joint from the knuckle; between the flexion of a relaxed grip and the joints' ranges.
_FIST: Final = (80.0, 100.0, 65.0)
_THUMB: Final = (20.0, 45.0, 60.0)
# Degrees that each finger goes aside when the hand is spread, away from the middle one.
_SPREAD: Final = {"thumb": 25.0, "index": 14.0, "middle": 0.0, "ring": -10.0, "pinky": -22.0}


def pose_fingers(skeleton: Skeleton, roles: Roles, pose: Pose, side: str, close: float, spread: float) -> Pose:
    """One pose (J) with the fingers of a hand so: `close` 0 as at rest, 1 a fist; `spread` -1 to 1, 0 as at rest.

    Raises CoreError if the hand has no fingers.
    """
    hand, palm, out, _ = find_palm(skeleton, roles, side)
    chains: dict[str, tuple[int, ...]] = {
        finger: chain for finger in FINGERS if (chain := roles.chain(f"{finger}.{side}"))
    }
    if not has_fingers(roles, side):
        raise CoreError(f"No fingers of hand.{side} are found; say which bones they are.")
    turn = rest_turn(skeleton, hand)
    palm, out = rotation.rotate(turn, palm), rotation.rotate(turn, out)
    heads = skeleton.rest_matrices[:, :, 3]
    rotations = np.array(pose.rotations)
    under = heads[hand] + 0.5 * _reach(heads, hand, chains) * out + 0.25 * _reach(heads, hand, chains) * palm
    for finger, chain in chains.items():
        way = heads[chain[-1]] - heads[chain[0]]
        way = way if way.any() else out
        # a finger bends towards the palm, the thumb towards what is under it
        inward = under - heads[chain[-1]] if finger == "thumb" else palm
        hinge = unit(np.cross(way, inward))
        angles = np.radians(_THUMB if finger == "thumb" else _FIST)
        sideways = np.radians(_SPREAD[finger]) * spread * _towards_thumb(palm, side)
        for joint, bone in enumerate(chain):
            angle = float(angles[min(joint, len(angles) - 1)]) * close
            turned = rotation.exp(angle * hinge)
            if joint == 0:
                turned = rotation.mul(rotation.exp(sideways), turned)
            rotations[bone] = _own(skeleton, bone, turned)
    return replace(pose, rotations=rotations)


def has_fingers(roles: Roles, side: str) -> bool:
    """Whether the hand has any."""
    return any(roles.chain(f"{finger}.{side}") for finger in FINGERS)


def _own(skeleton: Skeleton, bone: int, turn: Array) -> Array:
    """A rotation (4,) of armature space at rest as the bone's own."""
    rest = rest_turn(skeleton, bone)
    return rotation.mul(rotation.inv(rest), rotation.mul(turn, rest))


def _reach(heads: Array, hand: int, chains: dict[str, tuple[int, ...]]) -> float:
    """From the wrist to the middle of the knuckles."""
    firsts: list[int] = [chain[0] for finger, chain in chains.items() if finger != "thumb"]
    firsts = firsts or [chains["thumb"][-1]]
    knuckles = heads[np.array(firsts)].mean(axis=0)
    return float(rotation.lengths(knuckles - heads[hand]))


def _towards_thumb(palm: Array, side: str) -> Array:
    """(3,) the axis about which a finger turns towards the thumb's side."""
    return palm * float(mirrored((1.0, 0.0, 0.0), side)[0])
