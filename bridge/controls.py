"""Pose rigs whose body bones are driven by controls.

The body of such a rig is a skeleton of its own: the bones with roles, parented as in a body, at their evaluated places.
A pose of the body is brought to the controls iteratively: each control is turned by the error of its part, as if it
followed the part before; Blender evaluates the rig; the remaining error is corrected in the next round. Which control
poses which part is found by `control_graph`.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError, Pose, Skeleton, rotation
from ..core.body import Roles
from ..core.limits import LimitGroup, clamp_rotations
from ..core.pose import forward, frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .armature import Rig, channels_to_pose, read_matrices, read_pose, write_pose
from .channels import ArmatureObject, read_channels, write_channels

SAME_PLACE: Final = 1e-3  # of the skeleton's size, between the heads of a bone and its control
_ROUNDS: Final = 12
_NOISE: Final = 1e-4  # radians, or share of the size: rounding of a bone that does not move, in single precision
_THERE: Final = float(np.radians(0.02))
# Tolerated errors of a tick that others follow, radians and share of the size: they are not visible.
_GLANCE: Final = float(np.radians(1.0))
_SEEN: Final = 5e-4
_EASED: Final = 0.7  # if this share of a twist error remains after a round, the control does not determine the twist
_APART: Final = 5e-3  # of the skeleton's size: how far a part may be from its leader, by bendy bones and tweaks
_ASTRAY: Final = float(np.radians(3.0))  # a part with a larger error after all rounds does not follow its control


@dataclass(frozen=True)
class Control:
    """The bones (indices, -1 for none) that are keyed to turn a part of the body, move it, or be aimed at by it.

    begins: the bone of an IK chain without a pole that the part shows. Blender's solver starts from its channels: those
    that are not locked say which way the chain bends.
    """

    turns: int = -1
    moves: int = -1
    aims: int = -1
    begins: int = -1


_FIELDS: Final = tuple(field.name for field in fields(Control))


@dataclass(frozen=True, eq=False)
class ControlledBody:
    """A body that is posed by controls.

    skeleton, roles   of the body's own bones, with their names
    bones (N,)        indices of these bones in the rig
    leaders (N,)      the bones of IK chains that the parts show; where there is none, the parts' own bones
    frames (N,)       the bones whose place and rotation are read as theirs: leaders, since deforming bones may spread a
                      twist, but for parts that are not where their leader is
    controls          one for each of them
    hangs (N,)        whether the control follows the part before
    rigid (N,)        segments of limbs: they may be stretched in the rig, but turning does not stretch them
    ends (N,)         of parts that an IK chain bends: the part at its end; of others: themselves
    riding            further bones of the rig -> the bone of the body that they move with
    goals             targets and poles of the rig's IK chains
    """

    skeleton: Skeleton
    roles: Roles
    bones: Indices
    leaders: Indices
    frames: Indices
    controls: tuple[Control, ...]
    hangs: Flags
    rigid: Flags
    ends: Indices
    riding: Mapping[int, int]
    goals: frozenset[int]

    @property
    def stretched(self) -> Flags:
        """The parts (N,) behind a segment that IK bends, and may stretch."""
        bent = self.ends != np.arange(len(self.ends))
        return (self.skeleton.parents >= 0) & bent[self.skeleton.parents]

    def serves(self, rig: Rig, bones: Iterable[int]) -> bool:
        """Return whether a bone can only be posed with this body: it is driven, below a driven bone, or an IK goal."""
        led = [bone for bone in bones if bone in self.parts()]
        return any(bone in self.goals or rig.driven_above(bone) or not rig.skeleton.movable[bone] for bone in led)

    def parts(self) -> dict[int, int]:
        """Return bone of the rig -> bone of the body: its own bones, controls that turn them, riding bones."""
        turners = {control.turns: part for part, control in enumerate(self.controls) if control.turns >= 0}
        return {**turners, **{int(bone): part for part, bone in enumerate(self.bones)}, **self.riding}

    def bones_that(self, what: str) -> Indices:
        """Return the bone of the rig, or -1, that turns, moves, aims or begins each part; `what` names the field."""
        return np.array([getattr(control, what) for control in self.controls], int)

    @property
    def keyed(self) -> set[int]:
        """The indices of the bones that are keyed for the body."""
        return {bone for what in _FIELDS for bone in self.bones_that(what).tolist()} - {-1}


def free_controls(rig: Rig, roles: Roles, bones: Iterable[int]) -> ControlledBody:
    """Return bones below driven ones that can be moved by themselves, as in a face: each is a body of one bone."""
    whole, numbers = rig.skeleton, list(bones)
    rest, count = whole.rest_matrices[numbers], len(numbers)
    skeleton = Skeleton(
        tuple(whole.names[bone] for bone in numbers),
        np.full(count, -1),
        rest[:, :, 3],
        frame_rotations(rest[:, :, :3]),
        whole.lengths[numbers],
        movable=whole.movable[numbers],
    )
    controls = tuple(Control(bone if whole.movable[bone] else -1, bone) for bone in numbers)
    apart = np.zeros(count, bool)
    roles = replace(roles, bones={}, twist={}, limbs={})
    return ControlledBody(
        skeleton,
        roles,
        np.array(numbers),
        np.array(numbers),
        np.array(numbers),
        controls,
        apart,
        apart,
        np.arange(count),
        {},
        frozenset(),
    )


def limits_of(skeleton: Skeleton, bones: Container[int]) -> tuple[LimitGroup, ...]:
    """Return the limits of some bones."""
    kept = [(group, [place for place, bone in enumerate(group.bones.tolist()) if bone in bones])
            for group in skeleton.limits]  # fmt: skip
    return tuple(group.take(np.array(places)) for group, places in kept if places)


def with_ik_starts(rig: Rig, controlled: ControlledBody) -> Rig:
    """Return the rig with the `begins` bones as movable ones, so that IK without a pole bends as in the body's pose."""
    movable = np.array(rig.skeleton.movable)
    begins = controlled.bones_that("begins")
    movable[begins[begins >= 0]] = True
    return replace(rig, skeleton=replace(rig.skeleton, movable=movable))


