"""Drags that end as nobody planned, other uses of the mouse, and other views. It runs inside Blender."""

import sys
from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

HAND, FEET = "hand.L", ("foot.L", "foot.R")
ASIDE = (1.15, 0.0, 0.45)
FRONT = (1.5707963, 0.0, 0.0)
WAY = (-40, 30)  # pixels, of a drag within reach
RESTS = 0.5  # seconds in which a body comes to rest under a still mouse, on a machine with much else to do

Seen = dict[str, Any]
Act = Generator[float, None, Seen]


def drags(hand: Any, file: str) -> Generator[float, None, Seen]:
    """One act after the other; what was seen, by the name of the act."""
    seen: Seen = {}
    yield from do.open_rig(hand, file)
    for act in (
        tools_change,
        focus_is_lost,
        mouse_leaves,
        undo_comes,
        keys_of_undo,
        left_for_object_mode,
        deleted,
        loaded,
    ):
        yield from do.look_from(hand, ASIDE, act is not mouse_leaves)
        seen[act.__name__] = yield from act(hand, file)
        seen[act.__name__] |= {"left": do.left_behind(), "timers": (yield from do.timers(hand))}
        if act is deleted:
            yield from do.open_rig(hand, file)
    yield from do.pose_mode(hand, do.armature())
    return seen | (yield from ways(hand))


def begin(hand: Any, **modifiers: bool) -> Generator[float, None, do.Pixel]:
    """Grab the hand and lead it some way; where the mouse is."""
    start = hand.pixel(do.head(HAND))
    yield from do.grab(hand, start, **modifiers)
    yield from do.lead(hand, (start[0] + WAY[0], start[1] + WAY[1]))
    return hand.x, hand.y


def redo_settings(hand: Any) -> None:
    """As the panel Adjust Last Operation does it."""
    import bpy

    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.ed.undo_redo()


def under_mouse(hand: Any, name: str = HAND) -> list[int]:
    """How many pixels a joint is off the mouse."""
    x, y = hand.pixel(do.head(name))
    return [x - hand.x, y - hand.y]


def tools_change(hand: Any, file: str) -> Act:
    """Another tool is chosen in mid-drag, e.g. by a script; the drag goes on, and is dropped."""
    import bpy

    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")
    yield from do.lead(hand, (x - 20, y + 10))
    yield RESTS
    seen["off"] = under_mouse(hand)
    yield from do.drop(hand)
    seen["dropped"] = do.channels()
    seen["tool"] = bpy.context.workspace.tools.from_space_view3d_mode("POSE", create=False).idname
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = do.channels()
    yield from do.pose_mode(hand, do.armature())
    return seen


def focus_is_lost(hand: Any, file: str) -> Act:
    """Another program comes to front: nobody will tell of the button's release."""
    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    seen["off"] = under_mouse(hand)
    hand.window.event_simulate(type="WINDOW_DEACTIVATE", value="NOTHING", x=x, y=y)
    yield do.SOON
    yield do.SOON
    seen["dragging"], seen["dropped"] = do.dragging(), do.channels()
    yield from do.lead(hand, (x + 60, y - 60))
    seen["afterwards"] = do.channels()
    yield from do.drop(hand)
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = do.channels()
    return seen


