"""An armature as a body: its skeleton with the parts, the present pose, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ..core import CoreError, Pose, Skeleton, forward, rotation
from ..core.body import Roles
from ..core.limits import clamp_rotations
from .armature import Rig, check, read_matrices, read_pose, read_rig, write_pose
from .channels import ArmatureObject
from .controls import ControlledBody, find_controlled, lead_controls, read_controlled, with_beginnings
from .keys import changed_bones
from .roles import read_roles

_STILL: Final = 1e-6  # radians: a bone that is turned by less keeps its rotation, within its limits or not
_HELD: Final = float(np.radians(0.5))  # a bone that is so far from where it was wanted is worth a sentence
_SIZED: Final = 1e-4  # of the scale: so much less or more than wanted is worth one, too
_NAMED: Final = 3  # bones in one sentence


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
    """Names of the bones that were rotated, moved and made longer, and (bone, property) that were set.

    held: names of controls that are at a limit of theirs, and do not get where they should
    """

    rotated: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    switched: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    held: tuple[str, ...] = ()


def read_body(armature: ArmatureObject) -> Body:
    """The body of an armature as it stands; raises CoreError if it must not be changed."""
    check(armature)
    rig = read_rig(armature)
    roles = read_roles(armature, rig.skeleton)
    controlled = find_controlled(armature, rig, roles)
    pose = _pose_now(armature, rig, controlled)
    if controlled is None:
        return Body(rig, rig.skeleton, roles, pose)
    return Body(with_beginnings(rig, controlled), controlled.skeleton, controlled.roles, pose, controlled)


def read_again(armature: ArmatureObject, body: Body) -> Body:
    """The same body as it stands now."""
    return replace(body, pose=_pose_now(armature, body.rig, body.controlled))


def _pose_now(armature: ArmatureObject, rig: Rig, controlled: ControlledBody | None) -> Pose:
    if controlled is None:
        return _as_seen(rig.skeleton, read_pose(armature, rig))
    return read_controlled(controlled, read_matrices(armature))


def loosened(armature: ArmatureObject, body: Body) -> Body:
    """The body with hands and feet that hang on nothing where they are, wherever their limbs end."""
    if body.controlled is None:
        return body
    return replace(body, pose=read_controlled(body.controlled, read_matrices(armature), loose=True))


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


def write_body(armature: ArmatureObject, body: Body, pose: Pose) -> Changes:
    """Bring the armature to a pose of its body, by its controls where it has some, else as far as `allow` lets it.

    Raises CoreError, with nothing written, where no bone is free to change.
    """
    if body.controlled is not None:
        led = lead_controls(armature, body.rig, body.controlled, pose)
        names = body.rig.skeleton.names
        turned, moved, held = (tuple(names[bone] for bone in bones) for bones in (led.turned, led.moved, led.held))
        return Changes(turned, moved, (), [*led.switched], held)
    pose, names = allow(body, pose), body.skeleton.names
    changes = changed_bones(body.pose, pose)
    write_pose(armature, body.rig, pose, {int(bone) for bones in changes for bone in bones}, changes[2], sizes=True)
    rotated, moved, grown = (tuple(names[bone] for bone in bones) for bones in changes)
    return Changes(rotated, moved, grown)


def allow(body: Body, pose: Pose) -> Pose:
    """The pose, or poses, that a body without controls can take: what is driven or locked stays, and what the user gave
    limits keeps them.

    Raises CoreError where a driven bone is wanted otherwise, and no free one is.
    """
    skeleton, start = body.skeleton, body.pose
    turned = rotation.angle_between(start.rotations, pose.rotations) > _STILL
    inside, _ = clamp_rotations(skeleton.limits, pose.rotations)
    rotations = np.where((turned & skeleton.movable)[..., None], inside, start.rotations)
    translations = np.where(skeleton.translatable, pose.translations, start.translations)
    scales = pose.scales
    if scales is not None:
        scales = np.where(body.rig.scalable, scales, 1.0 if start.scales is None else start.scales)
    allowed = replace(pose, rotations=rotations, translations=translations, scales=scales)
    driven = np.flatnonzero(skeleton.driven & turned.reshape(-1, len(skeleton)).any(axis=0))
    if len(driven) and not any(len(bones) for bones in changed_bones(start, allowed)):
        name = skeleton.names[driven[0]]
        raise CoreError(f'"{name}" is decided by {body.rig.driven[name]}; mute that first.')
    return allowed


def held_back(body: Body, wanted: Pose, now: Pose) -> list[str]:
    """Sentences about bones of a body without controls that are not turned, or not as large, as a pose, or poses,
    wanted them."""
    if body.controlled is not None:
        return []
    skeleton = body.skeleton
    off = rotation.angle_between(wanted.rotations, now.rotations).reshape(-1, len(skeleton)).max(axis=0) > _HELD
    locked = ~skeleton.driven & (~skeleton.movable | skeleton.rotation_locks.any(axis=1))
    limited = ~skeleton.driven & ~locked
    groups = ((skeleton.driven, "driven"), (locked, "locked"), (limited, "at the limit"))
    found = [([skeleton.names[bone] for bone in np.flatnonzero(off & group)], what) for group, what in groups]
    said = [f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {what}" for names, what in found if names]
    if wanted.scales is not None:
        differ = np.abs(wanted.scales - (1.0 if now.scales is None else now.scales)) > _SIZED
        kept = differ.reshape(-1, len(skeleton), 3).any(axis=(0, 2)) & ~skeleton.driven
        if kept.any():
            names = [skeleton.names[bone] for bone in np.flatnonzero(kept)]
            said.append(f"the scale{'s' if len(names) > 1 else ''} of {_listed(names)} "
                        f"{'are' if len(names) > 1 else 'is'} locked")  # fmt: skip
    return said


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    *first, last = [*names[:_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


def at_limit(names: Sequence[str]) -> list[str]:
    """A sentence about controls that a limit holds; none about none."""
    return [said_of(names, "at the limit")] if names else []


def said_of(names: Sequence[str], what: str) -> str:
    """'A, B, C and 3 more are locked', of at least one."""
    return f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {what}"
