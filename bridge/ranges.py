"""Limits that are kept with pose bones: ranges that were typed, before what was learned; and their picture."""

from collections.abc import Collection
from typing import Any, Final

import numpy as np

from ..core import CoreError, EllipticSwing, rotation
from ..core.body.ranges import JointRange, limits_of
from ..core.limits import LimitGroup
from ..core.limits.outline import swing_outline
from ..core.limits.swing import from_swing_twist
from ..core.rotation import Array
from .errors import BridgeError
from .learned import learned_limits, read_learned

_LINK: Final = np.array([0.0, 1.0, 0.0])
_SPOKE: Final = 4  # corners between two lines to the joint
_FRAME: Final = 4  # numbers of a quaternion


def write_range(bone: Any, limits: JointRange) -> None:
    """Keep a range with a pose bone."""
    bone.poise_range_min, bone.poise_range_max = limits.lower, limits.upper
    bone.poise_range_frame = (*limits.before, *limits.after)
    if not bone.poise_use_range:
        bone.poise_use_range = True


def read_range(bone: Any) -> JointRange:
    """Return the range that is kept with a pose bone. Raises BridgeError if it ends before it begins."""
    frame = rotation.normalize(np.array(bone.poise_range_frame, float).reshape(2, _FRAME))
    try:
        return JointRange(np.array(bone.poise_range_min), np.array(bone.poise_range_max), *frame)
    except CoreError as error:
        raise BridgeError(f'"{bone.name}": {error}') from error


def kept_limits(bones: Any, limited: Collection[int]) -> list[LimitGroup]:
    """Return the ranges and the learned limits of all pose bones that the user has not `limited` in Blender."""
    ranged = [number for number, bone in enumerate(bones) if bone.poise_use_range and number not in limited]
    ranges = limits_of({number: read_range(bones[number]) for number in ranged})
    return [*ranges, *learned_limits(bones, {*limited, *ranged})]


def limit_cone(bone: Any, world: Array) -> list[Array]:
    """Return world lines (n, 3) of the directions that a pose bone may take: the outline at its tail, and spokes.

    By its IK limits, else its range, else what it learned; none without these.
    """
    used = [getattr(bone, f"use_ik_limit_{axis}") for axis in "xyz"]
    if any(used):
        low, high = (np.array([getattr(bone, f"ik_{end}_{axis}") for axis in "xyz"]) for end in ("min", "max"))
        swing = EllipticSwing([0], [np.where(used, low, -np.inf)], [np.where(used, high, np.inf)])
        ways = swing_outline(swing)
    elif bone.poise_use_range:
        (group,) = limits_of({0: read_range(bone)})
        ways = swing_outline(group)
    elif bone.poise_learned:
        corners = read_learned(bone).vertices[1:]
        ways = rotation.rotate(from_swing_twist(corners, np.zeros(len(corners))), _LINK)
    else:
        return []
    matrix, basis = np.array(bone.matrix, float), np.array(bone.matrix_basis, float)
    base = rotation.mul(rotation.from_matrix(rotation.nearest_rotation(matrix[:3, :3])),
                        rotation.inv(rotation.from_matrix(rotation.nearest_rotation(basis[:3, :3]))))  # fmt: skip
    tips = matrix[:3, 3] + bone.length * rotation.rotate(base, ways)
    lines = [np.concatenate([tips, tips[:1]]), *(np.stack([matrix[:3, 3], tip]) for tip in tips[::_SPOKE])]
    return [line @ world[:3, :3].T + world[:3, 3] for line in lines]
