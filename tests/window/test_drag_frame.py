"""A dot of a trail that is dragged in a real window."""

from typing import Any

import pytest

from tests.window.drag_frame_acts import FRAME, bend_path, drag_dots
from tests.window.test_trails import RIG, WALK
from tests.window.trail_acts import START


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(drag_dots, str(WALK), blend=RIG, limit=120)


def test_escape_gives_everything_back(seen: dict[str, Any]) -> None:
    assert seen["drafted"] == [True, True]
    assert seen["given back"] == [True, True, True, True]


def test_the_dot_goes_with_the_mouse_and_the_frames_of_the_falloff_follow(seen: dict[str, Any]) -> None:
    assert seen["up"] > 0.05
    assert abs(seen["pixels"] - 80) <= 3
    assert seen["falloff"] > 10
    assert seen["moved"] == [float(f) for f in range(FRAME - seen["falloff"] + 1, 54) if f - FRAME < seen["falloff"]]
    assert f"{seen['falloff']} before" in seen["text"]


def test_no_key_is_added_where_all_frames_have_one_and_the_scene_stays_at_its_frame(seen: dict[str, Any]) -> None:
    assert seen["counts"]
    assert seen["frame"] == START


def test_it_is_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["undone"]
    assert seen["back"]


def test_with_alt_a_dot_of_the_present_frame_is_dragged(seen: dict[str, Any]) -> None:
    assert abs(seen["present"][0] - 60) <= 3
    assert seen["present"][1]


def test_steps_go_along_with_the_hips(person: Any) -> None:
    seen = person(bend_path, str(WALK), blend=RIG, limit=120)
    assert max(seen["Hips"]["side"]) > 0.05
    for foot in ("LeftFoot", "RightFoot"):
        assert seen[foot]["beside"] < 2e-3
        assert max(seen[foot]["side"]) > 0.5 * max(seen["Hips"]["side"])
        assert (
            len({round(side, 3) for side, bears in zip(seen[foot]["side"], seen[foot]["bears"], strict=True) if bears})
            < 6
        )
