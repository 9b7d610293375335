"""The finish of the humanoid method: frames that miss a goal are solved by `PinAndDrag`, near the edge of reach."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...goals import AnyGoal, Goal
from ...pose import Pose, forward
from ..pins import PinAndDrag
from .closed import ClosedForm
from .targets import Targets


def finish(
    closed: ClosedForm,
    targets: Targets,
    pose: Pose,
    missed: NDArray[np.int64],
    reference: Pose,
    near: Pose | None,
    **settings: Any,
) -> tuple[Pose, NDArray[np.int64]]:
    """Return the pose (B,) with its missed frames solved by `PinAndDrag`, and its iterations in these.

    What does not pull keeps its position in the pose, and what resists is stiffer.

    reference  (n,) what joints of the missed frames stay near
    near       a pose (1,) to start from, of a drag; None: the reference
    settings   of `PinAndDrag`
    """
    figure, known = closed.figure, closed.figure.anatomy
    deviations = np.array(known.deviations)
    for part, bones in figure.trunk.items():
        deviations[list(bones)] *= closed.gives[part]
    method = PinAndDrag(
        root="fixed" if closed.gives["hips"] == 0.0 else "pull", root_bone=figure.root, reference=reference,
        deviations=deviations, axes=known.axes, correlations=known.correlations, bends=known.bends, restarts=0,
        settle=near is None, **settings,
    )  # fmt: skip
    goals = [goal.at((missed,), (len(pose.rotations),)) for goal in _pulling(closed, targets, pose)]
    skeleton = replace(figure.skeleton, limits=closed.limits)
    solution = method.prepare(skeleton, reference if near is None else near, goals).solve()
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    rotations[missed], translations[missed] = solution.pose.rotations, solution.pose.translations
    return replace(pose, rotations=rotations, translations=translations), solution.iterations


def _pulling(closed: ClosedForm, targets: Targets, pose: Pose) -> list[AnyGoal]:
    """Return the goals; that of an end is moved towards its position in the pose by how little the end pulls."""
    figure, pulls = closed.figure, closed.pulls
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
