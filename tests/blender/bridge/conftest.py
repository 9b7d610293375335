"""Fixtures for the tests of the bridge."""

from typing import Any

import pytest

from tests.blender.rigs import load, select
from tests.paths import SHARED


@pytest.fixture
def human() -> Any:
    """Rigify's own human, its limbs on IK as it comes."""
    rig = next(rig for rig in load(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend") if rig.name == "rig")
    select(rig, [])
    return rig
