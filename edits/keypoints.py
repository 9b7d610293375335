"""`keypoints`: key a file of 3-D keypoints on an armature; shared by the verb and the operator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

from .. import bridge
from ..bridge.turns import beside_blender, update
from ..core import CoreError, Goal, Motion, keypoints, rotation
from ..core.causes import Cause, Kind
from ..core.editing.floor import Floor
from ..core.editing.foot_lock import stand_on_ground
from ..core.formats.files import read_json
from ..core.formats.mapping import BodyMapping, read_mapping
from ..core.formats.markers import parse_marker_mapping
from ..core.formats.report import FloorReport, GoalReport, Report
from ..core.formats.table import FRAME_LIMIT
from ..core.keypoints.body import LANDMARK
from ..core.keypoints.layouts import MARKS, MARKS_HANDS
from ..core.rotation import lengths
from ..core.sources import read_bytes
from .clips import MOTIONS
from .controls import frames_of_body
from .evaluation import Evaluation, evaluate
from .keypoint_target import KeypointTarget, find_target, write_body_motion
from .level import level_under_feet, measure_floor
from .motion_edit import UNMEASURED, Frames
from .parts import check_sure, take_mapping
from .retarget import imported
from .shown import BESIDE, TURNED, WantedPose, known_bones, measure_pose, wanted_body, wanted_pose

MOST_FRAMES: Final = 1_000_000  # of a motion: more than two hours at 120 frames a second
END: Final = 0.005  # metres, tolerance of a wrist or an ankle
_SAME_FRAME: Final = 1e-6  # frames
READABLE: Final = tuple(dict.fromkeys((*keypoints.SUFFIXES, *MOTIONS)))


@dataclass(frozen=True)
class KeypointsJob:
    """How to key a recording. unit, up "auto": those of the file or its layout, or estimated from the points.

    fps      of the recording, in place of the times or the rate that its file says
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
    method: keypoints.Method = "corrected"
    noise: float | None = None
    smooth: bool = True
    exchange: bool | None = None
    travel: bool | None = None
    lock_feet: bool = True
    limits: bool = True
    exact: bool = False
    action: str | None = None


@dataclass(frozen=True)
class Interpretation:
    """How a recording was interpreted; `noise` in millimetres."""

    layout: str
    metres: float
    up: str
    fps: float
    noise: float | None
    bones: int
    notes: tuple[str, ...]


def load_recording(context: Any, path: Path, layout: str | None, mapping: Path | None = None) -> keypoints.Recording:
    """Return the recording of a file; `mapping`: of markers to landmarks, or of a figure's parts to bones.

    Raises CoreError for a file that cannot be read.
    """
    if path.suffix.lower() not in keypoints.SUFFIXES and path.suffix.lower() in MOTIONS:
        return _of_figure(context, path, BodyMapping() if mapping is None else read_mapping(mapping))
    said: str | keypoints.Layout | None = layout
    if mapping is not None:
        said = read_json(mapping, "mapping", partial(parse_marker_mapping, mapping.name))
    try:
        return keypoints.read_recording(path.suffix, read_bytes(path), said)
    except OSError as error:
        raise CoreError(f'The file "{path}" cannot be read: {error.strerror}.') from error
    except CoreError as error:
        raise CoreError(f'"{path.name}": {error}') from error


def _of_figure(context: Any, path: Path, mapping: BodyMapping) -> keypoints.Recording:
    """Return the joints of the armature in a file that Blender imports; `mapping`: corrections of its roles."""
    with imported(context, path) as (source, _):
        first, last = bridge.keyed_range(source)
        skeleton, motion, worlds = bridge.read_figure(source, np.arange(first, last + 1))
        take_mapping([source], mapping)
        check_sure(source, by_motion=True)
        roles = bridge.read_roles(source, skeleton)
        points = keypoints.joint_landmarks(skeleton, roles, motion.pose)
        hands = keypoints.joint_hands(skeleton, roles, motion.pose)
    layout = MARKS_HANDS if np.isfinite(hands).any() else MARKS
    points = np.concatenate([points, hands], axis=1) if layout == MARKS_HANDS else points
    points = points @ worlds[:, :3, :3].swapaxes(1, 2) + worlds[:, None, :3, 3]
    return keypoints.Recording(keypoints.find_layout(layout), points, None, motion.fps)


