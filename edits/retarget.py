"""`retarget`: transfer the motion of one body, also of a clip, to another."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import bridge
from ..bridge.errors import BridgeError
from ..bridge.turns import in_main_thread
from ..core import CoreError, Pose, Skeleton
from ..core.body import SIDES, Roles
from ..core.body.anatomy import carrier_of
from ..core.body.axes import axis_vector
from ..core.body.ground import ground_at_rest
from ..core.body.posture import leg_length
from ..core.editing.contacts import find_contacts, foot_points
from ..core.editing.floor import Floor
from ..core.editing.foot_lock import steadied, surface_rise
from ..core.editing.hand_contacts import find_hand_contacts, hand_pins
from ..core.editing.retarget import (
    aligned,
    check_pair,
    keep_contacts,
    matching_bones,
    overlaid,
    retarget,
    with_other_toes,
)
from ..core.editing.root_motion import with_object
from ..core.editing.smoothing import steady_part
from ..core.editing.timed_pins import share_within
from ..core.formats.recipe import bones_of
from ..core.rotation import Array
from .clips import ClipOptions, import_motion
from .files import temporary_data
from .held_motion import HeldMotion
from .info import moves_bones
from .level import level_under_feet
from .motion_edit import ChangedBones, Progress

FADE: Final = 0.3  # seconds
LONGEST: Final = 60.0  # seconds of a fade
PARTS: Final = {"upper": ("spine", "arm.L", "arm.R"), "lower": ("hips", "leg.L", "leg.R")}
_STANDING: Final = ("hips", *(f"{part}.{side}" for part in ("thigh", "shin", "foot") for side in SIDES))


class Retargeted(HeldMotion):
    """The motion of the armature `source` on another; that of its object is part of it, relative to the first frame.

    frames  the first and the last one of the source, by default all that are keyed
    plant   hold the feet where those of the source have contact
    parts   names of bones or parts, see `parts_of`: only these, over the motion that the armature has; without any, all
            of it, as a motion of its own
    fade    seconds over which parts come and go where the motion goes on beside them; with `sparse` there is no fade:
            the first and the last pose are the source's own
    start   the frame at which it begins, by default as in the source
    sparse  keys only at the frames at which the source has keys; feet are not planted then
    scale   parts are scaled as those of the source, and the hips as its object
    hands   hold the hands where they rest on the meshes of the ground, or slide along: of the source where it has one,
            or else where they are near those of this body

    rests   how often hands are held

    Where the source has a ground of meshes, too, its motion is taken as above a plane, and put on the ground here.
    """

    method = "retarget"

    def __init__(
        self, context: Any, armature: Any, source: Any, frames: tuple[int, int] | None = None, plant: bool = True,
        parts: Sequence[str] = (), fade: float = FADE, start: int | None = None, sparse: bool = False,
        scale: bool = False, hands: bool = False,
    ) -> None:  # fmt: skip
        if source is armature:
            raise CoreError("Source and target are the same armature. Choose two different ones.")
        if not 0.0 <= fade <= LONGEST:
            raise CoreError(f"The fade of parts must be between 0 and {LONGEST:g} seconds.")
        first, last = frames or bridge.keyed_range(source)
        numbers: Any = np.arange(first, last + 1)
        self._interpolation: dict[str, NDArray[np.intc]] = {}  # from each key on, by bone of the source
        if sparse:
            plant = False
            numbers, self._interpolation = bridge.key_interpolation(source, first, last)
        shift = 0 if start is None else start - numbers[0]
        self.makes_motion, self.whole_scales = not parts, scale
        beyond = _goes_on(armature, numbers[0] + shift, numbers[-1] + shift) if parts else (False, False)
        super().__init__(context, armature, numbers + shift)
        meshes = bridge.read_ground_surface(context, armature, self.worlds[0]) if hands else None
        own, motion, worlds = bridge.read_figure(source, numbers)
        if frames is None and not sparse:  # the file may begin with the rest pose of its skeleton
            part = steady_part(own, motion)
            self.left_out = np.delete(numbers, part).tolist()
            self.keep(part)
            motion, worlds = motion[part], worlds[part]
        motion = replace(with_object(own, motion, worlds, scale), frames=self.before.frames)
        meshed = self.surface is not None and source.poise_ground is not None
        roles, skeleton = bridge.read_roles(source, own), self.skeleton
        check_pair(roles, self.roles)
        for body, whose, one in ((own, roles, source), (skeleton, self.roles, armature)):
            if not leg_length(body, whose) > 0.0:
                raise CoreError(f'The bones of "{one.name}" have no length, so no motion can be retargeted.')
        alike = {} if self.controlled is not None else matching_bones(roles, self.roles)  # keys of controls are mixed
        self._same = {here: own.names[there] for here, there in alike.items()}
        chosen = parts_of(skeleton, self.roles, parts) if parts else list(range(len(skeleton)))
        if self.controlled is None:
            body = [bone for chain in self.roles.parts.values() for bone in chain if bone in chosen]
            driven = next((skeleton.names[bone] for bone in body if self.rig.decided[bone]), None)
            if driven is not None:
                raise CoreError(
                    f'"{driven}" is driven by {self.rig.driven[driven]}, and no controls were detected for it, '
                    "so no motion can be retargeted to it."
                )
        elif scale:
            raise CoreError(
                f'"{armature.name}" is posed by controls. Scale can only be retargeted to bones that are not.'
            )
        self.always_keyed[chosen] = True
        plant &= {bone for role in _STANDING for bone in self.roles.chain(role)}.issubset(chosen)
        touched = None
        if meshes is not None and meshed:
            touched = find_hand_contacts(own, motion, roles, bridge.read_ground_surface(context, source, worlds[0]))
        points = foot_points(own, roles) if plant else ()
        contacts = None
        if points:
            there = bridge.read_ground(context, source, worlds[0], own.size) if meshed else None
            contacts = find_contacts(own, motion, points, up=bridge.world_up(worlds[0]), surface=there)
            if there is not None:
                contacts = replace(contacts, drift=surface_rise(own, motion, contacts))
            motion, contacts = steadied(own, motion, contacts, carrier_of(own, roles))
        moved = retarget(own, motion, roles, skeleton, self.roles, scale)
        if parts and {*self.roles.chain("hips")} <= {*chosen}:
            moved = aligned(skeleton, self.roles, self.before, moved)
        if plant:
            self.floor = Floor(axis_vector(self.roles.up), ground_at_rest(skeleton, self.roles), surface=self.surface)
            self.level = level_under_feet(skeleton, self.roles, self.floor)
        if contacts is not None:
            moved, self.pins = keep_contacts(skeleton, moved, self.roles, contacts, surface=self.surface)
        share = self._share(fade, beyond) if parts and not sparse else np.ones(len(moved))
        if parts:
            moved = overlaid(skeleton, self.roles, self.before, moved, chosen, share)
        self.after = moved
        if meshes is not None:
            touched = touched or find_hand_contacts(skeleton, moved, self.roles, meshes)
            held = hand_pins(skeleton, moved, self.roles, touched, meshes)
            self.pins = [*self.pins, *(pin for pin in held if pin.bone in chosen)]
        self.pins = [pin for pin in self.pins if share[slice(*pin.span(moved))].all()]
        palms = [bone for side in SIDES for bone in self.roles.chain(f"hand.{side}")]
        self.rests = sum(pin.bone in palms for pin in self.pins)

    def jumps(self) -> list[str]:
        return [f"frame {frame:g} of the source, from which the body jumps, is left out" for frame in self.left_out]

    def compute(self, progress: Progress) -> None:
        super().compute(progress)
        begun = Pose.rest(self.skeleton, (1,)) if self.makes_motion else self.before.pose
        self.after = with_other_toes(self.skeleton, self.roles, begun, self.after)

    def _share(self, fade: float, beyond: tuple[bool, bool]) -> Array:
        """Return how far parts are as in the source (F,): they fade at the ends beyond which the motion goes on."""
        at, ease = self.before.frames, fade * self.before.fps
        return share_within(at, (at[0] + ease * beyond[0], at[-1] - ease * beyond[1]), ease)

    def write_keys(self, armature: Any, changed: ChangedBones, action: str | None, new: bool) -> Any:
        written = super().write_keys(armature, changed, action, new)
        if self._interpolation:
            kinds = self._interpolation
            named = ((bone, self.rig.skeleton.names[bone]) for bone in self._written)
            found = {name: kinds.get(self._same.get(bone, ""), kinds[""]) for bone, name in named}
            bridge.set_interpolation(armature, self.before.frames, found)
        return written


def parts_of(skeleton: Skeleton, roles: Roles, parts: Sequence[str]) -> list[int]:
    """Return the bones of names, roles, "arm.L" or "leg.R" with what hangs on them, "spine" up to the head, or PARTS.

    Raises CoreError if the body does not have them.
    """
    named = [one for part in parts for one in PARTS.get(part, (part,))]
    names = skeleton.names
    found = ([names.index(one)] if one in names else bones_of(roles, one) for one in named)
    return sorted({bone for bones in found for bone in bones})


def _goes_on(armature: Any, first: int, last: int) -> tuple[bool, bool]:
    """Return whether an armature has keys before the first and after the last of some frames."""
    try:
        begin, end = bridge.keyed_range(armature)
    except BridgeError:  # it has none
        return False, False
    return begin < first, end > last


def find_takes(armature: Any, actions: Iterable[Any]) -> dict[str, tuple[Any, Any]]:
    """Return the actions, with their slots, that move bones of the armature, by name.

    FBX importers put the object's name and a "|" before the name of a take; it is removed.
    """
    found: dict[str, tuple[Any, Any]] = {}
    for action in actions:
        for slot in action.slots:
            if moves_bones(armature, action, slot):
                found[action.name.rpartition("|")[2]] = action, slot
                break
    return found


@contextmanager
def imported(
    context: Any, path: Path, take: str = "", options: ClipOptions | None = None
) -> Iterator[tuple[Any, list[str]]]:
    """Import a file; yield its armature with a motion, and the names of all takes, the present one first.

    `take`: the name of the one to present, by default the one that the importer chose. Everything imported is removed
    afterwards. Raises CoreError if there is no armature with a motion, or no such take.
    """
    active = context.view_layer.objects.active
    selected = [armature for armature in context.view_layer.objects if armature.select_get()]
    mode = active.mode if active is not None else "OBJECT"
    try:
        if mode != "OBJECT":
            in_main_thread(partial(bpy.ops.object.mode_set, mode="OBJECT"))
        with temporary_data(context) as before:
            import_motion(path, options=options)
            new = [block for block in bpy.data.user_map() if block not in before]
            found = [block for block in new if isinstance(block, bpy.types.Object) and block.type == "ARMATURE"]
            actions = [block for block in new if isinstance(block, bpy.types.Action)]
            moving = next(((one, takes) for one in found if (takes := find_takes(one, actions))), None)
            if moving is None:
                raise CoreError(f'There is no armature with a motion in "{path.name}".')
            source, takes = moving
            take = take if take in takes else take.rpartition("|")[2]  # as `info` names it
            if take and take not in takes:
                raise CoreError(f'There is no take "{take}" in "{path.name}"; there are {", ".join(takes)}.')
            data = source.animation_data or source.animation_data_create()
            if take or data.action is None:
                data.action, data.action_slot = takes[take or next(iter(takes))]
            yield source, sorted(takes, key=lambda name: takes[name][0] != data.action)
    finally:
        for armature in context.view_layer.objects:
            armature.select_set(armature in selected)
        context.view_layer.objects.active = active
        if mode != "OBJECT":
            in_main_thread(partial(bpy.ops.object.mode_set, mode=mode))
