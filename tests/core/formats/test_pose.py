"""Poses as text: what was written is read again, and nothing else is."""

import json

import numpy as np
import pytest

from core import CoreError
from core.editing.part_pose import PartPose
from core.formats.pose import parse_pose, pose_text

HIPS = {"hips": [[1, 0, 0, 0]]}


def test_a_pose_is_read_as_it_was_written() -> None:
    rng = np.random.default_rng(5)
    turns = {role: rng.normal(size=(count, 4)) for role, count in (("hips", 1), ("spine", 3), ("index.L", 3))}
    turns = {role: some / np.linalg.norm(some, axis=1, keepdims=True) for role, some in turns.items()}
    found = parse_pose(pose_text(PartPose(turns, frozenset({"spine"}))))
    assert found.posed == {"spine"}
    assert found.turns.keys() == turns.keys()
    for role, some in turns.items():
        np.testing.assert_allclose(found.turns[role], some, atol=2e-6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("[1, 2]", "not an object"),
        ("[" * 200, "nested too deeply"),
        (json.dumps({"version": 2, "turns": HIPS, "posed": []}), "version: this Poise reads version 1"),
        (json.dumps({"version": 1, "turns": {"hips": [[1, 0, 0, 0.1]]}, "posed": []}), "turns.hips: needs unit"),
        (json.dumps({"version": 1, "turns": {"hips": [[1, 0, 0, 0]] * 300}, "posed": []}), "300 are too many"),
        ('{"version": 1, "turns": {"hips": [[NaN, 0, 0, 0]]}, "posed": []}', "not a finite number"),
        (json.dumps({"version": 1, "turns": HIPS, "posed": ["beak"]}), r'posed\[0\]: "beak" is not a part of a body'),
        (
            json.dumps({"version": 1, "turns": HIPS, "posed": [], "legs": {"leg.L": [0.5]}}),
            'rotation for each bone of "leg.L"',
        ),
        ('{"version": 1, "version": 1}', "version: given twice"),
        (" " * 1_000_001, "larger than 1 MB"),
    ],
)
def test_other_text_is_refused(text: str, why: str) -> None:
    with pytest.raises(CoreError, match=why):
        parse_pose(text)
