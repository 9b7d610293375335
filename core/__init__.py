"""Poise's solvers and motion tools: numpy in, numpy out, no Blender.

The modules in this folder are the vocabulary: rotations, skeleton, pose, motion, goals, solution. The packages:

solvers       pins and drag, contribution CCD, and the humanoid solver
limits        joint limits of four kinds
body          which bones are the parts of a body; its anatomy; posture, mirror, gaze, hands and feet
editing       change, reduce and retarget existing motion
generate      motion from key poses
keypoints     motion from recorded or live keypoints
contribution  lists of actuated bones for contribution CCD
formats       the JSON documents that users write or get
"""

from . import rotation
from .errors import CoreError
from .goals import Balance, Distance, Goal, LookAt
from .limits import EllipticSwing, EulerBox, Framed, OrderFreeBox, Polygon, SwingPolygon
from .motion import Motion
from .pose import Pose, forward, forward_matrices
from .skeleton import Skeleton
from .solution import Solution
from .solvers import ContributionCCD, Method, PinAndDrag, solve, solve_in_blocks
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
    "solve_in_blocks",
]
