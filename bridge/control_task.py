"""One pose that the controls of a body are to show: how far its parts are off, and what the controls do about it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..core import Pose, rotation
from ..core.limits import LimitGroup, clamp_rotations
from ..core.pose import forward, frame_rotations
from ..core.rotation import Array
from ..core.skeleton import Flags, Indices
from .armature import within_limits
from .controlled_body import ASTRAY, SAME_PLACE, directions, read_controlled, sizes_of, with_below

if TYPE_CHECKING:
    from .controls import ControlPoser

NOISE: Final = 1e-4  # radians, or share of the size: rounding of a bone that does not move, in single precision
_THERE: Final = float(np.radians(0.02))
_PLACED: Final = 1e-5  # of the size: knees that are nearly straight are beside by fifty times as much
# Tolerated errors of a tick that others follow, radians and share of the size: they are not visible.
GLANCE: Final = float(np.radians(1.0))
SEEN: Final = 5e-4
_EASED: Final = 0.7  # if this share of a twist error remains after a round, the control does not determine the twist
_NEARER: Final = 0.75  # by what share of its turn FK comes nearer to the pose: with all of it, the two could cancel out
_Y: Final = np.array([0.0, 1.0, 0.0])


class ControlTask:
    """One pose that controls are to show, and the errors of its parts in what Blender shows."""

    def __init__(
        self, poser: "ControlPoser", pose: Pose, start: Pose, matrices: Array, frames: tuple[Array, Array] | None = None
    ) -> None:
        self._poser, self._start = poser, start
        controlled = poser.controlled
        self.aims, self._stopped = poser.aims.copy(), np.zeros(0, int)
        if poser.limits_of_parts or np.any(self.aims >= 0):
            present = read_controlled(controlled, matrices)
            pose, self._stopped = _within(poser.limits_of_parts, present, pose)
            frames = None
            self.aims[rotation.angle_between(pose.rotations, present.rotations) < NOISE] = -1
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
        # a chain bends, and stretches, as it must: only the way it bends is for its first bones and its pole to say
        _, swivel = rotation.swing_twist(self._change[poser.bent], self._limbs[poser.bent])
        turns = rotation.angle_between(swivel, rotation.IDENTITY)
        turns *= (poser.begins[poser.bent] >= 0) | poser.steered
        self._errors[poser.bent] = np.where(poser.drawn[poser.bent], self._errors[poser.bent], turns)
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
        now = _blended(self._turned(there), poser, self._change, self._turns, self.wanted)
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


def _within(limits: tuple[LimitGroup, ...], start: Pose, wanted: Pose) -> tuple[Pose, Indices]:
    """Return the wanted pose clamped to the limits, and the bones that these stop."""
    if not limits:
        return wanted, np.zeros(0, int)
    inside, _ = clamp_rotations(limits, wanted.rotations)
    turning = rotation.angle_between(start.rotations, wanted.rotations) > NOISE
    rotations = np.where(turning[:, None], inside, wanted.rotations)
    return replace(wanted, rotations=rotations), np.flatnonzero(
        rotation.angle_between(rotations, wanted.rotations) > _THERE
    )


def _blended(now: Pose, poser: "ControlPoser", change: Array, turns: Array, wanted: Array) -> Pose:
    """Return the next pose of the controls: those of FK that are mixed with IK go with their parts, and nearer to them.

    They turn by the `change` (N, 4) of their parts, and by nearly as much toward the rotations that these are `wanted`
    to have (N, 4): so IK and FK come together while a limb moves, and one that rests needs no keys.
    """
    parts = np.flatnonzero(poser.blends >= 0)
    if not len(parts):
        return now
    bones, above = poser.blends[parts], poser.controlled.skeleton.parents[parts]
    base = rotation.mul(turns[bones], rotation.inv(now.rotations[bones]))
    after = rotation.mul(change[parts], turns[bones])
    apart = rotation.log(rotation.mul(rotation.mul(wanted[parts], poser.blended[parts]), rotation.inv(after)))
    far, way = rotation.lengths(apart), _NEARER * rotation.angle_between(change[parts], rotation.IDENTITY)
    share = np.divide(way, far, out=np.ones_like(far), where=far > way)
    after = rotation.mul(rotation.exp(share[:, None] * apart), after)
    carried = np.array(change)
    carried[parts] = rotation.mul(after, rotation.inv(turns[bones]))
    rotations = np.array(now.rotations)
    rotations[bones] = rotation.normalize(rotation.mul(rotation.inv(rotation.mul(carried[above], base)), after))
    return Pose.trusted(rotations, now.translations, now.scales, now.driven_matrices)
