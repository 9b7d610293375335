"""Limbs of two segments in closed form, with a swivel that does not jump (CN106502395).

The middle joint lies in a plane through root and end. A reference field of normals on the sphere of the end's
directions p defines the zero of this plane: F(p) = R(x -> p) y, with the shortest rotation from x to p. The field is
smooth everywhere but at -x, the direction that the limb cannot take. The swivel is the angle about p from F(p) to the
plane's normal; the joint bends about the normal by a positive angle.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...rotation import Array, cross, lengths

_SINGULAR: Final = 1e-12  # of 1 + cosine: nearer to -x, F is y, as in the source
# Sines of the bend: from the second one on the bend defines the plane, up to the first one the hinge does.
_STRAIGHT: Final = (0.01, 0.05)


@dataclass(frozen=True, eq=False)
class Limb:
    """The three points of a limb (..., 3) and the unit normal of its plane (..., 3), about which its joint bends."""

    root: Array
    middle: Array
    end: Array
    normal: Array


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
    clear = np.clip((_dot(bend, across) - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0]), 0.0, 1.0)
    clear = clear * clear * (3.0 - 2.0 * clear)
    return Limb(root, middle, end, _unit(clear * _unit(bend) + (1.0 - clear) * across))


def swivel_of(limb: Limb, field: Array) -> Array:
    """Return the swivel (...) of a limb, radians; `field` (..., 3, 3) has the axes x, y and z of F as columns."""
    way = _unit(limb.end - limb.root)
    zero = _in_space(field, way)
    return np.arctan2(_dot(cross(zero, limb.normal), way), _dot(zero, limb.normal))[..., 0]


def bend_limb(field: Array, root: Array, target: Array, upper: Array, lower: Array, swivel: Array) -> Limb:
    """Return the limb at a swivel (...) with its end at `target` (..., 3), or as near as its lengths (...) allow.

    field (..., 3, 3) is as in `swivel_of`, root (..., 3); upper and lower are the lengths of the segments.
    """
    far = lengths(target - root)
    way = np.where((far > 0.0)[..., None], _unit(target - root), field[..., :, 0])
    reach = np.clip(far, np.abs(upper - lower), upper + lower)
    # law of cosines, at the root
    twice = 2.0 * upper * reach
    cosine = (upper * upper + reach * reach - lower * lower) / np.where(twice > 0.0, twice, 1.0)
    cosine = np.clip(np.where(twice > 0.0, cosine, 0.0), -1.0, 1.0)[..., None]
    zero = _in_space(field, way)
    normal = np.cos(swivel)[..., None] * zero + np.sin(swivel)[..., None] * cross(way, zero)
    out = cross(way, normal)
    middle = root + upper[..., None] * (cosine * way + np.sqrt(1.0 - cosine * cosine) * out)
    return Limb(root, middle, root + reach[..., None] * way, normal)


def swivel_towards(field: Array, root: Array, end: Array, middle: Array) -> Array:
    """Return the swivel (...) at which the middle joint is nearest to a place `middle` (..., 3)."""
    way = _unit(end - root)
    normal = _unit(cross(middle - root, way))
    return swivel_of(Limb(root, middle, end, normal), field)


def plane_frame(way: Array, normal: Array) -> Array:
    """Return a segment's frame (..., 3, 3): its direction, its plane's normal at a right angle, their cross product."""
    first = _unit(way)
    second = _unit(normal - _dot(normal, first) * first)
    return np.stack([first, second, cross(first, second)], axis=-1)


def _in_space(field: Array, way: Array) -> Array:
    """Return F (..., 3) of a direction, both in armature space."""
    local = (np.swapaxes(field, -1, -2) @ way[..., None])[..., 0]
    return (field @ reference_field(local)[..., None])[..., 0]


def _dot(a: Array, b: Array) -> Array:
    """(..., 1)"""
    return np.sum(a * b, axis=-1, keepdims=True)


def _unit(vectors: Array) -> Array:
    length = lengths(vectors)[..., None]
    return vectors / np.where(length > 0.0, length, 1.0)
