"""Lists for contribution CCD: presets for the parts of a body, and lists learnt from a motion."""

from .lessons import Learned, learn, learning
from .presets import PRESETS, preset, preset_for

__all__ = ["PRESETS", "Learned", "learn", "learning", "preset", "preset_for"]
