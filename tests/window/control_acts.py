"""The Poise tool on a generated control rig, by the shapes of its controls. It runs inside Blender."""

import sys
from collections.abc import Generator
from typing import Any

from tests.window import drag_acts as do

SEEN = ("torso", "head", "hand_ik.L", "hand_ik.R", "foot_ik.L", "foot_ik.R")  # what fills the view
# a control, the bone of the body that goes with it, and where to, in pixels
GRABBED = {
    "hand_ik.L": ("DEF-hand.L", (-30, 24)),
    "foot_ik.L": ("DEF-foot.L", (-20, 24)),
    "upper_arm_fk.R": ("DEF-upper_arm.R", (-10, 12)),
    "torso": ("torso", (20, -24)),
}
RESTS = 0.1
LEARNED = 500  # frames: as many as are looked at, which takes longer than the tool waits without a word


def see_all(hand: Any, rig: Any) -> Generator[float, None, None]:
    """Go to Pose Mode with all controls in view and none selected; that is an undo step."""
    import bpy

    yield from do.pose_mode(hand, rig)
    yield from do.look_from(hand, (1.4, 0.0, 0.4), True)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        for name in SEEN:
            rig.pose.bones[name].select = True
        bpy.ops.view3d.view_selected()
        bpy.ops.pose.select_all(action="DESELECT")
        bpy.ops.ed.undo_push(message="All is seen")
    yield RESTS


