"""Close and spread the fingers of hands."""

from dataclasses import replace
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..limits import EulerBox, Framed
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .axes import mirror_direction, unit
from .ground import find_palm
from .joint_limits import ASIDE, framed
from .posture import rest_turn
from .roles import FINGERS, SIDES, Roles

# Degrees of a fist by joint from the knuckle: more than in a relaxed grip, within the joints' ranges.
FIST: Final = (80.0, 100.0, 65.0)
THUMB: Final = (20.0, 45.0, 60.0)
# Range in degrees from straight, negative backwards, by joint from the knuckle.
CLOSES: Final = ((-45.0, 95.0), (-5.0, 115.0), (-10.0, 85.0))
THUMB_CLOSES: Final = ((-25.0, 50.0), (-10.0, 75.0), (-20.0, 90.0))
# Degrees of each finger in a spread hand, towards the thumb.
SPREAD: Final = {"thumb": 25.0, "index": 14.0, "middle": 0.0, "ring": -10.0, "pinky": -22.0}

Hinges = dict[int, tuple[Array, Array]]  # bone -> the axes that close and that spread its finger


def pose_fingers(skeleton: Skeleton, roles: Roles, pose: Pose, side: str, close: float, spread: float) -> Pose:
    """Return a pose (J) with the fingers of a hand closed (0 as at rest, 1 a fist) and spread (-1 to 1, 0 as at rest).

    Raises CoreError if there is no hand, or it has no fingers.
    """
    chains = require_fingers(roles, side)
    hinges = finger_hinges(skeleton, roles)
    rotations = np.array(pose.rotations)
    for finger, chain in chains.items():
        angles = close * np.radians(THUMB if finger == "thumb" else FIST)
        for joint, bone in enumerate(chain):
            hinge, aside = hinges[bone]
            rotations[bone] = rotation.exp(float(angles[min(joint, len(angles) - 1)]) * hinge)
            if joint == 0:
                sideways = rotation.exp(float(np.radians(SPREAD[finger])) * spread * aside)
                rotations[bone] = rotation.mul(sideways, rotations[bone])
    return replace(pose, rotations=rotations)


def finger_hinges(skeleton: Skeleton, roles: Roles) -> Hinges:
    """Return bone of a finger -> two unit axes (3,) in its frame at rest.

    Rotation about the first closes the finger or thumb; rotation about the second moves it to the thumb's side.
    """
    heads = skeleton.rest_matrices[:, :, 3]
    found: Hinges = {}
    for side in SIDES:
        chains = finger_chains(roles, side)
        if not chains or roles.bone(f"hand.{side}") < 0:
            continue
        hand, palm, out, _ = find_palm(skeleton, roles, side)
        turn = rest_turn(skeleton, hand)
        palm, out = rotation.rotate(turn, palm), rotation.rotate(turn, out)
        knuckles = roles.knuckles(side) or [chains["thumb"][-1]]
        reach = float(rotation.lengths(heads[knuckles].mean(axis=0) - heads[hand]))
        under = heads[hand] + reach * (0.5 * out + 0.25 * palm)
        aside = palm * float(mirror_direction((1.0, 0.0, 0.0), side)[0])
        for finger, chain in chains.items():
            along = heads[chain[-1]] - heads[chain[0]]
            along = along if along.any() else out
            # a finger bends towards the palm, the thumb towards a point below the palm
            inward = under - heads[chain[-1]] if finger == "thumb" else palm
            hinge = unit(np.cross(along, inward))
            for bone in chain:
                back = rotation.inv(rest_turn(skeleton, bone))
                found[bone] = rotation.rotate(back, hinge), rotation.rotate(back, aside)
    return found


def finger_limits(skeleton: Skeleton, roles: Roles, hinges: Hinges) -> tuple[Framed, ...]:
    """Return limits of the fingers' joints about their hinges, of bones without limits of their own."""
    limited = {bone for group in skeleton.limits for bone in group.bones.tolist()}
    ranges: dict[int, Array] = {}
    for finger, chain in (pair for side in SIDES for pair in finger_chains(roles, side).items()):
        closes = np.radians(THUMB_CLOSES if finger == "thumb" else CLOSES)
        for joint, bone in enumerate(chain):
            if bone in hinges and bone not in limited and skeleton.inherit_rotation[bone]:
                ranges[bone] = closes[min(joint, len(closes) - 1)] - bent_at_rest(skeleton, hinges, chain, joint)
    if not ranges:
        return ()
    lower, upper = (np.full((len(ranges), 3), np.radians(sign * ASIDE)) for sign in (-1.0, 1.0))
    lower[:, 0], upper[:, 0] = np.array(list(ranges.values())).T
    still = np.tile(rotation.IDENTITY, (len(ranges), 1))
    axes = rotation.shortest(np.eye(3)[:1], [hinges[bone][0] for bone in ranges])
    # the rest pose is always within the limits
    box = EulerBox(list(ranges), ["YZX"] * len(ranges), np.minimum(lower, 0.0), np.maximum(upper, 0.0))
    return (framed(box, axes, still),)


def bent_at_rest(skeleton: Skeleton, hinges: Hinges, chain: tuple[int, ...], joint: int) -> float:
    """Return the angle, radians, by which a finger's joint is closed at rest; 0 for the knuckle and the last joint."""
    if not 0 < joint < len(chain) - 1:
        return 0.0
    before, here, after = skeleton.rest_matrices[list(chain[joint - 1 : joint + 2]), :, 3]
    hinge = rotation.rotate(rest_turn(skeleton, chain[joint]), hinges[chain[joint]][0])
    return float(np.arctan2(np.cross(here - before, after - here) @ hinge, (here - before) @ (after - here)))


def finger_chains(roles: Roles, side: str) -> dict[str, tuple[int, ...]]:
    """Return finger -> its bones from the knuckle on, of the fingers of one side."""
    return {finger: chain for finger in FINGERS if (chain := roles.chain(f"{finger}.{side}"))}


def require_fingers(roles: Roles, side: str) -> dict[str, tuple[int, ...]]:
    """Return the same; raises CoreError if there is no hand, or it has no fingers."""
    hand, chains = f"hand.{side}", finger_chains(roles, side)
    roles.require(hand)
    if not chains:
        raise CoreError(f"No fingers of {hand} were found. Assign their bones.")
    return chains


def find_knuckles(roles: Roles) -> set[int]:
    """Return the first bones of all fingers."""
    return {chain[0] for side in SIDES for chain in finger_chains(roles, side).values()}
