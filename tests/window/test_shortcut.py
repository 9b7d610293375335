"""The drag with its shortcut, from another tool, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.shortcut_acts import BOX, with_the_shortcut

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(with_the_shortcut, blend=RIG, limit=120)


def test_what_is_under_the_mouse_follows_it_without_a_press_and_a_click_keeps_it(seen: dict[str, Any]) -> None:
    assert seen["under way"]
    assert np.hypot(*np.subtract(seen["reached"], seen["wanted"])) < 4.0
    assert seen["dropped"] != seen["start"]
    assert seen["undone"] == seen["start"]
    assert seen["tool"] == BOX


def test_beside_the_body_the_active_bone_follows_and_escape_gives_it_back(seen: dict[str, Any]) -> None:
    assert np.hypot(*np.subtract(seen["foot went"], [80, 80])) < 4.0
    assert seen["escaped"] == seen["start"]


def test_a_button_drags_the_active_bone_and_not_what_is_under_the_mouse(seen: dict[str, Any]) -> None:
    assert seen["button drags"].startswith("Dragging LeftFoot")
