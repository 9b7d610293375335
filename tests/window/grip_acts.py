"""A pole in the hand of a character with a skin is gripped, and a prop held by both hands. Blender has no pytest."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from acts import only_rig
from body_acts import find

PLACE = (0.8565, 0.0738, 1.3821)  # in the flat left hand
RADIUS, DEPTH = 0.03, 0.32  # metres
CUP = 0.036  # metres
SPAN = (10, 14)  # frames in which the prop moves
STEP = (0.02, -0.06, -0.12)  # metres


def make_pole() -> None:
    """A pole along the knuckles of the T-pose."""
    import bpy
    import numpy as np

    bpy.ops.mesh.primitive_cylinder_add(
        radius=RADIUS, depth=DEPTH, vertices=64, location=PLACE, rotation=(np.pi / 2.0, 0.0, 0.0)
    )
    bpy.context.object.name = "Pole"
    bpy.context.object.color = (0.75, 0.2, 0.1, 1.0)


def make_cup() -> None:
    """A cup with a handle in place of the pole, open towards the front."""
    import bpy
    from mathutils import Matrix, Vector

    bpy.data.objects["Pole"].hide_viewport = True
    middle = Vector(PLACE) - Vector((0.0, 0.0, CUP - RADIUS))
    front = Matrix.Rotation(1.5708, 4, "X")
    bpy.ops.mesh.primitive_cylinder_add(radius=CUP, depth=2.4 * CUP, vertices=64, location=middle)
    cup = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    max(cup.data.polygons, key=lambda face: face.center.z).select = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="FACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    walls = cup.modifiers.new("Walls", "SOLIDIFY")
    walls.thickness = 0.004
    cup.matrix_world = Matrix.Translation(middle) @ front
    bpy.ops.mesh.primitive_torus_add(
        location=middle - Vector((0.0, 0.0, CUP)), rotation=(0.0, 1.5708, 0.0), major_radius=0.022, minor_radius=0.004
    )
    handle = bpy.context.object
    for name, owner in (("Cup", cup), ("Handle", handle)):
        owner.name, owner.color = name, (0.9, 0.85, 0.7, 1.0)


def grip_pole(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Grip the pole by the button of the panel, and undo it."""
    import bpy
    from mathutils import Vector

    yield from only_rig(hand)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        make_pole()
    rig = yield from only_rig(hand)
    rig.animation_data_clear()
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.pose.transforms_clear()
        bpy.ops.pose.select_all(action="DESELECT")
    space = hand.viewport.spaces.active
    space.shading.color_type, space.overlay.show_bones, space.overlay.show_floor = "OBJECT", False, False
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = Vector(PLACE) + Vector((0.0, 0.0, 0.04))
    space.region_3d.view_rotation = Vector((-0.75, 1.0, -0.1)).to_track_quat("-Z", "Y")
    space.region_3d.view_distance = 0.45
    bpy.ops.ed.undo_push(message="start")
    yield 0.5
    yield from hand.open_tab("Poise")
    hand.rest()
    yield 0.5
    name = rig.name

    def turned() -> dict[str, float]:
        bones = bpy.data.objects[name].pose.bones
        found = {bone.name: bone.matrix_basis.to_quaternion().angle for bone in bones}
        return {bone: angle for bone, angle in found.items() if angle > 1e-4}

    seen: dict[str, Any] = {"before": turned()}
    panel = yield from hand.read_panels("bpy.ops.poise.grip()", below=0.25)
    yield from hand.click(*find(panel, "grip", "")[0])
    yield from hand.until(lambda: bool(turned()), 10.0)
    hand.rest()
    yield 0.5
    seen["gripped"] = turned()
    yield from hand.look_at_rest("grip_pole")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: not turned(), 4.0)
    seen["undone"] = turned()
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.object.mode_set(mode="OBJECT")
        make_cup()
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        bpy.data.objects[name].select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.ed.undo_push(message="cup")
    panel = yield from hand.read_panels("bpy.ops.poise.grip()", below=0.25)
    yield from hand.click(*find(panel, "grip", "")[0])
    yield from hand.until(lambda: bool(turned()), 10.0)
    hand.rest()
    yield 0.5
    seen["cup"] = turned()
    yield from hand.look_at_rest("grip_cup")
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: not turned(), 4.0)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        for part in ("Cup", "Handle"):
            bpy.data.objects.remove(bpy.data.objects[part])
        bpy.data.objects["Pole"].hide_viewport = False
    seen["held"] = yield from hold_in_both(hand, name)
    return seen


def hold_in_both(hand: Any, name: str) -> Generator[float, None, dict[str, Any]]:
    """Hold a prop with a pole in each hand while it moves, by the dialog of Hold Object."""
    import bpy
    from mathutils import Vector

    def at_work() -> bool:
        running = bpy.context.window_manager.windows[0].modal_operators
        return any(operator.bl_idname == "POISE_OT_hold_object" for operator in running)

    rig = bpy.data.objects[name]
    view = {"window": hand.window, "area": hand.viewport, "region": hand.region()}
    with bpy.context.temp_override(**view):
        bpy.ops.object.mode_set(mode="OBJECT")
        pole = bpy.data.objects["Pole"]
        twin = pole.copy()
        twin.location.x = -PLACE[0]
        bpy.context.scene.collection.objects.link(twin)
        middle = 0.0, PLACE[1] - 0.155, PLACE[2]
        bpy.ops.mesh.primitive_cylinder_add(radius=0.01, depth=2.0 * PLACE[0], location=middle, rotation=(0, 1.5708, 0))
        between = bpy.context.object
        for part in (twin, between):
            part.parent = pole
            part.matrix_parent_inverse = pole.matrix_world.inverted()
        for frame, step in ((SPAN[0], (0.0, 0.0, 0.0)), (SPAN[1], STEP)):
            pole.location = Vector(PLACE) + Vector(step)
            pole.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_end = SPAN[1]
        bpy.context.scene.frame_set(SPAN[0])
        bpy.ops.object.select_all(action="DESELECT")
        bpy.context.view_layer.objects.active = rig
        rig.select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.ed.undo_push(message="hold")
        space = hand.viewport.spaces.active
        space.region_3d.view_location = Vector((0.0, 0.0, 1.0))
        space.region_3d.view_rotation = Vector((-0.3, -1.0, 0.25)).to_track_quat("Z", "Y")
        space.region_3d.view_distance = 2.6
        bpy.ops.poise.hold_object("INVOKE_DEFAULT", ease=1)
    hand.rest()
    yield 0.5
    hand.press("RET")
    yield from hand.until(lambda: bpy.data.objects[name].poise_result is not None, 40.0)
    yield from hand.until(lambda: not at_work())
    rig, pole = bpy.data.objects[name], bpy.data.objects["Pole"]
    seen: dict[str, Any] = {
        "pins": [[pin.bone, pin.target and pin.target.name, pin.start, pin.end] for pin in rig.poise_timed_pins]
    }
    beside = []
    for frame in range(SPAN[0], SPAN[1] + 1):
        bpy.context.scene.frame_set(frame)
        hands = [rig.matrix_world @ rig.pose.bones[f"DEF-hand.{side}"].head for side in "LR"]
        beside.append([list(place - pole.matrix_world.translation) for place in hands])
    seen["beside"] = beside
    yield from hand.look_at_rest("hold_prop")
    return seen
