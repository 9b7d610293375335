"""Find the bones of an armature that constraints, IK chains or drivers drive.

A driven bone is carried by its parent if all that drives it leaves its place there: it turns, or acts in the bone's own
space. The others are held in a place that something else decides.

A constraint whose influence or mute is driven or animated counts as active even while it is off, because a motion has
to be read with one skeleton. A driver counts unless it is muted or invalid. A bone of which only the scale is driven is
free to turn.
B-Bone settings bend the mesh only; they never change a bone's matrix or its children (measured in 4.5 and 5.2).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

import bpy
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from .channels import CHANNELS, ArmatureObject
from .constraints import adds_turn, limits_place

_BONE_PATH: Final = re.compile(r'(?:pose\.)?bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)')
_BONE_FLAGS: Final = {"inherit_scale", "use_inherit_rotation", "use_local_location", "use_connect"}
_DECIDING: Final = {*CHANNELS, *_BONE_FLAGS, "rotation_mode"} - {"scale"}  # paths of drivers
_SCALING: Final = {"COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"}  # constraints that change the scale only
_TURNING: Final = {  # about the bone's head, which stays where it is
    "COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO",
}  # fmt: skip
_CHAINS: Final = {"IK", "SPLINE_IK"}
_SWITCHES: Final = ("mute", "enabled")  # properties of a constraint that turn it on and off
_ALL: Final = 1 << 15  # a chain of all ancestors; Blender itself stops at 255

AnimatedPaths = dict[str, set[str]]  # by bone: what follows `pose.bones["..."].`


def split_path(data_path: str) -> tuple[str, str] | None:
    """Return bone and property path of an F-curve or driver, e.g. ("hand.L", "location"), or None."""
    match = _BONE_PATH.fullmatch(data_path)
    return None if match is None else (bpy.utils.unescape_identifier(match[1]), match[2])


def find_driven(
    armature: ArmatureObject,
) -> tuple[dict[str, str], dict[str, Any], set[str], set[str], set[str]]:
    """Return driven bones with the reason; bones with one local Limit Rotation only, with it; scaled, held and bounded
    bones.

    Scaled bones are turned and moved by their own channels; only their scale is driven. Held bones are driven ones that
    their parents do not carry. Bounded ones are moved by their own channels, as far as constraints allow.
    """
    own = [owner.animation_data for owner in (armature, armature.data) if owner.animation_data]
    driving = (curve for data in own for curve in data.drivers)
    drivers = _paths_by_bone(c for c in driving if c.driver and c.driver.is_valid and not c.mute)
    animated = _paths_by_bone(animated_curves(armature))
    reasons: dict[str, str] = {}
    limits: dict[str, Any] = {}
    held: set[str] = set()
    bounded: set[str] = set()
    scaled = {name for name, paths in drivers.items() if "scale" in paths}
    types: Any = bpy.types.Constraint.bl_rna.properties["type"]
    kinds = {kind.identifier: kind.name for kind in types.enum_items}
    nothing = set[str]()
    for bone in armature.pose.bones:
        paths = drivers.get(bone.name, nothing) | animated.get(bone.name, nothing)
        active = [c for c in bone.constraints if _may_act(c, paths)]
        if not active:
            continue
        if any(c.type in _SCALING for c in active):
            scaled.add(bone.name)
            active = [c for c in active if c.type not in _SCALING]
        others = [c for c in active if not limits_place(c) or _paths_of(c, paths)]
        if not bone.bone.use_connect and all(adds_turn(c) or _is_plain_limit(c, paths) for c in others):
            bounded |= {bone.name} if len(others) < len(active) else set()
            active = others
        if len(active) == 1 and _is_plain_limit(active[0], paths):
            limits[bone.name] = active[0]
            continue
        for constraint in active:
            kind = kinds[constraint.type]
            reason = f'constraint "{constraint.name}" on "{bone.name}" ({kind})'
            if constraint.name.split(".")[0] == kind:
                reason = f'constraint "{constraint.name}" on "{bone.name}"'
            for name in constrained_bones(constraint, bone):
                reasons.setdefault(name, reason)
                held |= set() if _leaves_place(constraint) else {name}
    for name, paths in drivers.items():
        path = next((p for p in sorted(paths) if p in _DECIDING), None)
        if path is not None:
            reasons.setdefault(name, f'driver on {path} of "{name}"')
    for name, paths in animated.items():
        if "rotation_mode" in paths:
            reasons.setdefault(name, f'animated rotation mode of "{name}"')
    names = set(armature.pose.bones.keys())
    driven = {name: reason for name, reason in reasons.items() if name in names}
    limits = {name: constraint for name, constraint in limits.items() if name not in driven}
    return driven, limits, (scaled & names) - driven.keys(), held & names, bounded & names


def _paths_by_bone(curves: Iterable[Any]) -> AnimatedPaths:
    """Return the properties of bones that F-curves or drivers change."""
    result: AnimatedPaths = defaultdict(set)
    for curve in curves:
        parts = split_path(curve.data_path)
        if parts:
            result[parts[0]].add(parts[1])
    return result


def animated_curves(armature: ArmatureObject) -> Iterator[Any]:
    """Yield the F-curves of the action and of NLA strips, but of those that are muted, such as stashed ones."""
    data = armature.animation_data
    for owner in (data, *unmuted_strips(data)) if data else ():
        bag = action_get_channelbag_for_slot(owner.action, owner.action_slot)
        yield from bag.fcurves if bag else ()


def unmuted_strips(data: Any) -> Iterator[Any]:
    """Yield the NLA strips of animation data that are not muted, in tracks that are not."""
    for track in data.nla_tracks:
        yield from (strip for strip in track.strips if not (track.mute or strip.mute))


def _paths_of(constraint: Any, paths: set[str]) -> set[str]:
    """Return the animated properties of a constraint."""
    if not paths:
        return set()
    prefix = f'constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
    return {path.removeprefix(prefix) for path in paths if path.startswith(prefix)}


def _may_act(constraint: Any, paths: set[str]) -> bool:
    if not constraint.is_valid:
        return False
    changing = _paths_of(constraint, paths)
    on = not constraint.mute or bool(changing & {*_SWITCHES})
    if constraint.type in _CHAINS and constraint.target is None:
        return False
    return on and (constraint.influence > 0.0 or "influence" in changing)


def _leaves_place(constraint: Any) -> bool:
    """Return whether a bone with this constraint stays in its place at its parent, wherever that goes."""
    own = constraint.owner_space == "LOCAL" and constraint.type not in _CHAINS
    return own or constraint.type in _TURNING or (constraint.type == "TRANSFORM" and constraint.map_to != "LOCATION")


def _is_plain_limit(constraint: Any, paths: set[str]) -> bool:
    """Return whether a Limit Rotation depends on the bone's own rotation alone and is the same at every frame."""
    if constraint.type != "LIMIT_ROTATION" or constraint.owner_space != "LOCAL" or constraint.influence != 1.0:
        return False
    if constraint.use_legacy_behavior and any(
        getattr(constraint, f"use_limit_{a}") and getattr(constraint, f"min_{a}") > getattr(constraint, f"max_{a}")
        for a in "xyz"
    ):
        return False  # the legacy clamp to an empty range is discontinuous
    return not _paths_of(constraint, paths)


