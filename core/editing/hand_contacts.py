"""Hands on meshes, such as rails, tables and walls: contacts of palms with the nearest surface, and pins for them.

Where a palm rests is found as for feet, see `contacts`, with its distance from the meshes in place of its height.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.closing import Surface
from ..body.ground import find_palm
from ..motion import Motion, forward_of
from ..rotation import Array
from ..skeleton import Skeleton
from .contacts import UP, BodyPoint, Contacts, Ground, find_contacts_at, point_positions
from .foot_lock import EASE
from .timed_pins import TimedPin

AFTER: Final = 1  # priority of hands: feet that stand come first
REST: Final = 0.25  # seconds: arms that swing stop for less
REACH: Final = 0.06  # of the size: a palm that is farther from the meshes is in no contact


@dataclass(frozen=True, eq=False)
class _Meshes(Ground):
    """Meshes as a ground: the height above them is the distance from the nearest point."""

    nearest: Surface | None = None
    reach: float = 0.0

    def heights(self, positions: Array) -> Array:
        assert self.nearest is not None
        distances = np.abs(self.nearest(positions.reshape(-1, 3))[0]).reshape(positions.shape[:-1])
        return np.where(distances < self.reach, distances, np.inf)


def palm_points(skeleton: Skeleton, roles: Roles) -> tuple[BodyPoint, ...]:
    """Return the middles of the palms, on the skin; their names are "hand.L" and "hand.R"."""
    found: list[BodyPoint] = []
    for side in SIDES:
        if roles.bone(f"hand.{side}") >= 0:
            hand, _, _, place = find_palm(skeleton, roles, side)
            x, y, z = place.tolist()
            found.append(BodyPoint(f"hand.{side}", hand, (x, y, z)))
    return tuple(found)


def find_hand_contacts(skeleton: Skeleton, motion: Motion, roles: Roles, meshes: Surface) -> Contacts:
    """Return the contacts of palms with meshes: where they are near, and slow."""
    points = palm_points(skeleton, roles)
    positions = point_positions(skeleton, motion.pose, points)
    ground = _Meshes(np.array(UP), 0.0, nearest=meshes, reach=REACH * skeleton.size)
    return find_contacts_at(positions, motion, points, skeleton.size, ground, drifts=False)


def hand_pins(
    skeleton: Skeleton, motion: Motion, roles: Roles, contacts: Contacts, meshes: Surface, ease: float = EASE
) -> tuple[TimedPin, ...]:
    """Return a pin for each contact of a hand: its palm is on the meshes where it is in the mean, and turns as before.

    `contacts` may be those of another body in the same frames; palms that are farther than `REACH` get no pin, nor do
    contacts that are shorter than `REST`. `ease` in seconds.
    """
    palms = {point.name: point for point in palm_points(skeleton, roles)}
    found, eases = list[TimedPin](), ease * motion.fps
    for touch in contacts.intervals():
        palm = palms.get(contacts.points[touch.point].name)
        first, last = (float(motion.frames[index]) for index in (touch.first, touch.last))
        if palm is None or last - first < REST * motion.fps:
            continue
        span = slice(touch.first, touch.last + 1)
        heads, frames = (one[:, 0] for one in forward_of(skeleton, motion.pose, (palm.bone,)))
        place = (heads[span] + rotation.rotate(frames[span], palm.position)).mean(axis=0)
        distances, normals = meshes(place[None])
        if abs(distances[0]) < REACH * skeleton.size:
            place = place - distances[0] * normals[0]
            found.append(TimedPin(palm.bone, first, last, place, frames, eases, eases, palm.position, priority=AFTER))
    return tuple(found)
