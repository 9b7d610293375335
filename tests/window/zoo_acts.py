"""The Poise tool on rig after rig: all that a person does with one. It runs inside Blender, which has no pytest."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.window import drag_acts as do

ASIDE = (1.15, 0.0, 0.45)  # the view from before, aside and above: no axis is seen end on
QUARTER = 7  # moves of the mouse round a joint
RADIUS = 70  # pixels from the joint
RESTS = 0.5  # seconds in which a body comes to rest under a still mouse, on a machine with much else to do


@dataclass(frozen=True)
class Rig:
    """Which bone is dragged, how far towards which other, what is pinned, and the other side's bone if there is one."""

    hand: str
    towards: str
    share: float
    feet: tuple[str, ...]
    other: str = ""
    perspective: bool = True


RIGS = {
    "odd_random_rolls_apose.blend": Rig("hand.L", "head", 0.4, ("foot.L", "foot.R"), "hand.R", perspective=False),
    "odd_object_nonuniform_rotated.blend": Rig("hand.L", "hips", 0.4, ("foot.L", "foot.R"), "hand.R"),
    "xsens_motive_tpose.bvh": Rig("LeftWrist", "Hips", 0.4, ("LeftAnkle", "RightAnkle"), "RightWrist"),
    "mesh2motion_quadruped.glb": Rig(
        "Front_Foot.L", "Head", 0.3, ("Back_Foot.L", "Back_Foot.R", "Front_Foot.R"), "Front_Foot.R", perspective=False
    ),
    "cesium_man.gltf": Rig("Node_18", "Node_2", 0.3, ("Node_9", "Node_5")),
}


def tour(hand: Any, *files: str) -> Generator[float, None, dict[str, Any]]:
    """All of it on each of the rigs; what was seen, by the name of the file."""
    seen: dict[str, Any] = {}
    for file in files:
        name = Path(file).name
        yield from do.open_rig(hand, file)
        seen[name] = yield from visit(hand, Path(file).stem, RIGS[name])
    return seen


def visit(hand: Any, name: str, rig: Rig) -> Generator[float, None, dict[str, Any]]:
    """Pin, drag with auto-keying, undo, redo, constrain, turn, mirror, cancel."""
    seen: dict[str, Any] = {}
    yield from do.look_from(hand, ASIDE, rig.perspective)
    seen["size"], seen["sheared"] = max(do.armature().dimensions), len({*do.armature().scale}) > 1
    seen["pins"] = yield from pin(hand, rig)
    seen["drag"] = yield from drag(hand, name, rig)
    seen["constrain"] = yield from constrain(hand, name, rig)
    seen["turn"] = yield from turn(hand, rig)
    yield from do.cancel(hand, "RIGHTMOUSE")
    seen["turn"] |= {"end": do.channels(), "left": do.left_behind()}
    seen["mirror"] = yield from mirror(hand, name, rig)
    seen["timers"] = yield from do.timers(hand)
    return seen


def aim(hand: Any, rig: Rig) -> tuple[do.Pixel, do.Pixel]:
    """Where the dragged bone is seen, and where it is led."""
    start, towards = hand.pixel(do.head(rig.hand)), hand.pixel(do.head(rig.towards))
    return start, tuple(round(a + rig.share * (b - a)) for a, b in zip(start, towards, strict=True))


def places(names: tuple[str, ...]) -> list[tuple[float, float, float]]:
    return [do.head(name) for name in names]


def keys() -> dict[tuple[str, int, float], float]:
    """All keys of the armature's action."""
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = do.armature().animation_data
    if data is None or data.action is None:
        return {}
    bag = action_get_channelbag_for_slot(data.action, data.action_slot)
    return {(c.data_path, c.array_index, k.co.x): k.co.y for c in bag.fcurves for k in c.keyframe_points}


def pin(hand: Any, rig: Rig) -> Generator[float, None, list[Any]]:
    """P three times over the dragged bone, once over each foot; the kinds seen, and the pins in the end."""
    found: list[Any] = []
    hand.move(*hand.pixel(do.head(rig.hand)))
    yield do.SOON
    for _ in range(3):
        yield from do.key(hand, "P")
        found.append([[pin.name, pin.use_position, pin.use_rotation] for pin in do.armature().poise_pins])
    for foot in rig.feet:
        hand.move(*hand.pixel(do.head(foot)))
        yield do.SOON
        yield from do.key(hand, "P")
    return [*found, [[pin.name, pin.use_position, pin.use_rotation] for pin in do.armature().poise_pins]]


def at_next_frame() -> list[float]:
    """The channels of all bones at the frame after the present one."""
    import bpy

    scene = bpy.context.scene
    scene.frame_set(scene.frame_current + 1)
    found = do.channels()
    scene.frame_set(scene.frame_current - 1)
    return found


