"""`solve`: from a job to keys: read the motion, solve, write, and measure the result in Blender."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import bridge
from ..core import CoreError, Motion, PinAndDrag, Pose, Skeleton, Solution, forward_matrices, rotation, solve
from ..core.body import Roles
from ..core.body.anatomy import Tuning, anatomy, with_anatomy
from ..core.contribution import with_hinges
from ..core.formats.job import Job, on_bones
from ..core.formats.report import GoalReport, Report
from ..core.rotation import Array
from ..core.steps import finish
from .chains import chain_method, find_chain
from .controls import find_body_of_job, frames_of_body, is_settled, pose_controls, set_switches
from .evaluation import Evaluation, evaluate, preserve_channels
from .job_goals import PreparedGoal, check_scale, followed_objects, held_frames, prepare_balance, prepare_goal
from .motion_edit import check_scene

_LEADS: Final = 4  # times that controls are led, since what lies between the parts of a body gives way a little
SHARPER: Final = 0.5  # of the tolerance is what the solver aims at: single precision and scale take their part

Progress = Callable[[float], None]
Bones = NDArray[np.int64]


def perform_job(context: Any, armature: Any, job: Job, progress: Progress = lambda share: None) -> Report:
    """Do a job on an armature object and report it; raises CoreError, with nothing changed, if it cannot be done.

    Goals out of reach are no error: they are in the report. `progress` is called with the share that is done, 0 to 1.
    """
    bridge.check(armature)
    _check_names(context, armature, job)
    clock = [perf_counter()]
    context.view_layer.update()
    rig = bridge.read_rig(armature)
    roles = bridge.read_roles(armature, rig.skeleton, bridge.mapping_to_corrections(armature, job.roles))
    job = on_bones(job, roles, rig.skeleton.names)
    _check_bones(rig, job)
    controlled = find_body_of_job(armature, rig, roles, job)
    motion, before, at = _read(context, armature, rig, job)
    check_scale(job.goals, job.balance, before)
    skeleton, pose = rig.skeleton, motion.pose
    if controlled is not None:
        rig = bridge.with_ik_starts(rig, controlled)
        skeleton, roles, pose = (
            controlled.skeleton,
            controlled.roles,
            bridge.read_controlled(controlled, before.matrices),
        )
        before, at = (
            frames_of_body(controlled, before),
            {frame: frames_of_body(controlled, take) for frame, take in at.items()},
        )
    wanted = [prepare_goal(goal, skeleton, before, at) for goal in job.goals]
    if job.balance is not None:
        wanted.append(prepare_balance(job.balance, job.goals, skeleton, roles, before))
    goals = [(place, goal) for place, wish in enumerate(wanted) for goal in wish.core_goals(job.wins == "pins")]
    progress(0.2)

    clock.append(perf_counter())
    asked, scale = [goal for _, goal in goals], _largest_scale(job, before.worlds)
    solution = _solution(armature, job, skeleton, roles, pose, asked, scale)
    if job.joint_targets == "present":
        idle = np.all([wish.share == 0.0 for wish in wanted], axis=0)
        solution = replace(solution, pose=_kept(pose, solution.pose, idle))
    progress(0.6)

    clock.append(perf_counter())
    led = None
    if controlled is None:
        motion, changes = replace(motion, pose=solution.pose), bridge.changed_bones(motion.pose, solution.pose)
    else:
        for _ in range(_LEADS):
            steps = pose_controls(context, armature, rig, controlled, motion, solution.pose, job.frames is not None)
            led, stands = finish(steps)
            again = _solution(armature, job, skeleton, roles, stands, asked, scale)
            if is_settled(again.pose, stands):
                break
            solution = again
        assert led is not None
        motion, changes = led.motion, (np.array(led.turned, int), np.array(led.moved, int), np.array([], int))
    turned, moved, grown = (tuple(rig.skeleton.names[bone] for bone in bones) for bones in changes)
    changed = sorted({int(bone) for bones in changes for bone in bones})
    repeating = (
        bridge.repeating_bones(armature, [rig.skeleton.names[bone] for bone in changed]) if job.write.key else []
    )
    action = _write(armature, rig, job, motion, *changes)
    if led is not None:
        set_switches(armature, led, job.write.key)
    clock.append(perf_counter())
    progress(0.8)

    follow = followed_objects(job.goals)
    if job.write.key:
        with preserve_channels(context, armature, changed):
            after = evaluate(context, armature, before.frames, follow)
    else:
        after = evaluate(context, armature, None, follow)
    reports = tuple(_report(wish, skeleton, frames_of_body(controlled, after), job) for wish in wanted)
    return Report(
        armature=armature.name,
        frames=before.frames,
        method=job.method,
        seconds=dict(zip(("read", "solve", "write"), np.diff(clock).tolist(), strict=True)),
        goals=reports,
        explanations=(
            *(
                _explain(place, reports, goals, solution, before.frames, rig, led is not None)
                for place in _unmet(reports)
            ),
            *solution.explain_finish(),
            *(
                f"{name} moves differently outside the frames, too: its curves repeat or continue their keys there"
                for name in repeating
            ),
        ),
        action=action.name if action else None,
        rotated=turned,
        moved=moved,
        grown=grown,
    )


def _check_names(context: Any, armature: Any, job: Job) -> None:
    """Raises CoreError for objects and actions that are not as the job takes them to be."""
    write, data = job.write, armature.animation_data
    check_scene(context, armature, job.write.key)
    for (name, _), followed in followed_objects(job.goals).items():
        if followed is None or followed not in set(context.scene.objects):
            raise CoreError(f'No object "{name}" in the scene "{context.scene.name}".')
        if not followed.evaluated_get(context.evaluated_depsgraph_get()).is_evaluated:
            raise CoreError(f'"{name}" is disabled in the viewport or not in the view layer; show it first.')
    if write.new and write.action is not None and write.action in bpy.data.actions:
        raise CoreError(f'write.action: there is an action "{write.action}" already; choose another name.')
    if write.key and not write.new and data and data.action and not data.action.is_editable:
        raise CoreError(f'The action "{data.action.name}" is linked from another file; write a new one instead.')


def _check_bones(rig: bridge.Rig, job: Job) -> None:
    """Raises CoreError for bones that are not there."""
    named = {f"goals[{number}].bone": goal.bone for number, goal in enumerate(job.goals)}
    named |= {
        f"goals[{number}].{field}": bone for number, goal in enumerate(job.goals) for field, bone in goal.others.items()
    }
    named |= {f"write.bones[{number}]": bone for number, bone in enumerate(job.write.bones or ())}
    named |= {f"stiffness.{bone}": bone for bone in job.stiffness}
    named |= {} if job.ccd is None else job.ccd.bones
    if job.balance is not None:
        named |= {f"balance.supports[{number}]": bone for number, bone in enumerate(job.balance.supports or ())}
        named |= {f"balance.masses.{bone}": bone for bone in job.balance.masses or ()}
    for field, bone in named.items():
        try:
            rig.skeleton.index(bone)
        except CoreError as error:
            raise CoreError(f"{field}: {error}") from error


def _read(context: Any, armature: Any, rig: bridge.Rig, job: Job) -> tuple[Motion, Evaluation, dict[int, Evaluation]]:
    """The motion to change, where it has the bones, and where it has them at the frames that pins are held at."""

    def take(motion: Motion, worlds: Array) -> Evaluation:
        return Evaluation(motion.frames, worlds, forward_matrices(rig.skeleton, motion.pose))

    at: dict[int, Evaluation] = {}
    held = held_frames(job.goals)
    if held:
        everything = take(*bridge.read_motion(armature, rig, held))
        at = {
            frame: Evaluation(everything.frames[[i]], everything.worlds[[i]], everything.matrices[[i]])
            for i, frame in enumerate(held)
        }
    follow = followed_objects(job.goals)
    if job.frames is None:
        render = context.scene.render
        now = np.array([context.scene.frame_current_final])
        motion = Motion(bridge.read_pose(armature, rig)[None], now, render.fps / render.fps_base)
        before = take(motion, bridge.world_matrix(armature)[None])
        objects = evaluate(context, armature, None, follow).objects
    else:
        frames = np.arange(job.frames[0], job.frames[1] + 1)
        motion, worlds = bridge.read_motion(armature, rig, frames)
        before = take(motion, worlds)
        objects = {}
        if follow:
            with preserve_channels(context, armature):
                objects = evaluate(context, armature, motion.frames, follow).objects
    return motion, replace(before, objects=objects), at


def _writable(skeleton: Skeleton, job: Job) -> Skeleton:
    """The skeleton as stiff as the job has it, with everything held still that the job may not write."""
    stiffness = np.array(skeleton.stiffness)
    for bone, values in job.stiffness.items():
        stiffness[skeleton.index(bone)] = values
    skeleton = replace(skeleton, stiffness=stiffness)
    if job.write.bones is None:
        return skeleton
    named = np.isin(skeleton.names, job.write.bones)
    return replace(
        skeleton,
        movable=skeleton.movable & named,
        translatable=skeleton.translatable & named[:, None],
        stretch=skeleton.stretch * named,
    )


def _solution(
    armature: Any, job: Job, skeleton: Skeleton, roles: Roles, pose: Pose, goals: list[Any], largest_scale: float
) -> Solution:
    """What the job's method makes of the goals."""
    position_tolerance = SHARPER * job.tolerance.position / largest_scale
    rotation_tolerance = SHARPER * float(np.radians(job.tolerance.rotation))
    writable = _writable(skeleton, job)
    if job.ccd is not None and job.ccd.chain is not None:
        chain = find_chain(armature, job.ccd.chain, job.goals[0].bone)
        limited, method = chain_method(armature, chain, writable, pose, roles)
        more = {"limits": bool(job.limits), "successive": chain.successive, "position_tolerance": position_tolerance}
        return solve(limited, pose, goals, replace(method, **more))
    if job.ccd is not None:
        limited, bends = with_hinges(writable, roles, pose)
        method = job.ccd.method(bool(job.limits), position_tolerance)
        return solve(limited, pose, goals, replace(method, bends=bends))
    if job.humanoid is not None:
        tolerances = {"position_tolerance": position_tolerance, "rotation_tolerance": rotation_tolerance}
        body = job.humanoid.method(roles, bool(job.limits), **tolerances)
        return solve(writable, pose, goals, body)
    tuning = bridge.read_tuning(armature, skeleton)
    method = PinAndDrag(
        limits=job.limits,
        root="fixed" if job.root == "hold" else job.root,
        stretch=job.stretch,
        reference=_reference(job, skeleton, roles, pose, tuning),
        # frames in time go from their neighbours' answers; settled each on its own they may end in different minima
        coherent=job.frames is not None,
        settle=job.frames is None,
        position_tolerance=position_tolerance,
        rotation_tolerance=rotation_tolerance,
    )
    pose = _begun(job, writable, pose, method.reference, goals)
    writable, method = with_anatomy(writable, method, roles, ranges=job.anatomical_limits, tuning=tuning)
    solution = solve(writable, pose, goals, method)
    if job.root == "hold" and not solution.converged.all():  # for all frames: a root that helps now and then would jump
        helping = "pull" if job.frames is None else "free"  # as a drag; frames in time would jump where they are far
        return solve(writable, pose, goals, replace(method, root=helping))
    return solution