def mouse_leaves(hand: Any, file: str) -> Act:
    """Out over the other editors, where the hand cannot go, back again, and out to drop it there."""
    import bpy

    seen: Seen = {"start": do.channels(), "shoulder": do.head("upper_arm.L"), "hand": do.head(HAND)}
    x, y = yield from begin(hand)
    other = next(area for area in hand.window.screen.areas if area.type == "PROPERTIES")
    outside = (other.x + other.width // 2, other.y + other.height // 2)
    yield from do.lead(hand, outside)
    hand.screenshot("ends_mouse_outside")
    yield from do.lead(hand, (x, y))
    yield RESTS
    seen["off"] = under_mouse(hand)
    yield from do.lead(hand, outside)
    yield from hand.until(lambda: max(map(abs, under_mouse(hand))) <= 1)
    seen["reached"], seen["aim"] = list(hand.pixel(do.head(HAND))), list(outside)
    yield from do.drop(hand)
    seen["dropped"], seen["context"] = do.channels(), other.spaces.active.context
    seen["operator"] = bpy.context.window_manager.operators[-1].bl_idname
    hand.rest()
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = do.channels()
    return seen


def undo_comes(hand: Any, file: str) -> Act:
    """A script undoes in mid-drag: every object of Blender's is another one. The drag goes on, and is cancelled."""
    import bpy

    hand.move(*hand.pixel(do.head(FEET[0])))
    yield from do.key(hand, "P")
    seen: Seen = {"pins": len(do.armature().poise_pins), "start": do.channels()}
    x, y = yield from begin(hand)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.ed.undo()
    seen["pins undone"] = len(do.armature().poise_pins)
    yield from do.lead(hand, (x - 20, y + 10))
    yield RESTS
    seen["dragging"], seen["off"] = do.dragging(), under_mouse(hand)
    yield from do.cancel(hand, "ESC")
    seen["end"] = do.channels()
    return seen


def keys_of_undo(hand: Any, file: str) -> Act:
    """Ctrl Z in mid-drag undoes nothing: it means Z, with Ctrl held."""
    hand.move(*hand.pixel(do.head(FEET[0])))
    yield from do.key(hand, "P")
    seen: Seen = {"start": do.channels()}
    yield from begin(hand)
    yield from do.key(hand, "Z", ctrl=True)
    seen["dragging"], seen["pins"] = do.dragging(), len(do.armature().poise_pins)
    yield from do.cancel(hand, "RIGHTMOUSE")
    seen["end"] = do.channels()
    yield from do.key(hand, "Z", ctrl=True)
    seen["pins undone"] = len(do.armature().poise_pins)
    return seen


def marks_in(hand: Any, name: str) -> int:
    """How many white pixels a picture has where the text of a drag is written."""
    region = hand.region()
    middle = region.x + region.width // 2
    part = hand.look(name)[region.y + 10 : region.y + 40, middle - 60 : middle + 60]
    return int((part > 200).all(axis=-1).sum())


def left_for_object_mode(hand: Any, file: str) -> Act:
    """A script leaves Pose Mode in mid-drag."""
    import bpy

    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    seen["under way"] = do.channels()
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from do.lead(hand, (x - 20, y + 10))
    yield from do.drop(hand)
    seen |= {"dragging": do.dragging(), "end": do.channels()}
    yield from do.pose_mode(hand, do.armature())
    return seen


def deleted(hand: Any, file: str) -> Act:
    """A script deletes the armature in mid-drag."""
    import bpy

    x, y = yield from begin(hand)
    before = marks_in(hand, "ends_before_it_is_deleted")
    bpy.data.objects.remove(do.armature())
    yield from do.lead(hand, (x - 20, y + 10))
    seen: Seen = {"dragging": do.dragging(), "objects": len(bpy.data.objects), "pixels before": before}
    seen["pixels"] = marks_in(hand, "ends_deleted")
    yield from do.drop(hand)
    return seen


def loaded(hand: Any, file: str) -> Act:
    """The same file is opened again in mid-drag: an armature of the same name, and none of the drag's business."""
    import bpy

    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    seen["under way"] = do.channels()
    with bpy.context.temp_override(window=hand.window):
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False)
    yield do.SOON
    seen["dragging"] = do.dragging()
    yield from do.lead(hand, (x - 20, y + 10))
    yield from do.drop(hand)
    seen["end"] = do.channels()
    return seen


# -- the mouse, the keys, the views -----------------------------------------------------------------------------------


def ways(hand: Any) -> Generator[float, None, Seen]:
    """Select, box, wheel, small and whole steps, pins in mid-drag; views; overlays; two armatures; a fault."""
    seen: Seen = {}
    for act, turn, perspective in (
        (clicks, FRONT, False),
        (box, FRONT, False),
        (wheel, ASIDE, True),
        (steps, FRONT, False),
        (pixels_afterwards, ASIDE, True),
        (pin_on_the_way, ASIDE, True),
        (overlays_off, ASIDE, True),
        (hover, ASIDE, True),
        (large, ASIDE, True),
        (playing, ASIDE, True),
        (shapes, ASIDE, True),
        (stuck, FRONT, False),
        (camera, ASIDE, True),
        (quad, ASIDE, False),
        (two, FRONT, False),
        (fault, FRONT, False),  # the last: Blender shows it large
    ):
        yield from do.look_from(hand, turn, perspective)
        seen[act.__name__] = yield from act(hand)
        seen[act.__name__] |= {"left": do.left_behind(), "timers": (yield from do.timers(hand))}
    return seen


