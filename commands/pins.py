"""A job from the pins that are saved with an armature."""

import math
from typing import Any, Final

from ..core import CoreError
from .fields import LARGEST
from .goals import Fixed, JobGoal
from .job import Job, Write

_WORLD: Final = "WORLD"


def job_from_pins(object: Any, frames: tuple[int, int] | None = None, write: Write | None = None) -> Job:
    """Hold every pin that is not muted at its stored place, in each frame or now; raises CoreError if there is none."""
    holding = [
        pin for pin in object.poise_pins if not pin.mute and pin.weight > 0.0 and (pin.use_position or pin.use_rotation)
    ]
    for pin in holding:
        if pin.name not in object.pose.bones:
            raise CoreError(f'"{object.name}" has no bone "{pin.name}" any more; remove its pin.')
    goals = tuple(_goal(pin) for pin in holding)
    if not goals:
        raise CoreError(
            f'Every pin of "{object.name}" is muted or off; let one of them hold.'
            if len(object.poise_pins)
            else f'"{object.name}" has no pins; pin a bone first.'
        )
    return Job(
        goals,
        frames=frames,
        wins=object.poise_wins.lower(),
        write=write or Write(key=frames is not None),
        limits=object.poise_use_limits,
        root=object.poise_root.lower(),
    )


def _goal(pin: Any) -> JobGoal:
    position, rotation = tuple(pin.position), tuple(pin.rotation)
    if not all(abs(number) <= LARGEST for number in (*position, *rotation)):  # false for NaN, too
        raise CoreError(f'The pin of "{pin.name}" has a number that is not a finite one; pin the bone again.')
    length = math.hypot(*rotation)
    if pin.use_rotation and length == 0.0:
        raise CoreError(f'The pin of "{pin.name}" has no rotation; pin the bone again.')
    return JobGoal(
        bone=pin.name,
        position=Fixed(position) if pin.use_position else None,
        rotation=Fixed(tuple(number / length for number in rotation)) if pin.use_rotation else None,
        space="world" if pin.space == _WORLD else "armature",
        weight=pin.weight,
        priority=0,
    )
