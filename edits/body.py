"""Apply a body tool to one pose or to every frame of a motion, and measure the result in Blender."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from .. import bridge
from ..bridge.motion import iterate_frames, preserve_channels
from ..bridge.turns import update
from ..core import Goal, LookAt, Pose, Skeleton, Solution, rotation
from ..core.body.gaze import MISSED
from ..core.causes import UNPINNED, Cause
from ..core.formats.report import GoalReport
from ..core.pose import stack
from ..core.rotation import Array, lengths
from ..core.steps import run_steps
from .body_tools import BodyTool, Posed, PoseGoals, Wanted
from .controls import find_control_motion, frames_of_body
from .evaluation import Evaluation, evaluate
from .motion_edit import POSITION_TOLERANCE, ROTATION_TOLERANCE, Frames, MotionEdit, Progress
from .shown import WantedPose, wanted_body


class BodyEdit(MotionEdit):
    """The pose that a tool makes of each frame's pose, or without `frames` of the present one."""

    method, whole_scales = "body", True

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int] | None, tool: BodyTool, keyed: bool = True
    ) -> None:
        here = context.scene.frame_current
        super().__init__(context, armature, frames or (here, here))
        self.keyed, self.at = keyed, None if frames is None else self.before.frames
        self.body = bridge.read_body(armature)
        controlled = self._find_controlled(armature)
        if controlled is not None:
            self.rig = controlled.with_starts(self.rig)
            self.body = replace(self.body, rig=self.rig, skeleton=controlled.skeleton, controlled=controlled.at(0))
        bodies: list[bridge.Body] = []
        found: list[Wanted] = []
        with nullcontext() if frames is None else preserve_channels(context, armature):
            for place in iterate_frames(context, self.at):
                update(context)
                there = replace(self.body, controlled=controlled and controlled.at(place))
                bodies.append(bridge.read_body_again(armature, there))
                body = bodies[-1]
                found.append(
                    tool.go_on(context, armature, body, found[-1]) if found else tool.apply(context, armature, body)
                )
        self.body = bodies[0]
        self.notes: list[Posed] = []
        self.missed: list[str] = []  # sentences
        asked = [one for one in found if isinstance(one, PoseGoals)]
        posed = [one for one in found if not isinstance(one, PoseGoals)]
        if asked:  # in every frame
            poses, goals = stack([one.pose for one in asked]), _stacked([one.goals for one in asked])
            together = PoseGoals(poses, goals).solve(self.body)
            self.asked = together.pose
            self.solutions: list[Solution | _Frame] = [_Frame(together, place) for place in range(len(asked))]
        else:
            self.notes = [one for one in posed if isinstance(one, Posed)]
            self.missed = [*dict.fromkeys(sentence for one in self.notes for sentence in one.missed)]
            if self.notes and not any(one.said for one in self.notes):
                self.notes[0].need()
            self.asked = stack([pose_of(one) for one in posed])
            self.solutions = [one for one in posed if isinstance(one, Solution)]
        self.controlled, wanted = controlled, self.asked
        if controlled is not None:
            located = self.before.pose.translations
            controlled = controlled.changed(lambda one: one.slid(located))
            steps = find_control_motion(
                context, armature, self.rig, controlled, self.before, wanted, frames is not None
            )
            self.control_motion, self.asked, _ = run_steps(steps)
            self.found = self.control_motion.motion
            return
        stood = replace(self.body, pose=stack([one.pose for one in bodies]))
        poses = (stood.pose, bridge.allow(stood, wanted))
        self.before, self.found = (replace(self.before, pose=pose) for pose in poses)

    def _find_controlled(self, armature: Any) -> bridge.ControlledFrames | None:
        """Return the body that controls pose in each frame."""
        if self.body.controlled is None:
            return None
        roles = bridge.read_roles(armature, self.rig.skeleton)
        found = bridge.find_controlled_frames(armature, self.rig, roles, self.before.frames, self.states)
        return found or bridge.repeated(self.body.controlled, len(self.before))

    def compute(self, progress: Progress) -> None:
        self.after = self.found

    def measure(self, armature: Any) -> tuple[GoalReport, ...]:
        self.take = frames_of_body(self.controlled, evaluate(bpy.context, armature, self.at))
        return report_goals(self.body.skeleton, self.solutions, self.take)

    def wanted(self, armature: Any, part: Frames) -> WantedPose:
        if self.controlled is None:
            return super().wanted(armature, part)
        return wanted_body(self.body.skeleton, self.controlled.roles, self.asked[part])

    def shown(self, armature: Any, part: Frames) -> Evaluation:
        return self.take.part(part)

    def explain(self, goals: tuple[GoalReport, ...]) -> tuple[str, ...]:
        held = (
            bridge.explain_missed_bones(self.body, self.asked, self.after.pose)
            if self.control_motion is None
            else [*bridge.explain_limited_controls(self.control_motion.at_limit), *self.misfit]
        )
        return (*explain_goals(goals, self.solutions), *self.missed, *held)


