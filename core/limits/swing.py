"""Swing and twist of a bone, its link along +Y: the two numbers of the swing, the angle of the twist, and their rates.

A rotation is swing * twist. The swing by gamma takes the link by the shortest way to its direction: its quaternion is
(cos(gamma / 2), x, 0, z) with |(x, z)| = sin(gamma / 2). The twist is a rotation about the link. Rates are for omega,
which turns the bone in its own frame: R -> R exp(omega).
"""

from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array

NEAR_SINGULAR: Final = 1e-6  # cosine of half a swing under which its direction and the twist are not told apart
_SIGNS: Final = np.array([1.0, -1.0])
_ACROSS: Final = np.array([1.0, 0.0])  # the direction of a swing by half a turn, where the rotation does not say
_LINK: Final = np.array([0.0, 1.0, 0.0])


def swing_vector(matrices: Array) -> tuple[Array, Array]:
    """Vector part x, z of the swing quaternion (..., k, 2) and the cosine of half the swing (..., k)."""
    # the link's direction, column Y, is across from the swing's axis: x = m21 / (2 cosine), z = -m01 / (2 cosine)
    across = matrices[..., 2::-2, 1] * _SIGNS
    cosine = np.sqrt(np.maximum(0.5 + 0.5 * matrices[..., 1, 1], NEAR_SINGULAR**2))
    vector = across * (0.5 / cosine)[..., None]
    if np.count_nonzero(cosine <= NEAR_SINGULAR):  # half a turn is as far away as can be, not nowhere
        length = np.linalg.norm(across, axis=-1, keepdims=True)
        direction = np.where(length > 0.0, across / np.where(length > 0.0, length, 1.0), _ACROSS)
        vector = np.where((cosine <= NEAR_SINGULAR)[..., None], direction, vector)
    return vector, cosine


def swing_rates(matrices: Array, vector: Array, cosine: Array) -> Array:
    """d vector / d omega, (..., k, 2, 3)."""
    turning = np.zeros_like(matrices)  # of column Y with the frame: d m[r, 1] = m[r, 2] omega_x - m[r, 0] omega_z
    turning[..., 0], turning[..., 2] = matrices[..., 2], -matrices[..., 0]
    half = 0.5 / cosine[..., None, None]
    # cosine = sqrt((1 + m11) / 2)
    return half * (turning[..., 2::-2, :] * _SIGNS[:, None] - half * vector[..., None] * turning[..., 1:2, :])


def twist_angle(matrices: Array) -> Array:
    """Twist (..., k) in [-pi, pi]; at a swing by half a turn any value may be read."""
    # 4 w y and 2 (w^2 - y^2); 4 w y and 4 w^2 would both vanish at half a turn of twist
    return np.arctan2(matrices[..., 0, 2] - matrices[..., 2, 0], matrices[..., 0, 0] + matrices[..., 2, 2])


def twist_rates(matrices: Array, cosine: Array) -> Array:
    """d twist / d omega, (..., k, 3)."""
    rates = matrices[..., 1, :] / (2.0 * cosine * cosine)[..., None]
    rates[..., 1] = 1.0
    return rates


def from_swing_twist(vector: Array, twist: Array) -> Array:
    """Quaternions (..., 4) of swing vectors (..., 2) and twists (...)."""
    swing = np.zeros((*twist.shape, 4))
    swing[..., 0] = np.sqrt(np.maximum(1.0 - np.sum(vector * vector, axis=-1), 0.0))
    swing[..., 1], swing[..., 3] = vector[..., 0], vector[..., 1]
    return rotation.mul(rotation.normalize(swing), rotation.exp(twist[..., None] * _LINK))
