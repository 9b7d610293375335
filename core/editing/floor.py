"""Feet that are not below the floor: heel, ball and toe tip are contacts on it.

In each frame the foot is turned about what is not below, and raised, until heel and ball are on the floor; then it is
levelled sideways as far as its edges ask for, where these are known, and the toes are raised until their tip is on the
floor. Where nothing is below, nothing changes, and what is deep is less deep before and after: so the change has no
ease.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.ground import find_sole
from ..motion import Motion, forward_of
from ..pose import Pose
from ..rotation import Array, lengths
from ..skeleton import Skeleton, frozen
from .contacts import BodyPoint, Contacts, Surface, foot_points, level_under, point_positions, runs
from .drift import REACH
from .timed_pins import TimedPin

LEAST: Final = 1e-4  # of the size of the body, and radians: what is so little below is on the floor
EDGE: Final = 0.3  # half of the width of a sole, of its length; people's is half of that, cartoons' is not


@dataclass(frozen=True, eq=False)
class Floor:
    """A floor: its height, (F,) or one for all frames, along the unit vector `up` (3,).

    levels   whether feet near it are levelled sideways, as soles are at rest; soles of captured bodies are estimates
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
    skeleton: Skeleton, motion: Motion, contacts: Contacts, pins: Sequence[TimedPin], share: Array | float = 1.0
) -> Floor:
    """Return the floor under the pins of a motion's contacts: as low as the lowest sole is held, drift included.

    Feet that are deeper than `REACH` are not on it; there it is as low as they are. `share` (F,) is how far feet below
    it are raised to it.
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
    return Floor(up, height, levels=False, surface=contacts.ground.surface, share=share)


def lowest_sole(skeleton: Skeleton, pose: Pose, points: Sequence[BodyPoint], up: Array) -> Array:
    """Return the height (...) of the lowest sole in poses (...), along `up` (3,); `points`: see `foot_points`."""
    return (point_positions(skeleton, pose, points) @ up - [point.above for point in points]).min(axis=-1)


def floor_pins(skeleton: Skeleton, motion: Motion, roles: Roles, floor: Floor) -> tuple[TimedPin, ...]:
    """Return pins that raise the feet where they are below a floor, and no others."""
    if not roles.humanoid:  # legs that are high enough hold the body meanwhile
        return raised_pins(skeleton, motion, foot_points(skeleton, roles), floor, together=True)
    up = floor.up
    pins: list[TimedPin] = []
    for side in SIDES:
        if roles.bone(f"foot.{side}") < 0:
            continue
        sole = find_sole(skeleton, roles, side)
        heads, frames = forward_of(skeleton, motion.pose, (sole.foot, max(sole.toe, 0)))
        turn, ankle = frames[:, 0], heads[:, 0]
        across = np.cross(sole.up, sole.forward)
        edge = EDGE * float(np.linalg.norm(sole.tip - sole.heel)) if floor.levels else 0.0
        heel, front = (ankle + rotation.rotate(turn, end) for end in (sole.heel, sole.tip))
        above = 0.0
        if sole.toe >= 0:  # the joint of the toes, as high as it is on flat feet
            front, above = heads[:, 1], sole.thickness
        floors = [floor.under(heel), floor.under(front) + above]
        tall = [np.maximum(end @ up - low, 0.0) for end, low in zip((heel, front), floors, strict=True)]
        sides = rotation.rotate(turn, across)
        rise = tall[1] + floors[1] - tall[0] - floors[0]
        over = _turned(front - heel, rise, sides, np.minimum(*tall), edge, up)
        raised = front + (tall[1] + floors[1] - front @ up)[:, None] * up
        place = raised + rotation.rotate(over, ankle - front)
        held: list[tuple[int, Array | None, Array, Array]] = [(sole.foot, place, rotation.mul(over, turn), turn)]
        if sole.toe >= 0:
            toes = rotation.mul(over, frames[:, 1])
            end = rotation.rotate(toes, sole.end)
            height = floor.under(raised + end)
            tip = np.maximum((raised + end) @ up - height, 0.0)
            sides = rotation.rotate(toes, rotation.rotate(rotation.inv(sole.flat), across))
            bent = _turned(end, tip + height - raised @ up, sides, np.minimum(tall[1], tip), edge, up)
            held.append((sole.toe, None, rotation.mul(bent, toes), frames[:, 1]))
        changed = np.any([rotation.angle_between(turned, before) > LEAST for *_, turned, before in held], axis=0)
        changed |= lengths(place - ankle) > LEAST * skeleton.size
        shared = [(bone, place if place is None else frozen(place), frozen(turned)) for bone, place, turned, _ in held]
        for first, last in runs(changed):  # of which each has the arrays of all frames
            span = float(motion.frames[first]), float(motion.frames[last])
            pins += [TimedPin(bone, *span, place, turned) for bone, place, turned in shared]
    return tuple(pins)


def other_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the points of a human body, but for its feet, that may touch the ground; none of a creature."""
    if not roles.humanoid:
        return ()
    joints = ["hips", *(f"{part}.{side}" for part in ("forearm", "hand", "shin") for side in SIDES)]
    ends = ["head", *(f"hand.{side}" for side in SIDES)]
    found = [BodyPoint(role, roles.bone(role), (0.0, 0.0, 0.0)) for role in joints]
    found += [BodyPoint(role, roles.bone(role), (0.0, float(skeleton.lengths[roles.bone(role)]), 0.0)) for role in ends]
    return tuple(point for point in found if point.bone >= 0)


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


def _turned(ways: Array, rise: Array, across: Array, room: Array, edge: float, up: Array) -> Array:
    """Return the rotations (F, 4) of vectors (F, 3) that then rise by `rise` (F,), if they can, and lean no more.

    `across` (F, 3) are unit vectors to the side, and edges so far from the vectors go down by `room` (F,) at most.
    """
    length = lengths(ways)
    level = ways - (ways @ up)[:, None] * up
    wanted = np.clip(rise, -length, length)
    far = np.sqrt(np.square(length) - np.square(wanted)) / np.maximum(lengths(level), LEAST)
    over = rotation.shortest(ways, far[:, None] * level + wanted[:, None] * up)
    if edge == 0.0:
        return over
    axis = rotation.rotate(over, ways / length[:, None])
    side = rotation.rotate(over, across)
    slope = up - (axis @ up)[:, None] * axis
    steep = np.maximum(lengths(slope), LEAST)
    angle = np.arctan2((side * slope).sum(axis=-1), (side * rotation.cross(slope, axis)).sum(axis=-1))
    largest = np.arcsin(np.clip(room / edge / steep, 0.0, 1.0))
    return rotation.mul(rotation.from_axis_angle(axis, np.clip(angle, -largest, largest) - angle), over)
