"""An armature as a body: its skeleton with the parts, the present pose, and the way back."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..core import CoreError, Pose, Skeleton, forward, rotation
from ..core.humanoid import Roles
from .armature import Rig, check, read_matrices, read_pose, read_rig, write_pose
from .channels import ArmatureObject
from .controls import ControlledBody, find_controlled, lead_controls, read_controlled
from .keys import changed_bones
from .roles import read_roles


@dataclass(frozen=True, eq=False)
class Body:
    """What is posed by its parts: `pose` of `skeleton` with these roles, at the present frame.

    Of a rig whose body is driven `pose` is that of `controlled`, which controls lead.
    """

    rig: Rig
    skeleton: Skeleton
    roles: Roles
    pose: Pose
    controlled: ControlledBody | None = None


@dataclass(frozen=True)
class Changes:
    """Names of the bones that were rotated, moved and made longer, and (bone, property) that were set."""

    rotated: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    switched: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def read_body(object: ArmatureObject) -> Body:
    """The body of an armature as it stands; raises CoreError if it must not be changed."""
    check(object)
    rig = read_rig(object)
    roles = read_roles(object, rig.skeleton)
    controlled = find_controlled(object, rig, roles)
    if controlled is None:
        return Body(rig, rig.skeleton, roles, _as_seen(rig.skeleton, read_pose(object, rig)))
    return Body(
        rig, controlled.skeleton, controlled.roles, read_controlled(controlled, read_matrices(object)), controlled
    )


def _as_seen(skeleton: Skeleton, pose: Pose) -> Pose:
    """The pose in which driven bones have the rotations that they are seen with: their channels mean nothing."""
    driven = np.flatnonzero(skeleton.driven & (skeleton.parents >= 0))
    if not len(driven):
        return pose
    _, turns = forward(skeleton, pose)
    base = rotation.mul(turns[skeleton.parents[driven]], skeleton.rest_rotations[driven])
    rotations = np.array(pose.rotations)
    rotations[driven] = rotation.mul(rotation.inv(base), turns[driven])
    return replace(pose, rotations=rotations)


def write_body(object: ArmatureObject, body: Body, pose: Pose) -> Changes:
    """Bring the armature to a pose of its body, by its controls where it has some.

    Raises CoreError, with nothing written, where something else decides a bone that would change.
    """
    if body.controlled is not None:
        led = lead_controls(object, body.rig, body.controlled, pose)
        names = body.rig.skeleton.names
        turned, moved = (tuple(names[bone] for bone in bones) for bones in (led.turned, led.moved))
        return Changes(turned, moved, (), [*led.switched])
    changes, names = check_free(body, pose), body.skeleton.names
    write_pose(object, body.rig, pose, {int(bone) for bones in changes for bone in bones})
    rotated, moved, grown = (tuple(names[bone] for bone in bones) for bones in changes)
    return Changes(rotated, moved, grown)


def check_free(body: Body, pose: Pose) -> tuple[NDArray[np.int64], ...]:
    """The bones that another pose, or poses, of a body without controls turn, move and make longer.

    Raises CoreError where something else decides one of them.
    """
    changes, names = changed_bones(body.pose, pose), body.skeleton.names
    for name in (names[bone] for bones in changes for bone in bones):
        if name in body.rig.driven:
            raise CoreError(f'"{name}" is decided by {body.rig.driven[name]}; mute that first.')
    return changes
