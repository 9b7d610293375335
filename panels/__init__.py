"""Panels, menus and the tool of Poise. Panels draw settings and compute nothing."""

from pathlib import Path
from typing import Final

from . import body, bone, chains, generate, ghosts, humanoid, keypoints, motion, pins, rig, solver, toolbar, trails

_SHOWN = (rig, pins, body, solver, humanoid, bone, motion, trails, ghosts, generate, chains, keypoints)  # in this order
CLASSES = tuple(one for module in _SHOWN for one in module.CLASSES)
MENUS = (("VIEW3D_MT_pose", pins.draw_in_pose_menu), ("ASSETBROWSER_MT_context_menu", body.draw_in_asset_menu))
TOOLS = toolbar.TOOLS
FOLDER: Final = str(Path(__file__).parent)  # where Blender finds the presets that ship
