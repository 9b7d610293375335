"""Ranges of order-free angles that people give to single joints, beginning with those of the anatomy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..errors import CoreError
from ..limits import Framed, OrderFreeBox, RangeGroup
from ..rotation import Array
from ..skeleton import Skeleton
from .anatomy import anatomy
from .axes import MIRROR_ROTATION
from .roles import Roles

HALF_TURN: Final = np.pi
_FREE: Final = HALF_TURN - 1e-4  # radians from which on a bound is none


@dataclass(frozen=True, eq=False)
class JointRange:
    """A range of each order-free angle of one joint.

    lower, upper   (3,) radians; half a turn is no bound. Of a part of a body about left, up and forward in the T-pose,
                   from the middle of the joint's anatomical range; of other bones about their own axes
    before, after  (4,) the frames of the angles, as of `Framed`

    Raises CoreError if a range ends before it begins.
    """

    lower: Array
    upper: Array
    before: Array
    after: Array

    def __post_init__(self) -> None:
        for axis, low, high in zip("XYZ", self.lower.tolist(), self.upper.tolist(), strict=True):
            if not low <= high:
                raise CoreError(
                    f"The range about {axis} goes from {np.degrees(low):g} to {np.degrees(high):g} degrees: it ends "
                    "before it begins."
                )

    @property
    def bounded(self) -> bool:
        """Whether any of its angles has a bound."""
        return bool((np.abs([self.lower, self.upper]) < _FREE).any())

    def within(self, lower: Array, upper: Array) -> "JointRange":
        """Return the range with other bounds."""
        return replace(self, lower=np.asarray(lower, float), upper=np.asarray(upper, float))

    def mirrored_to(self, other: "JointRange") -> "JointRange":
        """Return this range for the joint of the other side, in the frames of that one's range."""
        ends = np.sort(np.stack([self.lower, self.upper]) * MIRROR_ROTATION, axis=0)
        return other.within(ends[0], ends[1])


def joint_range(skeleton: Skeleton, roles: Roles, bone: int) -> JointRange:
    """Return the anatomical range of a joint; without one, no bounds about the bone's own axes.

    Of elbows and knees these are bounds of the same angles without an order. They differ from those of hinges where a
    bent joint is twisted: that counts as a turn to the side, too.
    """
    known = anatomy(replace(skeleton, limits=()), roles)
    for group in (*known.limits, *known.ranges):
        place = np.flatnonzero(group.bones == bone)
        if len(place):
            assert isinstance(group.group, RangeGroup)
            low, high = (np.clip(bound[place[0]], -HALF_TURN, HALF_TURN) for bound in group.group.bounds)
            before, after = group.frames
            return JointRange(low, high, before[place[0]], after[place[0]])
    free = np.full(3, HALF_TURN)
    return JointRange(-free, free, rotation.IDENTITY, rotation.IDENTITY)


def limits_of(ranges: Mapping[int, JointRange]) -> tuple[Framed, ...]:
    """Return the ranges of bones as limits."""
    if not ranges:
        return ()
    lower = np.stack([one.lower for one in ranges.values()])
    upper = np.stack([one.upper for one in ranges.values()])
    box = OrderFreeBox(list(ranges), np.where(lower <= -_FREE, -np.inf, lower), np.where(upper >= _FREE, np.inf, upper))
    return (Framed(box, [one.before for one in ranges.values()], [one.after for one in ranges.values()]),)


def with_joint_ranges(skeleton: Skeleton, ranges: Mapping[int, JointRange]) -> Skeleton:
    """Return the skeleton in which these bones have these ranges, and no other limits."""
    if not ranges:
        return skeleton
    kept = (group.take(np.flatnonzero(~np.isin(group.bones, list(ranges)))) for group in skeleton.limits)
    return replace(skeleton, limits=(*(group for group in kept if len(group.bones)), *limits_of(ranges)))
