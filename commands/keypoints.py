"""`keypoints`: key a file of 3-D keypoints on an armature."""

import argparse
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.keypoints import AXES, LAYOUTS, METHODS, UNITS
from ..edits.info import find_armature
from ..edits.keypoints import READABLE, KeypointsJob, load_recording, perform_keypoints
from ..edits.parts import check_sure
from .verbs import Verb, add_action, add_armature, add_ground, add_mapping, take_ground, tell, tell_report

_CHOICES: Final = {None: None, "yes": True, "no": False, "hips": True, "feet": False}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="FILE", type=Path, required=True, help=", ".join(READABLE))
    parser.add_argument("--layout", choices=LAYOUTS, help="what the points are, in place of what the file says")
    add_mapping(parser, "which markers are which marks, or which bones of a figure are which parts")
    add_armature(parser)
    parser.add_argument("--unit", choices=("auto", *UNITS), default="auto", help="of the points")
    parser.add_argument(
        "--up", choices=("auto", *AXES), default="auto", help="write --up=-Y for those that begin with -"
    )
    parser.add_argument("--fps", type=float, help="frames a second, in place of the times or rate in the file")
    parser.add_argument("--start", type=int, default=1, help="the frame of the first key")
    parser.add_argument("--method", choices=METHODS, default="corrected", help="how turns are found")
    parser.add_argument("--noise", metavar="MM", type=float, help="by how much points are off, if not to be measured")
    parser.add_argument("--raw", dest="smooth", action="store_false", help="do not filter")
    parser.add_argument("--exchange", choices=("yes", "no"), help="left and right are exchanged in the file, or not")
    parser.add_argument("--travel", choices=("hips", "feet"), help="what says where the body goes")
    parser.add_argument("--no-lock", dest="lock_feet", action="store_false", help="let feet slide")
    parser.add_argument("--no-limits", dest="limits", action="store_false", help="let joints leave their limits")
    parser.add_argument("--exact", action="store_true", help="bring wrists and ankles to where their points are")
    add_ground(parser)
    add_action(parser)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.fps is not None and not 0.0 < arguments.fps < np.inf:
        raise CoreError(f"--fps: must be a positive number, not {arguments.fps}.")
    if arguments.noise is not None and not 0.0 <= arguments.noise < np.inf:
        raise CoreError(f"--noise: must be 0 or a positive number, not {arguments.noise}.")


def _keypoints(arguments: argparse.Namespace) -> int:
    given = {field.name: getattr(arguments, field.name) for field in fields(KeypointsJob)}  # options have these names
    job = KeypointsJob(**given | {name: _CHOICES[given[name]] for name in ("exchange", "travel")})
    armature = find_armature(arguments.armature)
    take_ground(arguments, armature)
    check_sure(armature)
    recording = load_recording(bpy.context, arguments.input, job.layout, arguments.mapping)
    report, found = perform_keypoints(bpy.context, armature, recording, job)
    for note in found.notes:
        tell(note)
    return tell_report(arguments, report, **asdict(found))


VERB: Final = Verb("keypoints", "key a body's motion from 3-D keypoints", _options, _keypoints, _check, mapped=False)
