"""Columns of many joints with one end, the spine and the neck: unique, as all joints turn about one axis at a time.

CN106502395: the orientation step turns every joint by its share of the rotation from the end's frame to the wanted one;
the position step turns the end into the wanted direction from the base, by other shares, with a backtracking line
search; both in turns. Here every position step takes the orientation step with it, by shares that differ and sum to
nothing: the end keeps its orientation exactly. What the column's length cannot do is left.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ... import rotation
from ...rotation import Array, cross, lengths

_STEPS: Final = 24  # of the position; each is a Newton step
_HALVINGS: Final = 6
_THERE: Final = 1e-12  # radians off the wanted direction
_LONGEST: Final = 1.0  # radians, of a step
_LEAST_GAIN: Final = 0.05  # of the end's direction for a radian at the joints


@dataclass(frozen=True, eq=False)
class Column:
    """n links with the frames' changes so far, in armature space: joint 0 is the base and stays.

    links (..., n, 3) from each joint to the next, the last to the end; turns (..., n, 4)
    """

    base: Array
    links: Array
    turns: Array

    def joints(self) -> Array:
        """(..., n + 1, 3), the end last."""
        ways = np.cumsum(rotation.rotate(self.turns, self.links), axis=-2)
        return np.concatenate([self.base[..., None, :], self.base[..., None, :] + ways], axis=-2)

    def end(self) -> Array:
        """(..., 3)"""
        return self.base + np.sum(rotation.rotate(self.turns, self.links), axis=-2)

    def turned(self, vectors: Array, shares: Array) -> "Column":
        """Every joint turned by its share (n,) of a rotation vector (..., 3), all about one axis."""
        steps = rotation.exp(np.cumsum(shares)[:, None] * vectors[..., None, :])
        return replace(self, turns=rotation.mul(steps, self.turns))


def straight_column(joints: Array) -> Column:
    """The column as it stands, of its joints and its end (..., n + 1, 3)."""
    links = np.diff(joints, axis=-2)
    return Column(joints[..., 0, :], links, np.broadcast_to(rotation.IDENTITY, (*links.shape[:-1], 4)))


def orient_column(column: Column, wanted: Array, shares: Array) -> Column:
    """The end's frame turned so that its change is `wanted` (..., 4), by the joints' shares (n,), which sum to 1."""
    return column.turned(rotation.log(rotation.mul(wanted, rotation.inv(column.turns[..., -1, :]))), shares)


def direct_column(column: Column, target: Array, shares: Array) -> Column:
    """The end turned into the direction of `target` (..., 3) from the base.

    shares (n,) of the angle by joint: they sum to 0 where the end's orientation is to stay.
    """
    reach = np.cumsum(shares)
    wanted = target - column.base
    error, axis = _between(column.end() - column.base, wanted)
    for _ in range(_STEPS):
        if not (error > _THERE).any():
            break
        # how fast the end's direction follows a turn of the joints about the axis
        way = column.end() - column.base
        moved = np.sum(reach[:, None] * rotation.rotate(column.turns, column.links), axis=-2)
        square = np.maximum(np.sum(way * way, axis=-1), np.finfo(float).tiny)
        gain = np.sum(cross(axis, moved) * cross(axis, way), axis=-1) / square
        angle = np.where(gain > _LEAST_GAIN, error / np.maximum(gain, _LEAST_GAIN), 0.0)
        angle = np.minimum(angle, _LONGEST)
        tried, after, axis_after, worse = column, error, axis, error > _THERE
        for _ in range(_HALVINGS):
            tried = column.turned(angle[..., None] * axis, shares)
            after, axis_after = _between(tried.end() - tried.base, wanted)
            worse = after > error
            if not worse.any():
                break
            angle = np.where(worse, 0.5 * angle, angle)
        column = replace(column, turns=np.where(worse[..., None, None], column.turns, tried.turns))
        error = np.where(worse, 0.0, after)
        axis = np.where(worse[..., None], axis, axis_after)
    return column


def _between(way: Array, wanted: Array) -> tuple[Array, Array]:
    """The angle (...) from one direction to the other, and the unit axis (..., 3); none where there is no direction."""
    axis = cross(way, wanted)
    size = lengths(axis)
    angle = np.arctan2(size, np.sum(way * wanted, axis=-1))
    return np.where(size > 0.0, angle, 0.0), axis / np.where(size > 0.0, size, 1.0)[..., None]