def perform_keypoints(
    context: Any, armature: Any, recording: keypoints.Recording, job: KeypointsJob
) -> tuple[Report, Interpretation]:
    """Key a recording on an armature object; raises CoreError, with nothing changed, if that cannot be done."""
    clock = [perf_counter()]
    bridge.check(armature)
    update(context)
    target, who = find_target(armature, job.limits), (armature.name, armature.session_uid)
    unit, up = (
        said if said != "auto" else own or "auto" for said, own in ((job.unit, recording.unit), (job.up, recording.up))
    )
    render = context.scene.render
    scene_fps = render.fps / render.fps_base
    with beside_blender():
        conversion, notes = keypoints.find_conversion(
            recording.layout, recording.points, recording.confidence, unit, up, job.exchange
        )
        recording, times, fps, said = keypoints.frame_times(recording, job.fps)
        landmarks = conversion(recording.points, recording.confidence)
        noise = None if job.noise is None else 0.001 * job.noise
        captured = keypoints.estimate_clip(landmarks, times, job.method, job.smooth, noise)
        notes = (*notes, *said, *notes_on_unseen(captured))
        captured, frames = resample(captured, times, scene_fps, job.start)
        clock.append(perf_counter())
        placed, motion, ends = solve_motion(target, captured, frames, scene_fps, job)
    armature = bridge.find_again(*who, target.rig.skeleton.names)
    clock.append(perf_counter())
    try:
        action, motion, misfit = write_body_motion(context, armature, target, motion, captured.fingers, job.action)
    except CoreError as why:
        if target.controlled is None:
            raise
        try:
            target = find_target(armature, job.limits, controls=False)  # leave out driven bones
        except CoreError:
            raise why from None
        placed, motion, ends = solve_motion(target, captured, frames, scene_fps, job)
        action, motion, misfit = write_body_motion(context, armature, target, motion, captured.fingers, job.action)
    clock.append(perf_counter())
    if job.exact and job.lock_feet:
        notes += ("Plant Feet had no effect, because Exact Ends placed the feet on their points.",)
    names = target.character.skeleton.names
    try:
        goals = measure_ends(context, armature, target, ends, frames)
        pose = _measure_pose(context, armature, target, motion)
        floor = _measure_floor(context, armature, target, placed, motion)
        why = {"end": [Cause(Kind.BODY if job.limits else Kind.LENGTHS)], "pose": [Cause(Kind.RIG)]}
        told = goals if pose is None or misfit else (*goals, pose)
        missed = [*misfit, *(one.sentence(why[one.kind]) for one in told if not one.met.all())]
        missed += [floor.sentence()] if floor is not None and floor.told else []
    except bridge.Stopped:  # what is keyed stays
        goals, pose, floor, missed = (), None, None, [UNMEASURED]
    turned, moved = target.character.posed_bones(captured.fingers)
    report = Report(
        armature=armature.name,
        frames=frames,
        method=job.method,
        seconds=dict(zip(("read", "solve", "write"), np.diff(clock).tolist(), strict=True)),
        goals=goals,
        explanations=tuple(missed),
        action=action.name,
        rotated=tuple(names[bone] for bone in turned),
        moved=tuple(names[bone] for bone in moved),
        pose=pose,
        floor=floor,
    )
    subject = captured.subject
    return report, Interpretation(
        recording.layout.name, conversion.unit, conversion.up, round(fps, 1),
        None if subject is None else round(1000.0 * subject.noise, 2), len(turned), (*target.notes, *notes),
    )  # fmt: skip


def solve_motion(
    target: KeypointTarget, captured: keypoints.CapturedMotion, frames: Any, fps: float, job: KeypointsJob
) -> tuple[Motion, Motion, list[Goal]]:
    """Return the motion before feet are planted and after it, and, if the job asks for exact ends, their goals."""
    character = target.character
    placed = motion = Motion(character.motion(captured, target.present, job.travel), frames, fps)
    if job.exact:
        ends = character.end_goals(captured, motion.pose)
        motion = replace(motion, pose=character.solve_goals(ends, motion.pose))  # feet are where their points are
        return motion, motion, ends
    if job.lock_feet and character.points and len(frames) > 1:
        motion = stand_on_ground(character.skeleton, motion, character.roles, character.up, target.surface)
    return placed, motion, []


def _measure_pose(context: Any, armature: Any, target: KeypointTarget, motion: Motion) -> GoalReport | None:
    """Return how far Blender shows the body beside its motion."""
    character, known = target.character, known_bones(target.rig, bridge.deforming(armature))
    skeleton, body = character.skeleton, target.controlled and bridge.repeated(target.controlled, len(motion))

    def wanted(part: slice) -> WantedPose:
        if body is None:
            return wanted_pose(skeleton, motion.pose[part], known, tails=True)
        return wanted_body(skeleton, character.roles, motion.pose[part])

    def shown(part: slice) -> Evaluation:
        seen = evaluate(context, armature, motion.frames[part])
        return seen if body is None else frames_of_body(body.take(part), seen)

    size = skeleton.size * float(bridge.length_scale(bridge.world_matrix(armature)))
    return measure_pose(motion.frames, wanted, shown, (BESIDE * size, TURNED))


