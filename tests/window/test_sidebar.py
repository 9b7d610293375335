"""Pictures of every panel in each language, for people to look at: nothing may be cut. POISE_FILM=1 takes them."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DATA
from tests.window.sidebar_acts import show

NARROWEST = "120"  # pixels at a scale of 1: below about 116 Blender 5.2 shows the tabs alone
WALK = DATA / "motion" / "cmu_07_12.bvh"


@pytest.mark.skipif(not os.environ.get("POISE_FILM"), reason="pictures for people: POISE_FILM=1 takes them")
@pytest.mark.parametrize("scale", ["1", "2"])
@pytest.mark.parametrize("width", ["220", NARROWEST])
def test_every_panel_is_drawn_in_each_language(person: Any, scale: str, width: str) -> None:
    files = person(show, str(WALK), scale, width, limit=600)
    assert all(Path(file).is_file() for file in files)
