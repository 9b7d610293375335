"""The heads and frames of the bones that the humanoid method turns, from a pose and back to one."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ... import rotation
from ...body.figure import Figure
from ...motion import shifted
from ...pose import Pose, forward
from ...rotation import Array


class Nodes:
    """`heads` (..., N, 3) and `frames` (..., N, 4) of the nodes of a figure, in armature space."""

    def __init__(self, figure: Figure, heads: Array, frames: Array) -> None:
        self.figure, self.heads, self.frames = figure, np.array(heads), np.array(frames)

    def move(self, rows: NDArray[np.int64], turn: Array, pivot: Array, to: Array) -> None:
        """Rotate nodes rigidly by `turn` (..., 4) about `pivot` (..., 3), and move the pivot to `to` (..., 3)."""
        away = self.heads[..., rows, :] - pivot[..., None, :]
        self.heads[..., rows, :] = to[..., None, :] + rotation.rotate(turn[..., None, :], away)
        self.frames[..., rows, :] = rotation.mul(turn[..., None, :], self.frames[..., rows, :])

    def turn(self, bone: int, turn: Array) -> None:
        """Rotate a node and all nodes below it by `turn` (..., 4) about its head."""
        self.move(self.figure.below[bone], turn, self.head(bone), self.head(bone))

    def head(self, bone: int) -> Array:
        """Return a copy of a node's head (..., 3)."""
        return self.heads[..., self.figure.rows[bone], :].copy()

    def frame(self, bone: int) -> Array:
        """Return a copy of a node's frame (..., 4)."""
        return self.frames[..., self.figure.rows[bone], :].copy()

    def point(self, bone: int, point: Array) -> Array:
        """Return the position (..., 3) of a point (..., 3) of a node's frame."""
        return self.head(bone) + rotation.rotate(self.frame(bone), point)


class PosedNodes(Nodes):
    """The nodes of a figure in a flat pose (B,); `start_heads` (B, J, 3), `start_frames` (B, J, 4) of all bones."""

    def __init__(self, figure: Figure, pose: Pose) -> None:
        self.pose = pose
        self.start_heads, self.start_frames = forward(figure.skeleton, pose)
        super().__init__(figure, self.start_heads[:, figure.nodes], self.start_frames[:, figure.nodes])

    def carried_frame(self, bone: int) -> Array:
        """Return the frame (B, 4) of any bone, carried by its anchor."""
        row, start = self.figure.anchors[bone], self.start_frames[:, bone]
        if row < 0:
            return start
        change = rotation.mul(self.frames[:, row], rotation.inv(self.start_frames[:, self.figure.nodes[row]]))
        return rotation.mul(change, start)

    def base_frame(self, bone: int) -> Array:
        """Return the frame (B, 4) that a bone's own rotation starts from: its rest frame, carried by its parent."""
        skeleton = self.figure.skeleton
        parent, rest = int(skeleton.parents[bone]), skeleton.rest_rotations[bone]
        if parent < 0:
            return np.broadcast_to(rest, (len(self.heads), 4))
        if not skeleton.inherit_rotation[bone]:
            above = rotation.from_matrix(skeleton.rest_matrices[parent, :, :3])
            return np.broadcast_to(rotation.mul(above, rest), (len(self.heads), 4))
        return rotation.mul(self.carried_frame(parent), rest)

    def to_pose(self) -> Pose:
        """Return the pose (B,) in which the nodes have these heads and frames."""
        figure, pose = self.figure, self.pose
        rotations = np.array(pose.rotations)
        for row, bone in enumerate(figure.nodes.tolist()):
            rotations[:, bone] = rotation.mul(rotation.inv(self.base_frame(bone)), self.frames[:, row])
        if figure.shifts:
            way = self.head(figure.root) - self.start_heads[:, figure.root]
            pose = shifted(figure.skeleton, pose, figure.root, way)
        return replace(pose, rotations=rotation.normalize(rotations))
