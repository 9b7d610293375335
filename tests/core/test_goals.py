"""Goals that are malformed."""

import numpy as np
import pytest

from core import CoreError, Goal


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "neither"),
        ({"position": [0, 0]}, "3 numbers"),
        ({"position": [0, 0, np.nan]}, "finite"),
        ({"rotation": [2, 0, 0, 0]}, "unit quaternion"),
        ({"position": [0, 0, 0], "position_weight": -1.0}, "at least 0"),
        ({"position": [0, 0, 0], "priority": -1}, "priority"),
        ({"position": [0, 0, 0], "point": [np.inf, 0, 0]}, "point"),
    ],
)
def test_a_malformed_goal_is_refused(arguments: dict, text: str) -> None:
    with pytest.raises(CoreError, match=text):
        Goal("hand.L", **arguments)