def _kept(before: Pose, after: Pose, idle: NDArray[np.bool_]) -> Pose:
    """The pose after, but the one before in frames in which nothing is wanted: no neighbour draws them along."""
    if not idle.any():
        return after
    rotations, translations = (
        np.where(idle[:, None, None], old, new)
        for old, new in ((before.rotations, after.rotations), (before.translations, after.translations))
    )
    scales = after.scales
    if scales is not None:
        scales = np.where(idle[:, None, None], 1.0 if before.scales is None else before.scales, scales)
    return Pose(rotations, translations, scales, after.driven_matrices)


def _reference(job: Job, skeleton: Skeleton, roles: Roles, pose: Pose, tuning: Tuning | None) -> Pose:
    """What joints stay near; the body stays where it is."""
    if job.joint_targets == "present":
        return pose
    stays, turns = skeleton.parents < 0, np.broadcast_to(rotation.IDENTITY, pose.rotations.shape)
    if job.joint_targets == "relaxed":
        turns = anatomy(skeleton, roles, tuning).reference.rotations
        stays[[bone for hips in roles.chain("hips") for bone in skeleton.ancestors(hips)]] = True
    return replace(pose, rotations=np.where(stays[:, None], pose.rotations, turns))


def _begun(job: Job, skeleton: Skeleton, pose: Pose, reference: Pose | None, goals: list[Any]) -> Pose:
    """The pose to begin with: the relaxed one, of bones that goals move and that are free, if they are to stay near it.

    From far away, as from a T-pose, joints may end up turned half round.
    """
    if job.joint_targets != "relaxed" or reference is None:
        return pose
    free = skeleton.movable & ~skeleton.rotation_locks.any(axis=1) & (skeleton.stiffness < 1.0).all(axis=1)
    led = {bone for goal in goals for bone in skeleton.ancestors(skeleton.index(goal.bone))}
    moving = free & np.isin(np.arange(len(skeleton)), list(led))
    return replace(pose, rotations=np.where(moving[:, None], reference.rotations, pose.rotations))


