"""The only package that knows both Blender's data and core's arrays: armatures, poses, keys, motions, views."""

from .armature import (
    PoseWriter,
    Rig,
    check,
    deforming,
    find_again,
    mirrored,
    read_matrices,
    read_pose,
    read_rig,
    with_carried,
    write_pose,
)
from .body import (
    Body,
    allow,
    explain_limited_controls,
    explain_missed_bones,
    read_body,
    read_body_again,
    sentence_about,
    write_body,
)
from .breakdown_keys import key_pose_frames, mark_breakdowns
from .channels import read_channels, write_channels
from .constraints import moves_itself, place_limits
from .control_bodies import (
    controls_by_role,
    find_barred,
    find_controlled,
    find_root_control,
)
from .control_frames import (
    ControlledFrames,
    Misfit,
    explain_misfit,
    find_controlled_frames,
    find_misfits,
    read_state,
    repeated,
    say_beside,
)
from .control_switch import Switch, find_switch
from .controlled_body import Control, ControlledBody, Gaps, read_controlled, with_ik_starts
from .controls import ControlPose, ControlPoser, pose_controls
from .driven import followed_object, mute_constraints
from .errors import BridgeError, Stopped
from .freed import freed_rig
from .grab import Grab, is_tip, pick
from .ground import MeshGround, read_ground, read_ground_surface
from .held import Held, HeldControls, StayingParts, find_below, find_held, hold_controls
from .idle import explain_idle, find_stand_ins, stand_in
from .interpolation import key_interpolation, set_interpolation
from .interrupt import check_stopped, interruptible, undisturbed
from .keys import (
    changed_bones,
    changed_frames,
    check_target,
    key_frames,
    meets_curves,
    prepare_object_keys,
    remove_keys,
    repeating_bones,
    rotation_curves,
    stepped_bones,
    write_keys,
    write_motion,
    write_reduced,
    write_snapshot,
    write_visual,
)
from .layers import line_up, push_down
from .learned import forget_tuning, read_learned, read_tuning, write_learned, write_tuning
from .lone_bodies import find_curled, find_ik_chain, free_controls, ik_goals
from .motion import (
    all_curves,
    assign,
    is_animated,
    is_moved_by_keys,
    keyed_range,
    muted_bones,
    object_moves,
    posed_by,
    read_motion,
    reading_motion,
    reading_turns,
    using_action,
    what_places,
)
from .ranges import limit_cone, read_range, write_range
from .rest import make_rest
from .roles import (
    can_correct,
    is_animal,
    is_human,
    mapping_to_corrections,
    other_sides,
    read_corrections,
    read_figure,
    read_roles,
    show_figure,
    write_corrections,
)
from .shapes import read_outline
from .soles import with_soles
from .surfaces import Faces, MeshSurface, faces_near, is_deformed, read_faces, read_skin
from .view import View, read_view
from .words import listed, say_length
from .worlds import (
    armature_to_world,
    check_invertible,
    largest_scale,
    length_scale,
    world_matrix,
    world_to_armature,
    world_up,
)
