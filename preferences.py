"""The preferences of Poise: its tab, its marks in the viewport, its shortcuts, and the settings of new armatures."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import bpy
import rna_keymap_ui
from bpy.app.handlers import persistent
from bpy.props import FloatProperty, StringProperty

from . import keymaps
from .properties import keypoints, pins

TAB: Final = "Poise"
DEFAULTS: Final = {"tab": TAB, "mark_size": 1.0, "mark_opacity": 0.9}
# Settings of an armature that the preferences have a value for, in the order of the panels.
FOR_NEW: Final = ("method", "limits", "use_anatomy_limits", "wins", "root", "balance", "pin_space", "live_port")
_SETTINGS: Final = tuple(f"poise_{name}" for name in (*pins.SETTINGS, *keypoints.SETTINGS))  # of an armature
# Called with the name of the tab when it changes; registration fills it.
RENAMED: Final[list[Callable[..., None]]] = []


def _rename(preferences: Any, context: Any) -> None:
    for call in RENAMED:
        call(preferences.tab)


def _default(name: str) -> Any:
    """Return the property for the default of a setting: that of the armature itself."""
    return {**pins.SETTINGS, **keypoints.SETTINGS}[name]


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

    method: _default("method")
    limits: _default("limits")
    use_anatomy_limits: _default("use_anatomy_limits")
    wins: _default("wins")
    root: _default("root")
    balance: _default("balance")
    pin_space: _default("pin_space")
    live_port: _default("live_port")

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        column = layout.column()
        column.use_property_split = True
        column.prop(self, "tab")
        marks = column.column(align=True)
        marks.prop(self, "mark_size", text="Size of Marks")
        marks.prop(self, "mark_opacity")
        layout.label(text="Defaults for new armatures")
        column = layout.column()
        column.use_property_split = True
        for name in FOR_NEW:
            column.prop(self, name)
        layout.label(text="Shortcuts in Pose Mode, with any tool")
        configs = context.window_manager.keyconfigs
        for keymap, item in keymaps.user_items(configs):
            rna_keymap_ui.draw_kmi([], configs.user, keymap, item, layout.column(), 0)


def preferences_of(context: Any) -> Any:
    """Return the preferences of the user, or the defaults where Poise runs without being an add-on."""
    addon = context.preferences.addons.get(POISE_AP_preferences.bl_idname)
    return SimpleNamespace(**DEFAULTS) if addon is None or addon.preferences is None else addon.preferences


@persistent
def set_up_new(scene: Any, depsgraph: Any) -> None:
    """Give the active armature in Pose Mode the defaults, if it has no setting of Poise; Blender calls it on changes.

    Without a window nothing is done: what a verb writes does not depend on who runs it.
    """
    context: Any = bpy.context
    armature = context.view_layer.objects.active  # without a screen, as in timers, there is no active_object
    if not bpy.app.background and armature is not None and armature.type == "ARMATURE" and armature.mode == "POSE":
        give_defaults(armature, preferences_of(context))


def give_defaults(armature: Any, preferences: Any) -> None:
    """Give an armature that has no setting of Poise the values of the preferences that differ from its own."""
    if not armature.is_editable or any(map(armature.is_property_set, _SETTINGS)):
        return
    for name in FOR_NEW:
        own = getattr(armature, f"poise_{name}")
        if (value := getattr(preferences, name, own)) != own:
            setattr(armature, f"poise_{name}", value)


CLASSES = (POISE_AP_preferences,)
