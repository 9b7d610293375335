"""Motions with pins over time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion, PinAndDrag, Skeleton
from ..core.body.anatomy import carrier_of
from ..core.causes import Cause, Kind
from ..core.editing.contacts import BodyPoint, Contacts, Surface, find_contacts, stands_on
from ..core.editing.drift import REACH
from ..core.editing.floor import Floor, depths, floor_pins, floor_under, sole_points, with_feet_held
from ..core.editing.foot_lock import EASE, contact_pins, eased, foot_lock_settings, raised_onto
from ..core.editing.root_motion import with_object
from ..core.editing.timed_pins import TimedPin, pin_errors, pin_motion
from ..core.formats.report import FloorReport, GoalReport
from ..core.motion import forward_of
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from .body_motion import BodyMotion
from .level import Level, level_under_feet, measure_floor
from .motion_edit import POSITION_TOLERANCE, ROTATION_TOLERANCE, ChangedBones, Frames, Progress, no_progress
from .words import counted

_SUNK: Final = 0.005  # metres; deeper feet are told
_STILL: Final = 1e-6  # change of an object's matrix, as a share of the size, up to which it does not move


class HeldMotion(BodyMotion):
    """A motion with pins. Subclasses set `pins`, and `after` where these hold another motion than `before`.

    only    (F,) the frames that are solved; None for all
    draft   fast, for a preview; see `pin_motion`
    floor   that feet are not below; None without one
    level   the flat floor below which the feet are measured; None without one
    moves   (F, 4, 4) the motion of the armature object since the first frame, where the ground is looked at in the
            space that the armature has there; None where that is the space in all frames
    reasons sentences why pins do not hold, once it is written
    """

    method = "pins"
    surface: Surface | None = None  # meshes that are the ground
    only: Flags | None = None
    draft = False
    floor: Floor | None = None
    level: Level | None = None
    moves: Array | None = None
    reasons: Sequence[str] = ()

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.surface = bridge.read_ground(context, armature, self.worlds[0], self.skeleton.size)

    def compute(self, progress: Progress) -> None:
        self.after = self.hold(self.with_below(self.after), self.pins, progress)

    def hold(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress = no_progress) -> Motion:
        """Return a motion with some pins, and then with its feet on the floor or above, planted ones in place."""
        motion = self.pinned(motion, pins, progress)
        if self.floor is None:
            return motion
        raised = self.in_armature(floor_pins(self.skeleton, self.on_ground(motion), self.roles, self.floor, pins))
        return self.pinned(motion, with_feet_held(self.skeleton, self.roles, pins, raised), progress)

    def find_contacts(self, motion: Motion, points: Sequence[BodyPoint], drifts: bool = True) -> Contacts:
        """Return the contacts of points with the ground of a motion: a level plane, or the meshes if it is on these.

        Raises CoreError where the scale of the object changes, and without points.
        """
        self.follow_object()
        up, there, surface = bridge.world_up(self.worlds[0]), self.on_ground(motion), self.surface
        if surface is not None and points and not stands_on(self.skeleton, there, points, surface, up):
            surface = None
        return find_contacts(self.skeleton, there, points, up=up, drifts=drifts, surface=surface)

    def follow_object(self) -> None:
        """Note how the object moves, in whose space at the first frame the ground is looked at.

        Raises CoreError where its scale changes or is zero.
        """
        bridge.check_invertible(self.worlds)
        moves = np.linalg.solve(self.worlds[0], self.worlds)
        if np.ptp(moves, axis=0).max() > _STILL * self.skeleton.size:
            if np.ptp(bridge.length_scale(moves)) > _STILL:
                raise CoreError(
                    "The scale of the armature object is animated. Contacts are only found at a constant scale."
                )
            self.moves = moves

    def plant(
        self, motion: Motion, contacts: Contacts, ease: float = EASE, share: Array | float = 1.0
    ) -> Sequence[TimedPin]:
        """Return pins that hold contacts of a motion, and set the floor under them; `share`: see `floor_under`.

        Where there are meshes and the motion is on a plane, `after` is the motion raised onto them.
        """
        there, root = self.on_ground(motion), carrier_of(self.skeleton, self.roles)
        raised, contacts = raised_onto(self.skeleton, there, contacts, root, self.surface, share)
        if raised is not there:
            there, self.after = raised, self.off_ground(raised)
        pins = contact_pins(self.skeleton, there, contacts, ease)
        self.floor = floor_under(self.skeleton, there, contacts, pins, share, levels=bool(self.roles.soles))
        return self.in_armature([pin for pin in pins if self.reached(self.skeleton.index(pin.bone))])

    def eased(self, contacts: Contacts, ease: float) -> float:
        """Return an ease in seconds for the tempo of the motion; see `eased`. It stays where meshes are the ground."""
        return eased(self.before, contacts, ease) if self.surface is None else ease

    def level_with(self, contacts: Contacts, motion: Motion) -> None:
        """Measure the feet below the ground of contacts, in a motion of the same frames that is on it."""
        up = contacts.ground.up
        floor = Floor(up, contacts.ground.height + contacts.drift @ up, surface=self.surface)
        reach = REACH * self.skeleton.size
        self.level = level_under_feet(self.skeleton, self.roles, floor, self.on_ground(motion), reach)

    def on_ground(self, motion: Motion) -> Motion:
        """Return a motion in the space of the armature at the first frame."""
        return motion if self.moves is None else with_object(self.skeleton, motion, self.moves)

    def off_ground(self, motion: Motion) -> Motion:
        """Return a motion in the space of the armature at the first frame in that of each frame."""
        return motion if self.moves is None else with_object(self.skeleton, motion, np.linalg.inv(self.moves))

    def in_armature(self, pins: Sequence[TimedPin]) -> Sequence[TimedPin]:
        """Return pins in the space of the armature at the first frame in that of each frame."""
        if self.moves is None:
            return pins
        held = (bridge.world_to_armature(self.moves, pin.position, pin.rotation) for pin in pins)
        return [replace(pin, position=place, rotation=turn) for pin, (place, turn) in zip(pins, held, strict=True)]

    def settings(self, motion: Motion) -> tuple[Skeleton, PinAndDrag]:
        """Return the skeleton with the limits that hold, and the method."""
        return foot_lock_settings(self.skeleton, motion, self.roles)

    def solved_frames(self, motion: Motion) -> Flags | None:
        """Return which frames (F,) of a motion are solved; None for all."""
        return self.only

    def pinned(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress) -> Motion:
        """Return a motion with some pins."""
        pins = [*pins, *self.staying]
        if not pins:
            return motion
        return self.solved(motion, pins, self.settings(motion), self.solved_frames(motion), progress)

    def solved(
        self, motion: Motion, pins: Sequence[TimedPin], settings: tuple[Skeleton, PinAndDrag], only: Flags | None,
        progress: Progress,
    ) -> Motion:  # fmt: skip
        """Return a motion with some pins by a method with its skeleton, in the frames `only`; None for all."""
        skeleton, method = settings
        return pin_motion(skeleton, motion, pins, method, progress, only, self.draft).motion

    @property
    def asked(self) -> Sequence[TimedPin]:
        """The pins that are measured."""
        return self.pins

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        return self.measure_pins(armature, self.asked)

    def measure_floor(self, armature: Any) -> FloorReport | None:
        if self.level is None or not self.keyed:
            return None

        def read(at: Frames) -> Motion:
            motion, _ = self.read_frames(armature, at)
            return motion if self.moves is None else with_object(self.skeleton, motion, self.moves[at])

        return measure_floor(self.skeleton, self.roles, self.on_ground(self.after), self.worlds[0], self.level, read)

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        causes: dict[str, list[str]] = {}
        for pin, goal in zip(self.asked, goals, strict=True):
            cause = None if goal.met.all() else self._cause(pin)
            if cause is not None:
                causes.setdefault(cause, []).append(goal.bone)
        told = {cause: ", ".join(dict.fromkeys(bones)) for cause, bones in causes.items()}
        self.reasons = [*(self._reason(cause, bones) for cause, bones in told.items()), *self._roofs(), *self._sunk()]
        return (*super().explain(goals), *self.reasons)

    def _roofs(self) -> list[str]:
        """Return a sentence where the hips are lower than the ground there: under faces that were taken for a roof."""
        if self.surface is None or not self.roles.chain("hips"):
            return []
        motion = self.on_ground(self.after)
        hips = forward_of(self.skeleton, motion.pose, self.roles.chain("hips")[:1])[0][:, 0]
        up = bridge.world_up(self.worlds[0])
        under = int((self.surface(hips) > hips @ up / np.linalg.norm(up)).sum())
        if not under:
            return []
        where = counted(under, "frame")
        return [
            f"The hips are below faces of the ground in {where}. If these are not a roof, begin the motion above them"
        ]

    def _sunk(self) -> list[str]:
        """Return a sentence where feet are inside meshes that are the ground, as in the risers of stairs."""
        points = sole_points(self.skeleton, self.roles)
        if self.surface is None or not points:
            return []
        up, scale = bridge.world_up(self.worlds[0]), float(bridge.length_scale(self.worlds[0]))
        floor = Floor(up / np.linalg.norm(up), -np.inf, surface=self.surface)
        deep = scale * depths(self.skeleton, self.on_ground(self.after), points, floor).max(axis=1)
        sunk = int((deep > _SUNK).sum())
        if not sunk:
            return []
        lost = bridge.say_length(bpy.context.scene, float(deep.max()))
        return [f"Feet are lower than the ground there by up to {lost} in {counted(sunk, 'frame')}"]

    def _reason(self, driver: str, bones: str) -> str:
        """Return why pins of bones do not hold: what drives them, or else that they are out of reach."""
        if driver:
            return Cause(Kind.KEPT, "", driver, bones).sentence
        return Cause(Kind.REACH if len(self.asked) == 1 else Kind.OTHER_PINS, bones).sentence

    def _cause(self, pin: TimedPin) -> str | None:
        """Return what drives the bone of a pin that does not hold; "" for out of reach, None for no reason."""
        bone = self.skeleton.index(pin.bone)
        on = slice(*pin.span(self.after))
        solved = np.ones(len(self.after), bool) if self.only is None else self.only
        gaps, turns = (part[solved[on]] for part in pin_errors(self.skeleton, self.after, pin))
        if not len(gaps):
            return None
        gaps = (self.worlds[on, :3, :3][solved[on]] @ gaps[..., None])[..., 0]
        if max(lengths(gaps).max() / POSITION_TOLERANCE, np.degrees(lengths(turns)).max() / ROTATION_TOLERANCE) > 1.0:
            return ""
        above = [*self.skeleton.ancestors(bone)[1:], bone]
        if self.controlled is not None:  # a part that follows its own control is where that is
            now = self.controlled.now
            above = [now.leaders[one] for one in above if now.controls[one].turns < 0]
        names = [self.rig.skeleton.names[one] for one in above]
        return next((self.rig.driven[name] for name in names if name in self.rig.driven), None)


class PartOfMotion(HeldMotion):
    """A motion with pins that is keyed from the first frame that changes to the last; all others stay as they were."""

    beside = True

    def control_frames(self) -> Frames:
        at = np.flatnonzero(bridge.changed_frames(self.before.pose, self.after.pose, self.skeleton.size))
        return np.arange(at[0], at[-1] + 1) if len(at) else super().control_frames()

    def rig_motion(self, armature: Any, changed: ChangedBones, new: bool) -> tuple[Motion, ChangedBones]:
        motion, changed = super().rig_motion(armature, changed, new)
        return motion[self.control_frames()] if self.controlled is None else motion, changed
