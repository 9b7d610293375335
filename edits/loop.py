"""`make-loop`: close a motion to a loop, with feet planted across its seam."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion
from ..core.editing.contacts import Contacts, find_contacts, foot_points
from ..core.editing.loop import find_cycle, make_loop
from ..core.editing.timed_pins import TimedPin
from ..core.formats.report import Report
from ..core.motion import forward_of
from ..core.pose import Pose
from ..core.rotation import angle_between
from ..core.skeleton import Flags, Indices
from .held_motion import HeldMotion
from .motion_edit import Progress

FADE: Final = 0.3  # seconds
LONGEST: Final = 60.0  # seconds


class LoopEdit(HeldMotion):
    """A motion whose last frame is its first one, as far on as the body travels in one cycle.

    find     whether only the best cycle within the frames is made a loop
    fade     seconds over which the change of either end fades
    turning  whether the body turns from cycle to cycle as it does in the motion
    plant    whether contacts of the feet are held
    """

    method = "make-loop"
    steady = True

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], find: bool = False, fade: float = FADE,
        turning: bool = False, plant: bool = True,
    ) -> None:  # fmt: skip
        check_loop(fade)
        super().__init__(context, armature, frames)
        skeleton, up = self.skeleton, bridge.world_up(self.worlds[0])
        if find:
            first, last = find_cycle(skeleton, self.before, self.hips, up)
            self.keep(slice(first, last + 1))
            self.left_out = ()
            self.surface = bridge.read_ground(context, armature, self.worlds[0], skeleton.size)
            up = bridge.world_up(self.worlds[0])
        hips, rise = forward_of(skeleton, self.before.pose[[0, -1]], [self.hips])[0][:, 0], 0.0
        if self.surface is not None:  # uphill each cycle begins higher
            start, end = self.surface(hips).tolist()
            rise = end - start if np.isfinite([start, end]).all() else 0.0
        self.loop = make_loop(self.free, self.before, self.hips, fade * self.before.fps, up, turning, rise)
        self.check_kept(self.loop.motion)
        self._cycles = self.loop.three(skeleton)
        points = foot_points(skeleton, self.roles) if plant else ()
        self._held: Sequence[TimedPin] = ()
        if points:
            found = find_contacts(skeleton, self.before, points, up=up, drifts=False, surface=self.surface)
            self._held = self.plant(self._cycles, _three_times(found))
        first, last = self.before.frames[[0, -1]].tolist()
        self.pins = [pin for pin in self._held if pin.start <= last and pin.end >= first]

    def compute(self, progress: Progress) -> None:
        self.hold(self._cycles, self._held, progress)
        self.after = self.loop.motion

    def solved_frames(self, motion: Motion) -> Flags:
        return np.isin(np.arange(len(motion)), self._middle)

    @property
    def _middle(self) -> Indices:
        """The frames of the middle one of three cycles."""
        count = len(self.before)
        return np.arange(count - 1, 2 * count - 1)

    def pinned(self, motion: Motion, pins: Sequence[TimedPin], progress: Progress) -> Motion:
        """Solve the middle one of three cycles, as `loop`, and return this three times."""
        held = super().pinned(motion, pins, progress)
        self.loop = self.loop.closed(self.skeleton, replace(self.before, pose=held.pose[self._middle]))
        return self.loop.three(self.skeleton)

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        report = super().write(armature, action, new)
        assert report.action is not None  # keys are written
        written: Any = bpy.data.actions[report.action]
        written.use_frame_range = written.use_cyclic = True
        written.frame_start, written.frame_end = self.before.frames[[0, -1]]
        return report

    def summary(self) -> str:
        """Return how far the ends were from each other, and by how much the motion has changed, in words."""
        return f"{self.apart()}; {self.change()}"

    def apart(self) -> str:
        """Return how far the ends were from each other, in words."""
        back = self.loop.shifted(self.skeleton, self.before.pose[-1:], -1)
        return "The ends were {:.1f} cm and {:.0f} degrees apart".format(*self._differences(self.before.pose[:1], back))

    def change(self) -> str:
        """Return by how much the motion has changed, in words."""
        most = self._differences(self.before.pose, self.after.pose)
        changed = "the motion changes by at most {:.1f} cm and {:.0f} degrees".format(*most)
        return "; ".join([changed, *self.jumps(), *self.advice()])

    def advice(self) -> list[str]:
        if self.changed_far(self.before.pose, self.after.pose):
            return ["that is far. Choose a range that ends nearly as it begins, or turn on Find Cycle"]
        return []

    def _differences(self, one: Pose, other: Pose) -> tuple[float, float]:
        """Return how far bones are from each other at most, in centimetres, and how far joints turn, in degrees."""
        return 100.0 * float(self.ends_apart(one, other).max()), float(
            np.degrees(angle_between(one.rotations, other.rotations).max())
        )


def check_loop(fade: float) -> None:
    """Raise CoreError for a fade that makes no sense."""
    if not 0.0 < fade <= LONGEST:
        raise CoreError(f"The fade of a loop must be above 0 and at most {LONGEST:g} seconds.")


def _three_times(contacts: Contacts) -> Contacts:
    """Return the contacts of three cycles whose seams count once: what touches on either side of one touches there."""
    touching, low = (np.concatenate([on, on[1:], on[1:]]) for on in (contacts.touching, contacts.low))
    count = len(contacts.touching)
    touching[[count - 1, 2 * count - 2]] = contacts.touching[0] | contacts.touching[-1]
    return replace(contacts, touching=touching, low=low, drift=np.zeros((len(touching), 3)))
