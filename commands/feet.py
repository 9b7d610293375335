"""`lock-feet`: feet, or whatever bears on the ground, stand where they bear."""

import argparse
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.editing.foot_lock import EASE
from ..core.formats.table import check_range
from ..edits.foot_lock import FEET, HANDS, LockedFeet
from .verbs import add_common, add_results, armature_of, outputs, tell, tell_report


def add_lock_feet(verbs: Any) -> None:
    parser = verbs.add_parser("lock-feet", help="plant feet where they bear on the ground", allow_abbrev=False)
    parser.add_argument(
        "--points", nargs="+", default=[FEET], metavar="POINT",
        help=f'what may bear: "{FEET}" (heel, ball and toe of each), "{HANDS}", or names of bones',
    )  # fmt: skip
    parser.add_argument("--ease", type=float, default=EASE, metavar="S", help="seconds to come and go in")
    add_motion(parser)
    parser.set_defaults(verb=lock_feet, check=check_feet)


def add_motion(parser: argparse.ArgumentParser) -> None:
    """Which motion is changed, and where the result goes."""
    parser.add_argument("--armature", metavar="A", help="the armature, if there are several")
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="a part of the motion")
    parser.add_argument("--action", metavar="NAME", help="of the new action")
    add_results(parser)
    add_common(parser)
    parser.set_defaults(check=check_motion)


def check_motion(arguments: argparse.Namespace) -> None:
    """Raises CoreError for what is wrong whatever the file."""
    if arguments.frames:
        check_range(tuple(arguments.frames), "--frames")


def motion_of(arguments: argparse.Namespace) -> tuple[bpy.types.Object, tuple[int, int]]:
    """The armature and the frames that were asked for."""
    armature = armature_of(arguments.armature)
    return armature, tuple(arguments.frames) if arguments.frames else bridge.keyed_range(armature)


def check_feet(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if not arguments.ease >= 0.0:
        raise CoreError(f"--ease: must be at least 0, not {arguments.ease:g}.")


def lock_feet(arguments: argparse.Namespace) -> int:
    """Lock feet; returns 1 if a pin is off its place."""
    texts = outputs(arguments)
    armature, frames = motion_of(arguments)
    edit = LockedFeet(bpy.context, armature, frames, arguments.points, arguments.ease)
    edit.solve()
    report = edit.write(armature, arguments.action)
    skating = edit.skating()
    before, after = skating.values()
    tell(f"{len(edit.pins)} touches; {before:.1%} of the bearing steps skated before, {after:.1%} do now.")
    return tell_report(arguments, report, texts, skating=skating)
