"""The plan of a chain: rounds of turns, namely passes over the list and sweeps of plain CCD, and the finisher."""

from dataclasses import dataclass
from typing import Final

BALL: Final = -1  # in place of an axis: all three at once, by the shortest rotation
STALLED: Final = 0.99  # share of the error: a sweep of plain CCD that leaves more is the last one
HANDED_ON: Final = 0.5  # the same where least squares follow, which are quicker by then
# Where none follow, joints with limits turn by this part of the full rotation in the first sweep, and fully after so
# many: limits near the tip are met later, and more targets are reached.
CAREFUL, WARY = 0.4, 10
VANISHES: Final = 1e-6  # of the chain's length, above the noise of floats: nearer to an axis it has no direction
OPPOSITE: Final = 1e-12  # 1 + cosine of the angle between opposite directions, which have no shortest rotation


@dataclass(frozen=True)
class Step:
    """A joint to be turned about an axis, 0 to 2 or BALL, by `fraction` of the full rotation and `angle` radians."""

    node: int
    axis: int
    fraction: float
    angle: float
    limited: bool


@dataclass(frozen=True)
class Round:
    """Steps one after the other.

    larger  a step turns by the larger of its fraction and its angle, not the smaller
    sweep   the round is a sweep of plain CCD: the last one if it hardly helps
    """

    steps: tuple[Step, ...]
    larger: bool
    sweep: bool


@dataclass(frozen=True)
class Plan:
    """The rounds, in their order.

    balls      the chain is one stretch of ball joints without limits: its sweeps and its finisher have a lean form
    finish     end with the finisher, only where `balls`; `bounded` finishes other chains
    stalled    share of the error: a sweep that leaves more is the last one
    tolerance  armature units
    nothing    square of a length that counts as none, armature units
    """

    rounds: tuple[Round, ...]
    balls: bool
    finish: bool
    stalled: float
    tolerance: float
    nothing: float
