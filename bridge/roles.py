"""Read the roles of an armature: as detected, with the corrections of the user."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..core import CoreError, Skeleton
from ..core.body import Roles, find_roles
from ..core.body.corrections import NO_PART, correct_roles
from ..core.body.roles import ROLES
from ..core.skeleton import Flags
from .bones import read_bones
from .channels import ArmatureObject, flags


def read_roles(
    armature: ArmatureObject, skeleton: Skeleton | None = None, further: Mapping[str, str] | None = None
) -> Roles:
    """Return the roles of an armature with the user's corrections; `skeleton` if its bones have been read already.

    Corrections are stored in `PoseBone.poise_role`; `further` ones, bone -> role, take precedence. Raises CoreError for
    corrections that contradict each other, such as two bones for one role.
    """
    skeleton = Skeleton(**read_bones(armature)) if skeleton is None else skeleton
    more = {skeleton.index(name): role for name, role in (further or {}).items()}
    said = {
        bone: role for bone, role in read_corrections(armature).items() if role == NO_PART or role not in more.values()
    }
    return correct_roles(skeleton, guess_roles(armature, skeleton), said | more)


def can_correct(part: str) -> bool:
    """Return whether the user can say which bones are this part of the body."""
    return part in ROLES


def guess_roles(armature: ArmatureObject, skeleton: Skeleton | None = None) -> Roles:
    """Return the detected roles without the user's corrections; they are found once for the same bones."""
    skeleton = Skeleton(**read_bones(armature)) if skeleton is None else skeleton
    deform = flags(armature.data.bones, "use_deform", 1)[:, 0]
    shape = (skeleton.parents, skeleton.offsets, skeleton.rest_bases, skeleton.lengths, deform)
    return _found(_Bones((skeleton.names, *(values.tobytes() for values in shape)), skeleton, deform))


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


def write_corrections(armature: ArmatureObject, corrections: Mapping[str, str]) -> None:
    """Store corrections: bone -> role, NO_PART, or "" to remove the correction.

    Raises CoreError, with nothing changed, for unknown bones and contradictions.
    """
    bones = armature.pose.bones
    for name in corrections:
        if name not in bones:
            raise CoreError(f'"{armature.name}" has no bone "{name}".')
    before = {name: bones[name].poise_role for name in corrections}
    for name, role in corrections.items():
        bones[name].poise_role = role
    try:
        read_roles(armature)
    except CoreError:
        for name, role in before.items():
            bones[name].poise_role = role
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
                raise CoreError(f'{role}: "{name}" is {found[name]} already.')
            found[name] = role
    guessed = guess_roles(armature)
    for role in mapping:
        for bone in guessed.chain(role):
            found.setdefault(bones[bone].name, NO_PART)
    return found


def _without_space(name: str) -> str:
    """Return a bone's name without the name space that other programs add."""
    return name.rpartition(":")[2]
