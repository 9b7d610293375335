"""Clips of all kinds written and retargeted with a window open. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from typing import Any


def retarget_clips(hand: Any, walk: str, folder: str) -> Generator[float, None, dict[str, Any]]:
    """Give the armature a walk, export it, and retarget each clip to it; returns the range of each action."""
    import bpy

    rig: Any = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    seen: dict[str, Any] = {"range": {}}

    def retarget(name: str) -> None:
        bpy.ops.poise.retarget(filepath=name, plant=False)
        seen["range"][name.rpartition(".")[2]] = [*rig.animation_data.action.frame_range]

    retarget(walk)
    bpy.ops.poise.export_vrma(filepath=f"{folder}/walk.vrma")
    kinds = ["vrma", "fbx", "npz"]
    if "usd_export" in dir(bpy.ops.wm):  # some packages of Blender are built without
        bpy.ops.wm.usd_export(filepath=f"{folder}/walk.usdc", export_animation=True)
        kinds.insert(0, "usdc")
    bpy.ops.export_scene.fbx(
        filepath=f"{folder}/walk.fbx", add_leaf_bones=False, bake_anim_use_nla_strips=False, use_selection=True
    )
    scene = bpy.context.scene
    before = len(bpy.data.objects), scene.render.fps, scene.world
    for kind in kinds:
        retarget(f"{folder}/walk.{kind}")
        yield 0.3
    seen["kept"] = (len(bpy.data.objects), scene.render.fps, scene.world) == before
    scene.frame_set(round(seen["range"]["npz"][1]))
    yield 0.3
    seen["picture"] = hand.screenshot("retargeted_smpl")
    return seen
