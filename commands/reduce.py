"""`reduce-keys` and `bake`: a motion with as few keys as a tolerance lets, or with a key at every frame."""

import argparse
from typing import Any

import bpy

from ..core import CoreError
from ..edits.bake import Baked
from ..edits.reduce import ALL, TOLERANCE, Reduced, check_tolerance
from .feet import add_motion, check_motion, motion_of
from .verbs import outputs, tell, tell_report


def add_reduce_keys(verbs: Any) -> None:
    parser = verbs.add_parser("reduce-keys", help="keep as few keys as a tolerance lets", allow_abbrev=False)
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, metavar="M", help="metres, in the world")
    parser.add_argument(
        "--bones", nargs="+", default=[], metavar="BONE",
        help=f'names or roles of what is to stay there, by default hips, head, hands and feet; "{ALL}": all bones',
    )  # fmt: skip
    add_motion(parser)
    parser.set_defaults(verb=reduce, check=check_reduce)


def check_reduce(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    check_tolerance(arguments.tolerance)


def reduce(arguments: argparse.Namespace) -> int:
    """Reduce keys; returns 1 if Blender's evaluation is beyond the tolerance."""
    texts = outputs(arguments)
    armature, frames = motion_of(arguments)
    edit = Reduced(bpy.context, armature, frames, arguments.bones, arguments.tolerance)
    edit.solve()
    report = edit.write(armature, arguments.action)
    tell(f"{edit.told()}.")
    keys = {"kept": edit.kept, "before": edit.keyed, "all_kept": edit.all_kept, "all_before": edit.all_keyed}
    return tell_report(arguments, report, texts, keys=keys)


def add_bake(verbs: Any) -> None:
    parser = verbs.add_parser("bake", help="key every frame of a range", allow_abbrev=False)
    parser.add_argument("--step", type=int, default=1, metavar="N", help="from one key to the next")
    parser.add_argument("--bones", nargs="+", default=[], metavar="BONE", help="by name, by default all")
    parser.add_argument(
        "--visual", action="store_true", help="key what constraints, drivers and curves' modifiers make of bones, too"
    )
    parser.add_argument("--mute", action="store_true", help="and mute the constraints that decide these bones")
    parser.add_argument("--present", action="store_true", help="into the present action, not into a new one")
    add_motion(parser)
    parser.set_defaults(verb=bake, check=check_bake)


def check_bake(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    if arguments.step < 1:
        raise CoreError(f"--step: must be at least 1, not {arguments.step}.")
    if arguments.present and arguments.action is not None:
        raise CoreError("--action: the name of a new action; not with --present.")


def bake(arguments: argparse.Namespace) -> int:
    """Bake."""
    texts = outputs(arguments)
    armature, frames = motion_of(arguments)
    edit = Baked(bpy.context, armature, frames, arguments.bones, arguments.step, arguments.visual, arguments.mute)
    edit.solve()
    report = edit.write(armature, arguments.action, not arguments.present)
    if edit.unkeyed():
        tell(f"{edit.unkeyed()}.")
    return tell_report(arguments, report, texts)
