"""NLA strips: motions below the action that the armature has, which replaces what they make."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from .channels import ArmatureObject
from .keys import curves_of


def push_down(armature: ArmatureObject, action: bpy.types.Action, slot: Any) -> None:
    """Put an action, with its slot, on a new NLA track on top of the others, below the action that the armature has.

    The strip shows the motion at its own frames, and holds its ends beyond them. What it moves and the action above has
    no keys for is keyed there as it is now, once, so that the action shows alone what it shows without the strip.
    """
    _keep_still(armature, action, slot)
    _add_strip(_add_track(armature, action.name), action, slot, action.curve_frame_range[0])


def line_up(armature: ArmatureObject, actions: Sequence[bpy.types.Action], name: str, start: int) -> None:
    """Put actions on the NLA track `name`, one after the other, from a frame on or after what is there already."""
    data: Any = armature.animation_data or armature.animation_data_create()
    track = data.nla_tracks.get(name) or _add_track(armature, name)
    for action in actions:
        if len(track.strips):
            start = int(track.strips[-1].frame_end) + 1
        _add_strip(track, action, action.slots[0], start)


def _keep_still(armature: ArmatureObject, below: bpy.types.Action, slot: Any) -> None:
    """Key channels as they are that an action moves, in the action that the armature has, where it does not."""
    data: Any = armature.animation_data
    scene: Any = bpy.context.scene
    bag = action_get_channelbag_for_slot(below, slot)
    keyed = curves_of(armature)
    for curve in bag.fcurves if bag is not None else ():
        path, index = curve.data_path, curve.array_index
        if curve.mute or (path, index) in keyed:
            continue
        try:
            value = armature.path_resolve(path)
        except ValueError:  # of a bone that is gone
            continue
        if isinstance(value, str):  # of an enumeration, which has a number in curves alone
            value = curve.evaluate(scene.frame_current_final)
        own = value[index] if hasattr(value, "__len__") else value
        there = data.action.fcurve_ensure_for_datablock(armature, path, index=index)
        there.keyframe_points.insert(data.action.curve_frame_range[0], float(own))


def _add_track(armature: ArmatureObject, name: str) -> Any:
    data: Any = armature.animation_data
    track = data.nla_tracks.new(prev=data.nla_tracks[-1] if len(data.nla_tracks) else None)
    track.name = name
    return track


def _add_strip(track: Any, action: bpy.types.Action, slot: Any, start: float) -> None:
    """Add a strip of all frames of an action that begins at a frame."""
    first, last = action.curve_frame_range
    last = max(last, first + 1.0)
    strip = track.strips.new(action.name, int(start), action)
    strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = first, last
    strip.frame_start, strip.frame_end = start, start + last - first
    strip.extrapolation, strip.blend_type = "HOLD", "REPLACE"
