"""Humanoid: limbs in closed form, a spine that bends about one axis, and a trunk that is pulled along (CN106502395)."""

from .method import Humanoid, HumanoidDrag

__all__ = ["Humanoid", "HumanoidDrag"]
