"""Many motions retargeted by mouse in a real window."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DATA
from tests.window.retarget_acts import retarget_many, retarget_parts

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("clips")
    for name in ("one", "two"):
        shutil.copy(CLIP, folder / f"{name}.bvh")
    (folder / "bad.bvh").write_text("HIERARCHY nonsense", encoding="utf-8")
    return person(retarget_many, str(folder), blend=RIG, limit=240)


def test_a_person_works_on_while_files_are_retargeted(seen: dict[str, Any]) -> None:
    assert seen["at work"]
    assert seen["selected meanwhile"] > 1


def test_each_motion_is_an_action_in_one_undo_step_and_a_bad_file_holds_up_nobody(seen: dict[str, Any]) -> None:
    assert seen["made"] == ["Armature one", "Armature two"]
    assert seen["undone"] == []
    assert seen["redone"] == seen["made"]
    assert not seen["action"]  # the armature's motion is nobody's business but the user's


def test_escape_before_a_file_is_finished_changes_nothing(seen: dict[str, Any]) -> None:
    assert seen["after escape"] == [False, True]


def test_another_part_is_chosen_in_the_panel_of_the_last_operation(person: Any) -> None:
    seen = person(retarget_parts, str(CLIP), blend=RIG, limit=120)
    assert seen["before"] == ["arm.L"]
    assert seen["after"] == ["head"]
    assert seen["head"]
