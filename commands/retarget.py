"""`retarget`: the motion of one body, also of a BVH, FBX or glTF file, on another."""

import argparse
from pathlib import Path
from typing import Any

import bpy

from ..edits.files import MOTIONS
from ..edits.retarget import Retargeted, imported
from .feet import add_motion
from .verbs import armature_of, outputs, tell, tell_report


def add_retarget(verbs: Any) -> None:
    parser = verbs.add_parser("retarget", help="bring a motion from another body", allow_abbrev=False)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--motion", metavar="FILE", type=Path, help=f"a file with it: {', '.join(MOTIONS)}")
    source.add_argument("--source", metavar="A", help="the armature of the file that has it")
    parser.add_argument("--take", metavar="NAME", default="", help="the one of several motions in the file")
    parser.add_argument("--no-feet", action="store_true", help="do not plant the feet")
    add_motion(parser)
    parser.set_defaults(verb=bring)


def bring(arguments: argparse.Namespace) -> int:
    """Bring a motion; returns 1 if a foot is off its place."""
    texts = outputs(arguments)
    armature, context = armature_of(arguments.armature), bpy.context
    frames = tuple(arguments.frames) if arguments.frames else None
    takes: list[str] = []
    if arguments.source is not None:
        edit = Retargeted(context, armature, armature_of(arguments.source), frames, not arguments.no_feet)
        name = arguments.source
    else:
        name = arguments.motion.stem
        with imported(context, arguments.motion, arguments.take) as (source, takes):
            name = takes[0] if len(takes) > 1 else name
            edit = Retargeted(context, armature, source, frames, not arguments.no_feet)
    edit.solve()
    report = edit.write(armature, arguments.action or f"{armature.name} {name}")
    tell(f'The motion of "{name}", {len(edit.pins)} touches of the ground.')
    if len(takes) > 1:
        tell(f"The takes of the file: {', '.join(takes)}.")
    return tell_report(arguments, report, texts, takes=takes)
