"""The tutorials of docs/tutorials, as a person follows them. They run inside Blender, which has no pytest.

The pictures of a tutorial are those that its act takes: `python -m nox -s film` puts them into docs/images/tutorials.
"""

import os
import sys
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.window import drag_acts as do
from tests.window.film_acts import EXAMPLES, Camera, set_stage

STRETCHED = "1.4"  # times as far, as the tutorial says
ASIDE = (1.35, 0.0, -0.75)  # the view from the front, aside and above
CORNER = 90  # pixels from the left and the bottom of the viewport, where nothing is under the mouse
ROW = 20  # pixels from a button to the one above it, in one block
HEADERS = (31, 57)  # pixels from the first button of Edit Motion up to its header, and to that of Timed Pins
FRONT = (1.4, 0.0, -0.45)
SIDES = ("Left", "Right")
MIXAMO = (
    {"LowerBack": "Spine", "Spine": "Spine1", "Spine1": "Spine2", "Neck1": "Neck"}
    | {f"{side[0]}Thumb": f"{side}HandThumb1" for side in SIDES}
    | {f"{side}FingerBase": f"{side}HandMiddle1" for side in SIDES}
)  # the demo's bones as Mixamo names them
RIGIFY = {"Hips": "spine", "LowerBack": "spine.001", "Spine": "spine.002", "Spine1": "spine.003", "Neck": "spine.004",
          "Neck1": "spine.005", "Head": "spine.006"} | {
    f"{side}{own}": f"{part}.{side[0]}" for side in SIDES for own, part in (
        ("Shoulder", "shoulder"), ("Arm", "upper_arm"), ("ForeArm", "forearm"), ("Hand", "hand"),
        ("FingerBase", "f_middle.01"), ("UpLeg", "thigh"), ("Leg", "shin"), ("Foot", "foot"), ("ToeBase", "toe"),
    )
} | {f"{side[0]}Thumb": f"thumb.01.{side[0]}" for side in SIDES}  # fmt: skip

Steps = Generator[float, None, None]
Seen = Generator[float, None, dict[str, Any]]


def open_alone(*names: str) -> None:
    """Close all panels of the tab but these, as somebody has them who closed them before; the tab is not yet open."""
    import bpy

    every = sys.modules[f"{do.EXTENSION}.panels"].CLASSES
    panels = [cls for cls in every if issubclass(cls, bpy.types.Panel) and getattr(cls, "bl_category", "") == "Poise"]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        cls.bl_options = set() if cls.__name__ in names else {"DEFAULT_CLOSED"}
        bpy.utils.register_class(cls)


def empty(hand: Any) -> Steps:
    """An empty scene."""
    import bpy

    sys.path.insert(0, str(EXAMPLES))
    with bpy.context.temp_override(window=hand.window):
        bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    yield do.SOON


