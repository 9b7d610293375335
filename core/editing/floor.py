"""Feet that are not below the floor: heel, ball and toe tip are contacts on it.

In each frame the foot is turned about what is not below, and raised, until heel and ball are on the floor; it is
levelled sideways, or tilted as a slope is, as far as its edges ask for, where these are known, and the toes are bent
until their tip is on the floor. What is steep is raised rather than turned: a turn straight to a height has two
answers where toes point down.

What is deep is less deep before and after. But toes may bend far in one frame and not at all in the next, and a step
begins at an edge: such changes come and go over time, within the swing of a foot; planted feet stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.ground import Sole, find_sole
from ..motion import Motion, forward_of
from ..pose import Pose
from ..rotation import Array, lengths
from ..skeleton import Skeleton, frozen
from .contacts import BodyPoint, Contacts, Surface, foot_points, level_under, point_positions, runs
from .drift import REACH
from .timed_pins import TimedPin, smootherstep

LEAST: Final = 1e-4  # of the size of the body, and radians: what is so little below is on the floor
ROUNDS: Final = 4  # of turning a sole to a height: from 45 degrees it is level to 0.1
BENT: Final = np.radians(45.0)  # middle of the range of toes that bear a body, relative to a flat foot
FADE: Final = 0.3  # seconds
EDGE: Final = 0.3  # half of the width of a sole, of its length; people's is half of that, cartoons' is not


@dataclass(frozen=True, eq=False)
class Floor:
    """A floor: its height, (F,) or one for all frames, along the unit vector `up` (3,).

    levels   whether feet and toes near it are levelled sideways, as soles are at rest; soles of captured bodies are
             estimates
    surface  what is the floor where it is under a foot
    share    (F,) how far what is below the surface is raised to it
    """

    up: Array
    height: Array | float
    levels: bool = True
    surface: Surface | None = None
    share: Array | float = 1.0

    def under(self, positions: Array) -> Array:
        """Return the heights (F,) of the floor under positions (F, 3)."""
        level = level_under(self.surface, positions, self.height)
        if self.surface is None:  # whose height has the share
            return level
        own = positions @ self.up
        return np.where(level > own, own + self.share * (level - own), level)


def floor_under(
    skeleton: Skeleton,
    motion: Motion,
    contacts: Contacts,
    pins: Sequence[TimedPin],
    share: Array | float = 1.0,
    levels: bool = False,
) -> Floor:
    """Return the floor under the pins of a motion's contacts: as low as the lowest sole is held, drift included.

    Feet that are deeper than `REACH` are not on it; there it is as low as they are. `share` (F,) is how far feet below
    it are raised to it; `levels`: see `Floor`.
    """
    up, drift = contacts.ground.up, contacts.drift @ contacts.ground.up
    held = [
        (slice(touch.first, touch.last + 1), float(pin.position @ up - contacts.points[touch.point].above))
        for touch, pin in zip(contacts.intervals(), pins, strict=True)
        if pin.position is not None
    ]
    floor = drift + min((height - drift[span].mean() for span, height in held), default=np.inf)
    for span, height in held:
        floor[span] = np.minimum(floor[span], height)
    lowest = lowest_sole(skeleton, motion.pose, contacts.points, up)
    height = np.where(lowest < floor - REACH * skeleton.size, lowest, lowest + share * (floor - lowest))
    return Floor(up, height, levels=levels, surface=contacts.ground.surface, share=share)


def lowest_sole(skeleton: Skeleton, pose: Pose, points: Sequence[BodyPoint], up: Array) -> Array:
    """Return the height (...) of the lowest sole in poses (...), along `up` (3,); `points`: see `foot_points`."""
    return (point_positions(skeleton, pose, points) @ up - [point.above for point in points]).min(axis=-1)


def floor_pins(
    skeleton: Skeleton, motion: Motion, roles: Roles, floor: Floor, pins: Sequence[TimedPin] = ()
) -> tuple[TimedPin, ...]:
    """Return pins that raise the feet where they are below a floor; `pins` tell when they stand meanwhile."""
    if not roles.humanoid:  # legs that are high enough hold the body meanwhile
        return raised_pins(skeleton, motion, foot_points(skeleton, roles), floor, together=True)
    found: list[TimedPin] = []
    for side in SIDES:
        if roles.bone(f"foot.{side}") < 0:
            continue
        sole = find_sole(skeleton, roles, side)
        heads, frames = forward_of(skeleton, motion.pose, (sole.foot, max(sole.toe, 0)))
        free = np.array(np.broadcast_to(floor.share, len(motion)), float)
        for pin in pins:
            if skeleton.index(pin.bone) in (sole.foot, sole.toe):
                free[slice(*pin.span(motion))] = 0.0
        place, *turned = _stood(sole, heads, frames, floor, motion, free)
        changed = lengths(place - heads[:, 0]) > LEAST * skeleton.size
        for turn, before in zip(turned, np.moveaxis(frames, 1, 0), strict=False):
            changed |= rotation.angle_between(turn, before) > LEAST
        places = (frozen(place), None)  # the joint of the toes goes with the foot
        held = [*zip((sole.foot, sole.toe), places, map(frozen, turned), strict=False)]
        for first, last in runs(changed):  # of which each has the arrays of all frames
            span = float(motion.frames[first]), float(motion.frames[last])
            found += [TimedPin(bone, *span, position, turn) for bone, position, turn in held]
    return tuple(found)


def with_feet_held(
    skeleton: Skeleton, roles: Roles, pins: Sequence[TimedPin], raised: Sequence[TimedPin]
) -> tuple[TimedPin, ...]:
    """Return pins that hold feet as `pins` do, and after them those of the floor by which they are meanwhile `raised`.

    So a foot that stands is levelled as far as what holds it lets it.
    """
    feet = {point.bone for point in foot_points(skeleton, roles)}
    held = [
        replace(pin, ease_in=0.0, ease_out=0.0)
        for pin in pins
        if skeleton.index(pin.bone) in feet
        and any(one.start <= pin.end and pin.start <= one.end for one in raised)
    ]  # fmt: skip
    last = 1 + max((pin.priority for pin in held), default=-1)
    return *held, *(replace(pin, priority=last) for pin in raised)


def other_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the points of a human body, but for its feet, that may touch the ground; none of a creature."""
    if not roles.humanoid:
        return ()
    joints = ["hips", *(f"{part}.{side}" for part in ("forearm", "hand", "shin") for side in SIDES)]
    ends = ["head", *(f"hand.{side}" for side in SIDES)]
    found = [BodyPoint(role, roles.bone(role), (0.0, 0.0, 0.0)) for role in joints]
    found += [BodyPoint(role, roles.bone(role), (0.0, float(skeleton.lengths[roles.bone(role)]), 0.0)) for role in ends]
    return tuple(point for point in found if point.bone >= 0)


