"""Settings that Poise saves with the file, one module per topic.

Settings are properties of Blender's own types, such as `poise_pins` and `poise_root`, and not members of one group,
because Blender 5.2 loses overridden members of a group that is empty in the library's file.
"""

from typing import Any, Final

import bpy

from . import ccd, generate, ghosts, humanoid, keypoints, marks, motion, pick, pins, roles, survey, trails

CLASSES: Final = (*pins.CLASSES, *ccd.CLASSES, *motion.CLASSES, *generate.CLASSES, *survey.CLASSES, *keypoints.CLASSES)
OWNERS: Final[tuple[tuple[Any, dict[str, Any]], ...]] = (
    (bpy.types.Object, pins.SETTINGS),
    (bpy.types.Object, humanoid.SETTINGS),
    (bpy.types.Object, ccd.SETTINGS),
    (bpy.types.Object, motion.TIMED),
    (bpy.types.Object, generate.GENERATED),
    (bpy.types.Object, ghosts.SETTINGS),
    (bpy.types.Object, trails.SETTINGS),
    (bpy.types.Object, keypoints.SETTINGS),
    (bpy.types.Object, roles.BODY),
    (bpy.types.Action, motion.MADE),
    (bpy.types.PoseBone, marks.MARKS),
    (bpy.types.PoseBone, roles.SETTINGS),
    (bpy.types.WindowManager, survey.SHOWN),
    (bpy.types.WindowManager, pick.SHOWN),
    (bpy.types.WindowManager, keypoints.SHOWN),
    (bpy.types.WindowManager, motion.SHOWN),
)


def attach() -> None:
    """Add the properties to Blender's types."""
    for owner, definitions in OWNERS:
        for name, definition in definitions.items():
            setattr(owner, f"poise_{name}", definition)


def detach() -> None:
    """Remove the properties from Blender's types; values saved in files are kept, the state of the window is not."""
    for manager in bpy.data.window_managers:
        for owner, definitions in OWNERS:
            for name in definitions if owner is bpy.types.WindowManager else ():
                manager.property_unset(f"poise_{name}")
    for owner, definitions in OWNERS:
        for name in definitions:
            delattr(owner, f"poise_{name}")
