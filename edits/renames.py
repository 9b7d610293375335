"""Follow renamed bones in actions that the armature does not have at the moment.

Blender renames the curves of the action that an object has, and of no other.
"""

import json
from typing import Any

import bpy

from .. import bridge
from ..bridge.channels import channel_path
from ..bridge.driven import split_path
from .stored import read_kept
from .unkeyed import rename_unkeyed


def follow_renames(armature: Any) -> dict[str, str]:
    """Follow the renames since the last call in stored actions and values; return the new names by the old ones.

    Bones are identified by their places, if their number is the same. Does nothing before `note_bones` is called.
    """
    before, present = read_kept(armature, "poise_bones", lambda names: [*map(str, names)]), armature.pose.bones.keys()
    if not before or before == present:
        return {}
    note_bones(armature)
    there, was = {*present}, {*before}
    names = {
        old: new for old, new in zip(before, present, strict=False)
        if len(before) == len(present) and old not in there and new not in was
    }  # fmt: skip
    if names:
        for action in {armature.poise_source, armature.poise_result, armature.poise_key_poses} - {None}:
            if action.is_editable:
                _rename(action, names)
        rename_unkeyed(armature, names)
    return names


def note_bones(armature: Any) -> None:
    """Store the present names of the bones; called when an action is written that the armature may not keep."""
    armature.poise_bones = json.dumps(armature.pose.bones.keys())


def _rename(action: bpy.types.Action, names: dict[str, str]) -> None:
    """Rename bones in the data paths of an action, as Blender does."""
    for curve in bridge.all_curves(action):
        place = split_path(curve.data_path)
        if place is not None and place[0] in names:
            curve.data_path = channel_path(names[place[0]], place[1])
