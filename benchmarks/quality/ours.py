"""Poise behind the benchmark's own types: the only file here that touches core."""

from typing import Any, Final

import numpy as np

from core import EulerBox, Goal, PinAndDrag, Pose, Skeleton, Solution, rotation, solve

from ..work import Array, quaternion_matrices
from .bodies import Body, Wish

ONE_START: Final[dict[str, Any]] = {"restarts": 0}


def skeleton_of(body: Body, limits: bool = True) -> Skeleton:
    bounded = np.flatnonzero(np.isfinite(body.lower).all(axis=-1) & np.isfinite(body.upper).all(axis=-1))
    orders = [body.orders[bone] for bone in bounded]
    box = EulerBox(bounded, orders, body.lower[bounded], body.upper[bounded])
    turns = rotation.from_matrix(body.rest)
    groups = (box,) if limits and len(bounded) else ()
    return Skeleton(body.names, body.parents, body.offsets, turns, body.lengths, limits=groups)


def pose_of(body: Body, rotations: Array, roots: Array) -> Pose:
    """Own rotations (..., J, 3, 3) and the location (..., 3) of bone 0 as a pose."""
    translations = np.zeros((*rotations.shape[:-2], 3))
    translations[..., 0, :] = roots
    return Pose(rotation.from_matrix(rotations), translations)


def goals_of(wishes: list[Wish], heads: Array, frames: Array, priorities: list[int] | None = None) -> list[Goal]:
    """Goals of (bone, placed, turned) from heads (..., J, 3) and frames (..., J, 3, 3)."""
    return [
        Goal(
            bone,
            heads[..., bone, :] if placed else None,
            rotation.from_matrix(frames[..., bone, :, :]) if turned else None,
            priority=0 if priorities is None else priorities[number],
        )
        for number, (bone, placed, turned) in enumerate(wishes)
    ]


def matrices_of(solution: Solution) -> tuple[Array, Array]:
    """What the judge takes: own rotations as matrices, and locations of bone 0."""
    return quaternion_matrices(solution.pose.rotations), np.asarray(solution.pose.translations)[..., 0, :]


def run(skeleton: Skeleton, pose: Pose, goals: list[Goal], **settings: Any) -> Solution:
    return solve(skeleton, pose, goals, PinAndDrag(**settings))