def read_controlled(controlled: ControlledBody, matrices: Array, loose: bool = False, stretched: bool = False) -> Pose:
    """Return the pose (...) of the body from the rig's evaluated matrices (..., J, 3, 4).

    loose: keep the places of hands and feet that have no parent in the rig, instead of the ends of their limbs;
    stretched: keep the lengths of segments that IK stretches.
    """
    skeleton, parents = controlled.skeleton, controlled.skeleton.parents
    own = matrices[..., controlled.frames, :, :]
    rigid = controlled.rigid & ~(loose & (controlled.bones_that("moves") == controlled.bones))
    rigid = rigid & ~(stretched & controlled.stretched)
    heads, turns = own[..., 3], frame_rotations(own[..., :3])
    hangs = (parents >= 0)[:, None]
    above = np.where(hangs, turns[..., parents, :], rotation.IDENTITY)
    origin = np.where(hangs, heads[..., parents, :], 0.0)
    base = rotation.mul(above, skeleton.rest_rotations)
    away = rotation.rotate(rotation.inv(above), heads - origin) - skeleton.offsets
    moved = rotation.rotate(rotation.inv(skeleton.rest_rotations), away) * ~rigid[:, None]
    return Pose(rotation.normalize(rotation.mul(rotation.inv(base), turns)), moved)


@dataclass(frozen=True, eq=False)
class ControlPose:
    """A pose of the controls: the rig's pose, and the bones that were turned and moved (not known of one round).

    heads   (N, 3) where the body's parts were wanted
    shown   whether Blender shows the pose, as far as the controls can have it
    held    the controls that one of their limits stops
    """

    pose: Pose
    turned: list[int]
    moved: list[int]
    heads: Array
    shown: bool = True
    held: list[int] = field(default_factory=list[int])


