"""Pose rigs whose body bones are driven by controls.

The body of such a rig is a skeleton of its own: the bones with roles, parented as in a body, at their evaluated places.
A pose of the body is brought to the controls iteratively: each control is turned by the error of its part, as if it
followed the part before; Blender evaluates the rig; the remaining error is corrected in the next round. Which control
poses which part is found by `control_bodies`.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final

import bpy
import numpy as np

from ..core import CoreError, Pose, rotation
from ..core.body.limbs import bend_limbs
from ..core.pose import frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags
from .armature import PoseWriter, Rig, channels_to_pose, read_matrices, read_pose, within_limits, write_pose
from .channels import ArmatureObject, read_channels, write_channels
from .control_task import NOISE, ControlTask
from .controlled_body import ASTRAY, FIELDS, ControlledBody, Gaps, astray, directions, read_controlled, with_below
from .limited import limits_of
from .turns import update

_ROUNDS: Final = 12
_Y: Final = np.array([0.0, 1.0, 0.0])
_STRAIGHT: Final = 2e-6  # of the size: a limb that is as straight as it was, in single precision


@dataclass(frozen=True, eq=False)
class ControlPose:
    """A pose of the controls: the rig's pose, and the bones that were turned and moved (not known of one round).

    wanted  (N, 4) the rotations that the body's parts were to have
    shown   whether Blender shows the pose, as far as the controls can have it
    held    the controls that one of their limits stops
    loose   (N,) the parts whose twist no control determines
    """

    pose: Pose
    turned: list[int]
    moved: list[int]
    wanted: Array
    shown: bool = True
    held: list[int] = field(default_factory=list[int])
    loose: Flags | None = None


class ControlPoser:
    """Poses the controls of a body in one pose after the other; without `looks` the eyes keep their targets."""

    def __init__(self, rig: Rig, controlled: ControlledBody, looks: bool = True) -> None:
        self.rig, self.controlled = rig, controlled
        self.turned, self.moved, aims, begins, self.blends = map(controlled.bones_that, FIELDS)
        self.pivots = np.array([one.turns for one in controlled.whole])
        self.seats = np.where(controlled.local, controlled.bones, self.turned)  # bones that turn as the channels do
        # what hangs on bones that something else drives is wanted where these are, once that is seen
        self._below = with_below(controlled.carried, controlled.skeleton.parents)
        self.aims = aims if looks else np.full_like(aims, -1)
        self.begins = np.where(rig.skeleton.movable[begins], begins, -1)
        self.bent = np.flatnonzero(controlled.ends != np.arange(len(begins)))
        # segments that IK draws in part to where nothing moves its target: their own channels make up for that
        self.drawn = np.isin(controlled.ends, [end for end in controlled.lax if self.moved[end] < 0])
        # only Blender knows where IK bends what these are parented to
        on_ik = np.isin(controlled.skeleton.parents, self.bent)
        self.carried = controlled.carried & ~on_ik
        self.poles, self.steerers = (np.array([*some], int) for some in (controlled.poles, controlled.poles.values()))
        self.steered = np.isin(self.bent, self.steerers)
        self.steered_at: Array | None = None  # (p, 2) where poles were first seen, see `at_limbs`
        self.untwisted = np.isin(np.arange(len(begins)), controlled.untwisted)
        # IK keeps its limits by itself, and reaches what it can
        self.limits_of_parts = limits_of(controlled.skeleton, {*range(len(begins))} - {*self.bent.tolist()})
        self.limits = limits_of(rig.skeleton, set(self.turned.tolist()))
        used = np.unique([self.turned, self.moved, self.aims, self.begins, self.blends])
        self.posed = used[used >= 0]
        # what is between IK and FK need not be where IK alone is, nor what locks of its control keep elsewhere, with
        # what is below these; ends of limbs that nothing steers may roll with these
        self._follows = ~with_below((self.blends >= 0) | controlled.locked(rig), controlled.skeleton.parents)
        self._follows[controlled.ends[controlled.unsteered_but()]] = False
        behind = self._below | with_below(on_ik & controlled.hangs, controlled.skeleton.parents)
        self._led = np.flatnonzero(((self.turned >= 0) | (self.aims >= 0)) & self._follows & ~behind)
        self._shown = controlled.frames[self._led]
        self._along = rotation.rotate(controlled.aligned[self._led], _Y)[..., None]
        self._writer = PoseWriter(rig, self.posed)
        self._written: tuple[dict[str, Array], Pose] | None = None  # channels and the pose of them by the last step
        self._ways = np.zeros(len(self._led))  # that the last step was to take the parts that controls turn
        self._modes = {mode: group[np.isin(group, self.posed)] for mode, group in rig.modes.items()}
        matrices = rig.skeleton.rest_matrices
        own = rotation.mul(frame_rotations(matrices[controlled.frames, :, :3]), controlled.aligned)
        self.blended = rotation.mul(rotation.inv(own), frame_rotations(matrices[self.blends, :, :3]))
        # locations that are not local ignore the rest frame, but not that of the parent
        rest = rotation.inv(rig.skeleton.rest_rotations[self.moved])
        self.unturned = np.where(rig.skeleton.local_location[self.moved, None], rotation.IDENTITY, rest)
        self.gaps = Gaps(rig, controlled)  # IK brings the end of its last bone to its target
        self._firsts = controlled.firsts
        self._beyond = self._reached = np.zeros(len(aims))  # when the pose or the drag began, see `kept_beyond`
        self.copying = np.array([*controlled.copies], int)
        self.copied_axes = np.array([*controlled.copies.values()])
        copied = self.turned[controlled.skeleton.parents[self.copying]]
        above = rig.skeleton.parents[np.concatenate([self.begins[self.begins >= 0], copied])]
        self.read = np.unique(
            np.concatenate([self.posed, self.seats[self.seats >= 0], controlled.frames, above[above >= 0]])
        )

    def step(self, armature: ArmatureObject, pose: Pose, frames: tuple[Array, Array], matrices: Array) -> ControlPose:
        """Correct what Blender shows now, matrices (J, 3, 4), by one round: what is left is for the next pose.

        Blender does not evaluate the rig here. `frames`: heads (N, 3) and rotations (N, 4) of the body in the pose.
        """
        if self._written is None:
            channels = read_channels(armature, self.rig.channels, np.float32)
            # of scales that constraints make, and of bones that are driven, a pose that is not kept needs nothing
            exact = {name: values.astype(float) for name, values in channels.items()}
            self._written = channels, channels_to_pose(self.rig, exact, None, self._modes)
            self._note_beyond(matrices)
        channels, now = self._written
        task = ControlTask(self, pose, now, matrices, frames)
        task.look(matrices)
        self._ways = self._away(matrices, task.wanted)
        if task.is_done():
            return ControlPose(now, [], [], task.wanted, True, task.at_limits)
        after = self._writer.write(armature, task.next(now), channels)
        self._written = channels, after
        return ControlPose(after, [], [], task.wanted, self._agree(now, after), task.at_limits)

    def pose(self, armature: ArmatureObject, pose: Pose, passing: bool = False) -> ControlPose:
        """Pose the controls so that the body has `pose`, within their limits.

        `passing`: stop at errors that are not visible, because other poses follow. Raises CoreError, with the controls
        restored, if a part does not follow its control.
        """
        context: Any = bpy.context
        update(context)
        self._written, self._ways = None, np.zeros(len(self._led))
        rig, controlled = self.rig, self.controlled
        channels = read_channels(armature, rig.channels)
        start = now = read_pose(armature, rig)
        first = matrices = read_matrices(armature)
        self._note_beyond(matrices)
        task = ControlTask(self, pose, start, matrices)
        try:
            for round_ in range(_ROUNDS):
                if round_:
                    update(context)
                    matrices = read_matrices(armature)
                task.look(matrices)
                if task.is_done(passing):
                    break
                last, now = now, self._writer.write(armature, task.next(now))
                if self._agree(last, now):
                    break  # controls cannot reduce the error further, e.g. because of IK limits
            matrices = read_matrices(armature)
            now = within_limits(rig, now, matrices)
            strays = self._strays(first, matrices)
            off = (task.fails | strays) & self._follows
            if passing:
                off &= ~self._below
            if off.any():
                part = int(np.flatnonzero(off)[0])  # parts below it are off as well
                raise CoreError(_astray(armature, controlled, part, rig))
        except CoreError:
            write_channels(armature, channels)
            raise
        turned, moved = ({*some.tolist()} - {-1} for some in (np.concatenate([self.turned, self.begins, self.blends]),
                                                             np.append(self.moved, task.aims)))  # fmt: skip
        new_turned = [bone for bone in sorted(turned)
                      if rotation.angle_between(start.rotations[bone], now.rotations[bone]) > NOISE]  # fmt: skip
        step = NOISE * rig.skeleton.size
        new_moved = [bone for bone in sorted(moved)
                     if np.any(np.abs(start.translations[bone] - now.translations[bone]) > step)]  # fmt: skip
        write_channels(armature, channels)  # channels that did not change keep their exact values
        write_pose(armature, rig, now, {*new_turned, *new_moved})
        return ControlPose(now, new_turned, new_moved, task.wanted, True, task.at_limits, task.loose)

    def _strays(self, first: Array, matrices: Array) -> Flags:
        """Return which parts (N,) did not go with their leaders from evaluated matrices (J, 3, 4) to others.

        Those that tweaks had beside their leaders stay beside them, but go with them for at least half of the way.
        """
        bones, leaders = self.controlled.bones, self.controlled.leaders
        before, now = (astray(some, self.rig.skeleton.size, bones, leaders) for some in (first, matrices))
        turned, back = (frame_rotations(some[leaders, :, :3]) for some in (matrices, first))
        was, way = (directions(some[bones, :, 1]) for some in (first, matrices))
        there = rotation.rotate(rotation.mul(turned, rotation.inv(back)), was)  # a leader takes its part along
        return np.where(before, ~_goes(rotation.lengths(there - way), rotation.lengths(there - was)), now)

    def _note_beyond(self, matrices: Array) -> None:
        """Note how far the targets of limbs are from where IK has their ends, and how far these reach."""
        here = matrices[self.controlled.frames, :, 3]
        self._beyond = rotation.lengths(self.gaps(matrices))
        self._reached = rotation.lengths(here - here[self._firsts])
        if self.steered_at is None:
            self.steered_at = self.at_limbs(here)[1]

    def at_limbs(self, heads: Array) -> tuple[Array, Array, Array]:
        """Return the directions (p, 3) of the limbs that poles steer, and where the poles are: along and beside (p, 2).

        And the directions (p, 3) in which they are beside. Parts are at heads (N, 3).
        """
        firsts = heads[self.steerers]
        ways, away = directions(heads[self.controlled.ends[self.steerers]] - firsts), heads[self.poles] - firsts
        along = np.sum(away * ways, axis=-1, keepdims=True)
        beside = away - along * ways
        return ways, np.hstack([along, rotation.lengths(beside)[:, None]]), directions(beside)

    def kept_beyond(self, heads: Array, beside: Array) -> Array:
        """Return the share of what targets are `beside` the parts (N,) that stays: what a limb was short of at first.

        As long as it is to be as straight as it was there, heads (N, 3): the pose needs nothing else of its control.
        """
        straight = rotation.lengths(heads - heads[self._firsts]) > self._reached - _STRAIGHT * self.rig.skeleton.size
        share = np.divide(self._beyond, beside, out=np.ones_like(beside), where=beside > self._beyond)
        return np.where(straight, share, 0.0)

    def shows(self, matrices: Array, wanted: Array) -> bool:
        """Return whether the parts that controls turn follow them: have about the rotations (N, 4), in (J, 3, 4).

        Or come at least half as near in a step: the next one goes on.
        """
        return bool(_goes(self._away(matrices, wanted), self._ways).all())

    def _away(self, matrices: Array, wanted: Array) -> Array:
        """Return how far the directions of the parts that controls turn are from those of rotations (N, 4)."""
        shown = directions((matrices[self._shown, :, :3] @ self._along)[..., 0])
        return rotation.lengths(shown - rotation.rotate(wanted[self._led], _Y))

    def _agree(self, before: Pose, after: Pose) -> bool:
        """Return whether two poses of the controls are the same but for rounding."""
        one, other = before.rotations[self.posed], after.rotations[self.posed]
        moved = np.abs(after.translations[self.posed] - before.translations[self.posed]).max()
        turned = rotation.angle_between(one, other).max()
        return bool(turned <= NOISE and moved <= NOISE * self.rig.skeleton.size)


def pose_controls(
    armature: ArmatureObject, rig: Rig, controlled: ControlledBody, pose: Pose, passing: bool = False
) -> ControlPose:
    """Pose the controls once with a `ControlPoser`, limbs on IK as it bends them, see `bend_limbs`.

    But for limbs that are to stay as they are shown: these need nothing.
    """
    update(bpy.context)
    shown, skeleton = read_controlled(controlled, read_matrices(armature)), controlled.skeleton
    turned = rotation.angle_between(shown.rotations, pose.rotations) > NOISE
    changed = turned | (rotation.lengths(shown.translations - pose.translations) > NOISE * skeleton.size)
    goes = np.array([changed[skeleton.ancestors(end)].any() for end in controlled.ends.tolist()])
    controls = (one if own else replace(one, begins=-1) for one, own in zip(controlled.controls, goes, strict=True))
    controlled = replace(controlled, controls=tuple(controls))
    pose = bend_limbs(skeleton, pose, [limb for limb in controlled.hinged if goes[limb.end]])
    return ControlPoser(rig, controlled).pose(armature, pose, passing)


def _goes(left: Array, ways: Array) -> Flags:
    """Return which turns are done for at least a half, by what is left of them, or about done."""
    return left < np.maximum(ASTRAY, 0.5 * ways)


def _astray(armature: ArmatureObject, controlled: ControlledBody, number: int, rig: Rig) -> str:
    """Return a sentence about a part that does not follow its control."""
    part, control, names = controlled.skeleton.names[number], controlled.controls[number], rig.skeleton.names
    leader, mixed = max(control.turns, control.aims), controlled.whole[number].blends
    if mixed >= 0 > control.blends:  # it stays
        return (
            f'"{part}" is between IK and FK, and its FK control "{names[mixed]}" is not changed. Insert a keyframe for '
            "that control first, or set the limb to IK or FK alone."
        )
    if leader < 0:
        return f'"{part}" does not follow its control; something else drives it.'
    name = names[leader]
    constraint = next((one for one in armature.pose.bones[name].constraints if not one.mute and one.influence), None)
    why = "something else drives it" if constraint is None else f'its constraint "{constraint.name}" prevents it'
    return f'"{part}" does not follow its control "{name}"; {why}.'
