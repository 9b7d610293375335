"""`contribute`: a job by contribution CCD with a list of its own, or a list learnt from the armature's motion."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import bridge
from ..core import Actuation, ContributionCCD, CoreError, Skeleton
from ..core.contribution import PRESETS, learn, preset, with_hinges
from ..core.formats.chain_list import Ccd, actuations_data, list_text, read_list_file
from ..core.formats.job import on_bones, read
from ..core.formats.table import FRAMES
from ..edits.files import write_files
from .verbs import DONE, add_common, add_results, armature_of, carry_out, one_line, outputs, show, tell

_OURS: Final = {"actuations": "list", "base": "base", "chain": "chain"}  # of a job's method; the options say them here


def add_contribute(verbs: Any) -> None:
    parser = verbs.add_parser("contribute", help="pose one chain by a list of its joints' shares", allow_abbrev=False)
    parser.add_argument("--chain", metavar="BASE:EFFECTOR", help="the chain's first and last bone")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--list", metavar="LIST.json", type=Path, help="the joints in order, with their shares")
    source.add_argument("--preset", choices=PRESETS, help="a list that comes with Poise")
    source.add_argument("--saved", metavar="NAME", help="a chain of the armature, with its list and its numbers")
    source.add_argument("--learn", metavar="LIST.json", type=Path, help="write the list that fits the motion best")
    parser.add_argument("--job", metavar="JOB.json", type=Path, help="what to do; not with --learn")
    parser.add_argument("--armature", metavar="A", help="with --learn: the armature, if there are several")
    parser.add_argument("--frames", metavar=("FIRST", "LAST"), nargs=2, type=int, help="with --learn: a part of it")
    add_results(parser)
    add_common(parser)
    parser.set_defaults(verb=contribute)


def contribute(arguments: argparse.Namespace) -> int:
    """Do a job by contribution CCD, returns 1 if its goal is not met; or learn a list."""
    texts = outputs(arguments)
    if arguments.learn is not None:
        return _learn(arguments, texts)
    if arguments.job is None:
        raise CoreError("--job is missing; say what to do.")
    _refuse(arguments, ("armature", "frames"), "only with --learn; the job has its own")
    job = read(arguments.job)
    if job.chosen and job.ccd is None:
        raise CoreError(f'The job\'s "method" is "{job.method}"; contribute does jobs by "ccd", or that name none.')
    if arguments.saved is not None:
        _refuse(arguments, ("chain",), "not with --saved; that chain has its ends")
        if job.ccd is not None and job.ccd.said:
            raise CoreError('--saved: the chain has its own list and numbers; leave out the job\'s "method".')
        return carry_out(arguments, replace(job, ccd=Ccd(chain=arguments.saved)), texts)
    own = sorted(job.ccd.said & _OURS.keys()) if job.ccd is not None else []
    if own:
        raise CoreError(f"method.{_OURS[own[0]]}: the chain and its list are those of the options; leave it out.")
    armature = armature_of(job.armature)
    skeleton = bridge.read_rig(armature).skeleton
    roles = bridge.read_roles(armature, skeleton, bridge.mapping_to_corrections(armature, job.roles))
    job = on_bones(job, roles, skeleton.names)
    base, effector = _ends(arguments.chain, skeleton)
    wrong = next((goal.bone for goal in job.goals if goal.bone != effector), None)
    if wrong is not None:
        raise CoreError(f'--chain ends at "{effector}", but the job leads "{wrong}".')
    if arguments.list is not None:
        listed = read_list_file(arguments.list)
    else:
        with_effector = any(goal.point != "head" for goal in job.goals)
        listed = Ccd(actuations=preset(arguments.preset, skeleton, base, effector, roles, with_effector))
    ccd = (job.ccd or Ccd()).over(listed)
    return carry_out(arguments, replace(job, ccd=replace(ccd, base=base)), texts)


def _learn(arguments: argparse.Namespace, texts: Sequence[Path]) -> int:
    _refuse(arguments, ("job", "output", "report"), "not with --learn; it changes nothing")
    armature = armature_of(arguments.armature)
    bridge.check(armature)
    rig = bridge.read_rig(armature)
    base, effector = _ends(arguments.chain, rig.skeleton)
    first, last = bridge.keyed_range(armature) if arguments.frames is None else _keyed_part(armature, arguments.frames)
    motion, _ = bridge.read_motion(armature, rig, np.arange(first, last + 1))
    skeleton, bends = with_hinges(rig.skeleton, bridge.read_roles(armature, rig.skeleton), motion.pose)
    method = ContributionCCD((Actuation(effector, "X"),), bends=bends)  # with another list in place of this one
    found = learn(skeleton, motion.pose, effector, base, method=method)
    data = {
        "armature": armature.name,
        "frames": [first, last],
        "list": actuations_data(found.actuations),
        "error": float(np.degrees(found.error)),
        "error_by_bone": {bone: float(np.degrees(error)) for bone, error in found.joint_errors.items()},
        "uniform_error": float(np.degrees(found.uniform_error)),
    }
    lists = {arguments.learn: list_text(Ccd(actuations=found.actuations, successive=True))}
    write_files(None, {path: one_line(data) for path in texts if path != arguments.learn} | lists)
    tell(
        f"{armature.name}: a list of {len(found.actuations)} entries follows the motion to {data['error']:.2f} degrees "
        f"a joint; one that all joints share alike to {data['uniform_error']:.2f}."
    )
    show(arguments, data)
    return DONE


def _keyed_part(armature: Any, frames: list[int]) -> tuple[int, int]:
    """The frames without those before and after the action, if that is all that moves the armature."""
    first, last = FRAMES.read(frames, "--frames")
    data = armature.animation_data
    if data is None or data.action is None or len(data.nla_tracks):
        return first, last
    begin, end = bridge.keyed_range(armature)
    if first > end or last < begin:
        raise CoreError(f'--frames: the action of "{armature.name}" goes from {begin} to {end}.')
    if first < begin or last > end:
        tell(f"{armature.name}: the action goes from {begin} to {end}; other frames are left out.")
    return max(first, begin), min(last, end)


def _refuse(arguments: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Raises CoreError if one of these options was given."""
    given = next((name for name in names if getattr(arguments, name) is not None), None)
    if given is not None:
        raise CoreError(f"--{given}: {why}.")


def _ends(text: str | None, skeleton: Skeleton) -> tuple[str, str]:
    """Base and effector; bones' own names may have colons."""
    if text is None:
        raise CoreError("--chain is missing; name the chain's first and last bone, BASE:EFFECTOR.")
    parts = text.split(":")
    splits = [(":".join(parts[:i]), ":".join(parts[i:])) for i in range(1, len(parts))]
    found = [ends for ends in splits if ends[0] in skeleton.names and ends[1] in skeleton.names]
    if len(found) == 1:
        return found[0]
    if not splits:
        raise CoreError(f'--chain needs BASE:EFFECTOR, not "{text}".')
    for end in splits[0] if not found and len(splits) == 1 else ():
        skeleton.index(end)
    raise CoreError(f'--chain: "{text}" names {"several chains" if found else "no two bones"} of the armature.')
