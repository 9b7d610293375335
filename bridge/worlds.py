"""From the space of an armature to world space and back."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import rotation
from ..core.rotation import Array
from .channels import ArmatureObject
from .errors import BridgeError


def world_matrix(armature: ArmatureObject) -> Array:
    """Return the matrix (4, 4) from armature space to world space, as of the last update of the view layer."""
    return np.array(armature.matrix_world, float)


def length_scale(world: Array) -> Array:
    """Return the world length (...) of an armature unit under matrices (..., 4, 4): the mean if the scale is uneven."""
    return np.cbrt(np.abs(np.linalg.det(world[..., :3, :3])))


def largest_scale(worlds: Array) -> float:
    """Return the largest world length of an armature unit, in any direction, under matrices (..., 4, 4)."""
    return float(np.linalg.norm(worlds[..., :3, :3], ord=2, axis=(-2, -1)).max())


def world_up(world: Array) -> Array:
    """Return the world's Z axis (3,), not normalised, in the space of an object with this world matrix (4, 4).

    Raises BridgeError if a scale is zero.
    """
    check_invertible(world)
    return np.linalg.solve(world[:3, :3], [0.0, 0.0, 1.0])


def check_invertible(world: Array) -> None:
    """Raise BridgeError if a scale of a world matrix (..., 4, 4) is zero."""
    if not np.all(np.abs(np.linalg.det(world[..., :3, :3])) > 0.0):
        raise BridgeError("The armature object has a scale of zero.")


def armature_to_world(
    matrix: ArrayLike, positions: ArrayLike | None = None, rotations: ArrayLike | None = None
) -> tuple[Any, Any]:
    """Return positions (..., 3) and rotations (..., 4) transformed by `matrix` (..., 4, 4); None for those not given.

    Positions are transformed by the full matrix, rotations by its nearest rotation: scale and shear do not turn frames.
    """
    m = np.asarray(matrix, float)
    moved = turned = None
    if positions is not None:
        moved = (m[..., :3, :3] @ np.asarray(positions, float)[..., None])[..., 0] + m[..., :3, 3]
    if rotations is not None:
        turned = rotation.mul(rotation.from_matrix(rotation.nearest_rotation(m[..., :3, :3])), rotations)
    return moved, turned


def world_to_armature(
    matrix: ArrayLike, positions: ArrayLike | None = None, rotations: ArrayLike | None = None
) -> tuple[Any, Any]:
    """Return the inverse of `armature_to_world`. Raises BridgeError if a scale is zero."""
    m = np.asarray(matrix, float)
    check_invertible(m)
    moved = armature_to_world(np.linalg.inv(m), positions)[0]
    turned = None
    if rotations is not None:
        turned = rotation.mul(rotation.inv(rotation.from_matrix(rotation.nearest_rotation(m[..., :3, :3]))), rotations)
    return moved, turned
