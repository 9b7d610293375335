"""What a person does with a chain and its list. It runs inside Blender, which has no pytest."""

import sys
from collections.abc import Generator
from math import sin
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # this file is loaded by its path

from drag_acts import EXTENSION, WAIT, armature, bone, channels, drop, grab, head, key, lead, look_from, ready

SHOULDER, HAND = "LeftShoulder", "LeftHand"
ADD = "bpy.ops.poise.add_chain()"
LEARN = "bpy.ops.poise.learn_list()"
BAKE = "bpy.ops.poise.bake_chain()"
LAST = 16  # frame of the motion: learning takes long enough to be given up
ASIDE = (1.1, 0.0, 0.5)  # no finger covers the hand there
HEADER = 28  # pixels from one closed panel to the next
FOLDS = 1.5  # seconds that Blender takes to show a panel folding
WAY = (-90, 110)  # pixels that the hand is led
SLIDE = 30  # pixels that a number is dragged
ROW = 3  # of the list: the upper arm


def inside(name: str) -> tuple[float, float, float]:
    """A point of a bone that is no joint."""
    some = bone(name)
    return tuple(armature().matrix_world @ some.head.lerp(some.tail, 0.3))


def chain() -> Any:
    return armature().poise_chains[0]


def listed() -> list[list[Any]]:
    return [[entry.bone, entry.axis, round(entry.fraction, 4)] for entry in chain().entries]


def turns() -> dict[str, float]:
    return {turn.name: turn.share for turn in chain().turns}


def hints() -> list[str]:
    """The icons of the keys in the status bar."""
    import bpy
    from bl_ui.space_statusbar import STATUSBAR_HT_header

    icons: list[str] = []
    row = SimpleNamespace(label=lambda text, icon, translate: icons.append(icon))
    STATUSBAR_HT_header.draw(SimpleNamespace(layout=SimpleNamespace(row=lambda align: row)), bpy.context)
    return icons


