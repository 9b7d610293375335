"""Leading axes of a solve: the common ones of pose and goals, and both with one batch axis."""

from collections.abc import Sequence

import numpy as np

from ..errors import CoreError
from ..goals import AnyGoal
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Skeleton

Shape = tuple[int, ...]


def check_inputs(skeleton: Skeleton, pose: Pose, goals: Sequence[AnyGoal]) -> None:
    """Raise CoreError for an argument of another type."""
    if not isinstance(skeleton, Skeleton):  # pyright: ignore
        raise CoreError(f"The skeleton must be a Skeleton, not {skeleton!r:.40}.")
    if not isinstance(pose, Pose):  # pyright: ignore
        raise CoreError(f"The pose must be a Pose, not {pose!r:.40}.")
    if not isinstance(goals, Sequence) or not all(isinstance(goal, AnyGoal) for goal in goals):  # pyright: ignore
        raise CoreError("The goals must be in a list.")


def batch_shape_of(goals: Sequence[AnyGoal], *poses: Pose) -> Shape:
    """Return the common leading axes of goals and poses. Raises CoreError if they differ or are empty."""
    if not goals:
        raise CoreError("There are no goals to solve.")
    shapes = [pose.batch_shape for pose in poses] + [shape for goal in goals for shape in goal.batch_shapes()]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise CoreError(f"The pose and the goals have different frames: {sorted(set(shapes))}.") from error
    if not np.prod(shape, dtype=int):
        raise CoreError("There are no frames to solve.")
    return shape


def flat_array(values: Array | float, batch_shape: Shape, tail: int = 1) -> Array:
    """Return values (*batch_shape, ...) broadcast as (B, ...); the last `tail` axes are not of the batch."""
    array = np.asarray(values, float)
    rest = array.shape[array.ndim - tail :]
    return np.broadcast_to(array, (*batch_shape, *rest)).reshape(-1, *rest)


def flat_pose(pose: Pose, batch_shape: Shape) -> Pose:
    """Return the pose as B frames; a single pose is one memory for all of them."""
    parts = (pose.rotations, 2), (pose.translations, 2), (pose.scales, 2), (pose.driven_matrices, 3)
    return Pose.trusted(*(None if array is None else flat_array(array, batch_shape, tail) for array, tail in parts))  # pyright: ignore
