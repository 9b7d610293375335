"""An armature as a body: its skeleton with the parts, the present pose, and the way back."""

from dataclasses import dataclass

from ..core import CoreError, Pose, Skeleton
from ..core.humanoid import Roles
from .armature import Rig, check, read_pose, read_rig, write_pose
from .channels import ArmatureObject
from .keys import changed_bones
from .roles import read_roles


@dataclass(frozen=True, eq=False)
class Body:
    """What is posed by its parts: `pose` of `skeleton` with these roles, at the present frame."""

    rig: Rig
    skeleton: Skeleton
    roles: Roles
    pose: Pose


def read_body(object: ArmatureObject) -> Body:
    """The body of an armature as it stands; raises CoreError if it must not be changed."""
    check(object)
    rig = read_rig(object)
    return Body(rig, rig.skeleton, read_roles(object, rig.skeleton), read_pose(object, rig))


def write_body(object: ArmatureObject, body: Body, pose: Pose) -> tuple[tuple[str, ...], ...]:
    """Bring the armature to a pose of its body; names of the bones that were rotated, moved and made longer.

    Raises CoreError, with nothing written, where something else decides a bone that would change.
    """
    changes = changed_bones(body.pose, pose)
    names = body.skeleton.names
    changed = {int(bone) for bones in changes for bone in bones}
    for bone in sorted(changed):
        if names[bone] in body.rig.driven:
            raise CoreError(f'"{names[bone]}" is decided by {body.rig.driven[names[bone]]}; mute that first.')
    write_pose(object, body.rig, pose, changed)
    return tuple(tuple(names[bone] for bone in bones) for bones in changes)
