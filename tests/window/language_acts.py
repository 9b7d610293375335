"""Poise in another language. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tests.window import drag_acts as do

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path


def speak(hand: Any, language: str) -> Generator[float, None, list[str]]:
    """Switch the language; return label and tooltip of a tool, a report, and what a drag of a bone "Pin" writes."""
    import bpy

    context: Any = bpy.context
    view = context.preferences.view
    view.language = language
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    tool: Any = bpy.ops.poise.drag
    rna = tool.get_rna_type()
    said = [
        bpy.app.translations.pgettext_iface(rna.name, rna.translation_context),
        bpy.app.translations.pgettext_tip(rna.description),
    ]
    try:
        with context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            tool(object="Pin", bone="Pin")
    except RuntimeError as report:
        said.append(str(report).strip())
    yield from do.grab(hand, hand.pixel(do.head("Pin")))
    yield from do.lead(hand, (hand.x + 60, hand.y + 60))
    said += do.shown().text
    yield from do.cancel(hand, "ESC")
    return said
