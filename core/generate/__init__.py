"""Motion from two key poses (CN101246601): offsets between them over time, fitted with smooth curves."""

from .curves import FittedCurve, fit_curve
from .poses import body_axes, key_pose, leg_length
from .recipe import Flight, Recipe, RootPath, Track

__all__ = ["FittedCurve", "Flight", "Recipe", "RootPath", "Track", "body_axes", "fit_curve", "key_pose", "leg_length"]
