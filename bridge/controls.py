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
from ..core.limits import LimitGroup, clamp_rotations
from ..core.pose import forward, frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .armature import PoseWriter, Rig, channels_to_pose, read_matrices, read_pose, within_limits, write_pose
from .channels import ArmatureObject, read_channels, write_channels
from .controlled_body import (
    ASTRAY,
    FIELDS,
    SAME_PLACE,
    Control,
    ControlledBody,
    astray,
    begins_at_end,
    directions,
    read_controlled,
    sizes_of,
    with_below,
)
from .limited import limits_of
from .turns import update

_ROUNDS: Final = 12
_NOISE: Final = 1e-4  # radians, or share of the size: rounding of a bone that does not move, in single precision
_THERE: Final = float(np.radians(0.02))
_PLACED: Final = 1e-5  # of the size: knees that are nearly straight are beside by fifty times as much
# Tolerated errors of a tick that others follow, radians and share of the size: they are not visible.
GLANCE: Final = float(np.radians(1.0))
SEEN: Final = 5e-4
_EASED: Final = 0.7  # if this share of a twist error remains after a round, the control does not determine the twist
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
        # what is between IK and FK need not be where IK alone is; ends of limbs that nothing steers may roll with these
        self._follows = self.blends < 0
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
        self.blended, self.begun = (
            rotation.mul(rotation.inv(own), frame_rotations(matrices[bones, :, :3]))
            for bones in (self.blends, self.begins)
        )
        # locations that are not local ignore the rest frame
        rest = rotation.inv(frame_rotations(matrices[self.moved, :, :3]))
        self.unturned = np.where(rig.skeleton.local_location[self.moved, None], rotation.IDENTITY, rest)
        # IK brings the end of its last bone to its target
        self._tips = controlled.leaders[controlled.skeleton.parents]
        self._targets = np.array([controlled.targets.get(part, -1) for part in range(len(aims))])
        self._led_to = (self._targets >= 0) & begins_at_end(rig, controlled.frames, self._tips)
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
        task = _Task(self, pose, now, matrices, frames)
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
        task = _Task(self, pose, start, matrices)
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
                raise CoreError(_astray(armature, controlled.skeleton.names[part], controlled.controls[part], rig))
        except CoreError:
            write_channels(armature, channels)
            raise
        turned, moved = ({*some.tolist()} - {-1} for some in (np.concatenate([self.turned, self.begins, self.blends]),
                                                             np.append(self.moved, task.aims)))  # fmt: skip
        new_turned = [bone for bone in sorted(turned)
                      if rotation.angle_between(start.rotations[bone], now.rotations[bone]) > _NOISE]  # fmt: skip
        step = _NOISE * rig.skeleton.size
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

    def gaps(self, matrices: Array) -> Array:
        """Return what limbs are short of the targets of their IK (N, 3), in evaluated matrices (J, 3, 4)."""
        tips = matrices[self._tips]
        ends = tips[:, :, 3] + self.rig.skeleton.lengths[self._tips, None] * tips[:, :, 1]
        return np.where(self._led_to[:, None], matrices[self._targets, :, 3] - ends, 0.0)

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
        return bool(turned <= _NOISE and moved <= _NOISE * self.rig.skeleton.size)


def pose_controls(
    armature: ArmatureObject, rig: Rig, controlled: ControlledBody, pose: Pose, passing: bool = False
) -> ControlPose:
    """Pose the controls once with a `ControlPoser`, limbs on IK as it bends them, see `bend_limbs`."""
    pose = bend_limbs(controlled.skeleton, pose, controlled.hinged)
    return ControlPoser(rig, controlled).pose(armature, pose, passing)


