"""Pins of the other side of the body."""

from typing import Any

import bpy
import numpy as np

from .. import bridge
from ..core import CoreError, rotation
from ..edits.pins import OBJECT, WORLD, read_pin
from .pins import PinsTool, add_pin, find_pin, place_pin
from .tool import counted


class POISE_OT_mirror_pins(PinsTool, bpy.types.Operator):
    """Pin the other side as this one is pinned, mirrored: of the selected bones, or of all if none of them is pinned"""

    bl_idname = "poise.mirror_pins"
    bl_label = "Mirror Pins"

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        chosen = {bone.name for bone in context.selected_pose_bones_from_active_object or ()}
        pairs: list[tuple[Any, str]] = []
        for pin in armature.poise_pins:
            other = bpy.utils.flip_name(pin.name)
            if other != pin.name and other in armature.pose.bones:
                pairs.append((pin, other))
        some = [(pin, other) for pin, other in pairs if pin.name in chosen]
        pairs = some or pairs
        if not pairs:
            raise CoreError("None of the pinned bones has a counterpart on the other side.")
        taken = {pin.name for pin, _ in pairs}
        pairs = [(pin, other) for pin, other in pairs if other not in taken]
        if not pairs:
            raise CoreError("Both sides are pinned; select the bones of the side that the other one is to follow.")
        self._mirror(armature, [(pin.name, other) for pin, other in pairs])
        return "INFO", f"Pinned {counted(len(pairs), 'bone')} on the other side"

    def _mirror(self, armature: Any, pairs: list[tuple[str, str]]) -> None:
        """By names: a list that grows moves its items in memory."""
        world = bridge.world_matrix(armature)
        for name, other in pairs:
            pin = find_pin(armature, name)
            hold = read_pin(pin)
            position, turn = hold.place(world)
            twin = find_pin(armature, other)
            if twin is None:
                twin = add_pin(armature, other)
                pin = find_pin(armature, name)  # the list may have moved
            for field in ("use_position", "use_rotation", "weight", "priority", "mute"):
                setattr(twin, field, getattr(pin, field))
            twin.space = WORLD if pin.space == OBJECT else pin.space  # what it goes with is on this side
            position = np.zeros(3) if position is None else position
            place_pin(armature, twin, *bridge.mirrored(position, rotation.IDENTITY if turn is None else turn))


CLASSES = (POISE_OT_mirror_pins,)
