"""`keypoints`: a file of 3-D keypoints onto an armature, as keys; what the verb and the operator share."""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, Motion, rotation
from ..core.editing.foot_lock import lock_feet
from ..core.humanoid.stance import axis_vector
from ..core.keypoints import (
    AXES,
    LAYOUTS,
    METHODS,
    SUFFIXES,
    UNITS,
    Actor,
    Layout,
    Method,
    Reading,
    Recording,
    bones_of,
    find_taking,
    layout_from,
    layout_named,
    marks_of,
    read_clip,
    read_recording,
)
from ..core.keypoints.body import MARK
from .files import MOTIONS, write_whole
from .retarget import imported
from .verbs import DONE, add_common, add_results, armature_of, one_line, outputs, show, tell

DEFAULT_FPS: Final = 30.0
_SAME_FRAME: Final = 1e-6  # frames
READ: Final = (*SUFFIXES, *MOTIONS)
LARGEST_FILE: Final = 500_000_000  # bytes


@dataclass(frozen=True)
class KeypointsJob:
    """What to do with a recording. unit, up "auto": as the file or its layout has them, or told from the points.

    fps      of the recording, where its file does not say it
    start    the frame of the first key
    noise    millimetres that a point is off by, None: measured
    exchange left and right: None refuses what looks exchanged
    travel   whether the hips' places count, or come from the feet; None: as they look
    """

    layout: str | None = None
    unit: str = "auto"
    up: str = "auto"
    fps: float | None = None
    start: int = 1
    method: Method = "corrected"
    noise: float | None = None
    smooth: bool = True
    exchange: bool | None = None
    travel: bool | None = None
    lock_feet: bool = True
    limits: bool = True
    exact: bool = False
    action: str | None = None
    new: bool = True


def add_keypoints(verbs: Any) -> None:
    parser = verbs.add_parser("keypoints", help="key a body's motion from 3-D keypoints", allow_abbrev=False)
    parser.add_argument("--input", metavar="FILE", type=Path, required=True, help=", ".join(READ))
    parser.add_argument("--layout", choices=LAYOUTS, help="what the points are, where the file does not say it")
    parser.add_argument("--mapping", metavar="FILE", type=Path, help="JSON that says which markers are which marks")
    parser.add_argument("--armature", metavar="A", help="the armature, if there are several")
    parser.add_argument("--unit", choices=("auto", *UNITS), default="auto", help="of the points")
    parser.add_argument(
        "--up", choices=("auto", *AXES), default="auto", help="write --up=-Y for those that begin with -"
    )
    parser.add_argument("--fps", type=float, help="frames a second, where the file does not say it")
    parser.add_argument("--start", type=int, default=1, help="the frame of the first key")
    parser.add_argument("--method", choices=METHODS, default="corrected", help="how turns are found")
    parser.add_argument("--noise", metavar="MM", type=float, help="by how much points are off, if not to be measured")
    parser.add_argument("--raw", action="store_true", help="do not filter")
    parser.add_argument("--exchange", choices=("yes", "no"), help="left and right are exchanged in the file, or not")
    parser.add_argument("--travel", choices=("hips", "feet"), help="what says where the body goes")
    parser.add_argument("--no-lock", action="store_true", help="let feet slide")
    parser.add_argument("--no-limits", action="store_true", help="let joints leave their limits")
    parser.add_argument("--exact", action="store_true", help="bring wrists and ankles to where their points are")
    parser.add_argument("--action", metavar="NAME", help="of the new action")
    add_results(parser)
    add_common(parser)
    parser.set_defaults(verb=keypoints)


def keypoints(arguments: argparse.Namespace) -> int:
    """Key a recording and write what was asked for."""
    texts = outputs(arguments)
    for name in ("fps", "noise"):
        value = getattr(arguments, name)
        if value is not None and not 0.0 < value < np.inf:
            raise CoreError(f"--{name}: must be a positive number, not {value}.")
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
    recording = load(bpy.context, arguments.input, job.layout, arguments.mapping)
    report = perform_keypoints(bpy.context, armature_of(arguments.armature), recording, job)
    write_whole(arguments.output, {path: one_line(report) for path in texts})
    for note in report["notes"]:
        tell(note)
    tell(
        f"{report['armature']}: {report['frames'][1] - report['frames'][0] + 1} frames, {report['bones']} bones keyed "
        f'in "{report["action"]}"'
    )
    tell(f'Saved as "{arguments.output}".' if arguments.output else "Not saved: there was no --output.")
    show(arguments, report)
    return DONE


def load(context: Any, path: Path, layout: str | None, mapping: Path | None = None) -> Recording:
    """The recording in a file, of markers if there is a mapping of theirs; raises CoreError."""
    if path.suffix.lower() in MOTIONS:
        return _of_figure(context, path)
    said: str | Layout | None = layout
    data = _read(path)
    if mapping is not None:
        try:
            said = layout_from(mapping.name, json.loads(_read(mapping)))
        except (ValueError, RecursionError):
            raise CoreError(f'The file "{mapping}" is not JSON.') from None
    try:
        return read_recording(path.suffix, data, said)
    except CoreError as error:
        raise CoreError(f'"{path.name}": {error}') from error


