"""`lock-feet`: find the contacts of feet and hands with the ground, and hold them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from .. import bridge
from ..core import CoreError, Motion
from ..core.body import SIDES, Roles
from ..core.body.anatomy import carrier_of
from ..core.editing.contacts import SLOWEST, BodyPoint, Contacts, Surface, foot_points
from ..core.editing.foot_lock import EASE, count_skating, steadied
from ..core.editing.hand_contacts import find_hand_contacts, hand_pins
from ..core.editing.timed_pins import TimedPin, share_within
from .held_motion import HeldMotion, PartOfMotion

FEET: Final = "feet"
HANDS: Final = "hands"
DRIFTS: Final = ("remove", "keep", "none")
LONGEST: Final = 60.0  # seconds of an ease
SKATING: Final = SLOWEST  # sizes of the skeleton a second from which on a point in contact skates


class LockedFeet(PartOfMotion):
    """A motion with its contacts held; `points`: see `contact_points`; `ease` in seconds.

    Contacts are found in the whole motion, and those that overlap `frames` are held. `drift` of the ground: "remove" it
    from the way of the body, where `frames` are all; "keep" it, so that the body goes as far as before and feet are
    planted on its way; or there is "none", and what slides does not stand.
    """

    method = "lock-feet"

    def __init__(
        self, context: Any, armature: Any, frames: tuple[int, int], points: Sequence[str] = (FEET,),
        ease: float = EASE, drift: str = DRIFTS[0],
    ) -> None:  # fmt: skip
        whole = bridge.keyed_range(armature)
        super().__init__(context, armature, (min(whole[0], frames[0]), max(whole[1], frames[1])))
        names = points_above_ground(points, self.surface)
        if not names:
            self.contacts, self.pins = hands_on_meshes(context, armature, self, self.before, ease)
            self.pins = [pin for pin in self.pins if pin.start <= frames[1] and pin.end >= frames[0]]
            return
        found = find_ground_contacts(self, contact_points(self.skeleton, self.roles, names), drift != "none")
        if drift == "remove" and frames[0] <= whole[0] and frames[1] >= whole[1]:
            root = carrier_of(self.skeleton, self.roles)
            steady, found = steadied(self.skeleton, self.on_ground(self.before), found, root)
            self.after = self.off_ground(steady)
        share = share_within(self.before.frames, frames, ease * self.before.fps)
        self.level_with(found, self.after)
        pins = [*self.plant(self.after, found, self.eased(found, ease), share)]
        if len(names) < len(points):
            pins += hands_on_meshes(context, armature, self, self.after, ease)[1]
        self.pins = [pin for pin in pins if pin.start <= frames[1] and pin.end >= frames[0]]
        within = ((self.before.frames >= frames[0]) & (self.before.frames <= frames[1]))[:, None]
        self.contacts = replace(found, touching=found.touching & within, low=found.low & within)
        if FEET not in points:
            self.floor = None

    def skating(self) -> dict[str, float]:
        """Return the shares of frames in which heels and balls skate, "before" and "after": of those in contact, and of
        all in which they are as low, "low_before" and "low_after"; also feet that swing are low at times.
        """
        shares: dict[str, float] = {}
        for kind, bearing in (("", self.contacts.touching), ("low_", self.contacts.low)):
            for name, motion in (("before", self.before), ("after", self.after)):
                speed = SKATING * self.skeleton.size
                fast, all = count_skating(self.skeleton, self.on_ground(motion), self.contacts, bearing, speed)
                shares[kind + name] = fast / max(all, 1)
        return shares


def find_ground_contacts(edit: HeldMotion, points: Sequence[BodyPoint], drifts: bool = True) -> Contacts:
    """Return the contacts of points with the ground, which may drift; see `HeldMotion.find_contacts`.

    Raises CoreError if there are none.
    """
    found = edit.find_contacts(edit.before, points, drifts)
    if not found.touching.any():
        named = ", ".join(point.name for point in points)
        raise CoreError(f"Nothing touches the ground. Checked: {named}.")
    return found


def points_above_ground(points: Sequence[str], surface: Surface | None) -> list[str]:
    """Return those of some points that are looked for above the ground: hands are held on the sides of its meshes."""
    return [name for name in points if name != HANDS or surface is None]


def hands_on_meshes(
    context: Any, armature: Any, edit: HeldMotion, motion: Motion, ease: float
) -> tuple[Contacts, Sequence[TimedPin]]:
    """Return the contacts of palms with the nearest sides of the meshes of the ground, and pins that hold them there.

    See `find_hand_contacts`. `ease` in seconds.
    """
    edit.follow_object()
    meshes, there = bridge.read_ground_surface(context, armature, edit.worlds[0]), edit.on_ground(motion)
    found = find_hand_contacts(edit.skeleton, there, edit.roles, meshes)
    return found, edit.in_armature(hand_pins(edit.skeleton, there, edit.roles, found, meshes, ease))


def check_points(armature: Any, points: Sequence[str]) -> None:
    """Raise CoreError for points that the armature does not have."""
    skeleton = bridge.read_rig(armature).skeleton
    contact_points(skeleton, bridge.read_roles(armature, skeleton), points)


def contact_points(skeleton: Any, roles: Roles, names: Sequence[str]) -> list[BodyPoint]:
    """Return the points that may touch the ground; `names`: "feet", "hands", or bones, whose tails are taken.

    Raises CoreError for feet that are missing, or that hang on the root alone.
    """
    found: list[BodyPoint] = []
    for name in names:
        if name == FEET:
            feet = foot_points(skeleton, roles)
            if not feet:
                raise CoreError(
                    "This body has no feet. Select the bones that touch the ground, and set Points to Selected Bones."
                )
            above = skeleton.parents[[skeleton.index(point.bone) for point in feet]]
            if not (skeleton.parents[above[above >= 0]] >= 0).any():
                name = skeleton.names[skeleton.index(feet[0].bone)]
                raise CoreError(
                    f'"{name}" and the other feet have no leg between them and the root, so only the whole body '
                    "could move. Name bones at the ends of the legs."
                )
            found += feet
        elif name == HANDS:
            hands = [(f"{HANDS[:-1]}.{side}", roles.bones.get(f"hand.{side}")) for side in SIDES]
            found += [_tail(skeleton, hand, bone) for hand, bone in hands if isinstance(bone, int)]
        else:
            found.append(_tail(skeleton, name, skeleton.index(name)))
    return found


def _tail(skeleton: Any, name: str, bone: int) -> BodyPoint:
    return BodyPoint(name, bone, (0.0, float(skeleton.lengths[bone]), 0.0))
