"""`contribute`: do a job by contribution CCD with a list of its own, or learn a list from the armature's motion."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from .. import bridge
from ..core import CoreError
from ..core.contribution import PRESETS
from ..core.formats.chain_list import ENTRY, FILE, Ccd, actuations_data, list_text, read_list_file
from ..core.formats.job import read
from ..edits.contribute import keyed_part, learn_chain, with_list
from ..edits.files import write_files
from ..edits.info import find_armature
from .verbs import DONE, JOB_FIELDS, Verb, carry_out, one_line, show, tell

_OURS: Final = {"actuations": "list", "base": "base", "chain": "chain"}  # of a job's method; the options say them here


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chain", metavar="BASE:EFFECTOR", help="first and last bone of the chain")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--list", metavar="LIST.json", type=Path, help="file with the joints in order, and their shares"
    )
    source.add_argument("--preset", choices=PRESETS, help="list that comes with Poise")
    source.add_argument("--saved", metavar="NAME", help="chain of the armature, with its list and its settings")
    source.add_argument(
        "--learn", metavar="LIST.json", type=Path, help="find the list that fits the motion best, and write it"
    )
    parser.add_argument("--job", metavar="JOB.json", type=Path, help="what to do; not with --learn")
    parser.add_argument("--armature", metavar="A", help="with --learn: the armature, if there are several")
    parser.add_argument(
        "--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="with --learn: frame range of the motion"
    )


def _contribute(arguments: argparse.Namespace) -> int:
    if arguments.learn is not None:
        return _learn(arguments)
    if arguments.job is None:
        raise CoreError("--job is missing. It says what to do.")
    _refuse(arguments, ("armature", "frames"), "only with --learn; the job has its own")
    job = read(arguments.job)
    if job.chosen and job.ccd is None:
        raise CoreError(
            f'The job has the "method" "{job.method}", but contribute runs jobs with "ccd", or without a method.'
        )
    if arguments.saved is not None:
        _refuse(arguments, ("chain",), "not with --saved; that chain has its ends")
        if job.ccd is not None and job.ccd.said:
            raise CoreError('--saved: the chain has its own list and settings; remove "method" from the job.')
        return carry_out(arguments, replace(job, ccd=Ccd(chain=arguments.saved)))
    own = sorted(job.ccd.said & _OURS.keys()) if job.ccd is not None else []
    if own:
        raise CoreError(
            f"method.{_OURS[own[0]]}: the chain and its list come from the options; remove it from the job."
        )
    armature = find_armature(job.armature)
    listed = arguments.preset if arguments.list is None else read_list_file(arguments.list)
    return carry_out(arguments, with_list(armature, job, arguments.chain, listed))


def _learn(arguments: argparse.Namespace) -> int:
    _refuse(arguments, ("job", "output", "report"), "not with --learn; it changes nothing")
    armature = find_armature(arguments.armature)
    frames = keyed_part(armature, arguments.frames)
    if arguments.frames not in (None, list(frames)):
        begin, end = bridge.keyed_range(armature)
        tell(f"{armature.name}: the action has frames {begin} to {end}; other frames are left out.")
    found = learn_chain(armature, arguments.chain, frames)
    data = {
        "armature": armature.name,
        "frames": list(frames),
        "list": actuations_data(found.actuations),
        "error": float(np.degrees(found.error)),
        "error_by_bone": {bone: float(np.degrees(error)) for bone, error in found.joint_errors.items()},
        "uniform_error": float(np.degrees(found.uniform_error)),
    }
    lists = {arguments.learn: list_text(Ccd(actuations=found.actuations, successive=True))}
    write_files(None, {path: one_line(data) for path in arguments.texts if path != arguments.learn} | lists)
    tell(
        f"{armature.name}: a list of {len(found.actuations)} entries follows the motion to "
        f"{data['error']:.2f} degrees per joint; with equal shares of all joints, to "
        f"{data['uniform_error']:.2f}."
    )
    show(arguments, data)
    return DONE


def _refuse(arguments: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Raise CoreError if one of these options was given."""
    given = next((name for name in names if getattr(arguments, name) is not None), None)
    if given is not None:
        raise CoreError(f"--{given}: {why}.")


VERB: Final = Verb(
    "contribute", "pose one chain by a list of its joints' shares", _options, _contribute,
    formats={"LIST.json": (FILE,), "an entry of the list": (ENTRY,), **JOB_FIELDS},
)  # fmt: skip
