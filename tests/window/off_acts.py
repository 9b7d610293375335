"""Controls that are off and bones that overlap, on a generated control rig. It runs inside Blender."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do
from tests.window.control_acts import RESTS, on_shape, see_all

WAY = (-60, 50)  # pixels
AWAY = (0.0, 0.25, 0.15)  # of the IK hand in its frame: the FK hand stays behind


def off(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Drag the FK hand of an arm on IK; press J over a wrist, and pin what is there before and after."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = True  # else Blender asks, and takes the mouse
    yield from do.open_rig(hand, file)
    rig = bpy.data.objects["rig"]
    rig.pose.bones["hand_ik.L"].location = AWAY
    yield from see_all(hand, rig)
    seen: dict[str, Any] = {}
    x, y = on_shape(hand, "hand_fk.L")
    before = hand.pixel(do.head("DEF-hand.L", rig))
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + WAY[0], y + WAY[1]))
    yield RESTS
    after = hand.pixel(do.head("DEF-hand.L", rig))
    seen["text"], seen["went"] = do.shown().text, [after[0] - before[0], after[1] - before[1]]
    hand.screenshot("off_dragged")
    yield from do.cancel(hand, "ESC")
    wrist = hand.pixel(do.head("DEF-hand.R", rig))
    hand.move(*wrist)
    yield RESTS
    hand.move(wrist[0] + 1, wrist[1])
    yield RESTS
    hand.screenshot("off_hover")
    yield from do.key(hand, "J")
    yield RESTS
    hand.screenshot("off_next")
    yield from do.key(hand, "P")
    seen["second"] = [pin.name for pin in rig.poise_pins]
    yield from do.key(hand, "P")
    yield from do.key(hand, "P")
    hand.move(wrist[0] + 40, wrist[1] + 40)
    yield 0.3
    hand.move(*wrist)
    yield RESTS
    yield from do.key(hand, "P")
    seen["first"] = [pin.name for pin in rig.poise_pins]
    return seen
