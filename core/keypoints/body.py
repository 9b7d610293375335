"""The canonical body that keypoints are converted to: the names of its landmarks and parts.

Metres, Y up, facing +Z, the subject's left towards +X. The rotation of a part is that of its frame in the world; all
are the identity in a T-pose with palms down: arms along X, legs along -Y, feet flat. Elbows and knees are hinges, the
elbows about -Y on the left and +Y on the right, the knees about +X, each in the frame of the upper arm or thigh.
"""

from typing import Final

import numpy as np

from ..body import SIDES
from ..body.roles import FINGERS, opposite_role

SIDE_LANDMARKS: Final = (
    "ear", "shoulder", "elbow", "wrist", "index", "pinky", "knuckle", "hip", "knee", "ankle", "heel", "ball",
)  # fmt: skip
LANDMARKS: Final = (
    "pelvis", "neck", "crown", "nose", *(f"{landmark}.{side}" for side in SIDES for landmark in SIDE_LANDMARKS)
)  # fmt: skip
LANDMARK: Final = {name: number for number, name in enumerate(LANDMARKS)}
# The 21 points of a hand, outwards; trackers that see hands have those of both sides after the landmarks of the body.
HAND_POINTS: Final = ("hand", *(f"{finger}_{joint}" for finger in FINGERS for joint in (
    ("cmc", "mcp", "ip", "tip") if finger == "thumb" else ("mcp", "pip", "dip", "tip")
)))  # fmt: skip
HAND_LANDMARKS: Final = tuple(f"{point}.{side}" for side in SIDES for point in HAND_POINTS)
ALL_LANDMARKS: Final = (*LANDMARKS, *HAND_LANDMARKS)
KNUCKLES: Final = {f"{finger}.{side}": f"{finger}_mcp.{side}" for finger in ("index", "pinky") for side in SIDES}
# of left and right, of all landmarks
LANDMARK_SWAP: Final = np.array([ALL_LANDMARKS.index(opposite_role(name)) for name in ALL_LANDMARKS])
HIPS: Final = np.array([LANDMARK["hip.L"], LANDMARK["hip.R"]])

SIDE_PARTS: Final = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
PARTS: Final = ("hips", "chest", "neck", "head", *(f"{part}.{side}" for side in SIDES for part in SIDE_PARTS))
PART: Final = {name: number for number, name in enumerate(PARTS)}


def sided(name: str, side: str) -> str:
    """Return the full name of a part or landmark, such as "knee.L"; a name of the middle of the body stays as it is."""
    return f"{name}.{side}" if name in SIDE_LANDMARKS or name in SIDE_PARTS else name
