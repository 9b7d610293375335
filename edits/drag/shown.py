"""What a drag shows in the viewport, in the world."""

from typing import Final

import numpy as np

from ...core.pose import forward_matrices
from ...core.rotation import Array
from .session import DragSession

_STRETCHED: Final = 1e-3  # change of a scale that is shown


def targets(session: DragSession) -> list[Array]:
    """Return for each effector its target and its place (2, 3)."""
    heads, turns = session.frames()
    return [
        session.body.to_world(np.stack([wanted, heads[effector.bone] + turns[effector.bone] @ effector.point]))
        for effector, (wanted, _) in zip(session.effectors, session.targets, strict=True)
    ]


def limited_bones(session: DragSession) -> list[Array]:
    """Return head and tail (2, 3) of the bones that are at a limit."""
    solution = session.solution
    if solution is None or solution.limits_active is None:
        return []
    bones = {bone for (bone, _), on in zip(solution.limit_names, solution.limits_active, strict=True) if on}
    heads, turns = session.frames()
    lengths = session.body.skeleton.lengths
    return [
        session.body.to_world(np.stack([heads[bone], heads[bone] + turns[bone][:, 1] * lengths[bone]]))
        for bone in sorted(bones)
    ]


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
