"""The user's preferences: the tab's name, how marks look, and what new armatures begin with."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from overlay.draw import theme_colours
from panels import CLASSES
from preferences import DEFAULTS, FOR_NEW, POISE_AP_preferences, give_defaults, preferences_of


@pytest.fixture
def preferences() -> Iterator[Any]:
    found: Any = bpy.context.preferences.addons[POISE_AP_preferences.bl_idname].preferences
    yield found
    for name, value in DEFAULTS.items():
        setattr(found, name, value)
    for name in FOR_NEW:
        found.property_unset(name)


def tabs() -> set[str]:
    """The tabs of the sidebar that have panels of Poise, as Blender knows them."""
    shown = (getattr(bpy.types, cls.__name__) for cls in CLASSES if hasattr(cls, "bl_category"))
    return {cls.bl_category for cls in shown}


def test_the_panels_move_to_the_tab_of_the_preferences_and_back(preferences: Any) -> None:
    assert tabs() == {"Poise"}
    preferences.tab = "Animate"
    assert tabs() == {"Animate"}
    preferences.tab = DEFAULTS["tab"]
    assert tabs() == {"Poise"}


def test_marks_have_the_opacity_of_the_preferences(preferences: Any) -> None:
    preferences.mark_opacity = 0.5
    colours = theme_colours(bpy.context)
    assert (colours.pin[3], colours.hover[3]) == (0.5, 0.5)
    assert preferences_of(bpy.context).mark_size == DEFAULTS["mark_size"]


def new_armature() -> Any:
    data = bpy.data.armatures.new("new")
    return bpy.data.objects.new("new", data)


def test_a_new_armature_begins_with_the_preferences_and_one_that_has_settings_keeps_them(preferences: Any) -> None:
    preferences.root, preferences.live_port = "FREE", 40000
    new, known = new_armature(), new_armature()
    known.poise_wins = "PINS"
    for armature in (new, known):
        give_defaults(armature, preferences)
    assert (new.poise_root, new.poise_live_port, new.poise_limits) == ("FREE", 40000, "HARD")
    assert (known.poise_root, known.poise_live_port) == ("PULL", 39539)
    new.poise_root = "PULL"
    give_defaults(new, preferences)
    assert new.poise_root == "PULL"


def test_nothing_is_stored_with_an_armature_where_the_preferences_are_as_they_come(preferences: Any) -> None:
    armature = new_armature()
    give_defaults(armature, preferences)
    assert not any(armature.is_property_set(f"poise_{name}") for name in FOR_NEW)
