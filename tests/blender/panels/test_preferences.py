"""The user's preferences: the tab's name, and how marks look."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from overlay.draw import theme_colours
from panels import CLASSES
from preferences import DEFAULTS, POISE_AP_preferences, preferences_of


@pytest.fixture
def preferences() -> Iterator[Any]:
    found: Any = bpy.context.preferences.addons[POISE_AP_preferences.bl_idname].preferences
    yield found
    for name, value in DEFAULTS.items():
        setattr(found, name, value)


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
