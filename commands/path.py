"""`edit-path`: the way of a motion over the ground, moved, scaled or bent, with the feet planted anew."""

import argparse
from typing import Any

import bpy

from ..edits.path import EASE, PathEdit, check_path
from .feet import add_motion, check_motion, motion_of
from .verbs import outputs, tell_report


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
    armature, frames = motion_of(arguments)
    edit = PathEdit(
        bpy.context, armature, frames, arguments.offset, arguments.scale, arguments.bend, not arguments.no_feet,
        arguments.ease,
    )  # fmt: skip
    edit.solve()
    return tell_report(arguments, edit.write(armature, arguments.action), texts)
