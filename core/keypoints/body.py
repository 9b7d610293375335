"""The canonical body that keypoints are converted to: the names of its landmarks and parts.

Metres, Y up, facing +Z, the subject's left towards +X. The rotation of a part is that of its frame in the world; all
are the identity in a T-pose with palms down: arms along X, legs along -Y, feet flat. Elbows and knees are hinges, the
elbows about -Y on the left and +Y on the right, the knees about +X, each in the frame of the upper arm or thigh.
"""

from typing import Final

import numpy as np

from ..body import SIDES

SIDE_LANDMARKS: Final = (
    "ear", "shoulder", "elbow", "wrist", "index", "pinky", "knuckle", "hip", "knee", "ankle", "heel", "ball",
)  # fmt: skip
LANDMARKS: Final = (
    "pelvis", "neck", "crown", "nose", *(f"{landmark}.{side}" for side in SIDES for landmark in SIDE_LANDMARKS)
)  # fmt: skip
LANDMARK: Final = {name: number for number, name in enumerate(LANDMARKS)}
# of left and right
LANDMARK_SWAP: Final = np.array([LANDMARK[name.translate(str.maketrans("LR", "RL"))] for name in LANDMARKS])
HIPS: Final = np.array([LANDMARK["hip.L"], LANDMARK["hip.R"]])

SIDE_PARTS: Final = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
PARTS: Final = ("hips", "chest", "neck", "head", *(f"{part}.{side}" for side in SIDES for part in SIDE_PARTS))
PART: Final = {name: number for number, name in enumerate(PARTS)}


def sided(name: str, side: str) -> str:
    """Return the full name of a part or landmark, such as "knee.L"; a name of the middle of the body stays as it is."""
    return f"{name}.{side}" if name in SIDE_LANDMARKS or name in SIDE_PARTS else name
