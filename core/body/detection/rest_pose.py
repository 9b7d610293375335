"""How a figure stands at rest: which way is up, where it looks, which side is its left, whether its arms are out."""

from typing import Final

import numpy as np

from ...rotation import Array
from ..axes import angle

_T_POSE: Final = 20.0  # degrees of the upper arms below the horizontal
_A_POSE: Final = 65.0
_STRAIGHT: Final = np.radians(35.0)  # thighs further off the vertical, or knees bent more: no standing pose
_SQUARE: Final = np.radians(20.0)  # left and right thigh differ by less
_BENT: Final = 0.03  # of the limb's length: a knee or elbow off the straight line that is surely meant
_TOES: Final = 0.6  # sine: a foot that points forward, not down
# What speaks for a direction, and how loudly: joints of the foot before knees, elbows, names, and bone tails.
_BY_TOES: Final = 1.0
_BY_KNEES: Final = 0.6
_BY_ELBOWS: Final = 0.3
_BY_FOOT_TAILS: Final = 0.5


def forward_evidence(
    forward: Array, feet: Array, toes: Array | None, foot_tails: Array, legs: Array, arms: Array
) -> float:
    """What the body says for looking along `forward` (3,): positive for, negative against, 0 nothing.

    feet, toes, foot_tails (n, 3): ankles, the next joints (None if there are none) and where the feet's bones end;
    legs, arms (n, 3, 3): hip, knee, ankle; shoulder, elbow, wrist.
    """
    said = 0.0
    if len(feet):
        ahead = _ahead((foot_tails if toes is None else toes) - feet, forward)
        said += (_BY_FOOT_TAILS if toes is None else _BY_TOES) * float(np.clip(ahead / _TOES, -1.0, 1.0))
    for limbs, weight in ((legs, _BY_KNEES), (arms, -_BY_ELBOWS)):
        if len(limbs):
            said += weight * float(np.clip(np.mean(_bulge(limbs) @ forward) / _BENT, -1.0, 1.0))
    return said


def _ahead(offsets: Array, forward: Array) -> float:
    """Mean cosine to `forward` of offsets (n, 3)."""
    lengths = np.linalg.norm(offsets, axis=1)
    return float(np.mean((offsets @ forward) / np.where(lengths > 0.0, lengths, 1.0)))


def _bulge(limbs: Array) -> Array:
    """How far the middle joint is off the line between the others, by that line's length; (n, 3, 3) -> (n, 3)."""
    line = limbs[:, 2] - limbs[:, 0]
    square = np.maximum(np.sum(line * line, axis=1, keepdims=True), np.finfo(float).tiny)
    off = limbs[:, 1] - limbs[:, 0]
    off = off - np.sum(off * line, axis=1, keepdims=True) / square * line
    return off / np.sqrt(square)


def rest_kind(up: Array, arms: Array, legs: Array) -> str:
    """ "T", "A", "I" or "other"; arms (n, 2, 3): shoulders and elbows, legs (n, 3, 3): hips, knees, ankles."""
    kinds = {_arm_kind(float(np.degrees(angle(arm[1] - arm[0], up))) - 90.0) for arm in arms}
    thighs, shins = legs[:, 1] - legs[:, 0], legs[:, 2] - legs[:, 1]
    off = [angle(thigh, -up) for thigh in thighs]
    bends = [angle(thigh, shin) for thigh, shin in zip(thighs, shins, strict=True)]
    standing = max((*off, *bends), default=0.0) < _STRAIGHT and (not off or max(off) - min(off) < _SQUARE)
    return kinds.pop() if len(arms) == 2 and len(kinds) == 1 and standing else "other"


def _arm_kind(below: float) -> str:
    if below < -_T_POSE:
        return "other"
    return "T" if below < _T_POSE else "A" if below <= _A_POSE else "I"
