"""Poise's tools, one file each."""

from . import (
    bake,
    bake_chain,
    body_tools,
    breakdown,
    chains,
    drag,
    drag_frame,
    drawings,
    fix_ground,
    generate,
    ghosts,
    hover,
    in_between,
    keypoints,
    keys,
    learn_limits,
    learn_list,
    learn_stiffness,
    list_files,
    listen,
    loop,
    make_rest,
    motion,
    other_frames,
    path,
    pins,
    presets,
    ranges,
    recipe_files,
    retarget,
    retarget_files,
    roles,
    root_motion,
    smoothing,
    solve,
    survey,
    trails,
)

_MODULES = (
    pins, presets, roles, solve, bake, drag, drag_frame, hover, chains, bake_chain, list_files, learn_list, survey,
    body_tools, make_rest, learn_limits, learn_stiffness, keypoints, listen, motion, keys, retarget, path, generate,
    retarget_files, recipe_files, ranges, other_frames, root_motion, loop, smoothing, fix_ground, in_between, breakdown,
)  # fmt: skip
CLASSES = tuple(found for module in _MODULES for name, found in vars(module).items() if name.startswith("POISE_"))
DRAWINGS = (*drawings.DRAWINGS, ghosts.show_ghosts, trails.show_trails)
