"""Read and write the channels of pose bones as arrays.

Channel arrays are (..., J, n) by the names of Blender's properties; rotations are unit quaternions (..., 4).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import bpy
import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot
from numpy.typing import NDArray

from ..core.channels import to_rotations
from ..core.rotation import IDENTITY, Array
from .errors import BridgeError

CHANNELS: Final = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_axis_angle": 4,  # the angle comes first
    "rotation_euler": 3,
    "scale": 3,
}

_PRECISION: Final = float(np.finfo(np.float32).eps)
AXES: Final = ("x", "y", "z")  # as names of properties have them

# an object whose data is an armature; stubs of bpy know neither its bones nor its pose
ArmatureObject = Any

ModeGroups = Mapping[str, NDArray[np.int64]]  # bones by rotation mode


def rotation_channel(mode: str) -> str:
    """Return the name of the property that holds the rotation of a bone in this mode."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def channel_path(bone: str, name: str) -> str:
    """Return the data path of a bone's property, or of its custom property ["name"], from the object."""
    owner = f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'
    return owner + name if name.startswith("[") else f"{owner}.{name}"


def channelbag_of(owner: Any) -> Any:
    """Return the F-curves and groups of a data block in its action, or None."""
    data = owner.animation_data
    return action_get_channelbag_for_slot(data.action, data.action_slot) if data is not None else None


def read_channels(
    armature: ArmatureObject, names: Iterable[str] = CHANNELS, dtype: type[np.floating[Any]] = np.float64
) -> dict[str, Array]:
    """Return the current channels (J, n); with float32 they are exactly Blender's values."""
    bones = armature.pose.bones
    count, result = len(bones), {}  # Blender counts them one by one
    for name in names:
        values = np.empty(count * CHANNELS[name], np.float32)
        bones.foreach_get(name, values)
        result[name] = values.reshape(-1, CHANNELS[name]).astype(dtype, copy=False)
    return result


def write_channels(armature: ArmatureObject, channels: Mapping[str, Array]) -> None:
    """Set channels (J, n) of all bones. Blender evaluates the pose at the next update."""
    bones = armature.pose.bones
    for name, values in channels.items():
        bones.foreach_set(name, values.astype(np.float32, copy=False).ravel())
    armature.update_tag(refresh={"DATA"})


def channels_to_rotations(channels: Mapping[str, Array], modes: ModeGroups) -> Array:
    """Return the unit quaternions (..., J, 4) that Blender evaluates from channels, which need not be normalised.

    Bones that are in no mode have the identity.
    """
    shape = channels["location"].shape[:-1]
    if len(modes) == 1:
        mode = next(iter(modes))
        return to_rotations(channels[rotation_channel(mode)], mode)
    result = np.broadcast_to(IDENTITY, (*shape, 4)).copy()
    for mode, bones in modes.items():
        result[..., bones, :] = to_rotations(channels[rotation_channel(mode)][..., bones, :], mode)
    return result


def check_channels(names: Sequence[str], size: float, channels: Mapping[str, Array]) -> None:
    """Raise BridgeError if channels (..., J, n) of bones with these names are not finite, or too far for float32.

    `size`: of the skeleton; farther than this divided by the precision, Blender cannot show a pose.
    """
    for name, values in channels.items():
        most = size / _PRECISION if name == "location" else np.finfo(np.float32).max
        if not np.abs(values).max(initial=0.0) <= most:  # true for NaN, too
            bone = int(np.argwhere(~(np.abs(values) <= most))[0, -2])
            raise BridgeError(f'The {name.replace("_", " ")} of "{names[bone]}" is not finite, or too large to show.')


def gather(collection: Any, name: str, size: int) -> Array:
    """Return one property of all items of a collection, (n, size) float64."""
    values = np.empty(len(collection) * size, np.float32)
    collection.foreach_get(name, values)
    return values.reshape(-1, size).astype(float)


def flags(collection: Any, name: str, size: int) -> NDArray[np.bool_]:
    """Return one property of all items of a collection, (n, size) bool."""
    values = np.empty(len(collection) * size, bool)
    collection.foreach_get(name, values)
    return values.reshape(-1, size)


def by_axis(collection: Any, name: str, dtype: type) -> Array:
    """Return a property that exists for each of x, y, z, (J, 3)."""
    result = np.empty((3, len(collection)), dtype)
    for axis, values in zip(AXES, result, strict=True):
        collection.foreach_get(name.format(axis), values)
    return result.T.astype(float)
