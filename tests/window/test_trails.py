"""Trails in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.trail_acts import CLICKED, START, look_at_trails

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
WALK = DATA / "motion" / "cmu_07_12.bvh"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(look_at_trails, str(WALK), blend=RIG)


def test_parts_of_the_body_have_trails_and_nothing_else_changes(seen: dict[str, Any]) -> None:
    assert [name.removeprefix("mixamorig:") for name in seen["bones"]] == [
        "Hips", "LeftHand", "RightHand", "LeftFoot", "RightFoot",
    ]  # fmt: skip
    assert seen["left"] == [0, START]


def test_they_are_read_once_while_nothing_changes(seen: dict[str, Any]) -> None:
    assert seen["still"]


def test_they_follow_keys(seen: dict[str, Any]) -> None:
    assert seen["followed"]
    assert START in seen["moved"]


def test_a_click_on_a_dot_goes_to_its_frame(seen: dict[str, Any]) -> None:
    assert seen["clicked"] == CLICKED
