"""The ground that a body moves on, where that is meshes: the armature's setting Ground."""

from typing import Any, Final

import numpy as np
from mathutils.bvhtree import BVHTree

from ..core.rotation import Array
from .channels import ArmatureObject
from .errors import BridgeError
from .surfaces import MeshSurface, read_triangles
from .worlds import world_up

# Sizes of the skeleton: what is so far above a foot is still its ground, as three stairs under one step are; what is
# higher, as the top of a table, is a roof.
_ABOVE: Final = 0.35


class MeshGround:
    """All meshes of a collection as they are at the present frame, in the space of an object with a world matrix.

    Called with positions (..., 3) it returns the heights (...) of what is under them along the world's up, and -inf
    where nothing is.
    """

    def __init__(self, context: Any, collection: Any, world: Array, size: float) -> None:
        up = world_up(world)
        self._up, self._above = up / np.linalg.norm(up), _ABOVE * size
        read = [read_triangles(context, owner, world) for owner in collection.all_objects if owner.type == "MESH"]
        starts = np.cumsum([0, *(len(places) for places, _ in read)])
        triangles = [
            corner for (_, corners), start in zip(read, starts, strict=False) for corner in (corners + start).tolist()
        ]
        if not triangles:
            raise BridgeError(f'The collection "{collection.name}" has no mesh with faces to use as the ground.')
        tree: Any = BVHTree.FromPolygons(
            np.concatenate([places for places, _ in read]).tolist(), triangles, all_triangles=True
        )
        self._tree = tree

    def __call__(self, positions: Array) -> Array:
        """Return heights, see the class."""
        starts = positions.reshape(-1, 3) + self._above * self._up
        down = (-self._up).tolist()
        found = [self._tree.ray_cast(start, down)[0] for start in starts.tolist()]
        heights = np.array([-np.inf if hit is None else np.dot(hit, self._up) for hit in found])
        return heights.reshape(positions.shape[:-1])

    def plane(self, place: Array) -> tuple[Array, Array] | None:
        """Return the point and the unit normal (3,), not below the horizontal, of what is under a place (3,)."""
        hit, normal, *_ = self._tree.ray_cast((place + self._above * self._up).tolist(), (-self._up).tolist())
        if hit is None:
            return None
        square = np.array(normal)
        return np.array(hit), square if square @ self._up > 0.0 else -square


def read_ground(context: Any, armature: ArmatureObject, world: Array, size: float) -> MeshGround | None:
    """Return the meshes that are an armature's ground, in the space of an object with this world matrix (4, 4).

    None where its ground is a plane. `size` is that of its skeleton, in that space. Raises BridgeError for a collection
    without faces.
    """
    collection = armature.poise_ground
    return None if collection is None else MeshGround(context, collection, world, size)


def read_ground_surface(context: Any, armature: ArmatureObject, world: Array) -> MeshSurface:
    """Return all sides of the meshes that are an armature's ground, in the space of a world matrix (4, 4).

    Raises BridgeError where its ground is a plane.
    """
    collection = armature.poise_ground
    if collection is None:
        raise BridgeError(
            f'"{armature.name}" has no collection with meshes to hold the hands on. Choose one as Ground.'
        )
    return MeshSurface(context, [owner for owner in collection.all_objects if owner.type == "MESH"], world)
