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
from .controls import (
    ControlledBody,
    controls_by_role,
    find_controlled,
    lead_controls,
    lone_controls,
    read_controlled,
)
from .errors import BridgeError
from .grab import Grab, pick
from .keys import (
    changed_bones,
    count_keys,
    remove_keys,
    repeating_bones,
    rotation_curves,
    stepped_bones,
    write_keys,
    write_motion,
    write_reduced,
)
from .learned import learned_cone, write_learned
from .motion import acting, all_curves, assign, keyed_range, read_motion
from .rest import NewRest, make_rest
from .roles import mapping_to_corrections, read_corrections, read_roles, write_corrections
from .shapes import read_outline
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
    "all_curves",
    "allow",
    "armature_to_world",
    "assign",
    "changed_bones",
    "check",
    "controls_by_role",
    "count_keys",
    "find_again",
    "find_controlled",
    "held_back",
    "keyed_range",
    "lead_controls",
    "learned_cone",
    "length_scale",
    "lone_controls",
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
    "read_outline",
    "read_pose",
    "read_rig",
    "read_roles",
    "read_view",
    "remove_keys",
    "repeating_bones",
    "rotation_curves",
    "say_length",
    "stepped_bones",
    "world_matrix",
    "world_to_armature",
    "world_up",
    "write_body",
    "write_channels",
    "write_corrections",
    "write_keys",
    "write_learned",
    "write_motion",
    "write_pose",
    "write_reduced",
]