def tip_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the upper edges of a human's toe tips, which are the lowest where toes point down and back."""
    found: list[BodyPoint] = []
    for side in SIDES if roles.humanoid else ():
        if roles.bone(f"toe.{side}") >= 0 <= roles.bone(f"foot.{side}"):
            sole = find_sole(skeleton, roles, side)
            x, y, z = sole.tips[1].tolist()
            found += [BodyPoint(f"tip.{side}", sole.toe, (x, y, z))] if sole.toe >= 0 else []
    return tuple(found)


def sole_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the points of a human's feet and toes that are to be on the ground or above, see `Sole.under`."""
    found: list[BodyPoint] = []
    for side in SIDES if roles.humanoid else ():
        if roles.bone(f"foot.{side}") >= 0:
            sole = find_sole(skeleton, roles, side)
            for bone, places in zip((sole.foot, sole.toe), sole.under, strict=True):
                found += [BodyPoint(f"foot.{side}", bone, (x, y, z)) for x, y, z in places.tolist()]
    return tuple(found)


def depths(skeleton: Skeleton, motion: Motion, points: Sequence[BodyPoint], floor: Floor) -> Array:
    """Return how far points are below a floor (F, P), less than 0 above it."""
    places = np.moveaxis(point_positions(skeleton, motion.pose, points), 1, 0)
    under = [floor.under(place) + point.above - place @ floor.up for point, place in zip(points, places, strict=True)]
    return np.reshape(np.array(under), (len(points), len(motion))).T


