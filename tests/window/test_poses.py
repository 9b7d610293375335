"""A pose asset of one body on another by the mouse, in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.pose_acts import FRAME, blend_asset

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
CLIP = DATA / "motion" / "cmu_07_12.bvh"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(blend_asset, str(CLIP), blend=RIG, limit=120)


def test_the_pose_follows_the_mouse_from_the_present_one_to_that_of_the_asset(seen: dict[str, Any]) -> None:
    first, further, back = seen["moved"]
    assert seen["begun"] == pytest.approx(seen["before"], abs=0.1)  # the mouse moves by a pixel as the menu closes
    assert seen["before"] < first < back < further
    assert further == pytest.approx(seen["wanted"], abs=0.1)


def test_escape_gives_the_pose_back_and_makes_no_key(seen: dict[str, Any]) -> None:
    assert seen["cancelled"] == seen["channels"]
    assert seen["unkeyed"] == []


def test_a_click_keys_the_pose_in_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["confirmed"] == pytest.approx(seen["wanted"], abs=0.1)
    assert seen["keyed"] == [FRAME]
    assert seen["undone"] == seen["channels"]
    assert seen["keys undone"] == []


def test_the_menu_of_the_asset_applies_it_at_once(seen: dict[str, Any]) -> None:
    assert seen["applied"] == pytest.approx(seen["wanted"], abs=0.1)


def test_a_copied_pose_is_pasted_on_the_other_body(seen: dict[str, Any]) -> None:
    assert seen["not pasted yet"] == seen["channels"]
    assert seen["pasted"] == pytest.approx(seen["wanted"], abs=0.1)
