"""A pole is gripped by the panel in a real window, and a prop held by both hands."""

import shutil
from typing import Any

import numpy as np
import pytest

from tests.paths import SHARED
from tests.window.grip_acts import grip_pole

FINGERS = ("thumb", "f_index", "f_middle", "f_ring", "f_pinky")


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = SHARED / "rigs" / "real" / "mesh2motion_human.blend"
    if not path.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    copy = shutil.copy(path, tmp_path_factory.mktemp("grip") / path.name)
    return person(grip_pole, blend=copy, limit=180)


def test_all_fingers_of_the_hand_with_the_pole_close_and_nothing_else_moves(seen: dict[str, Any]) -> None:
    assert seen["before"] == {}
    moved = {bone.removeprefix("DEF-").rpartition(".")[0] for bone in seen["gripped"]}
    assert moved == {f"{finger}.0{joint}" for finger in FINGERS for joint in (1, 2, 3)}
    assert {bone[-2:] for bone in seen["gripped"]} == {".L"}


def test_it_is_one_undo_away(seen: dict[str, Any]) -> None:
    assert seen["undone"] == {}


def test_all_fingers_close_around_a_cup(seen: dict[str, Any]) -> None:
    assert seen["cup"].keys() == seen["gripped"].keys()
    assert max(abs(seen["cup"][bone] - seen["gripped"][bone]) for bone in seen["cup"]) > 0.05


def test_two_hands_stay_where_they_are_on_a_prop_that_moves(seen: dict[str, Any]) -> None:
    held = seen["held"]
    hands = [["DEF-hand.L", "Pole", 10, 14], ["DEF-hand.R", "Pole.001", 10, 14]]
    assert held["pins"] == [["DEF-foot.L", None, 10, 14], ["DEF-foot.R", None, 10, 14], *hands]
    beside = np.array(held["beside"])
    np.testing.assert_allclose(beside, np.broadcast_to(beside[0], beside.shape), atol=5e-3)