def raised_pins(
    skeleton: Skeleton, motion: Motion, points: Sequence[BodyPoint], floor: Floor, together: bool = False
) -> tuple[TimedPin, ...]:
    """Return pins that raise points to a floor in the frames in which they are below it.

    If they are to be held `together`, those that are above it stay where they are while one is raised.
    """
    places, below = point_positions(skeleton, motion.pose, points), depths(skeleton, motion, points, floor)
    raised = places + np.maximum(below, 0.0)[..., None] * floor.up
    held = below > LEAST * skeleton.size
    if together:
        held = np.repeat(held.any(axis=1, keepdims=True), len(points), axis=1)
    return tuple(
        TimedPin(point.bone, float(motion.frames[first]), float(motion.frames[last]), frozen(raised[:, number]), None,
                 point=point.position)
        for number, point in enumerate(points)
        for first, last in runs(held[:, number])
    )  # fmt: skip


def _stood(sole: Sole, heads: Array, frames: Array, floor: Floor, motion: Motion, free: Array) -> tuple[Array, ...]:
    """Return the place (F, 3) of an ankle, and the frames (F, 4) of foot and toes, that are not below a floor.

    `heads` and `frames` are those before; a foot with a share `free` (F,) of 0 stands, and goes over edges between.
    """
    up, ankle, turn = floor.up, heads[:, 0], frames[:, 0]

    def under(places: Array) -> Array:
        return floor.height + _spread(floor.under(places) - floor.height, motion, free)

    heel, front = (ankle + rotation.rotate(turn, end) for end in (sole.heel, sole.tip))
    above = sole.thickness
    if sole.toe >= 0:  # the joint of the toes, as high as it is on flat feet
        front = heads[:, 1]
    elif above:  # the end of a foot where toes would turn
        front = ankle + rotation.rotate(turn, sole.ball + above * sole.up)
    ends, thick = (heel, front), (0.0, above)
    floors = [under(end) + high for end, high in zip(ends, thick, strict=True)]
    rises, pivot, over = _turned(ends, floors, up)
    slopes = floor.surface is not None
    if slopes:  # which are higher where the turn has the ends
        moved = [pivot + rotation.rotate(over, end - pivot) for end in ends]
        floors = [np.maximum(low, under(end) + high) for low, end, high in zip(floors, moved, thick, strict=True)]
        rises, pivot, over = _turned(ends, floors, up)
    edge, across = EDGE * float(np.linalg.norm(sole.tip - sole.heel)), np.cross(sole.up, sole.forward)

    def levelled(line: Array, end: Array, side: Array, *heights: Array) -> Array:
        room = np.maximum(np.minimum(*heights), 0.0) / edge
        grade = _grade(under, end, edge * side, up) if slopes else np.zeros(len(room))
        return _levelled(line / lengths(line)[:, None], side, grade, room, up, motion, free)

    if floor.levels:
        line, side = rotation.rotate(over, front - heel), rotation.rotate(rotation.mul(over, turn), across)
        tall = [end @ up - low for end, low in zip(ends, floors, strict=True)]
        over = rotation.mul(levelled(line, front, side, *tall), over)
    raised = pivot + rises[:, None] * up + rotation.rotate(over, front - pivot)
    place = raised + rotation.rotate(over, ankle - front)
    turned = [rotation.mul(over, turn)]
    points = [place + rotation.rotate(turned[0], point) for point in sole.under[0]]
    if sole.toe >= 0:
        toes = rotation.mul(over, frames[:, 1])
        behind = free if slopes else np.ones(len(free))  # toes that stand have their sides in a slope, not their rear
        ends = [*zip(sole.ends, (np.ones(len(free)), behind), strict=False)]
        for end, bends in reversed(ends):  # the tip last: a rear edge that is raised may put it below
            toes = rotation.mul(_bent(sole, end, raised, turned[0], toes, under, up, motion, free, bends, slopes), toes)
        if floor.levels:  # about the line from the joint to the tip, which stay
            line, flat = rotation.rotate(toes, sole.end), rotation.mul(toes, rotation.inv(sole.flat))
            tall = [raised @ up - under(raised) - above, (raised + line) @ up - under(raised + line)]
            toes = rotation.mul(levelled(line, raised + line, rotation.rotate(flat, across), *tall), toes)
        turned.append(toes)
        points += [raised + rotation.rotate(toes, point) for point in sole.under[1]]
    lack = np.max([np.maximum(floor.under(point) - point @ up, 0.0) for point in points], axis=0)
    lack[free == 0.0] = 0.0  # planted feet stay
    return place + _spread(lack, motion, free)[:, None] * up, *turned


