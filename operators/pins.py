"""Setting pins and letting go of them."""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import bridge
from ..core import CoreError, forward
from ..edits.pins import OBJECT, WORLD
from ..properties.marks import adopt, follow_names_of
from ..properties.overrides import linked_count
from .tool import Tool, counted


def set_pins(
    context: Any, armature: Any, bones: Iterable[str], kind: str, space: str | None = None, target: Any = None
) -> None:
    """Pin bones where they are now; `space` None: that which a bone's pin has, or the world."""
    context.view_layer.update()
    rig = bridge.read_rig(armature)
    stands = forward(rig.skeleton, bridge.read_pose(armature, rig))
    for name in bones:
        pin = find_pin(armature, name) or add_pin(armature, name)
        pin.use_position, pin.use_rotation = kind != "ROTATION", kind != "POSITION"
        pin.mute = False
        if space is not None:
            pin.space, pin.target = space, target if space == OBJECT else None
        bone = rig.skeleton.index(name)
        place_pin(armature, pin, stands[0][bone], stands[1][bone])


def add_pin(armature: Any, bone: str) -> Any:
    """A new pin of a bone."""
    pin = armature.poise_pins.add()
    pin.name = bone
    return pin


@persistent
def follow_names(scene: Any, depsgraph: Any) -> None:
    """Pins and chains go with their bones when these are renamed; Blender calls this after every change."""
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and update.id.type == "ARMATURE":
            follow_names_of(update.id.original)


@persistent
def follow_names_in_libraries(*_: Any) -> None:
    """The same when a file is opened: bones of its libraries may have been renamed meanwhile."""
    armatures = [armature for armature in bpy.data.objects if armature.type == "ARMATURE"]
    for armature in sorted(
        armatures, key=lambda armature: armature.library is None
    ):  # overrides are made of linked ones
        adopt(armature)
    for armature in armatures:
        if armature.library is None:
            follow_names_of(armature)


def place_pin(armature: Any, pin: Any, position: Any, rotation: Any) -> None:
    """Hold a place (3,) and a rotation (4,) of armature space, in the pin's own space."""
    if pin.space == WORLD or pin.space == OBJECT:
        position, rotation = bridge.armature_to_world(bridge.world_matrix(armature), position, rotation)
    if pin.space == OBJECT:
        if pin.target is None:
            raise CoreError(f'The pin of "{pin.name}" has no object to go with; choose one.')
        position, rotation = bridge.world_to_armature(bridge.world_matrix(pin.target), position, rotation)
    pin.position, pin.rotation = position, rotation


def keep_pin(context: Any, armature: Any, bone: str, kind: str, turned: bool = True) -> None:
    """After a drag: the pin of what was dragged holds it where it is now, or is gone; its rotation if it `turned`."""
    pin = find_pin(armature, bone)
    if kind != "NONE":
        held = tuple(pin.rotation) if pin is not None and pin.use_rotation and not (pin.mute or turned) else None
        set_pins(context, armature, [bone], kind)
        if held is not None:
            find_pin(armature, bone).rotation = held
    elif pin is not None and not pin.mute:
        release(armature, [armature.poise_pins.find(bone)])


def find_pin(armature: Any, bone: str) -> Any:
    """The pin of a bone, or None."""
    place = armature.poise_pins.find(bone)
    return armature.poise_pins[place] if place >= 0 else None


class PinsTool(Tool):
    """A tool for an armature that has pins."""

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        if not len(armature.poise_pins):
            raise CoreError(f'"{armature.name}" has no pins.')


def release(armature: Any, places: list[int]) -> str:
    """Take pins off the list and say so; pins of the linked file under a library override can only be muted."""
    linked = linked_count(armature, "poise_pins")
    for place in sorted(places, reverse=True):
        if place < linked:
            armature.poise_pins[place].mute = True
        else:
            armature.poise_pins.remove(place)
    armature.poise_active_pin = max(0, min(armature.poise_active_pin, len(armature.poise_pins) - 1))
    muted = sum(place < linked for place in places)
    sentence = f"Let go of {counted(len(places), 'bone')}"
    return sentence + (f"; muted {counted(muted, 'pin')} of the linked file" if muted else "")
