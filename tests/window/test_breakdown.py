"""A breakdown under the mouse in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.breakdown_acts import FRAME, break_down

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(break_down, "mixamorig:LeftArm", blend=RIG)


def test_the_pose_follows_the_mouse_and_the_wheel_between_both_key_poses(seen: dict[str, Any]) -> None:
    right, further, left = seen["moved"]
    assert 0.0 <= left < seen["begun"] < right < further <= 0.5 + 1e-3
    assert seen["wheel"] > left


def test_escape_gives_the_pose_back_and_makes_no_key(seen: dict[str, Any]) -> None:
    assert seen["cancelled"] == pytest.approx(seen["before"], abs=1e-4)
    assert seen["still"] == seen["keys"]


def test_a_click_keys_it_in_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["confirmed"] == pytest.approx(seen["chosen"], abs=1e-4)
    assert seen["keyed"] == sorted([*seen["keys"], FRAME])
    assert seen["undone"] == pytest.approx(seen["before"], abs=1e-4)
    assert seen["unkeyed"] == seen["keys"]