def _largest_scale(job: Job, worlds: Array) -> float:
    """How many metres of a goal's space an armature unit is at most."""
    if all(goal.space == "armature" for goal in job.goals):  # and so the balance's
        return 1.0
    return float(np.linalg.norm(worlds[:, :3, :3], ord=2, axis=(-2, -1)).max())


def _write(
    armature: Any, rig: bridge.Rig, job: Job, motion: Motion, turned: Bones, moved: Bones, grown: Bones
) -> bpy.types.Action | None:
    """Keys, or the pose without keys; returns the action that was written."""
    if not job.write.key:
        bridge.write_pose(armature, rig, motion.pose[0], {*turned.tolist(), *moved.tolist()}, grown)
        return None
    return bridge.write_keys(armature, rig, motion, turned, moved, job.write.action, job.write.new, grown)


def _report(wish: PreparedGoal, skeleton: Skeleton, after: Evaluation, job: Job) -> GoalReport:
    """How far the result, as Blender evaluates it, is from a goal in the frames where it was fully on."""
    on = wish.share == 1.0
    far, turned = wish.errors(after)
    return GoalReport(
        bone=skeleton.names[wish.bone],
        kind=wish.kind,
        frames=after.frames[on],
        position_error=None if far is None else far[on],
        rotation_error=None if turned is None else np.degrees(turned[on]),
        position_tolerance=job.tolerance.position,
        rotation_tolerance=job.tolerance.rotation,
    )


def _unmet(reports: tuple[GoalReport, ...]) -> list[int]:
    return [place for place, report in enumerate(reports) if not report.met.all()]


def _explain(
    place: int,
    reports: tuple[GoalReport, ...],
    goals: list[tuple[int, Any]],
    solution: Solution,
    frames: Array,
    rig: bridge.Rig,
    led: bool,
) -> str:
    """Where goal `place` is missed by most, as measured, and what the solver found in its way there."""
    report = reports[place]
    frame = int(np.searchsorted(frames, report.frames[report.worst]))
    parts = [i for i, (owner, _) in enumerate(goals) if owner == place]
    reasons = list(dict.fromkeys(reason for part in parts for reason in solution.reasons(part, frame)))
    driven = rig.driven_above(rig.skeleton.index(report.bone))
    if driven is not None and not led:
        reasons.append(driven)
    elif solution.met()[frame, parts].all():
        reasons = ["the solver reached it, but what follows the pose in Blender, or the target itself, moved on"]
    return report.sentence() + (f": {', '.join(reasons)}" if reasons else "")
