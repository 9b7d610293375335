"""Motions that are held at some points for some time: feet where they bear, and pins over time."""

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion, Pose
from ..core.body import SIDES, Roles
from ..core.editing.contacts import BodyPoint, Contacts, find_contacts, foot_points
from ..core.editing.foot_lock import EASE, contact_pins, for_feet, skating
from ..core.editing.timed_pins import TimedPin, pin_errors, pin_motion
from ..core.formats.report import GoalReport
from ..core.rotation import Array, lengths
from ..core.skeleton import Flags
from .edit import POSITION, ROTATION, Bones, Edit, Frames, Progress
from .led import Led, leading, set_switches
from .takes import record, unkeyed_kept

FEET, HANDS = "feet", "hands"
SKATING: Final = 0.5  # lengths of a human's body a second: of a point that should stand
_STILL: Final = 1e-6  # of its largest number: an object's matrix that changes less stands still


class BodyMotion(Edit):
    """The motion of a body with its parts, `roles` of `skeleton`; where controls lead the body, they get the keys."""

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.roles = bridge.read_roles(armature, self.skeleton)
        self._channels = self.before
        self.led: Led | None = None
        self.controlled = bridge.find_controlled(armature, self.rig, self.roles, poles=True)
        if self.controlled is not None:
            self.rig = bridge.with_beginnings(self.rig, self.controlled)
            self.skeleton, self.roles = self.controlled.skeleton, self.controlled.roles
            seen = self.before.pose.driven_matrices  # what has been gone through frame by frame need not be once more
            if seen is None:
                self.before, _ = self.look(armature, slice(None))
            else:
                self.before = replace(self.before, pose=bridge.read_controlled(self.controlled, seen))
            self.after, self.always = self.before, np.zeros(len(self.skeleton), bool)

    def look(self, armature: Any, part: slice | Frames) -> tuple[Motion, Array]:
        if self.controlled is None:
            return super().look(armature, part)
        frames = self._channels.frames[part]
        with unkeyed_kept(bpy.context, armature):
            take = record(bpy.context, armature, frames)
        return Motion(bridge.read_controlled(self.controlled, take.matrices), frames, self._channels.fps), take.worlds

    def leading(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is None:
            return
        on, motion, alone = self.led_frames(), self._channels, self.original and new
        with bridge.acting(armature, None) if alone else nullcontext():
            pose = bridge.read_pose(armature, self.rig)[None][np.zeros(len(on), int)] if alone else motion.pose[on]
            channels = Motion(pose, motion.frames[on], motion.fps)
            wanted = self.after.pose[on]
            self.led, _ = yield from leading(bpy.context, armature, self.rig, self.controlled, channels, wanted, True)

    def led_frames(self) -> Frames:
        """The frames, counted from 0, in which the controls are brought to the body."""
        return np.arange(len(self.after))

    def key(self, armature: Any, turned: Bones, moved: Bones, grown: Bones, action: str | None, new: bool) -> Any:
        if self.controlled is None:
            return super().key(armature, turned, moved, grown, action, new)
        led = self.controls_led(armature, new)
        if self.original and new:
            written = bridge.write_motion(armature, self.rig, led.motion, led.turned, action)
        else:
            written = bridge.write_keys(armature, self.rig, led.motion, led.turned, led.moved, action, new)
        set_switches(armature, led, framed=True)
        return written

    def controls_led(self, armature: Any, new: bool = True) -> Led:
        """The motion of the controls, from `leading`."""
        if self.led is None:
            for _ in self.leading(armature, new):
                pass
        assert self.led is not None
        return self.led

    def show(self, armature: Any, pose: Pose) -> None:
        """Give the armature a pose of its body, without keys."""
        if self.controlled is None:
            bridge.write_pose(armature, self.rig, pose, range(len(self.skeleton)))
        else:
            bridge.lead_controls(armature, self.rig, self.controlled, pose)


class HeldMotion(BodyMotion):
    """A motion with pins: `pins` are to be set before it is solved, and `after` where they hold another motion.

    `only` (F,): the frames that are solved, all by default. `draft`: quickly, see `pin_motion`.
    """

    method = "pins"
    only: Flags | None = None
    draft = False
    reasons: Sequence[str] = ()  # why pins do not hold, once it is written

    def change(self, progress: Progress) -> None:
        if self.pins:
            skeleton, method = for_feet(self.skeleton, self.after, self.roles)
            pinned = pin_motion(skeleton, self.after, self.pins, method, progress, self.only, self.draft)
            self.after = pinned.motion

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        causes: dict[tuple[str, str], list[str]] = {}
        for pin, goal in zip(self.pins, goals, strict=True):
            cause = None if goal.met.all() else self._cause(pin)
            if cause is not None:
                causes.setdefault(cause, []).append(goal.bone)
        told = {cause: ", ".join(dict.fromkeys(bones)) for cause, bones in causes.items()}
        self.reasons = [f"{before}{bones}{after}" for (before, after), bones in told.items()]
        return (*super().explain(goals), *self.reasons)

    def _cause(self, pin: TimedPin) -> tuple[str, str] | None:
        """Why a pin does not hold, before and after its bone: it is out of reach, or something else decides."""
        names, bone = self.skeleton.names, self.skeleton.index(pin.bone)
        on = slice(*pin.span(self.after))
        solved = np.ones(len(self.after), bool) if self.only is None else self.only
        gaps, turns = (part[solved[on]] for part in pin_errors(self.skeleton, self.after, pin))
        if not len(gaps):
            return None
        gaps = (self.worlds[on, :3, :3][solved[on]] @ gaps[..., None])[..., 0]
        if max(lengths(gaps).max() / POSITION, np.degrees(lengths(turns)).max() / ROTATION) > 1.0:
            alone = len(self.pins) == 1
            return ("", " is out of reach") if alone else ("out of reach, or other pins pull elsewhere: ", "")
        above = [names[one] for one in (*self.skeleton.ancestors(bone)[1:], bone)]
        driver = next((self.rig.driven[name] for name in above if name in self.rig.driven), None)
        return None if driver is None else (f"{driver} does not let ", " get there")


class LockedFeet(HeldMotion):
    """A motion whose contacts are found when it is made, and held; `points`: see `contact_points`.

    Held are those in the `frames`; they begin and end, and ease, where they do in the whole motion.
    """

    method = "lock-feet"

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], points: Sequence[str] = (FEET,), ease: float = EASE
    ) -> None:
        whole = bridge.keyed_range(armature)
        super().__init__(context, armature, (min(whole[0], frames[0]), max(whole[1], frames[1])))
        found = find_touches(self, contact_points(self.skeleton, self.roles, points))
        pins = contact_pins(self.skeleton, self.before, found, ease)
        self.pins = [pin for pin in pins if pin.start <= frames[1] and pin.end >= frames[0]]
        within = (self.before.frames >= frames[0]) & (self.before.frames <= frames[1])
        self.contacts = replace(found, touching=found.touching & within[:, None])

    def skating(self) -> dict[str, float]:
        """Shares of the bearing steps of heels and balls that are too fast, before and after."""
        shares: dict[str, float] = {}
        for name, motion in (("before", self.before), ("after", self.after)):
            fast, all = skating(self.skeleton, motion, self.contacts, SKATING * self.skeleton.size)
            shares[name] = fast / max(all, 1)
        return shares


