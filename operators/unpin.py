"""Let pinned bones go."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ..core import CoreError
from ..edits.pins import with_other_side
from .pins import PinsTool, release
from .tool import selected_bones


class POISE_OT_unpin(PinsTool, bpy.types.Operator):
    """Let the selected bones go"""

    bl_idname = "poise.unpin"
    bl_label = "Unpin"

    bone: StringProperty(
        name="Bone", description="The bone to let go; without a name the selected ones", options={"SKIP_SAVE"}
    )

    def act(self, context: Any, armature: Any) -> tuple[str, str]:
        names = [self.bone] if self.bone else with_other_side(armature, selected_bones(context))
        places = [place for place, pin in enumerate(armature.poise_pins) if pin.name in names]
        if not places:
            raise CoreError(f'"{self.bone}" is not pinned.' if self.bone else "None of the selected bones is pinned.")
        return "INFO", release(armature, places)


CLASSES = (POISE_OT_unpin,)
