"""The joints of IK chains with a pole as hinges.

Blender turns such a chain as a whole towards its target and its pole, and then bends it: a chain of two bones stays in
the plane that it has at rest, and bends to the side to which it is bent there
(source/blender/ikplugin/intern/iksolver_plugin.cc, intern/iksolver/intern/IK_QJacobianSolver.cpp).
Where it may not twist the upper bone, only another axis of that bone turns the end out of the plane. Once the bone is
square to the line to the end, that axis is along this line and turns the end no more: the solver ends anywhere.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..core import rotation
from ..core.limits import EulerBox, Framed, LimitGroup
from ..core.pose import frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .control_graph import Graph

_STRAIGHT: Final = float(np.radians(0.1))  # a chain that is bent by less at rest has no plane
# of an upper bone without twist from the line to the end: Blender 4.5 and 5.2 showed all limbs at up to 80 degrees, at
# 81 the first one elsewhere, at 90 most of them
_SQUARE: Final = float(np.radians(80.0))


def hinges_of(graph: Graph, parts: Mapping[int, int]) -> tuple[LimitGroup, ...]:
    """Return the limits of the lower segments of chains of two with a pole; `parts`: bone -> its number."""
    lower = [part for _, part in _pairs(graph) if graph.bent[part].poled and part in parts]
    bones, firsts = _segments(graph, lower)
    heads, ends = _at_rest(graph, lower)
    by_locks = graph.ik_locks[bones].sum(axis=1) > 1  # hinges without a limit
    most = largest_bends(heads, ends, by_locks & graph.ik_locks[firsts, 1])
    kept = ~by_locks | (most < np.pi)
    numbers = np.array([parts[part] for part in lower], int)
    turns = frame_rotations(graph.rest[bones, :, :3])
    return hinge_limits(numbers[kept], heads[kept], ends[kept], turns[kept], most[kept])


def hinge_axes(graph: Graph) -> dict[tuple[int, int], Array]:
    """Return the parts of chains of two that bend about one axis -> this (3,) at rest, in armature space.

    It is the axis that IK locks leave free or, with a pole, the normal of the plane in which the chain is bent.
    """
    pairs = _pairs(graph)
    axes, bent = rest_planes(*_at_rest(graph, [lower for _, lower in pairs]))
    found: dict[tuple[int, int], Array] = {}
    for pair, axis, angle in zip(pairs, axes, bent.tolist(), strict=True):
        chain = graph.bent[pair[1]]
        free = np.flatnonzero(~graph.ik_locks[chain.parts[pair[1]]])
        if angle and (chain.poled or len(free) == 1):
            found[pair] = graph.rest[chain.parts[pair[1]], :, free[0]] if len(free) == 1 else axis
    return found


def _pairs(graph: Graph) -> list[tuple[int, int]]:
    """Return the upper and the lower part of the chains that bend two parts."""
    chains = {id(chain): chain for chain in graph.bent.values()}
    return [(upper, lower) for upper, lower in (tuple(one.parts) for one in chains.values() if len(one.parts) == 2)]


def _segments(graph: Graph, lower: list[int]) -> tuple[list[int], list[int]]:
    """Return the bones that chains with some `lower` parts bend: the lower ones, and the first ones."""
    bones = [graph.bent[part].parts[part] for part in lower]
    return bones, [next(iter(graph.bent[part].parts.values())) for part in lower]


def _at_rest(graph: Graph, lower: list[int]) -> tuple[Array, Array]:
    """Return where both segments of chains with some `lower` parts begin (n, 2, 3), and where they end (n, 3)."""
    bones, firsts = _segments(graph, lower)
    heads, along = graph.rest[bones, :, 3], graph.rig.skeleton.lengths[bones, None] * graph.rest[bones, :, 1]
    return np.stack([graph.rest[firsts, :, 3], heads], axis=1), heads + along


def hinge_limits(parts: Indices, heads: Array, ends: Array, turns: Array, most: Array) -> tuple[Framed, ...]:
    """Return the limits of the lower parts (n) of chains: a group or none.

    heads (n, 2, 3) of both segments, ends (n, 3) of the lower ones and turns (n, 4) of these, all at rest; `most` (n,):
    the largest angles between both segments.
    """
    axes, bent = rest_planes(heads, ends)
    kept = np.flatnonzero(bent)
    if not len(kept):
        return ()
    lower = (ends - heads[:, 1])[kept]
    x, y = axes[kept], lower / np.linalg.norm(lower, axis=-1, keepdims=True)
    frames = rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
    before = rotation.mul(rotation.inv(frames), turns[kept])
    high = np.zeros((len(kept), 3))
    low = high.copy()
    low[:, 0], high[:, 0] = -bent[kept], most[kept] - bent[kept]
    return (Framed(EulerBox(parts[kept], ["XYZ"] * len(kept), low, high), before, rotation.inv(before), firm=True),)


def largest_bends(heads: Array, ends: Array, untwisted: Flags) -> Array:
    """Return the largest angles (n,) between both segments of chains of two that Blender's IK shows.

    heads, ends: see `hinge_limits`; untwisted (n,): whether IK may neither twist the upper bone nor turn the lower one
    out of the plane.
    """
    upper, lower = (np.linalg.norm(way, axis=-1) for way in (heads[:, 1] - heads[:, 0], ends - heads[:, 1]))
    across = upper * np.sin(_SQUARE)
    longer = lower > across  # else it ends before the upper bone is square
    at_end = np.arcsin(np.divide(across, lower, out=np.ones_like(lower), where=longer))
    return np.where(untwisted & longer, _SQUARE + at_end, np.pi)


def rest_planes(heads: Array, ends: Array) -> tuple[Array, Array]:
    """Return the unit normals (n, 3) of the planes in which chains of two are bent at rest, and by how much (n,).

    heads (n, 2, 3) of both segments, ends (n, 3) of the lower ones. The angle, in radians, is 0 if there is no plane.
    """
    upper, lower = heads[:, 1] - heads[:, 0], ends - heads[:, 1]
    across = np.cross(upper, lower)
    far = np.linalg.norm(across, axis=-1)
    bent = np.arctan2(far, np.sum(upper * lower, axis=-1))
    return across / np.where(far > 0.0, far, 1.0)[:, None], np.where(bent > _STRAIGHT, bent, 0.0)
