"""Motions as strips on a generated rig, and the pose of one animal on another, in a real window."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SHARED
from tests.window.day_acts import animal_pose, retarget_day

RIGS = SHARED / "rigs"
CLIPS = ("cmu_07_12", "cmu_35_17", "cmu_35_20")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not RIGS.is_dir(), reason="the larger test data (../shared/data) is not here"),
]


def test_motions_of_a_folder_are_strips_one_after_the_other(
    person: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """That the file browser is left before is no error; `person` refuses tracebacks."""
    folder: Path = tmp_path_factory.mktemp("clips")
    for name in CLIPS:
        shutil.copy(SHARED / "motion" / "bvh30" / f"{name}.bvh", folder)
    rig = shutil.copy(RIGS / "scripted" / "rigify_generated_human.blend", folder.parent)
    ((_, strips),) = person(retarget_day, str(rig), str(folder), limit=300)["strips"]
    assert [name for name, _, _ in strips] == [f"rig {name}" for name in CLIPS]
    assert all(one[2] <= other[1] for one, other in pairwise(strips))


def test_the_pose_of_a_dog_is_applied_to_a_wolf(person: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("dog")
    dog = shutil.copy(RIGS / "real" / "mesh2motion_quadruped.glb", folder)
    wolf = shutil.copy(RIGS / "scripted" / "rigify_generated_wolf.blend", folder)
    assert person(animal_pose, str(wolf), str(dog), limit=200) == {"moved": True, "undone": True}
