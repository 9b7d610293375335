"""Whatever the action looks like, a drag, Solve Here, a body tool and Breakdown change no other key frame.

Ground truth is Blender's own evaluation of all other frames, to 1e-5 of the rig's size: heads of all bones, and the
ends of their axes as long as they are.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import autokey
from bridge.channels import channelbag_of, rotation_channel
from bridge.driven import split_path
from edits.pin_list import set_pins
from tests.blender.control_drags import RIGS, WAYS, Parts, size_of
from tests.blender.rigs import make_armature, select, world
from tests.paths import SHARED

context: Any = bpy.context
LAST = 16
HERE = 8
SAME = 1e-5  # of the size
BLENDS = ("REPLACE", "ADD", "SUBTRACT", "MULTIPLY", "COMBINE")

Frames = dict[int, np.ndarray]


def naked(mode: str = "QUATERNION") -> tuple[Any, Parts]:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_armature(mode=mode)
    select(rig, [])
    return rig, {part: part for part in WAYS}


MADE: dict[str, Callable[[], tuple[Any, Parts]]] = {"naked": naked}
if SHARED.exists():
    MADE["Rigify"] = RIGS["Rigify on IK"]


@pytest.fixture(autouse=True)
def preferences() -> Iterator[None]:
    """Only Insert Available off; Only Insert Needed as it comes."""
    edit = context.preferences.edit
    before = edit.use_keyframe_insert_available, edit.use_auto_keyframe_insert_needed
    edit.use_keyframe_insert_available = False
    yield
    edit.use_keyframe_insert_available, edit.use_auto_keyframe_insert_needed = before


def controls_of(rig: Any) -> list[str]:
    """The bones that pose the body."""
    whole = bridge.read_rig(rig)
    body = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    return rig.pose.bones.keys() if body is None else [whole.skeleton.names[bone] for bone in sorted(body.keyed)]


def animate(rig: Any, frames: Any = range(1, LAST + 1)) -> None:
    """Key rotation and place of all controls: a sway, of which every frame is another pose."""
    scene, size = context.scene, size_of(rig)
    scene.frame_start, scene.frame_end = 1, LAST
    for number, name in enumerate(controls_of(rig)):
        bone = rig.pose.bones[name]
        channel = rotation_channel(bone.rotation_mode)
        for frame in frames:
            sway = 0.05 * np.sin(0.4 * frame + number)
            turn = {
                "rotation_quaternion": np.array((1.0, sway, 0.5 * sway, 0.0)) / np.sqrt(1.0 + 1.25 * sway**2),
                "rotation_axis_angle": (sway, 1.0, 0.0, 0.0),
                "rotation_euler": (sway, 0.5 * sway, 0.0),
            }
            setattr(bone, channel, turn[channel])
            bone.keyframe_insert(channel, frame=frame)
            if not (bone.bone.use_connect or any(bone.lock_location)):
                bone.location = size * 0.3 * np.array((sway, 0.5 * sway, 0.002 * frame))
                bone.keyframe_insert("location", frame=frame)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    scene.frame_set(HERE)


def curves(rig: Any, bone: str = "", path: str = "") -> list[Any]:
    found = list(channelbag_of(rig).fcurves)
    return [
        one for one in found
        if bone in ("", (split_path(one.data_path) or ("",))[0]) and one.data_path.endswith(path)
    ]  # fmt: skip


def remove(rig: Any, chosen: Callable[[Any], bool]) -> None:
    fcurves = channelbag_of(rig).fcurves
    for curve in [curve for curve in fcurves if chosen(curve)]:
        fcurves.remove(curve)


def one_key(curve: Any, frame: float = 1.0) -> None:
    """Leave one key of a curve, at a frame."""
    value = curve.evaluate(HERE)
    curve.keyframe_points.clear()
    curve.keyframe_points.insert(frame, value)
    curve.update()


def layered(rig: Any, blend: str, influence: float = 1.0, bones: tuple[str, ...] = ()) -> Any:
    """Push the action down as a strip and put a layer above it, with keys of some bones."""
    data = rig.animation_data
    data.nla_tracks.new().strips.new("walk", 1, data.action)
    data.action = bpy.data.actions.new("layer")
    data.action_blend_type, data.action_influence = blend, influence
    for frame in range(1, LAST + 1):  # between few keys Blender's smoothing changes a curve as far as it goes
        context.scene.frame_set(frame)
        for bone in bones:
            rig.pose.bones[bone].keyframe_insert("location", frame=frame)
            rig.pose.bones[bone].keyframe_insert(rotation_channel(rig.pose.bones[bone].rotation_mode), frame=frame)
    context.scene.frame_set(HERE)
    return data


def others(rig: Any, without: tuple[int, ...] = (HERE,), last: int = LAST) -> Frames:
    """The poses that Blender evaluates in the other frames; the scene is at the present one in the end."""
    now = context.scene.frame_current
    found = {}
    for frame in range(1, last + 1):
        if frame not in without:
            context.scene.frame_set(frame)
            found[frame] = poses(rig)
    context.scene.frame_set(now)
    return found


def poses(rig: Any) -> np.ndarray:
    """Where Blender has the heads of bones, and the ends of their axes as long as they are, columns of (J, 3, 4)."""
    lengths = np.array([bone.length for bone in rig.data.bones])
    return bridge.read_matrices(rig) * np.insert(lengths[:, None, None] * np.ones((1, 1, 3)), 3, 1.0, axis=2)


def worst(rig: Any, before: Frames) -> tuple[float, int, str]:
    """The largest difference in any frame, as a share of the size, with the frame and the bone."""
    now = context.scene.frame_current
    names, size, found = rig.pose.bones.keys(), size_of(rig), (0.0, 0, "")
    for frame, pose in before.items():
        context.scene.frame_set(frame)
        off = np.abs(poses(rig) - pose).max(axis=(1, 2)) / size
        found = max(found, (float(off.max()), frame, names[off.argmax()]))
    context.scene.frame_set(now)
    return found


def act(rig: Any, parts: Parts, role: str) -> None:
    assert bpy.ops.poise.drag(bone=parts[role], shift=tuple(size_of(rig) * np.array(WAYS[role]))) == {"FINISHED"}


def attempt(do: Callable[[], object], capfd: Any) -> str:
    """Do something; return what is said, or why not."""
    capfd.readouterr()
    try:
        do()
    except RuntimeError as error:
        return str(error)
    return capfd.readouterr().out


def shown_again(rig: Any) -> float:
    """How far the pose of the present frame is from itself, once the frame was changed: what is lost."""
    before, here = poses(rig), context.scene.frame_current
    context.scene.frame_set(here + 1)
    context.scene.frame_set(here)
    return float(np.abs(poses(rig) - before).max() / size_of(rig))


def unchanged(rig: Any, before: Frames) -> None:
    found = worst(rig, before)
    assert found[0] < SAME, found


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("needed", [False, True])
@pytest.mark.parametrize("role", ["hips", "hand.L"])
def test_channels_with_some_axes_keyed(name: str, needed: bool, role: str) -> None:
    context.preferences.edit.use_auto_keyframe_insert_needed = needed
    rig, parts = MADE[name]()
    animate(rig)
    remove(rig, lambda curve: curve.array_index != 2)
    context.scene.frame_set(HERE)
    before = others(rig)
    act(rig, parts, role)
    unchanged(rig, before)
    assert shown_again(rig) < SAME


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE", "QUATERNION"])
def test_rotations_with_some_values_keyed(mode: str) -> None:
    rig, parts = naked(mode)
    animate(rig)
    remove(rig, lambda curve: curve.array_index == 1)
    context.scene.frame_set(HERE)
    before = others(rig)
    act(rig, parts, "hand.L")
    unchanged(rig, before)
    assert shown_again(rig) < SAME


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("at", [1.0, HERE, 30.0])
def test_curves_with_one_key(name: str, at: float) -> None:
    rig, parts = MADE[name]()
    animate(rig)
    for curve in [*curves(rig, path="location"), *curves(rig)[::3]]:
        one_key(curve, at)
    context.scene.frame_set(HERE)
    before = others(rig)
    for role in ("hips", "hand.L"):
        act(rig, parts, role)
    unchanged(rig, before)
    assert shown_again(rig) < SAME


def test_curves_that_end_before_with_a_slope_keep_their_shape() -> None:
    rig, parts = naked()
    animate(rig)
    for curve in curves(rig, "hips", "location"):
        curve.keyframe_points.clear()
        for frame, value in ((1, 0.0), (5, 0.1), (6, 0.3)):
            curve.keyframe_points.insert(frame, value)
        curve.update()
    context.scene.frame_set(HERE)
    before = others(rig)
    act(rig, parts, "hips")
    unchanged(rig, before)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("here", [HERE, LAST + 6])
def test_curves_that_repeat_stay_without_cycle_aware_keying(name: str, here: int, capfd: Any) -> None:
    rig, parts = MADE[name]()
    animate(rig)
    for curve in curves(rig):
        if not any(f'"{parts[part]}"' in curve.data_path for part in ("hand.L",)):
            curve.modifiers.new("CYCLES")
    rig.animation_data.action.update_tag()
    context.scene.tool_settings.use_keyframe_cycle_aware = False
    context.scene.frame_set(here)
    before = others(rig, (here,), 3 * LAST)
    said = attempt(lambda: act(rig, parts, "hand.L"), capfd)
    assert "curves that repeat, and Cycle-Aware Keying is off, so " in said
    unchanged(rig, before)


def test_curves_with_linear_extrapolation_stay_where_a_key_would_change_the_frames_beyond_their_keys(
    capfd: Any,
) -> None:
    rig, parts = naked()
    animate(rig)
    for curve in curves(rig):
        curve.extrapolation = "LINEAR"
    context.scene.frame_set(2)
    before = others(rig, (2,), 2 * LAST)
    said = attempt(lambda: act(rig, parts, "hand.L"), capfd)
    assert "curves with linear extrapolation, and a key here would change the frames beyond their keys, so " in said
    unchanged(rig, before)


@pytest.mark.parametrize("here", [HERE, LAST + HERE - 1])
def test_cycle_aware_keying_changes_this_phase_of_curves_that_repeat_and_no_other_frame(here: int) -> None:
    rig, parts = naked()
    animate(rig)
    for curve in curves(rig):
        curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
        curve.modifiers.new("CYCLES")
        curve.update()
    remove(rig, lambda curve: "spine" in curve.data_path)
    rig.animation_data.action.update_tag()
    context.scene.tool_settings.use_keyframe_cycle_aware = True
    context.scene.frame_set(here)
    phase = tuple(HERE + turn * (LAST - 1) for turn in range(4))
    before = others(rig, phase, 3 * LAST)
    act(rig, parts, "hand.L")
    unchanged(rig, before)
    assert shown_again(rig) < SAME


@pytest.mark.parametrize("kind", ["NOISE", "LIMITS", "GENERATOR"])
def test_curves_with_modifiers_stay(kind: str, capfd: Any) -> None:
    rig, parts = naked()
    animate(rig)
    for curve in curves(rig, "upper_arm.L"):
        modifier = curve.modifiers.new(kind)
        if kind == "GENERATOR":
            modifier.use_additive = True
    rig.animation_data.action.update_tag()
    context.scene.frame_set(HERE)
    before, arm = others(rig), tuple(rig.pose.bones["upper_arm.L"].rotation_quaternion)
    act(rig, parts, "hand.L")
    assert tuple(rig.pose.bones["upper_arm.L"].rotation_quaternion) == arm
    assert "upper_arm.L has curves with modifiers, so it is not changed" in capfd.readouterr().out
    unchanged(rig, before)
    assert shown_again(rig) < SAME


@pytest.mark.parametrize(
    ("name", "influence", "available"),
    [
        *(("naked", influence, available) for influence in (1.0, 0.5) for available in (False, True)),
        *(
            pytest.param(rig, influence, influence < 1.0, marks=pytest.mark.long)
            for rig in [*MADE][1:]
            for influence in (1.0, 0.5)
        ),
    ],
)
@pytest.mark.parametrize("blend", BLENDS)
def test_layers_above_strips(name: str, blend: str, influence: float, available: bool, capfd: Any) -> None:
    rig, parts = MADE[name]()
    animate(rig)
    hand = {"naked": "hand.L", "Rigify": "hand_ik.L"}[name]
    layered(rig, blend, influence, (hand,))
    context.preferences.edit.use_keyframe_insert_available = available
    before = others(rig)
    for role in ("hand.L", "hips"):
        said = attempt(partial(act, rig, parts, role), capfd)
        assert "modifiers" not in said
        unchanged(rig, before)
        assert shown_again(rig) < SAME or "when the frame changes" in said, said


def test_layers_that_add_move_the_whole_body() -> None:
    for blend in ("ADD", "SUBTRACT", "COMBINE"):
        rig, parts = naked()
        animate(rig)
        layered(rig, blend, 1.0, ("hand.L",))
        start = world(rig, "hand.L")
        act(rig, parts, "hand.L")
        context.scene.frame_set(HERE + 1)
        context.scene.frame_set(HERE)
        wanted = start + size_of(rig) * np.array(WAYS["hand.L"])
        np.testing.assert_allclose(world(rig, "hand.L"), wanted, atol=1e-3)


@pytest.mark.parametrize("auto", [False, True])
def test_what_only_muted_tracks_have_has_no_keys(auto: bool, capfd: Any) -> None:
    rig, parts = naked()
    animate(rig)
    stashed = rig.animation_data.action.copy()
    remove(rig, lambda curve: '"upper_arm.L"' in curve.data_path)
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("stash", 1, stashed)
    track.mute = True
    context.scene.tool_settings.use_keyframe_insert_auto = auto
    context.preferences.edit.use_keyframe_insert_available = True
    context.scene.frame_set(HERE)
    before = others(rig)
    act(rig, parts, "hand.L")
    assert "upper_arm.L has no keys, and " in capfd.readouterr().out
    unchanged(rig, before)


@pytest.mark.parametrize("off", ["solo", "influence", "extrapolation"])
def test_an_action_that_the_nla_editor_leaves_out_is_not_keyed(off: str, capfd: Any) -> None:
    rig, parts = naked()
    animate(rig)
    data = layered(rig, "COMBINE", 1.0, ("hand.L", "spine"))
    if off == "solo":
        data.nla_tracks[0].is_solo = True
    elif off == "influence":
        data.action_influence = 0.0
    else:
        data.action_extrapolation = "NOTHING"
    here = HERE if off != "extrapolation" else LAST + 4
    context.scene.frame_set(here)
    before = others(rig, (here,), 2 * LAST)
    assert "an action that the NLA editor does not use" in attempt(lambda: act(rig, parts, "hand.L"), capfd)
    unchanged(rig, before)


def test_a_drag_in_tweak_mode_refuses_in_a_sentence() -> None:
    rig, parts = naked()
    animate(rig)
    data = layered(rig, "REPLACE")
    data.action = None
    for track in data.nla_tracks:
        data.nla_tracks.active = track
        track.select = track.strips[0].select = True
    data.use_tweak_mode = True
    before = others(rig)
    with pytest.raises(RuntimeError, match="is in the NLA editor's tweak mode"):
        act(rig, parts, "hand.L")
    unchanged(rig, before)


def test_the_reason_names_the_axes_that_have_keys(capfd: Any) -> None:
    rig, parts = naked()
    animate(rig)
    kept = (rig.pose.bones["hips"].path_from_id("location"), 2)
    remove(rig, lambda curve: '"hips"' in curve.data_path and (curve.data_path, curve.array_index) != kept)
    context.preferences.edit.use_keyframe_insert_available = True
    context.scene.frame_set(HERE)
    before = others(rig)
    act(rig, parts, "hips")
    why = "the location of hips has keys on Z only, and Only Insert Available is on, so it is not changed"
    assert why in capfd.readouterr().out
    unchanged(rig, before)


TOOLS: dict[str, Callable[[], set[str]]] = {
    "solve": lambda: bpy.ops.poise.solve(),
    "t-pose": lambda: bpy.ops.poise.take_posture(posture="T"),
    "mirror": lambda: bpy.ops.poise.mirror_pose(),
    "feet": lambda: bpy.ops.poise.plant_feet(),
    "breakdown": lambda: bpy.ops.poise.breakdown(factor=0.2),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "what",
    ["axes", BLENDS[-1], *(pytest.param(what, marks=pytest.mark.long) for what in ("one key", "cycles", *BLENDS[:-1]))],
)
def test_solve_here_body_tools_and_breakdown(name: str, what: str, capfd: Any) -> None:
    rig, parts = MADE[name]()
    animate(rig)
    if what == "axes":
        remove(rig, lambda curve: curve.array_index != 2)
    elif what == "one key":
        for curve in curves(rig)[::2]:
            one_key(curve)
    elif what == "cycles":
        for curve in curves(rig)[::2]:
            curve.modifiers.new("CYCLES")
        rig.animation_data.action.update_tag()
    else:
        layered(rig, what, 1.0, ({"naked": "hand.L", "Rigify": "hand_ik.L"}[name],))
    context.scene.frame_set(HERE)
    before = others(rig, (HERE,), 2 * LAST)
    for do in TOOLS.values():
        set_pins(context, rig, [parts["hand.L"], parts["foot.L"]], "BOTH", "WORLD")
        rig.poise_pins[parts["hand.L"]].position.z += 0.1 * size_of(rig)
        attempt(do, capfd)
        unchanged(rig, before)


@pytest.mark.parametrize("what", ["one key", "first", "ADD", "COMBINE"])
def test_what_is_keyed_in_several_frames_changes_no_others(what: str) -> None:
    rig, _ = naked()
    animate(rig)
    arm = [one for one in curves(rig) if '"upper_arm.L"' in one.data_path]
    if what == "one key":
        for curve in arm:
            one_key(curve)
    elif what == "first":
        remove(rig, arm.__contains__)
    else:
        layered(rig, what, 1.0, ("hand.L",))
    context.scene.frame_set(HERE)
    frames = (HERE - 1, HERE, HERE + 1)
    before, channels = others(rig, frames), bridge.read_channels(rig)

    def turned() -> Iterator[None]:
        for frame in frames:
            context.scene.frame_set(frame)
            rig.pose.bones["upper_arm.L"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
            yield
        context.scene.frame_set(HERE)

    autokey.key(context, rig, ("upper_arm.L",), (), before=channels, frames=turned())
    unchanged(rig, before)
    for frame in frames:
        context.scene.frame_set(frame + 1)
        context.scene.frame_set(frame)
        shown = np.array(rig.pose.bones["upper_arm.L"].rotation_quaternion)
        np.testing.assert_allclose(shown / np.linalg.norm(shown), (0.8, 0.6, 0.0, 0.0), atol=1e-5)


@pytest.mark.parametrize("name", ["MMD", *(["MMD of the shared data"] if SHARED.exists() else [])])
def test_a_tool_that_turns_the_head_leaves_the_starts_of_legs_on_ik(name: str) -> None:
    """They were keyed with the pose that IK shows, and knees moved by up to 3.5 mm in the frames beside."""
    rig, parts = RIGS[name]()
    for frame, way in ((1, (0.0, 0.0, -0.05)), (20, (0.03, -0.05, -0.08)), (40, (0.0, 0.0, -0.05))):
        bpy.ops.poise.drag(bone=parts["hips"], shift=tuple(size_of(rig) * np.array(way)))
        for bone in rig.pose.bones:
            for channel in ("location", rotation_channel(bone.rotation_mode)):
                bone.keyframe_insert(channel, frame=frame)
    context.scene.frame_set(11)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    context.scene.cursor.location = (1.0, -3.0, 1.2)
    assert bpy.ops.poise.look_at() == {"FINISHED"}
    keyed = {
        curve.data_path.split('"')[1]
        for curve in channelbag_of(rig).fcurves
        if any(point.co.x == 11.0 for point in curve.keyframe_points)
    }
    assert keyed == {"首", "頭"}
