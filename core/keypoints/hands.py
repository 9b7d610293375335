"""Hands: 21 points each become rotations of the phalanges relative to the hand, and these are applied to any rig.

The rotations are those from the canonical T-pose, in which fingers are straight along the arm and the thumb is half way
to the front. A phalanx has the direction between its points. What is left, the rotation about it, is that of the
finger's hinge: the joints of a finger bend about one axis, so that every cross product of two successive directions is
along it, as is that of the back of the hand and the first phalanx. The hinge is the sum of these: each counts as far as
it tells. The thumb, whose first joint turns about all axes, has no such plane: it swings by the shortest rotation. The
same function reads the points of a person and the joints of a rig at rest.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import rotation
from ..body import SIDES, Roles
from ..body.axes import MIRROR_VECTOR
from ..body.roles import FINGERS
from ..pose import Pose, forward, frame_rotations
from ..rotation import Array, cross
from ..skeleton import Skeleton
from .body import HAND_POINTS, LANDMARKS
from .geometry import frame, swing, unit

PHALANGES: Final = 3
_WRIST, _INDEX, _PINKY = 0, HAND_POINTS.index("index_mcp"), HAND_POINTS.index("pinky_mcp")
_FINGERS: Final = np.arange(1, len(HAND_POINTS)).reshape(len(FINGERS), PHALANGES + 1)  # the points of each, outwards
# Of the left hand in the T-pose: directions of the thumb and the fingers, and of their backs, where the nails are
_AHEAD: Final = unit(np.array([[1.0, 0, 1.0], *[[1.0, 0, 0]] * 4]))
_BACKS: Final = unit(np.array([[-0.6, 0.4, 0.6], *[[0, 1.0, 0]] * 4]))
_DIRECTIONS: Final = np.stack([_AHEAD, _AHEAD * MIRROR_VECTOR])  # (2, 5, 3), left and right
_NAILS: Final = np.stack([_BACKS, _BACKS * MIRROR_VECTOR])
_HINGES: Final = cross(_NAILS, _DIRECTIONS)
# Share of the shortest swing; fingers have some for when they are straight and at right angles to the palm
_SWINGS: Final = np.array([1.0, 0.02, 0.02, 0.02, 0.02])[:, None]
_OUTWARDS: Final = np.array([1.0, -1.0])[:, None]  # along X, of left and right
_CANONICAL: Final = frame(_DIRECTIONS, _HINGES).swapaxes(-1, -2)[..., None, :, :]
_BESIDE: Final = 0.5  # cosine to the phalanx before, below which the tail of a last bone is not at its fingertip


def finger_rotations(landmarks: Array, weights: Array) -> Array | None:
    """Return the rotations (..., 2, 15, 4) of the phalanges of both hands, relative to the hand; NaN: not seen.

    landmarks (..., N, 3) with weights (..., N); None if they are those of the body alone.
    """
    if landmarks.shape[-2] == len(LANDMARKS):
        return None
    points = np.where(weights[..., None] > 0.0, landmarks, np.nan)[..., len(LANDMARKS) :, :]
    return _solve(points.reshape(*points.shape[:-2], len(SIDES), len(HAND_POINTS), 3))[1]


def hold_unseen(fingers: Array) -> Array:
    """Return rotations (F, 2, 15, 4) in which phalanges that are not seen are as seen last, or else first."""
    seen = np.isfinite(fingers[..., 0])
    frames = np.arange(len(fingers))[:, None, None]
    last = np.maximum.accumulate(np.where(seen, frames, -1), axis=0)
    rows = np.where(last < 0, np.argmax(seen, axis=0), last)
    return np.take_along_axis(fingers, rows[..., None], axis=0)


def _solve(points: Array) -> tuple[Array, Array]:
    """Return frames (..., 2, 4) of the palms and rotations (..., 2, 15, 4) of phalanges in these, of points (..., 3).

    Points (..., 2, 21, 3) that are NaN are not seen; what they tell is NaN.
    """
    wrist, index, pinky = (points[..., place, :] for place in (_WRIST, _INDEX, _PINKY))
    outwards = _OUTWARDS * unit(0.5 * (index + pinky) - wrist)
    back = unit(cross(index - pinky, outwards))
    palm = np.stack([outwards, back, cross(outwards, back)], axis=-1)
    fingers = points[..., _FINGERS, :]
    along = unit(fingers[..., 1:, :] - fingers[..., :-1, :]) @ palm[..., None, :, :]
    known = np.nan_to_num(along)
    first, second, third = (known[..., joint, :] for joint in range(PHALANGES))
    hinge = _SWINGS * swing(_HINGES, _DIRECTIONS, first) + (1.0 - _SWINGS) * (
        cross(_NAILS, first) + cross(first, second) + cross(second, third)
    )
    near = hinge - np.sum(hinge * first, axis=-1, keepdims=True) * first
    middle = swing(near, first, second)
    hinges = np.stack([near, middle, swing(middle, second, third)], axis=-2)
    turns = rotation.from_matrix(frame(known, hinges) @ _CANONICAL)
    turns = np.where(np.isfinite(along).all(axis=-1, keepdims=True), turns, np.nan)
    return rotation.from_matrix(palm), turns.reshape(*turns.shape[:-3], -1, 4)


def joint_hands(skeleton: Skeleton, roles: Roles, pose: Pose) -> Array:
    """Return the points of both hands (F, 42, 3) in armature space of poses (F), NaN for those that are not there.

    Where there is no index or little finger, the palm is as wide as the fingers that are there.
    """
    heads, turns = forward(skeleton, pose)
    rest = skeleton.rest_matrices
    result = np.full((len(heads), len(SIDES), len(HAND_POINTS), 3), np.nan)
    for number, side in enumerate(SIDES):
        hand, knuckles = roles.bone(f"hand.{side}"), roles.knuckles(side)
        if hand < 0 or len(knuckles) < 2:
            continue
        result[:, number, _WRIST] = heads[:, hand]
        result[:, number, _INDEX], result[:, number, _PINKY] = heads[:, knuckles[0]], heads[:, knuckles[-1]]
        for finger, places in zip(FINGERS, _FINGERS, strict=True):
            chain = roles.chain(f"{finger}.{side}")
            if chain:
                tip = heads[:, chain[-1]] + rotation.rotate(turns[:, chain[-1]], _tip(skeleton, chain, rest))
                joints = np.concatenate([heads[:, chain], tip[:, None]], axis=1)[:, : PHALANGES + 1]
                result[:, number, places[: joints.shape[1]]] = joints
    return result.reshape(len(heads), -1, 3)


def _tip(skeleton: Skeleton, chain: tuple[int, ...], rest: Array) -> Array:
    """Return the fingertip (3,) in the frame of the last bone: the joint after it, or its tail if that is ahead."""
    last = chain[-1]
    after = np.flatnonzero(skeleton.parents == last)
    if len(after) == 1:
        return (rest[after[0], :, 3] - rest[last, :, 3]) @ rest[last, :, :3]
    tail = np.array([0.0, skeleton.lengths[last], 0.0])
    before = (rest[last, :, 3] - rest[chain[-2] if len(chain) > 1 else skeleton.parents[last], :, 3]) @ rest[
        last, :, :3
    ]
    return tail if unit(tail) @ unit(before) > _BESIDE else before


class RigFingers:
    """The fingers of a skeleton, posed by rotations relative to the hand.

    bones  (n,) those that can be turned
    """

    def __init__(self, skeleton: Skeleton, roles: Roles) -> None:
        found = [
            (bone, roles.bone(f"hand.{side}"), PHALANGES * (len(FINGERS) * number + finger) + joint)
            for number, side in enumerate(SIDES)
            for finger, name in enumerate(FINGERS)
            for joint, bone in enumerate(roles.chain(f"{name}.{side}")[:PHALANGES])
        ]
        rest = skeleton.rest_matrices
        frames = frame_rotations(rest[:, :, :3])
        points = joint_hands(skeleton, roles, Pose.rest(skeleton)[None])[0]
        palms, turns = _solve(points.reshape(len(SIDES), -1, 3))
        turns = turns.reshape(-1, 4)
        found = [one for one in found if skeleton.movable[one[0]] and np.isfinite(turns[one[2]]).all()]
        bones, hands, places = np.array(found, int).reshape(-1, 3).T
        self.bones: NDArray[np.int64] = bones
        self._hands, self._places = hands, places
        palm = palms[places // (PHALANGES * len(FINGERS))]
        self._before = rotation.mul(rotation.inv(frames[hands]), palm)
        self._after = rotation.mul(rotation.inv(rotation.mul(palm, turns[places])), frames[bones])

    def told(self, fingers: Array | None) -> NDArray[np.int64]:
        """Return the bones that rotations (..., 2, 15, 4) tell of."""
        if fingers is None:
            return self.bones[:0]
        seen = np.isfinite(fingers[..., 0]).reshape(-1, fingers.shape[-3] * fingers.shape[-2]).any(axis=0)
        return self.bones[seen[self._places]]

    def frames(self, bones: Array, fingers: Array) -> Array:
        """Return the frames (..., n, 4) of `bones`, from those of all bones and rotations (..., 2, 15, 4)."""
        turns = fingers.reshape(*fingers.shape[:-3], -1, 4)[..., self._places, :]
        return rotation.mul(rotation.mul(rotation.mul(bones[..., self._hands, :], self._before), turns), self._after)
