"""`smooth`: take jitter and frames that stick out of a motion, and hold its contacts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, Motion, PinAndDrag, Pose, Skeleton, forward, rotation
from ..core.body.anatomy import carrier_of
from ..core.editing.contacts import BodyPoint, foot_points, runs
from ..core.editing.smoothing import CUTOFF, STICKS_OUT, smooth_motion
from ..core.editing.timed_pins import TimedPin
from .held_motion import HeldMotion
from .motion_edit import Progress
from .reduce import chosen_bones

SLOWEST, QUICKEST = 0.1, 1000.0  # Hz
POP: Final = float(np.degrees(STICKS_OUT))
MOST: Final = 180.0  # degrees


class SmoothEdit(HeldMotion):
    """A motion without jitter: see `smooth_motion`.

    bones   names, roles or parts, by default all; only these change
    cutoff  Hz
    pop     degrees
    plant   whether contacts of the feet are held, where these bones are all legs that they move
    """

    method = "smooth"
    steady = True

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], bones: Sequence[str] = (), cutoff: float = CUTOFF,
        pop: float = POP, plant: bool = True,
    ) -> None:  # fmt: skip
        check_smoothing(cutoff, pop)
        super().__init__(context, armature, frames)
        self._chosen = np.array(sorted(self._find_chosen(armature, bones)), int)
        self._without_pops = smooth_motion(self.skeleton, self.before, self._chosen, np.inf, float(np.radians(pop)))
        self._free = np.isin(np.arange(len(self.skeleton)), self._chosen)
        self._limbs = np.zeros(len(self.skeleton), bool)
        self._hold_ends()
        self._points = self._plantable() if plant else []
        self.smooth(cutoff)

    def _find_chosen(self, armature: Any, bones: Sequence[str]) -> set[int]:
        """Return the bones of the body that are named, or that named controls pose: of IK the whole limb."""
        if self.controlled is None or not bones:
            return set(chosen_bones(armature, self.skeleton, bones))
        named, found = chosen_bones(armature, self.rig.skeleton, bones), set[int]()
        for body in self.controlled.bodies:
            parts = body.parts
            own = [parts[bone] for bone in named if bone in parts]
            found.update(own, np.flatnonzero(np.isin(body.ends, own)).tolist())
        if not found:
            raise CoreError("None of the bones moves with the body. Name bones of the body, or controls that pose it.")
        return found

    def _hold_ends(self) -> None:
        """Let IK bend limbs that would go with a chosen bone, and whose ends stay where their targets have them.

        Controls of what is not chosen keep their keys, where they go along or stay by themselves.
        """
        if self.controlled is None:
            return
        heads, turns = forward(self.skeleton, self.before.pose)
        for number, body in enumerate(self.controlled.bodies):
            ends = [end for end in body.planted if self._free[self.skeleton.ancestors(end)].any()]
            for end in np.setdiff1d(ends, self._chosen).astype(int).tolist():
                self._limbs |= body.ends == end
                spans = [self.before.frames[[*span]].tolist() for span in runs(self.controlled.which == number)]
                self.staying += [TimedPin(end, first, last, heads[:, end], turns[:, end]) for first, last in spans]
        self._free |= self._limbs
        self.controlled = self.controlled.changed(self._keeping)

    def _keeping(self, body: bridge.ControlledBody) -> bridge.ControlledBody:
        """Return a body without the controls that keep their keys."""
        kept = ~self._free & body.hangs
        kept[np.setdiff1d(body.planted, self._chosen).astype(int)] = True
        controls = tuple(bridge.Control() if stays else one for one, stays in zip(body.controls, kept, strict=True))
        return replace(body, controls=controls)

    def _plantable(self) -> list[BodyPoint]:
        """Return the points of feet that the chosen bones move; none where one of their legs is not all chosen.

        Less than whole legs does not reach them: hips alone would jerk from one to the other.
        """
        parts, carrier = np.concatenate([*self.roles.parts.values(), []]), carrier_of(self.skeleton, self.roles)
        whole = [] if carrier is None else self.skeleton.ancestors(carrier)
        fixed = np.setdiff1d(parts, [*self._chosen, *whole])
        above = {point: self.skeleton.ancestors(point.bone) for point in foot_points(self.skeleton, self.roles)}
        moved = [point for point, bones in above.items() if self._free[bones].any()]
        return [] if any(np.isin(above[point], fixed).any() for point in moved) else moved

    def smooth(self, cutoff: float) -> None:
        """Smooth the motion, from as it was, with another cutoff; contacts are held once it is solved."""
        self.after = smooth_motion(self.skeleton, self._without_pops, self._chosen, cutoff, 0.0)

    def compute(self, progress: Progress) -> None:
        if self._points:
            self.pins = self.plant(self.after, self.find_contacts(self.after, self._points, drifts=False))
        super().compute(progress)

    def settings(self, motion: Motion) -> tuple[Skeleton, PinAndDrag]:
        """Return the skeleton in which the chosen bones alone move, and limbs that follow them, and the method.

        Without contacts the chosen ones are where they go, and limbs follow.
        """
        skeleton, method = super().settings(motion)
        free = self._free if self._points else self._limbs
        movable, translatable = skeleton.movable & free, skeleton.translatable & free[:, None]
        return replace(skeleton, movable=movable, translatable=translatable), method

    def with_below(self, motion: Motion) -> Motion:
        """Return a motion with the bones that are not chosen as they were, too."""
        motion = super().with_below(motion)
        was, pose, free = self.before.pose, motion.pose, self._free[:, None]
        rotations = np.where(free, pose.rotations, was.rotations)
        translations = np.where(free, pose.translations, was.translations)
        return replace(motion, pose=Pose.trusted(rotations, translations, pose.scales, pose.driven_matrices))

    def summary(self) -> str:
        """Return how far heads and tails of bones have moved, and joints turned, at most, and left out frames."""
        far = 100.0 * self.ends_apart(self.after.pose, self.before.pose)
        at = self.before.frames[far.argmax()]
        turned = np.degrees(rotation.angle_between(self.before.pose.rotations, self.after.pose.rotations).max())
        changed = f"The motion changes by at most {far.max():.1f} cm, at frame {at:g}, and {turned:.0f} degrees"
        return "; ".join([changed, *self.jumps(), *self.advice()])

    def advice(self) -> list[str]:
        if self.changed_far(self._without_pops.pose, self.after.pose):
            return ["that is far. Raise Cutoff, or leave the frames out in which the body jumps"]
        return []


def check_smoothing(cutoff: float, pop: float) -> None:
    """Raise CoreError for numbers that make no sense, and name the one that is wrong."""
    if not SLOWEST <= cutoff <= QUICKEST:
        raise CoreError(f"The cutoff of smoothing must be between {SLOWEST:g} and {QUICKEST:g} Hz.")
    if not 0.0 <= pop <= MOST:
        raise CoreError(f"The angle of pops must be between 0 and {MOST:g} degrees.")