def dress(rig: Any, names: dict[str, str], prefix: str) -> None:
    """Give an armature in T-pose the body of the demo; `names` are its names of the demo's bones, after a prefix."""
    import scene
    from mannequin import make_body, make_eyes
    from mathutils import Matrix
    from paint import INK

    place, bones = rig.matrix_world, rig.data.bones

    class Names(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return SimpleNamespace(head_local=place @ bones[prefix + names.get(name, name)].head_local)

    body = make_body("Body", SimpleNamespace(data=SimpleNamespace(bones=Names())))
    scene.link(body)
    scene.deform(body, rig)
    body.matrix_parent_inverse = place.inverted()
    for group in body.vertex_groups:
        group.name = prefix + names.get(group.name, group.name)
    eyes = scene.add("Eyes", make_eyes("Eyes", Names()), INK)
    head = bones[prefix + names.get("Head", "Head")]
    eyes.parent, eyes.parent_type, eyes.parent_bone = rig, "BONE", head.name
    tail = Matrix.Translation((0.0, head.length, 0.0))  # where a child of a bone starts from
    eyes.matrix_parent_inverse = (place @ head.matrix_local @ tail).inverted()


def settle(hand: Any, turn: tuple[float, float, float] = FRONT) -> Steps:
    """Look at the body with the sidebar beside it, anti-aliased, with nothing in the way."""
    import bpy

    space = hand.viewport.spaces.active
    bpy.context.preferences.system.viewport_aa = "OFF"  # but for pictures: software OpenGL takes its time
    space.shading.color_type = "VERTEX"
    for mesh in bpy.data.meshes:
        if not mesh.color_attributes:  # eyes
            colours = mesh.color_attributes.new("Colour", "FLOAT_COLOR", "POINT")
            colours.data.foreach_set("color", [0.0, 0.0, 0.0, 1.0] * len(colours.data))
    space.show_gizmo_navigate = space.show_region_toolbar = space.show_region_hud = False
    space.overlay.show_text = space.overlay.show_cursor = False
    yield from hand.open_tab("Poise")
    yield from do.look_from(hand, turn, True)
    space.overlay.show_floor = True
    yield 0.5


def press_button(hand: Any, name: str, below: float = 0.0) -> Steps:
    """Click a button of the panels, by what it does."""
    panel = yield from hand.read_panels(name, below)
    assert name in panel, sorted(panel)
    yield from hand.click(*panel[name][0])


def middle(points: list[tuple[int, int]]) -> int:
    """Return the height of the middle of a button, of the points that were on it."""
    return round(sum(y for _, y in points) / len(points))


def go_down_to(hand: Any, value: str) -> Steps:
    """Move the mouse down in a dialog to the next field that has this value."""
    import bpy

    seen: list[str] = []
    for _ in range(40):
        bpy.context.window_manager.clipboard = ""
        hand.press("C", ctrl=True)
        yield 0.1
        seen.append(bpy.context.window_manager.clipboard)
        if seen[-1] == value:
            return
        hand.move(hand.x, hand.y - 8)
        yield 0.05
    raise AssertionError(seen)


def open_menu(hand: Any, place: tuple[int, int]) -> Steps:
    """Click a button that opens a menu; the mouse has to come to it for Blender to see it there."""
    hand.move(place[0], place[1] - 4)
    yield 0.3
    yield from hand.click(*place)
    yield 0.5


def shoot(camera: Camera, hover: tuple[int, int] | None = None) -> Steps:
    """Take a picture of the window at rest, with the mouse aside or at a pixel."""
    region = camera.hand.region()
    camera.go(hover or (region.x + CORNER, region.y + CORNER))
    yield from smooth(camera)


def smooth(camera: Camera) -> Steps:
    """Take a picture of the window as it is, anti-aliased if it is for people: software OpenGL takes its time."""
    import bpy

    system = bpy.context.preferences.system
    if os.environ.get("POISE_FILM"):
        system.viewport_aa = "8"
        yield 1.0
    yield from camera.shoot()
    system.viewport_aa = "OFF"


def end(camera: Camera, timeline: bool = False) -> None:
    """Note which part of the window the pictures show: the viewport, and the timeline below it."""
    area = camera.hand.viewport
    lower = 0 if timeline else area.y
    camera.end([area.x, lower, area.width, area.y + area.height - lower])


def pin(hand: Any, name: str) -> Steps:
    """Press P over a bone until its position and rotation are pinned."""
    hand.move(*hand.pixel(do.head(name)))
    yield do.WAIT
    pins = do.armature().poise_pins
    for _ in range(3):
        found = pins.get(do.bone(name).name)
        if found is not None and found.use_position and found.use_rotation:
            break
        yield from do.key(hand, "P")
        yield do.WAIT


def pull(hand: Any, name: str, right: int, up: int, camera: Camera | None = None) -> Steps:
    """Drag a joint by so many pixels, with a picture before the button is released."""
    x, y = hand.pixel(do.head(name))
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + right, y + up), 24)
    yield 0.5
    if camera:
        yield from smooth(camera)
    yield from do.drop(hand)


def height(name: str) -> float:
    return do.head(name)[2]


def pose_mixamo(hand: Any, file: str) -> Seen:
    """Pin both feet, drag the hips down and a hand up, mirror the pose, put its feet on the ground."""
    yield from empty(hand)
    open_alone("POISE_PT_pins", "POISE_PT_body")
    yield from do.open_rig(hand, file)
    rig = do.armature()
    dress(rig, MIXAMO, "mixamorig:")
    yield from settle(hand)
    camera = Camera(hand, 1, "tutorial_mixamo")
    yield from shoot(camera, hand.pixel(do.head("LeftHand")))
    for side in SIDES:
        yield from pin(hand, f"{side}Foot")
    seen: dict[str, Any] = {"pins": sorted(pin.name for pin in rig.poise_pins)}
    feet = [do.head(f"{side}Foot") for side in SIDES]
    yield from shoot(camera)
    before = height("Hips"), height("LeftHand")
    yield from pull(hand, "Hips", 10, -65, camera)
    seen["hips"] = height("Hips") - before[0]
    yield from pull(hand, "LeftHand", -70, 190, camera)
    yield from pull(hand, "RightHand", 60, -130)
    seen["hand"] = height("LeftHand") - before[1]
    seen["feet"] = [do.head(f"{side}Foot") for side in SIDES], feet
    left = height("LeftHand") - height("RightHand")
    yield from press_button(hand, "bpy.ops.poise.mirror_pose(model='BOTH')", 0.4)
    yield from hand.until(lambda: height("RightHand") > height("LeftHand"))
    seen["mirrored"] = [left, height("RightHand") - height("LeftHand")]
    yield from shoot(camera)
    end(camera)
    return seen


