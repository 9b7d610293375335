"""The Poise tool on a mesh whose bones are not drawn, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.skin_acts import WAY, skin

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
PIXELS = 3
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(skin, blend=RIG, small=True, limit=120)


def test_p_pins_the_part_whose_mesh_is_under_the_mouse(seen: dict[str, Any]) -> None:
    assert seen["pins"] == ["mixamorig:LeftFoot"]


def test_the_point_of_the_mesh_goes_with_the_mouse_and_the_pin_holds(seen: dict[str, Any]) -> None:
    assert seen["text"] == "Dragging LeftForeArm"
    np.testing.assert_allclose(seen["led"], WAY, atol=PIXELS)
    np.testing.assert_allclose(seen["off"], 0, atol=NEAR)
    np.testing.assert_allclose(seen["foot off"], 0, atol=NEAR)


def test_it_is_one_undo_step_and_beside_the_mesh_nothing_is_dragged(seen: dict[str, Any]) -> None:
    assert seen["undone"]
    assert not seen["beside"]
    assert seen["left"] == []


def test_a_part_is_grabbed_by_its_bone_in_front_through_the_mesh_and_inside_of_it(seen: dict[str, Any]) -> None:
    assert seen["named"] == [["LeftLeg"]] * 3
