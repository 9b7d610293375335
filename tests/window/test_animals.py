"""The hips of a walking animal are brought down in a real window: legs fold, paws stay, and the pose is keyed."""

import shutil
from typing import Any

import numpy as np
import pytest

from tests.paths import SHARED
from tests.window.animal_acts import lower

RIG = SHARED / "rigs" / "real" / "mesh2motion_quadruped.glb"
NEAR = 2e-3  # of the size


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not RIG.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    file = shutil.copy(
        RIG, tmp_path_factory.mktemp("rigs")
    )  # where Blender, which may live in a box of its own, sees it
    return person(lower, str(file), small=True, limit=120)


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
