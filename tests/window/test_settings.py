"""The panels draw their settings in a real window; the pictures are for the documentation."""

from pathlib import Path
from typing import Any

from tests.paths import DATA
from tests.window.settings_acts import look

WALK = DATA / "motion" / "cmu_07_12.bvh"


def test_the_panels_of_solver_active_bone_and_parts_are_drawn(person: Any) -> None:
    seen = person(look, str(WALK), limit=200)
    assert seen.pop("mode") == "POSE"
    label, tooltip, report, drawn = seen.pop("said")[:4]
    assert label == "ボディをドラッグ"
    assert tooltip.startswith("ピンを保持したまま")
    assert report == "エラー: オブジェクト「Pin」がありません。"
    assert drawn.startswith("Pin をドラッグ中")  # the bone's name is kept, though there is a label Pin
    pictures = {name: Path(file).read_bytes() for name, file in seen.items()}
    assert len(set(pictures.values())) == 7
