"""The only place that knows both Blender's data and core's arrays."""

from .armature import (
    PoseWriter,
    Rig,
    armature_to_world,
    check,
    find_again,
    length_scale,
    mirrored,
    read_matrices,
    read_pose,
    read_rig,
    say_length,
    world_matrix,
    world_to_armature,
    world_up,
    write_pose,
)
from .body import Body, Changes, allow, held_back, read_body, write_body
from .channels import read_channels, write_channels
from .controls import ControlledBody, controls_by_role, find_controlled, lead_controls, read_controlled
from .errors import BridgeError
from .keys import changed_bones, repeating_bones, rotation_curves, write_keys, write_reduced
from .learned import learned_cone, write_learned
from .motion import acting, assign, read_motion
from .pick import Grab, pick
from .rest import NewRest, make_rest
from .roles import mapping_to_corrections, read_corrections, read_roles, write_corrections
from .view import View, read_view

__all__ = [
    "Body",
    "BridgeError",
    "Changes",
    "ControlledBody",
    "Grab",
    "NewRest",
    "PoseWriter",
    "Rig",
    "View",
    "acting",
    "allow",
    "armature_to_world",
    "assign",
    "changed_bones",
    "check",
    "controls_by_role",
    "find_again",
    "find_controlled",
    "held_back",
    "lead_controls",
    "learned_cone",
    "length_scale",
    "make_rest",
    "mapping_to_corrections",
    "mirrored",
    "pick",
    "read_body",
    "read_channels",
    "read_controlled",
    "read_corrections",
    "read_matrices",
    "read_motion",
    "read_pose",
    "read_rig",
    "read_roles",
    "read_view",
    "repeating_bones",
    "rotation_curves",
    "say_length",
    "world_matrix",
    "world_to_armature",
    "world_up",
    "write_body",
    "write_channels",
    "write_corrections",
    "write_keys",
    "write_learned",
    "write_pose",
    "write_reduced",
]