def pose_controls(
    armature: ArmatureObject,
    rig: Rig,
    controlled: ControlledBody,
    pose: Pose,
    passing: bool = False,
    looks: bool = True,
    once: bool = False,
) -> ControlPose:
    """Pose the controls so that the body has `pose`, within their limits.

    `passing`: stop at errors that are not visible, because other poses follow. Without `looks` the eyes keep their
    targets. Raises CoreError, with the controls restored, if a part does not follow its control; not with `once`, which
    corrects what Blender shows now by one round, without evaluating the rig again: what is left is for the next pose.
    """
    context: Any = bpy.context
    context.view_layer.update()
    channels = read_channels(armature, rig.channels)
    # of scales that constraints make, and of bones that are driven, a pose that is not kept needs nothing
    start = now = channels_to_pose(rig, channels, None) if once else read_pose(armature, rig)
    turned, moved, aims, begins = map(controlled.bones_that, _FIELDS)
    matrices = read_matrices(armature)
    present = read_controlled(controlled, matrices)
    bent = np.flatnonzero(controlled.ends != np.arange(len(present.rotations)))
    free = {*range(len(present.rotations))} - {*bent.tolist()}  # IK keeps its limits by itself, and reaches what it can
    pose, stopped = _within(limits_of(controlled.skeleton, free), present, pose)
    wanted_heads, wanted = forward(controlled.skeleton, pose)
    limits = limits_of(rig.skeleton, set(turned.tolist()))
    held = np.zeros(len(wanted), bool)  # parts whose control is at its limit, and parts below them
    same = rotation.angle_between(pose.rotations, present.rotations) < _NOISE
    aims[same | (not looks)] = -1
    follows = (turned >= 0) | (aims >= 0)
    begins[~rig.skeleton.movable[begins]] = -1
    led = np.flatnonzero(follows | (begins >= 0))
    limbs = _directions(wanted_heads[controlled.ends[bent]] - wanted_heads[bent])
    bones = sorted({*turned.tolist(), *moved.tolist(), *aims.tolist(), *begins.tolist()} - {-1})
    errors, twist = np.zeros(len(wanted)), np.full(len(wanted), np.inf)
    parents = controlled.skeleton.parents
    bent_above = (parents >= 0) & (turned[parents] < 0)  # by IK, which may twist the parts below in any round
    # parts whose twist no control determines: eyes, and segments with twist bones
    stubborn = aims >= 0
    at_limit: Indices = np.zeros(0, int)
    shown = True
    try:
        for round_ in range(1 if once else _ROUNDS):
            if round_:
                context.view_layer.update()
                matrices = read_matrices(armature)
            heads, turns = matrices[:, :, 3], frame_rotations(matrices[:, :, :3])
            own = turns[controlled.frames]
            change = rotation.mul(wanted, rotation.inv(own))  # (N, 4) the error of each part
            swing, twisted = rotation.swing_twist(change, rotation.rotate(own, np.array([0.0, 1.0, 0.0])))
            twist, before_twist = rotation.angle_between(twisted, rotation.IDENTITY), twist
            stubborn |= (twist > _THERE) & (twist > _EASED * before_twist) & ~bent_above
            change = np.where(stubborn[:, None], swing, change)
            errors = np.zeros(len(wanted))
            errors[led] = rotation.angle_between(change[led], rotation.IDENTITY)
            # a chain bends, and stretches, as it must: only the way it bends is for its first bones to say
            _, swivel = rotation.swing_twist(change[bent], limbs)
            errors[bent] = rotation.angle_between(swivel, rotation.IDENTITY) * (begins[bent] >= 0)
            errors[held] = 0.0
            far = np.linalg.norm(wanted_heads - heads[controlled.frames], axis=-1) / rig.skeleton.size
            far[held] = 0.0
            if errors.max() < _THERE and far[moved >= 0].max(initial=0.0) < _THERE:
                break
            if passing and errors.max() < _GLANCE and far[(turned >= 0) | (moved >= 0)].max() < _SEEN:
                break
            last, now = now, _turned(now, rig.skeleton, controlled, change, heads, turns, wanted_heads, wanted, aims)
            now, at_limit = _within(limits, start, now)
            held = _with_below(np.isin(turned, at_limit), parents)
            write_pose(armature, rig, now, bones)
            shown = not _differ(last, now, rig.skeleton.size)
            if shown:
                break  # controls cannot reduce the error further, e.g. because of IK limits
        at_limits = sorted({*turned[stopped].tolist(), *at_limit.tolist()} - {-1})
        if once:
            return ControlPose(now, [], [], wanted_heads, shown, at_limits)
        errors[held | ~follows] = 0.0
        matrices = read_matrices(armature)
        off = (errors > _ASTRAY) | astray(matrices, rig.skeleton.size, controlled.bones, controlled.leaders)
        if off.any():
            first = int(np.flatnonzero(off)[0])  # parts below it are off as well
            raise CoreError(_astray(armature, controlled.skeleton.names[first], controlled.controls[first], rig))
    except CoreError:
        write_channels(armature, channels)
        raise
    new_turned = [bone for bone in sorted({*turned.tolist(), *begins.tolist()} - {-1})
                  if rotation.angle_between(start.rotations[bone], now.rotations[bone]) > _NOISE]  # fmt: skip
    step = _NOISE * rig.skeleton.size
    new_moved = [bone for bone in sorted({*moved.tolist(), *aims.tolist()} - {-1})
                 if np.any(np.abs(start.translations[bone] - now.translations[bone]) > step)]  # fmt: skip
    write_channels(armature, channels)  # channels that did not change keep their exact values
    write_pose(armature, rig, now, {*new_turned, *new_moved})
    return ControlPose(now, new_turned, new_moved, wanted_heads, True, at_limits)


