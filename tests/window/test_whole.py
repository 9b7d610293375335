"""Tools for motions, ghosts and trails in a real window, on a Mixamo-like rig, on generated Rigify and on a cat."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DATA, SHARED
from tests.window.time_acts import UP
from tests.window.whole_acts import bend_motions, edit_motions, touch_motions

CLIP = str(DATA / "motion" / "cmu_07_12.bvh")
RIGIFY = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"
CAT = SHARED / "rigs" / "real" / "quaternius_cat.fbx"
PIXELS = 3


@pytest.fixture(scope="module", params=["mixamo", "rigify", "cat"])
def act(person: Any, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    kind = request.param
    if kind == "mixamo":
        return partial(act_on, person, kind, CLIP, blend=DATA / "rigs" / "named_mixamo_cm.blend")
    if os.environ.get("CI") == "true":
        pytest.skip("CI has no time for it; tests/blender changes motions of such rigs, too")
    place = RIGIFY if kind == "rigify" else CAT
    if not place.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    file = str(shutil.copy(place, tmp_path_factory.mktemp("rigs")))
    return partial(act_on, person, kind, *((file,) if kind == "cat" else (CLIP, file)))


def act_on(person: Any, kind: str, *files: str, act: Any, blend: Path | None = None) -> dict[str, Any]:
    return person(act, kind, *files, blend=blend, limit=590 if kind == "rigify" else 300)


@pytest.fixture(scope="module")
def seen(act: Callable[..., Any]) -> dict[str, Any]:
    return act(act=edit_motions)


@pytest.fixture(scope="module")
def touched(act: Callable[..., Any]) -> dict[str, Any]:
    return act(act=touch_motions)


@pytest.fixture(scope="module")
def bent(act: Callable[..., Any]) -> dict[str, Any]:
    return act(act=bend_motions)


def test_the_object_travels_or_the_body_and_all_stay_where_they_were(seen: dict[str, Any]) -> None:
    assert seen["root"]
    assert seen["root off"] < 1e-3
    travelled, way = seen["travelled"]
    assert travelled == pytest.approx(way, rel=0.15)
    assert seen["root undone"]


def test_a_loop_is_made_in_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["loop"]
    assert seen["cyclic"][0]
    assert seen["loop undone"]


def test_the_pose_is_smoother_the_further_the_mouse_goes_and_escape_gives_it_back(seen: dict[str, Any]) -> None:
    less, more = seen["smoother"]
    assert 0.0 < less < more
    assert seen["dragged"]
    off, same, gone = seen["cancelled"]
    assert off == pytest.approx(0.0, abs=1e-5)
    assert same
    assert gone


def test_a_click_smooths_the_motion_in_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["smooth"]
    assert seen["smooth undone"]


def test_a_click_on_a_ghost_goes_to_its_frame(touched: dict[str, Any]) -> None:
    before, after = touched["ghosts"]
    assert before < 0 < after
    assert touched["clicked"] == touched["ghost"]


def test_a_dragged_dot_moves_the_frames_around_it_in_one_undo_step(touched: dict[str, Any]) -> None:
    assert touched["dot drafted"]
    assert abs(touched["dot"][1] - UP) <= PIXELS
    assert touched["dot beside"] < 1e-3
    assert touched["dot undone"]


def test_the_path_over_the_ground_is_bent_with_its_footsteps_in_one_undo_step(bent: dict[str, Any]) -> None:
    assert bent["path drafted"]
    assert abs(bent["path"][0] - UP) <= PIXELS
    assert bent["path beside"] < 1e-3
    hips, *ends = bent["path along"]
    assert max(ends) > 0.5 * hips
    assert bent["path undone"]


def test_a_result_in_a_layer_is_mixed_with_the_motion_before_by_its_influence(bent: dict[str, Any]) -> None:
    assert bent["layered"]
    assert bent["tracks"] == [0, True]
    with_result, without = bent["layer off"]
    assert with_result > 1e-4
    assert without == pytest.approx(0.0, abs=1e-5)
    assert bent["layer undone"]


def test_the_body_is_raised_onto_the_ground_in_one_undo_step(touched: dict[str, Any]) -> None:
    assert touched["ground"]
    assert touched["raised"] > 0.4  # of a cat bones end below what it stands on
    assert touched["ground undone"]


def test_a_breakdown_favours_a_pose_the_further_the_mouse_goes_and_escape_gives_it_back(
    touched: dict[str, Any],
) -> None:
    less, more = touched["favoured"]
    assert 0.0 < less < more
    assert touched["kept"] == pytest.approx(0.0, abs=1e-5)


def test_in_betweens_are_filled_in_with_keys_in_few_frames_in_one_undo_step(touched: dict[str, Any]) -> None:
    assert touched["filled"]
    keyed, count = touched["between"]
    assert 0 < keyed <= max(1, 0.1 * count)
    assert touched["filled undone"]
