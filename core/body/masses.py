"""The masses of the parts of a body."""

from typing import Final

import numpy as np

from ..rotation import Array
from ..skeleton import Indices, Skeleton
from .detection import find_roles
from .roles import SIDES, Roles

# Shares of the whole body: D. A. Winter, Biomechanics and Motor Control of Human Movement, table "Anthropometric Data"
# (after Dempster 1955). The spine is thorax and abdomen, the head has the neck with it.
_SHARES: Final = {
    "hips": 0.142,
    "spine": 0.355,
    "head": 0.081,
    "upper_arm": 0.028,
    "forearm": 0.016,
    "hand": 0.006,
    "thigh": 0.100,
    "shin": 0.0465,
    "foot": 0.0145,
}


def masses_of(skeleton: Skeleton, roles: Roles | None = None) -> Array:
    """Return the shares (J,) of the bones in the body's mass, 1 in total.

    A human's bones have the masses of their roles (`find_roles` if None). The bones of one segment, twist bones
    included, share its mass by length, and all bones with mass share that of missing parts by length. The bones of
    other bodies have mass by length.
    """
    roles = find_roles(skeleton) if roles is None else roles
    everything = np.arange(len(skeleton))
    if not roles.humanoid:
        return _by_length(skeleton, everything)
    masses = np.zeros(len(skeleton))
    for part, share in _SHARES.items():
        for role in (part, *(f"{part}.{side}" for side in SIDES)):
            bones = [*roles.chain(role), *roles.twist.get(role, ())]
            if role == "head":
                bones += roles.chain("neck")
            if bones:
                masses += share * _by_length(skeleton, np.array(bones))
    heavy = np.flatnonzero(masses)
    rest = 1.0 - float(masses.sum())
    return masses + rest * _by_length(skeleton, heavy if len(heavy) else everything)


def _by_length(skeleton: Skeleton, bones: Indices) -> Array:
    """Return shares (J,) of these bones by length, 1 in total."""
    lengths = skeleton.lengths[bones]
    shares = np.zeros(len(skeleton))
    shares[bones] = lengths / lengths.sum() if lengths.any() else 1.0 / len(bones)
    return shares