def selected() -> list[str]:
    import bpy

    return sorted(bone.name for bone in bpy.context.selected_pose_bones)


def clicks(hand: Any) -> Act:
    """A click selects what is lit, Shift adds and removes, J goes to the next, a click beside selects nothing."""
    import bpy

    seen: Seen = {"start": do.channels()}
    for name, modifiers in (("forearm.L", {}), ("shin.R", {"shift": True}), ("thigh.L", {})):
        middle = do.armature().matrix_world @ do.armature().pose.bones[name].center
        yield from hand.click(*hand.pixel(middle), **modifiers)
        seen[f"{'Shift ' if modifiers else ''}{name}"] = selected()
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = selected()
    seen["joints"] = {}
    for name in (HAND, "head", "shin.R"):
        hand.move(*hand.pixel(do.head(name)))
        yield RESTS
        yield from do.key(hand, "J")
        lit = lit_bone(hand)
        yield from hand.click(hand.x, hand.y)
        seen["joints"][name] = [lit, *selected()]
    for name in (HAND, "shin.R"):
        x, y = hand.pixel(do.head(name))
        hand.move(x + 60, y)
        yield RESTS
        hand.move(x, y)
        yield RESTS
        yield from do.key(hand, "J")
        lit = lit_bone(hand)
        yield from do.grab(hand, (x, y))
        yield from do.lead(hand, (x + 30, y), steps=10)
        seen.setdefault("dragged", {})[name] = [lit, do.shown().text]
        yield from do.cancel(hand, "ESC")
        hand.move(x, y)
        yield RESTS
        seen.setdefault("back", {})[name] = lit_bone(hand)
        yield from do.key(hand, "J")
    yield from hand.click(hand.x, hand.y)
    seen["Shift"] = []
    for _ in range(2):
        yield from hand.click(hand.x, hand.y, shift=True)
        seen["Shift"].append([*selected(), bpy.context.active_pose_bone.name])
    x, y = hand.pixel(do.head("head"))
    yield from hand.click(x + 150, y)
    seen["beside"], seen["end"] = selected(), do.channels()
    return seen


def lit_bone(hand: Any) -> str:
    """The bone that is highlighted under the mouse."""
    import bpy

    bridge, region = sys.modules[f"{do.EXTENSION}.bridge"], hand.region()
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=region):
        view = bridge.read_view(region, hand.viewport.spaces.active.region_3d)
        return bridge.pick(bpy.context, view, (hand.x - region.x, hand.y - region.y)).bone


def box(hand: Any) -> Act:
    """Drag from beside the body round a hand."""
    seen: Seen = {"start": do.channels()}
    x, y = hand.pixel(do.head(HAND))
    yield from do.grab(hand, (x + 60, y + 50))
    yield from do.lead(hand, (x - 30, y - 60))
    hand.screenshot("ways_box")
    yield from do.drop(hand)
    seen |= {"selected": selected(), "end": do.channels()}
    yield from hand.click(x + 100, y)
    return seen


def wheel(hand: Any) -> Act:
    """Three notches in mid-drag: away from the viewer, and still under the mouse."""
    seen: Seen = {"start": do.channels()}
    yield from begin(hand)
    sight = hand.viewport.spaces.active.region_3d.view_matrix.copy()
    before = (sight @ do.armature().pose.bones[HAND].head).z
    for _ in range(3):
        yield from do.key(hand, "WHEELUPMOUSE")
    yield RESTS
    seen["deeper"], seen["off"] = before - (sight @ do.armature().pose.bones[HAND].head).z, under_mouse(hand)
    yield from do.cancel(hand, "ESC")
    return seen | {"end": do.channels()}


