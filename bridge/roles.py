"""Which bone of an armature plays which part: as found, and as the user corrected it. The one place that says so."""

from collections.abc import Mapping

import numpy as np

from ..core import CoreError, Skeleton, rotation
from ..core.body import Roles, find_roles
from ..core.body.corrections import NO_PART, correct_roles
from ..core.body.roles import ROLES
from .channels import ArmatureObject


def read_roles(
    armature: ArmatureObject, skeleton: Skeleton | None = None, further: Mapping[str, str] | None = None
) -> Roles:
    """The parts of an armature, with the user's corrections; `skeleton` if its bones have been read already.

    Corrections are `PoseBone.poise_role`; `further` ones, bone's name -> part, go before them. One that cannot be (two
    bones for one part) is a CoreError.
    """
    skeleton = read_rest(armature) if skeleton is None else skeleton
    more = {skeleton.index(name): role for name, role in (further or {}).items()}
    said = {
        bone: role for bone, role in read_corrections(armature).items() if role == NO_PART or role not in more.values()
    }
    return correct_roles(skeleton, guess_roles(armature, skeleton), said | more)


def can_correct(part: str) -> bool:
    """Return whether the user can say which bones are this part of the body."""
    return part in ROLES


def guess_roles(armature: ArmatureObject, skeleton: Skeleton | None = None) -> Roles:
    """The parts as they are found, whatever the user said."""
    skeleton = read_rest(armature) if skeleton is None else skeleton
    return find_roles(skeleton, np.array([bone.use_deform for bone in armature.data.bones]))


def read_corrections(armature: ArmatureObject) -> dict[int, str]:
    """Bone -> the part that the user gave it, or NO_PART."""
    bones = armature.pose.bones if armature.pose is not None else ()
    return {number: bone.poise_role for number, bone in enumerate(bones) if bone.poise_role}


def write_corrections(armature: ArmatureObject, corrections: Mapping[str, str]) -> None:
    """Note what the user says: bone's name -> part, NO_PART, or "" to take it back.

    Raises CoreError, with nothing changed, for bones that are not there.
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
    """A shared mapping (role -> bone, bones, or None where there is none) as corrections by bone.

    A bone may have another name space there: "Hips" for "mixamorig:Hips", where that is but one. Bones that the
    armature has not are refused with their names; so is one that is named twice.
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
    """A bone's name without the name space that other programs put before it."""
    return name.rpartition(":")[2]


def read_rest(armature: ArmatureObject) -> Skeleton:
    """Names, tree and rest pose, which hidden armatures have too; `read_rig` reads poses and needs them evaluated."""
    bones = armature.data.bones
    indices = {bone.name: index for index, bone in enumerate(bones)}
    parents = np.array([indices[bone.parent.name] if bone.parent else -1 for bone in bones])
    matrices = np.array([bone.matrix_local for bone in bones])
    above = np.where((parents >= 0)[:, None, None], matrices[parents], np.eye(4))
    local = np.linalg.inv(above) @ matrices
    turns = rotation.from_matrix(rotation.nearest_rotation(local[:, :3, :3]))
    return Skeleton(tuple(indices), parents, local[:, :3, 3], turns, np.array([bone.length for bone in bones]))
