"""Shared base of the panels in the sidebar tab Poise."""

from collections.abc import Iterable
from typing import Any, Final

import bpy

from .. import bridge
from ..languages.book import without_full_stop
from ..languages.interface import translated
from ..languages.lines import width, wrapped

_LETTER: Final = 6.4  # mean width of a letter of Blender's interface, pixels at a scale of 1
_MARGIN: Final = 56  # pixels: width of the borders
_ICON: Final = 20  # pixels
_WIDE: Final = 250  # pixels at a scale of 1: with less, names of settings would be cut
_NARROW: Final = 10  # letters in a line of the narrowest sidebar
_NAMES: Final = 0.4  # of the width, for names beside settings, as Blender draws them
_TIGHT: Final = 160  # pixels at a scale of 1: with less, sentences have no icon. Blender 5 shows nothing below 116
PAIR: Final = 200  # pixels at a scale of 1: with less, two short words beside each other would be cut


class Side:
    """A panel in the sidebar tab Poise."""

    bl_category = "Poise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"


class ArmaturePanel(Side):
    """A panel that needs an active armature."""

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.active_object is not None and context.active_object.type == "ARMATURE"


def refusal(context: Any) -> str:
    """Return why the active object must not be posed, "" if it may."""
    try:
        bridge.check(context.active_object)
    except bridge.BridgeError as error:
        return str(error)
    return ""


def refuses(layout: Any, context: Any) -> bool:
    """Return whether the active object must not be posed, and draw why."""
    why = refusal(context)
    if why:
        draw_sentence(layout, context, why, "INFO")
    return bool(why)


def is_narrow(room: float = _WIDE) -> bool:
    """Return whether the sidebar has less room, in pixels at a scale of 1, by default for names beside settings."""
    context: Any = bpy.context
    return context.region is not None and context.region.width < room * context.preferences.system.ui_scale


def labelled(layout: Any) -> Any:
    """Return the layout with the names of settings in a column of their own, if there is room for it."""
    layout.use_property_split, layout.use_property_decorate = not is_narrow(), False
    return layout


def beside(column: Any, room: float = _WIDE) -> Any:
    """Return a part of the column for buttons beside each other, or below each other where there is less room."""
    return column.column(align=True) if is_narrow(room) else column.row(align=True)


def draw_choice(column: Any, data: Any, name: str, expand: bool = True) -> None:
    """Draw what can be chosen in a `labelled` column, side by side if it expands, or as a menu where it is narrow."""
    if is_narrow():
        _named(column, data, name).prop(data, name, text="", placeholder=translated("None"))  # of a type: would be cut
    else:
        column.row().prop(data, name, expand=expand)


def draw_setting(column: Any, data: Any, name: str, **how: Any) -> None:
    """Draw a setting in a `labelled` column, below its name where Blender would leave that out for want of room.

    `how` goes to Blender; with `text` the setting has another name.
    """
    setting = data.bl_rna.properties[name]
    if is_narrow(PAIR) and setting.type != "BOOLEAN":
        _named(column, data, name, how.pop("text", None)).column(align=True).prop(data, name, text="", **how)
    else:
        column.prop(data, name, **how)


def draw_some(column: Any, data: Any, name: str, items: Iterable[str]) -> None:
    """Draw some of the items of what can be chosen, side by side in a `labelled` column."""
    row = _named(column, data, name)
    row.use_property_split = False
    for item in items:
        row.prop_enum(data, name, item)


def _named(column: Any, data: Any, name: str, text: str | None = None) -> Any:
    """Draw the name of a setting, or another text; return a row beside it, or below it where the name would be cut."""
    below = is_narrow(PAIR)
    split = column.column(align=True) if below else column.split(factor=0.5 if is_narrow() else _NAMES)
    label, setting = split.row(), data.bl_rna.properties[name]
    label.alignment = "LEFT" if is_narrow() else "RIGHT"
    label.label(text=text or setting.name, text_ctxt=setting.translation_context)
    return split.row(align=True)


def draw_list(layout: Any, armature: Any, name: str, rows: int) -> Any:
    """Draw a list of the armature's; return a part beside or below it for the buttons that change the list."""
    below = is_narrow(PAIR)
    row = layout.column() if below else layout.row()
    row.template_list(
        f"POISE_UL_{name}", "", armature, f"poise_{name}", armature, f"poise_active_{name[:-1]}", rows=rows
    )
    return row.row(align=True) if below else row.column(align=True)


def chosen_in(armature: Any, name: str) -> Any:
    """Return the item selected in a list of the armature's, or None."""
    items, number = getattr(armature, f"poise_{name}"), getattr(armature, f"poise_active_{name[:-1]}")
    return items[number] if 0 <= number < len(items) else None


def draw_tools(layout: Any, names: Iterable[str]) -> None:
    """Draw tools in a menu, where the search (F3) finds them."""
    for name in names:
        layout.operator(f"poise.{name}")


def draw_held(layout: Any, pin: Any) -> None:
    """Draw whether a pin holds the position and the rotation of its bone."""
    row = beside(layout, PAIR)
    for kind, icon in (("position", "CON_LOCLIKE"), ("rotation", "CON_ROTLIKE")):
        row.prop(pin, f"use_{kind}", toggle=True, icon="NONE" if is_narrow(_TIGHT) else icon)


def draw_mute(layout: Any, pin: Any) -> None:
    """Draw whether a pin is muted."""
    layout.prop(pin, "mute", text="", icon="HIDE_ON" if pin.mute else "HIDE_OFF", emboss=False)


def draw_sentence(layout: Any, context: Any, sentence: str, icon: str) -> None:
    """Draw a sentence of Poise's, translated, without its full stop, and wrapped to the width of the sidebar."""
    draw_text(layout, context, translated(without_full_stop(sentence)), icon)


def draw_text(layout: Any, context: Any, text: str, icon: str) -> None:
    """Draw a text as it is, wrapped to the width of the sidebar."""
    room = context.region.width / context.preferences.system.ui_scale if context.region is not None else _WIDE
    icons = ("NONE", "NONE") if is_narrow(_TIGHT) else (icon, "BLANK1")
    room -= _MARGIN + (_ICON if icons[0] == icon else 0)
    column = layout.column(align=True)
    for number, line in enumerate(wrapped(text, max(_NARROW, int(room / _LETTER)), width)):
        column.label(text=line, icon=icons[number > 0], translate=False)