def controls(hand: Any, file: str) -> Generator[float, None, dict[str, Any]]:
    """Pin a foot, drag each control by its shape, Esc; drop the last one, undo; and Esc while a motion is led."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = True  # else Blender asks, and takes the mouse
    yield from do.open_rig(hand, file)
    rig = bpy.data.objects["rig"]
    yield from see_all(hand, rig)
    hand.move(*on_shape(hand, "foot_ik.R"))
    yield RESTS
    yield from do.key(hand, "P")
    seen: dict[str, Any] = {"pins": [pin.name for pin in rig.poise_pins], "start": do.channels(rig), "went": {}}
    at = do.head("DEF-foot.R", rig)
    hover = sys.modules[f"{do.EXTENSION}.operators.hover"]
    draw, named = hover.draw_marks, list[bool]()  # whether it is named in a drag, each time
    hover.draw_marks = lambda *marks: named.append(bool(do.drag_drawings())) or draw(*marks)
    for name, (part, way) in GRABBED.items():
        x, y = on_shape(hand, name)
        before = hand.pixel(do.head(part, rig))
        yield from do.grab(hand, (x, y))
        yield from do.lead(hand, (x + way[0], y + way[1]))
        yield RESTS
        after = hand.pixel(do.head(part, rig))
        seen["went"][name] = [do.shown().text[0].split(",")[0], after[0] - before[0], after[1] - before[1]]
        seen["foot off"] = [a - b for a, b in zip(do.head("DEF-foot.R", rig), at, strict=True)]
        hand.screenshot(f"controls_{name}")
        if name != "torso":
            yield from do.cancel(hand, "ESC")
            seen["went"][name].append(do.channels(rig) == seen["start"])
    hover.draw_marks = draw
    seen["named"] = named
    yield from do.drop(hand)
    hand.screenshot("controls_dropped")
    yield from do.key(hand, "Z", ctrl=True)
    seen |= {"undone": do.channels(bpy.data.objects["rig"]) == seen["start"], "left": do.left_behind()}
    yield from switch_to_fk(hand, seen)
    yield from drag_half_way(hand, seen)
    yield from lead_motion(hand, seen)
    seen["led"].append(do.channels(bpy.data.objects["rig"]) == seen.pop("start"))
    yield from learn(hand, seen)
    return seen


def switch_to_fk(hand: Any, seen: dict[str, Any]) -> Generator[float, None, None]:
    """Pin a hand and drag its elbow, which IK cannot show, in the midst of an animation; undo."""
    import bpy

    scene, rig = bpy.context.scene, bpy.data.objects["rig"]
    rig.poise_use_fk_switch, rig.poise_root, rig.poise_balance = True, "FIXED", "OFF"
    rig.pose.bones["upper_arm_ik.L"].lock_rotation = (True, True, True)
    for name in ("hand_ik.L", "torso"):
        for frame in (1, 40):
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    scene.frame_set(20)
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.ed.undo_push(message="Keyed")
    hand.move(*on_shape(hand, "hand_ik.L"))
    yield RESTS
    yield from do.key(hand, "P")

    def limbs() -> dict[str, float]:
        bones = bpy.data.objects["rig"].pose.bones
        return {bone.name: bone["IK_FK"] for bone in bones if "IK_FK" in bone}

    elbow = do.head("DEF-forearm.L", rig)
    x, y = hand.pixel(elbow)
    yield from do.grab(hand, (x, y))
    yield from do.lead(hand, (x - 20, y - 60))
    yield RESTS
    seen["elbow"] = [do.shown().text[0].split(",")[0]]
    hand.screenshot("controls_elbow_on_ik")
    yield from do.drop(hand)
    yield RESTS
    hand.screenshot("controls_elbow_on_fk")
    went = hand.pixel(do.head("DEF-forearm.L", bpy.data.objects["rig"]))
    seen["elbow"] += [limbs(), [went[0] - x, went[1] - y]]
    seen["switched"] = switch_keys(bpy.data.objects["rig"])
    yield from do.key(hand, "Z", ctrl=True)
    yield RESTS
    seen["elbow"].append(limbs())


def drag_half_way(hand: Any, seen: dict[str, Any]) -> Generator[float, None, None]:
    """Drag a hand half way between IK and FK, auto-keyed where there are keys; undo, and go back to IK."""
    import bpy

    rig = bpy.data.objects["rig"]
    arm = rig.pose.bones["upper_arm_parent.L"]
    arm["IK_FK"] = 0.5
    rig.pose.bones["upper_arm_ik.L"].lock_rotation = (True, False, True)  # as Rigify has it
    rig.poise_use_fk_switch = False
    rig.poise_pins.remove(rig.poise_pins.find("hand_ik.L"))
    rig.update_tag()
    for name in ("upper_arm_fk.L", "forearm_fk.L", "hand_fk.L", "hand_ik.L", "upper_arm_ik.L"):
        bone = rig.pose.bones[name]
        turned = "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"
        for frame in (1, 20, 40):
            bone.keyframe_insert(turned, frame=frame)
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.ed.undo_push(message="Half way")
    yield RESTS
    before = do.channels(rig), keyed(rig), do.head("hand_ik.L", rig)
    x, y = hand.pixel(before[2])
    yield from do.grab(hand, on_shape(hand, "hand_ik.L"))
    yield from do.lead(hand, (hand.x - 30, hand.y + 24))
    yield RESTS
    hand.screenshot("controls_half_way")
    yield from do.drop(hand)
    yield RESTS
    rig = bpy.data.objects["rig"]
    after, went = keyed(rig), hand.pixel(do.head("hand_ik.L", rig))
    seen["half way"] = {
        "went": [went[0] - x, went[1] - y],
        "switch": rig.pose.bones["upper_arm_parent.L"]["IK_FK"],
        "new": sorted({*after} - {*before[1]}),
        "keyed": sorted({path.split('"')[1] for path, *_ in before[1] if before[1][path, *_] != after[path, *_]}),
    }
    yield from do.key(hand, "Z", ctrl=True)
    yield RESTS
    rig = bpy.data.objects["rig"]
    seen["half way"]["undone"] = [do.channels(rig) == before[0], keyed(rig) == before[1]]
    rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 0.0
    rig.update_tag()


def keyed(rig: Any) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """The keys of each channel: frame and value."""
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = rig.animation_data
    curves: Any = action_get_channelbag_for_slot(data.action, data.action_slot).fcurves
    return {(curve.data_path, curve.array_index): [(*key.co,) for key in curve.keyframe_points] for curve in curves}


def switch_keys(rig: Any) -> dict[str, list[tuple[float, float, str]]]:
    """The keys of IK_FK: frame, value and interpolation, by bone."""
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = rig.animation_data
    curves: Any = action_get_channelbag_for_slot(data.action, data.action_slot).fcurves
    return {
        curve.data_path.split('"')[1]: [(*key.co, key.interpolation) for key in curve.keyframe_points]
        for curve in curves if curve.data_path.endswith('["IK_FK"]')
    }  # fmt: skip


def lead_motion(hand: Any, seen: dict[str, Any]) -> Generator[float, None, None]:
    """Generate a wave, and Esc as soon as its frames are tried on the controls."""
    import bpy

    scene, actions = bpy.context.scene, len(bpy.data.actions)
    frame = scene.frame_current
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        bpy.ops.poise.generate("INVOKE_DEFAULT", recipe="wave")
    yield from hand.until(lambda: scene.frame_current > frame + 2, 60.0)
    hand.screenshot("controls_led")
    yield from do.key(hand, "ESC")
    yield 0.5
    left = [one for one in hand.window.modal_operators if one.bl_idname == "POISE_OT_generate"]
    seen["led"] = [scene.frame_current == frame, len(bpy.data.actions) == actions, not left]


def learn(hand: Any, seen: dict[str, Any]) -> Generator[float, None, None]:
    """Learn the stiffness of a body that controls lead: Esc on the way, then to the end."""
    import bpy

    scene, rig = bpy.context.scene, bpy.data.objects["rig"]
    for frame, way in ((1, -0.1), (60, 0.1), (LEARNED, -0.1)):
        for name in ("hand_ik.L", "hand_ik.R"):
            rig.pose.bones[name].location[1] = way
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    scene.frame_set(0)

    def run() -> None:
        with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
            bpy.ops.poise.learn_stiffness("INVOKE_DEFAULT")

    def busy() -> bool:
        return any(one.bl_idname == "POISE_OT_learn_stiffness" for one in hand.window.modal_operators)

    def learned() -> int:
        return sum(bool(bone.poise_tuning) for bone in bpy.data.objects["rig"].pose.bones)

    run()
    begun = busy() and scene.frame_current > 0
    yield RESTS
    hand.screenshot("controls_learn")
    yield from do.key(hand, "ESC")
    yield from hand.until(lambda: not busy())
    seen["learning"] = [begun, scene.frame_current == 0, learned() == 0]
    run()
    yield from hand.until(lambda: not busy(), 30.0)
    seen["learning"] += [scene.frame_current == 0, learned() > 0]


def on_shape(hand: Any, name: str) -> do.Pixel:
    """Where the shape of a control is seen, and nothing else is in front of it."""
    import bpy

    bridge, region = sys.modules[f"{do.EXTENSION}.bridge"], hand.region()
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=region):
        view = bridge.read_view(region, hand.viewport.spaces.active.region_3d)
        for line in bridge.read_outline(bpy.context, bpy.data.objects["rig"].pose.bones[name]):
            x, y = (round(number) for number in view.pixels(line.mean(axis=0)).tolist())
            found = bridge.pick(bpy.context, view, (x, y))
            if found is not None and found.bone == name:
                return x + region.x, y + region.y
    raise AssertionError(f"{name} is hidden by others")
