"""Apply a user's corrections to the roles that detection found."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from ..errors import CoreError
from ..rotation import Array
from ..skeleton import Skeleton
from .axes import axis_vector, nearest_axis, unit
from .detection.rest_pose import rest_kind
from .roles import ARM, BODY, LEG, LIMBS, LISTS, ROLES, SEGMENTS, SIDES, Bones, Roles, opposite_role

NO_PART: Final = "none"  # correction of a bone that has no role

_CORRECTED: Final = 1.0  # confidence of corrected roles
_DIRECTED: Final = frozenset(("hips", "head", *(f"{part}.{side}" for side in SIDES for part in (*ARM, *LEG))))


def correct_roles(skeleton: Skeleton, roles: Roles, parts: Mapping[int, str]) -> Roles:
    """Return the roles with corrections: bone -> role, or NO_PART.

    Several bones may be corrected to "spine", "neck" or a finger; they replace all bones of that role, in the
    skeleton's order. Raises CoreError for an unknown role, for a second bone of a role of one bone, for a part whose
    parent and child in a body are exchanged, and for a part that is a descendant of another limb.
    """
    if not parts:
        return roles
    corrected = replace(roles, bones=_by_role(skeleton, parts))
    bones: dict[str, Bones] = {
        role: found if isinstance(found, int) else tuple(bone for bone in found if bone not in parts)
        for role, found in roles.bones.items()
        if not isinstance(found, int) or found not in parts
    }
    bones |= corrected.bones
    bones = {role: found for role, found in bones.items() if found != () or role in ("spine", "neck")}
    changed = replace(roles, bones=bones)
    _check_order(skeleton, corrected, corrected)  # first the corrected parts among themselves
    _check_limbs(skeleton, corrected, changed)
    _check_order(skeleton, corrected, changed)
    humanoid = roles.humanoid or _is_body(bones)
    body = {bone for role in bones for bone in changed.chain(role)}
    limbs = {name: chain for name, chain in roles.limbs.items() if not body.intersection(chain)}
    confidence = {role: value for role, value in roles.confidence.items() if role in bones or role in limbs}
    confidence |= dict.fromkeys(corrected.bones, _CORRECTED)
    confidence |= dict.fromkeys((role for role in bones if role not in confidence), _CORRECTED)
    changed = replace(
        changed,
        humanoid=humanoid,
        twist=_twists(skeleton, corrected, changed),
        limbs=limbs,
        confidence=confidence,
        missing=tuple(role for role in BODY if role not in bones) if humanoid else (),
    )
    return _directed(skeleton, changed) if humanoid and _DIRECTED.intersection(corrected.bones) else changed


def turn_roles(roles: Roles, facing: str) -> Roles:
    """Return the roles of a body that looks along an axis such as "-Y"; its sides change if that is the opposite one.

    Raises CoreError if the body's up is along that axis.
    """
    if facing[1] == roles.up[1]:
        raise CoreError(f'A body whose head points to {roles.up} cannot look along "{facing}".')
    if facing[1] != roles.facing[1] or facing == roles.facing:
        return replace(roles, facing=facing)
    return replace(
        roles,
        bones={opposite_role(role): bones for role, bones in roles.bones.items()},
        twist={opposite_role(role): bones for role, bones in roles.twist.items()},
        limbs={opposite_role(role): bones for role, bones in roles.limbs.items()},
        confidence={opposite_role(role): value for role, value in roles.confidence.items()},
        missing=tuple(opposite_role(role) for role in roles.missing),
        facing=facing,
    )


def _by_role(skeleton: Skeleton, parts: Mapping[int, str]) -> dict[str, Bones]:
    """Return role -> bones of corrections. Raises CoreError for an unknown role and for two bones of one."""
    names, found = skeleton.names, dict[str, list[int]]()
    for bone in sorted(parts):
        role = parts[bone]
        if role == NO_PART:
            continue
        if role not in ROLES:
            raise CoreError(f'"{names[bone]}" is assigned to "{role}", which is not a part of a body.')
        if role in found and role not in LISTS:
            raise CoreError(f'"{names[found[role][0]]}" and "{names[bone]}" are both assigned to "{role}".')
        found.setdefault(role, []).append(bone)
    return {role: tuple(bones) if role in LISTS else bones[0] for role, bones in found.items()}


def _check_order(skeleton: Skeleton, corrected: Roles, roles: Roles) -> None:
    """Raise CoreError if a corrected part and another are in the wrong order, or one is on the limb of the other."""
    chains = [("hips", *(f"{part}.{side}" for part in parts)) for parts in (ARM, LEG) for side in SIDES]
    chains += [("hips", f"{part}.{side}", "head") for part in ("upper_arm", "thigh") for side in SIDES]
    for chain in chains:
        known = [(role, bone) for role in chain if (bone := roles.bone(role)) >= 0]
        for (role, upper), (other, lower) in combinations(known, 2):
            if lower in skeleton.ancestors(upper):
                _refuse_pair(skeleton, corrected, (role, upper), (other, lower))
    limbs = [f"{part}.{side}" for parts in (ARM, LEG) for part in parts for side in SIDES]
    above = [(role, bone) for role in limbs if (bone := roles.bone(role)) >= 0]
    for role in roles.bones:
        if role == opposite_role(role):
            continue
        for bone in roles.chain(role):
            ancestors = skeleton.ancestors(bone)[1:]
            for other, carrier in above:
                if carrier in ancestors and _limb_of(role) != _limb_of(other):
                    _refuse_pair(skeleton, corrected, (role, bone), (other, carrier))


def _limb_of(role: str) -> tuple[bool, str]:
    """Return whether a role with a side is of a leg, else of an arm, and the side."""
    part, side = role.rsplit(".", 1)
    return part in LEG, side


def _refuse_pair(skeleton: Skeleton, corrected: Roles, descendant: tuple[str, int], ancestor: tuple[str, int]) -> None:
    """Raise CoreError if one of two parts, of which the first must not be a descendant of the second, is corrected."""
    (role, bone), (other, carrier) = descendant, ancestor
    name, above = skeleton.names[bone], skeleton.names[carrier]
    if role in corrected.bones:
        how = "assigned to " if other in corrected.bones else ""
        raise CoreError(f'"{name}" cannot be "{role}": it is parented to "{above}", which is {how}"{other}".')
    if other in corrected.bones:
        raise CoreError(f'"{above}" cannot be "{other}": "{name}", which is "{role}", is parented to it.')


def _check_limbs(skeleton: Skeleton, corrected: Roles, roles: Roles) -> None:
    """Raise CoreError if a corrected leg is on the upper end of a spine that is a descendant of the hips.

    Arms may be on the hips (flat hierarchies), and legs on a spine that goes down to the hips.
    """
    hips, spine = roles.bone("hips"), roles.chain("spine")
    if hips < 0 or not spine:
        return
    chest, ancestors = spine[-1], skeleton.ancestors
    if chest == hips or hips not in ancestors(chest):
        return
    arms = [bone for side in SIDES for bone in roles.chain(f"upper_arm.{side}")]
    crossed = any(hips in ancestors(arm) and chest not in ancestors(arm) for arm in arms)
    for side in SIDES:
        role = f"thigh.{side}"
        thigh = corrected.bone(role)
        if chest in ancestors(thigh) and (crossed or len(spine) > 1):
            raise CoreError(
                f'"{skeleton.names[thigh]}" cannot be "{role}": it is parented to '
                f'"{skeleton.names[chest]}", the upper end of the spine. Are arms and legs swapped?'
            )


def _is_body(bones: Mapping[str, Bones]) -> bool:
    """Return whether there are hips and two complete limbs."""
    complete = [all(f"{part}.{side}" in bones for part in parts) for parts in LIMBS.values() for side in SIDES]
    return "hips" in bones and sum(complete) > 1


def _twists(skeleton: Skeleton, corrected: Roles, roles: Roles) -> dict[str, tuple[int, ...]]:
    """Return the twist bones, found again between two segments of which one is corrected."""
    found = dict(roles.twist)
    for upper, lower in SEGMENTS:
        first, last = roles.bone(upper), roles.bone(lower)
        if first >= 0 and last >= 0 and upper not in corrected.bones and lower not in corrected.bones:
            continue
        found.pop(upper, None)
        chain = skeleton.ancestors(last)
        between = chain[1 : chain.index(first)] if first in chain else []
        if between:
            found[upper] = tuple(reversed(between))
    return found


def _directed(skeleton: Skeleton, roles: Roles) -> Roles:
    """Return the roles with up, facing and kind of rest pose found again from the parts and their sides."""
    heads = skeleton.rest_matrices[:, :, 3]

    def places(*wanted: str) -> Array:
        return heads[[bone for role in wanted if (bone := roles.bone(role)) >= 0]]

    arms, thighs = (places(*(f"{part}.{side}" for side in SIDES)) for part in ("upper_arm", "thigh"))
    below, above = places("hips"), places("head")
    below, above = below if len(below) else thighs, above if len(above) else arms
    across = [both[0] - both[1] for both in (arms, thighs) if len(both) == 2]
    up_axis = nearest_axis(above.mean(axis=0) - below.mean(axis=0)) if len(below) and len(above) else roles.up
    up, facing = axis_vector(up_axis), roles.facing
    if across:
        facing = nearest_axis(np.cross(unit(np.sum(across, axis=0)), up))
    arms, legs = (
        np.reshape([heads[[roles.chain(f"{part}.{side}")[0] for part in parts]] for side in SIDES
                    if all(f"{part}.{side}" in roles.bones for part in parts)], (-1, len(parts), 3))
        for parts in (LIMBS["arm"][:2], LIMBS["leg"])
    )  # fmt: skip
    return replace(roles, up=up_axis, facing=facing, rest=rest_kind(up, arms, legs))
