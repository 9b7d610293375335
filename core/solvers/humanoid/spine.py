"""Columns of many joints with one end: the spine and the neck (CN106502395).

All joints turn about one axis at a time, so that the solution is unique. In the source, the orientation step turns
every joint by its share of the rotation from the end's frame to the wanted one, the position step turns the end into
the wanted direction from the base by other shares, with a backtracking line search, and both alternate. Here the shares
of the position step sum to zero where an orientation is wanted: the end keeps it exactly. The distance from the base
that the column's length does not allow remains for the pull.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ... import rotation
from ...rotation import Array, cross, lengths

_STEPS: Final = 24  # Newton steps of the position, at most
_HALVINGS: Final = 6  # of one step
_REACHED: Final = 1e-12  # radians off the wanted direction
_LONGEST: Final = 1.0  # radians, of a step
_LEAST_GAIN: Final = 0.05  # radians of the end's direction for a radian at the joints


@dataclass(frozen=True, eq=False)
class Column:
    """n links from a fixed base, in armature space.

    base   (..., 3) the first joint
    links  (..., n, 3) from each joint to the next one, the last to the end, before the turns
    turns  (..., n, 4) the rotation of each link from then on
    """

    base: Array
    links: Array
    turns: Array

    def joints(self) -> Array:
        """Return the positions (..., n + 1, 3) of the joints and the end."""
        ways = np.cumsum(rotation.rotate(self.turns, self.links), axis=-2)
        return np.concatenate([self.base[..., None, :], self.base[..., None, :] + ways], axis=-2)

    def end(self) -> Array:
        """Return the position (..., 3) of the end."""
        return self.base + np.sum(rotation.rotate(self.turns, self.links), axis=-2)

    def turned(self, vectors: Array, shares: Array) -> "Column":
        """Return the column with every joint turned by its share (n,) of one rotation vector (..., 3)."""
        steps = rotation.exp(np.cumsum(shares)[:, None] * vectors[..., None, :])
        return replace(self, turns=rotation.mul(steps, self.turns))


def straight_column(joints: Array) -> Column:
    """Return the column of joints and an end (..., n + 1, 3), not turned yet."""
    links = np.diff(joints, axis=-2)
    return Column(joints[..., 0, :], links, np.broadcast_to(rotation.IDENTITY, (*links.shape[:-1], 4)))


def orient_column(column: Column, wanted: Array, shares: Array) -> Column:
    """Return the column with its last link's turn equal to `wanted` (..., 4); the joints' shares (n,) sum to 1."""
    return column.turned(rotation.log(rotation.mul(wanted, rotation.inv(column.turns[..., -1, :]))), shares)


def direct_column(column: Column, target: Array, shares: Array) -> Column:
    """Return the column with its end in the direction of `target` (..., 3) from the base.

    The joints' shares (n,) of the angle sum to 0 where the end keeps its orientation.
    """
    reach = np.cumsum(shares)
    wanted = target - column.base
    links = rotation.rotate(column.turns, column.links)
    error, axis = _between(np.sum(links, axis=-2), wanted)
    for _ in range(_STEPS):
        if not (error > _REACHED).any():
            break
        # how fast the end's direction follows a turn of the joints about the axis
        way, moved = np.sum(links, axis=-2), reach @ links
        square = np.maximum(np.sum(way * way, axis=-1), np.finfo(float).tiny)
        gain = np.sum(moved * way, axis=-1) / square  # the axis is at a right angle to the way
        angle = np.where(gain > _LEAST_GAIN, error / np.maximum(gain, _LEAST_GAIN), 0.0)
        angle = np.minimum(angle, _LONGEST)
        tried, after, axis_after, worse, went = column, error, axis, error > _REACHED, links
        for _ in range(_HALVINGS):
            tried = column.turned(angle[..., None] * axis, shares)
            went = rotation.rotate(tried.turns, tried.links)
            after, axis_after = _between(np.sum(went, axis=-2), wanted)
            worse = after > np.maximum(error, _REACHED)
            if not worse.any():
                break
            angle = np.where(worse, 0.5 * angle, angle)
        column = replace(column, turns=np.where(worse[..., None, None], column.turns, tried.turns))
        links = np.where(worse[..., None, None], links, went)
        error = np.where(worse, 0.0, after)
        axis = np.where(worse[..., None], axis, axis_after)
    return column


def _between(way: Array, wanted: Array) -> tuple[Array, Array]:
    """Return the angle (...) between directions (..., 3) and its unit axis (..., 3); zeros where it has none."""
    axis = cross(way, wanted)
    size = lengths(axis)
    angle = np.arctan2(size, np.sum(way * wanted, axis=-1))
    return np.where(size > 0.0, angle, 0.0), axis / np.where(size > 0.0, size, 1.0)[..., None]