def steps(hand: Any) -> Act:
    """Shift in mid-drag makes a tenth of the way, Ctrl, before the press or after it, whole steps of the grid."""
    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    yield RESTS
    at = do.head(HAND)
    hand.hold("LEFT_SHIFT", shift=True)
    yield do.SOON
    yield from do.lead(hand, (x - 60, y))
    yield RESTS
    seen["precise"], seen["pixels"] = hand.pixel(do.head(HAND))[0] - hand.pixel(at)[0], -60
    hand.let_go("LEFT_SHIFT")
    hand.screenshot("ways_precise")
    yield from do.cancel(hand, "ESC")
    at = do.head(HAND)
    overlay = hand.viewport.spaces.active.overlay
    grid = overlay.grid_scale / max(overlay.grid_subdivisions, 1)
    for before in (False, True):
        if before:
            hand.hold("LEFT_CTRL", ctrl=True)
        yield from begin(hand, ctrl=before)
        if not before:
            hand.hold("LEFT_CTRL", ctrl=True)
        yield RESTS
        seen[f"whole, {before}"] = [(a - b) / grid for a, b in zip(do.head(HAND), at, strict=True)]
        hand.let_go("LEFT_CTRL")
        yield from do.cancel(hand, "ESC")
    return seen | {"end": do.channels()}


def pin_on_the_way(hand: Any) -> Act:
    """P in mid-drag, 2, 1 and 2 again: drag wins. The pin is where the hand is dropped."""
    yield from begin(hand)
    yield from do.key(hand, "P")
    texts: list[str] = []
    for number in ("TWO", "ONE", "TWO"):
        yield from do.key(hand, number)
        texts.append(do.shown().text[0])
    hand.screenshot("ways_pin")
    yield from do.drop(hand)
    seen: Seen = {
        "pins": [[pin.name, pin.use_position, pin.use_rotation] for pin in do.armature().poise_pins],
        "wins": do.armature().poise_wins,
        "texts": texts,
        "hand": do.head(HAND),
        "pin": list(do.armature().poise_pins[0].position),
    }
    redo_settings(hand)
    seen |= {
        "hand again": do.head(HAND),
        "pins again": len(do.armature().poise_pins),
        "wins again": do.armature().poise_wins,
    }
    yield from do.key(hand, "Z", ctrl=True)
    return seen | {"pins undone": len(do.armature().poise_pins), "wins undone": do.armature().poise_wins}


def pixels_afterwards(hand: Any) -> Act:
    """The whole window before a drag, in mid-drag, and after it is cancelled: how many pixels differ."""
    start = hand.pixel(do.head(HAND))
    before = yield from hand.look_at_rest("ways_before")
    yield from do.grab(hand, start)
    yield from do.lead(hand, (start[0] + WAY[0], start[1] + WAY[1]))
    during = hand.look("ways_during")
    yield from do.cancel(hand, "ESC")
    after = yield from hand.look_at_rest("ways_after")
    return {"during": int((before != during).any(axis=-1).sum()), "after": int((before != after).any(axis=-1).sum())}


def overlays_off(hand: Any) -> Act:
    """The pictures with and without a pin, with overlays and without: how many pixels of the viewport differ."""
    overlay, place = hand.viewport.spaces.active.overlay, hand.pixel(do.head(FEET[0]))
    region = hand.region()
    seen: Seen = {}
    pictures: dict[str, Any] = {}
    for on in (True, False):
        for pinned in (False, True):
            if pinned:
                overlay.show_overlays = True  # else there is nothing under the mouse
                hand.move(*place)
                yield do.SOON
                yield from do.key(hand, "P")
            overlay.show_overlays = on
            hand.rest()
            name = f"ways_overlays_{'on' if on else 'off'}_{'pin' if pinned else 'bare'}"
            window = yield from hand.look_at_rest(name)
            pictures["pinned" if pinned else "bare"] = window[
                region.y + 40 : region.y + region.height - 80, region.x + 60 : region.x + region.width - 60
            ]
        seen["with" if on else "without"] = int((pictures["bare"] != pictures["pinned"]).any(axis=-1).sum())
        yield from do.key(hand, "Z", ctrl=True)
    overlay.show_overlays = True
    return seen


