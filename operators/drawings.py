"""What the viewports and timelines show of an armature: its pins, its limits, its timed pins."""

from typing import Any

import numpy as np

from .. import bridge
from ..core import CoreError, rotation
from ..core.editing.contacts import foot_of
from ..edits.pins import ANIMATION, read_pin
from ..edits.sample_curves import has_generated
from ..languages.interface import part_name
from ..overlay.draw import Drawing
from ..overlay.marks import Marks, PinMark
from ..overlay.strips import Strip, StripDrawing


def show_pins() -> Drawing:
    """Draw the pins of the armatures in Pose Mode, and the active bone's limits, until it is closed."""
    return Drawing(_pins, bridge.read_view)


def _pins(context: Any) -> Marks | None:
    if context.mode != "POSE":
        return None
    pins = [mark for armature in context.objects_in_mode or () for mark in _marks_of(armature)]
    cones = _cones_of(context.active_pose_bone)
    return Marks(pins=pins, cones=cones) if pins or cones else None


def _cones_of(bone: Any) -> list[Any]:
    """Return the directions in which the active bone may point by its limits."""
    if bone is None:
        return []
    try:
        return bridge.limit_cone(bone, bridge.world_matrix(bone.id_data))
    except CoreError:  # the tools report it
        return []


def _marks_of(armature: Any) -> list[PinMark]:
    found: list[PinMark] = []
    if not len(armature.poise_pins):
        return found
    world = bridge.world_matrix(armature)
    for pin in armature.poise_pins:
        bone = armature.pose.bones.get(pin.name)
        if bone is None or not (pin.use_position or pin.use_rotation):
            continue
        matrix = world @ np.array(bone.matrix, float)
        try:
            target = read_pin(pin)
            held, turn = target.in_armature_space(world)
        except CoreError:  # the panel shows the reason
            continue
        animated = target.space == ANIMATION
        if animated and turn is not None:
            turn = rotation.from_matrix(rotation.nearest_rotation(np.array(bone.matrix, float)[:3, :3]))
        places, turns = bridge.armature_to_world(world, held, turn)
        here = matrix[:3, :3] @ np.array(pin.point) + matrix[:3, 3]
        place = here if places is None or animated else places
        found.append(PinMark(place, turns, held is not None, here, pin.mute, animated))
    return found


def show_strips() -> StripDrawing:
    """Draw the timed pins of the active armature in timelines and dope sheets until it is closed."""
    return StripDrawing(_strips)


def _strips(context: Any) -> list[Strip]:
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE":
        return []
    return [
        Strip(part_name(pin.label, pin.bone), part_name(foot_of(pin.label), pin.bone),
              pin.start - pin.ease_in, pin.start, pin.end, pin.end + pin.ease_out,
              number == armature.poise_active_timed_pin, pin.mute)
        for number, pin in enumerate(armature.poise_timed_pins)
    ] + [
        Strip(part_name(phase.part), part_name(phase.part), phase.start, phase.start, phase.end, phase.end,
              number == armature.poise_active_phase, False)
        for number, phase in enumerate(armature.poise_phases if has_generated(armature) else ())
    ]  # fmt: skip


def show_timed_pins() -> Drawing:
    """Draw the timed pins that hold at the present frame in all viewports until it is closed."""
    return Drawing(_timed_pins, bridge.read_view)


def _timed_pins(context: Any) -> Marks | None:
    armature = context.active_object
    if armature is None or armature.type != "ARMATURE" or context.mode != "POSE":
        return None
    present, world = context.scene.frame_current, bridge.world_matrix(armature)
    found: list[PinMark] = []
    for pin in armature.poise_timed_pins:
        bone = armature.pose.bones.get(pin.bone)
        if bone is None or not pin.start <= present <= pin.end:
            continue
        matrix = world @ np.array(bone.matrix, float)
        here = matrix[:3, :3] @ np.array(pin.point) + matrix[:3, 3]
        place = here if pin.held != "PLACE" else bridge.armature_to_world(world, np.array(pin.position))[0]
        assert place is not None
        found.append(PinMark(place, None, pin.use_position, here, pin.mute))
    return Marks(pins=found) if found else None


DRAWINGS = (show_pins, show_strips, show_timed_pins)
