"""The only place that knows both Blender's data and core's arrays."""

from .armature import (
    PoseWriter,
    Rig,
    armature_to_world,
    check,
    mirrored,
    read_matrices,
    read_pose,
    read_rig,
    read_roles,
    world_matrix,
    world_to_armature,
    write_pose,
)
from .channels import read_channels, write_channels
from .errors import BridgeError
from .keys import changed_bones, repeating_bones, rotation_curves, write_keys, write_reduced
from .motion import acting, assign, read_motion
from .pick import Grab, pick
from .view import View, read_view

__all__ = [
    "BridgeError",
    "Grab",
    "PoseWriter",
    "Rig",
    "View",
    "acting",
    "armature_to_world",
    "assign",
    "changed_bones",
    "check",
    "mirrored",
    "pick",
    "read_channels",
    "read_matrices",
    "read_motion",
    "read_pose",
    "read_rig",
    "read_roles",
    "read_view",
    "repeating_bones",
    "rotation_curves",
    "world_matrix",
    "world_to_armature",
    "write_channels",
    "write_keys",
    "write_pose",
    "write_reduced",
]
