"""NLA strips: motions below the action that the armature has, which replaces what they make."""

from collections.abc import Sequence
from typing import Any

import bpy

from .channels import ArmatureObject


def push_down(armature: ArmatureObject, action: bpy.types.Action, slot: Any) -> None:
    """Put an action, with its slot, on a new NLA track on top of the others, below the action that the armature has.

    The strip shows the motion at its own frames, and holds its ends beyond them.
    """
    _add_strip(_add_track(armature, action.name), action, slot, action.curve_frame_range[0])


def line_up(armature: ArmatureObject, actions: Sequence[bpy.types.Action], name: str, start: int) -> None:
    """Put actions on the NLA track `name`, one after the other, from a frame on or after what is there already."""
    data: Any = armature.animation_data or armature.animation_data_create()
    track = data.nla_tracks.get(name) or _add_track(armature, name)
    for action in actions:
        if len(track.strips):
            start = int(track.strips[-1].frame_end) + 1
        _add_strip(track, action, action.slots[0], start)


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
