"""Poise as a person meets it first: the N-panel beside an armature in pose mode."""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

with contextlib.suppress(ImportError):  # Blender reads this file, too, and has no pytest
    import pytest


def open_the_panel(hand: Any) -> Generator[float, None, dict[str, Any]]:
    import bpy

    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()
        bpy.ops.object.armature_add()
        bpy.ops.object.mode_set(mode="POSE")
    hand.rest()
    yield 0.3
    hand.press("N")
    yield 0.5
    hand.region("UI").active_panel_category = "Poise"
    yield 0.5
    picture = hand.screenshot("panel")
    hand.press("A")  # all bones: a key of Blender's own shows that the window listens
    yield 0.3
    pixels = bpy.data.images.load(picture).pixels[:]
    return {
        "mode": bpy.context.mode,
        "category": hand.region("UI").active_panel_category,
        "shown": hand.region("UI").width > 1,
        "selected": [bone.name for bone in bpy.context.selected_pose_bones],
        "brightness": (min(pixels), max(pixels)),
        "picture": picture,
    }


def test_the_panel_shows_beside_an_armature_in_pose_mode(person: Any) -> None:
    seen = person(open_the_panel)
    assert seen["mode"] == "POSE"
    assert seen["shown"]
    assert seen["category"] == "Poise"
    assert seen["selected"] == ["Bone"]
    assert seen["brightness"][1] > 0.5
    assert Path(seen["picture"]).is_file()


def fall_over(hand: Any) -> Generator[float, None, None]:
    yield 0.1
    raise ValueError("over the stool")


def test_an_error_in_the_window_reaches_the_test(person: Any) -> None:
    with pytest.raises(AssertionError, match="over the stool"):
        person(fall_over)
