"""Poise's tools, one file each."""

from . import (
    bake,
    chains,
    clear_pins,
    cycle_pin,
    drag,
    goto_pin,
    hover,
    learn_list,
    list_files,
    mirror_pins,
    pin,
    pin_space,
    pins,
    presets,
    solve,
    survey,
    tune_chain,
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
    *chains.CLASSES,
    *tune_chain.CLASSES,
    *list_files.CLASSES,
    *learn_list.CLASSES,
    *survey.CLASSES,
)
DRAWINGS = (hover.show_pins,)
HANDLERS = (("depsgraph_update_post", pins.follow_names), ("depsgraph_update_post", survey.look_on_entry))
