"""A drag while the motion plays, in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.record_acts import START, record

WALK = DATA / "motion" / "cmu_07_12.bvh"
NEAR = 2e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(record, str(WALK), small=True, limit=120)


def test_every_frame_that_played_is_keyed_and_no_other(seen: dict[str, Any]) -> None:
    changed = seen["changed"]
    assert len(changed) > 4, changed
    assert changed == [*range(changed[0], changed[-1] + 1)]
    assert START <= changed[0] <= START + 3
    assert changed[-1] <= seen["here"]


def test_the_feet_stay_where_the_walk_has_them_in_each_frame(seen: dict[str, Any]) -> None:
    assert seen["pins"] == [["LeftFoot", "ANIMATION"], ["RightFoot", "ANIMATION"]]
    assert seen["feet"] < NEAR


def test_the_text_says_that_it_is_recorded(seen: dict[str, Any]) -> None:
    assert "recorded" in seen["kept text"][0]


def test_escape_leaves_every_key_as_it_was_and_a_drop_is_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["escaped"]
    assert seen["undone"]
    assert not seen["left"]