@dataclass(frozen=True, eq=False)
class _Frame:
    """One frame of a solution for many."""

    solution: Solution
    place: int

    @property
    def goals(self) -> tuple[Any, ...]:
        return tuple(goal.at((self.place,), self.solution.pose.batch_shape) for goal in self.solution.goals)

    def reasons(self, index: int) -> list[Cause]:
        return self.solution.reasons(index, self.place)


def _stacked(goals: Sequence[Sequence[Goal]]) -> list[Goal]:
    """Return the goals of F frames as goals with arrays (F, ...)."""
    return [
        replace(
            column[0],
            **{name: np.stack([getattr(goal, name) for goal in column])
               for name in ("position", "rotation") if getattr(column[0], name) is not None},
        )
        for column in zip(*goals, strict=True)
    ]  # fmt: skip


def pose_of(found: Pose | Solution | Posed) -> Pose:
    """Return a pose, or the pose of what has one."""
    return found if isinstance(found, Pose) else found.pose


def report_goals(
    skeleton: Skeleton, solutions: Sequence[Solution | _Frame], take: Evaluation
) -> tuple[GoalReport, ...]:
    """Return the errors of the goals that a tool solved, as Blender shows the body's bones; none if it solved none."""
    asked = zip(*(solution.goals for solution in solutions), strict=True)
    return tuple(_report(skeleton, goals, take) for goals in asked)


def explain_goals(reports: Sequence[GoalReport], solutions: Sequence[Solution | _Frame]) -> list[str]:
    """Return a sentence for each missed goal of a tool, which has no pins: its largest error, and the reasons there."""
    sentences: list[str] = []
    for number, report in enumerate(reports):
        if not report.met.all():
            causes = solutions[report.worst].reasons(number)
            sentences.append(report.sentence([cause.seen({}, UNPINNED) for cause in causes]))
    return sentences


def _report(skeleton: Skeleton, goals: Sequence[Any], take: Evaluation) -> GoalReport:
    """Return the errors of one goal, given for each of F frames."""

    def wanted(name: str) -> Array:
        return np.stack([getattr(goal, name) for goal in goals])

    bone = skeleton.index(goals[0].bone)
    place, turns = take.bone_point(bone, np.asarray(goals[0].point)), take.bone_rotation(bone)
    if isinstance(goals[0], LookAt):
        kind, far, tolerance = "look_at", None, float(np.degrees(MISSED))
        here = take.vectors_in("world", rotation.rotate(turns, goals[0].axis))
        there = take.vectors_in("world", wanted("target") - place)
        turned = np.arctan2(lengths(np.cross(here, there)), np.sum(here * there, axis=-1))
    else:
        kind, tolerance = "body", ROTATION_TOLERANCE
        far = lengths(take.positions_in("world", place) - take.positions_in("world", wanted("position")))
        turned = rotation.angle_between(turns, wanted("rotation"))
    name = skeleton.names[bone]
    return GoalReport(name, kind, take.frames, far, np.degrees(turned), POSITION_TOLERANCE, tolerance)
