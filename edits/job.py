"""`solve`: from a job to keys: read the motion, solve, write, and measure the result in Blender."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.motion import preserve_channels
from ..bridge.turns import evaluated_graph, update
from ..core import (
    ContributionCCD,
    CoreError,
    PinAndDrag,
    Pose,
    Skeleton,
    Solution,
    forward_matrices,
    rotation,
    solve,
    solve_in_blocks,
)
from ..core.body import Roles
from ..core.body.anatomy import Tuning, anatomy, with_anatomy, with_ranges
from ..core.body.limbs import within_reach
from ..core.body.ranges import joint_range, with_joint_ranges
from ..core.causes import Cause, Kind
from ..core.contribution import with_hinges
from ..core.editing.footsteps import feet_but, free_ankles
from ..core.formats.job import Job, PoseTargets, on_bones
from ..core.formats.report import GoalReport, Report
from ..core.limits import clamp_rotations
from ..core.motion import blocks
from ..core.rotation import Array
from ..core.skeleton import no_bone
from ..core.solvers import SeveralChains
from ..core.steps import run_steps
from .carried import take_over, take_undecided, with_idle
from .chains import with_saved_chains
from .controls import find_control_motion, frames_of_body
from .evaluation import Evaluation, evaluate
from .held import HeldRig
from .job_goals import (
    check_scale,
    followed_objects,
    held_frames,
    prepare_balance,
    prepare_goal,
    report_goal,
)
from .motion_edit import ChangedBones, Frames, MotionEdit, Progress, check_scene, no_progress
from .shown import WantedPose, wanted_body

_MOST: Final = 4_000_000  # frames times bones that are taken: about one gigabyte
# Of posing the controls, of a motion and of one pose: what joins the parts of a driven body may give way a little.
_ROUNDS: Final = 4
_ROUNDS_OF_ONE: Final = 48
_NOBODY: Final = -1  # the place of a goal that none of the job's asks for
_SETTLED: Final = 1e-4  # radians and armature units up to which two poses of a driven body are the same
SHARPER: Final = 0.5  # of the tolerance, for the solver: single precision and scale need the rest


def perform_job(
    context: Any,
    armature: Any,
    job: Job,
    progress: Progress = no_progress,
    posed: Callable[["JobEdit"], None] = lambda edit: None,
    hold: bool = False,
) -> Report:
    """Do a job on an armature object and report it.

    Goals out of reach are no error: they are in the report. `progress` is called with the share that is done, 0 to 1;
    `posed` once controls, if they drive the body, are posed, before anything is written. What NLA strips move, and the
    action above them has no keys for, stays; with `hold` all bones of an animated armature that have no keys, and that
    auto-keying may not key, stay: they would change in all frames.
    Raises CoreError, with nothing changed, for a job that cannot be done.
    """
    bridge.check(armature)
    check_named(context, armature, job)
    _check_action(context, armature, job)
    edit = JobEdit(context, armature, job, hold)
    progress(0.2)
    edit.solve(lambda share: (bridge.check_stopped(), progress(0.2 + 0.4 * share)))
    begin = perf_counter()
    run_steps(edit.pose_controls(armature))
    posed(edit)
    edit.seconds["write"] = perf_counter() - begin
    progress(0.8)
    return edit.write(armature, job.write.action, job.write.new)


class JobEdit(MotionEdit):
    """A job on the motion that the armature has in the job's frames, or on its present pose.

    `body` is the skeleton that is solved: the rig's own, or where the goals need it that of the `controlled` body.
    """

    def __init__(self, context: Any, armature: Any, job: Job, hold: bool = False) -> None:
        self._context, self._armature, self.job = context, armature, job
        self.method = job.method
        super().__init__(context, armature, job.frames, job.write.key)
        job = self.job
        self.body, self._follow = self.skeleton, followed_objects(job.goals)
        self.roles_of_rig = self.roles
        start, poses, held = self.before.pose, self._evaluation(), self._held()
        check_scale(job.goals, job.balance, poses)
        numbers = np.append(self.before.frames, list(held))
        controlled = _find_controlled(armature, self.rig, self.roles, job, numbers, self.states)
        self.controlled = None
        if controlled is not None:
            self.controlled = controlled.take(slice(len(self.before)))
            self.rig = controlled.with_starts(self.rig)
            self.body, self.roles = controlled.skeleton, controlled.roles
            shown = poses.matrices.astype(float)
            start = self.controlled.read(shown)
            poses = frames_of_body(self.controlled, poses)
            places = range(len(self.before), len(numbers))
            held = {
                frame: frames_of_body(controlled.take([place]), one)
                for place, (frame, one) in zip(places, held.items(), strict=True)
            }
        stays = bridge.find_held(context, armature) if hold else bridge.find_below(armature, self.before.frames)
        now = None if self.controlled is None else self.controlled.now
        plants = job.ccd is None and job.humanoid is None  # neither of these keeps feet that merely stay
        self.held = HeldRig(armature, self.rig, now, stays, plants and job.frames is None)
        self.rig = self.held.rig
        if self.controlled is None:
            self.body = self.rig.skeleton
        else:
            self.controlled = self.held.hold_frames(self.controlled, None if job.frames is None else shown)
            self.body = self.controlled.skeleton
        self._start = start
        self._targets = self._read_targets(job.joint_targets)
        self.goals = [prepare_goal(goal, self.body, poses, held) for goal in job.goals]
        if job.balance is not None:
            balance = prepare_balance(job.balance, job.goals, self.body, self.roles, poses)
            self.goals += [balance] if balance is not None else []
        # of each goal of core its place in `goals`, and the goal
        asked = [
            (place, replace(one, priority=self.held.first + one.priority))
            for place, goal in enumerate(self.goals) for one in goal.core_goals(job.wins == "pins")
        ]  # fmt: skip
        self._share, self._last = 1.0, max(one.priority for place, one in asked if place < len(job.goals))
        # a balance comes after feet that merely stay
        asked = [(place, replace(one, priority=one.priority + (one.priority > self._last))) for place, one in asked]
        yielding = [(place, *self.held.yielding(one)) for place, one in asked]
        self._asked = [(place, one) for place, one, _ in yielding] + [(_NOBODY, goal) for goal in self.held.goals]
        self._yielding = {place: turn for place, _, turn in yielding if turn is not None}
        on_ik = self.controlled.planted if self.controlled is not None and plants else []
        goals = [one for _, one in asked]
        unasked = feet_but(self.body, self.roles, on_ik, [goal.bone for goal in goals])
        self._loose = free_ankles(self.body, self.roles, unasked, goals)
        if job.humanoid is None:  # which knows no priorities
            goals = [goal for _, goal in self._asked]
            planted, self._last, self._share = self.held.plant(self.roles, start, on_ik, goals, self._last)
            self._asked += [*((_NOBODY, goal) for goal in planted), *self._yielding.items()]

    def prepare(self, armature: Any) -> None:
        rig = self.rig
        count = 1 if self.job.frames is None else self.job.frames[1] - self.job.frames[0] + 1
        if count * len(rig.skeleton) > _MOST:
            most = _MOST // len(rig.skeleton)
            raise CoreError(
                f"frames: {count} of {len(rig.skeleton)} bones are too many at once; the maximum is {most}."
            )
        self.roles, job = _with_bones(armature, rig.skeleton, self.job)
        self.job = with_saved_chains(armature, job)
        _check_bones(rig.skeleton.names, self.job)

    def _evaluation(self) -> Evaluation:
        """Return where everything is that the goals refer to, in the frames of the motion before."""
        matrices = np.empty((*self.before.pose.rotations.shape[:2], 3, 4), np.float32)
        for part in blocks(len(matrices)):
            matrices[part] = forward_matrices(self.skeleton, self.before.pose[part])
        seen = Evaluation(self.before.frames, self.worlds, matrices)
        if not self._follow:
            return seen
        frames = None if self.job.frames is None else self.before.frames
        with nullcontext() if frames is None else preserve_channels(self._context, self._armature):
            return replace(seen, objects=evaluate(self._context, self._armature, frames, self._follow).objects)

    def _read_targets(self, targets: Any) -> Pose | None:
        """Return the poses (F,) of the body that joints stay near, where the job names them."""
        if not isinstance(targets, PoseTargets):
            return None
        action = None if targets.action is None else bpy.data.actions.get(targets.action)
        if targets.action is not None and action is None:
            raise CoreError(f'joint_targets.action: no action "{targets.action}" in this file.')
        frames = self.before.frames if targets.frame is None else np.array([targets.frame])
        with nullcontext() if action is None else bridge.using_action(self._armature, action):
            motion, _ = bridge.read_motion(self._armature, self.rig, frames)
        pose = motion.pose[np.arange(len(self.before)) % len(frames)]
        if self.controlled is None:
            return pose
        return self.controlled.read(forward_matrices(self.skeleton, pose))

    def _held(self) -> dict[int, Evaluation]:
        """Return where the bones are at the frames that pins are held at."""
        held = held_frames(self.job.goals)
        if not held:
            return {}
        motion, worlds = bridge.read_motion(self._armature, self.rig, held, self.noting(self._armature))
        seen = Evaluation(motion.frames, worlds, forward_matrices(self.skeleton, motion.pose))
        return {frame: seen.at(place) for place, frame in enumerate(held)}

    def compute(self, progress: Progress) -> None:
        self.solution = self._solve(self._start, progress)
        if self.job.joint_targets == "present":
            idle = np.all([goal.share == 0.0 for goal in self.goals], axis=0)
            self.solution = replace(self.solution, pose=with_idle(self._start, self.solution.pose, idle))
        if self.controlled is None:
            self.after = replace(self.before, pose=self.solution.pose)

    def _solve(self, pose: Pose, progress: Progress = no_progress, near: Pose | None = None) -> Solution:
        """Solve from poses before; `near`: where to begin, by default there."""
        body, asked = self.body, self._asked
        if near is not None and self.controlled is not None and self.job.frames is None:
            body, there = within_reach(body, self.controlled.now.hinged, near[0], self._start[0])
            near = there[None]
        if self.controlled is not None and self.job.frames is None and self.job.ccd is None and not self.job.humanoid:
            bent = self.held.planes(self.controlled.now, body, pose[0], [goal for _, goal in asked])
            asked = [*asked, *((_NOBODY, goal) for goal in bent)]
        return self._solution(body, pose, asked, progress, near)

    def _solution(
        self, skeleton: Skeleton, pose: Pose, asked: Sequence[tuple[int, Any]], progress: Progress, near: Pose | None
    ) -> Solution:
        """Solve goals, each with the place of the job's goal that asks for it, by the job's method."""
        job, roles, goals = self.job, self.roles, [goal for _, goal in asked]
        position_tolerance = SHARPER * job.tolerance.position / bridge.largest_scale(self.worlds)
        rotation_tolerance = SHARPER * float(np.radians(job.tolerance.rotation))
        tolerances: dict[str, Any] = {
            "position_tolerance": position_tolerance,
            "rotation_tolerance": rotation_tolerance,
        }
        bounds = {skeleton.index(bone): ends for bone, ends in job.ranges.items()}
        ranges = {bone: joint_range(skeleton, roles, bone).within(*ends) for bone, ends in bounds.items()}
        writable = with_joint_ranges(_writable(skeleton, job), ranges)
        if job.ccd is not None:
            limited, bends = with_hinges(writable, roles, pose, ranges=job.anatomical_limits)
            owners = [owner for owner, _ in asked]
            chains: dict[int, ContributionCCD] = {}
            for where, part in job.ccd.parts.items():
                owner = job.led_by(part.bone)
                if owners.index(owner) in chains:
                    raise CoreError(f'{where}: another chain already ends at "{job.goals[owner].bone}".')
                chains[owners.index(owner)] = replace(part.method(bool(job.limits), position_tolerance), bends=bends)
            if len(goals) == 1:
                return solve(limited, pose, goals, chains[0], progress)
            pins = PinAndDrag(limits=bool(job.limits), root="fixed", restarts=0, settle=False, **tolerances)
            _, pins = with_anatomy(writable, pins, roles)
            return solve(limited, pose, goals, SeveralChains(chains, pins), progress)
        strength = np.inf if job.strength is None else job.strength
        if job.humanoid is not None:
            writable = with_ranges(writable, roles, pose) if job.anatomical_limits else writable
            method = job.humanoid.method(roles, bool(job.limits), strength=strength, **tolerances)
            return solve(writable, pose, goals, method, progress)
        tuning = bridge.read_tuning(self._armature, skeleton)
        reference = _reference(job, skeleton, roles, pose, tuning, self._targets)
        method = PinAndDrag(
            limits=job.limits,
            root=job.root,
            stretch=job.stretch,
            strength=self._share * strength,
            strength_at=self._last,
            firm_at=self.held.first,
            reference=reference,
            # frames start from their neighbours' solutions; settled one by one they may end in different minima
            coherent=job.frames is not None,
            settle=job.frames is None,
            **tolerances,
        )
        pose = _start_pose(job, writable, pose, reference) if near is None else near
        writable, method = with_anatomy(
            writable, method, roles, ranges=job.anatomical_limits, loose=self._loose, tuning=tuning
        )
        return solve_in_blocks(writable, pose, goals, method, progress)

    def pose_controls(self, armature: Any, new: bool = True) -> Generator[float, None, None]:
        if self.controlled is None:
            self._take_carried(armature)
            return
        start = reached = self._start
        framed = self.job.frames is not None
        for round_ in range(_ROUNDS if framed else _ROUNDS_OF_ONE):
            if round_:
                wanted = self.solution.pose
                start = take_undecided(self.controlled, start, wanted, reached)
                self.solution = self._solve(start, near=reached)
                if _is_settled(self.solution.pose, reached):
                    assert self.control_motion is not None
                    self.control_motion = replace(self.control_motion, misfit=[])
                    self._wanted = reached  # what is shown is what is solved
                    break
                if _is_settled(self.solution.pose, wanted):
                    break
            pose = self.solution.pose
            self.control_motion, self._wanted, reached = yield from find_control_motion(
                self._context, armature, self.rig, self.controlled, self.before, pose, framed
            )

    def pose_by(self, armature: Any, controlled: bridge.ControlledBody) -> None:
        """Solve the one pose once more, and pose it by other controls."""
        self.controlled = bridge.repeated(self.held.hold(controlled), 1)
        self.solution = self._solve(self._start)
        run_steps(self.pose_controls(armature))

    def _take_carried(self, armature: Any) -> None:
        """Solve again with what Blender makes of carried bones in the present frame, until that stays as it is."""
        carried, before = self.rig.carried, self.before.pose
        if self.job.frames is not None or not len(carried):
            return
        channels = bridge.read_channels(armature)
        try:
            for _ in range(_ROUNDS):
                turned, moved, scaled = self.changed_bones()
                bones = {*turned.tolist(), *moved.tolist()}
                bridge.write_pose(armature, self.rig, self.after.pose[0], bones, scaled, self.whole_scales)
                update(self._context)
                seen = bridge.with_carried(self.rig, self.after.pose[0], bridge.read_matrices(armature))
                if _is_settled(seen[None], self.after.pose):
                    break
                self.solution = self._solve(take_over(before, seen, carried, carried))
                self.after = replace(self.before, pose=self.solution.pose)
        finally:
            bridge.write_channels(armature, channels)
            update(self._context)

    def changed_bones(self) -> ChangedBones:
        if self.control_motion is None:  # carried bones turn by themselves
            turned, moved, scaled = super().changed_bones()
            return np.setdiff1d(turned, self.rig.carried), np.setdiff1d(moved, self.rig.carried), scaled
        turned, moved = (np.array(bones, int) for bones in (self.control_motion.turned, self.control_motion.moved))
        return turned, moved, np.array([], int)

    def said_staying(self, armature: Any) -> list[str]:
        stays = self.held.explain_above((one.bone for one in self.goals), self.roles)
        return [*super().said_staying(armature), *stays]

    def report(self, armature: Any, written: Any, changed: ChangedBones) -> Report:
        scaled = tuple(self.skeleton.names[bone] for bone in changed[2])
        return replace(super().report(armature, written, changed), grown=scaled)

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        with preserve_channels(self._context, armature, self._written) if self.keyed else nullcontext():
            frames = self.before.frames if self.keyed else None
            self.take = frames_of_body(self.controlled, evaluate(self._context, armature, frames, self._follow))
        return tuple(report_goal(goal, self.body, self.take, self.job) for goal in self.goals)

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        if self.controlled is None:
            return super().wanted(armature, part)
        return wanted_body(self.body, self.roles, self._wanted[part])

    def shown(self, armature: Any, part: Frames) -> Evaluation:
        return self.take.part(part)

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        tacit = self.job.balance is not None and self.job.balance.feet
        missed = [place for place, goal in enumerate(goals) if not goal.met.all()]
        return (
            *(self._explain(place, goals[place]) for place in missed if not (tacit and goals[place].kind == "balance")),
            *self.solution.explain_finish(),
            *self.misfit,
        )

    def _explain(self, place: int, report: GoalReport) -> str:
        """Return where a goal is missed by most, as measured, and what the solver found in its way there."""
        frame = int(np.searchsorted(self.before.frames, report.frames[report.worst]))
        parts = [part for part, (owner, _) in enumerate(self._asked) if owner == place]
        retold = self.held.retold(self._armature, {goal.bone for goal in self.job.goals})
        reasons = list(dict.fromkeys(retold(one) for part in parts for one in self.solution.reasons(part, frame)))
        driven = self.rig.driven_above(self.skeleton.index(report.bone))
        if driven is not None and self.control_motion is None:
            reasons.append(driven)
        elif place in self._yielding and self.solution.met()[frame, parts[0]]:
            return self.held.explain_yielded(self._yielding[place])
        elif self.solution.met()[frame, parts].all():
            reasons = [Cause(Kind.MOVED)]
        return report.sentence(reasons)


def _is_settled(wanted: Pose, pose: Pose) -> bool:
    """Return whether two poses are the same."""
    far = np.abs(wanted.translations - pose.translations).max(initial=0.0)
    return bool(np.abs(wanted.rotations - pose.rotations).max(initial=0.0) < _SETTLED and far < _SETTLED)


def check_named(context: Any, armature: Any, job: Job) -> None:
    """Raise CoreError for bones, parts and objects that are missing, and objects that are disabled or the armature."""
    _check_bones(tuple(armature.data.bones.keys()), job)
    for (name, _), followed in followed_objects(job.goals).items():
        if followed is None or followed not in set(context.scene.objects):
            raise CoreError(f'No object "{name}" in the scene "{context.scene.name}".')
        if not followed.evaluated_get(evaluated_graph(context)).is_evaluated:
            raise CoreError(f'"{name}" is disabled in the viewport or not in the view layer. Show it first.')
        if followed == armature:
            raise CoreError(f'"{name}" is the armature itself, which a goal cannot follow. Name another object.')
    if any(goal.role is not None for goal in job.goals):
        _with_bones(armature, bridge.read_rig(armature).skeleton, job)


def _with_bones(armature: Any, skeleton: Skeleton, job: Job) -> tuple[Roles, Job]:
    """Return the parts of the body, and the job with the bones of those that goals name; raises CoreError."""
    said = bridge.mapping_to_corrections(armature, job.roles)
    roles = bridge.read_roles(armature, skeleton, said, job.facing)
    return roles, on_bones(job, roles, skeleton.names)


def _check_action(context: Any, armature: Any, job: Job) -> None:
    """Raise CoreError for an action that cannot be written."""
    write, data = job.write, armature.animation_data
    check_scene(context, armature, job.write.key)
    if write.new and write.action is not None and write.action in bpy.data.actions:
        raise CoreError(f'write.action: the action "{write.action}" already exists; choose another name.')
    if write.key and not write.new and data and data.action and not data.action.is_editable:
        raise CoreError(f'The action "{data.action.name}" is linked from another file; write a new one instead.')


def _check_bones(names: tuple[str, ...], job: Job) -> None:
    """Raise CoreError if a bone that the job names is missing."""
    for field, bone in job.named_bones().items():
        if bone not in names:
            raise CoreError(f"{field}: {no_bone(bone, names)}")


def _find_controlled(
    armature: Any, rig: bridge.Rig, roles: Roles, job: Job, frames: Array, states: Mapping[float, bytes]
) -> bridge.ControlledFrames | None:
    """Return the controlled body, if the bones that the job names move with it; else None.

    Raises CoreError if only controls can move a goal's bone, or it is a target of IK, and another is not of the body.
    """
    pins_last = sorted(job.goals, key=lambda goal: goal.kind == "pin")
    named = [rig.skeleton.index(bone) for goal in pins_last for bone in (goal.bone, *goal.others.values())]
    controlled = bridge.find_controlled_frames(armature, rig, roles, frames, states, named)
    if controlled is None:
        return None
    strange = {field: bone for field, bone in job.named_bones().items() if bone not in controlled.skeleton.names}
    if not any(body.serves(rig, named) for body in controlled.bodies):
        return None if strange else controlled
    for field, bone in strange.items():
        if field.startswith("goals"):
            raise CoreError(f'{field}: "{bone}" does not move with the body; name a bone that does.')
    return controlled


def _writable(skeleton: Skeleton, job: Job) -> Skeleton:
    """Return the skeleton with the job's stiffness, in which only bones that the job may write can move."""
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


