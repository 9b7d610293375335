"""The first minute with Poise, by mouse and keyboard, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.acts import FEET, HIPS, LAST_FRAME, MANY, NEAR, PIN, SAME, fall_over, first_minute

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(first_minute, blend=RIG, limit=200)


def off(seen: dict[str, Any], now: str, then: str) -> tuple[float, float]:
    """How far the feet, and the hips, are from where they were: largest difference in their matrices' numbers.

    The rig is in centimetres on an object of scale 0.01: the matrices' axes are that long, too.
    """
    change = np.abs(np.subtract(seen[now], seen[then]))
    change[:, :3, :3] *= 100.0
    return float(change[: len(FEET)].max()), float(change[len(FEET) :].max())


def test_the_tab_comes_to_front(seen: dict[str, Any]) -> None:
    assert seen["category"] == "Poise"


def test_in_object_mode_a_tooltip_gives_the_reason(seen: dict[str, Any]) -> None:
    assert seen["red of the reason"] > seen["red before"] + MANY
    assert PIN not in seen["buttons in object mode"]  # which begin with Enter Pose Mode
    assert any("mode_set" in button for button in seen["buttons in object mode"])


def test_a_click_on_the_button_pins_the_selected_feet(seen: dict[str, Any]) -> None:
    assert seen["pose mode"]
    assert seen["selected feet"] == sorted(FEET)
    assert sorted(seen["pins"]) == [[foot, True, True] for foot in sorted(FEET)]


def test_the_list_shows_the_pins(seen: dict[str, Any]) -> None:
    for place in range(len(FEET)):
        assert any(name.startswith(f"poise_pins[{place}].") for name in seen["panel with pins"])


def test_solve_here_brings_the_feet_back_to_their_pins(seen: dict[str, Any]) -> None:
    assert seen["selected"] == [HIPS]
    assert min(off(seen, "moved", "at the press")) > 0.05
    assert off(seen, "solved", "at the press")[0] < NEAR


def test_one_undo_gives_the_pose_before_the_solve(seen: dict[str, Any]) -> None:
    assert max(off(seen, "undone", "solved")) > 0.05
    assert max(off(seen, "undone", "moved")) < SAME
    assert seen["pins after undo"] == len(FEET)


def test_with_a_fixed_root_the_hips_stay_and_the_legs_bend(seen: dict[str, Any]) -> None:
    assert seen["root"] == "FIXED"
    feet, hips = off(seen, "solved with a fixed root", "at the press")
    assert feet < NEAR
    assert hips > 0.05
    assert off(seen, "solved with a fixed root", "moved")[1] < SAME


def test_a_pin_is_fixed_to_the_armature_and_to_the_world_and_stays_where_it_is(seen: dict[str, Any]) -> None:
    armature, world = seen["spaces"]
    assert (armature[0], world[0]) == ("ARMATURE", "WORLD")
    np.testing.assert_allclose(np.divide(armature[1:], 100.0), world[1:], atol=SAME)  # the rig is in centimetres


def test_settings_are_saved_as_a_preset_and_come_back(seen: dict[str, Any]) -> None:
    assert seen["presets"] == [True, True]


def test_the_dialog_bakes_the_range_that_was_typed(seen: dict[str, Any]) -> None:
    assert seen["actions"] == {"Armature poise": [float(frame) for frame in range(1, LAST_FRAME + 1)]}


def test_an_error_in_the_window_reaches_the_test(person: Any) -> None:
    with pytest.raises(AssertionError, match="over the stool"):
        person(fall_over)
