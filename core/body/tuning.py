"""Learn usual rotations and deviations of joints from a body's own motion, in place of the general anatomy.

A joint's usual rotation is the median of its rotations from the canonical T-pose: the rotation from which the median
of the rotation vectors is zero. Its deviations are the standard deviations from there about each anatomical axis, with
outliers clipped. Both sides are one joint: the rotations of the left arm, mirrored, are used for the right one too.
Only the proportions of the deviations are learned: their geometric mean is that of the general anatomy, because small
deviations of all joints would make the solver move the root instead. A motion with few different poses has less weight.

Which turns go together is learned of arms, legs and trunk, each by itself: another motion has another relation of hands
and feet. The correlations are those of the motion and of people, mixed.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..pose import Pose
from ..rotation import Array
from ..skeleton import Flags, Indices, Skeleton
from .anatomy import Tuning, anatomy
from .axes import MIRROR_QUATERNION
from .detection import find_roles
from .mirror import counterparts
from .roles import LIMB_PARTS, SIDES, Roles

_ROUNDS: Final = 20  # iterations of the median, at most
_FOUND: Final = float(np.radians(0.01))  # largest step of a median that has converged
_FARTHEST: Final = 4.0 * 1.4826  # median distances from the median, 4 standard deviations of a Gaussian: clipped there
_SLACK: Final = float(np.radians(1.0))  # added to this distance
_LEAST: Final = float(np.radians(3.0))  # least deviation: a joint may move more in another motion
_STILL: Final = float(np.radians(0.01))  # a bone that turns by less was not moved and is not learned
_ENOUGH: Final = 20.0  # different poses that have as much weight as the general anatomy
_TOGETHER: Final = 0.4  # share of the correlations of a motion with many poses; other motions have others
_TRUNK: Final = ("spine", "neck", "head")


def turns_of(skeleton: Skeleton, roles: Roles, pose: Pose) -> Array:
    """Return the rotations (..., J, 4) of the bones of poses from the canonical T-pose, about its axes."""
    known = anatomy(skeleton, roles)
    own = rotation.mul(rotation.inv(known.canonical), pose.rotations)
    return rotation.conjugate(own, rotation.inv(known.axes))


def learn_tuning(skeleton: Skeleton, roles: Roles | None, turns: Array) -> Tuning:
    """Return the tuning of a skeleton from the `turns_of` its bones in F frames (F, J, 4).

    All bones that turn in the motion are learned, but roots, driven bones, the hips and their ancestors: position and
    heading are no properties of the joints. Raises CoreError if there are no frames.
    """
    if not len(turns):
        raise CoreError("There are no frames to learn from.")
    roles = find_roles(skeleton) if roles is None else roles
    known, partners = anatomy(skeleton, roles), counterparts(skeleton, roles)
    usual = turns_of(skeleton, roles, known.reference)
    middles, deviations = usual.copy(), np.array(known.deviations)
    carrying = {bone for hips in roles.chain("hips") for bone in skeleton.ancestors(hips)}
    hanging = np.flatnonzero((skeleton.parents >= 0) & ~skeleton.driven)
    free = [bone for bone in hanging.tolist() if bone not in carrying]
    moved = [bone for bone in free if rotation.angle_between(turns[:1, bone], turns[:, bone]).max() > _STILL]
    learned = np.zeros(len(skeleton), bool)
    for bone in moved:
        learned[[bone, partners[bone]] if partners[bone] >= 0 else bone] = True
    learned &= np.isin(np.arange(len(skeleton)), free)
    for bone in np.flatnonzero(learned).tolist():
        own = [turns[:, bone]] if bone in moved else []
        if partners[bone] in moved:
            own.append(turns[:, partners[bone]] * MIRROR_QUATERNION)
        middles[bone], deviations[bone] = _spread(np.concatenate(own), usual[bone])
    share = _share(turns[:, moved], deviations[moved])
    middles = rotation.slerp(usual, middles, share)
    scale = np.exp(np.mean(np.log(known.deviations[learned] / deviations[learned]))) if learned.any() else 1.0
    deviations = known.deviations ** (1.0 - share) * (scale * deviations) ** share
    together = _together(turns, middles, np.isin(np.arange(len(skeleton)), moved), partners)
    of_people, weight = known.correlation_matrix, _TOGETHER * share

    def correlations(rows: Indices) -> Array:
        own = together[:, rows]
        mixed = weight * own.T @ own / len(own) + (1.0 - weight) * of_people[np.ix_(rows, rows)]
        np.fill_diagonal(mixed, 1.0)
        return mixed

    return Tuning(learned, middles, deviations, share, _ties(correlations, roles, learned))


def _spread(turns: Array, start: Array) -> tuple[Array, Array]:
    """Return the median (4,) of rotations (F, 4), iterated from `start`, and the deviations (3,) about each axis."""
    middle, logs = start, np.zeros((len(turns), 3))
    for _ in range(_ROUNDS):
        logs = rotation.log(rotation.mul(rotation.inv(middle), turns))
        step = np.median(logs, axis=0)
        middle = rotation.mul(middle, rotation.exp(step))
        if np.abs(step).max() < _FOUND:
            break
    return middle, _deviations(_clipped(logs))


def _clipped(logs: Array) -> Array:
    """Return rotation vectors (F, ...) without outliers."""
    farthest = _FARTHEST * np.median(np.abs(logs), axis=0) + _SLACK
    return np.clip(logs, -farthest, farthest)


def _deviations(logs: Array) -> Array:
    """Return the deviations (...) of rotation vectors (F, ...) from zero."""
    return np.maximum(np.sqrt(np.mean(logs**2, axis=0)), _LEAST)


def _together(turns: Array, middles: Array, moved: Flags, partners: Indices) -> Array:
    """Return rotations (F, J, 4) from `middles`, then those of the motion mirrored, in deviations (2 F, 3 J)."""
    opposite = np.where(partners >= 0, partners, np.arange(len(partners)))
    halves: list[Array] = []
    for told, own in ((moved, turns), (moved[opposite], turns[:, opposite] * MIRROR_QUATERNION)):
        halves.append(_clipped(np.where(told[:, None], rotation.log(rotation.mul(rotation.inv(middles), own)), 0.0)))
    logs = np.concatenate(halves)
    return (logs / _deviations(logs)).reshape(len(logs), -1)


def _ties(correlations: Callable[[Indices], Array], roles: Roles, learned: Flags) -> Array:
    """Return ties (J, 3, k) of learned bones: their products are the correlations in arms, legs and trunk."""
    ties: list[Array] = []
    for parts in (*LIMB_PARTS.values(), _TRUNK):
        names = [part if part in _TRUNK else f"{part}.{side}" for part in parts for side in SIDES]
        bones = [bone for bone in sorted({bone for name in names for bone in roles.chain(name)}) if learned[bone]]
        rows = (3 * np.array(bones, int)[:, None] + np.arange(3)).ravel()
        values, vectors = np.linalg.eigh(correlations(rows))
        own = np.zeros((3 * len(learned), len(values[1:])))
        own[rows] = vectors[:, 1:] * np.sqrt(values[1:] - values[:1])  # what is left of the diagonal is each turn's own
        ties.append(own)
    return np.concatenate(ties, axis=1).reshape(len(learned), 3, -1)


def _share(turns: Array, deviations: Array) -> float:
    """Return the weight of rotations (F, k, 4), by the length of their path in mean distances between two poses."""
    steps = rotation.angle_between(turns[:-1], turns[1:])
    apart = np.sqrt(2.0 * np.sum(deviations**2))
    poses = 1.0 + min(np.sqrt(np.sum(steps**2, axis=1)).sum() / apart, len(turns) - 1.0) if apart else 1.0
    return float(poses / (poses + _ENOUGH))
