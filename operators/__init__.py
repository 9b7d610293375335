"""Poise's tools, one file each."""

from . import bake, clear_pins, cycle_pin, drag, hover, pin, solve, unpin

CLASSES = (
    *pin.CLASSES,
    *unpin.CLASSES,
    *clear_pins.CLASSES,
    *cycle_pin.CLASSES,
    *solve.CLASSES,
    *bake.CLASSES,
    *drag.CLASSES,
    *hover.CLASSES,
)
DRAWINGS = (hover.show_pins,)