def constrained_bones(constraint: Any, bone: Any) -> Iterator[str]:
    """Yield the names of the bones whose matrices a constraint drives."""
    count = 1
    tip = bone
    if constraint.type == "IK":
        tip = bone if constraint.use_tail else bone.parent
        count = constraint.chain_count or _ALL
    elif constraint.type == "SPLINE_IK":
        count = constraint.chain_count
    while tip is not None and count > 0:
        yield tip.name
        tip, count = tip.parent, count - 1


def followed_object(armature: ArmatureObject, bone: str) -> str | None:
    """Return the name of the first other object that a constraint in force makes a bone follow, or None."""
    for owner in armature.pose.bones:
        for constraint in owner.constraints:
            target = getattr(constraint, "target", None)
            if target in (None, armature) or constraint.mute or not constraint.influence:
                continue
            if bone in constrained_bones(constraint, owner):
                return target.name
    return None


def pole_object(armature: ArmatureObject, bones: Iterable[str]) -> str | None:
    """Return the name of the other object that is the pole of an IK constraint in force on some bones, or None."""
    poses, wanted = armature.pose.bones, set(bones)
    chains = ((one, owner) for owner in poses for one in owner.constraints if one.type == "IK" and not one.mute)
    poles = (one.pole_target for one, owner in chains if wanted & {*constrained_bones(one, owner)} and one.influence)
    return next((pole.name for pole in poles if pole not in (None, armature)), None)


def mute_constraints(armature: ArmatureObject, bones: Iterable[str]) -> list[str]:
    """Mute the constraints that drive these bones and no others, and drivers that would unmute them; return names."""
    wanted, muted = set(bones), list[str]()
    switches = {curve.data_path: curve for curve in armature.animation_data.drivers} if armature.animation_data else {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            decided = set(constrained_bones(constraint, bone))
            path = constraint.path_from_id()
            switch = next((switches[f"{path}.{name}"] for name in _SWITCHES if f"{path}.{name}" in switches), None)
            if decided & wanted and decided <= wanted and not (constraint.mute and switch is None):
                if switch is not None:
                    switch.mute = True
                constraint.mute = True
                muted.append(constraint.name)
    return muted
