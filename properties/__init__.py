"""What Poise saves with the file, and what its panels show; one file a topic.

Settings are properties of Blender's own types, as `poise_pins`, `poise_root` ...: not in one group, because Blender 5.2
loses what a library override has in a group that the library's file never filled.
"""

from typing import Any, Final

import bpy

from . import ccd, generate, humanoid, keypoints, marks, motion, pins, roles, survey

CLASSES: Final = (*pins.CLASSES, *ccd.CLASSES, *motion.CLASSES, *generate.CLASSES, *survey.CLASSES, *keypoints.CLASSES)
OWNERS: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (bpy.types.Object, pins.SETTINGS),
    (bpy.types.Object, humanoid.SETTINGS),
    (bpy.types.Object, ccd.SETTINGS),
    (bpy.types.Object, motion.TIMED),
    (bpy.types.Object, generate.GENERATED),
    (bpy.types.Object, keypoints.SETTINGS),
    (bpy.types.PoseBone, marks.MARKS),
    (bpy.types.PoseBone, roles.ROLES),
    (bpy.types.WindowManager, survey.SHOWN),
    (bpy.types.WindowManager, keypoints.SHOWN),
    (bpy.types.WindowManager, motion.SHOWN),
)


def attach() -> None:
    """Give Blender's types their properties."""
    for owner, definitions in OWNERS:
        for name, definition in definitions.items():
            setattr(owner, f"poise_{name}", definition)


def detach() -> None:
    """Take them off again; what files have saved stays in them."""
    for owner, definitions in OWNERS:
        for name in definitions:
            delattr(owner, f"poise_{name}")
