"""Poise's solvers and motion tools: numpy in, numpy out, no Blender."""

from . import rotation
from .errors import CoreError
from .goals import Balance, Distance, Goal, LookAt
from .limits import EllipticSwing, EulerBox
from .motion import Motion
from .pose import Pose, forward, forward_matrices
from .skeleton import Skeleton
from .solution import Solution
from .solvers import Method, PinAndDrag, solve

__all__ = [
    "Balance",
    "CoreError",
    "Distance",
    "EllipticSwing",
    "EulerBox",
    "Goal",
    "LookAt",
    "Method",
    "Motion",
    "PinAndDrag",
    "Pose",
    "Skeleton",
    "Solution",
    "forward",
    "forward_matrices",
    "rotation",
    "solve",
]
