"""A body with a mesh and a walk is dragged by a hand and by the hips. POISE_FILM=1 takes all pictures of the film."""

import os
from typing import Any

import numpy as np
import pytest

from tests.window.film_acts import film

PIXELS = 3
NEAR = 1e-3  # metres


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(film, "1" if os.environ.get("POISE_FILM") else "4", small=True, limit=240)


def test_the_dragged_joint_is_under_the_mouse_in_all_pictures(seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(seen["off"], 0, atol=PIXELS)


def test_the_pinned_toes_stay_through_both_drags(seen: dict[str, Any]) -> None:
    for toes in seen["toes off"]:
        np.testing.assert_allclose(toes, seen["toes"], atol=NEAR)
    assert seen["left"] == []
