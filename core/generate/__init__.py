"""Motion from two key poses (CN101246601): offsets between them over time, fitted with smooth curves."""

from .curves import FittedCurve, fit
from .poses import body_axes, key_pose, leg_length
from .recipe import Flight, Path, Recipe, Track

__all__ = ["FittedCurve", "Flight", "Path", "Recipe", "Track", "body_axes", "fit", "key_pose", "leg_length"]
