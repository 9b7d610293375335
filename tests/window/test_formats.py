"""Motions of all kinds of files by the menu, and an upper body over a walk, in a real window."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.paths import DATA, SHARED
from tests.window.formats_acts import direct_traffic, import_by_menu

RIG = SHARED / "rigs" / "real" / "mesh2motion_human.blend"
CLIP = DATA / "motion" / "cmu_07_12.bvh"
BEGIN, FRAMES = 25, 60  # of the other motion: arms are raised
TRAFFIC = SHARED / "motion" / "bvh30" / "cmu_train_directing_traffic_1.bvh"

pytestmark = [
    pytest.mark.skipif(not RIG.is_file(), reason="the larger test data (../shared/data) is not here"),
    pytest.mark.skipif(os.environ.get("CI") == "true", reason="CI has no time for it; tests/blender reads such files"),
]


def test_files_of_all_kinds_are_chosen_in_the_menu(person: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("clips")
    turns = np.zeros((66, 24, 3))
    turns[:, 16, 2] = -1.2  # the left arm down
    turns[:, 17, 2] = np.linspace(1.2, -0.8, 66)  # the right arm up
    np.savez(folder / "walk.npz", poses=turns.reshape(66, 72), fps=30)
    seen = person(import_by_menu, str(CLIP), str(folder), blend=shutil.copy(RIG, folder / RIG.name), limit=400)
    assert seen["after"] == seen["before"]  # nothing else is left
    spans = {kind: last - first for kind, (first, last) in seen["frames"].items()}
    assert spans.keys() >= {"npz", "vrma", "glb"}
    assert max(spans.values()) - min(spans.values()) <= 1


def test_an_upper_body_directs_traffic_over_a_walk_on_rigify(
    person: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = TRAFFIC.read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    lines[first - 2] = f"Frames: {FRAMES}"
    clip = tmp_path_factory.mktemp("traffic") / "traffic.bvh"
    clip.write_text("\n".join(lines[:first] + lines[first + BEGIN : first + BEGIN + FRAMES]), encoding="utf-8")
    seen = person(direct_traffic, str(CLIP), str(clip), limit=420)
    for place, was in seen["walk"].items():
        far = np.linalg.norm(np.subtract(seen["both"][place], was))
        assert far < 2e-3 if "foot" in place else far > 0.02, place
