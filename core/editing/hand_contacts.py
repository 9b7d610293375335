"""Hands on meshes, such as rails, tables and walls: contacts of palms with the nearest surface, and pins for them.

Where a palm rests is found as for feet, see `contacts`, with its distance from the meshes in place of its height. Where
it slides, its offset from the nearest point of the meshes hardly changes, however fast it goes along them.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .. import rotation
from ..body import SIDES, Roles
from ..body.closing import Surface
from ..body.ground import find_palm
from ..motion import Motion, forward_of
from ..rotation import Array
from ..skeleton import Flags, Skeleton
from .contacts import UP, BodyPoint, Contacts, Ground, find_contacts_at, point_positions, runs
from .drift import velocities
from .foot_lock import EASE
from .timed_pins import TimedPin

AFTER: Final = 1  # priority of hands: feet that stand come first
REST: Final = 0.25  # seconds: arms that swing stop for less
REACH: Final = 0.06  # of the size: a palm that is farther from the meshes is in no contact
SLIDES: Final = 0.5  # seconds: arms that swing along a rail keep their distance from it for less
STEADY: Final = 0.05  # sizes a second: so fast the offset of a palm that slides may change


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
    """Return the contacts of palms with meshes: `touching` where they rest, `low` also where they slide along."""
    points = palm_points(skeleton, roles)
    positions = point_positions(skeleton, motion.pose, points)
    ground = _Meshes(np.array(UP), 0.0, nearest=meshes, reach=REACH * skeleton.size)
    rests = find_contacts_at(positions, motion, points, skeleton.size, ground, drifts=False)
    distances, normals = meshes(positions.reshape(-1, 3))
    offsets = (distances[:, None] * normals).reshape(positions.shape)
    speed = np.linalg.norm(velocities(offsets, motion), axis=-1)
    steady = np.isfinite(ground.heights(positions)) & (speed < STEADY * skeleton.size)
    low = rests.touching.copy()
    for point in range(len(points)):
        for first, last in runs(steady[:, point]):
            low[first : last + 1, point] |= motion.frames[last] - motion.frames[first] >= SLIDES * motion.fps
    return replace(rests, low=low)


def hand_pins(
    skeleton: Skeleton, motion: Motion, roles: Roles, contacts: Contacts, meshes: Surface, ease: float = EASE
) -> tuple[TimedPin, ...]:
    """Return a pin for each contact of a hand: its palm is on the meshes, and turns as before.

    Where it rests it stays at its mean place; where it slides it goes as before, moved by what the rests beside ask
    for. `contacts` may be those of another body in the same frames; palms that are farther than `REACH` get no pin, nor
    do contacts that are shorter than `REST`. `ease` in seconds.
    """
    palms = {point.name: point for point in palm_points(skeleton, roles)}
    found, eases = list[TimedPin](), ease * motion.fps
    for column, point in enumerate(contacts.points):
        palm = palms.get(point.name)
        if palm is None:
            continue
        heads, frames = (one[:, 0] for one in forward_of(skeleton, motion.pose, (palm.bone,)))
        places = heads + rotation.rotate(frames, palm.position)
        places += _to_rests(places, contacts.touching[:, column], contacts.low[:, column])
        distances, normals = meshes(places)
        places -= distances[:, None] * normals
        for first, last in runs(contacts.low[:, column] & (np.abs(distances) < REACH * skeleton.size)):
            start, end = (float(motion.frames[index]) for index in (first, last))
            if end - start >= REST * motion.fps:
                found.append(
                    TimedPin(palm.bone, start, end, places, frames, eases, eases, palm.position, priority=AFTER)
                )
    return tuple(found)


def _to_rests(places: Array, rests: Flags, touching: Flags) -> Array:
    """Return the shifts (F, 3) of places that bring each rest to its mean; between those of one contact they blend."""
    shifts = np.zeros_like(places)
    for first, last in runs(rests):
        span = slice(first, last + 1)
        shifts[span] = places[span].mean(axis=0) - places[span]
    for first, last in runs(touching):
        at = np.arange(first, last + 1)
        known = at[rests[at]]
        if len(known):
            for axis in range(3):
                shifts[at, axis] = np.interp(at, known, shifts[known, axis])
    return shifts
