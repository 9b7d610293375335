"""Skeletons: their size, and what is refused."""

import numpy as np
import pytest

from core import CoreError, Skeleton
from tests.core.rigs import FIGURE, skeleton_of


def test_size_is_one_for_a_figure_in_metres_and_goes_with_the_scale(figure: Skeleton) -> None:
    assert figure.size == pytest.approx(1.0, abs=0.15)
    large = skeleton_of([(n, p, 100.0 * np.array(h), 100.0 * np.array(t)) for n, p, h, t in FIGURE])
    assert large.size == pytest.approx(100.0 * figure.size)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"names": []}, "no bones"),
        ({"names": ["a", "a"]}, 'Two bones have the name "a"'),
        ({"parents": [1, -1]}, 'precede their children: "a"'),
        ({"offsets": [[0, 0, 0]]}, "shape"),
        ({"lengths": [1.0, np.nan]}, 'lengths of the bone "b"'),
        ({"inherit_scale": ["FULL", "HALF"]}, "inherit_scale"),
    ],
)
def test_a_malformed_skeleton_is_refused_with_a_sentence(changes: dict, text: str) -> None:
    good = {
        "names": ["a", "b"],
        "parents": [-1, 0],
        "offsets": [[0, 0, 0], [0, 1, 0]],
        "rest_rotations": [[1, 0, 0, 0]] * 2,
        "lengths": [1, 1],
    }
    Skeleton(**good)
    with pytest.raises(CoreError, match=text):
        Skeleton(**(good | changes))


def test_a_misspelt_bone_is_answered_with_the_nearest_name(figure: Skeleton) -> None:
    with pytest.raises(CoreError, match=r'No bone "hnad\.L"; did you mean "hand\.L"\?'):
        figure.index("hnad.L")
