"""What Poise saves with the file, and what its panels show; one file a topic.

Settings are properties of Blender's own types, as `poise_pins`, `poise_root` ...: not in one group, because Blender 5.2
loses what a library override has in a group that the library's file never filled.
"""

from typing import Any, Final

import bpy

from . import generate, motion, pins, survey
from .generate import GENERATED, PoiseTrack
from .motion import TIMED, PoiseTimedPin
from .pins import MARKS, PIN_SPACES, SETTINGS, SOLVER, PoisePin
from .survey import SHOWN, PoiseFinding, PoiseSurvey

__all__ = [
    "GENERATED",
    "MARKS",
    "PIN_SPACES",
    "SETTINGS",
    "SHOWN",
    "SOLVER",
    "TIMED",
    "PoiseFinding",
    "PoisePin",
    "PoiseSurvey",
    "PoiseTimedPin",
    "PoiseTrack",
]

CLASSES: Final = (*pins.CLASSES, *motion.CLASSES, *generate.CLASSES, *survey.CLASSES)
_OWNERS: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (bpy.types.Object, SETTINGS),
    (bpy.types.Object, TIMED),
    (bpy.types.Object, GENERATED),
    (bpy.types.PoseBone, MARKS),
    (bpy.types.WindowManager, SHOWN),
)


def attach() -> None:
    """Give every object its settings, every pose bone its marks, and the panel its place for what it shows."""
    for owner, definitions in _OWNERS:
        for name, definition in definitions.items():
            setattr(owner, f"poise_{name}", definition)


def detach() -> None:
    """Take the settings off again; what files have saved stays in them."""
    for owner, definitions in _OWNERS:
        for name in definitions:
            delattr(owner, f"poise_{name}")
