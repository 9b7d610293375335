"""Drags that end as nobody planned, other uses of the mouse, and other views, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.ends_acts import WAY, drags

RIG = DATA / "rigs" / "odd_random_rolls_apose.blend"
PIXELS = 3
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def all_seen(person: Any) -> dict[str, Any]:
    return person(drags, str(RIG), small=True, limit=240, faults=1)


def test_nothing_is_left_behind(all_seen: dict[str, Any]) -> None:
    assert {name: found for name, seen in all_seen.items() if (found := seen["left"])} == {}
    assert {name: count for name, seen in all_seen.items() if (count := seen["timers"])} == {}


# -- ends -------------------------------------------------------------------------------------------------------------


def test_another_tool_in_mid_drag_lets_the_drag_go_on(all_seen: dict[str, Any]) -> None:
    seen = all_seen["tools_change"]
    assert seen["tool"] == "builtin.select_box"
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert seen["undone"] == seen["start"] != seen["dropped"]


def test_a_window_that_loses_the_focus_keeps_what_was_reached(all_seen: dict[str, Any]) -> None:
    seen = all_seen["focus_is_lost"]
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert not seen["dragging"]
    assert seen["afterwards"] == seen["dropped"] != seen["start"]
    assert seen["undone"] == seen["start"]


def test_a_mouse_that_leaves_the_viewport_is_followed_and_nothing_is_clicked_there(all_seen: dict[str, Any]) -> None:
    seen = all_seen["mouse_leaves"]
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    np.testing.assert_allclose(seen["reached"], seen["aim"], atol=PIXELS)
    assert seen["operator"] == "POISE_OT_drag"
    assert seen["undone"] == seen["start"] != seen["dropped"]


def test_an_undo_in_mid_drag_does_no_harm(all_seen: dict[str, Any]) -> None:
    seen = all_seen["undo_comes"]
    assert (seen["pins"], seen["pins undone"]) == (1, 0)
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert seen["end"] == seen["start"]


def test_the_keys_of_undo_undo_nothing_in_mid_drag(all_seen: dict[str, Any]) -> None:
    seen = all_seen["keys_of_undo"]
    assert seen["dragging"]
    assert (seen["pins"], seen["pins undone"]) == (1, 0)
    assert seen["end"] == seen["start"]


def test_a_fault_in_mid_drag_gives_the_start_pose_back(all_seen: dict[str, Any]) -> None:
    seen = all_seen["fault"]
    assert seen["end"] == seen["start"] != seen["under way"]


def test_a_script_that_leaves_pose_mode_in_mid_drag_gets_the_start_pose(all_seen: dict[str, Any]) -> None:
    seen = all_seen["left_for_object_mode"]
    assert not seen["dragging"]
    assert seen["end"] == seen["start"] != seen["under way"]


def test_an_armature_deleted_in_mid_drag_ends_it_and_its_marks_go_at_once(all_seen: dict[str, Any]) -> None:
    seen = all_seen["deleted"]
    assert not seen["dragging"]
    assert seen["objects"] == 0
    assert seen["pixels before"] > 50
    assert seen["pixels"] == 0


def test_a_file_loaded_in_mid_drag_stays_as_it_is(all_seen: dict[str, Any]) -> None:
    seen = all_seen["loaded"]
    assert not seen["dragging"]
    assert seen["end"] == seen["start"] != seen["under way"]


# -- the mouse and the keys -------------------------------------------------------------------------------------------


def test_a_click_selects_shift_adds_and_a_click_beside_lets_go(all_seen: dict[str, Any]) -> None:
    seen = all_seen["clicks"]
    assert seen["forearm.L"] == ["forearm.L"]
    assert seen["Shift shin.R"] == ["forearm.L", "shin.R"]
    assert seen["thigh.L"] == ["thigh.L"]
    assert seen["undone"] == ["forearm.L", "shin.R"]
    assert seen["beside"] == []
    assert seen["end"] == seen["start"]


def test_a_click_selects_what_is_highlighted_and_shift_removes_it(all_seen: dict[str, Any]) -> None:
    seen = all_seen["clicks"]
    for name, (lit, *chosen) in seen["joints"].items():
        assert chosen == [lit] != [name]
    last = seen["joints"]["shin.R"][0]
    assert seen["Shift"] == [[last], [last, last]]


def test_a_drag_takes_what_j_has_highlighted_and_next_time_what_comes_first(all_seen: dict[str, Any]) -> None:
    seen = all_seen["clicks"]
    for name, (lit, text) in seen["dragged"].items():
        assert lit != name
        assert any(f"Dragging {lit}" in line for line in text), text
    assert seen["back"] == {name: name for name in seen["dragged"]}


def test_a_drag_beside_the_body_selects_by_a_box(all_seen: dict[str, Any]) -> None:
    seen = all_seen["box"]
    assert seen["selected"] == ["forearm.L", "hand.L"]
    assert seen["end"] == seen["start"]


def test_the_wheel_leads_away_from_the_viewer_and_stays_under_the_mouse(all_seen: dict[str, Any]) -> None:
    seen = all_seen["wheel"]
    assert seen["deeper"] > 0.05
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert seen["end"] == seen["start"]


def test_shift_makes_small_steps_and_ctrl_whole_ones(all_seen: dict[str, Any]) -> None:
    seen = all_seen["steps"]
    assert abs(seen["precise"] - seen["pixels"] / 10) <= PIXELS
    for steps in (seen["whole, False"], seen["whole, True"]):
        whole = np.round(steps)
        assert np.any(whole != 0)
        np.testing.assert_allclose(steps, whole, atol=1e-2)
    assert seen["end"] == seen["start"]


def test_p_in_mid_drag_pins_it_where_it_is_dropped_and_one_undo_takes_all_of_it_back(all_seen: dict[str, Any]) -> None:
    seen = all_seen["pin_on_the_way"]
    assert seen["pins"] == [["hand.L", True, True]]
    np.testing.assert_allclose(seen["pin"], seen["hand"], atol=1e-5)
    assert ["drag takes precedence" in text for text in seen["texts"]] == [True, False, True]
    assert (seen["wins"], seen["wins undone"], seen["pins undone"]) == ("DRAG", "PINS", 0)
    assert (seen["pins again"], seen["wins again"]) == (1, "DRAG")
    np.testing.assert_allclose(seen["hand again"], seen["hand"], atol=NEAR)


# -- the views --------------------------------------------------------------------------------------------------------


def test_after_a_cancelled_drag_the_window_looks_as_before(all_seen: dict[str, Any]) -> None:
    assert all_seen["pixels_afterwards"]["during"] > 1000
    assert all_seen["pixels_afterwards"]["after"] == 0


def test_with_overlays_off_pins_are_hidden(all_seen: dict[str, Any]) -> None:
    assert all_seen["overlays_off"]["with"] > 50
    assert all_seen["overlays_off"]["without"] == 0


def test_where_bones_are_hidden_none_is_lit_or_dragged(all_seen: dict[str, Any]) -> None:
    seen = all_seen["hover"]
    assert [seen["show_bones"], seen["show_overlays"]] == [[False], [False]]
    assert [seen[f"{hidden} dragging"] for hidden in ("", "show_bones", "show_overlays")] == [True, False, False]


def test_the_joint_under_the_mouse_is_lit_until_the_mouse_leaves_the_view(all_seen: dict[str, Any]) -> None:
    assert all_seen["hover"][""] == [True]  # beside a picture of the mouse in another editor
    assert all_seen["quad"]["lit"] == [False, False, False, True]


def test_in_a_larger_interface_a_joint_is_grabbed_from_further_off(all_seen: dict[str, Any]) -> None:
    assert all_seen["large"]["dragging"] == [False, True]
    assert all_seen["large"]["end"] == all_seen["large"]["start"]


def test_an_animation_plays_on_beside_the_panel_and_under_a_drag(all_seen: dict[str, Any]) -> None:
    seen = all_seen["playing"]
    assert seen["frames"][1] > seen["frames"][0]
    assert seen["dragging"]
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert seen["end"] == seen["start"]


def test_a_custom_shape_is_grabbed_where_blenders_click_takes_it_and_goes_with_the_mouse(
    all_seen: dict[str, Any],
) -> None:
    seen = all_seen["shapes"]
    assert seen["grab"] == seen["click"]
    assert ["hand.L"] in seen["click"]
    assert ["head"] in seen["click"]
    np.testing.assert_allclose(seen["went"], WAY, atol=PIXELS)
    assert seen["end"] == seen["start"]


def test_a_joint_that_cannot_be_moved_is_turned_and_the_text_says_why(all_seen: dict[str, Any]) -> None:
    seen = all_seen["stuck"]
    assert abs(seen["degrees"] - 30.0) < 5.0  # the first pixels off the joint are no angle to speak of
    np.testing.assert_allclose(seen["moved"], 0, atol=NEAR)
    assert seen["text"][0].startswith("Rotating hand.L")
    assert seen["text"][1].endswith('"hand.L" is parented to it and can only be rotated.')
    assert seen["end"] == seen["start"]


def test_in_the_view_of_a_camera_the_bone_is_under_the_mouse(all_seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(all_seen["camera"]["off"], 0, atol=PIXELS)
    assert all_seen["camera"]["end"] == all_seen["camera"]["start"]


def test_in_quad_view_the_bone_is_under_the_mouse_in_all_four(all_seen: dict[str, Any]) -> None:
    assert len(all_seen["quad"]["off"]) == 4
    assert all_seen["quad"]["texts"] == [3]  # one of them has the text
    np.testing.assert_allclose(all_seen["quad"]["off"], 0, atol=PIXELS)
    assert all_seen["quad"]["end"] == all_seen["quad"]["start"]


def test_two_armatures_are_dragged_together_by_what_is_selected_and_alone_otherwise(all_seen: dict[str, Any]) -> None:
    seen = all_seen["two"]
    np.testing.assert_allclose([seen["off"], seen["off alone"]], 0, atol=PIXELS)
    assert np.linalg.norm(seen["ways"][0]) > 0.1
    np.testing.assert_allclose(seen["ways"][1], seen["ways"][0], atol=NEAR)
    np.testing.assert_allclose(seen["jumped"], 0, atol=NEAR)  # in Adjust Last Operation
    assert seen["active"] == seen["names"][::-1]  # the panels are those of the armature that was dragged last
    assert seen["undone"] == seen["end"] == seen["start"]
    assert seen["first alone"] == seen["start"][0]