def lit(hand: Any, name: str) -> Generator[float, None, list[bool]]:
    """Which views light up the hand, in each that is there: a picture beside that of a mouse away from the body."""
    views = [region for region in hand.viewport.regions if region.type == "WINDOW"]
    mouse = hand.x, hand.y
    places = [hand.pixel(do.head(HAND), region, region.data) for region in views]
    yield RESTS
    seen = hand.look(name)
    other = next(area for area in hand.window.screen.areas if area.type == "PROPERTIES")
    for step in (0, 1):
        hand.move(other.x + other.width // 2 + step, other.y + other.height // 2)
        yield RESTS
    bare = hand.look(f"{name}_left")
    hand.move(*mouse)
    return [bool((seen != bare)[y - 12 : y + 12, x - 12 : x + 12].any()) for x, y in places]


def hover(hand: Any) -> Act:
    """The mouse over a hand, with all shown, with bones hidden and with all overlays hidden; lit, and dragged."""
    overlay = hand.viewport.spaces.active.overlay
    seen: Seen = {}
    x, y = hand.pixel(do.head(HAND))
    for hidden in ("", "show_bones", "show_overlays"):
        if hidden:
            setattr(overlay, hidden, False)
        for step in (1, 0):
            hand.move(x - step, y)
            yield RESTS
        seen[hidden] = yield from lit(hand, f"ways_hover_{hidden}")
        yield from begin(hand)
        seen[f"{hidden} dragging"] = do.dragging()
        yield from do.cancel(hand, "ESC")
        if hidden:
            setattr(overlay, hidden, True)
    return seen


def large(hand: Any) -> Act:
    """An interface of twice the size: a joint is grabbed from further off, and all that is drawn is larger."""
    import bpy

    view = bpy.context.preferences.view
    seen: Seen = {"start": do.channels(), "dragging": []}
    for scale in (1.0, 2.0):
        view.ui_scale = scale
        yield RESTS
        x, y = hand.pixel(do.head("shin.R"))
        yield from do.grab(hand, (x - 16, y))
        yield from do.lead(hand, (x - 46, y + 20))
        yield RESTS
        seen["dragging"].append(do.dragging())
        hand.screenshot(f"ways_scale_{scale:.0f}")
        yield from do.cancel(hand, "ESC")
    view.ui_scale = 1.0
    yield 0.5
    return seen | {"end": do.channels()}


def playing(hand: Any) -> Act:
    """An animation plays with the sidebar open and a foot pinned; a drag begins meanwhile, and is cancelled."""
    import bpy

    hand.move(*hand.pixel(do.head(FEET[0])))
    yield from do.key(hand, "P")
    hand.viewport.spaces.active.show_region_ui = True
    yield do.SOON
    hand.region("UI").active_panel_category = "Poise"
    seen: Seen = {"start": do.channels(), "frames": [bpy.context.scene.frame_current]}
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.screen.animation_play()
    yield 0.3
    x, y = hand.pixel(do.head("hand.R"))  # the other one is beneath the sidebar
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + WAY[0], y + WAY[1]))
    yield RESTS
    hand.screenshot("ways_playing")
    seen["off"], seen["dragging"] = under_mouse(hand, "hand.R"), do.dragging()
    yield from do.cancel(hand, "ESC")
    seen["frames"].append(bpy.context.scene.frame_current)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.screen.animation_cancel(restore_frame=False)
        bpy.context.scene.frame_current = seen["frames"][0]
        bpy.ops.poise.clear_pins()
    hand.viewport.spaces.active.show_region_ui = False
    yield RESTS
    return seen | {"end": do.channels()}


