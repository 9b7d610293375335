"""More tutorials of docs/tutorials, as a person follows them. They run inside Blender, which has no pytest."""

import contextlib
import socket
import threading
import time
from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do
from tests.window.film_acts import Camera
from tests.window.tutorial_acts import (
    MIXAMO,
    SIDES,
    Seen,
    Steps,
    dress,
    empty,
    end,
    height,
    middle,
    open_alone,
    open_menu,
    pin,
    press_button,
    pull,
    settle,
    shoot,
    smooth,
)

PHASES = (  # frames, and keys of the menu: left, right, flight
    (1, "L"), (1, "R"), (13, "F"), (25, "L"), (25, "R"), (37, "L"), (37, "R"),
)  # fmt: skip
BELOW = 26  # pixels from a button to the one below it
ICON = 20  # pixels of an icon
LISTS = 48  # pixels from the right of the sidebar to the icons beside a list
TAIL = [f"tail.{number:03}" for number in range(1, 5)]
ROW = 3  # of the tail's list
SLIDE = 60  # pixels that a number is dragged
PACKETS = 5.0  # seconds of them
RATE = 30  # packets a second


def choose(hand: Any, place: tuple[int, int], letter: str) -> Steps:
    """Click a button that opens a menu, and press the key of an entry."""
    yield from open_menu(hand, place)
    hand.press(letter)
    yield 0.5
    hand.rest()
    yield 0.3


def scroll_down(hand: Any) -> Steps:
    """Scroll to the end of the sidebar."""
    side = hand.region("UI")
    hand.move(side.x + side.width // 3, side.y + side.height // 2)
    yield 0.2
    for _ in range(60):
        hand.press("WHEELDOWNMOUSE")
        yield 0.02
    hand.rest()
    yield 1.0


def beside_list(hand: Any, name: str) -> Generator[float, None, tuple[int, int]]:
    """Find an icon beside a list, by what it does."""
    import bpy

    side = hand.region("UI")
    x = side.x + side.width - LISTS
    for y in range(side.y + side.height - 6, side.y, -6):
        hand.move(x, y)
        yield 0.02
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=side):
            bpy.context.window_manager.clipboard = ""
            with contextlib.suppress(RuntimeError):  # no button there
                bpy.ops.ui.copy_python_command_button()
            if bpy.context.window_manager.clipboard == name:
                return x, y - ICON // 2 + 3
    raise AssertionError(f"There is no {name}.")


def jump_from_two_poses(hand: Any, file: str) -> Seen:
    """Pose a crouch and store it, pose a stretch and store it, generate, say what supports the body, regenerate."""
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_generate")
    yield from do.open_rig(hand, file)
    dress(do.armature(), MIXAMO, "mixamorig:")
    yield from settle(hand)
    name = do.armature().name
    bpy.context.scene.render.fps = 24
    camera = Camera(hand, 1, "tutorial_jump")
    for side in SIDES:
        yield from pin(hand, f"{side}Foot")
    yield from pull(hand, "Hips", 5, -65)
    for side, way in zip(SIDES, (-1, 1), strict=True):
        yield from pull(hand, f"{side}Hand", 50 * way, -120)
    seen: dict[str, Any] = {"crouch": height("Hips")}
    yield from press_button(hand, "bpy.ops.poise.store_pose(pose='MIN')")
    yield from shoot(camera)
    yield from pull(hand, "Hips", -5, 65)
    for side, way in zip(SIDES, (-1, 1), strict=True):
        yield from pull(hand, f"{side}Hand", 30 * way, 240)
    seen["stretch"] = height("Hips")
    yield from press_button(hand, "bpy.ops.poise.store_pose(pose='MAX')")
    yield from shoot(camera)

    def armature() -> Any:
        return bpy.data.objects[name]

    panel = yield from hand.read_panels("bpy.ops.poise.store_pose(pose='MAX')")
    x = panel["bpy.ops.poise.store_pose(pose='MAX')"][0][0]
    yield from choose(hand, (x, middle(panel["bpy.ops.poise.store_pose(pose='MAX')"]) - BELOW), "S")  # stored poses
    yield from hand.until(lambda: armature().animation_data and armature().animation_data.action, 60.0)
    seen["frames"] = list(armature().animation_data.action.frame_range)
    yield from scroll_down(hand)
    minus = yield from beside_list(hand, "bpy.ops.poise.remove_phase()")
    for frame, letter in PHASES:
        bpy.context.scene.frame_set(frame)
        yield from choose(hand, (minus[0], minus[1] + ICON), letter)
    yield from scroll_down(hand)
    yield from shoot(camera)
    yield from press_button(hand, "bpy.ops.poise.regenerate()", 0.2)
    yield from hand.until(lambda: not len(hand.window.modal_operators), 60.0)
    bpy.context.scene.frame_set(19)
    yield from shoot(camera)
    end(camera, timeline=True)
    lowest = []
    for frame in (2, 19, 36, 49):
        bpy.context.scene.frame_set(frame)
        lowest.append([height(f"{side}Foot") for side in SIDES])
    return seen | {"feet": lowest, "phases": [(phase.start, phase.end) for phase in armature().poise_phases]}


