"""What one body does with its joints, learnt from its own motion, in place of what is known of all people.

A joint's usual turn is the median of its turns from the canonical T-pose, found where the median of the rotation
vectors about it is zero; its deviations are how far it strays from there about each anatomical axis. Both sides are
one joint: what the left arm does, mirrored, the right one may do as well. It is their shares that are learnt: all
deviations together are as large as those of people, so that a calm motion makes no body that its root must carry
about. A motion that shows few poses counts for less; the rest is what is known of people.
"""

from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import Tuning, anatomy
from .axes import MIRROR_QUATERNION
from .detection import find_roles
from .mirror import counterparts
from .roles import Roles

_ROUNDS: Final = 20  # of the median, at most
_FOUND: Final = float(np.radians(0.01))  # a median that moves by less is there
_FARTHEST: Final = 4.0 * 1.4826  # median distances from the median (as many as 4 standard deviations of a Gaussian)
_SLACK: Final = float(np.radians(1.0))  # beyond which a turn counts as if it were there: an outlier, a glitch
_LEAST: Final = float(np.radians(3.0))  # a joint that hardly turns in one motion may do so in the next
_STILL: Final = float(np.radians(0.01))  # a bone that strays by less was not moved: nothing is known of it
_ENOUGH: Final = 20.0  # different poses of which the motion says as much as what is known of people


def turns_of(skeleton: Skeleton, roles: Roles, pose: Pose) -> Array:
    """(..., J, 4) how far the bones of poses are turned from the canonical T-pose, about its axes."""
    known = anatomy(skeleton, roles)
    own = rotation.mul(rotation.inv(known.canonical), pose.rotations)
    return rotation.mul(rotation.inv(known.axes), rotation.mul(own, known.axes))


def learn_tuning(skeleton: Skeleton, roles: Roles | None, turns: Array) -> Tuning:
    """The tuning of a skeleton by the `turns_of` its bones in F frames (F, J, 4).

    Of all bones that hang on others and turn in the motion, but driven ones, the hips and what carries them: where a
    body is and looks is no habit of its joints. Raises CoreError where no frames are.
    """
    if not len(turns):
        raise CoreError("There are no frames to learn from.")
    roles = find_roles(skeleton) if roles is None else roles
    known, partners = anatomy(skeleton, roles), counterparts(skeleton, roles)
    usual = turns_of(skeleton, roles, known.reference)
    middles, deviations = usual.copy(), np.array(known.deviations)
    carrying = {bone for hips in roles.chain("hips") for bone in skeleton.ancestors(hips)}
    hanging = np.flatnonzero((skeleton.parents >= 0) & ~skeleton.driven)
    free = [bone for bone in hanging.tolist() if bone not in carrying]
    moved = [bone for bone in free if rotation.angle_between(turns[:1, bone], turns[:, bone]).max() > _STILL]
    told = np.zeros(len(skeleton), bool)
    for bone in moved:
        told[[bone, partners[bone]] if partners[bone] >= 0 else bone] = True
    told &= np.isin(np.arange(len(skeleton)), free)
    for bone in np.flatnonzero(told).tolist():
        own = [turns[:, bone]] if bone in moved else []
        if partners[bone] in moved:
            own.append(turns[:, partners[bone]] * MIRROR_QUATERNION)
        middles[bone], deviations[bone] = _spread(np.concatenate(own), usual[bone])
    share = _share(turns[:, moved], deviations[moved])
    middles = rotation.slerp(usual, middles, share)
    scale = np.exp(np.mean(np.log(known.deviations[told] / deviations[told]))) if told.any() else 1.0
    deviations = known.deviations ** (1.0 - share) * (scale * deviations) ** share
    return Tuning(told, middles, deviations, share)


def _spread(turns: Array, start: Array) -> tuple[Array, Array]:
    """The median (4,) of turns (F, 4), looked for from `start`, and the deviations (3,) from it about each axis."""
    middle, logs = start, np.zeros((len(turns), 3))
    for _ in range(_ROUNDS):
        logs = rotation.log(rotation.mul(rotation.inv(middle), turns))
        step = np.median(logs, axis=0)
        middle = rotation.mul(middle, rotation.exp(step))
        if np.abs(step).max() < _FOUND:
            break
    farthest = _FARTHEST * np.median(np.abs(logs), axis=0) + _SLACK
    return middle, np.maximum(np.sqrt(np.mean(np.clip(logs, -farthest, farthest) ** 2, axis=0)), _LEAST)


def _share(turns: Array, deviations: Array) -> float:
    """What the motion counts for: how often its turns (F, k, 4) go as far as any two poses of it are apart."""
    steps = rotation.angle_between(turns[:-1], turns[1:])
    apart = np.sqrt(2.0 * np.sum(deviations**2))
    poses = 1.0 + min(np.sqrt(np.sum(steps**2, axis=1)).sum() / apart, len(turns) - 1.0) if apart else 1.0
    return float(poses / (poses + _ENOUGH))
