"""By how much poses miss the goals of the humanoid method."""

from dataclasses import replace

import numpy as np

from ... import rotation
from ...goals import Goal
from ...pose import Pose, forward
from ...rotation import Array, lengths
from ...skeleton import Skeleton
from ..pins import PinAndDrag
from ..pins.problem import Problem, missing
from .targets import Targets


def problem_of_others(skeleton: Skeleton, targets: Targets, pose: Pose) -> Problem | None:
    """Return the problem of the goals that are no targets, by which their errors are measured; None without such."""
    goals = [goal for goal, known in zip(targets.goals, targets.known, strict=True) if not known]
    return Problem.of(PinAndDrag(limits=False), skeleton, pose, goals) if goals else None


def errors_of(skeleton: Skeleton, targets: Targets, others: Problem | None, pose: Pose) -> tuple[Array, Array]:
    """Return distances in armature units and angles in radians (B, G) by which a pose (B,) misses the goals.

    others  of `problem_of_others`
    """
    heads, frames = forward(skeleton, pose)
    far, off = np.zeros((2, len(heads), len(targets.goals)))
    if others is not None:
        unknown = np.logical_not(targets.known)
        far[:, unknown], off[:, unknown] = missing(replace(others, given=pose, start=pose, reference=pose))
    for number, goal in enumerate(targets.goals):
        if not targets.known[number] or not isinstance(goal, Goal):
            continue
        bone = skeleton.index(goal.bone)
        if goal.position is not None:
            far[:, number] = lengths(heads[:, bone] + rotation.rotate(frames[:, bone], goal.point) - goal.position)
        if goal.rotation is not None:
            off[:, number] = rotation.angle_between(frames[:, bone], goal.rotation)
    return far, off
