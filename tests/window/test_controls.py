"""The Poise tool on a generated control rig, in a real window."""

import os
import shutil
from typing import Any

import numpy as np
import pytest

from tests.paths import SHARED
from tests.window.control_acts import GRABBED, controls

RIG = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"
PIXELS = 3
NEAR = 5e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not RIG.is_file():
        pytest.skip(f"{RIG.name}: the larger test data (../shared/data) is not here")
    if os.environ.get("CI") == "true":
        pytest.skip("CI has no time for it; custom shapes are dragged in test_ends.py")
    return person(controls, str(shutil.copy(RIG, tmp_path_factory.mktemp("rigs"))), small=True, limit=240)


def test_a_control_is_pinned_and_dragged_by_its_shape_and_the_body_goes_with_the_mouse(seen: dict[str, Any]) -> None:
    assert seen["pins"] == ["foot_ik.R"]
    for name, (_, way) in GRABBED.items():
        text, *went = seen["went"][name]
        assert text == f"Dragging {name}"
        np.testing.assert_allclose(went[:2], way, atol=PIXELS)
    np.testing.assert_allclose(seen["foot off"], 0, atol=NEAR)


def test_what_is_under_the_mouse_is_named_between_drags_and_not_over_their_words(seen: dict[str, Any]) -> None:
    assert set(seen["named"]) == {False}


def test_cancelled_and_undone_drags_give_the_start_pose_back(seen: dict[str, Any]) -> None:
    assert [went[3] for went in seen["went"].values() if len(went) > 3] == [True] * (len(GRABBED) - 1)
    assert seen["undone"]
    assert seen["left"] == []


def test_an_elbow_that_ik_cannot_show_is_switched_to_fk_and_back_by_undo(seen: dict[str, Any]) -> None:
    _, dropped, went, undone = seen["elbow"]
    assert went[1] < -PIXELS
    assert dropped == {**undone, "upper_arm_parent.L": 1.0}
    assert {*undone.values()} == {0.0}
    assert [*seen["switched"]] == ["upper_arm_parent.L"]
    (*_, before), here, after = seen["switched"]["upper_arm_parent.L"]
    assert [before, here[0], here[1], after[1]] == ["CONSTANT", 20.0, 1.0, 0.0]
    assert here[2] == "CONSTANT"


def test_a_hand_half_way_between_ik_and_fk_is_dragged_keyed_where_it_has_keys_and_undone(seen: dict[str, Any]) -> None:
    found = seen["half way"]
    np.testing.assert_allclose(found["went"], (-30, 24), atol=PIXELS)
    assert found["switch"] == 0.5
    assert found["new"] == []
    assert {"hand_ik.L", "upper_arm_fk.L"} <= {*found["keyed"]}
    assert found["undone"] == [True, True]


def test_escape_while_a_motion_is_led_leaves_the_file_as_it_was(seen: dict[str, Any]) -> None:
    assert seen["led"] == [True] * 4


def test_escape_while_stiffness_is_learned_leaves_the_file_as_it_was(seen: dict[str, Any]) -> None:
    assert seen["learning"] == [True] * 5
