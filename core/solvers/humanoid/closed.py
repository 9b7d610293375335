"""The closed form of some frames, and the poses where it stops to meet its goals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...body.figure import Figure
from ...goals import AnyGoal, Goal
from ...limits import LimitGroup, clamp_rotations
from ...motion import blocks
from ...pose import Pose
from ...rotation import Array
from ..pins.limits import locked_angles
from ..pins.numbers import ROTATION_LENGTH
from .bend import bend, orient_end, read_limbs
from .errors import errors_of
from .nodes import PosedNodes
from .pull import pull_trunk
from .targets import Targets, read_targets
from .trunk import place_trunk

# parts of the skeleton's size by which a closed form misses its goals: up to the first one it is one to stay near, from
# the second one on it is none
_EDGE: Final = (0.025, 0.05)
_PARTS: Final = 16  # of the way to the targets
_EDGE_RESTS: Final = 1e-4, 60  # as `rests` and `rounds` of `pull_trunk`


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """What closed forms of all frames share.

    pulls, gives, reach, shares  as in `pull_trunk`
    limits                       groups to be kept
    """

    figure: Figure
    pulls: Mapping[int, float]
    gives: Mapping[str, float]
    reach: float
    shares: Mapping[int, float]
    limits: tuple[LimitGroup, ...]

    def pose(
        self, nodes: PosedNodes, targets: Targets, swivels: Mapping[str, Array], rests: float, rounds: int
    ) -> Pose:
        """Return the pose (B,) for targets, with wanted swivels (B,); `rests` and `rounds` as in `pull_trunk`.

        nodes  of the start pose; they are changed
        """
        limbs, start = read_limbs(nodes, targets, swivels), nodes.pose
        x = pull_trunk(nodes, targets, limbs, self.pulls, self.gives, self.reach, rests, rounds, self.shares)
        trunk = place_trunk(nodes, targets.nodes, x, self.shares)
        nodes.heads, nodes.frames = trunk.heads, trunk.frames
        for limb in limbs:
            bend(nodes, limb)
            orient_end(nodes, limb)
        pose = nodes.to_pose()
        skeleton = self.figure.skeleton
        locked = locked_angles(skeleton, start.rotations, self.figure.nodes.tolist())
        inside, _ = clamp_rotations((*self.limits, *locked), pose.rotations)
        return replace(pose, rotations=np.where(skeleton.movable[:, None], inside, start.rotations))

    def at_edge(self, start: Pose, targets: Targets, swivels: Mapping[str, Array], frames: NDArray[np.int64]) -> Pose:
        """Return the poses (n,) of some frames of start (B,) where the closed form stops to meet its goals.

        Targets go straight from where they are in the start pose to where they are wanted. A pose further out would
        be as far from what a body can do as its targets are.
        """
        goals = [goal for goal, known in zip(targets.goals, targets.known, strict=True) if known]
        parts: list[Pose] = []
        for part in blocks(len(frames)):
            rows = frames[part]
            some = [goal.at((rows,), (len(start.rotations),)) for goal in goals]
            parts.append(self._edge(start[rows], some, {name: value[rows] for name, value in swivels.items()}))
        joined = [np.concatenate([getattr(one, name) for one in parts]) for name in ("rotations", "translations")]
        return replace(start[frames], rotations=joined[0], translations=joined[1])

    def _edge(self, start: Pose, goals: Sequence[AnyGoal], swivels: Mapping[str, Array]) -> Pose:
        shares = np.broadcast_to(np.arange(_PARTS + 1) / _PARTS, (len(start.rotations), _PARTS + 1))
        poses, missed = self._partway(start, goals, swivels, shares)
        far = np.maximum.accumulate(missed - missed[:, :1], axis=1)  # joints may begin outside their limits
        near = np.clip((_EDGE[1] - far) / (_EDGE[1] - _EDGE[0]), 0.0, 1.0)
        # of each part of the way as much as its ends are near: a sum has no edge that jumps
        goes = 0.5 * (near[:, 1:] + near[:, :-1])[..., None]
        turns, places = poses.rotations[:, 0], poses.translations
        for part in range(_PARTS):
            step = rotation.mul(rotation.inv(poses.rotations[:, part]), poses.rotations[:, part + 1])
            turns = rotation.mul(turns, rotation.exp(goes[:, part, None] * rotation.log(step)))
        ways = np.sum(goes[..., None] * np.diff(places, axis=1), axis=1)
        return replace(start, rotations=turns, translations=places[:, 0] + ways)

    def _partway(
        self, start: Pose, goals: Sequence[AnyGoal], swivels: Mapping[str, Array], shares: Array
    ) -> tuple[Pose, Array]:
        """Return poses (n, k) for shares (n, k) of the way to the targets, and how far they miss them, in sizes."""
        rows = np.repeat(np.arange(len(shares)), shares.shape[1])
        flat: list[AnyGoal] = []
        for goal in goals:
            goal = goal.at((rows,), (len(shares),))
            if isinstance(goal, Goal):
                goal = replace(goal, position_weight=shares.ravel(), rotation_weight=shares.ravel())
            flat.append(goal)
        nodes = PosedNodes(self.figure, start[rows])
        targets = read_targets(nodes, flat, rows.shape, finish=True)
        pose = self.pose(nodes, targets, {name: value[rows] for name, value in swivels.items()}, *_EDGE_RESTS)
        far, off = errors_of(self.figure.skeleton, targets, None, pose)
        anchors = [self.figure.anchors[self.figure.skeleton.index(goal.bone)] for goal in goals]
        pulls = [self.pulls.get(int(self.figure.nodes[anchor]), 1.0) for anchor in anchors]
        missed = np.maximum(pulls * far / self.figure.skeleton.size, ROTATION_LENGTH * off).max(axis=1, initial=0.0)
        return pose.reshape(shares.shape), missed.reshape(shares.shape)
