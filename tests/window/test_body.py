"""The panel Body in a real window: its tools pose what is seen, and a part is corrected by picking a bone."""

import os
from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.body_acts import PICKED, body_tools, correct_part, learn_limits, pull_along

RIG = DATA / "rigs" / "named_mixamo_cm.blend"
NEAR = 2e-3  # metres
NO_TIME = "CI has no time for it; tests/blender does its work without a window"
BESIDE_CI = pytest.mark.skipif(os.environ.get("CI") == "true", reason=NO_TIME)


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(body_tools, blend=RIG, limit=240)


def at(seen: dict[str, Any], when: str, part: str) -> np.ndarray:
    return np.array(seen[when][f"mixamorig:{part}"])


def test_a_pose_is_one_click_and_one_undo_away(seen: dict[str, Any]) -> None:
    arm = at(seen, "A", "LeftHand") - at(seen, "A", "LeftArm")
    assert np.degrees(np.arcsin(-arm[2] / np.linalg.norm(arm))) == pytest.approx(45.0, abs=0.5)
    assert seen["undone"] == seen["start"]


def test_flip_shows_the_mirror_image(seen: dict[str, Any]) -> None:
    for part, other in (("LeftHand", "RightHand"), ("RightHand", "LeftHand"), ("LeftFoot", "RightFoot")):
        before, after = at(seen, "posed", part), at(seen, "mirrored", other)
        image = (before - at(seen, "posed", "Hips")) * (-1.0, 1.0, 1.0)
        np.testing.assert_allclose(after - at(seen, "mirrored", "Hips"), image, atol=NEAR)


def test_feet_come_to_the_ground(seen: dict[str, Any]) -> None:
    for foot in ("LeftFoot", "RightFoot", "LeftToeBase"):
        assert at(seen, "planted", foot)[2] == pytest.approx(at(seen, "start", foot)[2], abs=NEAR)


def test_a_drag_stops_at_the_anatomical_limits_and_passes_them_where_the_checkbox_is_off(seen: dict[str, Any]) -> None:
    assert seen["limits"] == [True, False]
    within, beyond = seen["head within limits"], seen["head beyond limits"]
    assert within["Neck"] == pytest.approx(50.0, abs=0.1)
    assert within["Head"] < 75.1
    assert beyond["Neck"] > 55.0
    assert seen["back"] == {}


def test_the_present_pose_becomes_the_rest_pose_and_the_old_one_is_one_undo_away(seen: dict[str, Any]) -> None:
    assert {"Head", "LeftUpLeg"} <= {*seen["before rest"]}
    assert seen["at rest"] == {}
    for part in ("Head", "LeftHand", "RightFoot"):
        np.testing.assert_allclose(at(seen, "made rest", part), at(seen, "looked", part), atol=1e-5)
    assert seen["rest undone"] == seen["before rest"]
    assert seen["places undone"] == seen["looked"]


def test_a_slider_of_the_popup_moves_the_fingers_of_that_hand(seen: dict[str, Any]) -> None:
    moved = np.abs(at(seen, "closed", "LeftHandIndex3") - at(seen, "looked", "LeftHandIndex3")).max()
    still = np.abs(at(seen, "closed", "RightHandIndex3") - at(seen, "looked", "RightHandIndex3")).max()
    assert moved > NEAR
    assert still < 1e-5


@BESIDE_CI
def test_a_part_of_the_figure_is_corrected_by_picking_a_bone_and_undone(person: Any) -> None:
    seen = person(correct_part, blend=RIG, limit=240)
    assert seen["shown"] == ["mixamorig:LeftHand"]
    assert seen["selected"] == [PICKED]
    assert seen["said"] == "hand.L"
    assert (seen["states"]["hand.L"], seen["states"]["hand.R"]) == ("SAID", "FOUND")
    assert seen["states undone"]["hand.L"] == "FOUND"


def test_learned_limits_are_seen_at_the_active_bone(person: Any) -> None:
    seen = person(learn_limits, blend=RIG, small=True, limit=120)
    assert seen["active"] == "mixamorig:LeftArm"
    assert seen["changed"] > 300


@BESIDE_CI
def test_the_settings_of_the_humanoid_method_are_set_by_the_mouse(person: Any) -> None:
    seen = person(pull_along, blend=RIG, limit=120)
    assert {"poise_pull_foot_r", "poise_resist_hips"} <= {*seen["panel"]}
    assert seen["resist"] > 0.1
