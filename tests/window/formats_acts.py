"""Motions of all kinds of files, chosen in the menu Retarget Motion, and an upper body over a walk on Rigify.

It runs inside Blender, which has no pytest.
"""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from acts import only_rig
from chain_acts import open_panel
from retarget_acts import BUTTON, MANY

from tests.window import drag_acts as do
from tests.window.film_acts import Camera
from tests.window.tutorial_acts import ROW, empty, end, generate_rigify, middle, open_alone, open_menu, settle, shoot

LATE = 0.6  # of the motion: what pictures show


def import_by_menu(hand: Any, walk: str, folder: str) -> Generator[float, None, dict[str, Any]]:
    """Write a walk as VRM Animation, glTF and USD, and retarget these and a file of SMPL by the mouse."""
    import bpy
    from mathutils import Vector

    rig = yield from only_rig(hand)
    name = rig.name
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.context.scene.render.fps = 30
        bpy.ops.poise.retarget(filepath=walk)
        bpy.ops.poise.export_vrma(filepath=f"{folder}/walk.vrma")
        bpy.ops.export_scene.gltf(
            filepath=f"{folder}/walk.glb", use_selection=True, export_animation_mode="ACTIVE_ACTIONS"
        )
        kinds = ["npz", "vrma", "glb"]
        if "usd_export" in dir(bpy.ops.wm):  # some packages of Blender are built without
            bpy.ops.wm.usd_export(filepath=f"{folder}/walk.usdc", export_animation=True)
            kinds.append("usdc")
        bpy.ops.object.mode_set(mode="POSE")
    space = hand.viewport.spaces.active
    space.overlay.show_bones = False
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = Vector((0.4, -1.0, 0.8))
    space.region_3d.view_rotation = Vector((1.0, -0.4, 0.2)).to_track_quat("Z", "Y")
    space.region_3d.view_distance = 4.0
    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_motion")

    def action() -> Any:
        return bpy.data.objects[name].animation_data.action

    seen: dict[str, Any] = {"before": len(bpy.data.objects), "frames": {"bvh": list(action().frame_range)}}
    for kind in kinds:
        was = action()
        yield from from_file(hand, folder, f"walk.{kind}")
        yield from hand.until(lambda was=was: action() != was, 60.0)
        yield from hand.until(lambda: not len(hand.window.modal_operators), 60.0)
        seen["frames"][kind] = first, last = list(action().frame_range)
        bpy.context.scene.frame_set(round(first + LATE * (last - first)))
        yield from hand.look_at_rest(f"from_{kind}")
    return seen | {"after": len(bpy.data.objects)}


def from_file(hand: Any, folder: str, file: str, parts: set[str] | None = None) -> Generator[float, None, None]:
    """Choose a file by Retarget Motion > From File, and parts beside it."""
    import bpy

    def browser() -> Any:
        return next((area for area in hand.window.screen.areas if area.type == "FILE_BROWSER"), None)

    panel = yield from hand.read_panels(MANY)
    yield from open_menu(hand, (panel[MANY][0][0], middle(panel[MANY]) + ROW))
    hand.screenshot("retarget_menu")
    hand.press("F")
    yield from hand.until(lambda: browser() is not None)
    params = browser().spaces.active.params
    params.directory, params.filename = folder.encode(), file
    if parts:
        browser().spaces.active.active_operator.parts = parts
    yield 1.0
    hand.screenshot(f"choose_{file.partition('.')[2]}")
    button = next(region for region in browser().regions if region.type == "EXECUTE")
    yield from hand.click(button.x + button.width - BUTTON, button.y + button.height // 2)
    yield from hand.until(lambda: browser() is None)
    bpy.context.view_layer.update()


def direct_traffic(hand: Any, walk: str, traffic: str) -> Generator[float, None, dict[str, Any]]:
    """Give a generated Rigify body a walk, and put the upper body of another motion over it."""
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_motion")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        rig = generate_rigify()
        bpy.context.scene.render.fps = 30
    name = rig.name
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    yield from do.pose_mode(hand, rig)
    yield from settle(hand)
    camera = Camera(hand, 1, "retarget_upper")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.retarget(filepath=walk)

    def shown() -> dict[str, list[float]]:
        found = {}
        for frame in (20, 40):
            bpy.context.scene.frame_set(frame)
            for bone in ("DEF-foot.L", "DEF-foot.R", "DEF-hand.L", "DEF-hand.R"):
                found[f"{bone} {frame}"] = list(bpy.data.objects[name].pose.bones[bone].head)
        return found

    seen: dict[str, Any] = {"walk": shown()}
    yield from shoot(camera)
    was = bpy.data.objects[name].animation_data.action.name
    hand.rest()
    yield 0.3
    folder, _, file = traffic.rpartition("/")
    yield from from_file(hand, folder, file, {"upper", "head"})
    yield from hand.until(lambda: bpy.data.objects[name].animation_data.action.name != was, 120.0)
    yield from hand.until(lambda: not len(hand.window.modal_operators), 60.0)
    seen["both"] = shown()
    yield from shoot(camera)
    end(camera)
    return seen