def _turned(ends: tuple[Array, Array], floors: Sequence[Array], up: Array) -> tuple[Array, Array, Array]:
    """Return how far (F,) a point (F, 3) between the ends of a foot rises, and the rotations (F, 4) about it there.

    Then no end is below its floor (F,). The end that is not below stays.
    """
    heel, front = ends
    low, high = (np.maximum(floor - end @ up, 0.0) for end, floor in zip(ends, floors, strict=True))
    share = high / np.maximum(low + high, np.finfo(float).tiny)
    over = _raised(front - heel, high - low + (front - heel) @ up, up)
    return high + share * (low - high), front + share[:, None] * (heel - front), over


def _spread(values: Array, motion: Motion, free: Array) -> Array:
    """Return values (F,) that rise before larger ones, and fall after them, over `FADE`, to a share `free` (F,).

    They are as they were by the frames in which that is 0.
    """
    found, times = np.array(values), motion.frames / motion.fps
    edges = np.concatenate([[-np.inf], times[free == 0.0], [np.inf]])
    after = edges[np.searchsorted(edges, times, side="right")] - times
    before = times - edges[np.searchsorted(edges, times) - 1]
    for step in range(1, len(times)):
        apart = times[step:] - times[:-step]
        if not (apart < FADE).any():
            break
        late, early = slice(step, None), slice(None, -step)
        for here, there, reach in ((late, early, after), (early, late, before)):
            share = smootherstep(1.0 - apart / np.minimum(reach[there], FADE))
            found[here] = np.maximum(found[here], values[here] + share * (values[there] - values[here]))
    return values + free * (found - values)


def _bent(
    sole: Sole, point: Array, joint: Array, foot: Array, toes: Array, under: Callable[[Array], Array], up: Array,
    motion: Motion, free: Array, bends: Array, slopes: bool,
) -> Array:  # fmt: skip
    """Return the rotations (F, 4) about their hinge that raise a point (3,) of the toes to a floor.

    The joint (F, 3) is as high as it is, and `bends` (F,) how far they bend. Toes bend to one side as long as the point
    is below, rather up than down, and return to their turn over `FADE`.
    """
    ahead, top = (rotation.rotate(foot, way) for way in (sole.forward, sole.up))
    across, end = rotation.cross(ahead, top), rotation.rotate(toes, point)
    x, y = (end * ahead).sum(axis=-1), (end * top).sum(axis=-1)
    length, now = np.maximum(np.hypot(x, y), LEAST), np.arctan2(y, x)
    hinge = np.cross(sole.forward, sole.up)
    bent = rotation.swing_twist(rotation.mul(rotation.inv(foot), rotation.mul(toes, rotation.inv(sole.flat))), hinge)[1]
    straight = now - 2.0 * np.arctan2(bent[:, 1:] @ hinge, bent[:, 0])  # of toes that are rotated sideways as now
    lean = np.arctan2(ahead @ up, top @ up)

    def bend_to(level: Array) -> Array:
        rise = (level - joint @ up - (end * across).sum(axis=-1) * (across @ up)) / length
        steep = np.arcsin(np.clip(rise / np.hypot(ahead @ up, top @ up), -1.0, 1.0))
        ways = np.stack([steep - lean, np.pi - steep - lean])  # where the tip is on the floor, ahead and back
        apart, turns = _within_half(ways - straight - BENT), _within_half(ways - now)
        bend = np.zeros(len(now))
        for first, last in runs(level - (joint + end) @ up > LEAST * length):
            run = slice(first, last + 1)
            if abs(apart[0, run]).sum() < abs(apart[1, run]).sum():
                bend[run] = np.maximum(turns[0, run], 0.0)
            else:
                bend[run] = np.minimum(turns[1, run], 0.0)
        return bends * bend

    level = under(joint + end)
    bend = bend_to(level)
    if slopes:  # which are higher where the bend has the end
        bend = bend_to(np.maximum(level, under(joint + rotation.rotate(rotation.from_axis_angle(across, bend), end))))
    more, less = (_spread(np.maximum(part, 0.0), motion, free) for part in (bend, -bend))
    room = more + _within_half(straight - lean - now - more)  # until the toes are level
    more = np.minimum(more, np.maximum(np.maximum(room, bend), 0.0))
    return rotation.from_axis_angle(across, more - less)


