"""Key poses of a human body from joint angles, and measures of the body that generated motions use."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import pose_from_angles
from ..body.axes import axis_vector, left_vector
from ..editing.contacts import foot_points, point_positions
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton
from .recipe import shift_roots

_LEG: Final = ("thigh", "shin", "foot")


def key_pose(skeleton: Skeleton, roles: Roles, angles: Mapping[str, Sequence[float]]) -> Pose:
    """Return the relaxed pose with these angles (see `pose_from_angles`), its feet on the ground of the rest pose.

    Raises CoreError if the body is not human.
    """
    pose = pose_from_angles(skeleton, roles, angles)
    points = foot_points(skeleton, roles)
    if not points:
        return pose
    up = axis_vector(roles.up)
    rest, now = (point_positions(skeleton, one, points) @ up for one in (Pose.rest(skeleton), pose))
    return shift_roots(skeleton, pose, (rest.min() - now.min()) * up)


def body_axes(roles: Roles) -> Array:
    """Return unit vectors (3, 3) to the left, front and top of the body in armature space, as rows."""
    return np.stack([left_vector(roles.up, roles.facing), axis_vector(roles.facing), axis_vector(roles.up)])


def leg_length(skeleton: Skeleton, roles: Roles) -> float:
    """Return the rest length from hip to ankle, the mean of both legs; the skeleton's size for bodies without legs."""
    heads = skeleton.rest_matrices[:, :, 3]
    legs = [[roles.bone(f"{part}.{side}") for part in _LEG] for side in SIDES]
    lengths = [rotation.lengths(np.diff(heads[joints], axis=0)).sum() for joints in legs if min(joints) >= 0]
    return float(np.mean(lengths)) if lengths else skeleton.size
