"""The joints of IK chains with a pole as hinges.

Blender turns such a chain as a whole towards its target and its pole, and then bends it: a chain of two bones stays in
the plane that it has at rest, and bends to the side to which it is bent there
(source/blender/ikplugin/intern/iksolver_plugin.cc, intern/iksolver/intern/IK_QJacobianSolver.cpp).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core import rotation
from ..core.limits import EulerBox, Framed
from ..core.rotation import Array
from ..core.skeleton import Indices

_STRAIGHT: Final = float(np.radians(0.1))  # a chain that is bent by less at rest has no plane


def hinge_limits(parts: Sequence[int], heads: Array, ends: Array, turns: Array) -> tuple[Framed, ...]:
    """Return the limits of the lower parts (n) of chains: a group or none.

    heads (n, 2, 3) of both segments, ends (n, 3) of the lower ones and turns (n, 4) of these, all at rest.
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
    low[:, 0], high[:, 0] = -bent[kept], np.pi - bent[kept]
    numbers: Indices = np.array(parts)[kept]
    return (Framed(EulerBox(numbers, ["XYZ"] * len(kept), low, high), before, rotation.inv(before)),)


def rest_planes(heads: Array, ends: Array) -> tuple[Array, Array]:
    """Return the unit normals (n, 3) of the planes in which chains of two are bent at rest, and by how much (n,).

    heads (n, 2, 3) of both segments, ends (n, 3) of the lower ones. The angle, in radians, is 0 if there is no plane.
    """
    upper, lower = heads[:, 1] - heads[:, 0], ends - heads[:, 1]
    across = np.cross(upper, lower)
    far = np.linalg.norm(across, axis=-1)
    bent = np.arctan2(far, np.sum(upper * lower, axis=-1))
    return across / np.where(far > 0.0, far, 1.0)[:, None], np.where(bent > _STRAIGHT, bent, 0.0)
