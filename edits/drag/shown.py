"""What a drag shows in the viewport, in the world."""

from typing import Final

import numpy as np

from ... import bridge
from ...core import rotation
from ...core.causes import Explanation, Kind
from ...core.pose import forward_matrices
from ...core.rotation import Array
from .explain import told_names
from .session import DragSession

_ALONG: Final = np.array([0.0, 1.0, 0.0])  # a bone
_STRETCHED: Final = 1e-3  # change of a scale that is shown


def targets(session: DragSession) -> list[Array]:
    """Return for each effector its target and its place (2, 3)."""
    heads, turns = session.frames()
    bones, points = zip(*((effector.bone, effector.point) for effector in session.effectors), strict=True)
    wanted = np.stack([place for place, _ in session.targets])
    there = heads[[*bones]] + rotation.rotate(turns[[*bones]], np.stack(points))
    return list(_in_world(session, np.stack([wanted, there], axis=1)))


def limited_bones(session: DragSession, told: str) -> list[Array]:
    """Return head and tail (2, 3) of the bones of which a sentence of `explain` says that they are at their limits."""
    causes = told.causes if isinstance(told, Explanation) else ()
    limited, names = {cause.bone for cause in causes if cause.kind is Kind.LIMIT}, told_names(session)
    bones = [
        bone for bone, name in enumerate(session.body.skeleton.names) if limited and names.get(bone, name) in limited
    ]
    heads, turns = (values[bones] for values in session.frames())
    tails = heads + rotation.rotate(turns, _ALONG * session.body.skeleton.lengths[bones, None])
    return list(_in_world(session, np.stack([heads, tails], axis=1)))


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
    return list(_in_world(session, np.stack([matrices[..., 3], tails], axis=-2)))


def _in_world(session: DragSession, places: Array) -> Array:
    """Return positions (..., 3) of armature space in the world."""
    return bridge.armature_to_world(session.body.world, places)[0]
