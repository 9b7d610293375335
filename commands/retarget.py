"""`retarget`: the motion of another armature, of a file, or of many files."""

import argparse
import os
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import bpy

from .. import bridge
from ..core import CoreError
from ..core.body.axes import DIRECTED_AXES
from ..core.formats.mapping import BodyMapping
from ..edits.clips import MOTIONS, ClipOptions
from ..edits.files import write_files
from ..edits.info import find_armature
from ..edits.motion_files import DONE as MADE
from ..edits.motion_files import NAMING, THERE, MotionFiles, check_naming, find_motions, option_words, summary
from ..edits.parts import check_sure, take_mapping
from ..edits.retarget import FADE, PARTS, Retargeted, imported
from ..edits.words import counted
from .motion import add_feet
from .verbs import (
    DONE,
    STOPPED,
    UNMET,
    Verb,
    add_mapping,
    add_motion,
    armature_of,
    check_motion,
    frames_within,
    mapping_of,
    one_line,
    show,
    tell,
    tell_report,
)


def _retarget_options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--motion", metavar="FILE", type=Path, nargs="+",
        help=f"a file with it: {', '.join(MOTIONS)}; several, or folders: all their motions, as actions of one file",
    )  # fmt: skip
    source.add_argument("--source", metavar="A", help="the armature of the file that has it")
    add_mapping(parser, "which bones of either body are which parts")
    parser.add_argument("--take", metavar="NAME", default="", help="the one of several motions in the file")
    parser.add_argument(
        "--up", choices=DIRECTED_AXES, help="of a motion of SMPL, by default as the body stands; write --up=-Y"
    )
    parser.add_argument(
        "--body-model", metavar="MODEL.npz", type=Path, help="of SMPL, whose proportions motions of SMPL have"
    )
    parser.add_argument(
        "--parts", nargs="+", default=[], metavar="PART",
        help=f"only these, over the motion that the body has: bones, roles, arm.L, leg.R, spine, {', '.join(PARTS)}",
    )  # fmt: skip
    parser.add_argument(
        "--fade", type=float, default=FADE, metavar="S",
        help="seconds in which parts come and go, where the motion of the body goes on",
    )  # fmt: skip
    parser.add_argument("--start", metavar="FRAME", type=int, help="where it begins, by default as in the source")
    parser.add_argument(
        "--source-keys", action="store_true", help="keys only where the source has keys; feet are not planted"
    )
    parser.add_argument("--scale", action="store_true", help="scale bones as the source's, and the hips as its object")
    parser.add_argument(
        "--hands", action="store_true", help="hold the hands where they rest on meshes of the ground, such as rails"
    )
    parser.add_argument(
        "--names", metavar="PATTERN", default=NAMING,
        help=f"of the actions of several: \"{NAMING.replace('%', '%%')}\", also {{number}}",
    )  # fmt: skip
    parser.add_argument("--assets", action="store_true", help="mark the actions of several as assets")
    parser.add_argument("--strips", action="store_true", help="line the motions of several up on an NLA track")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes for several")
    add_feet(parser)
    add_motion(parser)


def _retarget(arguments: argparse.Namespace) -> int:
    armature, context = armature_of(arguments), bpy.context
    takes: list[str] = []
    mapping = mapping_of(arguments)
    if arguments.source is not None:
        edit = _retargeted(arguments, armature, find_armature(arguments.source), mapping)
        name = arguments.source
    elif len(arguments.motion) > 1 or arguments.motion[0].is_dir():
        return _retarget_files(arguments, armature)
    else:
        (motion,) = arguments.motion
        name = motion.stem
        options = ClipOptions(arguments.up, arguments.body_model)
        with imported(context, motion, arguments.take, options) as (source, takes):
            name = takes[0] if len(takes) > 1 else name
            edit = _retargeted(arguments, armature, source, mapping)
    edit.solve()
    report = edit.write(armature, arguments.action or f"{armature.name} {name}")
    tell(f'The motion of "{name}", {len(edit.pins)} touches of the ground.')
    if len(takes) > 1:
        tell(f"The takes of the file: {', '.join(takes)}.")
    return tell_report(arguments, report, takes=takes)


def _check_retarget(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    check_naming(arguments.names)
    if arguments.jobs < 1:
        raise CoreError(f"--jobs: must be at least 1, not {arguments.jobs}.")


def _retarget_files(arguments: argparse.Namespace, armature: Any) -> int:
    """Retarget several files; after Ctrl-C write what is done."""
    for name in ("take", "action", "frames"):
        if getattr(arguments, name) not in (None, "", []):
            raise CoreError(f"--{name}: only for one file.")
    mapping, model = (path and path.resolve() for path in (arguments.mapping, arguments.body_model))
    words = option_words({
        "no-feet": arguments.no_feet, "hands": arguments.hands, "source-keys": arguments.source_keys,
        "scale": arguments.scale, "mapping": mapping, "up": arguments.up, "body-model": model,
        "parts": arguments.parts, "fade": arguments.fade if arguments.parts else None, "start": arguments.start,
    })  # fmt: skip
    files = MotionFiles(bpy.context, armature, find_motions(arguments.motion), words, arguments.jobs)
    stopped, told = False, files.done
    try:
        with bridge.interruptible(), closing(files.work()) as work:  # Ctrl-C is for the work alone
            for _ in work:
                if files.done > told:
                    told = files.done
                    tell(f"{told} of {counted(files.count, 'file')} done.")
    except KeyboardInterrupt:
        stopped = True
        tell("Stopped. Give the output as --blend to go on.")
    rows = files.write(bpy.context, armature, arguments.names, arguments.assets, arguments.strips)
    data = {"armature": armature.name, "motions": [asdict(row) for row in rows]}
    write_files(arguments.output, {path: one_line(data) for path in arguments.texts})
    for row in rows:
        tell(f"{row.sentence()}.")
    tell(f"{summary(rows)[1]}.")
    tell(f'Saved as "{arguments.output}".' if arguments.output else "Not saved: there was no --output.")
    show(arguments, data)
    if stopped:
        return STOPPED
    return DONE if all(row.state in (MADE, THERE) for row in rows) else UNMET


def _retargeted(arguments: argparse.Namespace, armature: Any, source: Any, mapping: BodyMapping) -> Retargeted:
    """Return the motion of another armature on an armature; raises CoreError for parts that are guesses."""
    take_mapping([armature, source], mapping)
    check_sure(armature)
    check_sure(source, by_motion=True)
    frames = frames_within(arguments, bridge.keyed_range(source))
    return Retargeted(
        bpy.context, armature, source, frames, not arguments.no_feet, arguments.parts, arguments.fade, arguments.start,
        arguments.source_keys, arguments.scale, arguments.hands,
    )  # fmt: skip


VERB: Final = Verb(
    "retarget", "bring a motion from another body", _retarget_options, _retarget, _check_retarget, mapped=False
)