def _reference(
    job: Job, skeleton: Skeleton, roles: Roles, pose: Pose, tuning: Tuning | None, targets: Pose | None
) -> Pose:
    """Return the joint targets; the root keeps its rotation. `targets`: the poses that the job names."""
    if job.joint_targets == "present":
        return pose
    if isinstance(job.joint_targets, PoseTargets):
        assert targets is not None
        chosen = job.joint_targets.bones
        shares = np.array([chosen.get(name, 0.0 if chosen else 1.0) for name in skeleton.names])
        shares[skeleton.parents < 0] = 0.0
        return replace(pose, rotations=rotation.slerp(pose.rotations, targets.rotations, shares))
    stays, turns = skeleton.parents < 0, np.broadcast_to(rotation.IDENTITY, pose.rotations.shape)
    if job.joint_targets == "relaxed":
        turns = anatomy(skeleton, roles, tuning).reference.rotations
        stays[[bone for hips in roles.chain("hips") for bone in skeleton.ancestors(hips)]] = True
    return replace(pose, rotations=np.where(stays[:, None], pose.rotations, turns))


def _start_pose(job: Job, skeleton: Skeleton, pose: Pose, reference: Pose) -> Pose:
    """Return the pose to start from: the joint targets, of bones that may turn, within their limits.

    Joints that no goal moves stay there. Others, started far from them, as in a T-pose, may end half a turn off.
    """
    free = skeleton.movable & ~skeleton.driven & ~skeleton.rotation_locks.any(axis=1)
    free &= (skeleton.stiffness < 1.0).all(axis=1)
    turned = free & (rotation.angle_between(pose.rotations, reference.rotations) > _SETTLED)
    wanted = clamp_rotations(skeleton.limits, reference.rotations)[0] if job.limits else reference.rotations
    return replace(pose, rotations=np.where(turned[..., None], wanted, pose.rotations))
