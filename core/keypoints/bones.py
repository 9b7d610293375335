"""Bones between landmarks, a tree from the pelvis on: their vectors, lengths and standard lengths."""

from typing import Final

import numpy as np

from ..body import SIDES
from ..rotation import Array
from .body import LANDMARKS, SIDE_LANDMARKS, sided
from .geometry import landmark_row, least, unit, used_landmarks

# Landmark -> the landmark at the start of its bone, and the standard length in metres. No tracker sees "chest", the
# midpoint of the shoulders, and "face", that of the ears.
_TREE: Final[dict[str, tuple[str, float]]] = {
    "hip": ("pelvis", 0.09), "knee": ("hip", 0.41), "ankle": ("knee", 0.42), "heel": ("ankle", 0.09),
    "ball": ("ankle", 0.16), "chest": ("pelvis", 0.48), "shoulder": ("chest", 0.18), "elbow": ("shoulder", 0.28),
    "wrist": ("elbow", 0.23), "index": ("wrist", 0.095), "pinky": ("wrist", 0.09), "face": ("chest", 0.19),
    "ear": ("face", 0.075), "nose": ("face", 0.10),
}  # fmt: skip
_MIDPOINTS: Final = {"pelvis": "hip", "chest": "shoulder", "face": "ear"}


def _row(name: str) -> Array:
    pair = _MIDPOINTS.get(name)
    return landmark_row(*(f"{pair}.{side}" for side in SIDES)) if pair else landmark_row(name)


_SIDED: Final = [
    (sided(landmark, side), sided(start, side), length)
    for landmark, (start, length) in _TREE.items()
    for side in (SIDES if landmark in SIDE_LANDMARKS else ("",))
]
BONES, STARTS, _LENGTHS = (list(column) for column in zip(*_SIDED, strict=True))  # landmarks at both ends
LENGTHS: Final[Array] = np.array(_LENGTHS)
_ROWS: Final = np.array([_row(end) - _row(start) for end, start in zip(BONES, STARTS, strict=True)])
_USED: Final = used_landmarks(_ROWS != 0.0)
_CHAINS: Final[Array] = np.eye(len(BONES))  # the bones between the pelvis and each landmark
for _bone, _start in enumerate(STARTS):
    if _start in BONES:
        _CHAINS[_bone] += _CHAINS[BONES.index(_start)]
# which landmarks (B, M) are at the ends of each bone
ENDS: Final = np.array([np.isin(LANDMARKS, ends) for ends in zip(BONES, STARTS, strict=True)], float)


def bone_vectors(landmarks: Array, weights: Array) -> tuple[Array, Array]:
    """Return vectors (..., B, 3) along the bones, zero for unseen ones, and their weights (..., B).

    landmarks (..., M, 3) have weights (..., M); those of weight 0 may be NaN. Those of hands, after them, are not used.
    """
    landmarks, weights = landmarks[..., : len(LANDMARKS), :], weights[..., : len(LANDMARKS)]
    landmarks = np.where(weights[..., None] > 0.0, landmarks, 0.0)
    bone_weights = least(weights, _USED)
    return (_ROWS @ landmarks) * (bone_weights > 0.0)[..., None], bone_weights


def bone_lengths(landmarks: Array, weights: Array) -> tuple[Array, Array]:
    """Return the lengths (..., B) of the bones, and their weights (..., B); see `bone_vectors`."""
    vectors, bone_weights = bone_vectors(landmarks, weights)
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors)), bone_weights


def normalised(landmarks: Array, weights: Array) -> Array:
    """Return the landmarks (..., B, 3), relative to the pelvis, of a body of standard lengths in the same pose.

    A landmark that is not seen is at the start of its bone.
    """
    vectors, _ = bone_vectors(landmarks, weights)
    return _CHAINS @ (unit(vectors) * LENGTHS[:, None])
