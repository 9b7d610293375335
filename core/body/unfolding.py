"""Rest poses that show no body, as of clips whose bones all lie along one axis: a frame takes their place."""

from dataclasses import replace

import numpy as np

from .. import rotation
from ..pose import Pose, forward, with_new_rest
from ..rotation import Array
from ..skeleton import Skeleton
from .axes import canonical_frame, unit, usual_front
from .detection import find_roles
from .detection.rest_pose import is_folded
from .roles import SIDES, Roles


def unfold(skeleton: Skeleton, pose: Pose) -> tuple[Skeleton, Pose]:
    """Return a skeleton and its poses (F, J) with a rest pose that shows the body, both unchanged if theirs does.

    The rest pose is the frame in which the body is most spread, turned as a whole so that it is upright and looks to
    the usual front. The skeleton has no limits then.
    """
    if not is_folded(skeleton):
        return skeleton, pose
    heads, _ = forward(skeleton, pose)
    spread = np.square(heads - heads.mean(axis=1, keepdims=True)).sum(axis=(1, 2))
    turns = np.array(pose.rotations[int(np.argmax(spread))])
    rest = _with_rest(skeleton, turns)
    roots = skeleton.parents < 0
    own = rotation.mul(_upright(rest, find_roles(rest)), rest.rest_rotations[roots])
    turns[roots] = rotation.mul(rotation.inv(skeleton.rest_rotations[roots]), own)
    found = _with_rest(skeleton, turns)
    return found, rebased(skeleton, found, pose)


def rebased(skeleton: Skeleton, other: Skeleton, pose: Pose) -> Pose:
    """Return poses (...) on a skeleton of the same bones with other rest rotations; all frames stay where they are.

    They are the same if it is the same skeleton.
    """
    if other is skeleton:
        return pose
    turns = rotation.mul(rotation.inv(skeleton.rest_rotations), other.rest_rotations)
    return with_new_rest(skeleton, Pose(turns, np.zeros((len(skeleton), 3))), pose)


def _with_rest(skeleton: Skeleton, turns: Array) -> Skeleton:
    """Return the skeleton with the own rotations (J, 4) in its rest pose."""
    new = rotation.mul(skeleton.rest_rotations, turns)
    return replace(skeleton, rest_rotations=new, rest_bases=rotation.to_matrix(new), limits=())


def _upright(skeleton: Skeleton, roles: Roles) -> Array:
    """Return the rotation (4,) that stands a body up and lets it look to the usual front; none for other bodies."""
    pairs = [[roles.bone(f"{part}.{side}") for side in SIDES] for part in ("thigh", "upper_arm")]
    if not roles.humanoid or min(map(min, pairs)) < 0:
        return rotation.IDENTITY
    heads = skeleton.rest_matrices[:, :, 3]
    legs, arms = heads[pairs[0]], heads[pairs[1]]
    left = unit(legs[0] - legs[1] + arms[0] - arms[1])
    trunk = arms.mean(axis=0) - legs.mean(axis=0)
    up = unit(trunk - (trunk @ left) * left)
    frame = rotation.from_matrix(np.stack([left, up, np.cross(left, up)], axis=-1))
    return rotation.mul(canonical_frame(roles.up, usual_front(roles.up)), rotation.inv(frame))
