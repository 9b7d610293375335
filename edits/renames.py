"""Follow renamed bones in actions that the armature does not have at the moment.

Blender renames the curves of the action that an object has, and of no other.
"""

import json
from typing import Any

import bpy

from .. import bridge
from ..bridge.channels import channel_path
from ..bridge.driven import split_path


def follow_renames(armature: Any) -> dict[str, str]:
    """Rename what is kept in other actions, and by bone, since this was done last; the new names by the old ones.

    A bone is told by its place among as many bones. Nothing is done before `note_bones` is called.
    """
    before, present = json.loads(armature.poise_bones or "[]"), armature.pose.bones.keys()
    if before in ([], present):
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
        still = json.loads(armature.poise_still or "{}")
        if still:
            still["bones"] = {names.get(bone, bone): stand for bone, stand in still["bones"].items()}
            armature.poise_still = json.dumps(still)
    return names


def note_bones(armature: Any) -> None:
    """Remember what the bones are called where actions are written that the armature need not keep."""
    armature.poise_bones = json.dumps(armature.pose.bones.keys())


def _rename(action: bpy.types.Action, names: dict[str, str]) -> None:
    """The curves of bones get the paths that Blender gives them where they are renamed."""
    for curve in bridge.all_curves(action):
        place = split_path(curve.data_path)
        if place is not None and place[0] in names:
            curve.data_path = channel_path(names[place[0]], place[1])
