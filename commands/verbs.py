"""What all verbs of `blender --command poise` share: options, files, what they tell; and `info` and `solve`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import bpy

from .. import bridge
from ..core import CoreError
from ..core.errors import escape_controls
from ..core.formats.goals import APART, LOOKING, PLACED
from ..core.formats.job import JOB, Job, read
from ..core.formats.mapping import BodyMapping, read_mapping
from ..core.formats.report import Report
from ..core.formats.table import BLENDER_NAME, FRAMES, Table
from ..core.skeleton import no_bone
from ..edits.files import check_writable, open_blend, present_blend, same_file, write_files
from ..edits.info import describe, find_armature, find_armatures, summary
from ..edits.job import check_named, perform_job
from ..edits.motion_edit import check_lasting
from ..edits.parts import take_mapping
from ..edits.words import counted

DONE, UNMET, REFUSED, BROKEN, STOPPED = 0, 1, 2, 3, 130  # exit codes; the last as shells have it
FAULT = "This is a bug in Poise. Nothing was written."
FORMATS: Final = "All fields, with their ranges and meanings, are in docs/formats.md."

Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Verb:
    """A verb: its options and what it does.

    run      called with the file open and `texts`, the places of the report and of JSON; returns the exit code
    check    raises CoreError for what is wrong with the options in any file
    results  it writes a .blend file and a report
    mapped   the armatures of the opened file take --mapping; else the verb reads it
    formats  the fields of the files that it reads, for `--help`
    """

    name: str
    help: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Run
    check: Callable[[argparse.Namespace], None] | None = None
    results: bool = True
    mapped: bool = True
    formats: Mapping[str, tuple[Table, ...]] = field(default_factory=dict)

    def add(self, verbs: Any) -> None:
        """Add the verb's parser."""
        parser = verbs.add_parser(self.name, help=self.help, allow_abbrev=False)
        self.add_options(parser)
        if self.results:
            parser.add_argument("--output", metavar="O.blend", type=Path, help="file to save the result to")
            parser.add_argument("--overwrite", action="store_true", help="allow --output to be the opened file")
            parser.add_argument("--report", metavar="R.json", type=Path, help="file to write the report to")
        parser.add_argument("--blend", metavar="FILE", type=Path, help="the .blend file, or a clip, if none is open")
        parser.add_argument("--verbose", action="store_true", help="print seconds by phase, and all details of errors")
        add_json(parser)
        if self.mapped:
            add_mapping(parser)
        parser.set_defaults(verb=self.start, check=self.check)
        if self.formats:
            from ..core.formats.schema import help_text  # nothing else in Blender needs it

            tables = [f"{name}:\n{help_text(*fields)}" for name, fields in self.formats.items()]
            parser.epilog = "\n\n".join([*tables, FORMATS])
            parser.formatter_class = argparse.RawDescriptionHelpFormatter

    def start(self, arguments: argparse.Namespace) -> int:
        """Open the file, check the places to write, and run; return the exit code."""
        arguments.texts = outputs(arguments)
        bridge.check_stopped()  # what is called when a file is opened may have swallowed it
        if self.mapped:
            take_mapping(find_armatures(None), mapping_of(arguments))
        return self.run(arguments)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that prints or writes the result as JSON."""
    parser.add_argument(
        "--json", metavar="FILE", nargs="?", const=True, help="print one JSON object, or write it to FILE"
    )


def add_mapping(parser: argparse.ArgumentParser, what: str = "which bones are which parts of a body") -> None:
    """Add the option that names a mapping."""
    parser.add_argument("--mapping", metavar="FILE", type=Path, help=f"JSON: {what}")


def mapping_of(arguments: argparse.Namespace) -> BodyMapping:
    """Return the mapping that was named, empty if none was."""
    return BodyMapping() if arguments.mapping is None else read_mapping(arguments.mapping)


def add_armature(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the armature."""
    parser.add_argument("--armature", metavar="A", help="the armature, if there are several")