def shows(controlled: ControlledBody, matrices: Array, heads: Array) -> bool:
    """Return whether the parts that controls turn are about where they were wanted, heads (N, 3), in (J, 3, 4)."""
    led = (controlled.bones_that("turns") >= 0) | (controlled.bones_that("aims") >= 0)
    away = np.linalg.norm(matrices[controlled.frames, :, 3] - heads, axis=-1)
    return bool(np.all(away[led] < _APART * controlled.skeleton.size))


def astray(matrices: Array, size: float, bones: Indices, leaders: Indices) -> Flags:
    """Return which bones (N,) have not the place and the direction of their leaders, in matrices (J, 3, 4)."""
    here, there = matrices[bones], matrices[leaders]
    apart = np.linalg.norm(here[:, :, 3] - there[:, :, 3], axis=-1) > _APART * size
    along = np.sum(_directions(here[:, :, 1]) * _directions(there[:, :, 1]), axis=-1)
    return apart | (along < np.cos(_ASTRAY))


def _directions(ways: Array) -> Array:
    """Return unit vectors (n, 3), 0 where there is no way."""
    lengths = np.linalg.norm(ways, axis=-1, keepdims=True)
    return ways / np.where(lengths > 0.0, lengths, 1.0)


def _astray(armature: ArmatureObject, part: str, control: Control, rig: Rig) -> str:
    """Return a sentence about a part that does not follow its control."""
    leader = max(control.turns, control.aims)
    if leader < 0:
        return f'"{part}" does not follow its control; something else decides it.'
    name = rig.skeleton.names[leader]
    constraint = next((one for one in armature.pose.bones[name].constraints if not one.mute and one.influence), None)
    why = "something else decides it" if constraint is None else f'its constraint "{constraint.name}" is in the way'
    return f'"{part}" does not follow its control "{name}"; {why}.'


def _within(limits: tuple[LimitGroup, ...], start: Pose, wanted: Pose) -> tuple[Pose, Indices]:
    """Return the wanted pose clamped to the limits, and the bones that these stop."""
    if not limits:
        return wanted, np.zeros(0, int)
    inside, _ = clamp_rotations(limits, wanted.rotations)
    turning = rotation.angle_between(start.rotations, wanted.rotations) > _NOISE
    rotations = np.where(turning[:, None], inside, wanted.rotations)
    return replace(wanted, rotations=rotations), np.flatnonzero(
        rotation.angle_between(rotations, wanted.rotations) > _THERE
    )


