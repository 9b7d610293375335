"""Limbs of two segments in closed form, with a swivel that does not jump (CN106502395).

The middle joint lies in a plane through root and end. A reference field of normals on the sphere of the end's
directions p defines the zero of this plane: F(p) = R(x -> p) y, with the shortest rotation from x to p. The field is
smooth everywhere but at -x, the direction that the limb cannot take. As the limb bends, the zero goes over to the plane
of its hinge, whose normal is y but for its part along p: a bent elbow is beside the way to the hand, not above it.
Along the hinge that plane is undefined, and F remains; where the two normals are opposite, a hand would be in the head.
The swivel is the angle about p from the zero to the plane's normal; the joint bends about the normal by a positive
angle.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...rotation import Array, cross, lengths

_SINGULAR: Final = 1e-12  # of 1 + cosine: nearer to -x, F is y, as in the source
# Sines of the bend: from the second one on the bend defines the plane, up to the first one the hinge does.
_STRAIGHT: Final = (0.01, 0.05)
_BENT: Final = 1.5  # 1 - cosine of a bend of 120 degrees, from which on the hinge defines the zero
_ACROSS: Final = 0.5  # square of the sine of the angle to the hinge, from which on it does


@dataclass(frozen=True, eq=False)
class Limb:
    """The three points of a limb (..., 3) and the unit normal of its plane (..., 3), about which its joint bends.

    turned   (...) the angle about the line from root to end from the hinge of the joint to this normal, radians
    """

    root: Array
    middle: Array
    end: Array
    normal: Array
    turned: Array

    @property
    def hinge(self) -> Array:
        """The unit normal (..., 3) of the plane in which the joint would bend by its hinge alone."""
        way, angle = _unit(self.end - self.root), -self.turned[..., None]
        return np.cos(angle) * self.normal + np.sin(angle) * cross(way, self.normal)


def reference_field(ways: Array) -> Array:
    """Return F(p) (..., 3) for unit directions p (..., 3): the normal of the plane whose swivel is zero."""
    x, y, z = ways[..., 0], ways[..., 1], ways[..., 2]
    singular = 1.0 + x < _SINGULAR
    share = y / np.where(singular, 1.0, 1.0 + x)
    field = np.stack([-y, 1.0 - y * share, -z * share], axis=-1)
    return np.where(singular[..., None], [0.0, 1.0, 0.0], field)


def measure_limb(root: Array, middle: Array, end: Array, hinge: Array) -> Limb:
    """Return a limb with its plane, from its points (..., 3) and the axis (..., 3) that its middle joint bends about.

    The plane of a limb that is straight, or bent the wrong way, is that of its hinge: it will bend the right way.
    """
    way = _unit(end - root)
    bend = cross(_unit(middle - root), _unit(end - middle))
    across = _unit(hinge - _dot(hinge, way) * way)
    bend = bend - _dot(bend, way) * way
    clear = _rise((_dot(bend, across) - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0]))
    normal = _unit(clear * _unit(bend) + (1.0 - clear) * across)
    return Limb(root, middle, end, normal, _angle(across, normal, way))


def swivel_of(limb: Limb, field: Array) -> Array:
    """Return the swivel (...) of a limb, radians; `field` (..., 3, 3) has the axes x, y and z of F as columns."""
    way = limb.end - limb.root
    zero = _zero(field, _unit(way), lengths(way), lengths(limb.middle - limb.root), lengths(limb.end - limb.middle))
    return _angle(zero, limb.normal, _unit(way))


def departure(start: Limb, target: Array, upper: Array, lower: Array) -> Array:
    """Return `Limb.turned` (...) of a limb that goes from `start` to a target (..., 3); lengths (...) as `bend_limb`.

    A leg that is bowed by a few degrees, and nearly straight, is bent far from the plane of its hinge. It stays bowed
    by as much when it bends further, so that it comes the nearer to that plane.
    """
    before, after = (
        1.0 - _bend_cosine(lengths(end - root), upper, lower)
        for root, end in ((start.root, start.end), (start.root, target))
    )
    return start.turned * np.sqrt(np.minimum(1.0, before / np.maximum(after, np.finfo(float).tiny)))


def bend_limb(
    field: Array, root: Array, target: Array, upper: Array, lower: Array, swivel: Array, turned: Array | float = 0.0
) -> Limb:
    """Return the limb at a swivel (...) with its end at `target` (..., 3), or as near as its lengths (...) allow.

    field (..., 3, 3) is as in `swivel_of`, root (..., 3); upper and lower are the lengths of the segments, and `turned`
    is as in `Limb`.
    """
    far = lengths(target - root)
    way = np.where((far > 0.0)[..., None], _unit(target - root), field[..., :, 0])
    reach = np.clip(far, np.abs(upper - lower), upper + lower)
    # law of cosines, at the root
    twice = 2.0 * upper * reach
    cosine = (upper * upper + reach * reach - lower * lower) / np.where(twice > 0.0, twice, 1.0)
    cosine = np.clip(np.where(twice > 0.0, cosine, 0.0), -1.0, 1.0)[..., None]
    zero = _zero(field, way, reach, upper, lower)
    normal = np.cos(swivel)[..., None] * zero + np.sin(swivel)[..., None] * cross(way, zero)
    out = cross(way, normal)
    middle = root + upper[..., None] * (cosine * way + np.sqrt(1.0 - cosine * cosine) * out)
    return Limb(root, middle, root + reach[..., None] * way, normal, np.broadcast_to(turned, far.shape))


def swivel_towards(field: Array, root: Array, target: Array, upper: Array, lower: Array, middle: Array) -> Array:
    """Return the swivel (...) for `bend_limb` at which the middle joint is nearest to a place `middle` (..., 3)."""
    way = _unit(target - root)
    far = np.clip(lengths(target - root), np.abs(upper - lower), upper + lower)
    return _angle(_zero(field, way, far, upper, lower), _unit(cross(middle - root, way)), way)


def plane_frame(way: Array, normal: Array) -> Array:
    """Return a segment's frame (..., 3, 3): its direction, its plane's normal at a right angle, their cross product."""
    first = _unit(way)
    second = _unit(normal - _dot(normal, first) * first)
    return np.stack([first, second, cross(first, second)], axis=-1)


def _zero(field: Array, way: Array, far: Array, upper: Array, lower: Array) -> Array:
    """Return the normal (..., 3) of swivel 0 in armature space, for unit directions (..., 3) and distances (...)."""
    local = (np.swapaxes(field, -1, -2) @ way[..., None])[..., 0]
    hinge = [0.0, 1.0, 0.0] - local[..., 1:2] * local
    bent = 1.0 - _bend_cosine(far, upper, lower)[..., None]
    share = _rise(bent / _BENT) * _rise(_dot(hinge, hinge) / _ACROSS)
    normal = _unit((1.0 - share) * reference_field(local) + share * _unit(hinge))
    return (field @ normal[..., None])[..., 0]


def _bend_cosine(far: Array, upper: Array, lower: Array) -> Array:
    """Return the cosine (...) of the bend of a limb whose end is so far from its root: 1 where it is straight."""
    twice = 2.0 * upper * lower
    cosine = (far * far - upper * upper - lower * lower) / np.where(twice > 0.0, twice, 1.0)
    return np.clip(cosine, -1.0, 1.0)


def _angle(zero: Array, normal: Array, way: Array) -> Array:
    """Return the angle (...) about a unit direction between two normals at right angles to it, radians."""
    return np.arctan2(_dot(cross(zero, normal), way), _dot(zero, normal))[..., 0]


def _rise(shares: Array) -> Array:
    """Return shares eased in and out, 0 below 0 and 1 above 1."""
    shares = np.clip(shares, 0.0, 1.0)
    return shares * shares * (3.0 - 2.0 * shares)


def _dot(a: Array, b: Array) -> Array:
    """(..., 1)"""
    return np.sum(a * b, axis=-1, keepdims=True)


def _unit(vectors: Array) -> Array:
    length = lengths(vectors)[..., None]
    return vectors / np.where(length > 0.0, length, 1.0)
