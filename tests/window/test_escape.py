"""Esc in a real window, while long tools need Blender."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.escape_acts import escape

CLIP = DATA / "motion" / "cmu_07_12.bvh"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(escape, str(CLIP), small=True, limit=240)


def test_blender_draws_while_a_long_motion_is_read_and_escape_changes_nothing(seen: dict[str, Any]) -> None:
    assert seen["reads"]
    assert seen["drawn"] > 2
    assert seen["ended"]
    assert seen["cancelled"] == seen["before"]


def test_escape_while_it_measures_keeps_what_is_written_in_one_step_of_undo(seen: dict[str, Any]) -> None:
    assert seen["measures"]
    assert seen["ended measuring"]
    assert seen["kept"]["action"] != seen["before"]["action"]
    assert seen["kept"]["frame"] == seen["frame"]
    assert seen["undone"]["action"] == seen["before"]["action"]
