"""Head and eyes that look at a place."""

from dataclasses import replace
from typing import Final

import numpy as np

from .. import rotation
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .body import unit
from .corrections import require
from .posture import rest_turn
from .roles import Roles
from .stance import axis_vector, heading_frame

HEAD: Final = np.radians((80.0, 60.0))  # how far neck and head go to the side and up or down
EYES: Final = np.radians((35.0, 25.0))
_ROUNDS: Final = 8  # the head moves as the neck turns
_EYE_NAME: Final = ("eye", "眼", "目")
_NO_EYE: Final = ("brow", "lid", "lash", "target", "ik", "look", "ctrl", "master", "pole", "corner", "socket")


def look_at(skeleton: Skeleton, roles: Roles, pose: Pose, target: Array, head: float = 1.0, eyes: float = 1.0) -> Pose:
    """One pose (J) that looks at `target` (3,) in armature space: neck and head, upright on the shoulders, then eyes.

    `head` and `eyes` are the shares, 0 to 1, of the way that each goes, within what a neck and eyes can.
    Raises CoreError if there is no head.
    """
    last = require(skeleton, roles, "head")[0]
    axes = anatomy(skeleton, roles).axes
    chain = [*(bone for bone in roles.chain("neck") if bone in skeleton.ancestors(last)), last]
    pupils = find_eyes(skeleton, roles)
    rotations = np.array(pose.rotations)
    if head > 0.0:
        start = rotations[chain].copy()
        for _ in range(_ROUNDS):
            heads, turns = forward(skeleton, replace(pose, rotations=rotations))
            base = rotation.mul(turns[chain[0]], rotation.inv(rotations[chain[0]]))  # before the neck turns
            place = heads[pupils or [last]].mean(axis=0)
            turn = _towards(rotation.mul(base, axes[chain[0]]), target - place, HEAD)
            share = rotation.log(turn) / len(chain)
            wanted = rotation.exp(rotation.rotate(axes[chain], share))
            rotations[chain] = rotation.slerp(start, wanted, np.full(len(chain), head))
    if eyes > 0.0 and pupils:
        heads, turns = forward(skeleton, replace(pose, rotations=rotations))
        for eye in pupils:
            base = rotation.mul(turns[eye], rotation.inv(rotations[eye]))
            axis = rotation.mul(rotation.inv(rest_turn(skeleton, eye)), heading_frame(roles.up, roles.facing))
            turn = _towards(rotation.mul(base, axis), target - heads[eye], EYES)
            wanted = rotation.mul(axis, rotation.mul(turn, rotation.inv(axis)))
            rotations[eye] = rotation.slerp(rotations[eye], wanted, eyes)
    return replace(pose, rotations=rotations)


def find_eyes(skeleton: Skeleton, roles: Roles) -> list[int]:
    """Eyeballs: bones on the head that are called eyes; of several on a side the one nearest the root."""
    head = require(skeleton, roles, "head")[0]
    left = np.cross(axis_vector(roles.up), axis_vector(roles.facing))
    found: dict[bool, int] = {}
    middle = skeleton.rest_matrices[head, :, 3]
    for bone, name in enumerate(skeleton.names):
        if is_eye(name) and bone != head and head in skeleton.ancestors(bone):
            found.setdefault(bool((skeleton.rest_matrices[bone, :, 3] - middle) @ left > 0.0), bone)
    return sorted(found.values())


def is_eye(name: str) -> bool:
    """Whether a bone is called an eyeball."""
    called = name.lower()
    return any(word in called for word in _EYE_NAME) and not any(word in called for word in _NO_EYE)


def _towards(frame: Array, way: Array, most: Array) -> Array:
    """(4,) the turn, in a canonical frame (4,) of armature space, that looks along `way` (3,): aside, then up."""
    x, y, z = unit(rotation.rotate(rotation.inv(frame), way))
    aside = np.clip(np.arctan2(x, z), -most[0], most[0])
    above = np.clip(np.arctan2(y, np.hypot(x, z)), -most[1], most[1])
    yaw, pitch = rotation.exp(np.array([[0.0, aside, 0.0], [-above, 0.0, 0.0]]))
    return rotation.mul(yaw, pitch)