def tail_by_fractions(hand: Any) -> Seen:
    """Make a chain of a cat's tail, drag its end, and change a fraction of its list."""
    import addon_utils
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_chains")
    addon_utils.enable("rigify", default_set=True)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.object.armature_cat_metarig_add()
    cat = bpy.context.object
    for bones in cat.data.collections_all:
        bones.is_visible = True
    yield from do.pose_mode(hand, cat)
    yield from settle(hand, (1.3, 0.0, 1.3))
    camera = Camera(hand, 1, "tutorial_tail")
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.object.select_pattern(pattern="tail*")
        bpy.ops.view3d.view_selected()
        bpy.ops.view3d.zoom(delta=-2)
        bpy.ops.pose.select_all(action="DESELECT")
    yield 0.5

    def inside(name: str) -> tuple[int, int]:
        some = do.bone(name)
        return hand.pixel(cat.matrix_world @ some.head.lerp(some.tail, 0.5))

    yield from hand.click(*inside(TAIL[0]))
    yield from hand.click(*inside(TAIL[-1]), shift=True)
    seen: dict[str, Any] = {"selected": [bone.name for bone in bpy.context.selected_pose_bones]}
    yield from press_button(hand, "bpy.ops.poise.add_chain()")
    yield from hand.until(lambda: len(cat.poise_chains) == 1)
    seen["list"] = [entry.bone for entry in cat.poise_chains[0].entries]
    yield from shoot(camera)
    seen["before"] = do.channels_of()
    yield from pull(hand, TAIL[-1], -120, 200, camera)
    hand.rest()
    yield 1.0
    seen["dragged"], place = do.channels_of(), do.head(TAIL[-1])
    fraction = f"poise_chains[0].entries[{ROW}].fraction"
    panel = yield from hand.read_panels(fraction)
    x, y = panel[fraction][0]
    seen["fraction"] = cat.poise_chains[0].entries[ROW].fraction
    hand.move(x, y)
    yield do.WAIT
    hand.hold("LEFTMOUSE")
    for step in range(1, 13):
        hand.move(x - SLIDE * step // 12, y)
        yield 0.05
    hand.let_go("LEFTMOUSE")
    yield do.WAIT
    seen["less"] = cat.poise_chains[0].entries[ROW].fraction
    yield from shoot(camera)
    end(camera)
    seen["tuned"] = do.channels_of()
    return seen | {"off": max(abs(a - b) for a, b in zip(place, do.head(TAIL[-1]), strict=True))}


def wave(port: int, sent: list[int]) -> None:
    """Send what docs/examples/send_vmc.py sends, as an app would."""
    import send_vmc

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(round(PACKETS * RATE)):
            sent.append(sender.sendto(send_vmc.frame(number / RATE), ("127.0.0.1", port)))
            time.sleep(1.0 / RATE)


def mocap_from_a_phone(hand: Any, file: str) -> Seen:
    """Listen to what an app on a phone sends, here a program of docs/examples; stop, and have the recording."""
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_keypoints", "POISE_PT_live_statistics")
    yield from do.open_rig(hand, file)
    rig = do.armature()
    dress(rig, MIXAMO, "mixamorig:")
    yield from settle(hand)
    camera = Camera(hand, 1, "tutorial_phone")
    panel = yield from hand.read_panels("poise_live_record")
    yield from choose(hand, panel["poise_live_layout"][-1], "V")  # VMC
    yield from hand.click(*panel["poise_live_record"][-1])
    seen: dict[str, Any] = {"settings": [rig.poise_live_layout, rig.poise_live_record]}
    live = bpy.context.window_manager.poise_live
    yield from shoot(camera)
    yield from hand.click(*panel["bpy.ops.poise.listen()"][0])
    yield from hand.until(lambda: live.owner != 0, 60.0)
    sent: list[int] = []
    sender = threading.Thread(target=wave, args=(rig.poise_live_port, sent))
    sender.start()
    yield 0.5 * PACKETS
    yield from smooth(camera)
    yield from hand.until(lambda: not sender.is_alive(), 10.0 * PACKETS)
    yield from hand.until(lambda: live.received >= len(sent), 5.0)  # the panel shows it four times a second
    seen |= {"sent": len(sent), "received": live.received}
    yield from press_button(hand, "bpy.ops.poise.stop_listening()")
    yield from hand.until(lambda: live.owner == 0, 60.0)
    bpy.context.scene.frame_end = round(rig.animation_data.action.frame_range[1])
    bpy.context.scene.frame_set(bpy.context.scene.frame_end // 2)
    yield from shoot(camera)
    end(camera, timeline=True)
    heights = []
    for frame in range(5, bpy.context.scene.frame_end - 5):
        bpy.context.scene.frame_set(frame)
        heights.append([height("RightHand") - height("RightForeArm"), height("LeftHand") - height("LeftForeArm")])
    return seen | {"arms": heights, "frames": list(rig.animation_data.action.frame_range)}


def show_parts(hand: Any, file: str) -> Seen:
    """Click the hips in the small figure of the panel Parts."""
    import bpy

    yield from empty(hand)
    open_alone("POISE_PT_rig", "POISE_PT_parts")
    yield from do.open_rig(hand, file)
    yield from settle(hand)
    camera = Camera(hand, 1, "tutorial_parts")
    panel = yield from hand.read_panels()
    hips = next(name for name in panel if name.startswith("bpy.ops.poise.show_part(") and "hips" in name)
    yield from hand.click(*panel[hips][0])
    yield from hand.until(lambda: bool(bpy.context.selected_pose_bones))
    yield from shoot(camera)
    side, tabs = hand.region("UI"), 20  # pixels
    camera.end([side.x, side.y, side.width - tabs, side.height])
    return {"selected": [bone.name for bone in bpy.context.selected_pose_bones]}
