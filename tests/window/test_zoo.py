"""All that a person does with the Poise tool, on rig after rig, in a real window."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.paths import DATA, SHARED
from tests.window.zoo_acts import RIGS, tour

PIXELS = 3
NEAR = 1e-3  # of a rig's size
# CI has time for two of them: a human body whose object is turned and scaled unevenly, and an animal
IN_CI = ("odd_object_nonuniform_rotated.blend", "mesh2motion_quadruped.glb")
TAKEN = IN_CI if os.environ.get("CI") == "true" else tuple(RIGS)


def place_of(name: str) -> Path:
    return DATA / "rigs" / name if (DATA / "rigs" / name).is_file() else SHARED / "rigs" / "real" / name


@pytest.fixture(scope="module")
def all_seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("rigs")  # where Blender, which may live in a box of its own, sees them
    files = [shutil.copy(place_of(name), folder) for name in TAKEN if place_of(name).is_file()]
    return person(tour, *files, small=True, limit=240)


@pytest.fixture(params=TAKEN, ids=lambda name: Path(name).stem)
def seen(request: pytest.FixtureRequest, all_seen: dict[str, Any]) -> dict[str, Any]:
    if request.param not in all_seen:
        pytest.skip(f"{request.param}: the larger test data (../shared/data) is not here")
    return all_seen[request.param] | {"rig": RIGS[request.param]}


def went(seen: dict[str, Any], way: str) -> np.ndarray:
    return np.subtract(seen["constrain"][way]["to"], seen["constrain"]["from"])


def test_p_goes_round_the_kinds_of_pin(seen: dict[str, Any]) -> None:
    hand, feet = seen["rig"].hand, seen["rig"].feet
    assert seen["pins"][:3] == [[[hand, True, True]], [[hand, True, False]], []]
    assert seen["pins"][3] == [[foot, True, True] for foot in feet]


def test_the_dragged_bone_is_under_the_mouse_and_the_pins_hold(seen: dict[str, Any]) -> None:
    drag = seen["drag"]
    assert drag["bone"] == seen["rig"].hand
    np.testing.assert_allclose(drag["reached"], drag["wanted"], atol=PIXELS)
    np.testing.assert_allclose(drag["feet dropped"], drag["feet"], atol=NEAR * seen["size"])


def test_a_drag_is_one_undo_step_with_its_keys(seen: dict[str, Any]) -> None:
    drag = seen["drag"]
    assert drag["undone"] == drag["undone again"] == drag["start"] != drag["dropped"]
    assert drag["redone"] == drag["dropped"]
    assert drag["keys undone"]
    assert drag["keys redone"]


def test_auto_keying_keys_what_moved_and_nothing_else(seen: dict[str, Any]) -> None:
    drag = seen["drag"]
    assert drag["keyed"] == drag["changed"]
    assert min(drag["frames"]) == pytest.approx(drag["frame"], abs=1e-5)  # importers put keys a little beside
    if len(drag["frames"]) > 1:  # what had one key, or none, is held at the next one
        np.testing.assert_allclose(drag["next frame"], drag["next frame before"], atol=1e-5)
    assert set(drag["chain"][:2]) <= set(drag["keyed"])


def test_without_auto_keying_there_are_no_keys(seen: dict[str, Any]) -> None:
    assert seen["mirror"]["no keys"]


@pytest.mark.parametrize("way", ["along X", "along its own X"])
def test_along_an_axis_nothing_else_changes(seen: dict[str, Any], way: str) -> None:
    axis = np.array(seen["constrain"]["own X"] if "own" in way else [1.0, 0.0, 0.0])
    moved = went(seen, way)
    assert abs(moved @ axis) > 5.0 * NEAR * seen["size"]
    assert np.linalg.norm(moved - (moved @ axis) * axis) < NEAR * seen["size"]


def test_a_third_x_lets_it_go_where_the_mouse_is(seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(seen["constrain"]["free"]["reached"], seen["constrain"]["wanted"], atol=PIXELS)


def test_across_an_axis_it_follows_the_mouse_in_the_plane(seen: dict[str, Any]) -> None:
    moved = went(seen, "across Z")
    assert np.linalg.norm(moved[:2]) > 5.0 * NEAR * seen["size"]
    assert abs(moved[2]) < NEAR * seen["size"]
    np.testing.assert_allclose(seen["constrain"]["across Z"]["reached"], seen["constrain"]["wanted"], atol=PIXELS)


def test_r_turns_by_the_angle_of_the_mouse_about_the_joint(seen: dict[str, Any]) -> None:
    turn = seen["turn"]
    off = 8.0 if seen["sheared"] else 1.0  # degrees; a sheared frame is no rotation
    assert abs(turn["degrees"] - 90.0) < 2.0
    assert turn["off the line of sight"] < off
    assert turn["joint moved"] < NEAR * seen["size"]


@pytest.mark.parametrize("act", ["constrain", "turn"], ids=["by Esc", "by the right mouse button"])
def test_cancelling_gives_the_exact_start_pose_back(seen: dict[str, Any], act: str) -> None:
    assert seen[act]["end"] == seen[act]["start"]


def test_with_x_mirror_the_other_side_goes_the_mirrored_way(seen: dict[str, Any]) -> None:
    mirror = seen["mirror"]
    np.testing.assert_allclose(mirror["reached"], mirror["wanted"], atol=PIXELS)
    for other in mirror["moved"][1:]:
        one = np.array(mirror["moved"][0])
        np.testing.assert_allclose(other, one * [-1.0, 1.0, 1.0], atol=0.01 * np.linalg.norm(one))


def test_nothing_is_left_behind(seen: dict[str, Any]) -> None:
    acts = [value for value in seen.values() if isinstance(value, dict) and "left" in value]
    assert [act["left"] for act in acts] == [[]] * len(acts)
    assert seen["timers"] == 0