class _Task:
    """One pose that controls are to show, and the errors of its parts in what Blender shows."""

    def __init__(
        self, poser: ControlPoser, pose: Pose, start: Pose, matrices: Array, frames: tuple[Array, Array] | None = None
    ) -> None:
        self._poser, self._start = poser, start
        controlled = poser.controlled
        self.aims, self._stopped = poser.aims.copy(), np.zeros(0, int)
        if poser.limits_of_parts or np.any(self.aims >= 0):
            present = read_controlled(controlled, matrices)
            pose, self._stopped = _within(poser.limits_of_parts, present, pose)
            frames = None
            self.aims[rotation.angle_between(pose.rotations, present.rotations) < _NOISE] = -1
        self.heads, self.wanted = frames or forward(controlled.skeleton, pose)
        self._limbs = directions(self.heads[controlled.ends] - self.heads)  # of parts that an IK chain bends
        self._follows = (poser.turned >= 0) | (self.aims >= 0)
        self._led = self._follows | (poser.begins >= 0)
        count = len(self.heads)
        self._errors, self._own = np.full(count, np.inf), np.zeros((count, 4))
        # parts whose twist no control determines: eyes, and segments with twist bones
        self.loose = (self.aims >= 0) | poser.untwisted
        self._held = np.zeros(count, bool)  # parts whose control is at its limit, and parts below them
        self._at_limit: Indices = np.zeros(0, int)
        self._twist = np.full(count, np.inf)
        self._about = self._went = np.zeros(np.sum(poser.begins >= 0))  # see `_eased`
        self._turns = np.tile(rotation.IDENTITY, (len(matrices), 1))  # of the bones that are read

    @property
    def at_limits(self) -> list[int]:
        """The controls that one of their limits stops."""
        return sorted({*self._poser.turned[self._stopped].tolist(), *self._at_limit.tolist()} - {-1})

    @property
    def fails(self) -> Flags:
        """The parts (N,) that do not follow their controls."""
        return (self._errors > ASTRAY) & self._follows & ~self._held

    def look(self, matrices: Array) -> None:
        """Find the errors of the parts in evaluated matrices (J, 3, 4)."""
        poser, frames = self._poser, self._poser.controlled.frames
        self._matrices, self._places = matrices, matrices[:, :, 3]
        self._turns[poser.read] = frame_rotations(matrices[poser.read, :, :3])
        own = rotation.mul(self._turns[frames], poser.controlled.aligned)
        change = rotation.mul(self.wanted, rotation.inv(own))  # (N, 4) the error of each part
        swing, twisted = rotation.swing_twist(change, rotation.rotate(own, _Y))
        before, self._twist = self._twist, rotation.angle_between(twisted, rotation.IDENTITY)
        # judged while the part before rests: what turns it twists those below it
        parents = self._poser.controlled.skeleton.parents
        rests = rotation.angle_between(self._own, own) < _THERE
        rests[self._poser.bent] = False  # IK may twist those below it in any round
        still = (parents < 0) | rests[parents]
        self.loose |= (self._twist > _THERE) & (self._twist > _EASED * before) & self._follows & still
        self._own = own
        self._change = np.where(self.loose[:, None], swing, change)
        for part in np.flatnonzero(poser.carried & (parents >= 0)):  # it goes with the part before, as far as is known
            self._change[part] = self._change[parents[part]]
        # a part that IK aims is twisted by its own bone alone: its control takes the twist along once; that of one
        # which no control turns is not its control's, as of a foot that looks at its ball
        aimed = ((poser.begins >= 0) & np.isfinite(before)) | (poser.turned < 0)
        self._led_by = np.where(aimed[:, None], swing, self._change)
        self._errors = np.where(self._led, rotation.angle_between(self._change, rotation.IDENTITY), 0.0)
        self._beside = rotation.mul(  # (N, 4) the errors of FK controls that are mixed with IK
            rotation.mul(self.wanted, poser.blended), rotation.inv(self._turns[poser.blends])
        )
        self._beside[poser.blends < 0] = rotation.IDENTITY
        # a chain bends, and stretches, as it must: only the way it bends is for its first bones and its pole to say
        _, swivel = rotation.swing_twist(self._change[poser.bent], self._limbs[poser.bent])
        turns = rotation.angle_between(swivel, rotation.IDENTITY)
        turns *= (poser.begins[poser.bent] >= 0) | poser.steered
        self._errors[poser.bent] = np.where(poser.drawn[poser.bent], self._errors[poser.bent], turns)
        self._errors = np.maximum(self._errors, rotation.angle_between(self._beside, rotation.IDENTITY))
        self._far = rotation.lengths(self.heads - self._places[frames]) / poser.rig.skeleton.size
        self._errors[self._held] = self._far[self._held] = 0.0
        self._place_poles()

    def _place_poles(self) -> None:
        """Have poles as far along their limbs, and beside them, as at first, and as far round them as limbs bend."""
        poser, poles, firsts = self._poser, self._poser.poles, self._poser.steerers
        if poser.steered_at is None or not len(poles):
            return
        here = self._places[poser.controlled.frames]
        self.heads = np.array(self.heads)  # those of the drag stay as they are
        self.heads[poles] = here[poles]
        after, at, _ = poser.at_limbs(self.heads)
        off = rotation.lengths(at - poser.steered_at) / poser.rig.skeleton.size
        self._far[poles] = np.where(off < SEEN, 0.0, off)  # the limb says where it is right
        before, _, beside = poser.at_limbs(here)
        swung = rotation.shortest(before, after)
        _, swivel = rotation.swing_twist(rotation.mul(self._change[firsts], rotation.inv(swung)), after)
        beside = rotation.rotate(rotation.mul(swivel, swung), beside)
        along, far = poser.steered_at.T[..., None]
        self.heads[poles] = self.heads[firsts] + along * after + far * beside

    def is_done(self, passing: bool = False) -> bool:
        """Return whether the parts are where they are wanted; if `passing`, as far as that can be seen."""
        moved, error = self._poser.moved >= 0, self._errors.max()
        if error < _THERE and self._far[moved].max(initial=0.0) < _PLACED:
            return True
        return bool(passing and error < GLANCE and self._far[(self._poser.turned >= 0) | moved].max() < SEEN)

    def next(self, now: Pose) -> Pose:
        """Return the next pose of the controls, which have `now`."""
        poser = self._poser
        there = within_limits(poser.rig, now, self._matrices)
        away = rotation.lengths(there.translations - now.translations)
        stopped = np.intersect1d(np.flatnonzero(away > _PLACED * poser.rig.skeleton.size), poser.posed)
        now = _blended(self._turned(there), poser, self._change, self._turns, self._beside)
        now, at_limit = _within(poser.limits, self._start, now)
        self._at_limit = np.union1d(at_limit, stopped)
        if len(self._at_limit) or self._held.any():
            held = np.isin(poser.turned, at_limit) | np.isin(poser.moved, stopped)
            self._held = with_below(held, poser.controlled.skeleton.parents)
        return now

    def _copied(self) -> Array:
        """Return what the next turns of the controls above add to those of the parts (N, 4) that copy them."""
        poser, parents = self._poser, self._poser.controlled.skeleton.parents
        added = np.tile(rotation.IDENTITY, (len(parents), 1))
        above = parents[poser.copying]
        before = np.where((parents[above] >= 0)[:, None], self._change[parents[above]], rotation.IDENTITY)
        bones = poser.turned[above]
        base = rotation.mul(self._turns[poser.rig.skeleton.parents[bones]], poser.rig.skeleton.rest_rotations[bones])
        after = rotation.mul(rotation.mul(rotation.inv(before), self._change[above]), self._turns[bones])
        now, then = (
            rotation.from_euler(rotation.to_euler(rotation.mul(rotation.inv(base), turns)) * poser.copied_axes)
            for turns in (self._turns[bones], after)
        )
        added[poser.copying] = rotation.mul(rotation.inv(now), then)
        return added

    def _eased(self, about: Array) -> Array:
        """Return by how much starts of IK go round themselves for limbs that are off `about` their lines (b,).

        By less if their last turns went past: the foot of a paw goes with the start, and turns its leg once more.
        """
        past = self._about - about
        share = np.divide(self._went, past, out=np.ones_like(past), where=past * self._went > 0.0)
        self._about, self._went = about, np.minimum(share, 1.0) * about
        return self._went

    def _sizes(self, bones: Indices, now: Pose) -> Array:
        """Return the size (n, 1) of bones in their channels to that in which they are shown, which scales locations."""
        own = np.ones(len(bones)) if now.scales is None else sizes_of(now.scales[bones, None] * np.eye(3))
        shown = sizes_of(self._matrices[bones])
        return np.divide(own, shown, out=np.ones_like(own), where=shown > 0.0)[:, None]

    def _turned(self, now: Pose) -> Pose:
        """Return the next pose of the controls but for those of FK that are mixed with IK."""
        poser = self._poser
        skeleton, controlled = poser.rig.skeleton, poser.controlled
        rotations, translations = np.array(now.rotations), np.array(now.translations)
        turners, movers, begun = poser.turned, poser.moved, poser.begins
        bones = turners[parts := np.flatnonzero(turners >= 0)]
        turned = self._turns[poser.seats[parts]]
        base = rotation.mul(turned, rotation.inv(now.rotations[bones]))
        hangs = controlled.hangs[parts][:, None]
        # only Blender knows where IK bends a segment
        above = controlled.skeleton.parents[parts]
        led = hangs & ((turners >= 0) | poser.carried)[above, None]
        carried = np.where(led, self._change[above], rotation.IDENTITY)
        base = rotation.mul(carried, base)
        base = rotation.mul(base, self._copied()[parts]) if len(poser.copying) else base
        after = rotation.mul(self._led_by[parts], turned)
        rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(base), after))
        parts = np.flatnonzero(begun >= 0)
        bones, above = begun[parts], controlled.skeleton.parents[parts]
        hung = (skeleton.parents[bones] >= 0)[:, None]
        base = np.where(hung, self._turns[skeleton.parents[bones]], rotation.IDENTITY)
        base = rotation.mul(base, skeleton.rest_rotations[bones])
        after = rotation.mul(self._change[parts], self._turns[bones])
        # a start with locks that its part has not cannot be as that is: it goes round itself by what the limb, which IK
        # brings to another direction, is off round its own line
        _, swivel = rotation.swing_twist(self._change[parts], self._limbs[parts])
        about = self._eased(np.sum(rotation.log(swivel) * self._limbs[parts], axis=-1))
        own = rotation.exp(about[:, None] * _Y)
        drawn = poser.drawn[parts][:, None]
        after = np.where(drawn, rotation.mul(self._change[parts], rotation.mul(base, now.rotations[bones])), after)
        locked = (skeleton.rotation_locks[bones] & ~controlled.skeleton.rotation_locks[parts]).any(axis=-1)[:, None]
        after = np.where(locked, rotation.mul(base, rotation.mul(now.rotations[bones], own)), after)
        # between IK and FK it is as FK: the way to what is shown, of other lengths, would not end
        mixed = (poser.blends[parts] >= 0)[:, None]
        after = np.where(mixed, rotation.mul(self.wanted, poser.begun)[parts], after)
        base = rotation.mul(np.where((above >= 0)[:, None], self._change[above], rotation.IDENTITY), base)
        rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(base), after))
        parts = np.flatnonzero(movers >= 0)
        bones = movers[parts]
        base = rotation.mul(self._turns[bones], rotation.inv(now.rotations[bones]))
        base = rotation.mul(base, poser.unturned[parts])
        # IK ends a little beside its target; a control whose limb falls short goes to the part's place, and is no
        # further beyond than it was
        gaps = poser.gaps(self._matrices)
        beside = rotation.lengths(gaps)
        # and one that is mixed with FK, which has other lengths, goes beyond
        short = (beside >= SAME_PLACE * skeleton.size) & (poser.blends < 0)
        left = np.where(short, 1.0 - poser.kept_beyond(self.heads, beside), 0.0)[:, None]
        end = (self._places[controlled.frames] + left * gaps)[parts]
        lever = end - self._places[bones]
        # what turns a part, which need not be what moves it, swings its head round its own, as the heel of a paw
        pivots = poser.pivots[parts]
        turns = (pivots >= 0) & lever.any(axis=1)
        arm = (end - self._places[pivots]) * turns[:, None]
        swung = lever + rotation.rotate(self._led_by[parts], arm) - arm
        step = self.heads[parts] - swung - self._places[bones]
        along = controlled.along[parts][:, None]
        if movers[0] >= 0 and along.any():
            carried = self._led_by[0] if turners[0] == movers[0] else rotation.IDENTITY
            lever = self._places[bones] - self._places[movers[0]]
            step = step - along * (step[0] + rotation.rotate(carried, lever) - lever)
            base = np.where(along, rotation.mul(carried, base), base)
        translations[bones] += self._sizes(bones, now) * rotation.rotate(rotation.inv(base), step)
        parts = np.flatnonzero(self.aims >= 0)
        bones = self.aims[parts]
        base = rotation.mul(self._turns[bones], rotation.inv(now.rotations[bones]))
        sight = self._places[bones] - self._places[controlled.frames[parts]]
        step = rotation.rotate(self._change[parts], sight) - sight
        translations[bones] += self._sizes(bones, now) * rotation.rotate(rotation.inv(base), step)
        return Pose.trusted(rotations, translations, now.scales, now.driven_matrices)


