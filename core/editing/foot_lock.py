"""Foot locking: contacts become pins, which change the motion as little as possible.

A drift of the ground is taken out of the way of the body, which goes up and down with meshes in place of a plane. Each
contact is held at its mean position, on the ground; a foot over the edge of a step is level with what is on it. Where
points of one rigid piece are held at once, their positions are moved to the distance that they have on the body, each
by half of the difference, in rounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .. import rotation
from ..body import SIDES, Roles
from ..body.anatomy import anatomy, carrier_of
from ..motion import Motion, shifted
from ..rotation import Array, lengths
from ..skeleton import Flags, Skeleton
from ..solvers import PinAndDrag
from .contacts import UP, BodyPoint, ContactInterval, Contacts, Surface, find_contacts, foot_points, point_positions
from .drift import WIDTHS, smooth
from .floor import floor_pins, floor_under, with_feet_held
from .timed_pins import WHOLE_BODY, PinMotionResult, TimedPin, pin_motion

EASE: Final = 0.2  # seconds: half of a usual swing
DEVIATION: Final = float(np.radians(20.0))  # standard deviation of joints
KNEE: Final = np.radians([10.0, 2.0, 2.0])  # standard deviations of knees about their hinge and the other axes
RIGID: Final = 1e-4  # of the size: largest change of the distance of two points of one piece
ROUNDS: Final = 200  # of moving positions to their distances, at most
STEEPEST: Final = float(np.sin(np.radians(35.0)))  # slope of a foot; one over a steeper edge stands on the higher side
MEET: Final = 1e-7  # of the size: what moves less in a round stays


@dataclass(frozen=True, eq=False)
class LockFeetResult:
    """The result of `lock_feet`: the contacts found, the pins made of them, and the pinned motion."""

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
    up: ArrayLike = UP,
    surface: Surface | None = None,
) -> LockFeetResult:
    """Return the motion with its feet, or other `points`, pinned while in contact with the ground.

    `ease` in seconds; `up` (3,) of the ground, in whose place a `surface` may be. The default method (see `pin_motion`)
    is of `foot_lock_settings`. Raises CoreError without points.
    """
    contacts = find_contacts(skeleton, motion, foot_points(skeleton, roles) if points is None else points, up=up)
    root = carrier_of(skeleton, roles)
    motion, contacts = raised_onto(skeleton, *steadied(skeleton, motion, contacts, root), root, surface)
    pins = contact_pins(skeleton, motion, contacts, eased(motion, contacts, ease))
    if method is None:
        skeleton, method = foot_lock_settings(skeleton, motion, roles)
    return LockFeetResult(contacts, pins, pin_motion(skeleton, motion, pins, method))


def stand_on_ground(
    skeleton: Skeleton, motion: Motion, roles: Roles, up: ArrayLike = UP, surface: Surface | None = None
) -> Motion:
    """Return the motion with its feet locked, see `lock_feet`, and not below the floor."""
    locked = lock_feet(skeleton, motion, roles, up=up, surface=surface)
    motion = locked.pinned.motion
    limited, method = foot_lock_settings(skeleton, motion, roles)
    floor = floor_under(skeleton, motion, locked.contacts, locked.pins)
    raised = floor_pins(skeleton, motion, roles, floor, locked.pins)
    return pin_motion(limited, motion, with_feet_held(skeleton, roles, locked.pins, raised), method).motion


def steadied(skeleton: Skeleton, motion: Motion, contacts: Contacts, root: int | None) -> tuple[Motion, Contacts]:
    """Return the motion with its `root` moved so that the ground no longer drifts, and the contacts for it.

    The motion stays the same without a root.
    """
    if root is None:
        return motion, contacts
    pose = shifted(skeleton, motion.pose, root, -contacts.drift)
    return replace(motion, pose=pose), replace(contacts, drift=np.zeros_like(contacts.drift))


def raised_onto(
    skeleton: Skeleton, motion: Motion, contacts: Contacts, root: int | None, surface: Surface | None,
    share: Array | float = 1.0,
) -> tuple[Motion, Contacts]:  # fmt: skip
    """Return the motion with its `root` going up and down with a surface in place of a plane, and the contacts there.

    The motion stays the same without a root, and both do without a surface, or where the contacts are on one. `share`
    (F,) is how far the root goes.
    """
    if surface is None or contacts.ground.surface is not None:
        return motion, contacts
    up = contacts.ground.up
    contacts = replace(contacts, ground=replace(contacts.ground, surface=surface))
    lift = _rises(skeleton, motion, contacts)
    if root is not None:
        rise = np.reshape(share, (-1, 1)) * smooth(lift[..., None], contacts.touching, motion, WIDTHS[1], 0.0)
        motion = replace(motion, pose=shifted(skeleton, motion.pose, root, rise * up))
        lift = lift - rise
    return motion, replace(contacts, resting=np.array([point.above for point in contacts.points]), lift=lift)


def surface_rise(skeleton: Skeleton, motion: Motion, contacts: Contacts) -> Array:
    """Return how far (F, 3) the surface that the contacts are on goes up and down beside the plane, over time."""
    ground = contacts.ground
    rise = ground.under(point_positions(skeleton, motion.pose, contacts.points)) - ground.height
    return smooth(rise[..., None], contacts.touching, motion, WIDTHS[1], 0.0) * ground.up


def _rises(skeleton: Skeleton, motion: Motion, contacts: Contacts) -> Array:
    """Return how far (F, P) the surface under the points of a motion on a plane is above that.

    It is looked for as high as under any point in the frame before, and then in the frame after, also while feet swing:
    a long step goes up several stairs. Where there is nothing, the plane is the ground.
    """
    ground, surface = contacts.ground, contacts.ground.surface
    positions = point_positions(skeleton, motion.pose, contacts.points)
    rises = np.full(positions.shape[:2], -np.inf)
    if surface is not None:
        heights = np.zeros(positions.shape[1])
        for frame in (*range(len(positions)), *reversed(range(len(positions)))):
            found = surface(positions[frame] + heights.max() * ground.up) - ground.height
            heights = np.where(np.isfinite(found), found, heights)
            rises[frame] = np.maximum(rises[frame], found)
    return np.where(np.isfinite(rises), rises, 0.0)


def foot_lock_settings(skeleton: Skeleton, motion: Motion, roles: Roles) -> tuple[Skeleton, PinAndDrag]:
    """Return the skeleton with limits on its knees only, widened to the motion, and the method for its feet.

    Knees are stiff, hardly turn sideways and do not bend backwards: where a leg is nearly straight, the hips move.
    """
    found = anatomy(skeleton, roles)
    deviations = np.full((len(skeleton), 3), DEVIATION)
    knees = [knee for side in SIDES if (knee := roles.bone(f"shin.{side}")) >= 0]
    deviations[knees] = KNEE
    feet = [foot for side in SIDES if (foot := roles.bone(f"foot.{side}")) >= 0]
    groups = [
        group.take(kept)
        for group in (*found.limits, *found.ranges)
        if len(kept := np.flatnonzero(np.isin(group.bones, [*knees, *feet])))
    ]
    limits = [group.widened(rotation.to_matrix(motion.pose.rotations[:, group.bones])) for group in groups]
    root = carrier_of(skeleton, roles)
    method = replace(WHOLE_BODY, root_bone=root, deviations=deviations, axes=found.axes, limits=bool(limits))
    return replace(skeleton, limits=tuple(limits)), method


def eased(motion: Motion, contacts: Contacts, ease: float = EASE) -> float:
    """Return an ease in seconds, longer where most swings are longer than two of `EASE`, as in slow motion.

    On a surface it stays: over the edges of steps a longer one takes feet into these.
    """
    swings = [motion.frames[late.first] - motion.frames[early.last]
              for early, late in pairwise(contacts.intervals()) if early.point == late.point]  # fmt: skip
    if not swings or contacts.ground.surface is not None:
        return ease
    return ease * max(1.0, float(np.median(swings)) / (2.0 * EASE * motion.fps))


def contact_pins(skeleton: Skeleton, motion: Motion, contacts: Contacts, ease: float = EASE) -> tuple[TimedPin, ...]:
    """Return a pin for each interval of contact, in their order; `ease` in seconds."""
    intervals, eases = contacts.intervals(), ease * motion.fps
    positions = point_positions(skeleton, motion.pose, contacts.points)
    up = contacts.ground.up
    lifted = positions + np.broadcast_to(contacts.lift, positions.shape[:2])[..., None] * up
    held = np.array([lifted[i.first : i.last + 1, i.point].mean(axis=0) for i in intervals]).reshape(-1, 3)
    rests = [contacts.resting[i.point] + (contacts.drift[i.first : i.last + 1] @ up).mean() for i in intervals]

    pairs = _rigid_pairs(intervals, positions, skeleton.size)
    ends, distances = np.array([pair[:2] for pair in pairs], int).reshape(-1, 2), [pair[2] for pair in pairs]

    def on_ground(places: Array) -> Array:
        level = contacts.ground.under(places)
        middle = contacts.ground.under(places[ends].mean(axis=1))
        for number, distance in (*enumerate(distances), *reversed([*enumerate(distances)])):  # along the foot and back
            high = level[ends[number]]
            if abs(high - middle[number]).max() > STEEPEST * distance:
                level[ends[number]] = max(*high, middle[number])
        return places + (level + rests - places @ up)[:, None] * up

    held = _at_distances(held, on_ground, pairs, skeleton.size)
    return tuple(
        TimedPin(contacts.points[i.point].bone, float(motion.frames[i.first]), float(motion.frames[i.last]), position,
                 None, eases, eases, contacts.points[i.point].position)
        for i, position in zip(intervals, held, strict=True)
    )  # fmt: skip


def count_skating(
    skeleton: Skeleton, motion: Motion, contacts: Contacts, bearing: Flags, speed: float
) -> tuple[int, int]:
    """Return how many frame-to-frame steps of `bearing` points (F, P) slide faster than `speed`, and the number of all.

    Counted are heels and balls, or all points if none is called so; `speed` in armature units per second along the
    ground. `contacts` are those of the motion before it was locked, `bearing` its `touching` or `low`.
    """
    points = contacts.points
    named = [i for i, point in enumerate(points) if point.name.startswith(("heel", "ball"))]
    chosen = named or list(range(len(points)))
    steps = np.diff(point_positions(skeleton, motion.pose, [points[i] for i in chosen]), axis=0)
    up = contacts.ground.up
    along = steps - (steps @ up)[..., None] * up
    both = (bearing[1:] & bearing[:-1])[:, chosen]
    return int((both & (lengths(along) * motion.fps > speed)).sum()), int(both.sum())


def _rigid_pairs(intervals: Sequence[ContactInterval], positions: Array, size: float) -> list[tuple[int, int, float]]:
    """Return the intervals that share frames, of points (F, P, 3) of one rigid piece, and how far these are apart."""
    pairs: list[tuple[int, int, float]] = []
    for one, other in combinations(range(len(intervals)), 2):
        a, b = intervals[one], intervals[other]
        if a.point != b.point and a.first <= b.last and b.first <= a.last:
            distance = lengths(positions[:, a.point] - positions[:, b.point])
            if np.ptp(distance) < RIGID * size and distance.any():
                pairs.append((one, other, float(distance.mean())))
    return pairs


def _at_distances(
    held: Array, on_ground: Callable[[Array], Array], pairs: Sequence[tuple[int, int, float]], size: float
) -> Array:
    """Return positions (n, 3) on the ground, nearly at the distances that their points have on the body."""
    for _ in range(ROUNDS):
        held = on_ground(held)
        before = held.copy()
        for one, other, distance in pairs:
            between: Array = held[other] - held[one]
            length = float(np.linalg.norm(between))
            if length > 0.0:
                half = 0.5 * (1.0 - distance / length) * between
                held[one] += half
                held[other] -= half
        if not len(held) or lengths(held - before).max() <= MEET * size:
            break
    return on_ground(held)
