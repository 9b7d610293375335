"""Loops: motions that end as they begin, so that they can be repeated.

From one cycle to the next the body travels over the ground, and turns if asked. What else differs between the last
frame and the first, in pose and in velocity, is shared between both ends and fades away from them (Holden, "Creating
Looping Animations from Motion Capture", 2022, *inertialize both*; its offsets are cubic here).
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import rotation
from ..errors import CoreError
from ..motion import Motion, in_blocks
from ..pose import Pose, forward, forward_matrices
from ..rotation import Array
from ..skeleton import Indices, Skeleton
from .contacts import UP
from .root_motion import find_travel, moved, placed_at

SHORTEST, LONGEST = 0.3, 10.0  # seconds of a cycle that is looked for
ALIKE: Final = 0.3  # of the mean squared distance of frames that are less far apart, where a cycle may end
ABOUT: Final = 1.15  # ratio of the lengths of cycles of one motion


@dataclass(frozen=True, eq=False)
class Loop:
    """A motion that repeats: each cycle is the one before it moved by `travel` (4, 4) in armature space.

    body  the bones that travel; the others hang on them or stay where they are
    """

    motion: Motion
    travel: Array
    body: Indices

    def shifted(self, skeleton: Skeleton, pose: Pose, cycles: int) -> Pose:
        """Return poses (F) of the motion as they are some cycles later."""
        by = np.linalg.matrix_power(self.travel, cycles)

        def later(part: slice) -> Pose:
            there = forward_matrices(skeleton, pose[part])
            there[:, self.body] = moved(by, there[:, self.body])  # what they hang on stays
            return placed_at(skeleton, pose[part], there, self.body)

        pose = in_blocks(len(pose.rotations), later)
        return pose if pose.driven_matrices is None else replace(pose, driven_matrices=moved(by, pose.driven_matrices))

    def closed(self, skeleton: Skeleton, motion: Motion) -> "Loop":
        """Return the loop with another motion, whose last frame becomes the first one a cycle later."""
        last = self.shifted(skeleton, motion.pose[:1], 1)
        return replace(self, motion=replace(motion, pose=_joined(motion.pose[:-1], last)))

    def three(self, skeleton: Skeleton) -> Motion:
        """Return three cycles, the middle one at the frames of the motion; seams count once: 3 F - 2 frames."""
        pose, frames = self.motion.pose, self.motion.frames
        before, after = self.shifted(skeleton, pose[:-1], -1), self.shifted(skeleton, pose[1:], 1)
        length = frames[-1] - frames[0]
        return Motion(
            _joined(before, pose, after),
            np.concatenate([frames[:-1] - length, frames, frames[1:] + length]),
            self.motion.fps,
        )


def make_loop(
    skeleton: Skeleton, motion: Motion, hips: int, fade: float, up: ArrayLike = UP, turning: bool = False,
    rise: float = 0.0,
) -> Loop:  # fmt: skip
    """Return the motion with its ends closed to a loop; the travel is that of `hips` over the ground normal to `up`.

    fade     frames over which the change of either end fades; at most as many as the motion has
    turning  whether the travel has the turn of the hips about `up`, too
    rise     how much higher the ground is at the end

    Raises CoreError for motions of less than three frames, and for a body that cannot be moved.
    """
    if len(motion) < 3:
        raise CoreError("A loop needs at least three frames.")
    travel = find_travel(skeleton, motion, hips, up, 0.0, None, turning).matrices[-1]
    travel[:3, 3] += rise * np.asarray(up, float) / np.linalg.norm(up)
    going = _going(forward(skeleton, motion.pose)[0], travel, hips)
    going &= skeleton.translatable.all(axis=1) | skeleton.driven  # others swing with their parents, as legs on the spot
    body = [bone for bone in np.flatnonzero(going).tolist() if not going[skeleton.ancestors(bone)[1:]].any()]
    loop = Loop(motion, travel, np.array(body, int))
    frames, pose, back = motion.frames, motion.pose, loop.shifted(skeleton, motion.pose, -1)
    length = min(fade, frames[-1] - frames[0])
    gap = _difference(pose[0], back[-1])
    jump = np.gradient(_difference(pose[:3], pose[0]), frames[:3], axis=0, edge_order=2)[0]
    jump -= np.gradient(_difference(back[-3:], back[-1]), frames[-3:], axis=0, edge_order=2)[-1]
    pose = _changed(pose, -_faded(frames - frames[0], length, gap, jump))
    back = loop.shifted(skeleton, pose, -1)
    pose = loop.shifted(skeleton, _changed(back, _faded(frames[-1] - frames, length, gap, -jump)), 1)
    return loop.closed(skeleton, replace(motion, pose=pose))


def _going(heads: Array, travel: Array, hips: int) -> NDArray[np.bool_]:
    """Return which bones (J,) go along with the travel (4, 4): half as far, at some time, as it takes the hips.

    A root bone above hips that are keyed themselves stays, and so do helpers beside them. heads (F, J, 3)
    """
    start = heads[0, hips]
    way = rotation.lengths(travel[:3, :3] @ start + travel[:3, 3] - start)
    return rotation.lengths(heads - heads[0]).max(axis=0) > 0.5 * way


def _faded(distance: Array, length: float, value: Array, slope: Array) -> Array:
    """Return half of a change (F, J, 9) at distances (F,) from an end, with half of its slope, gone at a length."""
    share = np.clip(distance / length, 0.0, 1.0)[:, None, None]
    left = np.square(1.0 - share)
    return 0.5 * left * ((1.0 + 2.0 * share) * value + share * length * slope)


def _difference(one: Pose, other: Pose) -> Array:
    """Return the difference of poses (..., J, 9): rotation vectors, translations, scales."""
    turns = rotation.log(rotation.mul(one.rotations, rotation.inv(other.rotations)))
    scales = np.zeros_like(turns) if one.scales is None or other.scales is None else one.scales - other.scales
    return np.concatenate([turns, one.translations - other.translations, scales], axis=-1)


def _changed(pose: Pose, change: Array) -> Pose:
    """Return the poses that differ by `change` (..., J, 9) from others, see `_difference`."""
    return replace(
        pose,
        rotations=rotation.mul(rotation.exp(change[..., :3]), pose.rotations),
        translations=pose.translations + change[..., 3:6],
        scales=None if pose.scales is None else pose.scales + change[..., 6:],
    )


def _joined(*poses: Pose) -> Pose:
    """Return poses one after the other."""
    parts: Any = ([getattr(pose, name) for pose in poses] for name in Pose.__dataclass_fields__)
    return Pose(*(None if part[0] is None else np.concatenate(part) for part in parts))  # pyright: ignore


def find_cycle(
    skeleton: Skeleton, motion: Motion, hips: int, up: ArrayLike = UP, shortest: float = SHORTEST
) -> tuple[int, int]:
    """Return the indices of the first and the last frame of the cycle that is closed with the least change.

    Frames are compared by where the heads of all bones are beside the travelling hips, and by how they move. How long a
    cycle is, at most `LONGEST`, is found as the pitch of a voice is (de Cheveigné and Kawahara, "YIN", JASA 111 (4),
    2002). `shortest` in seconds. Raises CoreError where nothing repeats.
    """
    travel = find_travel(skeleton, motion, hips, up, smooth=0.0).matrices
    back, heads = np.linalg.inv(travel), forward(skeleton, motion.pose)[0]
    heads = heads[:, _going(heads, travel[-1], hips)]
    places = heads @ back[:, :3, :3].swapaxes(1, 2) + back[:, None, :3, 3]
    speeds = np.gradient(places, motion.frames / motion.fps, axis=0)
    seen = np.concatenate([places, shortest * speeds], axis=1).reshape(len(motion), -1)

    def apart(lag: int) -> Array:
        """Return how unlike frames are that are `lag` apart (F - lag,)."""
        return np.square(seen[lag:] - seen[: len(seen) - lag]).sum(axis=1)

    least = int(np.ceil(shortest * motion.fps))
    most = min(len(seen) // 2, int(LONGEST * motion.fps) + 1)
    usual = np.array([np.median(apart(lag)) for lag in range(most)])  # a first frame may be a rest pose
    mean = np.cumsum(usual) / np.maximum(np.arange(len(usual)), 1)
    unlike = usual / np.where(mean > 0.0, mean, 1.0)
    alike = np.flatnonzero(unlike[least:] < ALIKE) + least
    if not len(alike):
        raise CoreError("No cycle was found in this range. Set Start and End to one cycle, or turn off Find Cycle.")
    cycle = alike[0] + np.argmax(np.append(np.diff(unlike[alike[0] :]) >= 0.0, True))  # where it no longer falls
    lags = range(max(least, int(cycle / ABOUT)), min(int(cycle * ABOUT), len(seen) - 1) + 1)
    gaps = [(float(apart(lag).min()), lag) for lag in lags]
    lag = min(gaps)[1]
    first = int(np.argmin(apart(lag)))
    return first, first + lag
