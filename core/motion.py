"""Motions: poses with frame numbers and a frame rate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from .errors import CoreError
from .pose import Pose, PoseBuffer, forward_matrices, frame_rotations
from .rotation import Array
from .skeleton import Skeleton, frozen

BLOCK: Final = 1024  # frames that are computed together, to limit memory


@dataclass(frozen=True, eq=False)
class Motion:
    """F poses (batch shape (F,)) at increasing frame numbers `frames` (F,), `fps` frames per second.

    Raises CoreError if the shapes differ, the frames do not increase, or the rate is not positive.
    """

    pose: Pose
    frames: Array
    fps: float

    def __post_init__(self) -> None:
        frames = frozen(self.frames, float)
        object.__setattr__(self, "frames", frames)
        if frames.ndim != 1 or self.pose.batch_shape != frames.shape:
            raise CoreError(f"The motion has {frames.shape} frames, but poses of {self.pose.batch_shape}.")
        if not np.isfinite(frames).all() or np.any(np.diff(frames) <= 0.0):
            raise CoreError("The frames of a motion must increase.")
        if not self.fps > 0.0:
            raise CoreError(f"A motion needs a positive frame rate, not {self.fps}.")

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, part: slice | NDArray[np.integer[Any]] | NDArray[np.bool_]) -> Self:
        """Return the motion of some of the frames, counted from 0."""
        return replace(self, pose=self.pose[part], frames=self.frames[part])


def matrices_of(skeleton: Skeleton, pose: Pose, bones: Sequence[int]) -> Array:
    """Return the frames (..., k, 3, 4) of some bones in poses (...), as `forward_matrices`, but in little memory."""
    flat = pose.reshape((-1,)) if len(pose.batch_shape) != 1 else pose
    found = np.empty((len(flat.rotations), len(bones), 3, 4))
    for part in blocks(len(found)):
        found[part] = forward_matrices(skeleton, flat[part])[:, list(bones)]
    return found.reshape(*pose.batch_shape, len(bones), 3, 4)


def forward_of(skeleton: Skeleton, pose: Pose, bones: Sequence[int]) -> tuple[Array, Array]:
    """Return heads (..., k, 3) and frames (..., k, 4) of some bones in poses (...), as `forward`, in little memory."""
    matrices = matrices_of(skeleton, pose, bones)
    return matrices[..., 3], frame_rotations(matrices[..., :3])


def shifted(skeleton: Skeleton, pose: Pose, bone: int, step: Array) -> Pose:
    """Return the poses (...) with a bone's head moved by `step` (..., 3), in armature space, by its location."""
    parent = int(skeleton.parents[bone])
    base = np.eye(3) if parent < 0 else matrices_of(skeleton, pose, [parent])[..., 0, :, :3]
    if skeleton.local_location[bone]:
        base = base @ skeleton.rest_bases[bone]
    translations = np.array(pose.translations)
    translations[..., bone, :] += np.linalg.solve(base, step[..., None])[..., 0]
    return Pose.trusted(pose.rotations, translations, pose.scales, pose.driven_matrices)


def in_blocks(count: int, make: Callable[[slice], Pose]) -> Pose:
    """Return `count` poses that are made a block of frames after the other, to limit memory."""
    first, *others = blocks(count)
    pose = make(first)
    buffer = PoseBuffer(count, pose.rotations.shape[-2])
    buffer.put(first, pose)
    for part in others:
        buffer.put(part, make(part))
    return buffer.pose()


def blocks(count: int) -> list[slice]:
    """Return slices of at most BLOCK frames that cover `count` frames; at least one slice, which may be empty."""
    return [slice(first, min(first + BLOCK, count)) for first in range(0, max(count, 1), BLOCK)]
