"""Key poses that any human body can take: angles of its joints, standing on the ground it stands on at rest."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import posed
from ..body.axes import axis_vector
from ..editing.contacts import foot_points, point_positions
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .recipe import shift_roots

_LEG: Final = ("thigh", "shin", "foot")


def key_pose(skeleton: Skeleton, roles: Roles, angles: Mapping[str, Sequence[float]]) -> Pose:
    """The relaxed pose with other angles (see `posed`), raised or lowered so that its feet are on the ground.

    Raises CoreError for a body that is no human's.
    """
    pose = posed(skeleton, roles, angles)
    points = foot_points(skeleton, roles)
    if not points:
        return pose
    up = axis_vector(roles.up)
    rest, now = (point_positions(skeleton, one, points) @ up for one in (Pose.rest(skeleton), pose))
    return shift_roots(skeleton, pose, (rest.min() - now.min()) * up)


def body_axes(roles: Roles) -> Array:
    """(3, 3) rows: the character's left, forward and up in armature space."""
    up, forward = axis_vector(roles.up), axis_vector(roles.facing)
    return np.stack([np.cross(up, forward), forward, up])


def leg_length(skeleton: Skeleton, roles: Roles) -> float:
    """From the hip down to the ankle along the bones at rest, the mean of both legs; the skeleton's size without."""
    heads = skeleton.rest_matrices[:, :, 3]
    lengths: list[float] = []
    for side in SIDES:
        joints = [roles.bone(f"{part}.{side}") for part in _LEG]
        if min(joints) >= 0:
            lengths.append(float(rotation.lengths(np.diff(heads[joints], axis=0)).sum()))
    return float(np.mean(lengths)) if lengths else skeleton.size
