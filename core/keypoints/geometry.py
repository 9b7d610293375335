"""Landmarks to rotations in closed form: hinge planes for limbs, planes of three points for head, hands and feet.

The rotation about a limb is uncertain where its three points are nearly in line, and where they are noisy. So each
plane is blended with the rotation of the parent part: by flexion for elbows and knees, by noise for hands and feet.
Parts that are not seen follow their parents.

Vectors between landmarks, their lengths and cross products are computed for all parts at once: for one live frame calls
of numpy cost more than the arithmetic.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array, cross
from .body import LANDMARK, PART, PARTS

_TILTS: Final = np.array([0.105, 0.08])  # radians about X: hips and chest to the line between, fitted to motion capture
_NECK_SHARE: Final = np.array(0.5)  # from chest to head

# Flexion in degrees, a + b * noise in millimetres: from which a hinge's plane has weight, and has the weight 1
_FROM: Final = (0.3, 0.6)
_FULL: Final = (1.5, 1.6)
# Of hands and feet: width of their landmarks in metres, and standard deviation of their twist to the parent
_REACH: Final = np.array([0.060, 0.060, 0.070, 0.070])
_STRAY: Final = np.radians([25.0, 25.0, 8.0, 8.0])
_SOLE: Final = float(np.arctan2(0.07, 0.14))  # angle from the horizontal down to the ball, at the ankle
_TINY: Final = 1e-9  # metres: shorter vectors have no direction
_MILLIMETRES: Final = 1000.0
_ONES: Final = np.ones((3, 1))


def landmark_row(*names: str) -> Array:
    """Return weights (M,) whose product with landmarks is the midpoint of some of them."""
    row = np.zeros(len(LANDMARK))
    row[[LANDMARK[name] for name in names]] = 1.0 / len(names)
    return row


# Vectors from the midpoint of some landmarks to that of others; where no side is named, one on each side
_VECTORS: Final = {
    "across": ("hip.R > hip.L", "shoulder.R > shoulder.L"), "trunk": ("hip.L hip.R > shoulder.L shoulder.R",),
    "ears": ("ear.R > ear.L",), "nose": ("ear.L ear.R > nose",), "crown": ("shoulder.L shoulder.R > crown",),
    "near": ("shoulder > elbow", "hip > knee"), "far": ("elbow > wrist", "knee > ankle"),
    "palm": ("wrist > index pinky",), "sole": ("heel > ball",), "knuckle": ("wrist > knuckle",),
    "toe": ("ankle > ball",), "fingers": ("pinky > index",), "heel": ("heel > ankle",),
}  # fmt: skip


def _rows_of_vectors() -> tuple[Array, dict[str, slice]]:
    """Return rows (n, M) from landmarks to vectors between them, and the slice of each kind of vector."""
    rows: list[Array] = []
    slices: dict[str, slice] = {}
    for kind, vectors in _VECTORS.items():
        first = len(rows)
        for vector in vectors:
            for side in ("",) if "." in vector else (".L", ".R"):
                before, after = ([name + side for name in end.split()] for end in vector.split(">"))
                rows.append(landmark_row(*after) - landmark_row(*before))
        slices[kind] = slice(first, len(rows))
    return np.array(rows), slices


def used_landmarks(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the landmarks (k, n) that rows (n, M) use; rows with fewer than k repeat their first."""
    most = int(rows.sum(axis=1).max())
    first = np.argsort(~rows, axis=1, kind="stable")[:, :most]
    return np.where(np.arange(most) < rows.sum(axis=1)[:, None], first, first[:, :1]).T


def least(weights: Array, landmarks: NDArray[np.int64]) -> Array:
    """Return the least weight (..., n) among landmarks (k, n), from weights (..., M)."""
    return weights.take(landmarks, axis=-1).min(axis=-2)


_ROWS, _AT = _rows_of_vectors()
_USED: Final = used_landmarks(_ROWS != 0.0)


def _parts(*names: str) -> NDArray[np.int64]:
    return np.array([PART[name] for name in names])


def _stack(*vectors: Array) -> Array:
    """Return matrices with vectors (n, 3) as columns."""
    return np.stack(vectors, axis=-1)


