"""The joints of any figure whose parts are known as marks: a motion of one body as keypoints of another."""

from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..errors import CoreError
from ..pose import Pose, forward
from ..rotation import Array
from ..skeleton import Skeleton
from .body import MARK, MARKS

_HEADS: Final = {
    "shoulder": "upper_arm", "elbow": "forearm", "wrist": "hand", "index": "index", "pinky": "pinky",
    "hip": "thigh", "knee": "shin", "ankle": "foot", "ball": "toe",
}  # fmt: skip
_TAILS: Final = {"knuckle": "hand", "ball": "foot"}  # where no bone begins


def marks_of(skeleton: Skeleton, roles: Roles, pose: Pose) -> Array:
    """Marks (F, M, 3) in armature space of poses (F), NaN for those that the figure does not have."""
    heads, turns = forward(skeleton, pose)
    tails = heads + rotation.rotate(turns, skeleton.lengths[:, None] * [0.0, 1.0, 0.0])
    result = np.full((len(heads), len(MARKS), 3), np.nan)

    def put(mark: str, role: str, places: Array) -> None:
        bones = roles.bones.get(role)
        bone = bones[0] if isinstance(bones, tuple) and bones else bones
        if isinstance(bone, int) and np.isnan(result[:, MARK[mark]]).all():
            result[:, MARK[mark]] = places[:, bone]

    for side in SIDES:
        for table, places in ((_HEADS, heads), (_TAILS, tails)):
            for mark, role in table.items():
                put(f"{mark}.{side}", f"{role}.{side}", places)
    put("crown", "head", tails)
    if np.isnan(result[:, MARK["hip.L"]]).any():
        raise CoreError("No human body is found among the joints; a mapping can say which bone is which part.")
    return result
