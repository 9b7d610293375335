"""The verbs of `blender --command poise`: what they take, and what they do with it."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import bpy

from ..core import CoreError
from ..core.formats.job import Job, read
from ..core.formats.report import Report
from ..edits.files import check_writable, open_blend, present_blend, same_file, write_files
from ..edits.info import describe, find_armatures, sentence
from ..edits.job import perform_job

DONE, UNMET, REFUSED, BROKEN, STOPPED = 0, 1, 2, 3, 130  # exit codes; the last as shells have it
FAULT = "This is a fault of Poise; nothing is written."


def add_info(verbs: Any) -> None:
    parser = verbs.add_parser("info", help="print what the file's armatures are made of", allow_abbrev=False)
    parser.add_argument("--armature", metavar="A", help="this armature only")
    add_common(parser)
    parser.set_defaults(verb=info)


def add_solve(verbs: Any) -> None:
    parser = verbs.add_parser("solve", help="do a job and key it", allow_abbrev=False)
    parser.add_argument("--job", metavar="JOB.json", type=Path, required=True, help="what to do")
    add_results(parser)
    add_common(parser)
    parser.set_defaults(verb=solve)


def add_results(parser: argparse.ArgumentParser) -> None:
    """Where the result of a job goes."""
    parser.add_argument("--output", metavar="O.blend", type=Path, help="save the result there")
    parser.add_argument("--overwrite", action="store_true", help="let --output be the file that was opened")
    parser.add_argument("--report", metavar="R.json", type=Path, help="write the report there")


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--blend", metavar="FILE", type=Path, help="the .blend file, or a clip, where none was opened")
    parser.add_argument(
        "--json", metavar="FILE", nargs="?", const=True, help="print one JSON object, or write it to FILE"
    )


def info(arguments: argparse.Namespace) -> int:
    """List the armatures."""
    texts = outputs(arguments)
    entries = [describe(armature) for armature in find_armatures(arguments.armature)]
    for entry in entries:
        tell(sentence(entry))
    data = {"armatures": entries}
    write_files(None, {path: one_line(data) for path in texts})
    show(arguments, data)
    return DONE


def solve(arguments: argparse.Namespace) -> int:
    """Do a job; returns 1 if a goal is not met."""
    texts = outputs(arguments)
    return carry_out(arguments, read(arguments.job), texts)


def carry_out(arguments: argparse.Namespace, job: Job, texts: list[Path]) -> int:
    """Do a job and write what was asked for; the report goes to `texts`."""
    armature = armature_of(job.armature)
    check_lasting(armature, job.write.key, 'Ask for "frames", or for a key with "write": {"key": true}.')
    return tell_report(arguments, perform_job(bpy.context, armature, job), texts)


def tell_report(arguments: argparse.Namespace, report: Report, texts: list[Path], **more: object) -> int:
    """Save what was asked for and say what came of it; `more` goes into the report, too."""
    data = {**report.data(), **more}
    write_files(arguments.output, {path: one_line(data) for path in texts})
    for explanation in report.explanations:
        tell(explanation)
    frames = len(report.frames)
    tell(
        f"{report.armature}: {report.converged_frames} of {frames} {'frame' if frames == 1 else 'frames'} met, "
        f"{len(report.rotated)} {'bone' if len(report.rotated) == 1 else 'bones'} turned, "
        + (f"{len(report.grown)} stretched, " if report.grown else "")
        + (f'keyed in "{report.action}"' if report.action else "nothing keyed")
    )
    tell(f'Saved as "{arguments.output}".' if arguments.output else "Not saved: there was no --output.")
    show(arguments, data)
    return DONE if report.met else UNMET


def outputs(arguments: argparse.Namespace) -> list[Path]:
    """Open the file and check all that is to be written; returns where texts go."""
    blend: Path | None = arguments.blend
    if blend is not None:
        open_blend(blend)
    opened = blend or present_blend()
    output: Path | None = getattr(arguments, "output", None)
    texts = [
        getattr(arguments, "report", None),
        getattr(arguments, "learn", None),
        Path(arguments.json) if isinstance(arguments.json, str) else None,
    ]
    texts = [path for path in texts if path is not None]
    if output is not None and output.suffix != ".blend":
        raise CoreError(f'"{output}" does not end in ".blend".')
    places = texts if output is None else [output, *texts]
    for number, path in enumerate(places):
        check_writable(path)
        if any(same_file(path, other) for other in places[:number]):
            raise CoreError(f'"{path}" is named twice as a file to write.')
        for kind in ("job", "list", "input", "recipe"):
            source: Path | None = getattr(arguments, kind, None)
            if source is not None and same_file(path, source):
                raise CoreError(f'"{path}" is the {kind} file; it is not written over.')
        for library in bpy.data.libraries:
            if same_file(path, Path(bpy.path.abspath(library.filepath))):
                raise CoreError(f'"{path}" is linked by the file that was opened; it is not written over.')
        if opened is not None and same_file(path, opened):
            if path is not output:
                raise CoreError(f'"{path}" is the file that was opened; it is not written over.')
            if not arguments.overwrite:
                raise CoreError(f'"{path}" is the file that was opened; say --overwrite to write over it.')
    return texts


def armature_of(name: str | None) -> bpy.types.Object:
    """The armature of that name, or the only one of the file; raises CoreError where there is none, or several."""
    found = find_armatures(name)
    if len(found) > 1:
        names = ", ".join(f'"{armature.name}"' for armature in found)
        raise CoreError(f"armature: missing; the file has {names}.")
    return found[0]


def check_lasting(armature: bpy.types.Object, keyed: bool, way_out: str) -> None:
    """Raises CoreError if the armature's animation would put another pose in place of an unkeyed one."""
    data = armature.animation_data
    if keyed or data is None:
        return
    if data.action is not None or any(not track.mute and len(track.strips) for track in data.nla_tracks):
        source = f'the action "{data.action.name}"' if data.action else "its NLA tracks"
        raise CoreError(
            f'"{armature.name}" is animated by {source}: a pose without keys would be lost when the file is opened '
            f"again. {way_out}"
        )


def tell(line: str) -> None:
    """A line for people."""
    print(line, file=sys.stderr, flush=True)


def show(arguments: argparse.Namespace, data: object) -> None:
    """Print the JSON object that was asked for."""
    if arguments.json is True:
        # the empty line ends whatever Blender may have begun to print
        try:
            sys.stdout.write(f"\n{one_line(data)}")
            sys.stdout.flush()
        except BrokenPipeError:  # who was to read it has gone, e.g. `| head`; Python would try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(data: object) -> str:
    """One line of ASCII, whatever the terminal; NaN would not be JSON."""
    return json.dumps(data, allow_nan=False) + "\n"
