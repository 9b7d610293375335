"""Clips on a generated rig as strips, and the pose of an animal on another one.

It runs inside Blender, which has no pytest.
"""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from chain_acts import open_panel

APPLY = "bpy.ops.poise.apply_pose(source='ARMATURE')"


def open_file(hand: Any, file: str) -> Generator[float, None, None]:
    """Open a file with scripts, of which Blender asks otherwise, and takes the mouse."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    with bpy.context.temp_override(window=hand.window):
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
    yield 1.0


def retarget_day(hand: Any, file: str, folder: str) -> Generator[float, None, dict[str, Any]]:
    """Leave the file browser of Batch Retarget, then add the motions of the folder to the NLA."""
    import bpy

    yield from open_file(hand, file)
    rig = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one.name != "metarig")
    for one in bpy.data.objects:
        if one.type == "ARMATURE":
            one.hide_set(one != rig)
    bpy.context.preferences.view.filebrowser_display_type = "SCREEN"
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="start")
    hand.rest()
    yield 0.5
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.retarget_files("INVOKE_DEFAULT")

    def browser() -> Any:
        return next((area for area in hand.window.screen.areas if area.type == "FILE_BROWSER"), None)

    yield from hand.until(lambda: browser() is not None)
    browser().spaces.active.params.directory = folder.encode()
    yield 1.0
    hand.screenshot("day_files_dialog")
    button = next(region for region in browser().regions if region.type == "EXECUTE")
    hand.move(button.x + 100, button.y + 10)
    hand.press("ESC")
    yield 1.0
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.retarget_files(directory=folder, strips=True, assets=True, jobs=2)
    said = [
        (track.name, [(strip.name, strip.frame_start, strip.frame_end) for strip in track.strips])
        for track in rig.animation_data.nla_tracks
    ]
    hand.window.workspace = bpy.data.workspaces["Animation"]  # it has a tall editor of keys
    yield 1.0
    area = next(area for area in hand.window.screen.areas if area.type == "DOPESHEET_EDITOR")
    area.ui_type = "NLA_EDITOR"
    yield 1.0
    last = said[0][1][-1][2]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, int(last)
    bpy.context.scene.frame_set(int(said[0][1][1][1] + 20))
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=hand.window, area=area, region=region):
        bpy.ops.nla.view_all()
    for one in hand.window.screen.areas:
        if one.type == "VIEW_3D":
            inside = next(region for region in one.regions if region.type == "WINDOW")
            with bpy.context.temp_override(window=hand.window, area=one, region=inside):
                bpy.ops.pose.select_all(action="SELECT")
                bpy.ops.view3d.view_axis(type="LEFT")
                bpy.ops.view3d.view_selected()
                bpy.ops.pose.select_all(action="DESELECT")
    yield 1.5
    hand.screenshot("day_strips")
    return {"strips": said}


def animal_pose(hand: Any, file: str, dog: str) -> Generator[float, None, dict[str, Any]]:
    """Apply the pose of a walking dog to Rigify's wolf with the button of the panel, and undo it."""
    import bpy
    from mathutils import Vector

    yield from open_file(hand, file)
    wolf = bpy.data.objects["rig"]
    for one in bpy.data.objects:
        if one.type == "ARMATURE":
            one.hide_set(one != wolf)
    view = {"window": hand.window, "area": hand.viewport, "region": hand.region()}
    with bpy.context.temp_override(**view):
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        before = set(bpy.data.objects)
        bpy.ops.import_scene.gltf(filepath=dog)
        new = [one for one in bpy.data.objects if one not in before]
        source = next(one for one in new if one.type == "ARMATURE")
        source.location.x = -0.9
        source.animation_data.action = bpy.data.actions["Walk"]
        source.animation_data.action_slot = source.animation_data.action.slots[0]
        bpy.context.scene.frame_set(8)
        bpy.ops.object.select_all(action="DESELECT")
        source.select_set(True)
        wolf.select_set(True)
        bpy.context.view_layer.objects.active = wolf
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
    space = hand.viewport.spaces.active
    space.overlay.show_floor = True
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = Vector((-0.4, -0.1, 0.4))
    space.region_3d.view_rotation = Vector((1.0, -0.55, 0.25)).to_track_quat("Z", "Y")
    space.region_3d.view_distance = 3.0
    bpy.ops.ed.undo_push(message="start")
    hand.rest()
    yield 0.5
    yield from hand.open_tab("Poise")
    yield from open_panel(hand, "POISE_PT_body")
    panel = yield from hand.read_panels(APPLY)
    name = "front_foot_ik.L"

    def paw() -> list[float]:
        return list(bpy.data.objects["rig"].pose.bones[name].matrix.translation)

    was = paw()
    yield from hand.click(*panel[APPLY][0])
    yield from hand.until(lambda: paw() != was, 20.0)
    yield from hand.look_at_rest("animal_pose")
    moved = paw() != was
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: paw() == was)
    return {"moved": moved, "undone": paw() == was}
