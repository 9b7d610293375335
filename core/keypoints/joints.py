"""Landmarks from the joints of any humanoid skeleton: a motion of one body as keypoints for another."""

from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..errors import CoreError
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .body import LANDMARK, LANDMARKS

_HEADS: Final = {
    "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand", "index": "index", "pinky": "pinky",
    "hip": "thigh", "knee": "shin", "ankle": "foot", "ball": "toe",
}  # fmt: skip
_TAILS: Final = {"knuckle": "hand", "ball": "foot"}  # for skeletons without a bone that begins there


def joint_landmarks(skeleton: Skeleton, roles: Roles, pose: Pose) -> Array:
    """Return landmarks (F, M, 3) in armature space of poses (F), NaN for those that the skeleton lacks.

    Raises CoreError if there are no hips.
    """
    heads, turns = forward(skeleton, pose)
    tails = heads + rotation.rotate(turns, skeleton.lengths[:, None] * [0.0, 1.0, 0.0])
    result = np.full((len(heads), len(LANDMARKS), 3), np.nan)

    ends = [("crown", "head", tails)] + [
        (f"{landmark}.{side}", f"{role}.{side}", positions)
        for table, positions in ((_HEADS, heads), (_TAILS, tails))
        for landmark, role in table.items()
        for side in SIDES
    ]
    for landmark, role, positions in ends:
        bones = roles.chain(role)
        if bones and np.isnan(result[:, LANDMARK[landmark]]).all():
            result[:, LANDMARK[landmark]] = positions[:, bones[0]]
    if np.isnan(result[:, LANDMARK["hip.L"]]).any():
        raise CoreError("No human body was detected in the joints of the file. Use a mapping to assign them to parts.")
    return result
