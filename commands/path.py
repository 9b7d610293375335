"""`edit-path`: the way of a motion over the ground, moved, scaled or bent, with the feet planted anew."""

import argparse
from collections.abc import Sequence
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.editing.contacts import find_contacts, foot_points
from ..core.editing.foot_lock import contact_pins
from ..core.editing.path import lead_path
from ..edits.hold import HeldMotion
from .feet import add_motion, check_motion, motion_of
from .verbs import outputs, tell_report

EASE: Final = 0.5  # seconds


class LedPath(HeldMotion):
    """A motion on another way: `offset` in metres of the world, `bend` in degrees.

    `frames`: between which that is done, see `lead_path`; `ease`: seconds beside them for an offset to come and go.
    `plant`: feet stand as before, where the body does not go with them as a whole.
    """

    method = "edit-path"

    def __init__(
        self, context: Any, object: Any, frames: tuple[int, int], offset: Sequence[float] = (0.0, 0.0, 0.0),
        scale: float = 1.0, bend: float = 0.0, plant: bool = True, ease: float = EASE,
    ) -> None:  # fmt: skip
        check_path(offset, scale, bend, ease)
        whole = bridge.keyed_range(object)
        super().__init__(context, object, (min(whole[0], frames[0]), max(whole[1], frames[1])))
        skeleton, linear = self.skeleton, self.worlds[0, :3, :3]
        roots = np.flatnonzero(skeleton.parents < 0)
        fixed = next((bone for bone in roots.tolist() if not skeleton.translatable[bone].all()), None)
        if fixed is not None:
            raise CoreError(f'"{skeleton.names[fixed]}" cannot be moved; unlock its location first.')
        hips = self.roles.bones.get("hips", int(roots[0]))
        assert isinstance(hips, int)  # a role of one bone
        up = bridge.world_up(self.worlds[0])
        own = np.linalg.solve(linear, np.asarray(offset, float))
        self.after = lead_path(
            skeleton, self.before, hips, own, scale, float(np.radians(bend)), up, frames, ease * self.before.fps
        )
        as_one = scale == 1.0 and bend == 0.0 and frames[0] <= whole[0] and frames[1] >= whole[1]
        points = foot_points(skeleton, self.roles) if plant and not as_one else ()
        if points:
            contacts = find_contacts(skeleton, self.before, points, up=up)
            self.pins = contact_pins(skeleton, self.after, contacts)


def check_path(offset: Sequence[float], scale: float, bend: float, ease: float) -> None:
    if not np.isfinite([*offset, scale, bend, ease]).all() or ease < 0.0:
        raise CoreError("Offset, scale and bend of a path must be finite numbers, its ease at least 0 seconds.")


def add_edit_path(verbs: Any) -> None:
    parser = verbs.add_parser("edit-path", help="move, scale or bend the way of a motion", allow_abbrev=False)
    parser.add_argument(
        "--offset", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"), help="in metres"
    )
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="of its length")
    parser.add_argument("--bend", type=float, default=0.0, metavar="D", help="degrees that it has turned at its end")
    parser.add_argument("--ease", type=float, default=EASE, metavar="S", help="seconds beside --frames of an offset")
    parser.add_argument("--no-feet", action="store_true", help="do not plant the feet")
    add_motion(parser)
    parser.set_defaults(verb=edit_path, check=check_edit_path)


def check_edit_path(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    check_path(arguments.offset, arguments.scale, arguments.bend, arguments.ease)


def edit_path(arguments: argparse.Namespace) -> int:
    """Edit the path; returns 1 if a foot is off its place."""
    texts = outputs(arguments)
    object, frames = motion_of(arguments)
    edit = LedPath(
        bpy.context, object, frames, arguments.offset, arguments.scale, arguments.bend, not arguments.no_feet,
        arguments.ease,
    )  # fmt: skip
    edit.solve()
    return tell_report(arguments, edit.write(object, arguments.action), texts)
