"""`root-motion`: let a root bone carry the way and the heading of a motion, or the body itself, or nobody."""

from collections.abc import Collection
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError, rotation
from ..core.editing.root_motion import Carrier, find_travel, root_above, set_carrier
from ..core.rotation import lengths
from .body_motion import BodyMotion
from .motion_edit import Progress

SMOOTH: Final = 0.5  # seconds
LONGEST: Final = 60.0  # seconds
AXES: Final = ("x", "y", "turn")


class RootMotion(BodyMotion):
    """A motion whose travel over the ground is carried by the root bone, by the body, or by nobody: in place.

    smooth  seconds, see `find_travel`
    axes    of AXES: along which axes of the world, and whether in its heading, the body travels
    """

    method = "root-motion"

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], carrier: Carrier, smooth: float = SMOOTH,
        axes: Collection[str] = AXES,
    ) -> None:  # fmt: skip
        check_root_motion(smooth, axes)
        super().__init__(context, armature, frames)
        root = root_above(self.skeleton, self.hips)
        up, world = bridge.world_up(self.worlds[0]), self.worlds[0, :3, :3]
        along = [np.linalg.solve(world, np.eye(3)[number]) for number, name in enumerate("xy") if name in axes]
        straight = [way / np.linalg.norm(way) for way in along]
        self.travel = find_travel(self.skeleton, self.before, self.hips, up, smooth, straight, "turn" in axes)
        self._after = set_carrier(self.skeleton, self.before, self.travel, root, carrier)

    def compute(self, progress: Progress) -> None:
        self.after = self._after

    def summary(self) -> str:
        """Return how far the body travels from the first frame to the last, in words."""
        way = float(lengths(self.worlds[0, :3, :3] @ self.travel.shifts[-1]))
        turn = float(np.degrees(rotation.angle_between(rotation.IDENTITY, self.travel.turns[-1])))
        return f"The body travels {way:.2f} m and turns {turn:.0f} degrees"


def check_root_motion(smooth: float, axes: Collection[str]) -> None:
    """Raise CoreError for numbers that make no sense, and name the one that is wrong."""
    if not 0.0 <= smooth <= LONGEST:
        raise CoreError(f"The smoothing of root motion is from 0 to {LONGEST:g} seconds.")
    if not axes:
        raise CoreError("Nothing travels: choose x, y or turn.")
