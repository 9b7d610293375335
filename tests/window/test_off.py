"""Controls that are off and bones that overlap, in a real window."""

import os
import shutil
from typing import Any

import numpy as np
import pytest

from tests.window.off_acts import WAY, off
from tests.window.test_controls import PIXELS, RIG


@pytest.fixture(scope="module")
def seen(person: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if not RIG.is_file():
        pytest.skip(f"{RIG.name}: the larger test data (../shared/data) is not here")
    if os.environ.get("CI") == "true":
        pytest.skip("CI has no time for it; the same is tested without a window in test_off_controls.py")
    return person(off, str(shutil.copy(RIG, tmp_path_factory.mktemp("rigs"))), small=True, limit=120)


def test_a_control_that_is_off_is_dragged_by_the_one_that_is_on_and_the_hand_goes_with_the_mouse(
    seen: dict[str, Any],
) -> None:
    assert seen["text"][0].startswith("Dragging hand_fk.L")
    assert seen["text"][1] == '"hand_fk.L" has no effect while its limb is in IK: "hand_ik.L" poses it'
    np.testing.assert_allclose(seen["went"], WAY, atol=PIXELS)


def test_a_key_takes_the_next_of_what_overlaps_until_the_mouse_is_elsewhere(seen: dict[str, Any]) -> None:
    assert seen["first"] == ["hand_ik.R"]
    assert len(seen["second"]) == 1
    assert seen["second"] != seen["first"]
