"""`edit-path`: the way of a motion over the ground, moved, scaled or bent, with the feet planted anew."""

import argparse
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.editing.contacts import find_contacts, foot_points
from ..core.editing.foot_lock import contact_pins
from ..core.editing.path import lead_path
from .feet import add_motion, motion_of
from .hold import HeldMotion
from .verbs import outputs, tell_report


class LedPath(HeldMotion):
    """A motion on another way: `offset` in metres of the world, `bend` in degrees; `plant`: feet stand as before."""

    method = "edit-path"

    def __init__(
        self, context: Any, object: Any, frames: tuple[int, int], offset: Sequence[float] = (0.0, 0.0, 0.0),
        scale: float = 1.0, bend: float = 0.0, plant: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(context, object, frames)
        if not np.isfinite([*offset, scale, bend]).all():
            raise CoreError("Offset, scale and bend of a path must be finite numbers.")
        skeleton, linear = self.rig.skeleton, self.worlds[0, :3, :3]
        roots = np.flatnonzero(skeleton.parents < 0)
        fixed = next((bone for bone in roots.tolist() if not skeleton.translatable[bone].all()), None)
        if fixed is not None:
            raise CoreError(f'"{skeleton.names[fixed]}" cannot be moved; unlock its location first.')
        hips = self.roles.bones.get("hips", int(roots[0]))
        assert isinstance(hips, int)  # a role of one bone
        up = bridge.world_up(self.worlds[0])
        own = np.linalg.solve(linear, np.asarray(offset, float))
        self.after = lead_path(skeleton, self.before, hips, own, scale, float(np.radians(bend)), up)
        points = foot_points(skeleton, self.roles) if plant else ()
        if points:
            contacts = find_contacts(skeleton, self.before, points, up=up)
            self.pins = contact_pins(skeleton, self.after, contacts)


def add_edit_path(verbs: Any) -> None:
    parser = verbs.add_parser("edit-path", help="move, scale or bend the way of a motion", allow_abbrev=False)
    parser.add_argument(
        "--offset", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("X", "Y", "Z"), help="in metres"
    )
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="of its length")
    parser.add_argument("--bend", type=float, default=0.0, metavar="D", help="degrees that it has turned at its end")
    parser.add_argument("--no-feet", action="store_true", help="do not plant the feet")
    add_motion(parser)
    parser.set_defaults(verb=edit_path)


def edit_path(arguments: argparse.Namespace) -> int:
    """Edit the path; returns 1 if a foot is off its place."""
    texts = outputs(arguments)
    object, frames = motion_of(arguments)
    edit = LedPath(
        bpy.context, object, frames, arguments.offset, arguments.scale, arguments.bend, not arguments.no_feet
    )
    edit.solve()
    return tell_report(arguments, edit.write(object, arguments.action), texts)
