"""What a pin is fixed to."""

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from .. import bridge
from ..core import CoreError
from ..edits.pins import ARMATURE, OBJECT, WORLD, read_pin
from ..properties.pins import PIN_SPACES
from .pins import PinsTool, find_pin, place_pin


class POISE_OT_pin_space(PinsTool, bpy.types.Operator):
    """Fix a pin to the world, to the armature or to an object; it stays where it is"""

    bl_idname = "poise.pin_space"
    bl_label = "Pin Space"

    bone: StringProperty(
        name="Bone", description="The pinned bone; without a name that of the active pin", options={"SKIP_SAVE"}
    )
    space: EnumProperty(name="Space", description="What pins are fixed to", items=PIN_SPACES)
    target: StringProperty(
        name="Object", description="The object that the pin goes with; by default the other selected one",
        options={"SKIP_SAVE"},
    )  # fmt: skip

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        pin = find_pin(armature, self.bone) if self.bone else armature.poise_pins[armature.poise_active_pin]
        if pin is None:
            raise CoreError(f'"{self.bone}" is not pinned.')
        target = self._target(context, armature, pin) if self.space == OBJECT else None
        held = read_pin(pin) if pin.space != OBJECT or pin.target is not None else None
        if held is None:
            raise CoreError(f'The pin of "{pin.name}" has no object any more; pin the bone again.')
        use = pin.use_position, pin.use_rotation
        pin.use_position = pin.use_rotation = True  # both are carried over, whichever is held
        try:
            position, turn = read_pin(pin).place(bridge.world_matrix(armature))
        finally:
            pin.use_position, pin.use_rotation = use
        pin.space, pin.target = self.space, target
        place_pin(armature, pin, position, turn)
        where = f'"{target.name}"' if target is not None else {WORLD: "the world", ARMATURE: "the armature"}[self.space]
        return "INFO", f"{pin.name} is pinned to {where}"

    def _target(self, context: Any, armature: Any, pin: Any) -> Any:
        if self.target:
            target = bpy.data.objects.get(self.target)
            if target is None:
                raise CoreError(f'No object "{self.target}".')
        else:
            others = [other for other in context.selected_objects if other != armature]
            target = others[0] if len(others) == 1 else pin.target
        if target is None:
            raise CoreError("Choose the object that the pin goes with, or select it together with the armature.")
        if target == armature:
            raise CoreError("A pin cannot go with its own armature object this way; choose Armature.")
        return target


CLASSES = (POISE_OT_pin_space,)
