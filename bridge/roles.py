"""Read the roles of an armature: as detected, with the corrections of the user."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ..core import CoreError, Motion, Pose, Skeleton
from ..core.body import Roles, find_roles
from ..core.body.corrections import NO_PART, correct_roles, turn_roles
from ..core.body.detection.rest_pose import is_folded
from ..core.body.mirror import counterparts
from ..core.body.roles import ROLES
from ..core.body.unfolding import unfold
from ..core.pose import stack
from ..core.rotation import Array
from ..core.skeleton import Flags
from .armature import Rig, deforming, read_rig
from .bones import read_bones
from .channels import ArmatureObject
from .errors import BridgeError
from .motion import keyed_range, read_motion

_LOOKS: Final = 32  # frames that are looked at for a rest pose


def read_roles(
    armature: ArmatureObject,
    skeleton: Skeleton | None = None,
    further: Mapping[str, str] | None = None,
    facing: str | None = None,
) -> Roles:
    """Return the roles of an armature with the user's corrections.

    With `skeleton` they are those that its rest pose shows; without, the motion may show what the rest pose does not.

    Corrections are stored in `PoseBone.poise_role` and `Object.poise_facing`; `further` ones, bone -> role, and
    `facing` take precedence. Raises CoreError for corrections that contradict each other, such as two bones for one
    role.
    """
    bones = Skeleton(**read_bones(armature)) if skeleton is None else skeleton
    more = {bones.index(name): role for name, role in (further or {}).items()}
    said = {
        bone: role for bone, role in read_corrections(armature).items() if role == NO_PART or role not in more.values()
    }
    roles, facing = guess_roles(armature, skeleton), facing or armature.poise_facing
    return correct_roles(bones, turn_roles(roles, facing) if facing else roles, said | more)


def is_animal(armature: ArmatureObject) -> bool:
    """Return whether the bones of an armature are an animal's; fast, for panels."""
    roles = _body_of(armature)
    return roles is not None and roles.animal


def is_human(armature: ArmatureObject) -> bool:
    """Return whether the bones of an armature are a human body's; fast, for panels."""
    roles = _body_of(armature)
    return roles is not None and roles.humanoid


def _body_of(armature: ArmatureObject) -> Roles | None:
    """Return what is looked at once for some names and corrections; None if these contradict each other."""
    corrections = tuple(read_corrections(armature).items())
    return _looked_at(_Named((armature.data.session_uid, *armature.data.bones.keys(), corrections), armature))


def can_correct(part: str) -> bool:
    """Return whether the user can say which bones are this part of the body."""
    return part in ROLES


def guess_roles(armature: ArmatureObject, skeleton: Skeleton | None = None) -> Roles:
    """Return the detected roles without the user's corrections; they are found once for the same bones."""
    own = skeleton or Skeleton(**read_bones(armature))
    shown = own if skeleton is not None else _shown(armature, own)
    deform = deforming(armature)
    shape = (shown.parents, shown.offsets, shown.rest_bases, shown.lengths, deform)
    found = _found(_Bones((shown.names, *(values.tobytes() for values in shape)), shown, deform))
    return replace(found, rest="folded") if found.humanoid and shown is not own else found


def other_sides(armature: ArmatureObject, names: Iterable[str]) -> dict[str, str]:
    """Return by bone the bone on the other side, of those that have one: by their names as Blender pairs them (.L, .R).

    Bones with other names, such as mixamorig:LeftArm, are paired by their parts and rest positions.
    """
    bones = armature.pose.bones
    found = {name: bpy.utils.flip_name(name) for name in names}
    unpaired = [name for name, other in found.items() if other == name or other not in bones]
    if unpaired:
        skeleton = Skeleton(**read_bones(armature))
        partners = counterparts(skeleton, read_roles(armature, skeleton))
        for name in unpaired:
            other = int(partners[skeleton.index(name)])
            found[name] = skeleton.names[other] if other >= 0 else name
    return {name: other for name, other in found.items() if other != name}


def read_figure(armature: ArmatureObject, frames: ArrayLike) -> tuple[Skeleton, Motion, Array]:
    """Return a skeleton whose rest pose shows the body, its motion at frames (F,), and the object's world matrices.

    Raises BridgeError as `read_motion`.
    """
    rig = read_rig(armature)
    motion, worlds = read_motion(armature, rig, frames)
    skeleton, pose = unfold(rig.skeleton, motion.pose)
    return skeleton, replace(motion, pose=pose), worlds


