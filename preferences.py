"""The preferences of Poise: the name of its tab, its marks in the viewport, its shortcuts."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import bpy
import rna_keymap_ui
from bpy.props import FloatProperty, StringProperty

from . import keymaps

TAB: Final = "Poise"
DEFAULTS: Final = {"tab": TAB, "mark_size": 1.0, "mark_opacity": 0.9}
# Called with the name of the tab when it changes; registration fills it.
RENAMED: Final[list[Callable[..., None]]] = []


def _rename(preferences: Any, context: Any) -> None:
    for call in RENAMED:
        call(preferences.tab)


class POISE_AP_preferences(bpy.types.AddonPreferences):
    """Preferences of Poise"""

    bl_idname = __package__ or ""

    tab: StringProperty(
        name="Tab", description="Tab of the sidebar that shows the panels", default=DEFAULTS["tab"], update=_rename
    )
    mark_size: FloatProperty(
        name="Size", description="Size of pins and other marks in the viewport", default=DEFAULTS["mark_size"],
        min=0.5, max=3.0,
    )  # fmt: skip
    mark_opacity: FloatProperty(
        name="Opacity", description="Opacity of pins and other marks in the viewport",
        default=DEFAULTS["mark_opacity"], min=0.1, max=1.0, subtype="FACTOR",
    )  # fmt: skip

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column()
        column.use_property_split = True
        column.prop(self, "tab")
        marks = column.column(align=True)
        marks.prop(self, "mark_size", text="Marks Size")
        marks.prop(self, "mark_opacity")
        layout.label(text="Shortcuts in Pose Mode, with any tool")
        configs = context.window_manager.keyconfigs
        for keymap, item in keymaps.user_items(configs):
            rna_keymap_ui.draw_kmi([], configs.user, keymap, item, layout.column(), 0)


def preferences_of(context: Any) -> Any:
    """Return the preferences of the user, or the defaults where Poise runs without being an add-on."""
    addon = context.preferences.addons.get(POISE_AP_preferences.bl_idname)
    return SimpleNamespace(**DEFAULTS) if addon is None or addon.preferences is None else addon.preferences


CLASSES = (POISE_AP_preferences,)
