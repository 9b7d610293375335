"""The canonical body that keypoints are read as: its landmarks, its parts, and what is known of their lengths.

Metres, Y up, facing +Z, the figure's left towards +X. A part's rotation is that of its frame in the world; all are the
identity in a T-pose with palms down: arms along X, legs along -Y, feet flat. Elbows and knees are hinges, the elbows
about -Y on the left and +Y on the right, the knees about +X, each in the frame of the upper arm or thigh.
"""

from typing import Final

import numpy as np

from ..body import SIDES
from ..rotation import Array

MIDDLE_LANDMARKS: Final = ("pelvis", "neck", "crown", "nose")
SIDE_LANDMARKS: Final = (
    "ear", "shoulder", "elbow", "wrist", "index", "pinky", "knuckle", "hip", "knee", "ankle", "heel", "ball",
)  # fmt: skip
LANDMARKS: Final = (*MIDDLE_LANDMARKS, *(f"{landmark}.{side}" for side in SIDES for landmark in SIDE_LANDMARKS))
LANDMARK: Final = {name: number for number, name in enumerate(LANDMARKS)}

MIDDLE_PARTS: Final = ("hips", "chest", "neck", "head")
SIDE_PARTS: Final = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
PARTS: Final = (*MIDDLE_PARTS, *(f"{part}.{side}" for side in SIDES for part in SIDE_PARTS))
PART: Final = {name: number for number, name in enumerate(PARTS)}
PARENTS: Final = {
    "hips": "", "chest": "hips", "neck": "chest", "head": "neck", "shoulder": "chest", "upper_arm": "shoulder",
    "forearm": "upper_arm", "hand": "forearm", "thigh": "hips", "shin": "thigh", "foot": "shin",
}  # fmt: skip

# Where each part's origin, and each landmark, is in the frame of a part: metres of an adult of 1.7 m, left side.
# The proportions are the means of the skeletons that the network learnt from; face, hand and foot are hand-set.
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
PLACES: Final[dict[str, tuple[str, tuple[float, float, float]]]] = {
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

# Bones of standard lengths (metres): landmark -> the landmark at the start of its bone, and the length. "chest" is
# the middle of the shoulders and "face" that of the ears, neither of which is seen.
TREE: Final[dict[str, tuple[str, float]]] = {
    "hip": ("pelvis", 0.09), "knee": ("hip", 0.41), "ankle": ("knee", 0.42), "heel": ("ankle", 0.09),
    "ball": ("ankle", 0.16), "chest": ("pelvis", 0.48), "shoulder": ("chest", 0.18), "elbow": ("shoulder", 0.28),
    "wrist": ("elbow", 0.23), "index": ("wrist", 0.095), "pinky": ("wrist", 0.09), "face": ("chest", 0.19),
    "ear": ("face", 0.075), "nose": ("face", 0.10),
}  # fmt: skip

MIRROR: Final[Array] = np.array([-1.0, 1.0, 1.0])  # positions of the right side
TURNED: Final[Array] = np.array([1.0, 1.0, -1.0, -1.0])  # quaternions of the right side
PART_SWAP: Final = np.array(
    [PART[n[:-1] + {"L": "R", "R": "L"}[n[-1]] if n[-2:] in (".L", ".R") else n] for n in PARTS]
)
LANDMARK_SWAP: Final = np.array(
    [LANDMARK[n[:-1] + {"L": "R", "R": "L"}[n[-1]] if n[-2:] in (".L", ".R") else n] for n in LANDMARKS]
)


def sided(name: str, side: str) -> str:
    """A part's or landmark's full name: what has no side keeps its name."""
    return name if name in MIDDLE_PARTS or name in MIDDLE_LANDMARKS or not name else f"{name}.{side}"


def parent_of(part: str) -> str:
    """The part that carries a part; "" for the hips."""
    name, _, side = part.partition(".")
    return sided(PARENTS[name], side)


def place_of(name: str, table: dict[str, tuple[str, tuple[float, float, float]]]) -> tuple[str, Array]:
    """The part that an entry of `ORIGINS` or `PLACES` is in, and where (3,)."""
    base, _, side = name.partition(".")
    part, place = table[base]
    return sided(part, side), np.array(place) * (MIRROR if side == "R" else 1.0)
