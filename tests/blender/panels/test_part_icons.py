"""Icons of the states of body parts."""

from itertools import combinations
from typing import Any

import numpy as np

from panels.part_icons import NUMBERS, pictures
from properties.survey import POISE_PG_finding


def test_states_differ_by_shape_for_who_sees_no_colors() -> None:
    shapes = {state: picture[..., 3] for state, picture in pictures().items()}
    for one, other in combinations(shapes.values(), 2):
        assert np.abs(one - other).sum() > 0.25 * min(one.sum(), other.sum())
    assert len({tuple(picture[16, 16, :3]) for picture in pictures().values()}) == len(shapes)


def test_every_state_has_an_icon_in_blender() -> None:
    finding: Any = POISE_PG_finding
    states = {item[0] for item in finding.__annotations__["state"].keywords["items"]}
    assert states == NUMBERS.keys()
