"""The ground that a body moves on, where that is meshes: the armature's setting Ground."""

from typing import Any, Final

import numpy as np
from mathutils.bvhtree import BVHTree

from ..core.rotation import Array
from .channels import ArmatureObject
from .errors import BridgeError
from .surfaces import Faces, MeshSurface, joined, read_faces
from .worlds import world_up

_STEP: Final = 0.35  # sizes of the skeleton: what is so far above a foot is a step up, as three stairs at once are
_BEYOND: Final = 1e-6  # of the step: where the next face is looked for


class MeshGround:
    """All faces of a collection as they are at the present frame, in the space of an object with a world matrix.

    Called with positions (..., 3) it returns the heights (...) of the ground there along the world's up, and -inf where
    nothing is. That is what is under a point one step above; if this is in a solid, or behind a face that looks up, it
    is where that ends, however high. So the underside of what is higher than a step is a roof, and a slope never is.
    """

    def __init__(self, context: Any, collection: Any, world: Array, size: float) -> None:
        up = world_up(world)
        self._up, self._step = up / np.linalg.norm(up), _STEP * size
        places, corners = joined(_read_faces(context, collection, world))
        self._tree: Any = BVHTree.FromPolygons(places.tolist(), corners.tolist(), all_triangles=True)

    def __call__(self, positions: Array) -> Array:
        """Return heights, see the class."""
        found = [self._under(place)[0] for place in positions.reshape(-1, 3)]
        heights = np.array([-np.inf if hit is None else np.dot(hit, self._up) for hit in found])
        return heights.reshape(positions.shape[:-1])

    def plane(self, place: Array) -> tuple[Array, Array] | None:
        """Return the point and the unit normal (3,), not below the horizontal, of the ground at a place (3,)."""
        hit, normal = self._under(place)
        if hit is None:
            return None
        square = np.array(normal)
        return np.array(hit), square if square @ self._up > 0.0 else -square

    def _under(self, place: Array) -> tuple[Any, Any]:
        """Return the point and the normal of the ground at a place (3,), or None and None."""
        start = place + self._step * self._up
        depth, above = 0, list[tuple[Any, Any, int]]()  # how many more solids end than begin above the start
        hit, normal, *_ = self._tree.ray_cast(start.tolist(), self._up.tolist())
        while hit is not None:
            depth += 1 if np.dot(normal, self._up) > 0.0 else -1
            above.append((hit, normal, depth))
            hit, normal, *_ = self._tree.ray_cast(
                (np.array(hit) + _BEYOND * self._step * self._up).tolist(), self._up.tolist()
            )
        if depth > 0:  # the start is in so many
            return next((hit, normal) for hit, normal, ended in above if ended == depth)
        hit, normal, *_ = self._tree.ray_cast(start.tolist(), (-self._up).tolist())
        return hit, normal


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
    return MeshSurface(_read_faces(context, collection, world))


def _read_faces(context: Any, collection: Any, world: Array) -> Faces:
    """Return the faces of a collection; raises BridgeError if it has none."""
    read = read_faces(context, collection.all_objects, world)
    if not read:
        raise BridgeError(f'The collection "{collection.name}" has no mesh with faces to use as the ground.')
    return read
