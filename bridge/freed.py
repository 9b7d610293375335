"""The rig as keys see it: nothing drives its bones, and no lock stops them."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .armature import Rig
from .channels import ArmatureObject, flags


def freed_rig(armature: ArmatureObject, rig: Rig, bones: Iterable[int]) -> Rig:
    """Return the rig in which `bones` get all keys: nothing drives them, and locks, which are for the hand, are off."""
    skeleton, free = rig.skeleton, np.isin(np.arange(len(rig.skeleton)), [*bones])
    connected = np.where(free, flags(armature.data.bones, "use_connect", 1)[:, 0], skeleton.connected)
    opened = replace(
        skeleton,
        movable=skeleton.movable | free,
        translatable=skeleton.translatable | (free & ~connected)[:, None],
        rotation_locks=skeleton.rotation_locks & ~free[:, None],
        connected=connected,
    )
    return replace(rig, skeleton=opened)
