"""How deep feet are below a flat floor, the measure that all verbs share that put feet on one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import bridge
from ..core import Motion, Skeleton
from ..core.body import Roles
from ..core.body.posture import leg_length
from ..core.editing.contacts import BodyPoint, foot_points
from ..core.editing.floor import Floor, depths, sole_points
from ..core.formats.report import FloorReport
from ..core.motion import blocks
from ..core.rotation import Array
from .motion_edit import Frames
from .shown import BESIDE

_LOOKED_AT: Final = 0.01  # of a leg: frames in which feet are deeper are read in Blender


@dataclass(frozen=True, eq=False)
class Level:
    """A flat floor under a motion, and how deep the feet were below it before the change, in armature units."""

    floor: Floor
    before: float = 0.0


def level_under_feet(
    skeleton: Skeleton, roles: Roles, floor: Floor | None, before: Motion | None = None, reach: float = np.inf
) -> Level | None:
    """Return a floor with the depth of feet below it `before`; None where it is not flat, or for no human feet.

    There is no floor where feet are deeper than the `reach` before, as in a rest pose ahead of a clip.
    """
    points = _points(skeleton, roles)
    if floor is None or floor.surface is not None or not points:
        return None
    if before is None:
        return Level(floor)
    deep = depths(skeleton, before, points, floor).max(axis=1)
    off = deep > reach
    height = np.where(off, -np.inf, np.broadcast_to(floor.height, deep.shape))
    return Level(replace(floor, height=height), float(deep[~off].max(initial=0.0)))


def measure_floor(
    skeleton: Skeleton, roles: Roles, motion: Motion, world: Array, level: Level, read: Callable[[Frames], Motion]
) -> FloorReport:
    """Return how deep the feet are below a floor in the motion that Blender shows.

    `read` returns some frames of that, counted from 0, in the space of `motion`, the one that is to be shown: it tells
    where to look. `world` (4, 4) is from that space to the world.
    """
    points, scale = _points(skeleton, roles), float(bridge.length_scale(world))
    height = np.broadcast_to(level.floor.height, len(motion))
    asked = depths(skeleton, motion, points, level.floor).max(axis=1)
    leg = leg_length(skeleton, roles)
    looked = np.flatnonzero((asked > _LOOKED_AT * leg) | (np.arange(len(asked)) == asked.argmax()))
    worst, where, when = -np.inf, 0, looked[0]
    for part in blocks(len(looked)):
        at = looked[part]
        below = depths(skeleton, read(at), points, replace(level.floor, height=height[at]))
        row, column = np.unravel_index(below.argmax(), below.shape)
        if below[row, column] > worst:
            worst, where, when = float(below[row, column]), int(column), at[row]
    return FloorReport(
        points[where].name,
        float(motion.frames[when]),
        scale * max(worst, 0.0),
        scale * level.before,
        scale * leg,
        scale * BESIDE * skeleton.size,
    )


def _points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return heels, balls and tips of the toes of a human, and its soles where their skin is known."""
    if not roles.humanoid:
        return ()
    soles = sole_points(skeleton, roles) if roles.soles else ()
    return (*foot_points(skeleton, roles), *(one._replace(name=f"sole.{one.name[-1]}") for one in soles))
