"""Animals under the mouse in a real window: hips go down over paws that stay, and a control rig lifts a paw."""

import shutil
from typing import Any

import numpy as np
import pytest

from tests.paths import SHARED
from tests.window.animal_acts import animals

RIG = SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb"
WOLF = SHARED / "rigs" / "scripted" / "rigify_generated_wolf.blend"
NEAR = 2e-3  # of the size
PIXELS = 3


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not RIG.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    folder = tmp_path_factory.mktemp("rigs")  # where Blender, which may live in a box of its own, sees them
    files = [str(shutil.copy(one, folder)) for one in (RIG, WOLF)]
    return person(animals, *files, small=True, limit=180)


def test_paws_stay_while_the_hips_go_down(seen: dict[str, Any]) -> None:
    assert seen["dragged"] == "Hips"
    assert seen["hips"][2] - seen["hips dropped"][2] > 0.03 * seen["size"]
    np.testing.assert_allclose(seen["feet dropped"], seen["feet"], atol=NEAR * seen["size"])


def test_hind_legs_fold_more_than_the_spine_bends(seen: dict[str, Any]) -> None:
    turned = seen["turned"]
    folds = [max(turned[f"Back_Leg_{part}.{side}"] for part in ("Upper", "Lower")) for side in "LR"]
    assert min(folds) > 2.0 * max(turned[name] for name in ("Spine.001", "Spine.002"))


def test_the_pose_is_keyed_in_the_walk(seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(seen["hips keyed"], seen["hips dropped"], atol=NEAR * seen["size"])


def test_a_paw_of_a_generated_rig_follows_the_mouse_by_its_control_and_the_others_stay(seen: dict[str, Any]) -> None:
    wolf = seen["wolf"]
    assert wolf["bone"] == "front_foot_ik.L"
    assert wolf["said"] == ["Dragging front_foot_ik.L"]  # nothing of being short
    np.testing.assert_allclose(wolf["reached"], wolf["wanted"], atol=PIXELS)
    np.testing.assert_allclose(wolf["feet dropped"], wolf["feet"], atol=NEAR * wolf["size"])
    assert wolf["undone"] == wolf["start"]


def test_the_panel_of_an_animal_has_its_tools_and_none_of_human_bodies(seen: dict[str, Any]) -> None:
    offered = " ".join(seen["wolf"]["offered"])
    assert "poise.take_posture(posture='RELAXED')" in offered
    assert "posture='T'" not in offered
    assert "poise.lay_hands" not in offered
    assert seen["wolf"]["used"] == ["POISE_OT_take_posture", "POISE_OT_plant_feet"]
