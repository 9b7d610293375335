"""The tip of a bone is dragged and pinned. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

BONE = "Head"


def pin_tip(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Drag the top of the head, pin it with P meanwhile, and drag the hips."""
    import bpy

    yield from do.open_rig(hand, file)
    rig = do.armature()
    rig.data.display_type = "STICK"
    yield from do.look_from(hand, (1.4, 0.0, 1.0), False)
    yield from hand.open_tab("Poise")
    hand.rest()
    yield do.WAIT
    x, y = hand.pixel(tip(rig))
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + 24, y - 16))
    for _ in range(2):  # position and rotation, then position only
        yield from do.key(hand, "P")
    yield do.WAIT
    yield from do.drop(hand)
    (pin,) = rig.poise_pins
    seen: dict[str, Any] = {"pin": [pin.name, pin.use_position, pin.use_rotation]}
    seen["point"], seen["length"] = list(pin.point), rig.data.bones[BONE].length
    seen["off"], seen["head"] = list(tip(rig) - pin.position), list(do.head(BONE))
    yield from do.grab(hand, hand.pixel(do.head("Hips")))
    yield from do.lead(hand, (hand.x + 12, hand.y - 18))
    yield from do.drop(hand)
    hand.rest()
    yield do.WAIT
    hand.screenshot("pin_tip")
    seen["off later"], seen["head later"] = list(tip(rig) - pin.position), list(do.head(BONE))
    seen["size"] = max(rig.dimensions)
    seen["mode"] = bpy.context.mode
    return seen


def tip(rig: Any) -> Any:
    """Return where the tip is in the world."""
    do.head(BONE, rig)  # evaluated
    return rig.matrix_world @ do.bone(BONE, rig).tail