# Limbs in the order left arm, right arm, left leg, right leg; directions and hinges in the canonical pose
_UPPER: Final = _parts("upper_arm.L", "upper_arm.R", "thigh.L", "thigh.R")
_LOWER: Final = _parts("forearm.L", "forearm.R", "shin.L", "shin.R")
_ENDS: Final = _parts("hand.L", "hand.R", "foot.L", "foot.R")
_PARENTS: Final = _parts("chest", "chest", "hips", "hips")
_SHOULDERS: Final = _parts("shoulder.L", "shoulder.R")
_LIMB_AXES: Final = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, -1.0, 0], [0, -1.0, 0]])
_LIMB_HINGES: Final = np.array([[0, -1.0, 0], [0, 1.0, 0], [1.0, 0, 0], [1.0, 0, 0]])
_LIMBS: Final = _stack(_LIMB_AXES, _LIMB_HINGES)
_LIMBS_BACK: Final = _stack(_LIMB_AXES, _LIMB_HINGES, np.cross(_LIMB_AXES, _LIMB_HINGES)).swapaxes(-1, -2)
# Hands and feet: directions along and across
_END_AXES: Final = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0], [0, 0, 1.0]])
_END_ACROSS: Final = np.array([[0, 0, 1.0], [0, 0, 1.0], [1.0, 0, 0], [1.0, 0, 0]])
_END: Final = _stack(_END_AXES, _END_ACROSS)
_END_BACK: Final = _stack(_END_AXES, _END_ACROSS, np.cross(_END_AXES, _END_ACROSS)).swapaxes(-1, -2)
_FACE_BACK: Final = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # X, Z, -Y as columns, transposed


def unit(vectors: Array) -> Array:
    """Return vectors (..., 3) with length 1; zero vectors stay zero."""
    return vectors / np.maximum(np.sqrt(_dot(vectors, vectors)), _TINY)


def _dot(a: Array, b: Array) -> Array:
    """Return dot products (..., 1); for few vectors a product with ones costs half of an einsum."""
    return (a * b) @ _ONES


def frame(first: Array, second: Array) -> Array:
    """Return matrices (..., 3, 3) with columns X, Y, Z: X = `first`, a unit vector, and Y nearest to `second`."""
    result = np.empty((*first.shape, 3))
    result[..., 0] = first
    result[..., 1] = second = unit(second - _dot(first, second) * first)
    result[..., 2] = cross(first, second)
    return result


def swing(vector: Array, before: Array, after: Array) -> Array:
    """Return vectors (..., 3), orthogonal to directions `before`, rotated by the shortest rotation to `after`."""
    return vector - _dot(vector, after) / np.maximum(1.0 + _dot(before, after), _TINY) * (before + after)


def _blend(known: Array, other: Array, weight: Array) -> Array:
    """Return rotation matrices between `known`, where the weight (...) is 1, and `other`, where it is 0."""
    if weight.min() >= 1.0:
        return known
    share = weight[..., None, None]
    two = share * known[..., :2] + (1.0 - share) * other[..., :2]
    return frame(unit(two[..., 0]), two[..., 1])


