"""A chain by mouse and keyboard, in a real window: set up, dragged, tuned, undone."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.chain_acts import ROW, first_chain

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
ENDS = ["mixamorig:LeftShoulder", "mixamorig:LeftHand"]
PIXELS = 3
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(first_chain, blend=RIG, limit=400)


def test_the_selected_bones_become_a_chain_with_a_list(seen: dict[str, Any]) -> None:
    assert (sorted(seen["selected"]), seen["active"]) == (sorted(ENDS), ENDS[1])
    assert seen["ends"] == ENDS
    assert {bone for bone, _, _ in seen["list"]} == {f"mixamorig:Left{part}" for part in ("Shoulder", "Arm", "ForeArm")}


def test_the_hand_follows_the_mouse_by_the_list(seen: dict[str, Any]) -> None:
    assert seen["dragged"] != seen["start"]
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert {"EVENT_X", "EVENT_P"} < {*seen["keys"]}
    assert not {"EVENT_R", "EVENT_ONEKEY", "EVENT_TWOKEY"} & {*seen["keys"]}  # which do nothing here
    assert sum(seen["turns"].values()) == pytest.approx(1.0, abs=1e-5)


def test_the_pose_follows_while_a_number_is_dragged_and_the_hand_stays(seen: dict[str, Any]) -> None:
    fractions = [seen[name][ROW][2] for name in ("list", "tuning list", "tuned list")]
    assert fractions[1] < fractions[0] - 0.05
    assert seen["tuning"] != seen["dragged"]
    np.testing.assert_allclose(seen["tuning place"], seen["place"], atol=NEAR)
    assert (seen["tuned"], fractions[2]) == (seen["tuning"], fractions[1])
    assert seen["tuned turns"] != seen["turns"]


def test_one_undo_takes_back_the_number_and_the_pose(seen: dict[str, Any]) -> None:
    assert (seen["undone"], seen["undone list"]) == (seen["dragged"], seen["list"])
    assert (seen["redone"], seen["redone list"]) == (seen["tuned"], seen["tuned list"])


def test_escape_gives_the_pose_back(seen: dict[str, Any]) -> None:
    assert seen["second under way"] != seen["tuned"]
    assert (seen["escaped"], seen["turns after escape"]) == (seen["tuned"], seen["tuned turns"])


def test_learning_can_be_given_up_and_else_gives_the_chain_another_list(seen: dict[str, Any]) -> None:
    assert seen["escape began"]
    assert (seen["escape"], seen["escape, step by step"]) == (seen["before learning"], False)
    assert seen["learned began"]
    assert seen["learned"] != seen["before learning"]
    assert seen["learned, step by step"]


def test_a_bake_can_be_given_up_and_else_the_hand_follows_the_object(seen: dict[str, Any]) -> None:
    assert seen["given up"] == seen["motion"]
    assert seen["baked"] not in ("", seen["motion"])
    np.testing.assert_allclose(seen["off the cup"], 0.0, atol=2 * NEAR)
