"""Limits of joints, which bound the bones' own rotations. All kinds are a `LimitGroup`:

EulerBox        ranges of Euler angles (Blender's Limit Rotation)
EllipticSwing   an ellipse of swings and a range of twists (Blender's inverse kinematics)
OrderFreeBox    ranges of three angles without an order (CN106502395)
SwingPolygon    a polygon of swings, with a range of twists at each of its points (CN1420453)
Framed          any of these, in other frames than the bones' own
"""

from .elliptic_swing import EllipticSwing
from .euler_box import EulerBox
from .framed import Framed
from .group import LimitGroup, RangeGroup, clamp_rotations, excess
from .learning import learn_polygon
from .order_free_box import OrderFreeBox
from .polygon import Polygon
from .swing_polygon import SwingPolygon

__all__ = [
    "EllipticSwing",
    "EulerBox",
    "Framed",
    "LimitGroup",
    "OrderFreeBox",
    "Polygon",
    "RangeGroup",
    "SwingPolygon",
    "clamp_rotations",
    "excess",
    "learn_polygon",
]
