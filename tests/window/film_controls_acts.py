"""The film of docs/controls.md: one drag on a naked rig, on Rigify with IK, and with FK. It runs inside Blender."""

from collections.abc import Generator
from typing import Any

from tests.window.control_acts import on_shape
from tests.window.drag_acts import SOON, head, key, left_behind, look_from, pose_mode
from tests.window.film_acts import Camera, shoot_drags

FROM = (1.35, 0.0, 0.55)
TAKES = {"naked": ("metarig", 0.0), "ik": ("rig", 0.0), "fk": ("rig", 1.0)}  # the armature, and its IK_FK
# a joint, and in how many frames it goes where from its start, in pixels of the window
WAYS = (("hand.L", ((8, 40, 60), (8, -30, 110), (8, 0, 30))), ("hips", ((8, 10, -28), (6, 0, -8))))
JOINTS = {"metarig": {"hand.L": "hand.L", "hips": "spine"}, "rig": {"hand.L": "DEF-hand.L", "hips": "DEF-spine"}}
FEET = {"metarig": ("foot.L", "foot.R"), "rig": ("DEF-foot.L", "DEF-foot.R")}
LIMBS = ("spine", "shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
SEEN = {  # what fills the view
    "metarig": ("spine.006", "hand.L", "hand.R", "foot.L", "foot.R"),
    "rig": ("DEF-spine.006", "DEF-hand.L", "DEF-hand.R", "DEF-foot.L", "DEF-foot.R"),
}


def film(hand: Any, every: str, file: str) -> Generator[float, None, dict[str, Any]]:
    """Pin the feet and drag, on each of the rigs; a picture of every so many frames."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = True  # else Blender asks, and takes the mouse
    seen: dict[str, Any] = {}
    for take, (name, fk) in TAKES.items():
        with bpy.context.temp_override(window=hand.window):
            bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
        yield SOON
        for other in [one for one in bpy.data.objects if one.type == "ARMATURE" and one.name != name]:
            bpy.data.objects.remove(other)
        rig = bpy.data.objects[name]
        rig.hide_set(False)
        for bone in rig.pose.bones:
            if "IK_FK" in bone:
                bone["IK_FK"] = fk
        rig.update_tag()
        add_sticks(rig)
        hidden = ("Face", "Tweak", "Fingers", "Root", "(IK)" if fk else "(FK)")
        for collection in rig.data.collections_all:
            collection.is_visible = collection.is_visible and not any(word in collection.name for word in hidden)
        space = hand.viewport.spaces.active
        space.show_gizmo_navigate = space.show_region_toolbar = space.show_region_hud = space.overlay.show_text = False
        space.overlay.show_cursor = False
        rig.show_in_front = True
        yield from pose_mode(hand, rig)
        yield from look_from(hand, FROM, True)
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            for part in SEEN[name]:
                rig.pose.bones[part].select = True
            bpy.ops.view3d.view_selected()
            bpy.ops.pose.select_all(action="DESELECT")
        yield 0.5  # the limbs are where their switches have them, and the view is drawn
        if every == "1":
            bpy.context.preferences.system.viewport_aa, space.overlay.show_floor = "8", True
        camera = Camera(hand, int(every), f"film_{take}")
        for foot, side in zip(FEET[name], "LR", strict=True):
            control = f"foot_{take}.{side}"
            camera.go(hand.pixel(head(foot)) if name == "metarig" else on_shape(hand, control))
            yield SOON
            yield from key(hand, "P")
        feet = FEET[name]
        seen[take] = {"toes": [head(foot) for foot in feet], "off": [], "toes off": [], "pins": len(rig.poise_pins)}
        ways = tuple((JOINTS[name][joint], legs) for joint, legs in WAYS)

        def starts(joint: str) -> tuple[int, int]:
            return on_shape(hand, "torso") if joint == "DEF-spine" else hand.pixel(head(joint))

        yield from shoot_drags(hand, camera, ways, feet, seen[take], starts)
        camera.end()
        seen[take] |= {"left": left_behind(), "IK_FK": sorted({b["IK_FK"] for b in rig.pose.bones if "IK_FK" in b})}
    return seen


def add_sticks(rig: Any) -> None:
    """Give the trunk and the limbs a mesh of boxes."""
    import bpy
    from mathutils import Vector

    verts: list[Any] = []
    faces: list[list[int]] = []
    groups: dict[str, range] = {}
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    for bone in rig.data.bones:
        name = bone.name.removeprefix("DEF-")
        if name.partition(".")[0] not in LIMBS or (rig.name == "rig") == (name == bone.name):
            continue
        first, half = len(verts), 0.09 if name in ("spine", "spine.001", "spine.002", "spine.003") else 0.035
        ends = (0.0, bone.length)
        verts += [bone.matrix_local @ Vector((x * half, y, z * half)) for y in ends for x, z in corners]
        sides = [(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4) for k in range(4)]
        faces += [[first + k for k in side] for side in ((3, 2, 1, 0), (4, 5, 6, 7), *sides)]
        groups[bone.name] = range(first, first + 8)
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(verts, [], faces)
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    for name, members in groups.items():
        body.vertex_groups.new(name=name).add(list(members), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    body.matrix_world, body.hide_select = rig.matrix_world, True
