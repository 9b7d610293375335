"""`info`: describe the armatures of the file, JSON-ready, in the format of the roles specification."""

from typing import Any, Final

import bpy
import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from .. import bridge
from ..bridge.driven import find_driven, split_path
from ..core import CoreError
from ..core.body import Roles
from ..core.body.detection.families import name_family

_AXES: Final = ("x", "y", "z")
_OBJECTS: Final = ("OBJECT", "UNSPECIFIED")  # types of slots that an object can have
UNSURE: Final = 0.8  # confidence below which the user is asked about a role
_DIGITS: Final = 6  # decimals of lengths and angles: single precision has no more


def find_armatures(name: str | None) -> list[bpy.types.Object]:
    """Return the armature objects of the file by name, or the one of this name; raises CoreError if there is none.

    Linked armatures with a library override are left out: the override is listed.
    """
    overridden = {o.override_library.reference for o in bpy.data.objects if o.override_library}
    found = sorted((o for o in bpy.data.objects if o.type == "ARMATURE" and o not in overridden), key=lambda o: o.name)
    if not found:
        raise CoreError("There is no armature in the file.")
    if name is None:
        return found
    named = [o for o in found if o.name == name]
    if named:
        return named
    if name in bpy.data.objects:
        raise CoreError(f'"{name}" is not an armature.')
    raise CoreError(f'No armature "{name}" in the file; there is {_listed([o.name for o in found])}.')


def find_armature(name: str | None, option: str = "--armature") -> bpy.types.Object:
    """Return the armature object of this name, which an option gives, or the only one of the file.

    Raises CoreError if there is none, or if no name says which of several.
    """
    found = find_armatures(name)
    if len(found) > 1:
        names = ", ".join(f'"{armature.name}"' for armature in found)
        raise CoreError(f"The file has several armatures, {names}. Name one of them with {option}.")
    return found[0]


def describe(armature: Any) -> dict[str, Any]:
    """Return an entry of "armatures"."""
    controls = find_controls(armature)
    return {
        "name": armature.name,
        **find_parts(armature),
        **({"controls": controls} if controls else {}),
        "bones": _bones(armature),
        "actions": _actions(armature),
    }


def summary(entry: dict[str, Any]) -> str:
    """Return an entry of `describe` as a sentence."""
    bones, actions = entry["bones"], [action["name"] for action in entry["actions"]]
    driven = sum(bone["driven"] is not None for bone in bones)
    limited = sum(bone["limits"] is not None for bone in bones)
    parts = [f"{entry['name']}: {len(bones)} bones, {driven} driven, {limited} limited", body_sentence(entry)]
    parts.append(f"actions {_listed(actions)}" if actions else "no actions")
    return "; ".join(parts)


def body_sentence(entry: dict[str, Any]) -> str:
    """Return the body of an entry of `find_parts` as words."""
    if not entry["humanoid"]:
        if entry["rest"] == "folded":
            return "no body to detect in the rest pose: all bones point the same way"
        return f"an animal or another body with {', '.join(entry['limbs'])}" if entry["limbs"] else "no human body"
    unsure = sorted(role for role in entry["roles"] if entry["confidence"][role] < UNSURE)
    return (
        f"a human body facing {entry['facing']}, rest pose {entry['rest']}"
        + (f", {entry['names']} names" if entry["names"] else "")
        + (f", unsure of {', '.join(unsure)}" if unsure else "")
    )


def find_parts(armature: Any, roles: Roles | None = None) -> dict[str, Any]:
    """Return the roles of bones by name, as `info` has them, empty where there are no bones; `roles` if known."""
    names = armature.data.bones.keys()
    if not names:
        return {
            "humanoid": False,
            **{key: {} for key in ("roles", "twist", "limbs", "confidence")},
            "missing": [],
            **dict.fromkeys(("facing", "up", "rest")),
            "names": "",
        }
    found = bridge.read_roles(armature) if roles is None else roles

    def named(indices: int | tuple[int, ...]) -> str | list[str]:
        return names[indices] if isinstance(indices, int) else [names[index] for index in indices]

    return {
        "humanoid": found.humanoid,
        "roles": {role: named(indices) for role, indices in found.bones.items()},
        "twist": {role: named(indices) for role, indices in found.twist.items()},
        "limbs": {limb: named(indices) for limb, indices in found.limbs.items()},
        "confidence": {key: round(value, 2) for key, value in found.confidence.items()},
        "missing": list(found.missing),
        "facing": found.facing,
        "up": found.up,
        "rest": found.rest,
        "names": name_family(names),
    }


def find_controls(armature: Any) -> dict[str, str | list[str]]:
    """Return the controls, by role, of a body whose own bones are driven; empty for other bodies."""
    try:
        rig = bridge.read_rig(armature)
    except CoreError:  # hidden objects are not evaluated
        return {}
    roles = bridge.read_roles(armature, rig.skeleton)
    controlled = bridge.find_controlled(armature, rig, roles)
    return {} if controlled is None else bridge.controls_by_role(controlled, roles, rig.skeleton.names)


def _bones(armature: Any) -> list[dict[str, Any]]:
    driven, limiting, *_ = find_driven(armature)
    return [
        {
            "name": bone.name,
            "parent": bone.parent.name if bone.parent else None,
            "head": _numbers(bone.head_local),
            "tail": _numbers(bone.tail_local),
            "length": round(bone.length, _DIGITS),
            "rotation_mode": armature.pose.bones[bone.name].rotation_mode,
            "deform": bone.use_deform,
            "limits": _limits(armature.pose.bones[bone.name], limiting.get(bone.name)),
            "driven": driven.get(bone.name),
        }
        for bone in armature.data.bones
    ]


def _limits(bone: Any, constraint: Any) -> dict[str, list[float]] | None:
    """Return degrees by axis of the bone's Limit Rotation constraint, else of its IK limits."""
    owner, kind = (bone, "ik_") if constraint is None else (constraint, "")
    return {
        axis: _numbers(np.degrees([getattr(owner, f"{kind}{end}_{axis}") for end in ("min", "max")]))
        for axis in _AXES
        if getattr(owner, f"use_{kind}limit_{axis}")
    } or None


def _actions(armature: Any) -> list[dict[str, Any]]:
    """Return the active action, and all others with a slot that animates bones of this armature."""
    active = armature.animation_data.action if armature.animation_data else None
    return [
        {"name": action.name, "frames": _numbers(action.frame_range), "active": action == active}
        for action in bpy.data.actions
        if action == active
        or any(slot.target_id_type in _OBJECTS and moves_bones(armature, action, slot) for slot in action.slots)
    ]


def moves_bones(armature: Any, action: bpy.types.Action, slot: Any) -> bool:
    """Return whether a slot of an action has curves of bones of the armature."""
    bag: Any = action_get_channelbag_for_slot(action, slot)
    paths = {split_path(curve.data_path) for curve in bag.fcurves} if bag else set()
    return any(path is not None and path[0] in armature.pose.bones for path in paths)


def _numbers(values: Any) -> list[float | int]:
    rounded = [round(float(value), _DIGITS) + 0.0 for value in values]  # + 0.0: no -0.0
    return [int(value) if value.is_integer() else value for value in rounded]


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
