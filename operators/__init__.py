"""Poise's tools, one file each."""

from . import (
    bake,
    clear_pins,
    cycle_pin,
    drag,
    generate,
    goto_pin,
    hover,
    keys,
    mirror_pins,
    motion,
    path,
    pin,
    pin_space,
    pins,
    presets,
    retarget,
    solve,
    survey,
    unpin,
)

CLASSES = (
    *pin.CLASSES,
    *unpin.CLASSES,
    *clear_pins.CLASSES,
    *cycle_pin.CLASSES,
    *goto_pin.CLASSES,
    *mirror_pins.CLASSES,
    *pin_space.CLASSES,
    *presets.CLASSES,
    *solve.CLASSES,
    *bake.CLASSES,
    *drag.CLASSES,
    *hover.CLASSES,
    *survey.CLASSES,
    *motion.CLASSES,
    *keys.CLASSES,
    *retarget.CLASSES,
    *path.CLASSES,
    *generate.CLASSES,
)
DRAWINGS = (hover.show_pins, motion.show_strips, motion.show_timed_pins)
HANDLERS = (("depsgraph_update_post", pins.follow_names), ("depsgraph_update_post", survey.look_on_entry))
