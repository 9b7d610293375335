"""Motion from two key poses (CN101246601): offsets between them over time, fitted with smooth curves."""

from .curves import FittedCurve, fit
from .recipe import Flight, Path, Recipe, Track

__all__ = ["FittedCurve", "Flight", "Path", "Recipe", "Track", "fit"]
