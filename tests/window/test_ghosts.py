"""Ghosts in a real window, as lines."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.ghost_acts import look_at_ghosts

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(look_at_ghosts, "mixamorig:LeftArm", "BONES", blend=RIG)


def test_key_poses_before_and_after_have_ghosts_and_nothing_else_changes(seen: dict[str, Any]) -> None:
    assert seen["frames"] == [1, 11, 31, 41]
    assert seen["left"] == [0, True, 21]


def test_they_are_read_once_while_nothing_changes(seen: dict[str, Any]) -> None:
    assert seen["still"]


def test_no_timer_runs_under_a_still_mouse_and_they_are_renewed_when_the_drag_has_ended(seen: dict[str, Any]) -> None:
    assert seen["in a drag"] == [True, False, True]
    assert seen["after it"] == [True, False]


def test_they_follow_settings_and_keys(seen: dict[str, Any]) -> None:
    assert seen["fewer"] == [11, 31, 41]
    assert seen["kept"] > 0  # they are drawn until others are read
    assert seen["followed"]


def test_a_click_on_a_ghost_goes_to_its_frame(seen: dict[str, Any]) -> None:
    assert seen["clicked"] == 1


def test_of_nothing_selected_there_is_nothing_to_draw_and_no_error(seen: dict[str, Any]) -> None:
    assert seen["of nothing"]
    assert not any(seen["of nothing"])
