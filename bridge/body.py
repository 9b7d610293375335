"""Read an armature as a body with roles, and write poses of that body back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..core import CoreError, Pose, Skeleton, forward, rotation
from ..core.body import Roles
from ..core.causes import Explanation
from ..core.limits import clamp_rotations
from .armature import Rig, check, read_matrices, read_pose, read_rig, write_pose
from .channels import ArmatureObject
from .control_bodies import find_controlled
from .controlled_body import ControlledBody, read_controlled, with_ik_starts
from .controls import pose_controls
from .keys import changed_bones
from .roles import read_roles
from .words import listed

_STILL: Final = 1e-6  # radians: a bone turned by less keeps its rotation, even outside its limits
_HELD: Final = float(np.radians(0.5))  # radians: a bone further from the wanted rotation is reported
# What is said of one bone and of several.
_DRIVEN: Final = "{} is driven", "{} are driven"
_LOCKED: Final = "{} is locked", "{} are locked"
_LIMITED: Final = "{} is at the limit", "{} are at the limit"
_WIDEN: Final = "Widen the limits or turn them off"
_SIZED: Final = 1e-4  # of the scale: a larger difference from the wanted scale is reported


@dataclass(frozen=True, eq=False)
class Body:
    """A body that is posed by roles: `pose` of `skeleton` at the current frame.

    If the body of the rig is driven, skeleton and pose are those of `controlled`, which is posed by its controls.
    """

    rig: Rig
    skeleton: Skeleton
    roles: Roles
    pose: Pose
    controlled: ControlledBody | None = None


@dataclass(frozen=True)
class Changes:
    """Names of the bones that were rotated, moved and lengthened.

    held: names of controls that one of their limits stops
    """

    rotated: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


def read_body(armature: ArmatureObject) -> Body:
    """Return the body of an armature in its current pose. Raises CoreError if it must not be changed."""
    check(armature)
    rig = read_rig(armature)
    roles = read_roles(armature, rig.skeleton)
    controlled = find_controlled(armature, rig, roles)
    pose = _pose_now(armature, rig, controlled)
    if controlled is None:
        return Body(rig, rig.skeleton, roles, pose)
    return Body(with_ik_starts(rig, controlled), controlled.skeleton, controlled.roles, pose, controlled)


def read_body_again(armature: ArmatureObject, body: Body) -> Body:
    """Return the same body in its current pose."""
    return replace(body, pose=_pose_now(armature, body.rig, body.controlled))


def _pose_now(armature: ArmatureObject, rig: Rig, controlled: ControlledBody | None) -> Pose:
    if controlled is None:
        return _as_seen(rig.skeleton, read_pose(armature, rig))
    return read_controlled(controlled, read_matrices(armature))


def _as_seen(skeleton: Skeleton, pose: Pose) -> Pose:
    """Return the pose with the evaluated rotations of driven bones, whose channels have no meaning."""
    driven = np.flatnonzero(skeleton.driven & (skeleton.parents >= 0))
    if not len(driven):
        return pose
    _, turns = forward(skeleton, pose)
    base = rotation.mul(turns[skeleton.parents[driven]], skeleton.rest_rotations[driven])
    rotations = np.array(pose.rotations)
    rotations[driven] = rotation.mul(rotation.inv(base), turns[driven])
    return replace(pose, rotations=rotations)


def write_body(armature: ArmatureObject, body: Body, pose: Pose) -> Changes:
    """Pose the armature as its body: by its controls if it has some, else by its bones as far as `allow` permits.

    Raises CoreError, with nothing written, if no bone is free to change.
    """
    if body.controlled is not None:
        movable = body.skeleton.movable[:, None]
        pose = replace(pose, rotations=np.where(movable, pose.rotations, body.pose.rotations))
        controlled = body.controlled.slid(read_pose(armature, body.rig).translations)
        led = pose_controls(armature, body.rig, controlled, pose)
        names = body.rig.skeleton.names
        turned, moved, held = (tuple(names[bone] for bone in bones) for bones in (led.turned, led.moved, led.held))
        return Changes(turned, moved, (), held)
    pose, names = allow(body, pose), body.skeleton.names
    changes = changed_bones(body.pose, pose, body.skeleton.size)
    write_pose(armature, body.rig, pose, {int(bone) for bones in changes for bone in bones}, changes[2], sizes=True)
    rotated, moved, grown = (tuple(names[bone] for bone in bones) for bones in changes)
    return Changes(rotated, moved, grown)


def allow(body: Body, pose: Pose) -> Pose:
    """Return the pose (...) that a body without controls can take: driven, locked and limited channels are respected.

    Raises CoreError if driven bones would have to change and no free bone changes.
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
    driven = np.flatnonzero(body.rig.decided & turned.reshape(-1, len(skeleton)).any(axis=0))
    if len(driven) and not any(len(bones) for bones in changed_bones(start, allowed, skeleton.size)):
        name = skeleton.names[driven[0]]
        raise CoreError(f'"{name}" is driven by {body.rig.driven[name]}. Mute that first.')
    return allowed


def explain_missed_bones(body: Body, wanted: Pose, now: Pose) -> list[str]:
    """Return sentences about bones of a body without controls whose rotation or scale differs from the wanted one."""
    if body.controlled is not None:
        return []
    skeleton = body.skeleton
    off = rotation.angle_between(wanted.rotations, now.rotations).reshape(-1, len(skeleton)).max(axis=0) > _HELD
    driven = body.rig.decided
    locked = ~driven & (~skeleton.movable | skeleton.rotation_locks.any(axis=1))
    limited = ~driven & ~locked
    groups = (
        (driven, _DRIVEN, "Mute the driver or constraint"),
        (locked, _LOCKED, "Unlock the rotation"),
        (limited, _LIMITED, _WIDEN),
    )
    bones = [(np.flatnonzero(off & group), what, remedy) for group, what, remedy in groups]
    said = [
        Explanation(sentence_about([skeleton.names[bone] for bone in some], what), remedy=remedy)
        for some, what, remedy in bones
        if len(some)
    ]
    if wanted.scales is not None:
        differ = np.abs(wanted.scales - (1.0 if now.scales is None else now.scales)) > _SIZED
        kept = differ.reshape(-1, len(skeleton), 3).any(axis=(0, 2)) & ~driven
        if kept.any():
            names = [skeleton.names[bone] for bone in np.flatnonzero(kept)]
            said.append(Explanation(f"the scale of {listed(names)} is locked", remedy="Unlock it to change it"))
    return [*said]


def explain_limited_controls(names: Sequence[str]) -> list[str]:
    """Return a sentence about the controls that a limit stops, in a list; empty without such controls."""
    return [Explanation(sentence_about(names, _LIMITED), remedy=_WIDEN)] if names else []


def sentence_about(names: Sequence[str], said: tuple[str, str]) -> str:
    """Return e.g. 'A, B, C and 3 more are locked' about at least one name; `said`: of one, and of several."""
    return said[len(names) > 1].format(listed(names))
