"""Somebody listens to a tracker, watches the armature move, stops, and has a recording. It runs inside Blender."""

import socket
import statistics
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"
LISTEN, STOP = "bpy.ops.poise.listen()", "bpy.ops.poise.stop_listening()"
BONES = 65
RATE = 60
RECORDED = 20.0  # seconds; filtering a longer recording takes its time at the end
STEP = 13  # the frame of the walk that is looked at
FAR = 1.3  # times as far away, so that who walks stays in view
SCROLLS = 40


def listen(
    hand: Any, python: str, seconds: str, bones: str, markers: str, flood: str
) -> Generator[float, None, dict[str, Any]]:
    """Listen for so long to a sender of 60 packets a second; what was counted, and how long it took.

    Beside it come `flood` hostile packets a second. Then undo what was recorded, listen to packets of bones,
    hexadecimal, one a line of the file `bones`, and import `markers`, a file of C3D. After five seconds another editor
    is in front of the scene: what drawing in software takes is told apart.
    """
    import bpy

    seen: dict[str, Any] = {}
    object = armature()
    more_bones(object)
    object.poise_live_port += 1  # that of a tutorial, which may listen meanwhile
    open_panel()
    hand.rest()
    yield 0.3
    hand.press("HOME")
    yield 0.5
    hand.press("SPACE", ctrl=True)  # the viewport alone
    yield 1.0
    yield from hand.open_tab("Poise")
    view = hand.viewport.spaces.active.region_3d
    view.view_distance, view.view_location = FAR * view.view_distance, (0.6, 0.3, 0.9)
    yield from scroll_down(hand)
    object.poise_live_record = float(seconds) <= RECORDED
    panel = yield from hand.read_panels(LISTEN)
    yield from hand.click(*panel[LISTEN][0])
    live = bpy.context.window_manager.poise_live
    seen["listens"] = yield from hand.until(lambda: live.owner != 0)
    tick = frames_drawn()

    command = [python, EXAMPLES / "send_keypoints.py", EXAMPLES / "walk_keypoints.jsonl"]
    options = ["--rate", RATE, "--seconds", seconds, "--port", object.poise_live_port]
    sender = subprocess.Popen([str(word) for word in (*command, *options)], stdout=subprocess.PIPE, text=True)
    command = [python, "-m", "tests.window.flood", str(object.poise_live_port), flood, seconds]
    enemy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) if float(flood) else None
    begin, gaps, before = time.monotonic(), [], time.monotonic()
    pictured, area = False, hand.viewport
    while sender.poll() is None and time.monotonic() < begin + float(seconds) + 30.0:
        yield 0.01
        now = time.monotonic()
        gaps.append(now - before)
        before = now
        if not pictured and now > begin + 1.0:
            pictured = True
            yield from scroll_down(hand, 6)
            hand.screenshot("live")
            before = time.monotonic()
        if area.type == "VIEW_3D" and now > begin + min(5.0, 0.5 * float(seconds)):
            seen |= {"drawn latency": live.latency, "drawn wait": live.wait}
            area.type = "TEXT_EDITOR"
            gaps, before = [], time.monotonic()
    hostile = int(enemy.communicate(timeout=30)[0] or 0) if enemy else 0
    sent = int(sender.communicate(timeout=10)[0] or 0)
    yield 1.0
    area.type = "VIEW_3D"
    yield 1.0
    drawn, spent = tick()
    seen |= {name: getattr(live, name) for name in
             ("received", "applied", "used", "refused", "late", "skipped", "lost", "latency", "wait")}  # fmt: skip
    seen |= {"sent": sent, "hostile": hostile, "redraws": drawn, "redraw": spent}
    seen |= {"ticks": len(gaps), "tick": statistics.median(gaps), "longest": max(gaps)}
    panel = yield from hand.read_panels(STOP)
    yield from hand.click(*panel[STOP][0])
    seen["status"] = live.status
    seen["stops"] = yield from hand.until(lambda: live.owner == 0)
    yield 0.5
    hand.screenshot("live_stopped")
    action = bpy.data.actions.get(live.action)
    seen["recorded"] = 0 if action is None else list(action.frame_range)
    seen["bones"] = len(object.data.bones)
    seen |= yield from undo(hand)
    seen |= yield from listen_to_bones(hand, bones)
    seen |= yield from import_markers(hand, markers)
    return seen


