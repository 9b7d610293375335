"""What a drag shows in the viewport, in the world."""

from typing import Final

import numpy as np

from ...core import Balance, rotation
from ...core.pose import forward_matrices
from ...core.rotation import Array
from .session import DragSession

_ALONG: Final = np.array([0.0, 1.0, 0.0])  # a bone
_STRETCHED: Final = 1e-3  # change of a scale that is shown


def targets(session: DragSession) -> list[Array]:
    """Return for each effector its target and its place (2, 3)."""
    heads, turns = session.frames()
    bones, points = zip(*((effector.bone, effector.point) for effector in session.effectors), strict=True)
    wanted = np.stack([place for place, _ in session.targets])
    there = heads[[*bones]] + rotation.rotate(turns[[*bones]], np.stack(points))
    return list(session.body.to_world(np.stack([wanted, there], axis=1)))


def limited_bones(session: DragSession) -> list[Array]:
    """Return head and tail (2, 3) of the bones whose limits hold the pose back, if what is dragged or pinned is missed.

    Where only the balance, or feet that nobody pinned, give way, no sentence tells why.
    """
    solution = session.solution
    if solution is None or solution.limits_active is None:
        return []
    asked = zip(solution.goals[: session.problem.asked], solution.met(), strict=False)
    if all(met or isinstance(goal, Balance) for goal, met in asked):
        return []
    bones = sorted({solution.limit_names[place][0] for place in np.flatnonzero(solution.limits_active)})
    heads, turns = (values[bones] for values in session.frames())
    tails = heads + rotation.rotate(turns, _ALONG * session.body.skeleton.lengths[bones, None])
    return list(session.body.to_world(np.stack([heads, tails], axis=1)))


def stretched_bones(session: DragSession) -> list[Array]:
    """Return head and tail (2, 3) of the bones whose length has changed since the press."""
    pose, start = session.pose, session.start
    if pose.scales is None:
        return []
    before = np.ones_like(pose.scales) if start.scales is None else start.scales
    bones = np.flatnonzero((np.abs(pose.scales - before) > _STRETCHED).any(axis=-1))
    skeleton = session.body.skeleton
    matrices = forward_matrices(skeleton, pose)[bones]
    tails = matrices[..., 3] + matrices[..., 1] * skeleton.lengths[bones, None]
    return list(session.body.to_world(np.stack([matrices[..., 3], tails], axis=-2)))