def _measure_floor(
    context: Any, armature: Any, target: KeypointTarget, placed: Motion, motion: Motion
) -> FloorReport | None:
    """Return how deep Blender shows the feet below the ground, beside the captured motion that was `placed` on it."""
    character, body = target.character, target.controlled
    floor = Floor(character.up, character.ground, surface=target.surface)
    level = level_under_feet(character.skeleton, character.roles, floor, placed)

    def read(at: Frames) -> Motion:
        frames = motion.frames[at]
        if body is None:
            return bridge.read_motion(armature, target.rig, frames)[0]
        seen = evaluate(context, armature, frames).matrices.astype(float)
        return Motion(bridge.repeated(body, len(at)).read(seen), frames, motion.fps)

    if level is None:
        return None
    world = bridge.world_matrix(armature)
    return measure_floor(character.skeleton, character.roles, motion, world, level, read)


def measure_ends(
    context: Any, armature: Any, target: KeypointTarget, ends: Sequence[Goal], frames: Any
) -> tuple[GoalReport, ...]:
    """Return the errors of wrists and ankles where their points are seen, as Blender evaluates the keys."""
    if not ends:
        return ()
    body = target.controlled and bridge.repeated(target.controlled, len(frames))
    take = frames_of_body(body, evaluate(context, armature, frames))
    skeleton, found = target.character.skeleton, list[GoalReport]()
    for goal in ends:
        bone = skeleton.index(goal.bone)
        assert goal.position is not None
        seen = np.broadcast_to(goal.position_weight, frames.shape) > 0.0
        if seen.any():
            off = lengths(take.vectors_in("world", take.matrices[:, bone, :, 3] - goal.position))[seen]
            found.append(GoalReport(skeleton.names[bone], "end", frames[seen], off, None, END, 0.0))
    return tuple(found)


def notes_on_unseen(captured: keypoints.CapturedMotion) -> tuple[str, ...]:
    """Return sentences about parts that the points do not show."""
    unseen = {
        "the rotation of the hands": ("index", "pinky"),
        "the feet": ("ball",),
        "the head": ("nose", "crown"),
    }
    notes: list[str] = []
    if captured.left_out:
        notes.append(f"Points left out because they are too far from a body: {captured.left_out}.")
    for what, names in unseen.items():
        rows = [row for landmark, row in LANDMARK.items() if landmark.partition(".")[0] in names]
        if not (captured.weights[:, rows] > 0.0).any():
            notes.append(f"The points do not show {what}, so these parts move with the rest of the limb.")
    return tuple(notes)


def resample(
    captured: keypoints.CapturedMotion, times: Any, fps: float, start: int
) -> tuple[keypoints.CapturedMotion, Any]:
    """Return captured motion of increasing times (F,), in seconds, at whole frames of the scene, and their numbers.

    Raises CoreError for more than MOST_FRAMES, which wrong times would make, and beyond the frames of Blender.
    """
    at = np.asarray(times, float) - times[0]
    if at[-1] * fps > MOST_FRAMES:
        raise CoreError(
            f"The motion lasts {at[-1]:.3g} s according to its times, which is more than the maximum of "
            f"{MOST_FRAMES} frames."
        )
    frames = np.arange(int(np.floor(at[-1] * fps + _SAME_FRAME)) + 1)
    if not -FRAME_LIMIT <= start <= start + len(frames) - 1 <= FRAME_LIMIT:
        raise CoreError(
            f"The motion from frame {start} would end at {start + len(frames) - 1}, beyond frame {FRAME_LIMIT}."
        )
    wanted = np.minimum(frames / fps, at[-1])
    after = np.clip(np.searchsorted(at, wanted), 1, max(len(at) - 1, 1))
    before, after = after - 1, np.minimum(after, len(at) - 1)
    share = (wanted - at[before]) / np.where(after > before, at[after] - at[before], 1.0)

    def mixed(values: Any) -> Any:
        weight = share.reshape(-1, *[1] * (values.ndim - 1))
        return (1.0 - weight) * values[before] + weight * values[after]

    turns = rotation.slerp(captured.rotations[before], captured.rotations[after], share[:, None])
    fingers = captured.fingers
    if fingers is not None:
        fingers = rotation.slerp(fingers[before], fingers[after], share[:, None, None])
    between = keypoints.CapturedMotion(
        turns, mixed(captured.hips), mixed(captured.landmarks), mixed(captured.weights), captured.subject,
        fingers=fingers,
    )  # fmt: skip
    return between, (start + frames).astype(float)
