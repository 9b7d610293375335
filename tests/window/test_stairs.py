"""A level walk is brought onto stairs by the panel Motion in a real window."""

import shutil
from typing import Any

import pytest

from tests.paths import DATA, SHARED
from tests.window.stairs_acts import climb

RIG = SHARED / "rigs" / "real" / "mesh2motion_human.blend"
CLIP = DATA / "motion" / "cmu_07_12.bvh"


@pytest.mark.long
def test_contacts_on_stairs_are_found_and_solved(person: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    if not RIG.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    copy = shutil.copy(RIG, tmp_path_factory.mktemp("stairs") / RIG.name)
    seen = person(climb, str(CLIP), blend=copy, limit=400)
    assert seen["ground"] == "Stairs"
    assert seen["pins"] > 10
    assert seen["deep before"] > 0.5
    assert seen["held"] == seen["pins"]
    assert seen["deep after"] < 0.05  # skin beside the bones of the feet
