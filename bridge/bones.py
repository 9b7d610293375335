"""Read the bones of an armature as they are at rest, which only edit mode changes."""

from typing import Any

import numpy as np

from ..core import rotation
from .channels import ArmatureObject, gather
from .errors import BridgeError


def read_bones(armature: ArmatureObject) -> dict[str, Any]:
    """Return names, parents, lengths and rest frames of all bones, as a Skeleton has them; of hidden armatures, too.

    Raises BridgeError for numbers that are not finite.
    """
    bones = armature.data.bones
    names = tuple(bones.keys())
    index = {name: place for place, name in enumerate(names)}
    parents = np.array([-1 if above is None else index[above.name] for above in (bone.parent for bone in bones)], int)
    # Blender computes with these values; rest matrices in armature space are their products
    lengths = gather(bones, "length", 1)[:, 0]
    offsets = gather(bones, "head", 3)
    offsets[:, 1] += np.where(parents >= 0, lengths[parents], 0.0)
    rest = gather(bones, "matrix", 9).reshape(-1, 3, 3).swapaxes(1, 2)
    if not all(np.isfinite(values).all() for values in (lengths, offsets, rest)):
        raise BridgeError(f'Bones of the armature "{armature.name}" have rest positions that are not finite numbers.')
    return {
        "names": names,
        "parents": parents,
        "offsets": offsets,
        "rest_rotations": rotation.from_matrix(rotation.nearest_rotation(rest)),
        "lengths": lengths,
        "rest_bases": rest,
    }