def shapes(hand: Any) -> Act:
    """Bones drawn as a ring and as a box: whom Blender's click takes and whom Poise's drag, and a drag by the ring."""
    import bmesh
    import bpy

    bones = do.armature().pose.bones
    for name, add, settings in (
        (HAND, bmesh.ops.create_circle, {"segments": 16, "radius": 2.0}),
        ("head", bmesh.ops.create_cube, {"size": 1.0}),
    ):
        mesh, build = bpy.data.meshes.new("shape"), bmesh.new()
        add(build, **settings)
        build.to_mesh(mesh)
        bones[name].custom_shape = bpy.data.objects.new("shape", mesh)
    bones[HAND].custom_shape_translation, bones[HAND].custom_shape_rotation_euler = (0.05, 0.1, 0.0), (1.2, 0.0, 0.3)
    bones["head"].custom_shape_transform = bones["chest"]
    bones["head"].custom_shape_translation = (0.0, 0.8, 0.0)  # above all else
    bones["head"].use_custom_shape_bone_size, bones["head"].custom_shape_scale_xyz = False, (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    bridge, data = sys.modules[f"{do.EXTENSION}.bridge"], hand.viewport.spaces.active.region_3d
    seen: Seen = {"start": do.channels(), "click": [], "grab": []}
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        view = bridge.read_view(hand.region(), data)
        for name in (HAND, "head"):
            lines = bridge.read_outline(bpy.context, bones[name])
            for line in lines[:: 2 if name == HAND else 1]:
                at = [round(number) for number in view.pixels(line.mean(axis=0)).tolist()]
                bpy.ops.view3d.select(location=at, deselect_all=True)
                seen["click"].append(selected())
                grabbed = bridge.pick(bpy.context, view, tuple(at))
                seen["grab"].append([] if grabbed is None else [grabbed.bone])
        bpy.ops.pose.select_all(action="DESELECT")
        ends = bridge.read_outline(bpy.context, bones[HAND]).mean(axis=1)
    start = hand.pixel(max(ends.tolist()))
    at = hand.pixel(do.head(HAND))
    hand.move(start[0] - 1, start[1])
    yield RESTS
    hand.move(*start)
    yield RESTS
    hand.screenshot("ways_shapes_hover")
    yield from do.grab(hand, start)
    yield from do.lead(hand, (start[0] + WAY[0], start[1] + WAY[1]))
    yield RESTS
    hand.screenshot("ways_shapes")
    seen["went"] = [b - a for a, b in zip(at, hand.pixel(do.head(HAND)), strict=True)]
    yield from do.cancel(hand, "ESC")
    for name in (HAND, "head"):
        bones[name].custom_shape = bones[name].custom_shape_transform = None
    return seen | {"end": do.channels()}


def stuck(hand: Any) -> Act:
    """The hand hangs on a forearm that a constraint places: a drag by its joint turns it, and R does not move it."""
    import numpy as np

    bones = do.armature().pose.bones
    constraint = bones["forearm.L"].constraints.new("CHILD_OF")  # a bone that only turns would be carried
    constraint.target, constraint.subtarget = do.armature(), "hips"
    constraint.inverse_matrix = (do.armature().matrix_world @ bones["hips"].matrix).inverted()
    seen: Seen = {"start": do.channels()}
    x, y = hand.pixel(do.head(HAND))
    before, at = bones[HAND].matrix.to_3x3(), do.head(HAND)
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x + 60, y))
    yield from do.key(hand, "R")
    yield from do.lead(hand, (x + 52, y + 30))  # a twelfth of the way round
    yield RESTS
    hand.screenshot("ways_stuck")
    turned = bones[HAND].matrix.to_3x3() @ before.inverted()
    seen["degrees"] = float(np.degrees(turned.to_quaternion().angle))
    seen["moved"] = [a - b for a, b in zip(do.head(HAND), at, strict=True)]
    seen["text"] = list(do.shown().text)
    yield from do.cancel(hand, "ESC")
    bones["forearm.L"].constraints.remove(constraint)
    return seen | {"end": do.channels()}


def camera(hand: Any) -> Act:
    """A drag in the view of a camera that is set off centre."""
    import bpy

    data = bpy.data.cameras.new("camera")
    eye = bpy.data.objects.new("camera", data)
    bpy.context.scene.collection.objects.link(eye)
    bpy.context.scene.camera = eye
    data.shift_x, data.lens = 0.1, 40.0
    space = hand.viewport.spaces.active
    eye.matrix_world = space.region_3d.view_matrix.inverted()
    bpy.context.view_layer.update()
    space.region_3d.view_perspective = "CAMERA"
    yield RESTS
    seen: Seen = {"start": do.channels()}
    yield from begin(hand)
    seen["off"] = under_mouse(hand)
    hand.screenshot("ways_camera")
    yield from do.cancel(hand, "ESC")
    bpy.data.objects.remove(eye)  # the other views show all there is
    return seen | {"end": do.channels()}


