"""What Poise shows in Blender's window; panels draw settings and compute nothing."""

from . import generate, motion, pins, rig, toolbar

CLASSES = (*rig.CLASSES, *pins.CLASSES, *motion.CLASSES, *generate.CLASSES)
MENUS = (("VIEW3D_MT_pose", pins.draw_in_pose_menu),)
TOOLS = toolbar.TOOLS
