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
from ..core.formats.table import FRAME
from ..core.keypoints import UNITS
from ..edits.clips import MOTIONS, ClipOptions, assumed
from ..edits.files import write_files
from ..edits.info import find_armature
from ..edits.motion_edit import unused_name
from ..edits.motion_files import DONE as MADE
from ..edits.motion_files import NAMING, THERE, MotionFiles, check_naming, find_motions, option_words, summary
from ..edits.parts import check_sure, take_mapping
from ..edits.retarget import FADE, PARTS, Retargeted, imported, parts_of
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
        help=f"file with the motion: {', '.join(MOTIONS)}; of several files, or of folders, all motions "
            "become actions of one file",
    )  # fmt: skip
    source.add_argument("--source", metavar="A", help="armature with the motion in that file")
    add_mapping(parser, "which bones of both bodies are which parts")
    parser.add_argument("--take", metavar="NAME", default="", help="motion to use, if the file has several")
    parser.add_argument(
        "--up",
        choices=DIRECTED_AXES,
        help=("axis that points up in an SMPL motion, by default the one along which the body stands; write --up=-Y"),
    )
    parser.add_argument(
        "--unit", choices=UNITS, help="unit of the location of the body in an SMPL motion, by default m"
    )
    parser.add_argument(
        "--body-model", metavar="MODEL.npz", type=Path, help="body model of SMPL with the proportions for SMPL motions"
    )
    parser.add_argument(
        "--parts", nargs="+", default=[], metavar="PART",
        help=f"retarget only these, over the current motion: bones, roles, arm.L, leg.R, spine, {', '.join(PARTS)}",
    )  # fmt: skip
    parser.add_argument(
        "--fade", type=float, default=FADE, metavar="S",
        help="seconds over which parts blend into the current motion at both ends",
    )  # fmt: skip
    parser.add_argument("--start", metavar="FRAME", type=int, help="first frame, by default as in the source")
    parser.add_argument(
        "--source-keys",
        action="store_true",
        help="key only the frames at which the source has keys; feet are not planted",
    )
    parser.add_argument(
        "--scale", action="store_true", help="copy the scale of bones, and of the source object to the hips"
    )
    parser.add_argument(
        "--hands",
        action="store_true",
        help="hold hands that rest on meshes of the ground, such as rails, or slide along them",
    )
    parser.add_argument(
        "--names", metavar="PATTERN", default=NAMING,
        help=f'names of the actions of several motions: "{NAMING.replace("%", "%%")}", also {{number}}',
    )  # fmt: skip
    parser.add_argument("--assets", action="store_true", help="mark the actions of several motions as assets")
    parser.add_argument(
        "--strips", action="store_true", help="add the actions of several motions to an NLA track, one after the other"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="number of processes for several motions"
    )
    add_feet(parser)
    add_motion(parser)


def _retarget(arguments: argparse.Namespace) -> int:
    armature, context = armature_of(arguments), bpy.context
    takes, assumptions = list[str](), list[str]()
    mapping = mapping_of(arguments)
    if arguments.source is not None:
        edit = _retargeted(arguments, armature, find_armature(arguments.source, "--source"), mapping)
        name = arguments.source
    elif _is_many(arguments):
        return _retarget_files(arguments, armature)
    else:
        (motion,) = arguments.motion
        name = motion.stem
        options = ClipOptions(arguments.up, arguments.body_model, arguments.unit)
        with imported(context, motion, arguments.take, options) as (source, takes):
            name = takes[0] if len(takes) > 1 else name
            edit = _retargeted(arguments, armature, source, mapping)
        assumptions = assumed(motion, options)
    edit.solve()
    report = edit.write(armature, arguments.action or unused_name(f"{armature.name} {name}"))
    tell(f'The motion of "{name}", {len(edit.pins)} ground contacts.')
    for sentence in [*assumptions, *edit.jumps()]:
        tell(f"{sentence}.")
    if len(takes) > 1:
        tell(f"Takes in the file: {', '.join(takes)}.")
    return tell_report(arguments, report, takes=takes)


def _check_retarget(arguments: argparse.Namespace) -> None:
    check_motion(arguments)
    check_naming(arguments.names)
    if arguments.start is not None:
        FRAME.read(arguments.start, "--start")
    if arguments.jobs < 1:
        raise CoreError(f"--jobs: must be at least 1, not {arguments.jobs}.")
    if _is_many(arguments):
        if arguments.output is None:
            raise CoreError("--output: needed for several motions.")
    elif arguments.assets or arguments.strips:
        raise CoreError("--assets and --strips: only for several motions.")


def _is_many(arguments: argparse.Namespace) -> bool:
    motions: list[Path] = arguments.motion or []
    return len(motions) > 1 or any(motion.is_dir() for motion in motions)


def _retarget_files(arguments: argparse.Namespace, armature: Any) -> int:
    """Retarget several files; after Ctrl-C write what is done."""
    for name in ("take", "action", "frames"):
        if getattr(arguments, name) not in (None, "", []):
            raise CoreError(f"--{name}: only for one file.")
    if arguments.mapping is None:  # parts that are missing would fail in every file
        body = bridge.read_body(armature)
        parts_of(body.skeleton, body.roles, arguments.parts)
    mapping, model = (path and path.resolve() for path in (arguments.mapping, arguments.body_model))
    words = option_words({
        "no-feet": arguments.no_feet, "hands": arguments.hands, "source-keys": arguments.source_keys,
        "scale": arguments.scale, "mapping": mapping, "up": arguments.up, "unit": arguments.unit, "body-model": model,
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
        if not files.done:
            raise
        stopped = True
        tell("Stopped. Use the output as --blend to continue.")
    rows = files.write(bpy.context, armature, arguments.names, arguments.assets, arguments.strips)
    data = {"armature": armature.name, "motions": [asdict(row) for row in rows]}
    write_files(arguments.output, {path: one_line(data) for path in arguments.texts})
    for row in rows:
        tell(f"{row.sentence()}.")
    tell(f"{summary(rows)[1]}.")
    tell(f'Saved as "{arguments.output}".')
    show(arguments, data)
    if stopped:
        return STOPPED
    return DONE if all(row.state in (MADE, THERE) for row in rows) else UNMET


def _retargeted(arguments: argparse.Namespace, armature: Any, source: Any, mapping: BodyMapping) -> Retargeted:
    """Return the motion of another armature on an armature; raises CoreError for parts that are guesses."""
    take_mapping([armature, source], mapping)
    check_sure(armature)
    check_sure(source, by_motion=True)
    frames = None if arguments.frames is None else frames_within(arguments, bridge.keyed_range(source))
    return Retargeted(
        bpy.context, armature, source, frames, not arguments.no_feet, arguments.parts, arguments.fade, arguments.start,
        arguments.source_keys, arguments.scale, arguments.hands,
    )  # fmt: skip


VERB: Final = Verb(
    "retarget", "retarget the motion of another body", _retarget_options, _retarget, _check_retarget, mapped=False
)
