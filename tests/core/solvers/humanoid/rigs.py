"""Goals and measures for the tests of the humanoid method."""

import numpy as np

from core import Goal, Humanoid, Pose, Skeleton, forward, rotation

MILLIMETRE = 1e-3
ENDS = ("foot.L", "foot.R", "hand.L", "hand.R", "head", "hips")
ALONE = Humanoid(finish=False)


def place(skeleton: Skeleton, pose: Pose, bone: str) -> np.ndarray:
    return forward(skeleton, pose)[0][..., skeleton.index(bone), :]


def six_points(skeleton: Skeleton, pose: Pose, ends: tuple[str, ...] = ENDS) -> list[Goal]:
    heads, turns = forward(skeleton, pose)
    return [Goal(bone, heads[..., i, :], turns[..., i, :]) for bone in ends for i in [skeleton.index(bone)]]


def turned(pose: Pose, other: Pose) -> np.ndarray:
    """(..., J) degrees."""
    return np.degrees(rotation.angle_between(pose.rotations, other.rotations))


def units(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
