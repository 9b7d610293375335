"""Poise's solvers and motion tools: numpy in, numpy out, no Blender."""

from . import rotation
from .errors import CoreError
from .goals import Balance, Distance, Goal, LookAt
from .limits import EllipticSwing, EulerBox, Framed, OrderFreeBox, Polygon, SwingPolygon
from .motion import Motion
from .pose import Pose, forward, forward_matrices
from .skeleton import Skeleton
from .solution import Solution
from .solvers import ContributionCCD, Method, PinAndDrag, solve
from .solvers.chain.actuations import Actuation
from .solvers.humanoid import Humanoid

__all__ = [
    "Actuation",
    "Balance",
    "ContributionCCD",
    "CoreError",
    "Distance",
    "EllipticSwing",
    "EulerBox",
    "Framed",
    "Goal",
    "Humanoid",
    "LookAt",
    "Method",
    "Motion",
    "OrderFreeBox",
    "PinAndDrag",
    "Polygon",
    "Pose",
    "Skeleton",
    "Solution",
    "SwingPolygon",
    "forward",
    "forward_matrices",
    "rotation",
    "solve",
]