def show_figure(armature: ArmatureObject, rig: Rig, pose: Pose) -> tuple[Skeleton, Pose]:
    """Return a skeleton whose rest pose shows the body, as the armature's motion may, and a pose (J) on it.

    Raises BridgeError where neither shows it.
    """
    if not is_folded(rig.skeleton):
        return rig.skeleton, pose
    motion, _ = read_motion(armature, rig, _looks(armature))
    skeleton, poses = unfold(rig.skeleton, stack([pose, *(motion.pose[frame] for frame in range(len(motion)))]))
    return skeleton, poses[0]


def _looks(armature: ArmatureObject) -> Array:
    """Return the frames that are looked at for a rest pose."""
    return np.unique(np.linspace(*keyed_range(armature), _LOOKS).round())


def _shown(armature: ArmatureObject, skeleton: Skeleton) -> Skeleton:
    """Return the armature's skeleton; where its rest pose shows no body but its motion does, with one from there."""
    if not is_folded(skeleton):
        return skeleton
    try:
        return read_figure(armature, _looks(armature))[0]
    except BridgeError:
        return skeleton


@dataclass(frozen=True)
class _Named:
    """An armature that is the same as another one of the same content."""

    content: tuple[Any, ...]
    armature: ArmatureObject = field(compare=False)


@lru_cache(maxsize=8)
def _looked_at(named: _Named) -> Roles | None:
    try:
        return read_roles(named.armature, Skeleton(**read_bones(named.armature)))
    except CoreError:
        return None


@dataclass(frozen=True)
class _Bones:
    """Bones that are the same as others of the same content."""

    content: tuple[Any, ...]
    skeleton: Skeleton = field(compare=False)
    deform: Flags = field(compare=False)


@lru_cache(maxsize=8)
def _found(bones: _Bones) -> Roles:
    return find_roles(bones.skeleton, bones.deform)


def read_corrections(armature: ArmatureObject) -> dict[int, str]:
    """Return the index of each corrected bone with the role that the user assigned, or NO_PART."""
    bones = armature.pose.bones if armature.pose is not None else ()
    return {number: bone.poise_role for number, bone in enumerate(bones) if bone.poise_role}


def write_corrections(armature: ArmatureObject, corrections: Mapping[str, str], facing: str | None = None) -> None:
    """Store corrections: bone -> role, NO_PART, or "" to remove the correction; and the axis that the body looks along.

    `facing` is "" where it is as found, None where it stays as it is. Raises CoreError, with nothing changed, for
    unknown bones and contradictions.
    """
    bones = armature.pose.bones
    for name in corrections:
        if name not in bones:
            raise CoreError(f'"{armature.name}" has no bone "{name}".')
    before, looked = {name: bones[name].poise_role for name in corrections}, armature.poise_facing
    armature.poise_facing = looked if facing is None else facing
    for name, role in corrections.items():
        bones[name].poise_role = role
    try:
        read_roles(armature)
    except CoreError:
        for name, role in before.items():
            bones[name].poise_role = role
        armature.poise_facing = looked
        raise


def mapping_to_corrections(
    armature: ArmatureObject, mapping: Mapping[str, str | tuple[str, ...] | None]
) -> dict[str, str]:
    """Return a mapping (role -> bone, bones, or None for no bone) as corrections, bone -> role.

    The name space may differ: "Hips" stands for "mixamorig:Hips" if that is the only such bone. Raises CoreError for
    bones that the armature does not have, and for a bone that is named twice.
    """
    if not mapping:
        return {}
    bones = armature.pose.bones
    alike: dict[str, list[str]] = {}
    for bone in bones:
        alike.setdefault(_without_space(bone.name), []).append(bone.name)
    found: dict[str, str] = {}
    for role, names in mapping.items():
        for named in (names,) if isinstance(names, str) else names or ():
            others = alike.get(_without_space(named), ())
            name = others[0] if named not in bones and len(others) == 1 else named
            if name not in bones:
                raise CoreError(f'{role}: "{armature.name}" has no bone "{name}".')
            if name in found:
                raise CoreError(f'{role}: "{name}" is already {found[name]}.')
            found[name] = role
    guessed = guess_roles(armature)
    for role in mapping:
        for bone in guessed.chain(role):
            found.setdefault(bones[bone].name, NO_PART)
    return found


def _without_space(name: str) -> str:
    """Return a bone's name without the name space that other programs add."""
    return name.rpartition(":")[2]