def add_motion(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which part of which motion is changed, and what the result is called."""
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="frame range of the motion")
    add_changed(parser)


def add_changed(parser: argparse.ArgumentParser) -> None:
    """Add the options that say whose motion is changed, and what the result is called."""
    add_armature(parser)
    parser.add_argument(
        "--layer", action="store_true", help="keep the previous motion on an NLA track below the new one"
    )
    add_action(parser)


def add_action(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the new action."""
    parser.add_argument("--action", metavar="NAME", type=_action, help="name of the new action")


def add_ground(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the ground."""
    parser.add_argument(
        "--ground", metavar="COLLECTION",
        help="collection of the file with the meshes that feet stand on; stored with the armature, by "
            "default its present one",
    )  # fmt: skip


def _action(name: str) -> str:
    try:
        return BLENDER_NAME.read(name, "it")
    except CoreError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("it: ").rstrip(".")) from error


def check_motion(arguments: argparse.Namespace) -> None:
    """Raise CoreError if the range of frames runs backwards, or beyond the frames of Blender."""
    if arguments.frames:
        FRAMES.read(arguments.frames, "--frames")


def armature_of(arguments: argparse.Namespace) -> Any:
    """Return the armature whose motion is changed, with the settings of --layer and --ground."""
    armature: Any = find_armature(arguments.armature)
    armature.poise_use_layers |= arguments.layer
    if "ground" in arguments:
        take_ground(arguments, armature)
    return armature


def take_ground(arguments: argparse.Namespace, armature: Any) -> None:
    """Give the armature the ground that is asked for; raises CoreError where the file does not have it."""
    if arguments.ground is not None:
        collection = bpy.data.collections.get(arguments.ground)
        if collection is None:
            raise CoreError(f'--ground: the file has no collection "{arguments.ground}".')
        armature.poise_ground = collection


def motion_of(
    arguments: argparse.Namespace, check: Callable[[Any], object] | None = None
) -> tuple[bpy.types.Object, tuple[int, int]]:
    """Return the armature and the frames that were asked for, by default those of its keys.

    check: is called with the armature and raises CoreError for names that it does not have, before anything about its
    action is said. Raises CoreError for frames outside the motion.
    """
    armature = armature_of(arguments)
    if check is not None:
        check(armature)
    return armature, frames_within(arguments, bridge.keyed_range(armature))


def check_bones(armature: Any, bones: Sequence[str]) -> None:
    """Raise CoreError for names of no bones."""
    names = armature.data.bones.keys()
    for bone in bones:
        if bone not in names:
            raise no_bone(bone, names)


def frames_within(arguments: argparse.Namespace, whole: tuple[int, int]) -> tuple[int, int]:
    """Return the frames that were asked for, by default the `whole` motion; raises CoreError for frames outside it."""
    if not arguments.frames:
        return whole
    first, last = arguments.frames
    if first < whole[0] or last > whole[1]:
        raise CoreError(
            f"--frames: {first} to {last} is not within the motion, which has frames {whole[0]} to {whole[1]}."
        )
    return first, last


def _info_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--armature", metavar="A", help="only this armature")


def _info(arguments: argparse.Namespace) -> int:
    entries = [describe(armature) for armature in find_armatures(arguments.armature)]
    for entry in entries:
        tell(summary(entry))
    data = {"armatures": entries}
    write_files(None, {path: one_line(data) for path in arguments.texts})
    show(arguments, data)
    return DONE


def _solve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--job", metavar="JOB.json", type=Path, required=True, help="what to do")


def _solve(arguments: argparse.Namespace) -> int:
    return carry_out(arguments, read(arguments.job))


JOB_FIELDS: Final = {"JOB.json": (JOB,), "a goal": (PLACED, LOOKING, APART)}
VERBS: Final = (
    Verb("info", "list the armatures of the file", _info_options, _info, results=False),
    Verb("solve", "run a job and key it", _solve_options, _solve, formats=JOB_FIELDS),
)


def carry_out(arguments: argparse.Namespace, job: Job) -> int:
    """Do a job and write what was asked for; return the exit code."""
    armature = find_armature(job.armature)
    check_named(bpy.context, armature, job)
    check_lasting(armature, job.write.key, 'Use "frames", or "write": {"key": true} to key the current frame.')
    return tell_report(arguments, perform_job(bpy.context, armature, job))


def tell_report(arguments: argparse.Namespace, report: Report, **more: object) -> int:
    """Write the files that were asked for and tell the report; return the exit code. `more` is added to the report."""
    bridge.check_stopped()
    data = {**report.data(), **more}
    write_files(arguments.output, {path: one_line(data) for path in arguments.texts})
    for explanation in report.explanations:
        tell(explanation)
    tell(
        f"{report.armature}: {report.converged_frames} of {counted(len(report.frames), 'frame')} met, "
        f"{counted(len(report.rotated), 'bone')} rotated, "
        + (f"{len(report.grown)} stretched, " if report.grown else "")
        + (f'keyed in "{report.action}"' if report.action else "nothing keyed")
    )
    if arguments.verbose:
        tell(", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in report.seconds.items()))
    if report.pose is not None:
        far, turned = report.pose.position_error, report.pose.rotation_error
        assert far is not None
        assert turned is not None
        tell(f"Blender shows the pose within {1000.0 * far.max():.2g} mm and {turned.max():.2g} degrees.")
    tell(f'Saved as "{arguments.output}".' if arguments.output else "Not saved: --output is missing.")
    show(arguments, data)
    return DONE if report.met and report.shown else UNMET


def outputs(arguments: argparse.Namespace) -> list[Path]:
    """Open the file and return the places of texts.

    Raises CoreError if a file cannot be written, or would be written over one that is read.
    """
    blend: Path | None = arguments.blend
    if blend is not None:
        open_blend(blend)
    opened = blend or present_blend()
    output: Path | None = getattr(arguments, "output", None)
    texts = [
        *(getattr(arguments, name, None) for name in ("report", "learn", "file")),
        Path(arguments.json) if isinstance(arguments.json, str) else None,
    ]
    texts = [path for path in texts if path is not None]
    if output is not None and output.name == ".blend":
        raise CoreError(f'"{output}" has no name before ".blend".')
    if output is not None and output.suffix != ".blend":
        raise CoreError(f'"{output}" does not end in ".blend".')
    places = texts if output is None else [output, *texts]
    for number, path in enumerate(places):
        check_writable(path)
        if any(same_file(path, other) for other in places[:number]):
            raise CoreError(f'"{path}" is given twice as a file to write.')
        for kind in ("job", "list", "input", "recipe", "mapping", "library"):
            source: Path | None = getattr(arguments, kind, None)
            if source is not None and same_file(path, source):
                raise CoreError(f'"{path}" is the {kind} file and is not overwritten.')
        for library in bpy.data.libraries:
            if same_file(path, Path(bpy.path.abspath(library.filepath))):
                raise CoreError(f'"{path}" is linked by the opened file and is not overwritten.')
        if opened is not None and same_file(path, opened):
            if path is not output:
                raise CoreError(f'"{path}" is the opened file and is not overwritten.')
            if not arguments.overwrite:
                raise CoreError(f'"{path}" is the opened file. Use --overwrite to overwrite it.')
    return texts


def tell(line: str) -> None:
    """Print a line for people; names in it, from a stranger's file, are shown and never obeyed."""
    print(escape_controls(line), file=sys.stderr, flush=True)


def show(arguments: argparse.Namespace, data: object) -> None:
    """Print a JSON object if it was asked for."""
    if arguments.json is True:
        # the empty line ends what Blender may have begun to print
        try:
            sys.stdout.write(f"\n{one_line(data)}")
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has gone, e.g. `| head`; Python would try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(data: object) -> str:
    """Return JSON as one line of ASCII, which every terminal can show; raises ValueError for NaN, which is no JSON."""
    return json.dumps(data, allow_nan=False) + "\n"
