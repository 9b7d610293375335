"""Read the facing and the kind of rest pose of a body from the joints of its limbs."""

from typing import Final

import numpy as np

from ...rotation import Array, lengths
from ...skeleton import Skeleton
from ..axes import angle
from .names import read_names

# Length of the sum of all bones, as a share of the sum of their lengths; standing bodies with arms down have 0.6.
_SAME_WAY: Final = 0.75
_T_POSE: Final = 20.0  # degrees of the upper arms below the horizontal, at most
_A_POSE: Final = 65.0
_STRAIGHT: Final = np.radians(35.0)  # largest angle of a thigh to the vertical, and of a knee, in a standing pose
_SQUARE: Final = np.radians(20.0)  # left and right thigh differ by less
_BENT: Final = 0.03  # of the limb's length: offset of a knee or elbow that counts fully
_TOES: Final = 0.6  # sine: a foot that points forward, not down
# Weights of the evidence for a facing; names have 0.9.
_BY_TOES: Final = 1.0
_BY_KNEES: Final = 0.6
_BY_ELBOWS: Final = 0.3
_BY_FOOT_TAILS: Final = 0.5


def is_folded(skeleton: Skeleton) -> bool:
    """Return whether nearly all bones of the rest pose point the same way, which shows no body.

    Those of the right side may all point the other way. A root with one child tells where a body is, not its shape.
    """
    heads, parents = skeleton.rest_matrices[:, :, 3], skeleton.parents
    roots = parents < 0
    steps = heads - heads[parents]
    steps[roots | (roots[parents] & (np.bincount(parents[~roots], minlength=len(skeleton))[parents] == 1))] = 0.0
    right = np.array([reading.side == "R" for reading in read_names(skeleton.names)])
    theirs, others = steps[right].sum(axis=0), steps[~right].sum(axis=0)
    most = max(lengths(others + theirs), lengths(others - theirs))
    return bool(most > _SAME_WAY * max(lengths(steps).sum(), np.finfo(float).tiny))


def forward_evidence(forward: Array, feet: Array, has_toes: bool, legs: Array, arms: Array) -> float:
    """Return the evidence that a body faces `forward` (3,): positive for it, negative against it, 0 for none.

    feet (n, 3): from the ankles to the next joints, or without toes to the tails of the feet's bones; legs, arms
    (n, 3, 3): hip, knee, ankle; shoulder, elbow, wrist.
    """
    evidence = 0.0
    if len(feet):
        ahead = _ahead(feet, forward)
        evidence += (_BY_TOES if has_toes else _BY_FOOT_TAILS) * float(np.clip(ahead / _TOES, -1.0, 1.0))
    for limbs, weight in ((legs, _BY_KNEES), (arms, -_BY_ELBOWS)):
        if len(limbs):
            evidence += weight * float(np.clip(np.mean(_bulge(limbs) @ forward) / _BENT, -1.0, 1.0))
    return evidence


def _ahead(offsets: Array, forward: Array) -> float:
    """Return the mean cosine between offsets (n, 3) and `forward`."""
    lengths = np.linalg.norm(offsets, axis=1)
    return float(np.mean((offsets @ forward) / np.where(lengths > 0.0, lengths, 1.0)))


def _bulge(limbs: Array) -> Array:
    """Return offsets (n, 3) of the middle joints of limbs (n, 3, 3) from the lines between the others, by length."""
    line = limbs[:, 2] - limbs[:, 0]
    square = np.maximum(np.sum(line * line, axis=1, keepdims=True), np.finfo(float).tiny)
    off = limbs[:, 1] - limbs[:, 0]
    off = off - np.sum(off * line, axis=1, keepdims=True) / square * line
    return off / np.sqrt(square)


def rest_kind(up: Array, arms: Array, legs: Array) -> str:
    """Return "T", "A", "I" or "other"; arms (n, 2, 3): shoulders, elbows; legs (n, 3, 3): hips, knees, ankles."""
    kinds = {_arm_kind(float(np.degrees(angle(arm[1] - arm[0], up))) - 90.0) for arm in arms}
    thighs, shins = legs[:, 1] - legs[:, 0], legs[:, 2] - legs[:, 1]
    off = [angle(thigh, -up) for thigh in thighs]
    bends = [angle(thigh, shin) for thigh, shin in zip(thighs, shins, strict=True)]
    upright = max((*off, *bends), default=0.0) < _STRAIGHT and (not off or max(off) - min(off) < _SQUARE)
    return kinds.pop() if len(arms) == 2 and len(kinds) == 1 and upright else "other"


def _arm_kind(below: float) -> str:
    """Return the kind of a rest pose by the degrees of an upper arm below the horizontal."""
    if below < -_T_POSE:
        return "other"
    return "T" if below < _T_POSE else "A" if below <= _A_POSE else "I"