def drag(hand: Any, name: str, rig: Rig) -> Generator[float, None, dict[str, Any]]:
    """Drag and drop with auto-keying on, undo and redo, and undo."""
    import bpy

    settings = bpy.context.scene.tool_settings
    before, old, feet = do.channels_of(), keys(), places(rig.feet)
    seen: dict[str, Any] = {"start": do.channels(), "feet": feet, "frame": bpy.context.scene.frame_current}
    seen["next frame before"] = at_next_frame()
    settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False  # 5.2 keys by default what has keys, and no more
    start, end = aim(hand, rig)
    yield from do.grab(hand, start)
    yield from do.lead(hand, end)
    hand.screenshot(f"{name}_drag")
    yield from do.drop(hand)
    seen["bone"] = bpy.context.window_manager.operators[-1].properties.bone
    seen["left"] = do.left_behind()
    seen["wanted"], seen["reached"] = list(end), list(hand.pixel(do.head(rig.hand)))
    seen["dropped"], seen["feet dropped"] = do.channels(), places(rig.feet)
    seen["next frame"] = at_next_frame()
    now = do.channels_of()
    seen["changed"] = sorted(bone for bone in now if now[bone] != before[bone])
    seen["chain"] = [bone.name for bone in do.bone(rig.hand).parent_recursive]
    new = {place: value for place, value in keys().items() if old.get(place) != value}
    seen["keyed"] = sorted({path.split('"')[1] for path, _, _ in new})
    seen["frames"] = sorted({frame for _, _, frame in new})
    yield from do.key(hand, "Z", ctrl=True)
    seen["undone"], seen["keys undone"] = do.channels(), keys() == old
    yield from do.key(hand, "Z", ctrl=True, shift=True)
    seen["redone"], seen["keys redone"] = do.channels(), keys() == old | new
    yield from do.key(hand, "Z", ctrl=True)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False  # undo has put another scene in its place
    seen["undone again"] = do.channels()
    return seen


def constrain(hand: Any, name: str, rig: Rig) -> Generator[float, None, dict[str, Any]]:
    """X three times in mid-drag and Shift Z, then Esc: where the dragged joint is, in the world and in the window."""
    start, end = aim(hand, rig)
    matrix = do.armature().matrix_world @ do.bone(rig.hand).matrix
    seen: dict[str, Any] = {"start": do.channels(), "from": do.head(rig.hand), "wanted": list(end)}
    seen["own X"] = list(matrix.col[0].xyz.normalized())
    yield from do.grab(hand, start)
    yield from do.lead(hand, end)
    for way, modifiers in (("along X", {}), ("along its own X", {}), ("free", {}), ("across Z", {"shift": True})):
        yield from do.key(hand, way[-1] if way != "free" else "X", **modifiers)
        yield RESTS
        seen[way] = {"to": do.head(rig.hand), "reached": list(hand.pixel(do.head(rig.hand)))}
    hand.screenshot(f"{name}_across_z")
    yield from do.cancel(hand, "ESC")
    return seen | {"end": do.channels(), "left": do.left_behind()}


def turn(hand: Any, rig: Rig) -> Generator[float, None, dict[str, Any]]:
    """R in mid-drag, and the mouse goes a quarter round the joint, counter-clockwise."""
    import numpy as np

    middle = hand.pixel(do.head(rig.hand))
    seen: dict[str, Any] = {"start": do.channels()}
    yield from do.grab(hand, middle)
    yield from do.lead(hand, (middle[0] + 6, middle[1]), 1)
    yield from do.lead(hand, middle, 1)
    yield from do.key(hand, "R")
    before, at = stand(rig), do.head(rig.hand)
    yield from do.lead(hand, (middle[0] + RADIUS, middle[1]), 1)
    for angle in np.linspace(0.0, np.pi / 2.0, QUARTER)[1:]:
        yield from do.lead(
            hand, (round(middle[0] + RADIUS * np.cos(angle)), round(middle[1] + RADIUS * np.sin(angle))), 1
        )
    yield RESTS
    axis, angle = (stand(rig) @ before.inverted()).to_quaternion().to_axis_angle()
    sight = hand.viewport.spaces.active.region_3d.view_rotation.to_matrix().col[2]
    seen["off the line of sight"], seen["degrees"] = float(np.degrees(axis.angle(sight))), float(np.degrees(angle))
    seen["joint moved"] = float(np.linalg.norm(np.subtract(do.head(rig.hand), at)))
    return seen


def stand(rig: Rig) -> Any:
    """How the dragged bone stands in the world, (3, 3)."""
    return (do.armature().matrix_world @ do.bone(rig.hand).matrix).to_3x3().normalized()


def mirror(hand: Any, name: str, rig: Rig) -> Generator[float, None, dict[str, Any]]:
    """Drag with X-Axis Mirror on and confirm by Enter, without auto-keying: how far each side went in the armature."""
    do.armature().pose.use_mirror_x = True
    sides, old = [side for side in (rig.hand, rig.other) if side], keys()
    before = [list(do.bone(side).head) for side in sides]
    start, end = aim(hand, rig)
    yield from do.grab(hand, start)
    yield from do.lead(hand, end)
    yield RESTS
    hand.screenshot(f"{name}_mirror")
    yield from do.key(hand, "RET")
    left = do.left_behind()
    yield from do.drop(hand)
    after = [list(do.bone(side).head) for side in sides]
    moved = [[b - a for a, b in zip(*way, strict=True)] for way in zip(before, after, strict=True)]
    do.armature().pose.use_mirror_x = False
    return {"moved": moved, "left": left, "wanted": list(end), "reached": list(hand.pixel(do.head(rig.hand))),
            "no keys": keys() == old}  # fmt: skip
