"""What is done with a chain: the passes over the list, the sweeps of plain CCD after them, and the finisher."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...rotation import Array

BALL: Final = -1  # in place of an axis: all three at once, the shortest way
STALLED: Final = 0.99  # share of the error that is left after a sweep of plain CCD that brought too little to go on
VANISHES: Final = 1e-6  # of the chain's length, above floats' noise: nearer to an axis it has no direction
OPPOSITE: Final = 1e-12  # 1 + the cosine of the angle between two directions that are opposite: no shortest way
# The finisher: least squares with Levenberg and Marquardt's damping, in shares of the trace of J J^T
FINISHER_STEPS: Final = 60
RIDGE: Final = 1e-12
FIRST_DAMPING: Final = 3e-3
DAMPING: Final = 1e-3  # what is less is none
GROWTH: Final = 8.0
GIVEN_UP: Final = 1e4
RESTS: Final = 1e-3  # share of the tolerance by which a step must come nearer, or it was the last one


@dataclass(frozen=True)
class Step:
    """A joint to be turned about an axis, 0 to 2 or BALL, by `fraction` of the full rotation and `angle` radians."""

    node: int
    axis: int
    fraction: float
    angle: float
    limited: bool

    def part_of(self, full: float, larger: bool) -> float:
        """How much of the full rotation is made: never more, so that the effector does not pass its optimum."""
        most = abs(full)
        part = (max if larger else min)(self.fraction * most, self.angle)
        return full if part >= most else part if full > 0.0 else -part

    def parts_of(self, full: Array, larger: bool) -> Array:
        """`part_of` for angles (B,)."""
        most = np.abs(full)
        part = (np.maximum if larger else np.minimum)(self.fraction * most, self.angle)
        return np.copysign(np.minimum(part, most), full)


@dataclass(frozen=True)
class Plan:
    """`passes`: whether the larger counts, for each pass over `steps`; then up to `sweeps` times `sweep`.

    balls       nothing but ball joints without limits, in one stretch: sweeps and the finisher have a lean form
    finish      end with least squares (only where `balls`; other chains are finished elsewhere)
    tolerance   armature units; nothing: the square of a length that is none
    """

    steps: tuple[Step, ...]
    passes: tuple[bool, ...]
    sweep: tuple[Step, ...]
    sweeps: int
    balls: bool
    finish: bool
    tolerance: float
    nothing: float