def undo(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """One Ctrl Z after listening: the actions that are left, and how far arms are from the rest pose."""
    import bpy

    hand.rest()
    hand.press("Z", ctrl=True)
    yield from hand.until(lambda: not bpy.data.actions)
    turns = [bone.matrix_basis.to_quaternion().angle for bone in armature().pose.bones if "Arm" in bone.name]
    return {"undone actions": len(bpy.data.actions), "undone turn": max(turns)}


def listen_to_bones(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Choose VMC, listen and stop by the panel; where the left arm points in between, and what was counted."""
    import bpy

    object = armature()
    object.poise_live_layout, object.poise_live_record = "vmc", False
    packets = [bytes.fromhex(line) for line in Path(file).read_text(encoding="utf-8").split()]
    panel = yield from hand.read_panels(LISTEN)
    yield from hand.click(*panel[LISTEN][0])
    live = bpy.context.window_manager.poise_live
    yield from hand.until(lambda: live.owner != 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for packet in packets:
            sender.sendto(packet, ("127.0.0.1", object.poise_live_port))
            yield 0.05
    yield from hand.until(lambda: live.received == len(packets))
    hand.screenshot("live_bones")
    way = list(object.pose.bones["mixamorig:LeftArm"].vector.normalized())
    panel = yield from hand.read_panels(STOP)
    yield from hand.click(*panel[STOP][0])
    yield from hand.until(lambda: live.owner == 0)
    return {"sent bones": len(packets), "left arm": way, "parts": live.parts, "posed": live.applied + live.used}


def import_markers(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Import a file of C3D; what came of it, and how the legs stand in a frame of it."""
    import bpy

    object = armature()
    result = bpy.ops.poise.import_keypoints(filepath=file, layout="mediapipe")
    bpy.context.scene.frame_set(STEP)
    yield 0.5
    hand.screenshot("keypoints_c3d")
    bones = object.pose.bones
    ways = {side: list(bones[f"mixamorig:{side}UpLeg"].vector.normalized()) for side in ("Left", "Right")}
    action = object.animation_data.action
    return {"imported": [*result], "keyed": list(action.frame_range), "thighs": ways}


def armature() -> Any:
    import bpy

    return next(object for object in bpy.data.objects if object.type == "ARMATURE")


def scroll_down(hand: Any, times: int = SCROLLS) -> Generator[float, None, None]:
    """To the end of the sidebar."""
    side = hand.region("UI")
    hand.move(side.x + side.width // 2, side.y + side.height // 2)
    for _ in range(times):
        hand.press("WHEELDOWNMOUSE")
        yield 0.02


def more_bones(object: Any) -> None:
    """As many as a character with all its fingers and some more has."""
    import bpy

    bpy.context.view_layer.objects.active = object
    bpy.ops.object.mode_set(mode="EDIT")
    bones = object.data.edit_bones
    for number in range(BONES - len(bones)):
        bone = bones.new(f"more.{number}")
        bone.head, bone.tail = (2.0 * number, 10.0, 100.0), (2.0 * number, 10.0, 105.0)
        bone.parent = bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")


def open_panel() -> None:
    """The panel as somebody has it who has opened it before."""
    import bpy

    panel, settings, numbers = (
        getattr(bpy.types, f"POISE_PT_{name}") for name in ("keypoints", "live_settings", "live_statistics")
    )
    for cls in (numbers, settings, panel):
        bpy.utils.unregister_class(cls)
    panel.bl_options = numbers.bl_options = set()
    for cls in (panel, settings, numbers):
        bpy.utils.register_class(cls)


def frames_drawn() -> Any:
    """Count redraws of the viewport; the function returned ends that: how many, milliseconds between."""
    import bpy
    import numpy as np

    times: list[float] = []

    def note() -> None:
        times.append(time.perf_counter())

    handle = bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL")

    def end() -> tuple[int, float]:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
        return len(times), 1000.0 * float(np.median(np.diff(times))) if len(times) > 1 else 0.0

    return end