def _goes(left: Array, ways: Array) -> Flags:
    """Return which turns are done for at least a half, by what is left of them, or about done."""
    return left < np.maximum(ASTRAY, 0.5 * ways)


def _astray(armature: ArmatureObject, part: str, control: Control, rig: Rig) -> str:
    """Return a sentence about a part that does not follow its control."""
    leader = max(control.turns, control.aims)
    if leader < 0:
        return f'"{part}" does not follow its control; something else drives it.'
    name = rig.skeleton.names[leader]
    constraint = next((one for one in armature.pose.bones[name].constraints if not one.mute and one.influence), None)
    why = "something else drives it" if constraint is None else f'its constraint "{constraint.name}" prevents it'
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


def _blended(now: Pose, poser: ControlPoser, change: Array, turns: Array, beside: Array) -> Pose:
    """Return the next pose of the controls: those of FK that are mixed with IK are turned as their parts are wanted."""
    parts = np.flatnonzero(poser.blends >= 0)
    if not len(parts):
        return now
    bones, above = poser.blends[parts], poser.controlled.skeleton.parents[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    carried = np.where((poser.blends[above] >= 0)[:, None], beside[above], change[above])
    rotations = np.array(now.rotations)
    after = rotation.mul(beside[parts], turns[bones])
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(rotation.mul(carried, base)), after))
    return Pose.trusted(rotations, now.translations, now.scales, now.driven_matrices)
