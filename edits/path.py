"""`edit-path`: move, scale or bend the path of a motion over the ground and plant the feet again."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.editing.contacts import foot_points
from ..core.editing.path import edit_path
from ..core.editing.timed_pins import share_within
from .held_motion import PartOfMotion

EASE: Final = 0.5  # seconds
FARTHEST: Final = (
    10_000.0  # metres, from where on single precision cannot tell millimetres apart; also seconds of an ease
)
SMALLEST: Final = 0.01  # scale; the largest is its inverse
MOST_BENT: Final = 3600.0  # degrees: ten circles


class PathEdit(PartOfMotion):
    """A motion on another path: `offset` in metres of the world, `bend` in degrees.

    frames   the first and the last frame of the change, see `edit_path`
    ease     seconds beside them in which an offset begins and ends
    plant    whether contacts of the feet are held, unless the whole motion is only moved
    """

    method = "edit-path"

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], offset: Sequence[float] = (0.0, 0.0, 0.0),
        scale: float = 1.0, bend: float = 0.0, plant: bool = True, ease: float = EASE,
    ) -> None:  # fmt: skip
        check_path(offset, scale, bend, ease)
        whole = bridge.keyed_range(armature)
        super().__init__(context, armature, (min(whole[0], frames[0]), max(whole[1], frames[1])))
        skeleton, linear = self.free, self.worlds[0, :3, :3]
        roots = np.flatnonzero(skeleton.parents < 0)
        fixed = next((bone for bone in roots.tolist() if not skeleton.translatable[bone].all()), None)
        if fixed is not None:
            raise CoreError(f'"{skeleton.names[fixed]}" cannot be moved. Unlock its location first.')
        up = bridge.world_up(self.worlds[0])
        own = np.linalg.solve(linear, np.asarray(offset, float))
        self.after = edit_path(
            skeleton, self.before, self.hips, own, scale, float(np.radians(bend)), up, frames, ease * self.before.fps
        )
        self.check_kept(self.after)
        as_one = scale == 1.0 and bend == 0.0 and frames[0] <= whole[0] and frames[1] >= whole[1]
        points = foot_points(skeleton, self.roles) if plant and not as_one else ()
        if points:
            eased = ease * self.before.fps
            share = share_within(self.before.frames, frames, eased)
            contacts = self.find_contacts(self.before, points)
            self.level_with(contacts, self.after)
            pins = self.plant(self.after, contacts, share=share)
            self.pins = [pin for pin in pins if pin.start <= frames[1] + eased and pin.end >= frames[0] - eased]


def check_path(offset: Sequence[float], scale: float, bend: float, ease: float) -> None:
    """Raise CoreError for numbers that no path has, and name the one that is wrong."""
    ranges = {
        "offset": (-FARTHEST, FARTHEST, offset), "scale": (SMALLEST, 1.0 / SMALLEST, [scale]),
        "bend": (-MOST_BENT, MOST_BENT, [bend]), "ease": (0.0, FARTHEST, [ease]),
    }  # fmt: skip
    for name, (least, most, values) in ranges.items():
        if not all(least <= value <= most for value in values):
            raise CoreError(f"The {name} of a path must be between {least:g} and {most:g}.")


def check_changes(offset: Sequence[float], scale: float, bend: float) -> None:
    """Raise CoreError for numbers that change nothing."""
    if not any(offset) and scale == 1.0 and bend == 0.0:
        raise CoreError("The path stays as it is. Give it an offset, a scale or a bend.")
