"""The range of a bone by mouse, in a real window: from the anatomy, mirrored, drawn in the viewport."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window.range_acts import first_range

RIG = DATA / "rigs" / "named_mixamo_cm.blend"


@pytest.fixture(scope="module")
def seen(person: Any) -> dict[str, Any]:
    return person(first_range, blend=RIG, limit=240)


def test_a_click_gives_the_range_of_people_and_another_one_its_mirror_image(seen: dict[str, Any]) -> None:
    np.testing.assert_allclose(np.degrees(seen["anatomical"]), [130.0, 110.0, 125.0], atol=1e-3)
    np.testing.assert_allclose(seen["mirrored"], [-0.6, -3.1416, -0.5, 0.7, 3.1416, 0.9], atol=1e-4)


def test_the_range_of_the_active_bone_is_drawn(seen: dict[str, Any]) -> None:
    assert seen["drawn"] > 300  # pixels
