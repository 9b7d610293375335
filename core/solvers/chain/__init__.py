"""Contribution CCD: a chain reaches a target, and a list says how its joints share the rotation (CN108090951B)."""

from .method import ContributionCCD
from .several import SeveralChains

__all__ = ["ContributionCCD", "SeveralChains"]
