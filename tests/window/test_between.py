"""Key poses of a walk filled in in a real window."""

from typing import Any

import pytest

from tests.paths import DATA
from tests.window.between_acts import fill_in

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(fill_in, str(DATA / "motion" / "cmu_07_12.bvh"), blend=RIG, limit=150)


def test_the_dialog_fills_in_the_frames_between_with_few_keys(seen: dict[str, Any]) -> None:
    assert seen["filled"]
    assert 0.0 < seen["share"] < 0.1


def test_it_is_one_undo_step(seen: dict[str, Any]) -> None:
    assert seen["undone"]
