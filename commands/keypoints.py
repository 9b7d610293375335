"""`keypoints`: key a file of 3-D keypoints on an armature."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Final

import bpy
import numpy as np

from ..core import CoreError
from ..core.keypoints import AXES, LAYOUTS, METHODS, UNITS
from ..edits.info import find_armature
from ..edits.keypoints import READABLE, KeypointsJob, load_recording, perform_keypoints
from .verbs import Verb, add_action, add_armature, tell, tell_report


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", metavar="FILE", type=Path, required=True, help=", ".join(READABLE))
    parser.add_argument("--layout", choices=LAYOUTS, help="what the points are, in place of what the file says")
    parser.add_argument("--mapping", metavar="FILE", type=Path, help="JSON: markers of marks, or bones of parts")
    add_armature(parser)
    parser.add_argument("--unit", choices=("auto", *UNITS), default="auto", help="of the points")
    parser.add_argument(
        "--up", choices=("auto", *AXES), default="auto", help="write --up=-Y for those that begin with -"
    )
    parser.add_argument("--fps", type=float, help="frames a second, in place of the times or rate in the file")
    parser.add_argument("--start", type=int, default=1, help="the frame of the first key")
    parser.add_argument("--method", choices=METHODS, default="corrected", help="how turns are found")
    parser.add_argument("--noise", metavar="MM", type=float, help="by how much points are off, if not to be measured")
    parser.add_argument("--raw", action="store_true", help="do not filter")
    parser.add_argument("--exchange", choices=("yes", "no"), help="left and right are exchanged in the file, or not")
    parser.add_argument("--travel", choices=("hips", "feet"), help="what says where the body goes")
    parser.add_argument("--no-lock", action="store_true", help="let feet slide")
    parser.add_argument("--no-limits", action="store_true", help="let joints leave their limits")
    parser.add_argument("--exact", action="store_true", help="bring wrists and ankles to where their points are")
    add_action(parser)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.fps is not None and not 0.0 < arguments.fps < np.inf:
        raise CoreError(f"--fps: must be a positive number, not {arguments.fps}.")
    if arguments.noise is not None and not 0.0 <= arguments.noise < np.inf:
        raise CoreError(f"--noise: must be 0 or a positive number, not {arguments.noise}.")


def _keypoints(arguments: argparse.Namespace) -> int:
    job = KeypointsJob(
        layout=arguments.layout,
        unit=arguments.unit,
        up=arguments.up,
        fps=arguments.fps,
        start=arguments.start,
        method=arguments.method,
        noise=arguments.noise,
        smooth=not arguments.raw,
        exchange=None if arguments.exchange is None else arguments.exchange == "yes",
        travel=None if arguments.travel is None else arguments.travel == "hips",
        lock_feet=not arguments.no_lock,
        limits=not arguments.no_limits,
        exact=arguments.exact,
        action=arguments.action,
    )
    recording = load_recording(bpy.context, arguments.input, job.layout, arguments.mapping)
    report, found = perform_keypoints(bpy.context, find_armature(arguments.armature), recording, job)
    for note in found.notes:
        tell(note)
    return tell_report(arguments, report, **asdict(found))


VERB: Final = Verb("keypoints", "key a body's motion from 3-D keypoints", _options, _keypoints, _check)
