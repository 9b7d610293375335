"""What a person does with the range of a bone. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import open_panel, select_beside_tab
from drag_acts import WAIT, bone

ARM, OTHER = "LeftArm", "RightArm"
FROM_ANATOMY, MIRROR = "bpy.ops.poise.set_range()", "bpy.ops.poise.mirror_range()"


def first_range(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Give an upper arm the range of people, narrow it, and mirror it to the other side."""
    seen: dict[str, Any] = {}
    yield from select_beside_tab(hand, ARM)
    yield from open_panel(hand, "POISE_PT_active_bone")
    before = yield from hand.look_at_rest("range_none")
    panel = yield from hand.read_panels(MIRROR)  # last, when nothing moves any more
    yield from hand.click(*panel[FROM_ANATOMY][0])
    yield from hand.until(lambda: bone(ARM).poise_use_range)
    seen["anatomical"] = list(bone(ARM).poise_range_max)
    bone(ARM).poise_range_min = -0.6, -3.1416, -0.9
    bone(ARM).poise_range_max = 0.7, 3.1416, 0.5
    panel = yield from hand.read_panels(MIRROR)
    yield from hand.click(*panel[MIRROR][0])
    yield from hand.until(lambda: bone(OTHER).poise_use_range)
    seen["mirrored"] = [*bone(OTHER).poise_range_min, *bone(OTHER).poise_range_max]
    yield WAIT
    after = yield from hand.look_at_rest("range")
    area = hand.region()
    part = slice(area.y + area.height // 4, area.y + area.height), slice(area.x + 100, area.x + area.width // 2 + 200)
    seen["drawn"] = int((before[part] != after[part]).any(axis=-1).sum())
    return seen
