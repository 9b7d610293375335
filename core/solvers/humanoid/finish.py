"""The finish of the humanoid method: frames that miss a goal are solved by `PinAndDrag`, near the pose found."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...body.figure import Figure
from ...goals import AnyGoal, Goal
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


def finish(
    figure: Figure,
    skeleton: Skeleton,
    targets: Targets,
    pulls: Mapping[int, float],
    gives: Mapping[str, float],
    pose: Pose,
    missed: NDArray[np.int64],
    strength: float,
    tolerances: Mapping[str, Any],
    near: Pose | None,
) -> tuple[Pose, NDArray[np.int64]]:
    """Return the pose (B,) with its missed frames solved by `PinAndDrag`, and its iterations in these.

    skeleton       with the limits to be kept
    pulls, gives   as in `pull_trunk`: what does not pull keeps its position, and what resists is stiffer
    strength, tolerances  of `PinAndDrag`
    near                  a pose (1,) to start from, of a drag; None: the pose itself
    """
    known = figure.anatomy
    deviations = np.array(known.deviations)
    for part, bones in figure.trunk.items():
        deviations[list(bones)] *= gives[part]
    method = PinAndDrag(
        root="fixed" if gives["hips"] == 0.0 else "pull", root_bone=figure.root, reference=pose[missed],
        deviations=deviations, axes=known.axes, correlations=known.correlations, bends=known.bends, restarts=0,
        strength=strength, settle=near is None, **tolerances,
    )  # fmt: skip
    goals = [goal.at((missed,), (len(pose.rotations),)) for goal in _pulling(figure, targets, pulls, pose)]
    solution = method.prepare(skeleton, pose[missed] if near is None else near, goals).solve()
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    rotations[missed], translations[missed] = solution.pose.rotations, solution.pose.translations
    return replace(pose, rotations=rotations, translations=translations), solution.iterations


def _pulling(figure: Figure, targets: Targets, pulls: Mapping[int, float], pose: Pose) -> list[AnyGoal]:
    """Return the goals; that of an end is moved towards its position in the pose by how little the end pulls."""
    heads, frames = forward(figure.skeleton, pose)
    found: list[AnyGoal] = []
    for goal, known in zip(targets.goals, targets.known, strict=True):
        bone = figure.skeleton.index(goal.bone)
        node = int(figure.nodes[figure.anchors[bone]])
        if known and isinstance(goal, Goal) and goal.position is not None and node in pulls:
            here = heads[:, bone] + rotation.rotate(frames[:, bone], goal.point)
            goal = replace(goal, position=here + pulls[node] * (goal.position - here))
        found.append(goal)
    return found
