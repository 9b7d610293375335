"""The only place that knows both Blender's data and core's arrays."""

from .armature import (
    Rig,
    armature_to_world,
    check,
    read_matrices,
    read_pose,
    read_rig,
    world_matrix,
    world_to_armature,
    write_pose,
)
from .errors import BridgeError
from .keys import changed_bones, repeating_bones, write_keys
from .motion import read_motion

__all__ = [
    "BridgeError",
    "Rig",
    "armature_to_world",
    "changed_bones",
    "check",
    "read_matrices",
    "read_motion",
    "read_pose",
    "read_rig",
    "repeating_bones",
    "world_matrix",
    "world_to_armature",
    "write_keys",
    "write_pose",
]
