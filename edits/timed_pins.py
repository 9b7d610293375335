"""The list of timed pins that is saved with an armature."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mathutils import Vector

from ..core import CoreError
from ..core.editing.timed_pins import TimedPin
from ..properties.overrides import linked_count
from .motion_edit import temporary_value

LEAST_EASE: Final = 1  # frames


def add_timed_pin(armature: Any, bone: str, start: int, end: int) -> Any:
    pin = armature.poise_timed_pins.add()
    pin.bone = pin.label = bone
    pin.start, pin.end, pin.frame = start, end, start
    armature.poise_active_timed_pin = len(armature.poise_timed_pins) - 1
    return pin


def hold_as_posed(armature: Any, pin: Any) -> None:
    """Hold a timed pin at a place, where and as its bone stands now; raises CoreError if that is gone."""
    bone = armature.pose.bones.get(pin.bone)
    if bone is None:
        raise CoreError(f'"{armature.name}" has no bone "{pin.bone}" any more.')
    place, turn = bone.matrix @ Vector(pin.point), bone.matrix.to_quaternion()
    with temporary_value(armature, "poise_live_pins", False):  # it is shown once, when all of it is there
        pin.position, pin.rotation = place, turn
    pin.held = "PLACE"


def select_nearest_timed_pin(armature: Any, frame: int) -> None:
    """Choose the timed pin in the list that holds at a frame, or is nearest to it."""
    pins = armature.poise_timed_pins
    gaps = [max(pin.start - frame, frame - pin.end, 0) for pin in pins]
    armature.poise_active_timed_pin = gaps.index(min(gaps)) if gaps else 0


def remove_timed_pins(armature: Any, places: Iterable[int]) -> int:
    """Take timed pins off the list; those of the linked file under a library override, which are counted, are muted."""
    linked, muted = linked_count(armature, "poise_timed_pins"), 0
    for place in sorted(places, reverse=True):
        if place < linked:
            armature.poise_timed_pins[place].mute = True
            muted += 1
        else:
            armature.poise_timed_pins.remove(place)
    return muted


def add_found_pins(armature: Any, names: Sequence[str], pins: Sequence[TimedPin], labels: Sequence[str]) -> None:
    """Pins as they are found, at their places, into the list; `names` of the skeleton's bones."""
    for pin, label in zip(pins, labels, strict=True):
        bone = pin.bone if isinstance(pin.bone, str) else names[pin.bone]
        stored = add_timed_pin(armature, bone, round(pin.start), round(pin.end))
        stored.label, stored.held = label, "PLACE"
        stored.point, stored.position = pin.point, pin.position
        stored.ease_in = stored.ease_out = max(LEAST_EASE, round(pin.ease_in))
