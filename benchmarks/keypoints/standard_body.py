"""The standard body of an adult of 1.7 m: where its parts and landmarks are. The networks are trained on it.

The proportions are the means of the skeletons of the training set; face, hand and foot are set by hand.
"""

from typing import Final

import numpy as np

from core.body.axes import MIRROR_VECTOR
from core.keypoints.body import PART, PARTS, sided
from core.rotation import Array

PARENTS: Final = {
    "hips": "", "chest": "hips", "neck": "chest", "head": "neck", "shoulder": "chest", "upper_arm": "shoulder",
    "forearm": "upper_arm", "hand": "forearm", "thigh": "hips", "shin": "thigh", "foot": "shin",
}  # fmt: skip
PART_SWAP: Final = np.array([PART[name[:-1] + {"L": "R", "R": "L"}.get(name[-1], name[-1])] for name in PARTS])

# Origins of parts, and positions of landmarks, each in the frame of a part: metres, left side.
ORIGINS: Final[dict[str, tuple[str, tuple[float, float, float]]]] = {
    "chest": ("hips", (0.0, 0.22, 0.0)),
    "neck": ("chest", (0.0, 0.25, 0.0)),
    "head": ("neck", (0.0, 0.10, 0.0)),
    "shoulder": ("chest", (0.02, 0.20, 0.0)),
    "upper_arm": ("shoulder", (0.16, 0.03, 0.0)),
    "forearm": ("upper_arm", (0.28, 0.0, 0.0)),
    "hand": ("forearm", (0.23, 0.0, 0.0)),
    "thigh": ("hips", (0.09, 0.0, 0.0)),
    "shin": ("thigh", (0.0, -0.41, 0.0)),
    "foot": ("shin", (0.0, -0.42, 0.0)),
}
OFFSETS: Final[dict[str, tuple[str, tuple[float, float, float]]]] = {
    "pelvis": ("hips", (0.0, 0.0, 0.0)),
    "neck": ("chest", (0.0, 0.23, 0.0)),
    "crown": ("head", (0.0, 0.18, 0.0)),
    "nose": ("head", (0.0, 0.06, 0.11)),
    "ear": ("head", (0.075, 0.06, 0.01)),
    "shoulder": ("upper_arm", (0.0, 0.0, 0.0)),
    "elbow": ("forearm", (0.0, 0.0, 0.0)),
    "wrist": ("hand", (0.0, 0.0, 0.0)),
    "index": ("hand", (0.09, 0.0, 0.035)),
    "pinky": ("hand", (0.09, 0.0, -0.035)),
    "knuckle": ("hand", (0.09, 0.0, 0.0)),
    "hip": ("thigh", (0.0, 0.0, 0.0)),
    "knee": ("shin", (0.0, 0.0, 0.0)),
    "ankle": ("foot", (0.0, 0.0, 0.0)),
    "heel": ("foot", (0.0, -0.07, -0.05)),
    "ball": ("foot", (0.0, -0.07, 0.14)),
}


def parent_of(part: str) -> str:
    """Return the parent of a part; "" for the hips."""
    name, _, side = part.partition(".")
    return sided(PARENTS[name], side)


def offset_of(name: str, table: dict[str, tuple[str, tuple[float, float, float]]]) -> tuple[str, Array]:
    """Return the part that an entry of `ORIGINS` or `OFFSETS` belongs to, and the position (3,) in its frame."""
    base, _, side = name.partition(".")
    part, offset = table[base]
    return sided(part, side), np.array(offset) * (MIRROR_VECTOR if side == "R" else 1.0)
