"""The only place that knows both Blender's data and core's arrays."""

from .armature import (
    PoseWriter,
    Rig,
    armature_to_world,
    check,
    find_again,
    mirrored,
    read_matrices,
    read_pose,
    read_rig,
    world_matrix,
    world_to_armature,
    write_pose,
)
from .body import Body, Changes, read_body, write_body
from .channels import read_channels, write_channels
from .controls import Puppet, controls_by_role, find_puppet, lead_puppet, read_puppet_pose
from .errors import BridgeError
from .keys import changed_bones, repeating_bones, rotation_curves, write_keys, write_reduced
from .learned import learned_cone, write_learned
from .motion import acting, assign, read_motion
from .pick import Grab, pick
from .roles import mapping_to_corrections, read_corrections, read_roles, write_corrections
from .view import View, read_view

__all__ = [
    "Body",
    "BridgeError",
    "Changes",
    "Grab",
    "PoseWriter",
    "Puppet",
    "Rig",
    "View",
    "acting",
    "armature_to_world",
    "assign",
    "changed_bones",
    "check",
    "controls_by_role",
    "find_again",
    "find_puppet",
    "lead_puppet",
    "learned_cone",
    "mapping_to_corrections",
    "mirrored",
    "pick",
    "read_body",
    "read_channels",
    "read_corrections",
    "read_matrices",
    "read_motion",
    "read_pose",
    "read_puppet_pose",
    "read_rig",
    "read_roles",
    "read_view",
    "repeating_bones",
    "rotation_curves",
    "world_matrix",
    "world_to_armature",
    "write_body",
    "write_channels",
    "write_corrections",
    "write_keys",
    "write_learned",
    "write_pose",
    "write_reduced",
]
