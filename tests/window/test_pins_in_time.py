"""Pins over a keyed walk, in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.walk_acts import nudge

WALK = DATA / "motion" / "cmu_07_12.bvh"
SAME = 1e-5  # metres
NEAR = 1e-3


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(nudge, str(WALK), small=True, limit=120)


def test_p_pins_feet_that_walk_to_the_animation(seen: dict[str, Any]) -> None:
    assert seen["pins"] == [["LeftFoot", "ANIMATION"], ["RightFoot", "ANIMATION"]]


def test_nothing_moves_before_the_mouse_does(seen: dict[str, Any]) -> None:
    assert seen["pressed"]


def test_a_nudge_leaves_the_feet_where_this_frame_has_them_and_other_frames_as_they_were(seen: dict[str, Any]) -> None:
    assert seen["hips"][1] < -10
    assert seen["here"] > NEAR
    assert max(seen["feet"]) < NEAR
    assert max(seen["others"].values()) < SAME, seen["others"]


def test_shift_p_moves_a_pin_that_is_far_away_to_its_bone(seen: dict[str, Any]) -> None:
    assert seen["way back"] > 0.1
    assert seen["pinned here"] < NEAR
