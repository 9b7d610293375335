"""Swing and twist of a bone along +Y: the two components of the swing, the angle of the twist, and their rates.

A rotation is swing * twist. The swing by gamma is the shortest rotation of the bone to its direction: its quaternion is
(cos(gamma / 2), x, 0, z) with |(x, z)| = sin(gamma / 2). The twist is a rotation about the bone. Rates are derivatives
by omega, which turns the bone in its own frame: R -> R exp(omega). Matrices are own rotations (..., k, 3, 3).
"""

from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array

NEAR_SINGULAR: Final = 1e-6  # cosine of half a swing below which its direction and the twist are ambiguous
_SIGNS: Final = np.array([1.0, -1.0])
_ACROSS: Final = np.array([1.0, 0.0])  # direction of a swing by half a turn that the rotation does not determine
_LINK: Final = np.array([0.0, 1.0, 0.0])


def swing_vector(matrices: Array) -> tuple[Array, Array]:
    """Return the vector part x, z of the swing quaternion (..., k, 2) and the cosine of half the swing (..., k)."""
    # the bone's direction, column Y, is across from the swing's axis: x = m21 / (2 cosine), z = -m01 / (2 cosine)
    across = matrices[..., 2::-2, 1] * _SIGNS
    cosine = np.sqrt(np.maximum(0.5 + 0.5 * matrices[..., 1, 1], NEAR_SINGULAR**2))
    vector = across * (0.5 / cosine)[..., None]
    if np.count_nonzero(cosine <= NEAR_SINGULAR):  # half a turn has the largest vector, not none
        length = np.linalg.norm(across, axis=-1, keepdims=True)
        direction = np.where(length > 0.0, across / np.where(length > 0.0, length, 1.0), _ACROSS)
        vector = np.where((cosine <= NEAR_SINGULAR)[..., None], direction, vector)
    return vector, cosine


def swing_rates(matrices: Array, vector: Array, cosine: Array) -> Array:
    """Return d vector / d omega, (..., k, 2, 3)."""
    turning = np.zeros_like(matrices)  # of column Y with the frame: d m[r, 1] = m[r, 2] omega_x - m[r, 0] omega_z
    turning[..., 0], turning[..., 2] = matrices[..., 2], -matrices[..., 0]
    half = 0.5 / cosine[..., None, None]
    # cosine = sqrt((1 + m11) / 2)
    return half * (turning[..., 2::-2, :] * _SIGNS[:, None] - half * vector[..., None] * turning[..., 1:2, :])


def twist_angle(matrices: Array) -> Array:
    """Return the twist (..., k) in [-pi, pi]; it is arbitrary for a swing by half a turn."""
    # 4 w y and 2 (w^2 - y^2); 4 w y and 4 w^2 would both vanish at half a turn of twist
    return np.arctan2(matrices[..., 0, 2] - matrices[..., 2, 0], matrices[..., 0, 0] + matrices[..., 2, 2])


def twist_rates(matrices: Array, cosine: Array) -> Array:
    """Return d twist / d omega, (..., k, 3)."""
    rates = matrices[..., 1, :] / (2.0 * cosine * cosine)[..., None]
    rates[..., 1] = 1.0
    return rates


def from_swing_twist(vector: Array, twist: Array) -> Array:
    """Return the quaternions (..., 4) of swing vectors (..., 2) and twists (...), radians."""
    swing = np.zeros((*twist.shape, 4))
    swing[..., 0] = np.sqrt(np.maximum(1.0 - np.sum(vector * vector, axis=-1), 0.0))
    swing[..., 1], swing[..., 3] = vector[..., 0], vector[..., 1]
    return rotation.mul(rotation.normalize(swing), rotation.exp(twist[..., None] * _LINK))
