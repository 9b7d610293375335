"""Key poses of a human body from joint angles, and back."""

from collections.abc import Mapping, Sequence

import numpy as np

from .. import rotation
from ..body import Roles
from ..body.anatomy import JOINTS, anatomy, carrier_of, pose_from_angles
from ..body.axes import axis_vector, mirror_rotation
from ..editing.contacts import foot_points, point_positions
from ..errors import CoreError
from ..pose import Pose
from ..skeleton import Skeleton
from .recipe import shift_roots


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
    return shift_roots(skeleton, pose, (rest.min() - now.min()) * up, carrier_of(skeleton, roles))


def angles_of(skeleton: Skeleton, roles: Roles, pose: Pose) -> dict[str, tuple[float, float, float]]:
    """Return the angles of a pose (J), degrees by role, of which `key_pose` makes it on this or another body.

    Angles of several bones of the spine, or of the neck, are added up. Raises CoreError if the body is not human.
    """
    if not roles.humanoid:
        raise CoreError("Poses by angles need a human body, and this armature has none.")
    known = anatomy(skeleton, roles)
    turns = rotation.log(rotation.mul(rotation.inv(known.canonical), pose.rotations))
    degrees = np.degrees(rotation.rotate(rotation.inv(known.axes), turns))
    found: dict[str, tuple[float, float, float]] = {}
    for role in roles.bones:
        part, _, side = role.partition(".")
        if part in JOINTS:
            x, y, z = mirror_rotation(degrees[list(roles.chain(role))].sum(axis=0), side).round(3).tolist()
            found[role] = x, y, z
    return found
