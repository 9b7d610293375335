"""The outline of the directions that a bone may take within its limits."""

from typing import Final

import numpy as np

from .. import rotation
from ..rotation import Array
from .framed import Framed
from .group import LimitGroup

_LINK: Final = np.array([0.0, 1.0, 0.0])
_WAYS: Final = 32
_STEPS: Final = 91  # of a half turn
_SLACK: Final = 1e-6  # radians


def swing_outline(group: LimitGroup) -> Array:
    """Return unit directions (n, 3) before the bone's own rotation, to all sides of the middle, of limits of one bone.

    To each side the bone is swung from where the limits' angles are zero until it leaves them; twists are left out.
    """
    before, after = (frames[0] for frames in group.frames) if isinstance(group, Framed) else (rotation.IDENTITY,) * 2
    link = rotation.rotate(rotation.inv(after), _LINK)
    aside = np.cross(link, np.eye(3)[np.argmin(np.abs(link))])
    aside /= np.linalg.norm(aside)
    around = np.linspace(0.0, 2.0 * np.pi, _WAYS, endpoint=False)[:, None]
    axes = np.cos(around) * aside + np.sin(around) * np.cross(link, aside)
    angles = np.linspace(0.0, np.pi, _STEPS)
    swings = rotation.exp(angles[:, None, None] * axes)  # (steps, ways, 4)
    turns = rotation.mul(rotation.mul(rotation.inv(before), swings), rotation.inv(after))
    values = group.coordinates(rotation.to_matrix(turns)[..., None, :, :])
    outside = np.any((values < group.lower - _SLACK) | (values > group.upper + _SLACK), axis=(-1, -2))
    first = np.where(outside.any(axis=0), np.maximum(outside.argmax(axis=0) - 1, 0), _STEPS - 1)
    return rotation.rotate(turns[first, np.arange(_WAYS)], _LINK)