def _with_below(parts: Flags, parents: Indices) -> Flags:
    """Return the parts and all parts below them."""
    found = parts.copy()
    for part, parent in enumerate(parents.tolist()):
        found[part] |= parent >= 0 and found[parent]
    return found


def _differ(before: Pose, after: Pose, size: float) -> bool:
    turned = rotation.angle_between(before.rotations, after.rotations).max() > _NOISE
    return bool(turned or np.abs(after.translations - before.translations).max() > _NOISE * size)


def _turned(
    now: Pose, skeleton: Skeleton, controlled: ControlledBody, change: Array, heads: Array, turns: Array,
    wanted_heads: Array, wanted: Array, aims: Indices,
) -> Pose:  # fmt: skip
    """Return the next pose of the controls."""
    rotations, translations = np.array(now.rotations), np.array(now.translations)
    turners, movers, begun = map(controlled.bones_that, ("turns", "moves", "begins"))
    parts = np.flatnonzero(turners >= 0)
    bones = turners[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    hangs = controlled.hangs[parts][:, None]
    # only Blender knows where IK bends a segment
    above = controlled.skeleton.parents[parts]
    carried = np.where(hangs & (turners[above] >= 0)[:, None], change[above], rotation.IDENTITY)
    after = rotation.mul(change[parts], turns[bones])
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(rotation.mul(carried, base)), after))
    parts = np.flatnonzero(begun >= 0)
    bones, above = begun[parts], controlled.skeleton.parents[parts]
    base = rotation.mul(rotation.mul(change[above], turns[skeleton.parents[bones]]), skeleton.rest_rotations[bones])
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(base), rotation.mul(change[parts], turns[bones])))
    parts = np.flatnonzero(movers >= 0)
    bones = movers[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    # locations that are not local ignore the rest frame
    rest = frame_rotations(skeleton.rest_matrices[bones][:, :, :3])
    base = np.where(skeleton.local_location[bones, None], base, rotation.mul(base, rotation.inv(rest)))
    lever = heads[controlled.frames[parts]] - heads[bones]
    # a control at the part's place goes there directly: corrected by the error, it would run away if IK falls short
    places = skeleton.rest_matrices[:, :, 3]
    apart = np.linalg.norm(places[controlled.frames[parts]] - places[bones], axis=-1)
    lever[apart < SAME_PLACE * skeleton.size] = 0.0
    swung = np.where((bones == turners[parts])[:, None], rotation.rotate(change[parts], lever), lever)
    step = wanted_heads[parts] - swung - heads[bones]
    translations[bones] += rotation.rotate(rotation.inv(base), step)
    parts = np.flatnonzero(aims >= 0)
    bones = aims[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    sight = heads[bones] - heads[controlled.frames[parts]]
    translations[bones] += rotation.rotate(rotation.inv(base), rotation.rotate(change[parts], sight) - sight)
    return replace(now, rotations=rotations, translations=translations)


def controls_by_role(controlled: ControlledBody, roles: Roles, names: tuple[str, ...]) -> dict[str, str | list[str]]:
    """Return the bone, or bones, that a user keys for each role."""
    found: dict[str, str | list[str]] = {}
    place = {int(bone): number for number, bone in enumerate(controlled.bones)}
    for role, chain in {**roles.bones, **roles.limbs}.items():
        bones = (chain,) if isinstance(chain, int) else chain
        led = [controlled.controls[place[bone]] for bone in bones if bone in place]
        every = [[bone for bone in (one.moves, one.turns, one.begins) if bone >= 0] for one in led]
        keyed = [names[some[0]] for some in every if some]
        if keyed:
            found[role] = keyed[0] if isinstance(chain, int) else keyed
    return found
