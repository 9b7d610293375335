"""Shared base of the panels in the sidebar tab Poise."""

import textwrap
from typing import Any, Final

_LETTER: Final = 6.0  # mean width of a letter of Blender's interface, pixels at a scale of 1
_MARGIN: Final = 70  # pixels: width of the icon and the borders
_NARROW: Final = 24  # letters in a line of the narrowest sidebar


class Side:
    """A panel in the sidebar tab Poise."""

    bl_category = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"


def draw_sentence(layout: Any, context: Any, sentence: str, icon: str) -> None:
    """Draw a text wrapped to the width of the sidebar."""
    width = context.region.width / context.preferences.system.ui_scale if context.region is not None else 0.0
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(sentence, max(_NARROW, int((width - _MARGIN) / _LETTER)))):
        column.label(text=line, icon="BLANK1" if number else icon)
