"""A body as a chain of hinges: what an independent optimiser needs of it, errors and their Jacobian in joint angles.

Columns are the Euler angles of the bones that move a wished-for bone, then, if the root is free, its three shifts. All
from cross products of hinge axes: nothing of core.
"""

from typing import Final

import numpy as np

from ..work import Array
from .bodies import Body, Wish, axis_turn, chain, to_angles

ROTATION_LENGTH: Final = 0.3  # of a metre: what a radian counts beside lengths, as in Poise
HALF_TURN: Final = 1e-9


class Hinges:
    """`wishes` are (bone, placed, turned); targets are heads (J, 3) and frames (J, 3, 3). Lengths in units of size."""

    def __init__(self, body: Body, wishes: list[Wish], free_root: bool) -> None:
        self.body, self.wishes, self.free_root = body, wishes, free_root
        self.size = body.size
        needed = sorted({link for bone, _, _ in wishes for link in chain(body, bone)})
        self.bones = needed
        self.columns: list[tuple[int, int]] = []  # (bone, axis), those that are not locked
        for bone in needed:
            if body.parents[bone] < 0 and not free_root:
                continue
            axes = ["XYZ".index(letter) for letter in body.orders[bone]]
            self.columns += [(bone, axis) for axis in axes if body.lower[bone, axis] < body.upper[bone, axis]]
        self.hinges = len(self.columns)
        self.place = {column: number for number, column in enumerate(self.columns)}
        shifts = [-np.inf] * 3 if free_root else []
        self.lower = np.array([body.lower[b, a] for b, a in self.columns] + shifts)
        self.upper = np.array([body.upper[b, a] for b, a in self.columns] + [-s for s in shifts])
        self.above = {bone: set(chain(body, bone)) for bone, _, _ in wishes}

    def state(self, rotations: Array, root: Array) -> Array:
        """Angles and shifts of one pose: own rotations (J, 3, 3), the root's location (3,). Inside where it can be."""
        one, two = to_angles(self.body, rotations)
        result = np.zeros(len(self.lower))
        for number, (bone, axis) in enumerate(self.columns):
            axes = [a for b, a in self.columns if b == bone]
            best = min((one[bone], two[bone]), key=lambda angles: self._outside(bone, axes, angles))
            result[number] = self._wrapped(bone, axis, best[axis])
        if self.free_root:
            result[self.hinges :] = root / self.size
        return result

    def _wrapped(self, bone: int, axis: int, angle: float) -> float:
        low, high = self.body.lower[bone, axis], self.body.upper[bone, axis]
        middle = 0.5 * (low + high) if np.isfinite(low) and np.isfinite(high) else 0.0
        return middle + (angle - middle + np.pi) % (2.0 * np.pi) - np.pi

    def _outside(self, bone: int, axes: list[int], angles: Array) -> float:
        total = 0.0
        for axis in axes:
            angle = self._wrapped(bone, axis, angles[axis])
            total += max(self.body.lower[bone, axis] - angle, angle - self.body.upper[bone, axis], 0.0)
        return total

    def place_at(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Heads (J, 3) and frames (J, 3, 3) of the needed bones, hinge axes (H, 3) and centres (H, 3)."""
        body = self.body
        heads, frames = np.zeros((len(body.names), 3)), np.zeros((len(body.names), 3, 3))
        axes, centres = np.zeros((self.hinges, 3)), np.zeros((self.hinges, 3))
        turns = axis_turns([axis for _, axis in self.columns], x[: self.hinges])
        for bone in self.bones:
            parent = int(body.parents[bone])
            if parent < 0:
                frame, head = body.rest[bone], body.offsets[bone] / self.size
                if self.free_root:
                    head = head + frame @ x[self.hinges :]
            else:
                frame = frames[parent] @ body.rest[bone]
                head = heads[parent] + frames[parent] @ body.offsets[bone] / self.size
            for letter in body.orders[bone][::-1]:  # the last turn is the outermost
                column = self.place.get((bone, "XYZ".index(letter)))
                if column is not None:
                    axes[column], centres[column] = frame[:, "XYZ".index(letter)], head
                    frame = frame @ turns[column]
            heads[bone], frames[bone] = head, frame
        return heads, frames, axes, centres

    def errors(self, x: Array, heads: Array, frames: Array, jacobian: bool = True) -> tuple[Array, Array]:
        """What is left, rows of (target - found) in units of size and radians x ROTATION_LENGTH; and d found / dx."""
        found, turned, axes, centres = self.place_at(x)
        rows: list[Array] = []
        slopes: list[Array] = []
        for bone, placed, turn in self.wishes:
            moves = np.array([b in self.above[bone] for b, _ in self.columns], float)[:, None]
            if placed:
                rows.append(heads[bone] / self.size - found[bone])
                slope = np.asarray(np.cross(axes, found[bone] - centres), float) * moves
                slopes.append(np.concatenate([slope.T, self._root_axes()], axis=1))
            if turn:
                rows.append(ROTATION_LENGTH * rotation_vector(frames[bone] @ turned[bone].T))
                slope = ROTATION_LENGTH * axes * moves
                slopes.append(np.concatenate([slope.T, 0.0 * self._root_axes()], axis=1))
        return np.concatenate(rows), np.concatenate(slopes) if jacobian else np.zeros(0)

    def _root_axes(self) -> Array:
        return self.body.rest[0] if self.free_root else np.zeros((3, 0))


def axis_turns(axes: list[int], angles: Array) -> Array:
    result = np.empty((len(axes), 3, 3))
    which = np.array(axes, int)
    for axis in range(3):
        result[which == axis] = axis_turn(axis, angles[which == axis])
    return result


def rotation_vector(matrix: Array) -> Array:
    """The rotation vector (3,) of one matrix."""
    skew = 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    sine, cosine = float(np.linalg.norm(skew)), 0.5 * (float(np.trace(matrix)) - 1.0)
    if sine > HALF_TURN:
        return skew * (np.arctan2(sine, cosine) / sine)
    if cosine > 0.0:
        return skew
    symmetric = 0.5 * (matrix + np.eye(3))
    column = symmetric[:, int(np.argmax(np.diag(symmetric)))]
    return np.pi * column / np.linalg.norm(column)
