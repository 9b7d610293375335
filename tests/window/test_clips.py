"""Clips of all kinds in a real window, where Blender's importers could run beside it."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.paths import DATA
from tests.window.clip_acts import retarget_clips

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"


def test_clips_of_all_kinds_are_retargeted_and_leave_nothing_else(person: Any, tmp_path: Path) -> None:
    turns = np.zeros((61, 24, 3))
    turns[:, 16, 1] = np.linspace(0.0, -1.5, 61)  # the left arm goes forward
    np.savez(tmp_path / "walk.npz", poses=turns.reshape(61, 72), fps=30)
    seen = person(retarget_clips, str(CLIP), str(tmp_path), blend=RIG)
    first, last = seen["range"].pop("bvh")
    assert first == 2  # without the rest pose that the clip begins with
    assert seen["range"].pop("npz")[1] == 49  # two seconds at 24 frames a second
    assert seen["range"].keys() >= {"vrma", "fbx"}
    for begin, end in seen["range"].values():  # a file may begin at any frame
        assert end - begin == last - first, seen["range"]
    assert seen["kept"]
