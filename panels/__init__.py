"""Panels, menus and the tool of Poise. Panels draw settings and compute nothing."""

from pathlib import Path
from typing import Final

import bpy

from . import (
    body,
    bone,
    chains,
    generate,
    ghosts,
    humanoid,
    keypoints,
    motion,
    part_icons,
    pins,
    rig,
    solver,
    toolbar,
    trails,
)

_SHOWN = (rig, pins, body, solver, humanoid, bone, motion, trails, ghosts, generate, chains, keypoints)  # in this order
CLASSES = tuple(one for module in _SHOWN for one in module.CLASSES)


def rename_tab(name: str) -> None:
    """Show the panels of the sidebar in a tab of this name."""
    shown = [cls for cls in CLASSES if getattr(cls, "bl_category", name) != name]
    for cls in reversed(shown):
        bpy.utils.unregister_class(cls)
    for cls in shown:
        cls.bl_category = name
        bpy.utils.register_class(cls)


MENUS = (("VIEW3D_MT_pose", pins.draw_in_pose_menu), ("ASSETBROWSER_MT_context_menu", body.draw_in_asset_menu))
add_icons, remove_icons = part_icons.add_icons, part_icons.remove_icons
TOOLS = toolbar.TOOLS
FOLDER: Final = str(Path(__file__).parent)  # where Blender finds the presets that ship
