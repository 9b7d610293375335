"""Change the pin of what is under the mouse: position, both, none."""

from typing import Any

import bpy
from bpy.props import StringProperty

from .. import bridge
from ..core import CoreError
from ..edits.drag.session import next_kind, pin_kind
from ..edits.pins import with_other_side
from ..overlay.draw import ui_scale
from .pins import keep_pin
from .tool import Tool, selected_bones


class POISE_OT_cycle_pin(Tool, bpy.types.Operator):
    """Pin a bone, by its key the one under the mouse: its position, then its rotation, too, then not at all"""

    bl_idname = "poise.cycle_pin"
    bl_label = "Cycle Pin"

    bone: StringProperty(
        name="Bone", description="The bone to pin; without a name the selected ones", options={"SKIP_SAVE"}
    )
    object: StringProperty(
        name="Armature", description="The armature that has it; by default the active one", options={"SKIP_SAVE"}
    )

    def invoke(self, context: Any, event: Any) -> set[str]:
        if context.region_data is not None:
            view = bridge.read_view(context.region, context.region_data)
            mouse = (event.mouse_region_x, event.mouse_region_y)
            grab = bridge.pick(context, view, mouse, ui_scale(context))
            if grab is not None:
                self.object, self.bone = grab.object_name, grab.bone
        return self.execute(context)

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        if self.object:
            armature = bpy.data.objects.get(self.object)
            bridge.check(armature)
        names = [self.bone] if self.bone else selected_bones(context)
        for name in names:
            if name not in armature.pose.bones:
                raise CoreError(f'"{armature.name}" has no bone "{name}".')
        kind = next_kind(pin_kind(armature, names[0]))
        for name in with_other_side(armature, names):
            keep_pin(context, armature, name, kind)
        said = {"NONE": "let go", "POSITION": "position pinned", "BOTH": "position and rotation pinned"}[kind]
        return "INFO", f"{', '.join(names)}: {said}"


CLASSES = (POISE_OT_cycle_pin,)
