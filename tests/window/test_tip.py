"""P pins the tip that is dragged, in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.tip_acts import BONE, pin_tip

WALK = DATA / "motion" / "cmu_07_12.bvh"
NEAR = 1e-3  # of the body


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(pin_tip, str(WALK), limit=120)


def test_p_pins_the_position_of_the_tip(seen: dict[str, Any]) -> None:
    assert seen["pin"] == [BONE, True, False]
    np.testing.assert_allclose(seen["point"], [0.0, seen["length"], 0.0], atol=1e-4 * seen["length"])
    assert np.linalg.norm(seen["off"]) < NEAR * seen["size"]


def test_the_tip_stays_and_its_joint_moves_when_the_hips_are_dragged(seen: dict[str, Any]) -> None:
    assert np.linalg.norm(seen["off later"]) < NEAR * seen["size"]
    assert np.linalg.norm(np.subtract(seen["head later"], seen["head"])) > NEAR * seen["size"]
