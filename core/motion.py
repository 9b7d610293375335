"""Motions: poses with frame numbers and a frame rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .errors import CoreError
from .pose import Pose, forward
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


def forward_of(skeleton: Skeleton, pose: Pose, bones: Sequence[int]) -> tuple[Array, Array]:
    """Return heads (F, k, 3) and frames (F, k, 4) of some bones in poses (F), as `forward`, but in little memory."""
    heads, frames = np.empty((len(pose.rotations), len(bones), 3)), np.empty((len(pose.rotations), len(bones), 4))
    for part in blocks(len(heads)):
        places, turns = forward(skeleton, pose[part])
        heads[part], frames[part] = places[:, list(bones)], turns[:, list(bones)]
    return heads, frames


def blocks(count: int) -> list[slice]:
    """Return slices of at most BLOCK frames that cover `count` frames; at least one slice, which may be empty."""
    return [slice(first, min(first + BLOCK, count)) for first in range(0, max(count, 1), BLOCK)]
