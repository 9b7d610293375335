"""Measures for the tests of the bridge."""

from typing import Any

import numpy as np

from bridge import read_matrices, read_pose, read_rig
from core import forward_matrices, rotation
from tests.blender.rigs import context, diagonal

CLOSE = 1e-5
MODES = ("QUATERNION", "AXIS_ANGLE", *rotation.EULER_ORDERS)


def evaluate(ob: Any) -> None:
    ob.update_tag(refresh={"DATA"})
    context.view_layer.update()


def error(ob: Any) -> float:
    """The largest difference between `forward_matrices` and Blender's matrices, by the rig's size."""
    rig = read_rig(ob)
    size = max(1.0, diagonal(rig.skeleton))
    return float(np.abs(forward_matrices(rig.skeleton, read_pose(ob, rig)) - read_matrices(ob)).max()) / size
