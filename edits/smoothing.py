"""`smooth`: take jitter and frames that stick out of a motion, and hold its contacts."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..core import CoreError, rotation
from ..core.editing.contacts import foot_points
from ..core.editing.smoothing import CUTOFF, STICKS_OUT, smooth_motion
from .held_motion import HeldMotion
from .motion_edit import Progress
from .reduce import chosen_bones

SLOWEST, QUICKEST = 0.1, 1000.0  # Hz
POP: Final = float(np.degrees(STICKS_OUT))
MOST: Final = 180.0  # degrees


class SmoothEdit(HeldMotion):
    """A motion without jitter: see `smooth_motion`.

    bones   names, roles or parts, by default all
    cutoff  Hz
    pop     degrees
    plant   whether contacts of the feet are held
    """

    beside = True
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
        self._points = foot_points(self.skeleton, self.roles) if plant else ()
        self.smooth(cutoff)

    def _find_chosen(self, armature: Any, bones: Sequence[str]) -> set[int]:
        """Return the bones of the body that are named, or that named controls pose: of IK the whole limb."""
        if self.controlled is None or not bones:
            return set(chosen_bones(armature, self.skeleton, bones))
        named, found = chosen_bones(armature, self.rig.skeleton, bones), set[int]()
        for body in self.controlled.bodies:
            parts = body.parts()
            own = [parts[bone] for bone in named if bone in parts]
            found.update(own, np.flatnonzero(np.isin(body.ends, own)).tolist())
        if not found:
            raise CoreError("None of the bones moves with the body. Name bones of the body, or controls that pose it.")
        return found

    def smooth(self, cutoff: float) -> None:
        """Smooth the motion, from as it was, with another cutoff; contacts are held once it is solved."""
        self.after = smooth_motion(self.skeleton, self._without_pops, self._chosen, cutoff, 0.0)

    def compute(self, progress: Progress) -> None:
        if self._points:
            self.pins = self.plant(self.after, self.find_contacts(self.after, self._points, drifts=False))
        super().compute(progress)

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