def slides(rig: Any, pins: list[Any]) -> float:
    """Return how far points that touch the ground go over it at most, while they touch it."""
    import bpy
    from mathutils import Vector

    found = []
    for bone, point, first, last in pins:
        places = []
        for frame in range(first, last + 1):
            bpy.context.scene.frame_set(frame)
            places.append((rig.matrix_world @ rig.pose.bones[bone].matrix @ Vector(point))[:2])
        found.append(float(np.ptp(np.array(places), axis=0).max()))
    return max(found)


def fix_sliding_feet(hand: Any) -> Seen:
    """A walk whose path is made longer slides: find contacts, solve, compare."""
    import bpy

    open_alone("POISE_PT_motion", "POISE_PT_edit_motion")
    walker, _ = yield from set_stage(hand, 1)
    name = walker.name
    yield from do.pose_mode(hand, walker)
    yield from hand.open_tab("Poise")

    def rig() -> Any:
        return bpy.data.objects[name]

    source, edit = rig().animation_data.action.name, "bpy.ops.poise.edit_path()"
    panel = yield from hand.read_panels(edit)
    x, first = panel["bpy.ops.poise.smooth_motion()"][0]
    yield from hand.click(*panel[edit][0])
    yield 1.0
    yield from go_down_to(hand, "1.0")  # Scale
    yield from hand.click(hand.x, hand.y)
    yield from hand.type(STRETCHED)
    yield from go_down_to(hand, "500 ms")  # Ease
    yield from hand.click(hand.x, hand.y - ROW)  # Plant Feet
    hand.press("RET")
    yield from hand.until(lambda: rig().animation_data.action.name != source, 60.0)
    for up in HEADERS:
        yield from hand.click(x, first + up)
        yield 0.5
    bpy.context.scene.frame_set(45)
    yield from settle(hand, ASIDE)
    camera = Camera(hand, 1, "tutorial_feet")
    yield from shoot(camera)

    yield from press_button(hand, "bpy.ops.poise.find_contacts()")
    yield from hand.until(lambda: len(rig().poise_timed_pins) > 0)
    pins = [(pin.bone, tuple(pin.point), pin.start, pin.end) for pin in rig().poise_timed_pins]
    yield from shoot(camera)
    seen = {"pins": len(pins), "before": slides(rig(), pins)}
    bpy.context.scene.frame_set(45)
    source = rig().animation_data.action.name
    yield from press_button(hand, "bpy.ops.poise.solve_motion()", 0.3)
    yield from hand.until(lambda: rig().animation_data.action.name != source, 90.0)
    yield from shoot(camera)
    end(camera, timeline=True)
    return seen | {"after": slides(rig(), pins), "actions": sorted(action.name for action in bpy.data.actions)}


def generate_rigify() -> Any:
    """Return a generated Rigify human that has a body; its metarig is hidden. In a viewport."""
    import addon_utils
    import bpy

    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    meta = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    meta.hide_set(True)
    dress(rig, RIGIFY, "DEF-")
    return rig


def walk_onto_rigify(hand: Any, clip: str) -> Seen:
    """Generate a Rigify rig, import a walk, select the rig, and choose the walk in the menu Retarget Motion."""
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_motion")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        rig = generate_rigify()
        bpy.ops.import_anim.bvh(filepath=clip, global_scale=0.056, update_scene_fps=True, update_scene_duration=True)
        source = bpy.context.object
        source.location.x = -1.2
    name, other = rig.name, source.name
    yield from do.pose_mode(hand, rig)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.frame_set(30)
    yield from settle(hand)
    camera = Camera(hand, 1, "tutorial_rigify")
    yield from shoot(camera)
    bpy.ops.object.select_all(action="DESELECT")
    yield from hand.click(*hand.pixel(rig.matrix_world @ rig.pose.bones["torso"].head))
    yield from hand.until(lambda: rig.select_get())
    seen: dict[str, Any] = {"selected": [some.name for some in bpy.context.selected_objects]}
    hand.rest()
    hand.press("TAB", ctrl=True)
    yield from hand.until(lambda: bpy.context.mode == "POSE")
    many = "bpy.ops.poise.retarget_files()"
    panel = yield from hand.read_panels(many)
    yield from open_menu(hand, (panel[many][0][0], middle(panel[many]) + ROW))
    yield from smooth(camera)
    hand.press("C")  # the name of the armature

    def action() -> Any:
        data = bpy.data.objects[name].animation_data
        return data.action if data else None

    seen["done"] = yield from hand.until(lambda: action() is not None, 120.0)
    yield from hand.until(lambda: not len(hand.window.modal_operators), 60.0)
    bpy.context.scene.frame_set(60)
    yield from shoot(camera)
    end(camera, timeline=True)
    rig, source = bpy.data.objects[name], bpy.data.objects[other]
    seen["arms"] = [
        [list((some.matrix_world.to_3x3() @ some.pose.bones[bone].vector).normalized()) for bone in bones]
        for some, bones in ((rig, ("DEF-upper_arm.L", "DEF-upper_arm.R")), (source, ("LeftArm", "RightArm")))
    ]
    return seen
