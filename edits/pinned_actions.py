"""The original action of an armature with timed pins, and the result action that is made from it."""

from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from .fingerprints import fingerprint
from .motion_edit import no_action
from .renames import follow_renames
from .unkeyed import read_unkeyed, restore_unkeyed


def source_action(armature: Any) -> Any:
    """Return the action that timed pins change: the original where the armature has its result, else its own."""
    data = armature.animation_data
    action = data.action if data is not None else None
    if armature.poise_source is not None and action is not None and action == armature.poise_result:
        return armature.poise_source
    return action


def need_source(armature: Any) -> Any:
    """Return `source_action`; raises CoreError if there is none, or if the NLA editor would alter its keys."""
    source = source_action(armature)
    if source is None:
        raise CoreError(no_action(armature))
    bridge.check_target(armature)
    return source


def has_result(armature: Any) -> bool:
    """Return whether the armature has the result action of its timed pins now."""
    data = armature.animation_data
    return (
        armature.poise_source is not None and armature.poise_result is not None and data.action == armature.poise_result
    )


def restore_source(armature: Any) -> str:
    """Give the armature its original action and unkeyed values back.

    A result that was edited by hand is kept; its name is returned, "" where there is none.
    """
    source, made, edited = armature.poise_source, armature.poise_result, is_edited(armature)
    kept = made.name if edited else ""
    if source is None:
        return kept
    bridge.assign(armature, source)
    armature.poise_source = armature.poise_result = None
    armature.poise_result_pins = ""
    restore_unkeyed(armature, read_unkeyed(armature, source.name))
    armature.poise_still = ""
    if edited:
        made.use_fake_user = True
    else:
        remove_unused(made)
    return kept


def is_edited(armature: Any) -> bool:
    """Return whether the result action was edited by hand since it was made."""
    follow_renamed_bones(armature)
    made = armature.poise_result
    return made is not None and fingerprint(made) != armature.poise_result_print


def follow_renamed_bones(armature: Any) -> None:
    """Follow renamed bones in the original action, and in the fingerprint of the result."""
    names = follow_renames(armature)
    if names and armature.poise_result is not None:
        before = {new: old for old, new in names.items()}
        if fingerprint(armature.poise_result, before) == armature.poise_result_print:
            armature.poise_result_print = fingerprint(armature.poise_result)


def others_use(armature: Any, action: Any) -> bool:
    """Return whether another object, such as a linked duplicate, uses an action of this armature."""
    own = (armature.animation_data.action, armature.poise_source, armature.poise_result, armature.poise_generated)
    return action.users - action.use_fake_user > sum(one == action for one in own)


def assign_result(armature: Any, action: Any) -> None:
    """Replace the result action by another one with the same slots."""
    data = armature.animation_data
    handle = data.action_slot.handle
    data.action = armature.poise_result = action
    data.action_slot = next(slot for slot in action.slots if slot.handle == handle)


def remove_unused(action: Any) -> None:
    """Remove an action, if given, unless something uses it."""
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
