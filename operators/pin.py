"""Pin bones where they are."""

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..core import CoreError
from ..edits.pins import OBJECT, with_other_side
from ..properties.pins import PIN_SPACES
from .pins import set_pins
from .tool import Tool, counted, selected_bones


class POISE_OT_pin(Tool, bpy.types.Operator):
    """Hold the selected bones where they are now; a bone that is pinned already is pinned anew"""

    bl_idname = "poise.pin"
    bl_label = "Pin"

    kind: EnumProperty(
        name="Kind",
        description="What is held",
        items=(
            ("BOTH", "Position and Rotation", "The bone's head stays at its place, and the bone keeps its orientation"),
            ("POSITION", "Position", "The bone's head stays at its place"),
            ("ROTATION", "Rotation", "The bone keeps its orientation"),
        ),
    )
    space: EnumProperty(name="Space", description="What pins are fixed to", items=PIN_SPACES)
    target: StringProperty(name="Object", description="The object that the pins go with", options={"SKIP_SAVE"})

    @classmethod
    def need(cls, context: Any, armature: Any) -> None:
        selected_bones(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = with_other_side(armature, selected_bones(context))
        target = bpy.data.objects.get(self.target)
        if self.space == OBJECT and target is None:
            raise CoreError(f'No object "{self.target}".' if self.target else "Choose the object that pins go with.")
        set_pins(context, armature, names, self.kind, self.space, target)
        armature.poise_active_pin = armature.poise_pins.find(selected_bones(context)[-1])
        return "INFO", f"Pinned {counted(len(names), 'bone')}"


CLASSES = (POISE_OT_pin,)
