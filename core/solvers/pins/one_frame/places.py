"""Where the features of one frame are at x: forward kinematics and Jacobian in as few calls as possible."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .... import rotation
from ....pose import Pose
from ....rotation import Array
from ..problem import Problem
from ..tree import Kinematics, Links, as_slice
from .aims import Aims
from .limits import FrameLimits
from .placed import Placed


class Places:
    """Forward kinematics of one frame, and the Jacobian: of a rigid body by constants, of others by its links."""

    def __init__(self, problem: Problem, links: Links, frame: int) -> None:
        self.frame, self.unit, self.aims = frame, problem.skeleton.size, Aims(problem, frame)
        self.tree = tree = problem.tree
        self.one = np.array([frame])
        self.turning, self.moving = tree.turning, tree.moving
        self.long = len(tree.stretching)
        self.rigid = not len(tree.breaks) and not self.long
        self.points, self.ends = len(tree.point_nodes), len(tree.end_nodes)
        self._prepare_pose(problem)
        self.limits = FrameLimits(problem, frame)
        # forward kinematics; a slice costs half of an index array
        nodes = len(tree.nodes)
        self.joint_places, self.root_places = tree.joint_places, as_slice(tree.roots)
        parents = np.append(np.where(tree.parents < 0, nodes, tree.parents), nodes)
        parents[tree.breaks] = nodes
        self.jumps: list[tuple[int, NDArray[np.int64]]] = []
        while (parents != nodes).any():
            first = int(np.argmax(parents != nodes))  # nodes are in the order of their depth
            self.jumps.append((first, parents[first:]))
            parents = parents[parents]
        # bones that do not inherit rotation, their parents, and the nodes that go with their heads
        self.breaks = [
            (node, int(tree.parents[node]), np.flatnonzero(tree.broken == node)) for node in tree.breaks.tolist()
        ]
        # features, points and then ends, as frames in the frames of their nodes
        self.feature_nodes = np.concatenate([tree.point_nodes, tree.end_nodes])
        # the Jacobian: columns are turns, then shifts, as velocities at the origin; overwritten each time
        self.mask, self.constant = tree.mask, tree.lever_constant
        self.lever = np.zeros((self.aims.reader.shape[1], 6 * tree.rows))
        self.lever[self.aims.point_rows] = tree.lever_slope
        self.all_features, self.all_goals = np.ones((1, tree.rows)), np.ones((1, problem.rows.rows))
        self.fit(links)

    def fit(self, links: Links) -> None:
        """Take over other links of the problem."""
        tree, frame = self.tree, self.frame
        self.links = links[self.one]
        self.to_frames = self._turns_to_frames(links.turn[frame, tree.joints])
        self.turned_shape = (len(tree.joints), self.to_frames.shape[2] // 9, 3, 3)
        self.local = np.tile(np.eye(4), (len(tree.nodes) + 1, 1, 1))
        self.local[:-1, :3, :3], self.local[:-1, :3, 3] = links.turn[frame], links.shift[frame]
        slide = links.slide[frame]
        self.root_heads = links.shift[frame, tree.roots].ravel()
        # (3 T, 3 T): a block for each root
        self.slide = np.einsum("rij,rs->risj", slide, np.eye(len(slide))).reshape(3 * len(slide), 3 * len(slide))
        self.features = np.tile(np.eye(4), (self.points + self.ends, 1, 1))
        self.features[: self.points, :3, 3] = links.arms[frame]
        self.features[self.points :, :3, :3] = links.ends[frame]
        self.shift_growth, self.arm_growth = (
            growth[frame].swapaxes(0, 1) for growth in (links.shift_growth, links.arm_growth)
        )
        spatial = np.zeros((6, len(tree.joints) + len(slide), 3))
        spatial[3:, len(tree.joints) :] = slide.transpose(1, 0, 2)
        by_joint = spatial[:, : len(tree.joints)].transpose(1, 0, 2)
        self.columns, self.turn_axes, self.turn_moments = spatial.reshape(6, -1), by_joint[:, :3], by_joint[:, 3:]

    def _prepare_pose(self, problem: Problem) -> None:
        """Set the constants from x to the channels of a pose."""
        tree, frame = problem.tree, self.frame
        bones, roots, long = (tree.nodes[places] for places in (tree.joints, tree.roots, tree.stretching))
        self.joint_bones, self.root_bones, self.long_bones = as_slice(bones), as_slice(roots), long
        start, reference = problem.start, problem.reference
        self.start = Pose.trusted(
            start.rotations[frame],
            start.translations[frame],
            *(None if part is None else part[frame] for part in (start.scales, start.driven_matrices)),
        )
        self.root_references = reference.translations[frame, roots]
        self.long_references = np.zeros(0) if reference.scales is None else reference.scales[frame, long, 1]
        # x is about the axes E (see `tree`): q_reference E exp(x) E^-1
        self.axes = None if tree.axes is None else tree.axes[tree.joints]
        after_reference = rotation.mul(reference.rotations[frame, bones][:, None], np.eye(4)).transpose(0, 2, 1)
        if self.axes is not None:
            after_reference[:, :, 1:] = after_reference[:, :, 1:] @ self.axes
        self.to_quaternions = after_reference

    def _turns_to_frames(self, turn: Array) -> Array:
        """Return (R, 10, 9 or 18): features of exp, see `rotation.exp_terms`, to local frames and limited rotations.

        A product with a constant in front is linear in the entries: (A X B)[i, k] = sum of A[i, j] B[l, k] X[j, l].
        """
        eye, count = np.eye(3), len(turn)
        parts = [np.einsum("nij,kl->njlik", turn, eye)]
        if self.limits.groups:
            base, axes = np.zeros_like(turn), np.tile(eye, (count, 1, 1)) if self.axes is None else self.axes
            for own, member in zip(self.limits.base, self.limits.members, strict=True):
                base[member] = own
            parts.append(np.einsum("nij,nkl->njlik", base, axes))
        return np.concatenate([rotation.FEATURES_TO_MATRIX @ part.reshape(count, 9, 9) for part in parts], axis=2)

    def place(self, x: Array) -> Placed:
        """Return the forward kinematics, errors and limit coordinates at x (D,)."""
        at = Placed()
        at.x = x
        at.features, at.powers = rotation.exp_terms(x[: self.turning].reshape(-1, 3))
        features = at.powers.dot(rotation.POWERS_TO_TURN) * at.features
        turned = (features[:, None] @ self.to_frames).reshape(self.turned_shape)
        frames, features = self.local.copy(), self.features
        frames[self.joint_places, :3, :3] = turned[:, 0]
        if self.long:
            more = np.exp(x[self.moving :]) / self.links.grown[0] - 1.0
            frames[:-1, :3, 3] += np.tensordot(more, self.shift_growth, 1)
            features = features.copy()
            features[: self.points, :3, 3] += np.tensordot(more, self.arm_growth, 1)
        if len(self.slide):
            shifts = self.root_heads + self.slide.dot(x[self.turning : self.moving])
            frames[self.root_places, :3, 3] = shifts.reshape(-1, 3)
        heads = [frames[node, :3, 3].copy() for node, _, _ in self.breaks]
        for first, jump in self.jumps:
            frames[first:] = frames.take(jump, axis=0) @ frames[first:]
        for (_, parent, below), head in zip(self.breaks, heads, strict=True):
            frames[below, :3, 3] += frames[parent, :3, :3].dot(head) + frames[parent, :3, 3] - head
        at.frames = frames
        seen = frames.take(self.feature_nodes, axis=0) @ features
        at.seen = seen.ravel()
        if self.aims.goals.blocks or not self.rigid:
            at.kinematics = self._kinematics(at, seen)
        limits = self.limits
        at.own = [turned[:, 1].take(member, axis=0) for member in limits.members]
        at.angles = [group.coordinates(own) for group, own in zip(limits.groups, at.own, strict=True)]
        at.values = np.concatenate([np.zeros(0), *at.angles], axis=None)
        self.aims.compare(at)
        return at

    def _kinematics(self, at: Placed, seen: Array) -> Kinematics:
        """Return what links, and goals that are not plain, make their rows from, but for rates."""
        points, ends = seen[: self.points, :3, 3], seen[self.points :, :3, :3]
        none, centres = np.zeros((1, 0, 3, 3)), self.tree.centres.dot(points)
        return Kinematics(at.x[None], at.frames[None, :-1], none, points[None], ends[None], centres[None])

    def inside(self, at: Placed) -> Placed:
        """Return the place with joints clamped that are outside their limits."""
        x = self.limits.clamped(at)
        return at if x is None else self.place(x)

    def pose(self, at: Placed) -> Pose:
        """Return the pose of this frame."""
        start = self.start
        rotations, translations, scales = start.rotations.copy(), start.translations, start.scales
        quaternions = at.powers.dot(rotation.POWERS_TO_QUATERNION) * at.features[:, :4]
        rotations[self.joint_bones] = (self.to_quaternions @ quaternions[:, :, None])[:, :, 0]
        if len(self.slide):
            translations = translations.copy()
            shifts = at.x[self.turning : self.moving].reshape(-1, 3) * self.unit
            translations[self.root_bones] = self.root_references + shifts
        if scales is not None and self.long:
            scales = scales.copy()
            scales[self.long_bones, 1] = self.long_references * np.exp(at.x[self.moving :])
        return Pose.trusted(rotations, translations, scales, start.driven_matrices)

    def rates(self, at: Placed) -> Array:
        """Return the right Jacobians of exp (R, 3, 3)."""
        features = at.powers.dot(rotation.POWERS_TO_RATE) * at.features
        return features.dot(rotation.FEATURES_TO_MATRIX).reshape(-1, 3, 3)

    def jacobian(self, at: Placed, rates: Array) -> tuple[Array, Array]:
        """Return the rows (M, D) in level order, and those of the features."""
        if self.rigid:
            frames = at.frames[self.joint_places]
            np.matmul(frames[:, :3, :3], rates, out=self.turn_axes)
            np.matmul(frames[:, :3, 3].dot(rotation.SKEW).reshape(-1, 3, 3), self.turn_axes, out=self.turn_moments)
            levers = self.constant + at.read.dot(self.lever).reshape(-1, 6)
            raw = levers.dot(self.columns) * self.mask
        else:
            at.kinematics = replace(at.kinematics, rates=rates[None])
            self.columns = self.links.axes_of(at.kinematics)[0]
            raw = self.links.jacobian(at.kinematics, self.all_features)[0]
        goals = self.aims.goals
        if not goals.blocks:
            return raw, raw
        return goals.jacobian(self.links, at.kinematics, self.all_goals, self.aims.one, raw[None])[0], raw
