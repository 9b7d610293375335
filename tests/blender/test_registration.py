"""Enabling and disabling Poise: everything comes, everything goes."""

import importlib
from collections.abc import Iterator
from typing import Any

import bpy
import pytest

import core.errors
import registration
import standalone

OWNERS = ("Action", "Armature", "Bone", "Object", "PoseBone", "Scene", "WindowManager")


def footprint() -> dict[str, Any]:
    """All that an extension can leave behind in Blender, as names, but for the commands: see `commands`."""
    configs = bpy.context.window_manager.keyconfigs
    configs.update()  # as Blender does before each event: the user's keymaps follow those of add-ons
    return {
        "types": {name for name in dir(bpy.types) if "poise" in name.lower()},
        "subclasses": {cls.__name__ for cls in subclasses(bpy.types.bpy_struct) if cls.__module__.startswith("bl_ext")},
        "operators": set(dir(bpy.ops.poise)),
        "presets": [path for path in bpy.utils.preset_paths("poise/solver") if "panels" in path],  # not the user's
        "properties": {owner: set(getattr(bpy.types, owner).bl_rna.properties.keys()) for owner in OWNERS},
        "handlers": {
            name: [f"{handler.__module__}.{handler.__qualname__}" for handler in handlers]
            for name in dir(bpy.app.handlers)
            if isinstance(handlers := getattr(bpy.app.handlers, name), list)
        },
        "keymaps": {
            (config.name, keymap.name): sorted(item.idname for item in keymap.keymap_items)
            for config in (configs.addon, configs.user)
            for keymap in config.keymaps
            # Blender itself keeps what the user may have changed about the keys of a tool that is gone
            if config != configs.user or not keymap.name.startswith("3D View Tool")
        },
    }


def subclasses(cls: type) -> Iterator[type]:
    """The registered classes below `cls`."""
    for below in cls.__subclasses__():
        if getattr(below, "is_registered", False):
            yield below
        yield from subclasses(below)


@pytest.fixture
def disabled() -> Iterator[None]:
    """Poise switched off for one test, and on again after it."""
    bpy.ops.preferences.addon_disable(module=standalone.MODULE)
    yield
    bpy.ops.preferences.addon_enable(module=standalone.MODULE)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The `blender --command` verbs registered at present; Blender itself has no list that Python could read."""
    present: list[str] = []
    names: dict[int, str] = {}
    register, unregister = bpy.utils.register_cli_command, bpy.utils.unregister_cli_command

    def add(name: str, run: object) -> object:
        handle = register(name, run)
        present.append(name)
        names[id(handle)] = name
        return handle

    def remove(handle: object) -> None:
        unregister(handle)
        present.remove(names.pop(id(handle)))

    monkeypatch.setattr(bpy.utils, "register_cli_command", add)
    monkeypatch.setattr(bpy.utils, "unregister_cli_command", remove)
    return present


def test_enabled_poise_has_its_settings_tools_and_panel() -> None:
    found = footprint()
    assert "poise_pins" in found["properties"]["Object"]
    assert found["operators"]
    assert any(name.startswith("POISE_PT_") for name in found["types"])


def test_three_rounds_leave_the_same_footprint(disabled: None, commands: list[str]) -> None:
    without = footprint()
    assert "poise" not in repr(without).lower()
    enabled = []
    for _ in range(3):
        bpy.ops.preferences.addon_enable(module=standalone.MODULE)
        enabled.append(footprint())
        assert commands == ["poise"]
        bpy.ops.preferences.addon_disable(module=standalone.MODULE)
        assert footprint() == without
        assert commands == []
    assert enabled[0] != without
    assert enabled[0] == enabled[1] == enabled[2]


def test_poise_goes_although_another_script_cleared_the_handlers(disabled: None) -> None:
    without = footprint()
    bpy.ops.preferences.addon_enable(module=standalone.MODULE)
    for handlers in (getattr(bpy.app.handlers, name) for name in without["handlers"]):
        handlers.clear()
    bpy.ops.preferences.addon_disable(module=standalone.MODULE)
    assert footprint() | {"handlers": {}} == without | {"handlers": {}}
    assert not any("poise" in handler for handlers in footprint()["handlers"].values() for handler in handlers)


def test_a_failure_in_the_middle_leaves_nothing_behind(disabled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    without = footprint()

    def fail(*_: object) -> None:
        raise RuntimeError("no more commands")

    monkeypatch.setattr(bpy.utils, "register_cli_command", fail)
    with pytest.raises(RuntimeError, match="no more commands"):
        registration.register()
    monkeypatch.undo()  # before Poise is enabled again
    assert footprint() == without


def test_a_failing_register_is_an_error_for_who_enables(disabled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("no properties today")

    monkeypatch.setattr(registration.properties, "attach", fail)
    with pytest.raises(RuntimeError, match="no properties today"):
        bpy.ops.preferences.addon_enable(module=standalone.MODULE)
    monkeypatch.undo()  # before Poise is enabled again


def test_short_and_full_names_are_one_module() -> None:
    assert importlib.import_module(f"{standalone.MODULE}.core.errors") is core.errors
    assert registration.properties.__name__.startswith(standalone.MODULE)
