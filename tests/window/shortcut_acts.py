"""What a person does with the shortcut while another tool is in hand. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from drag_acts import HAND, WAIT, bone, channels, dragging, head, ready, shown

BOX = "builtin.select_box"


def with_the_shortcut(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Ctrl G over a hand, a click; again beside the body with a foot active, Esc; the panel and the preferences."""
    import bpy

    seen: dict[str, Any] = {}
    yield from ready(hand)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name=BOX)
    yield from hand.open_tab("Poise")
    yield WAIT
    hand.rest()
    yield WAIT
    seen["start"] = channels()
    x, y = hand.pixel(head(HAND))
    hand.move(x, y)
    yield WAIT
    hand.press("G", ctrl=True)
    yield from hand.until(dragging)
    for step in range(1, 9):
        hand.move(x - 12 * step, y - 14 * step)
        yield 0.05
    seen["under way"] = dragging()
    hand.screenshot("shortcut_during")
    hand.press("LEFTMOUSE")
    yield from hand.until(lambda: not dragging())
    seen["dropped"], seen["wanted"], seen["reached"] = channels(), [x - 96, y - 112], list(hand.pixel(head(HAND)))
    seen["tool"] = bpy.context.workspace.tools.from_space_view3d_mode("POSE", create=False).idname
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["start"])
    seen["undone"] = channels()

    foot = bone("LeftFoot")
    foot.id_data.data.bones.active = foot.bone
    region = hand.region()
    x, y = region.x + 200, region.y + 120  # nothing of the body is there
    hand.move(x, y)
    yield WAIT
    before = hand.pixel(head("LeftFoot"))
    hand.press("G", ctrl=True)
    yield from hand.until(dragging)
    for step in range(1, 9):
        hand.move(x + 10 * step, y + 10 * step)
        yield 0.05
    seen["foot went"] = [after - begin for after, begin in zip(hand.pixel(head("LeftFoot")), before, strict=True)]
    hand.press("ESC")
    yield from hand.until(lambda: not dragging())
    seen["escaped"] = channels()
    hand.screenshot("shortcut_panel")

    hand.move(*hand.pixel(head(HAND)))  # where a panel may cover it
    yield WAIT
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.drag("INVOKE_DEFAULT", use_active=True)
    seen["button drags"] = shown().text[0]
    hand.press("ESC")
    yield from hand.until(lambda: not dragging())
    return seen
