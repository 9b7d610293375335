"""Poise's tools, one file each."""

from . import bake, clear_pins, pin, solve, unpin

CLASSES = (*pin.CLASSES, *unpin.CLASSES, *clear_pins.CLASSES, *solve.CLASSES, *bake.CLASSES)
