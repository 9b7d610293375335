"""Motions with pins over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import bridge
from ..core import Motion, PinAndDrag, Skeleton
from ..core.editing.contacts import Surface
from ..core.editing.floor import Floor, floor_pins
from ..core.editing.foot_lock import foot_lock_settings
from ..core.editing.timed_pins import TimedPin, pin_errors, pin_motion
from ..core.formats.report import GoalReport
from ..core.rotation import lengths
from ..core.skeleton import Flags
from .body_motion import BodyMotion
from .motion_edit import POSITION_TOLERANCE, ROTATION_TOLERANCE, Frames, Progress, no_progress


class HeldMotion(BodyMotion):
    """A motion with pins. Subclasses set `pins`, and `after` where these hold another motion than `before`.

    only    (F,) the frames that are solved; None for all
    draft   fast, for a preview; see `pin_motion`
    floor   that feet are not below; None without one
    reasons sentences why pins do not hold, once it is written
    """

    method = "pins"
    surface: Surface | None = None  # meshes that are the ground
    only: Flags | None = None
    draft = False
    floor: Floor | None = None
    reasons: Sequence[str] = ()

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int] | Frames) -> None:
        super().__init__(context, armature, frames)
        self.surface = bridge.read_ground(context, armature, self.worlds[0], self.skeleton.size)

    def compute(self, progress: Progress) -> None:
        self.after = self.hold(self.after, self.pins, progress)

    def hold(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress = no_progress) -> Motion:
        """Return a motion with some pins, and then with its feet on the floor or above."""
        motion = self._pinned(motion, pins, progress)
        if self.floor is None:
            return motion
        return self._pinned(motion, floor_pins(self.skeleton, motion, self.roles, self.floor), progress)

    def settings(self, motion: Motion) -> tuple[Skeleton, PinAndDrag]:
        """Return the skeleton with the limits that hold, and the method."""
        return foot_lock_settings(self.skeleton, motion, self.roles)

    def _pinned(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress) -> Motion:
        if not pins:
            return motion
        skeleton, method = self.settings(motion)
        return pin_motion(skeleton, motion, pins, method, progress, self.only, self.draft).motion

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
        """Return why a pin does not hold, as the words before and after its bone; None where nothing is found."""
        names, bone = self.skeleton.names, self.skeleton.index(pin.bone)
        on = slice(*pin.span(self.after))
        solved = np.ones(len(self.after), bool) if self.only is None else self.only
        gaps, turns = (part[solved[on]] for part in pin_errors(self.skeleton, self.after, pin))
        if not len(gaps):
            return None
        gaps = (self.worlds[on, :3, :3][solved[on]] @ gaps[..., None])[..., 0]
        if max(lengths(gaps).max() / POSITION_TOLERANCE, np.degrees(lengths(turns)).max() / ROTATION_TOLERANCE) > 1.0:
            alone = len(self.pins) == 1
            return ("", " is out of reach") if alone else ("out of reach, or other pins pull elsewhere: ", "")
        above = [names[one] for one in (*self.skeleton.ancestors(bone)[1:], bone)]
        driver = next((self.rig.driven[name] for name in above if name in self.rig.driven), None)
        return None if driver is None else (f"{driver} does not let ", " get there")