def find_touches(edit: Edit, points: Sequence[BodyPoint]) -> Contacts:
    """Contacts of points with the ground, which is across the world's Z; raises CoreError where nothing bears."""
    if np.ptp(edit.worlds, axis=0).max() > _STILL * np.abs(edit.worlds).max():
        raise CoreError("The armature object itself moves; contacts are found where only its bones do.")
    found = find_contacts(edit.skeleton, edit.before, points, up=bridge.world_up(edit.worlds[0]))
    if not found.touching.any():
        named = ", ".join(point.name for point in points)
        raise CoreError(f"Nothing bears on the ground; looked at: {named}.")
    return found


def contact_points(skeleton: Any, roles: Roles, names: Sequence[str]) -> list[BodyPoint]:
    """The points that may touch the ground: "feet", "hands", or bones by name, of which the tail is meant."""
    found: list[BodyPoint] = []
    for name in names:
        if name == FEET:
            feet = foot_points(skeleton, roles)
            if not feet:
                raise CoreError("There are no feet in this body; name the bones that touch the ground.")
            above = skeleton.parents[[skeleton.index(point.bone) for point in feet]]
            if not (skeleton.parents[above[above >= 0]] >= 0).any():
                name = skeleton.names[skeleton.index(feet[0].bone)]
                raise CoreError(
                    f'"{name}" and the other feet hang on the root alone: no leg could yield, only the whole body; '
                    "name bones at the ends of its legs."
                )
            found += feet
        elif name == HANDS:
            hands = [(f"{HANDS[:-1]}.{side}", roles.bones.get(f"hand.{side}")) for side in SIDES]
            found += [_tail(skeleton, hand, bone) for hand, bone in hands if isinstance(bone, int)]
        else:
            found.append(_tail(skeleton, name, skeleton.index(name)))
    return found


def _tail(skeleton: Any, name: str, bone: int) -> BodyPoint:
    return BodyPoint(name, bone, (0.0, float(skeleton.lengths[bone]), 0.0))


def over_time(worlds: Array, at: int, position: Array | None, turn: Array | None) -> tuple[Array | None, Array | None]:
    """A place (3,) and a rotation (4,) of armature space at frame index `at`, still in the world: (F, 3), (F, 4).

    As they are where the armature stands still.
    """
    if np.array_equal(worlds, np.broadcast_to(worlds[at], worlds.shape)):
        return position, turn
    placed = bridge.armature_to_world(worlds[at], position, turn)
    count = len(worlds)
    held = [None if part is None else np.broadcast_to(part, (count, len(part))) for part in placed]
    return bridge.world_to_armature(worlds, *held)
