"""`fix-ground`: nothing of a body is below the floor, a plane or meshes; heels and toes roll on it."""

from dataclasses import replace
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, Motion
from ..core.body.anatomy import carrier_of
from ..core.editing.contacts import foot_points
from ..core.editing.floor import Floor, depths, other_points, raised_pins, tip_points
from ..core.formats.report import Report
from ..core.motion import shifted
from ..core.rotation import Array
from .held_motion import HeldMotion
from .level import level_under_feet
from .motion_edit import Progress

FARTHEST: Final = 10_000.0  # metres
_LEAST: Final = 0.0005  # metres; what is less deep is rounded to nothing


class FixedGround(HeldMotion):
    """A motion that is raised where it is below the ground: meshes, and beside them a plane at `height` in metres."""

    method = "fix-ground"

    def __init__(self, context: Any, armature: Any, frames: tuple[int, int], height: float = 0.0) -> None:
        check_height(height)
        super().__init__(context, armature, frames)
        self.follow_object()
        world, up = self.worlds[0], bridge.world_up(self.worlds[0])
        metre = float(np.linalg.norm(up))  # in armature units
        level = (height - world[2, 3]) * metre
        self.floor = self._ground = Floor(up / metre, level, levels=False, surface=self.surface)
        self._feet, self._others = foot_points(self.skeleton, self.roles), other_points(self.skeleton, self.roles)
        if not (self._feet or self._others):
            raise CoreError(f'"{armature.name}" has no feet, hands or knees to raise. Assign them in the Rig panel.')
        self._metre = metre
        self.level = level_under_feet(self.skeleton, self.roles, self.floor, self.on_ground(self.before))
        self._deep = self._depth(self.before)

    @property
    def stands(self) -> bool:
        """Whether nothing is below the ground, so that nothing changes and no keys are written."""
        return self._deep < _LEAST

    def compute(self, progress: Progress) -> None:
        if self.stands:
            return
        self.after = self._lifted()
        others = self._others if self.roles.humanoid else (*self._feet, *self._others)
        pins = raised_pins(self.skeleton, self.on_ground(self.after), others, self._ground)
        self.pins = self.in_armature(pins)
        super().compute(progress)

    def write(self, armature: Any, action: str | None = None, new: bool = True) -> Report:
        return (
            self.report(armature, None, self.changed_bones()) if self.stands else super().write(armature, action, new)
        )

    def summary(self) -> str:
        """Return how far the body was below the ground, and still is, in words."""
        if self.stands:
            return "Nothing is below the ground, so nothing changes"
        before, after = 100.0 * self._deep, 100.0 * self._depth(self.after)
        return f"The body was up to {before:.1f} cm below the ground and is now {after:.1f} cm below it"

    def _lifted(self) -> Motion:
        """Return the motion raised by as much as something of the body is below the ground in all of its frames."""
        lift, root = self._depths(self.before).max(axis=1).min(), carrier_of(self.skeleton, self.roles)
        if lift <= 0.0 or root is None:
            return self.before
        there = self.on_ground(self.before)
        step = np.broadcast_to(lift * self._ground.up, (len(there), 3))
        return self.off_ground(replace(there, pose=shifted(self.skeleton, there.pose, root, step)))

    def _depths(self, motion: Motion) -> Array:
        """Return how far points are below the ground (F, P), in armature units."""
        points = (*self._feet, *tip_points(self.skeleton, self.roles), *self._others)
        return depths(self.skeleton, self.on_ground(motion), points, self._ground)

    def _depth(self, motion: Motion) -> float:
        """Return how far points are below the ground at most, in metres."""
        return float(self._depths(motion).max(initial=0.0)) / self._metre


def check_height(height: float) -> None:
    """Raise CoreError for a height that makes no sense."""
    if not abs(height) <= FARTHEST:
        raise CoreError(f"The height of the ground must be between {-FARTHEST:g} and {FARTHEST:g} meters.")
