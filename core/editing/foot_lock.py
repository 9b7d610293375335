"""Feet that stand where they bear: contacts become pins, and pins the least change of the motion.

A touch is held at its mean place, which is the least shift of all, unless points of one rigid piece are held at once:
then their places are brought to the distance that the body gives them, each by half of what is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import anatomy, carrier_of
from ..limits import LimitGroup
from ..motion import Motion
from ..rotation import Array, lengths
from ..skeleton import Skeleton
from ..solvers import PinAndDrag
from .contacts import BodyPoint, ContactInterval, Contacts, find_contacts, foot_points, point_positions
from .timed_pins import WHOLE_BODY, PinMotionResult, TimedPin, pin_motion

EASE: Final = 0.2  # seconds
DEVIATION: Final = float(np.radians(20.0))  # of the joints, against a hip that is pulled along
KNEE: Final = np.radians([10.0, 2.0, 2.0])  # about its hinge and aside
RIGID: Final = 1e-4  # of the size: by which the distance of two points of one piece may change in a motion
ROUNDS: Final = 200  # of bringing places to their distances
MEET: Final = 1e-7  # of the size, to which


@dataclass(frozen=True, eq=False)
class LockFeetResult:
    """The motion with its feet planted, the contacts that were found and the pins that were made of them."""

    contacts: Contacts
    pins: tuple[TimedPin, ...]
    pinned: PinMotionResult


def lock_feet(
    skeleton: Skeleton,
    motion: Motion,
    roles: Roles,
    points: Sequence[BodyPoint] | None = None,
    ease: float = EASE,
    method: PinAndDrag | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
) -> LockFeetResult:
    """Plant the feet, or whatever `points` are given, while they bear; `ease` in seconds.

    `method` (see `pin_motion`): by default one whose knees are stiff and whose hips give way for it a little.
    """
    contacts = find_contacts(skeleton, motion, foot_points(skeleton, roles) if points is None else points, up=up)
    pins = contact_pins(skeleton, motion, contacts, ease)
    if method is None:
        skeleton, method = foot_lock_settings(skeleton, motion, roles)
    return LockFeetResult(contacts, pins, pin_motion(skeleton, motion, pins, method))


def foot_lock_settings(skeleton: Skeleton, motion: Motion, roles: Roles) -> tuple[Skeleton, PinAndDrag]:
    """The skeleton with no limits but those of its knees, as wide as the motion has them, and the method for its feet.

    Knees are stiff, hardly turn sideways and do not bend the wrong way: where a leg is nearly straight, hips give way.
    """
    found = anatomy(skeleton, roles)
    deviations = np.full((len(skeleton), 3), DEVIATION)
    knees = [knee for side in SIDES if (knee := roles.bone(f"shin.{side}")) >= 0]
    deviations[knees] = KNEE
    limits: list[LimitGroup] = []
    for group in found.limits:
        kept = np.flatnonzero(np.isin(group.bones, knees))
        if len(kept):
            hinges = group.take(kept)
            limits.append(hinges.widened(rotation.to_matrix(motion.pose.rotations[:, hinges.bones])))
    method = replace(
        WHOLE_BODY, root_bone=carrier_of(skeleton, roles), deviations=deviations, axes=found.axes, limits=bool(limits)
    )
    return replace(skeleton, limits=tuple(limits)), method


def contact_pins(skeleton: Skeleton, motion: Motion, contacts: Contacts, ease: float = EASE) -> tuple[TimedPin, ...]:
    """A pin for each touch, in their order; `ease` in seconds."""
    intervals = contacts.intervals()
    places = point_positions(skeleton, motion.pose, contacts.points)
    held = np.array([places[interval.first : interval.last + 1, interval.point].mean(axis=0) for interval in intervals])
    held = _at_distances(held, intervals, places, skeleton.size)
    pins: list[TimedPin] = []
    for interval, place in zip(intervals, held, strict=True):
        point = contacts.points[interval.point]
        first, last = (float(motion.frames[frame]) for frame in (interval.first, interval.last))
        eases = ease * motion.fps
        pins.append(TimedPin(point.bone, first, last, place, None, eases, eases, point.place))
    return tuple(pins)


def count_skating(skeleton: Skeleton, motion: Motion, contacts: Contacts, speed: float) -> tuple[int, int]:
    """Steps from frame to frame of a bearing heel or ball: those faster than `speed` along the ground, and all.

    Where no point is called heel or ball, of all points. `contacts` are those of the motion before it was changed.
    """
    points = contacts.points
    chosen = [i for i, point in enumerate(points) if point.name.startswith(("heel", "ball"))] or list(
        range(len(points))
    )
    steps = np.diff(point_positions(skeleton, motion.pose, [points[i] for i in chosen]), axis=0)
    up = contacts.ground.up
    along = steps - (steps @ up)[..., None] * up
    bearing = (contacts.touching[1:] & contacts.touching[:-1])[:, chosen]
    return int((bearing & (lengths(along) * motion.fps > speed)).sum()), int(bearing.sum())


def _at_distances(held: Array, intervals: Sequence[ContactInterval], places: Array, size: float) -> Array:
    """Places (T, 3) as near as rounds of half corrections get them to the distances of their points."""
    pairs: list[tuple[int, int, float]] = []
    for one, other in combinations(range(len(intervals)), 2):
        a, b = intervals[one], intervals[other]
        if a.point != b.point and a.first <= b.last and b.first <= a.last:
            distance = lengths(places[:, a.point] - places[:, b.point])
            if np.ptp(distance) < RIGID * size and distance.any():
                pairs.append((one, other, float(distance.mean())))
    held = held.copy()
    for _ in range(ROUNDS):
        worst = 0.0
        for one, other, distance in pairs:
            way: Array = held[other] - held[one]
            length = float(np.linalg.norm(way))
            worst = max(worst, abs(length - distance))
            if length > 0.0:
                half = 0.5 * (1.0 - distance / length) * way
                held[one] += half
                held[other] -= half
        if worst <= MEET * size:
            break
    return held
