"""Feet locked by mouse in a real window."""

import os
from typing import Any

import pytest

from tests.paths import DATA
from tests.window.motion_acts import generate, lock_feet

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(lock_feet, str(CLIP), limit=240)


def test_contacts_are_in_the_list(seen: dict[str, Any]) -> None:
    labels = {label.partition(".")[0] for label, *_ in seen["pins"]}
    assert labels == {"heel", "ball", "toe"}


def test_the_motion_is_solved_beside_blender_into_an_action_of_its_own(seen: dict[str, Any]) -> None:
    assert seen["solved"] == f"{seen['source']} poise"


def test_a_pin_that_is_changed_shows_at_once_and_is_solved_beside_blender(seen: dict[str, Any]) -> None:
    moved, unkeyed = seen["live"]
    assert moved > 0.5
    assert unkeyed
    assert seen["followed"] == seen["solved"]


def test_a_pin_that_is_changed_and_the_motion_solved_for_it_are_undone_together(seen: dict[str, Any]) -> None:
    assert seen["undone live"] == [True, pytest.approx(0.0, abs=1e-3)]
    assert seen["redone live"] == pytest.approx(0.0, abs=1e-3)


def test_what_is_undone_before_it_is_solved_is_not_solved_after_all(seen: dict[str, Any]) -> None:
    assert seen["undone at once"] == [pytest.approx(0.0, abs=1e-3), True]


def test_escape_in_the_middle_changes_nothing(seen: dict[str, Any]) -> None:
    assert seen["cancelled at work"] == 1
    assert seen["after cancel"] == [seen["solved"], True]


def test_the_original_motion_comes_back(seen: dict[str, Any]) -> None:
    assert seen["given back"] == [seen["source"], [seen["source"]]]


def test_a_second_start_is_refused_and_undo_ends_what_is_solved(seen: dict[str, Any]) -> None:
    assert seen["at work"] == [1, 1]
    assert seen["undone"] == [0, True]
    assert seen["cancelled"] == 0


@pytest.mark.skipif(os.environ.get("CI") == "true", reason="CI has no time for it; tests/blender generates, too")
def test_a_generated_jump_has_its_samples_in_the_graph_editor(person: Any) -> None:
    seen = person(generate, str(RIG), limit=120)
    assert seen["action"] == "Armature jump"
    assert seen["tracks"] == ["arm.L, arm.R", "all"]
    assert seen["moved"] > 10  # bones, when an offset was changed
