"""The Poise tool under the mouse, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.drag_acts import first_drag

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(first_drag, blend=RIG, small=True, limit=120)


def test_p_pins_what_is_under_the_mouse(seen: dict[str, Any]) -> None:
    assert seen["pins"] == [["mixamorig:LeftFoot", True, True], ["mixamorig:RightFoot", True, True]]


def test_the_hand_follows_the_mouse_and_the_pinned_feet_stay(seen: dict[str, Any]) -> None:
    assert np.linalg.norm(np.subtract(seen["under way"], seen["hand"])) > 0.1
    np.testing.assert_allclose(seen["reached"], seen["wanted"], atol=3)
    np.testing.assert_allclose(seen["feet dropped"], seen["feet"], atol=NEAR)


def test_the_dragged_bone_is_selected(seen: dict[str, Any]) -> None:
    assert seen["selected"] == [["mixamorig:LeftHand"], "mixamorig:LeftHand"]


def test_a_drag_is_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["undone"] == seen["start"]
    assert seen["redone"] == seen["dropped"]


def test_escape_gives_the_start_pose_back_and_leaves_no_undo_step(seen: dict[str, Any]) -> None:
    assert seen["second under way"] != seen["redone"]
    assert seen["escaped"] == seen["redone"]
    assert seen["undone after escape"] == seen["start"]


def test_under_a_still_mouse_the_path_stays_and_nothing_is_drawn_or_ticks(seen: dict[str, Any]) -> None:
    assert seen["drawn"] == seen["ticks"] == 0
    assert 3 <= seen["path"] <= seen["path later"] <= seen["path"] + 2  # it came to rest after the first look


def test_a_drag_that_is_refused_at_its_first_step_leaves_nothing_behind(seen: dict[str, Any]) -> None:
    assert seen["left behind by the refused"] == []
    assert not seen["changed by the refused"]
