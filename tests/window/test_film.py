"""A body is dragged by a hand and by the hips: one with a mesh and a walk, and one as naked rig, with IK and with FK.

POISE_FILM=1 takes all pictures of the films.
"""

import os
import shutil
from typing import Any

import numpy as np
import pytest

from tests.paths import SHARED
from tests.window.film_acts import film
from tests.window.film_controls_acts import TAKES
from tests.window.film_controls_acts import film as film_controls
from tests.window.film_time_acts import film as film_time

RIG = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"

PIXELS = 3
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(film, "1" if os.environ.get("POISE_FILM") else "4", small=True, limit=240)


def test_the_dragged_joint_is_under_the_mouse_in_all_pictures(seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)


def test_the_pinned_toes_stay_through_both_drags(seen: dict[str, Any]) -> None:
    for toes in seen["toes off"]:
        np.testing.assert_allclose(toes, seen["toes"], atol=NEAR)
    assert seen["left"] == []


@pytest.fixture(scope="module")
def takes(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not RIG.is_file():
        pytest.skip(f"{RIG.name}: the larger test data (../shared/data) is not here")
    if os.environ.get("CI") == "true":
        pytest.skip("CI has no time for it; control rigs are dragged in tests/blender")
    file = str(shutil.copy(RIG, tmp_path_factory.mktemp("rigs")))
    return person(film_controls, "1" if os.environ.get("POISE_FILM") else "4", file, small=True, limit=600)


@pytest.mark.parametrize("take", TAKES)
def test_a_drag_is_the_same_on_a_naked_rig_on_ik_and_on_fk(takes: dict[str, Any], take: str) -> None:
    seen = takes[take]
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)
    assert seen["pins"] == 2
    for feet in seen["toes off"]:
        np.testing.assert_allclose(feet, seen["toes"], atol=2.0 * NEAR)
    assert seen["IK_FK"] == ([] if take == "naked" else [TAKES[take][1]])
    assert seen["left"] == []


@pytest.fixture(scope="module")
def time(person: Any) -> dict[str, Any]:
    if os.environ.get("CI") == "true":
        pytest.skip("CI has no time for it; dots are dragged and motions smoothed in other tests")
    return person(film_time, "1" if os.environ.get("POISE_FILM") else "4", small=True, limit=590)


def test_dragged_dots_are_under_the_mouse_and_tools_change_the_walk(time: dict[str, Any]) -> None:
    np.testing.assert_allclose(time["off"], 0, atol=PIXELS)
    assert time["ghost"]
    assert time["smoothed"]
    assert time["looped"]
    assert time["favoured"] > 0.0
    assert time["filled"]
