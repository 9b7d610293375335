"""How calm whole clips are that are solved frame by frame: how joints are accelerated, beside the truth."""

from collections.abc import Callable

import numpy as np

from core import Pose, forward

from .motion import Array, Frames

Method = Callable[[Frames, str, Pose | None], Pose]


def cold(frames: Frames, case: str, method: Method) -> Pose:
    """Each frame on its own."""
    return method(frames, case, None)


def warm(frames: Frames, case: str, method: Method) -> Pose:
    """Each frame from the answer of the one before."""
    found: list[Pose] = []
    for number in range(len(frames.heads)):
        found.append(method(frames[number : number + 1], case, found[-1] if found else None))
    rotations, translations = (
        np.concatenate([getattr(pose, name) for pose in found]) for name in ("rotations", "translations")
    )
    return Pose(rotations, translations)


def accelerations(frames: Frames, pose: Pose) -> tuple[float, float]:
    """Sums over the canonical joints of all frames but the ends, in metres a frame squared: solved, and in truth."""
    bones = list(frames.joints.values())
    heads, _ = forward(frames.skeleton, pose)
    return _sum(heads[:, bones]), _sum(frames.heads[:, bones])


def _sum(places: Array) -> float:
    return float(np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).sum())