def solve_frames(landmarks: Array, weights: Array, noise: Array, hinges: bool = True) -> Array:
    """Return rotation matrices (..., P, 3, 3) of the parts from landmarks (..., M, 3), metres, Y up.

    weights (..., M) from 0 to 1; landmarks of weight 0 may be NaN. noise (...) is the standard deviation of a
    coordinate in metres. Without `hinges` limbs only swing by the shortest rotation.
    """
    noise = np.asarray(noise)[..., None]
    vectors = _ROWS @ np.where(weights[..., None] > 0.0, landmarks, 0.0)
    seen = least(weights, _USED)
    units = unit(vectors)
    result = np.empty((*landmarks.shape[:-2], len(PARTS), 3, 3))

    def of(kind: str) -> Array:
        return units[..., _AT[kind], :]

    def weight(kind: str) -> Array:
        return seen[..., _AT[kind]]

    near, far, sides, trunk = of("near"), of("far"), of("across"), of("trunk")
    planes = cross(
        np.concatenate([sides, near, of("heel")], axis=-2),
        np.concatenate([trunk.repeat(2, axis=-2), far, of("sole")], axis=-2),
    )

    # trunk: the lines across hips and shoulders are their X axes; Y is near the line between
    up = np.cos(_TILTS)[:, None] * trunk + np.sin(_TILTS)[:, None] * unit(planes[..., :2, :])
    pair = frame(sides, up)
    whole = weight("trunk")[..., 0]
    hips = _blend(pair[..., 0, :, :], np.eye(3), whole)
    chest = _blend(pair[..., 1, :, :], hips, whole)
    result[..., PART["hips"], :, :], result[..., PART["chest"], :, :] = hips, chest
    result[..., _SHOULDERS, :, :] = chest[..., None, :, :]

    # head: from ears and nose, else from the crown
    head = chest
    face, crown = (seen[..., _AT[kind].start] for kind in ("nose", "crown"))
    if face.min() < 1.0:
        upwards = units[..., _AT["crown"].start, :]
        nod = frame(upwards, swing(chest[..., 0], chest[..., 1], upwards))  # columns Y, X, -Z
        nod = np.stack([nod[..., 1], nod[..., 0], -nod[..., 2]], axis=-1)
        head = _blend(nod, chest, crown)
    ahead = frame(units[..., _AT["ears"].start, :], units[..., _AT["nose"].start, :]) @ _FACE_BACK
    result[..., PART["head"], :, :] = head = _blend(ahead, head, face)
    result[..., PART["neck"], :, :] = _blend(head, chest, _NECK_SHARE)

    # limbs: from the hinge planes of bent limbs, else from the parents
    parent = result[..., _PARENTS, :, :]
    canonical = parent @ _LIMBS
    hinge = swing(canonical[..., 1], canonical[..., 0], near)
    if hinges:
        plane = planes[..., 2:6, :]
        sine = np.sqrt(_dot(plane, plane))
        bent = np.degrees(np.arctan2(sine, _dot(near, far)))[..., 0]
        low, high = (a + b * _MILLIMETRES * noise for a, b in (_FROM, _FULL))
        share = np.clip((bent - low) / (high - low), 0.0, 1.0)
        share = (share * share * (3.0 - 2.0 * share) * np.minimum(weight("near"), weight("far")))[..., None]
        hinge = share * plane / np.maximum(sine, _TINY) + (1.0 - share) * hinge
    upper = _blend(frame(near, hinge) @ _LIMBS_BACK, parent, weight("near"))
    canonical = upper @ _LIMBS
    lower = _blend(frame(far, swing(canonical[..., 1], canonical[..., 0], far)) @ _LIMBS_BACK, upper, weight("far"))
    result[..., _UPPER, :, :], result[..., _LOWER, :, :] = upper, lower

    # hands and feet, whose width is blended by noise
    canonical = lower @ _END
    along = np.concatenate([of("palm"), of("sole")], axis=-2)
    across = np.concatenate([of("fingers"), planes[..., 6:, :]], axis=-2)
    both = np.concatenate([weight("palm"), np.minimum(weight("sole"), weight("heel"))], axis=-1)
    pointing = both
    if both.min() < 1.0:
        along, pointing = _without_width(along, both, units, seen, canonical)
    turned = swing(canonical[..., 1], canonical[..., 0], along)
    share = (both / (1.0 + np.square(noise / (_REACH * _STRAY))))[..., None]
    across = across - _dot(across, along) * along
    across = share * unit(across) + (1.0 - share) * unit(turned)
    result[..., _ENDS, :, :] = _blend(frame(along, across) @ _END_BACK, lower, pointing)
    return result


def _without_width(along: Array, both: Array, units: Array, seen: Array, canonical: Array) -> tuple[Array, Array]:
    """Return directions (..., 4, 3) along hands and feet, and weights, where fingers or a heel are missing."""
    d = units[..., _AT["toe"], :]
    side = unit(canonical[..., 2:, :, 1] - _dot(canonical[..., 2:, :, 1], d) * d)
    flat = np.cos(_SOLE) * d - np.sin(_SOLE) * cross(side, d)
    other = np.concatenate([units[..., _AT["knuckle"], :], flat], axis=-2)
    other_seen = np.concatenate([seen[..., _AT["knuckle"]], seen[..., _AT["toe"]]], axis=-1)
    whole = (both > 0.0)[..., None]
    return np.where(whole, along, other), np.where(both > 0.0, both, other_seen)
