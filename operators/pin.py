"""Pin bones where they are."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from .. import bridge
from ..core import forward
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
    space: EnumProperty(
        name="Space",
        description="What the pins are fixed to",
        items=(
            ("WORLD", "World", "The pins stay in the world while the armature object moves"),
            ("ARMATURE", "Armature", "The pins go with the armature object"),
        ),
    )

    @classmethod
    def need(cls, context: Any, object: Any) -> None:
        selected_bones(context)

    def act(self, context: Any, object: Any) -> tuple[str, str]:
        names = selected_bones(context)
        context.view_layer.update()
        rig = bridge.read_rig(object)
        stands: Any = forward(rig.skeleton, bridge.read_pose(object, rig))
        if self.space == "WORLD":
            stands = bridge.armature_to_world(bridge.world_matrix(object), *stands)
        positions, rotations = stands
        for name in names:
            bone = rig.skeleton.index(name)
            pin = next((pin for pin in object.poise_pins if pin.name == name), None) or object.poise_pins.add()
            pin.name = name
            pin.use_position, pin.use_rotation = self.kind != "ROTATION", self.kind != "POSITION"
            pin.position, pin.rotation = positions[bone], rotations[bone]
            pin.space, pin.mute = self.space, False
        object.poise_active_pin = object.poise_pins.find(names[-1])
        return "INFO", f"Pinned {counted(len(names), 'bone')}"


CLASSES = (POISE_OT_pin,)
