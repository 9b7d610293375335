"""What Poise shows in Blender's window; panels draw settings and compute nothing."""

from . import pins

CLASSES = pins.CLASSES
