"""Poise's keys: in Blender's keymap editor, and not those of anything else in Pose Mode."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

import keymaps
from preferences import FOR_NEW, POISE_AP_preferences
from tests.blender.rigs import Layout

# What Blender asks for a key pressed over the 3D viewport in Pose Mode, besides the keymap of the tool in hand.
ASKED = (
    "Pose", "Object Non-modal", "Frames", "Markers", "3D View Generic", "3D View", "Window", "Screen", "Screen Editing",
    "View3D Gesture", "Region Context Menu",
)  # fmt: skip
TOOLS = "3D View Tool: Pose"
MODIFIERS = ("ctrl", "shift", "alt", "oskey", "hyper")


@pytest.fixture(autouse=True)
def _users_keymap() -> None:
    """Blender's own loop, which does not run here, copies keys of add-ons to the keymap that users edit."""
    bpy.context.window_manager.keyconfigs.update()


def blenders_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any]]:
    """Keymap and event of every key of Blender's own configurations, with the mouse and space bar set either way."""
    (folder,) = bpy.utils.preset_paths("keyconfig")
    monkeypatch.syspath_prepend(str(Path(folder) / "keymap_data"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    blender = importlib.import_module("blender_default")
    industry = importlib.import_module("industry_compatible_data")
    ways = [
        (blender, blender.Params(select_mouse=mouse, spacebar_action=space, use_alt_tool_or_cursor=True))
        for mouse in ("LEFT", "RIGHT")
        for space in ("PLAY", "TOOL", "SEARCH")
    ]
    ways += [(blender, blender.Params(legacy=True)), (industry, industry.Params())]
    for module, parameters in ways:
        for name, _, content in module.generate_keymaps(parameters):
            if name in ASKED or name.startswith(TOOLS):
                yield from ((name, item[1]) for item in content["items"])


def test_no_key_of_poise_is_blenders_in_pose_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: set[tuple[str, frozenset[str], str]] = set()
    for name, event in blenders_keys(monkeypatch):
        taken.add((event["type"], frozenset(key for key in MODIFIERS if event.get(key)), name))
        assert not (event.get("any") and event["type"] in {key for *_, key, _ in keymaps.SHORTCUTS})
    assert ("G", frozenset(), "Pose") in taken  # to move bones: it does look where it should
    keys = {(key, modifiers) for key, modifiers, _ in taken}
    assert ("P", frozenset({"ctrl"})) in keys
    for *_, key, modifiers in keymaps.SHORTCUTS:
        assert (key, frozenset(modifiers)) not in keys


def test_the_keys_are_in_the_keymap_that_users_edit() -> None:
    items = keymaps.user_items(bpy.context.window_manager.keyconfigs)
    assert [(item.idname, item.type, item.ctrl, item.shift, item.alt) for _, item in items] == [
        ("poise.drag", "G", True, False, False),
        ("wm.call_menu_pie", "Q", False, True, False),
    ]
    assert {keymap.name for keymap, _ in items} == {"Pose"}
    assert all(item.name for _, item in items)  # what the editor lists it by


class Own:
    """The preferences with a layout that notes what is drawn."""

    def __init__(self, preferences: Any, layout: Layout) -> None:
        self.bl_rna, self.layout = preferences.bl_rna, layout


def test_the_preferences_show_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def draw_kmi(maps: Any, config: Any, keymap: Any, item: Any, layout: Any, level: int) -> None:
        shown.append(item.idname)

    monkeypatch.setattr("rna_keymap_ui.draw_kmi", draw_kmi)
    preferences: Any = bpy.context.preferences.addons[POISE_AP_preferences.bl_idname].preferences
    drawn: list[tuple[str, ...]] = []
    POISE_AP_preferences.draw(Own(preferences, Layout(drawn)), bpy.context)
    assert [name for kind, name in drawn if kind == "prop"] == ["tab", "mark_size", "mark_opacity", *FOR_NEW]
    assert shown == [operator for operator, *_ in keymaps.SHORTCUTS]
    assert POISE_AP_preferences.bl_idname in bpy.context.preferences.addons