def open_chains(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Open "Chains" alone; its buttons."""
    yield from open_panel(hand, "POISE_PT_chains")
    return (yield from hand.read_panels(ADD))


def open_panel(hand: Any, name: str) -> Generator[float, None, None]:
    """Close the panels of the tab above the one of this class, by a click on each header, and open that one."""
    import bpy

    classes = sys.modules[f"{EXTENSION}.panels"].CLASSES
    shown = [cls for cls in classes if cls.is_registered and _is_shown(cls, bpy.context)]
    side = hand.region("UI")
    x, first = side.x + side.width // 2, side.y + side.height - HEADER // 2
    for number, panel in enumerate(shown):
        is_closed = "DEFAULT_CLOSED" in getattr(panel, "bl_options", ())
        if is_closed == (panel.__name__ == name):
            yield from hand.click(x, first - number * HEADER)
            yield FOLDS
        if panel.__name__ == name:
            break  # those below have moved down
    hand.rest()
    hand.screenshot(f"{name}_opened")


def _is_shown(panel: Any, context: Any) -> bool:
    """Whether a panel is in the tab, for itself."""
    in_tab = getattr(panel, "bl_category", "") == "Poise" and not hasattr(panel, "bl_parent_id")
    return in_tab and (not hasattr(panel, "poll") or panel.poll(context))


def select_beside_tab(hand: Any, name: str) -> Generator[float, None, None]:
    """Look from aside, open Poise's tab, and click a bone."""
    yield from ready(hand)
    yield from look_from(hand, ASIDE, False)
    yield from hand.open_tab("Poise")
    yield from hand.click(*hand.pixel(inside(name)))


def first_chain(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Make a chain of the selected bones, drag its end, change a fraction, undo, and cancel a drag."""
    seen: dict[str, Any] = {}
    yield from select_beside_tab(hand, SHOULDER)
    yield from hand.click(*hand.pixel(inside(HAND)), shift=True)
    import bpy

    seen["selected"] = [some.name for some in bpy.context.selected_pose_bones]
    seen["active"] = bpy.context.active_pose_bone.name
    panel = yield from open_chains(hand)
    hand.screenshot("chain_none")
    assert ADD in panel, sorted(panel)
    yield from hand.click(*panel[ADD][0])
    yield from hand.until(lambda: len(armature().poise_chains) == 1)
    seen["ends"], seen["list"] = [chain().base, chain().effector], listed()
    hand.rest()
    yield 1.0
    hand.screenshot("chain_added")

    seen["start"], start = channels(), hand.pixel(head(HAND))
    yield from grab(hand, start)
    yield from lead(hand, (start[0] + WAY[0], start[1] + WAY[1]), 12)
    hand.screenshot("chain_during")
    seen["keys"] = hints()
    yield from drop(hand)
    seen["off"] = [a - b for a, b in zip(hand.pixel(head(HAND)), (hand.x, hand.y), strict=True)]
    seen["dragged"], seen["turns"], seen["place"] = channels(), turns(), head(HAND)
    hand.rest()
    yield 1.0
    hand.screenshot("chain_dragged")

    fraction = f"poise_chains[0].entries[{ROW}].fraction"
    panel = yield from hand.read_panels(fraction)
    x, y = panel[fraction][0]
    hand.move(x, y)
    yield WAIT
    hand.hold("LEFTMOUSE")
    for step in range(1, 13):
        hand.move(x - SLIDE * step // 12, y)
        yield 0.05
    seen["tuning"], seen["tuning list"], seen["tuning place"] = channels(), listed(), head(HAND)
    hand.screenshot("chain_tuning")
    hand.let_go("LEFTMOUSE")
    yield WAIT
    seen["tuned"], seen["tuned list"], seen["tuned turns"] = channels(), listed(), turns()
    hand.rest()
    yield 1.0
    hand.screenshot("chain")
    yield from key(hand, "Z", ctrl=True)
    yield from hand.until(lambda: channels() == seen["dragged"])
    seen["undone"], seen["undone list"] = channels(), listed()
    yield from key(hand, "Z", ctrl=True, shift=True)
    yield from hand.until(lambda: channels() == seen["tuned"])
    seen["redone"], seen["redone list"] = channels(), listed()

    start = hand.pixel(head(HAND))
    yield from grab(hand, start)
    yield from lead(hand, (start[0] + 60, start[1] - 60))
    seen["second under way"] = channels()
    yield from key(hand, "ESC")
    yield from drop(hand)
    seen["escaped"], seen["turns after escape"] = channels(), turns()
    return seen | (yield from learn(hand)) | (yield from bake(hand))


def learn(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Learn the list from a motion of the arm: give up on the way, and then wait for it."""
    import bpy

    seen: dict[str, Any] = {}
    bpy.context.scene.frame_end = LAST
    for frame in range(1, LAST + 1):
        for name, axis, wide in (("LeftForeArm", 3, 0.4), ("LeftArm", 1, 0.3), ("LeftArm", 3, 0.2)):
            turning = bone(name)
            turning.rotation_quaternion[axis] = wide * sin(0.1 * axis * frame)
            turning.keyframe_insert("rotation_quaternion", frame=frame)
    hand.rest()
    yield WAIT
    panel = yield from hand.read_panels(LEARN)
    seen["before learning"] = listed()
    for end in ("escape", "learned"):
        yield from hand.click(*panel[LEARN][0])
        yield 1.0
        hand.screenshot(f"chain_{end}_dialog")
        hand.press("RET")
        seen[f"{end} began"] = yield from hand.until(learning)
        if end == "escape":
            hand.press("ESC")
        hand.rest()
        hand.screenshot(f"chain_{end}_begun")
        yield from hand.until(lambda: not learning(), limit=60)
        seen[end], seen[f"{end}, step by step"] = listed(), chain().successive
    return seen


def bake(hand: Any) -> Generator[float, None, dict[str, Any]]:
    """Have the hand follow an object: give up on the way, and then wait for it."""
    import bpy

    seen: dict[str, Any] = {}
    scene, rig = bpy.context.scene, armature()
    cup = bpy.data.objects.new("Cup", None)
    scene.collection.objects.link(cup)
    cup.empty_display_size = 0.05
    scene.frame_set(1)
    start = head(HAND)
    for frame, step in ((1, 0.0), (LAST, 0.06)):  # inwards, where the list that was learned arrives
        cup.location = (start[0] - step, start[1] - 0.5 * step, start[2] + 0.5 * step)
        cup.keyframe_insert("location", frame=frame)
    cup.select_set(True)
    yield WAIT
    panel = yield from hand.read_panels(BAKE)
    seen["motion"] = rig.animation_data.action.name
    for end in ("given up", "baked"):
        yield from hand.click(*panel[BAKE][0])
        yield 1.0
        hand.screenshot(f"chain_bake_{end.replace(' ', '_')}")
        hand.press("RET")
        if end == "given up":
            hand.press("ESC")  # at once: the arm is solved in no time
        hand.rest()
        yield from hand.until(
            lambda: rig.animation_data.action.name != seen["motion"], limit=2.0 if end != "baked" else 8.0
        )
        yield WAIT
        seen[end] = rig.animation_data.action.name
    seen["off the cup"] = []
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        seen["off the cup"].append([a - b for a, b in zip(head(HAND), cup.matrix_world.translation, strict=True)])
    yield WAIT
    hand.screenshot("chain_baked")
    return seen


def learning() -> bool:
    return running("POISE_OT_learn_list")


def running(operator: str) -> bool:
    import bpy

    windows = bpy.context.window_manager.windows
    return any(some.bl_idname == operator for window in windows for some in window.modal_operators)