def _of_figure(context: Any, path: Path) -> Recording:
    """The joints of the armature with a motion in a file that Blender imports."""
    with imported(context, path) as (source, _):
        rig = bridge.read_rig(source)
        first, last = bridge.keyed_range(source)
        motion, worlds = bridge.read_motion(source, rig, np.arange(first, last + 1))
        points = marks_of(rig.skeleton, bridge.read_roles(source, rig.skeleton), motion.pose)
    points = points @ worlds[:, :3, :3].swapaxes(1, 2) + worlds[:, None, :3, 3]
    return Recording(layout_named("marks"), points, None, motion.fps)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CoreError(f'The file "{path}" is larger than {LARGEST_FILE // 1_000_000} MB.')
        return path.read_bytes()
    except OSError as error:
        raise CoreError(f'The file "{path}" cannot be read: {error.strerror}.') from error


def perform_keypoints(context: Any, object: Any, recording: Recording, job: KeypointsJob) -> dict[str, Any]:
    """Key a recording on an armature object; returns the report. Raises CoreError with nothing changed."""
    clock = [perf_counter()]
    bridge.check(object)
    context.view_layer.update()
    rig = bridge.read_rig(object)
    actor = actor_of(object, rig, job.limits)
    unit, up = (
        said if said != "auto" else own or "auto" for said, own in ((job.unit, recording.unit), (job.up, recording.up))
    )
    taking, notes = find_taking(recording.layout, recording.points, recording.confidence, unit, up, job.exchange)
    marks = taking(recording.points, recording.confidence)
    fps = job.fps or recording.fps
    if fps is None:
        fps = DEFAULT_FPS
        notes = (*notes, f"The file does not say its frame rate; {fps:g} a second are taken.")
    noise = None if job.noise is None else 0.001 * job.noise
    times = np.arange(len(marks.places)) / fps
    reading = read_clip(marks, times, job.method, job.smooth, noise)
    notes += seen_notes(reading)
    render = context.scene.render
    scene_fps = render.fps / render.fps_base
    reading, frames = at_frames(reading, times, scene_fps, job.start)
    clock.append(perf_counter())

    present = bridge.read_pose(object, rig)
    pose = actor.motion(reading, present, job.travel)
    motion = Motion(actor.exact(reading, pose) if job.exact else pose, frames, scene_fps)
    if job.lock_feet and actor.points and len(frames) > 1:
        motion = lock_feet(rig.skeleton, motion, actor.roles, up=axis_vector(actor.roles.up)).pinned.motion
    clock.append(perf_counter())

    bones, moved = bones_of(actor)
    turned, shifted, _ = bridge.changed_bones(pose, motion.pose)
    action = bridge.write_keys(
        object,
        rig,
        motion,
        {*bones.tolist(), *turned.tolist()},
        {*moved.tolist(), *shifted.tolist()},
        job.action,
        job.new,
    )
    clock.append(perf_counter())
    figure = reading.figure
    return {
        "armature": object.name,
        "frames": [int(frames[0]), int(frames[-1])],
        "layout": recording.layout.name,
        "metres": taking.unit,
        "up": taking.up,
        "fps": fps,
        "noise": None if figure is None else round(1000.0 * figure.noise, 2),
        "bones": len(bones),
        "notes": list(notes),
        "seconds": dict(zip(("read", "solve", "write"), np.diff(clock).round(6).tolist(), strict=True)),
        "action": action.name,
    }


def actor_of(object: Any, rig: bridge.Rig, limits: bool) -> Actor:
    """The armature as what takes readings; raises CoreError where it is no humanoid, or driven."""
    actor = Actor(rig.skeleton, bridge.read_roles(object, rig.skeleton), limits)
    if not actor.bones:
        why = rig.driven_above(actor.hips) or "it is locked"
        raise CoreError(f'No bone of the body of "{object.name}" can be turned: {why}.')
    return actor


def seen_notes(reading: Reading) -> tuple[str, ...]:
    """Sentences about what the points did not show."""
    unseen = {
        "the turn of the hands": ("index", "pinky"),
        "the feet": ("ball",),
        "the head": ("nose", "crown"),
    }
    notes: list[str] = []
    for what, names in unseen.items():
        rows = [row for mark, row in MARK.items() if mark.partition(".")[0] in names]
        if not (reading.weights[:, rows] > 0.0).any():
            notes.append(f"The points do not show {what}; it goes with the rest of the limb.")
    return tuple(notes)


def at_frames(reading: Reading, times: Any, fps: float, start: int) -> tuple[Reading, Any]:
    """The reading of increasing times (F,), in seconds, at whole frames of the scene, and their numbers."""
    at = np.asarray(times, float) - times[0]
    frames = np.arange(int(np.floor(at[-1] * fps + _SAME_FRAME)) + 1)
    wanted = np.minimum(frames / fps, at[-1])
    after = np.clip(np.searchsorted(at, wanted), 1, max(len(at) - 1, 1))
    before, after = after - 1, np.minimum(after, len(at) - 1)
    share = (wanted - at[before]) / np.where(after > before, at[after] - at[before], 1.0)

    def mixed(values: Any) -> Any:
        weight = share.reshape(-1, *[1] * (values.ndim - 1))
        return (1.0 - weight) * values[before] + weight * values[after]

    turns = rotation.slerp(reading.rotations[before], reading.rotations[after], share[:, None])
    between = Reading(turns, mixed(reading.hips), mixed(reading.marks), mixed(reading.weights), reading.figure)
    return between, (start + frames).astype(float)