def quad(hand: Any) -> Act:
    """A drag in each of the four views; from the right, both hands are in one place, and the left one is in front."""
    import bpy

    seen: Seen = {"start": do.channels(), "off": []}
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.screen.region_quadview()
    yield RESTS
    views = [region for region in hand.viewport.regions if region.type == "WINDOW"]
    for region in views:
        hand.move(*hand.pixel(do.head(HAND), region, region.data))
        yield RESTS
    seen["lit"] = yield from lit(hand, "ways_quad_hover")
    draw = sys.modules[f"{do.EXTENSION}.overlay.draw"]
    write, texts = draw._write, set[int]()

    def noted(context: Any, lines: list[str], scale: float) -> None:
        if lines:
            texts.add(views.index(context.region))
        write(context, lines, scale)

    for number, region in enumerate(views):
        data = region.data
        x, y = hand.pixel(do.head(HAND), region, data)
        yield from do.grab(hand, (x, y))
        yield from do.lead(hand, (x - 16, y + 12))
        yield RESTS
        draw._write = noted
        hand.viewport.tag_redraw()
        yield do.SOON
        draw._write = write
        reached = hand.pixel(do.head(HAND), region, data)
        seen["off"].append([reached[0] - hand.x, reached[1] - hand.y])
        hand.screenshot(f"ways_quad_{number}")
        yield from do.cancel(hand, "ESC")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=views[-1]):
        bpy.ops.screen.region_quadview()
    yield do.SOON
    return seen | {"end": do.channels(), "texts": sorted(texts)}


def two(hand: Any) -> Act:
    """Two armatures in Pose Mode: dragging a selected hand of one takes the selected hand of the other along."""
    import bpy

    first = do.armature()
    second = first.copy()
    second.name, second.location.x = "second", 1.8
    bpy.context.scene.collection.objects.link(second)
    names = first.name, second.name
    yield from do.pose_mode(hand, first, second)
    yield from do.look_from(hand, FRONT, False)
    for rig in (first, second):
        rig.pose.bones["hand.L" if rig is first else "hand.R"].select = True
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Hands are selected")
    seen: Seen = {"start": [do.channels(rig) for rig in (first, second)], "selected": selected()}
    hands = [(first, HAND), (second, "hand.R")]
    before = [do.head(name, rig) for rig, name in hands]
    yield from begin(hand)
    yield RESTS
    seen["off"] = under_mouse(hand)
    seen["ways"] = [[b - a for a, b in zip(old, do.head(name, rig), strict=True)]
                    for old, (rig, name) in zip(before, hands, strict=True)]  # fmt: skip
    hand.screenshot("ways_two")
    yield from do.drop(hand)
    places = [do.head(name, rig) for rig, name in hands]
    redo_settings(hand)
    again = [do.head(name, bpy.data.objects[rig]) for rig, name in zip(names, (HAND, "hand.R"), strict=True)]
    seen["jumped"] = [[b - a for a, b in zip(*pair, strict=True)] for pair in zip(places, again, strict=True)]
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"] = [do.channels(bpy.data.objects[name]) for name in names]
    yield from hand.click(*hand.pixel(do.head("head", bpy.data.objects[names[1]])))
    pixel = hand.pixel(do.head("hand.R", bpy.data.objects[names[1]]))
    yield from do.grab(hand, pixel)
    yield from do.lead(hand, (pixel[0] + 30, pixel[1] + 30))
    yield RESTS
    x, y = hand.pixel(do.head("hand.R", bpy.data.objects[names[1]]))
    seen["off alone"] = [x - hand.x, y - hand.y]
    seen["first alone"] = do.channels(bpy.data.objects[names[0]])
    yield from do.cancel(hand, "RIGHTMOUSE")
    pixel = hand.pixel(do.head(HAND, bpy.data.objects[names[0]]))
    seen["active"] = [bpy.context.active_object.name]
    yield from do.grab(hand, pixel)
    yield from do.lead(hand, (pixel[0] + 30, pixel[1] + 30))
    yield from do.drop(hand)
    seen["active"].append(bpy.context.active_object.name)
    yield from do.key(hand, "Z", ctrl=True)
    seen["end"] = [do.channels(bpy.data.objects[name]) for name in names]
    return seen | {"names": names}


def fault(hand: Any) -> Act:
    """The solver fails in mid-drag."""
    session = sys.modules[f"{do.EXTENSION}.edits.drag.session"].DragSession
    lead_well = session.drag

    def lead_badly(*_: Any) -> None:
        raise ZeroDivisionError("a fault that a test has put there")

    seen: Seen = {"start": do.channels()}
    x, y = yield from begin(hand)
    seen["under way"] = do.channels()
    session.drag = lead_badly
    yield from do.lead(hand, (x - 20, y))
    session.drag = lead_well
    seen["end"] = do.channels()
    yield from do.drop(hand)
    return seen
