"""The masses of the parts of a body, and how far their centre is from where the body stands."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..goals import SUPPORT_RADIUS
from ..rotation import Array, Floats
from ..skeleton import Indices, Skeleton
from .detection import find_roles
from .roles import SIDES, Roles

# Shares of the whole body: D. A. Winter, Biomechanics and Motor Control of Human Movement, table "Anthropometric Data"
# (after Dempster 1955). The spine is thorax and abdomen, the head has the neck with it.
_SHARES: Final = {
    "hips": 0.142,
    "spine": 0.355,
    "head": 0.081,
    "upper_arm": 0.028,
    "forearm": 0.016,
    "hand": 0.006,
    "thigh": 0.100,
    "shin": 0.0465,
    "foot": 0.0145,
}
GRAVITY: Final = 9.81  # metres per second squared, times the skeleton's size
_TOES: Final = 1.5  # how far the tips of toes are from an ankle, in lengths from there to the ball of the foot
_TIPS: Final = 2.0 * SUPPORT_RADIUS  # of the skeleton's size: the ends of feet on which nobody stands, see `soles_of`
_NOTHING: Final = 1e-9  # length up to which a vector has no direction


def masses_of(skeleton: Skeleton, roles: Roles | None = None) -> Array:
    """Return the shares (J,) of the bones in the body's mass, 1 in total.

    A human's bones have the masses of their roles (`find_roles` if None). The bones of one segment, twist bones
    included, share its mass by length, and all bones with mass share that of missing parts by length. The bones of
    other bodies have mass by length.
    """
    roles = find_roles(skeleton) if roles is None else roles
    everything = np.arange(len(skeleton))
    if not roles.humanoid:
        return _by_length(skeleton, everything)
    masses = np.zeros(len(skeleton))
    for part, share in _SHARES.items():
        for role in (part, *(f"{part}.{side}" for side in SIDES)):
            bones = [*roles.chain(role), *roles.twist.get(role, ())]
            if role == "head":
                bones += roles.chain("neck")
            if bones:
                masses += share * _by_length(skeleton, np.array(bones))
    heavy = np.flatnonzero(masses)
    rest = 1.0 - float(masses.sum())
    return masses + rest * _by_length(skeleton, heavy if len(heavy) else everything)


def centre_of_mass(skeleton: Skeleton, matrices: Floats, masses: Array) -> Floats:
    """Return the centres (..., 3) of the `masses` (J,) at the middles of bones with frames (..., J, 3, 4)."""
    middles = matrices[..., 3] + 0.5 * skeleton.lengths[:, None] * matrices[..., 1]
    return (masses / masses.sum()) @ middles


def soles_of(skeleton: Skeleton, supports: Sequence[int]) -> tuple[Indices, Array]:
    """Return the corners of what a body stands on: bones (S,) of the supports, and places (S, 3) in their frames.

    They are the heads and tails of the supports, and the tails of their descendants as they are at rest: a toe that is
    turned aside makes no more ground to stand on. Importers guess tails of last bones, most of them too far out: none
    counts as further from the head of its support than the tips of people's toes are from an ankle. And people
    who lean as far as they can use no more than about 60 % of the length of their feet (King, Judge and Wolfson,
    Journal of Gerontology 49(6), 1994): corners, with `SUPPORT_RADIUS` around them, end 4 cm before the tips.
    """
    rest = skeleton.rest_matrices
    tails = rest[:, :, 3] + rest[:, :, 1] * skeleton.lengths[:, None]
    bones: list[int] = []
    places: list[Array] = []
    for support in supports:
        below = [bone for bone in range(len(skeleton)) if support in skeleton.ancestors(bone)]
        ways = np.concatenate([rest[None, support, :, 3], tails[below]]) - rest[support, :, 3]
        far = np.linalg.norm(ways, axis=1)
        balls = [bone for bone in below if skeleton.parents[bone] == support]
        ball = np.linalg.norm(rest[balls, :, 3] - rest[support, :, 3], axis=1).max(initial=0.0)
        ends = np.minimum(far, _TOES * ball) if ball > 0.0 else far
        share = np.maximum(ends - _TIPS * skeleton.size, 0.0) / np.maximum(far, _NOTHING)
        bones += [support] * len(ways)
        places.append((share[:, None] * ways) @ rest[support, :, :3])
    return np.array(bones), np.concatenate(places)


def distance_beyond(skeleton: Skeleton, matrices: Floats, masses: Array, supports: Sequence[int], up: Array) -> Array:
    """Return how far the centre of mass is beyond the polygon of the supports, seen along `up`; (F,), 0 inside.

    matrices  (F, J, 3, 4) bone frames in armature space
    masses    (J,) of the bones, at their middles
    supports  bones on the ground: `soles_of` them spans the polygon
    up        (3,) unit vector against gravity
    """
    heads, centre = matrices[..., 3], centre_of_mass(skeleton, matrices, masses)
    bones, places = soles_of(skeleton, supports)
    soles = (matrices[:, bones, :, :3] @ places[..., None])[..., 0] + heads[:, bones]
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))]).astype(float)
    side /= np.linalg.norm(side)
    plane = np.stack([side, np.cross(up, side)], axis=-1)
    return np.array([_outside(*frame) for frame in zip(centre @ plane, soles @ plane, strict=True)])


def _outside(point: Array, corners: Array) -> float:
    """Return the exact distance of a point (2,) from the convex hull of corners (S, 2); 0 inside.

    The furthest out of all half-planes that can touch the hull between the two: along a side, or through a corner.
    """
    sides = (corners[:, None] - corners).reshape(-1, 2)
    normals = np.concatenate([sides @ np.array([[0.0, 1.0], [-1.0, 0.0]]), point - corners])
    lengths = np.linalg.norm(normals, axis=-1)
    normals = normals[lengths > _NOTHING] / lengths[lengths > _NOTHING, None]
    return float(np.max(normals @ point - np.max(normals @ corners.T, axis=-1), initial=0.0))


def _by_length(skeleton: Skeleton, bones: Indices) -> Array:
    """Return shares (J,) of these bones by length, 1 in total."""
    lengths = skeleton.lengths[bones]
    shares = np.zeros(len(skeleton))
    shares[bones] = lengths / lengths.sum() if lengths.any() else 1.0 / len(bones)
    return shares
