"""Finding roles in skeletons of thousands of bones."""

import time

import numpy as np
import pytest

from core import Skeleton
from core.body import find_roles
from tests.core.rigs import FIGURE, skeleton_of

COUNT = 2000


def with_more(kind: str) -> Skeleton:
    """A body and more bones than any body has."""
    rng = np.random.default_rng(6)
    rows = [(name, parent, np.array(head, float), np.array(tail, float)) for name, parent, head, tail in FIGURE]
    if kind == "loose bones":
        for number in range(COUNT):
            head = rng.normal(size=3) * 0.3 + (0.0, 0.0, 1.0)
            rows.append((f"loose{number}", None, head, head + 0.02))
        return skeleton_of(rows)
    parent, end = "head", np.array([0.0, 0.0, 1.75])
    for number in range(COUNT):
        if kind == "hair" and number % 20 == 0:
            parent, end = "head", np.array([0.0, 0.0, 1.75])
        start, end = end, end + 0.01 * rng.normal(size=3)
        rows.append((f"more{number}", parent, start, end))
        parent = f"more{number}"
    return skeleton_of(rows)


@pytest.mark.parametrize("kind", ["one deep chain", "hair", "loose bones"])
def test_a_body_among_thousands_of_bones_is_found_in_seconds(kind: str) -> None:
    skeleton = with_more(kind)
    alone = find_roles(skeleton_of(FIGURE))
    start = time.process_time()
    roles = find_roles(skeleton)
    taken = time.process_time() - start
    assert roles.bones == alone.bones
    assert taken < 2.0  # half a minute where the ancestors of every bone are listed
