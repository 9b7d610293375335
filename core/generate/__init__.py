"""Motion from two key poses, interpolated by smooth curves of offsets over time (CN101246601)."""

from .curves import FittedCurve, fit_curve
from .poses import angles_of, key_pose
from .recipe import Flight, Recipe, RootPath, Track

__all__ = ["FittedCurve", "Flight", "Recipe", "RootPath", "Track", "angles_of", "fit_curve", "key_pose"]
