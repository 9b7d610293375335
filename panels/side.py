"""What the panels of the tab "Poise" in the sidebar share."""

import textwrap
from typing import Any, Final

_LETTER: Final = 6.0  # pixels that a letter of Blender's interface takes on average, at a scale of 1
_MARGIN: Final = 70  # pixels of the icon and the borders
_NARROW: Final = 24  # letters in a line of the narrowest sidebar


class Side:
    """A panel in the tab of the sidebar."""

    bl_category = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"


def draw_sentence(layout: Any, context: Any, sentence: str, icon: str) -> None:
    """A text in as many lines as the sidebar's width asks for."""
    width = context.region.width / context.preferences.system.ui_scale if context.region is not None else 0.0
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(sentence, max(_NARROW, int((width - _MARGIN) / _LETTER)))):
        column.label(text=line, icon="BLANK1" if number else icon)
