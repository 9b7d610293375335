"""Motions above others: the action of an object replaces what the strips of its NLA tracks make."""

from typing import Any

import bpy

from .channels import ArmatureObject


def push_down(armature: ArmatureObject, action: bpy.types.Action, slot: Any) -> None:
    """Put an action, with its slot, on a new NLA track on top of the others, below the action that the armature has.

    The strip shows the motion at its own frames, and holds its ends beyond them.
    """
    data: Any = armature.animation_data
    first, last = action.curve_frame_range
    track = data.nla_tracks.new(prev=data.nla_tracks[-1] if len(data.nla_tracks) else None)
    track.name = action.name
    strip = track.strips.new(action.name, int(first), action)
    strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = first, max(last, first + 1.0)
    strip.frame_start, strip.frame_end = first, max(last, first + 1.0)
    strip.extrapolation, strip.blend_type = "HOLD", "REPLACE"
