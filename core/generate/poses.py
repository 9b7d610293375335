"""Key poses of a human body from joint angles."""

from collections.abc import Mapping, Sequence

from ..body import Roles
from ..body.anatomy import pose_from_angles
from ..body.axes import axis_vector
from ..editing.contacts import foot_points, point_positions
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
    return shift_roots(skeleton, pose, (rest.min() - now.min()) * up)
