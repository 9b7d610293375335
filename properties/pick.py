"""Which of the bones under the mouse is meant."""

from typing import Any, Final

from bpy.props import IntVectorProperty

# On the window manager, which is neither saved with the file nor undone.
# The count is negative once the mouse has left the pixel, see `POISE_GT_hover.note_leave`.
SHOWN: Final[dict[str, Any]] = {
    "stepped": IntVectorProperty(
        name="Next Bone", description="A pixel of a viewport, and how often Next Bone was used there", size=3
    )
}