def _within_half(angles: Array) -> Array:
    """Return angles plus whole turns, within half a turn of 0."""
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi


def _grade(under: Callable[[Array], Array], places: Array, side: Array, up: Array) -> Array:
    """Return the sine (F,) of the slope of a floor along a vector (F, 3): the smaller one of both sides of places.

    It is 0 where these rise to different ways, or one is level, as beside an edge.
    """
    flat = side - (side @ up)[:, None] * up
    level = under(places)
    rises = np.stack([under(places + flat) - level, level - under(places - flat)])
    rise = np.where(np.sign(rises).sum(axis=0) == 0.0, 0.0, rises[abs(rises).argmin(axis=0), np.arange(len(level))])
    return rise / np.maximum(np.hypot(lengths(flat), rise), np.finfo(float).tiny)


def _levelled(axis: Array, side: Array, grade: Array, room: Array, up: Array, motion: Motion, free: Array) -> Array:
    """Return the rotations (F, 4) about an axis (F, 3) that tilt a unit vector to the side (F, 3) as the floor there.

    Its height is then the `grade` (F,), to within `room` (F,). They come and go over `FADE`.
    """
    height, rate = side @ up, rotation.cross(axis, side) @ up
    flat = height**2 + rate**2  # 1 where the axis is level: what is steep is raised rather than turned

    def within_room(angle: Array) -> Array:
        now = height * np.cos(angle) + rate * np.sin(angle)
        wanted = now + flat * (np.clip(now, grade - room, grade + room) - now)
        for _ in range(ROUNDS):
            sin, cos = np.sin(angle), np.cos(angle)
            angle = angle + (wanted - height * cos - rate * sin) * (rate * cos - height * sin)
        return angle

    own = within_room(np.zeros(len(room)))
    more, less = (_spread(np.maximum(part, 0.0), motion, free) for part in (own, -own))
    return rotation.from_axis_angle(axis, within_room(more - less))


def _raised(ways: Array, rise: Array, up: Array) -> Array:
    """Return the rotations (F, 4) of vectors (F, 3) that then rise by `rise` (F,), nearly so where they are steep.

    They turn as their ends rise the quickest, in rounds: a steep vector turns less, and none jumps from one side to the
    other, where a turn straight to the height would have two answers.
    """
    length = np.maximum(lengths(ways), LEAST)
    unit, over = ways / length[:, None], np.tile(rotation.IDENTITY, (len(ways), 1))
    wanted = np.clip(rise / length, -1.0, 1.0)
    for _ in range(ROUNDS):
        now = rotation.rotate(over, unit)
        over = rotation.mul(rotation.exp((wanted - now @ up)[:, None] * rotation.cross(now, up)), over)
    return over
