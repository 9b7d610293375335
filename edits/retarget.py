"""`retarget`: transfer the motion of one body, also of a clip, to another."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from .. import bridge
from ..core import CoreError
from ..core.body.anatomy import carrier_of
from ..core.body.axes import axis_vector
from ..core.body.ground import ground_at_rest
from ..core.editing.contacts import find_contacts, foot_points
from ..core.editing.floor import Floor
from ..core.editing.foot_lock import steadied
from ..core.editing.retarget import keep_contacts, retarget
from ..core.editing.root_motion import with_object
from .clips import ClipOptions, import_motion
from .held_motion import HeldMotion
from .info import moves_bones


class Retargeted(HeldMotion):
    """The motion of the armature `source` on another; `plant`: hold the feet where those of the source have contact.

    The motion of the source's object is part of it, relative to the first frame.
    """

    method = "retarget"
    makes_motion = True

    def __init__(
        self, context: Any, armature: Any, source: Any, frames: tuple[int, int] | None = None, plant: bool = True
    ) -> None:
        if source is armature:
            raise CoreError("A motion is retargeted from one armature to another; these are the same.")
        whole = frames or bridge.keyed_range(source)
        super().__init__(context, armature, whole)
        own, motion, worlds = bridge.read_figure(source, self.before.frames)
        motion = with_object(own, motion, worlds)
        roles = bridge.read_roles(source, own)
        skeleton = self.skeleton
        if self.controlled is None:
            body = [bone for role in self.roles.bones for bone in self.roles.chain(role)]
            driven = next((skeleton.names[bone] for bone in body if self.rig.decided[bone]), None)
            if driven is not None:
                raise CoreError(
                    f'"{driven}" is driven by {self.rig.driven[driven]}, and no controls are known that pose it; '
                    "no motion can be put on it."
                )
        self.always_keyed[:] = True
        points = foot_points(own, roles) if plant and roles.humanoid else ()
        contacts = None
        if points:
            contacts = find_contacts(own, motion, points, up=bridge.world_up(worlds[0]))
            motion, contacts = steadied(own, motion, contacts, carrier_of(own, roles))
        self.after = retarget(own, motion, roles, skeleton, self.roles)
        if plant:
            self.floor = Floor(axis_vector(self.roles.up), ground_at_rest(skeleton, self.roles), surface=self.surface)
        if contacts is not None:
            self.after, self.pins = keep_contacts(skeleton, self.after, self.roles, contacts, surface=self.surface)


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
    before, active = set(bpy.data.user_map()), context.view_layer.objects.active
    selected = [armature for armature in context.view_layer.objects if armature.select_get()]
    mode = active.mode if active is not None else "OBJECT"
    try:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        import_motion(path, options=options)
        new = [block for block in bpy.data.user_map() if block not in before]
        found = [block for block in new if isinstance(block, bpy.types.Object) and block.type == "ARMATURE"]
        actions = [block for block in new if isinstance(block, bpy.types.Action)]
        moving = next(((one, takes) for one in found if (takes := find_takes(one, actions))), None)
        if moving is None:
            raise CoreError(f'There is no armature with a motion in "{path.name}".')
        source, takes = moving
        if take and take not in takes:
            raise CoreError(f'There is no take "{take}" in "{path.name}"; there are {", ".join(takes)}.')
        data = source.animation_data or source.animation_data_create()
        if take or data.action is None:
            data.action, data.action_slot = takes[take or next(iter(takes))]
        yield source, sorted(takes, key=lambda name: takes[name][0] != data.action)
    finally:
        bpy.data.batch_remove([block for block in bpy.data.user_map() if block not in before])
        context.view_layer.update()  # else `view_layer.objects` still lists removed objects
        for armature in context.view_layer.objects:
            armature.select_set(armature in selected)
        context.view_layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
