"""Lists for contribution CCD (CN108090951B): presets for the parts of a body, and lists learned from a motion."""

from .hinges import with_hinges
from .learned_list import Learned, learn, learning
from .presets import PRESETS, preset, preset_for

__all__ = ["PRESETS", "Learned", "learn", "learning", "preset", "preset_for", "with_hinges"]
