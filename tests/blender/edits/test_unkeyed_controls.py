"""What has no keys and may not get any stays in drags, Solve Here and body tools: no other frame changes.

Ground truth is Blender's own evaluation. Three rigs are tried; with POISE_ZOO=full all of `control_drags.RIGS`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

import bridge
from bridge import Grab
from bridge.channels import channelbag_of, rotation_channel
from bridge.driven import split_path
from edits.drag.session import DragSession
from edits.pin_list import set_pins
from edits.retarget import Retargeted, imported
from tests.blender.control_drags import (
    NEAR,
    RIGS,
    STILL,
    WAYS,
    Parts,
    drag,
    drag_bone,
    key_step,
    keys,
    pin_feet,
    pins_off,
    seen,
    settings,
    size_of,
)
from tests.blender.rigs import BODY, FULL, load, make_armature, make_ik_body, make_walk, select, world
from tests.paths import DATA, SHARED

context: Any = bpy.context
CLIP = DATA / "motion" / "cmu_07_12.bvh"
FRAMES = (20, 24)
HERE = 22
THREE = ("Auto-Rig Pro on IK", "CloudRig on FK", "reverse feet without poles")
NAMES = RIGS if FULL else (*THREE, *(("Rigify on IK",) if SHARED.exists() else ()))
DOWN = (0.0, 0.0, -0.05)  # metres of a human of 1.7 m
SAID = 1e-3, 0.5  # metres of such a human, degrees: what a limb on IK is further beside is said
SAME = 1e-5  # of the size
POLES = (  # the last one hangs on a Child Of constraint
    ("Quaternius", "PoleTarget.L"), ("CloudRig on IK", "IK-POLE-UpperArm.L"), ("Auto-Rig Pro on IK", "c_leg_pole.l"),
)  # fmt: skip


def no_auto() -> None:
    context.scene.tool_settings.use_keyframe_insert_auto = False


def available() -> None:
    context.preferences.edit.use_keyframe_insert_available = True


def replacing() -> None:
    context.scene.tool_settings.auto_keying_mode = "REPLACE_KEYS"


def keying_set(name: str = "Scale") -> None:
    context.scene.keying_sets.active = context.scene.keying_sets_all[name]
    context.scene.tool_settings.use_keyframe_insert_keyingset = True


KEYING: dict[str, tuple[Callable[[], None], str]] = {
    "off": (no_auto, "auto-keying is off"),
    "available": (available, "Only Insert Available is on"),
    "replace": (replacing, "auto-keying only replaces keys"),
    "keying set": (keying_set, 'the keying set "Scale" does not add any'),
}


@pytest.fixture(autouse=True)
def preferences() -> Iterator[None]:
    edit = context.preferences.edit
    before = edit.use_keyframe_insert_available
    edit.use_keyframe_insert_available = False
    yield
    edit.use_keyframe_insert_available = before


def free_of_keys(rig: Any, chosen: Callable[[str], bool]) -> None:
    """Remove the curves of some bones."""
    curves = channelbag_of(rig).fcurves
    for curve in [curve for curve in curves if chosen((split_path(curve.data_path) or ("",))[0])]:
        curves.remove(curve)


def captured(name: str, half: int) -> tuple[Any, Parts]:
    """A captured walk on a rig, with keys of every other control; it is in the midst of it, auto-key on."""
    rig, parts = RIGS[name]()
    if bridge.read_body(rig).roles.humanoid:
        with imported(context, CLIP) as (source, _):
            edit = Retargeted(context, rig, source, FRAMES, plant=False)
        edit.solve()
        edit.write(rig)
    else:  # an animal takes no motion of people
        key_step(rig, range(FRAMES[0], FRAMES[1] + 1))  # all: between keys a new one changes the pose
    bones = sorted({bone for bone, _ in filter(None, map(split_path, {path for path, _ in keys(rig)}))})
    free_of_keys(rig, lambda bone: bone in bones[half::2])
    context.scene.tool_settings.use_keyframe_insert_auto = True
    context.scene.frame_set(HERE)
    return rig, parts


def test_knees_with_hinges_and_no_poles_bend_in_a_walk_as_they_are_solved() -> None:
    """IK began where it had ended in the frame before: knees bent backwards, 98 mm beside, where legs were straight."""
    rig, _ = RIGS["IK without poles on hands and feet"]()
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (20, 44), plant=False)
    edit.solve()
    assert edit.write(rig).pose.position_error.max() < NEAR * size_of(rig)


def others(rig: Any) -> dict[int, np.ndarray]:
    """What Blender shows in the frames around the present one; the scene ends there."""
    found = {frame: seen(rig, frame) for frame in range(FRAMES[0], FRAMES[1] + 1) if frame != HERE}
    context.scene.frame_set(HERE)
    return found


def unchanged(rig: Any, before: dict[int, np.ndarray]) -> None:
    for frame, matrices in before.items():
        np.testing.assert_allclose(seen(rig, frame), matrices, atol=SAME * size_of(rig))


@pytest.mark.parametrize("keying", ["off", *(pytest.param(how, marks=pytest.mark.long) for how in [*KEYING][1:])])
@pytest.mark.parametrize("name", NAMES)
def test_a_drag_changes_no_other_frame(name: str, keying: str, capfd: Any) -> None:
    forbid, reason = KEYING[keying]
    for half in (0, 1) if keying == "off" else (0,):  # bodies whose other half may move are solved for seconds
        rig, parts = captured(name, half)
        before, channels, set_before = others(rig), keys(rig).keys(), settings(rig)
        forbid()
        for role in ("hips", "hand.L", "foot.R"):
            pin_feet(rig, parts, role)
            capfd.readouterr()
            assert bpy.ops.poise.drag(bone=parts[role], shift=tuple(size_of(rig) * np.array(WAYS[role]))) == {
                "FINISHED"
            }
            said = capfd.readouterr().out
            assert f"no keys, and {reason}, so " in said
            assert "another target" not in said  # what is held for want of keys has none that a person could remove
        assert all(path.endswith(".scale") for path, _ in keys(rig).keys() - channels)  # which the keying set has
        assert settings(rig) == set_before
        unchanged(rig, before)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_what_is_solved_with_what_stays_is_what_is_shown(name: str) -> None:
    for half in (0, 1):
        for role in WAYS:
            rig, parts = captured(name, half)
            no_auto()
            shown = drag(rig, parts, role)
            assert (shown.off < SAID[0] and shown.turned < SAID[1]) or "IK of" in " ".join(shown.said), (half, role)


@pytest.mark.parametrize(
    ("name", "role", "pole"),
    [
        ("Quaternius", "foot.L", "PoleTarget.L"), ("Quaternius", "hips", "PoleTarget.R"),
        ("CloudRig on IK", "hips", "IK-POLE-Thigh.R"), ("CloudRig on IK", "hand.L", "IK-POLE-UpperArm.L"),
        ("legs on IK with poles", "foot.R", "knee.R"),
        *([("MMD of the shared data", "foot.R", "右ひざ")] if SHARED.exists() else ()),  # a start of IK without a pole
    ],
)  # fmt: skip
def test_a_limb_whose_pole_has_no_keys_is_solved_as_blender_bends_it(name: str, role: str, pole: str) -> None:
    rig, parts = RIGS[name]()
    key_step(rig, (1, 20, 40))
    free_of_keys(rig, lambda bone: bone == pole)
    no_auto()
    before = tuple(rig.pose.bones[pole].location)
    shown = drag(rig, parts, role)
    assert shown.off < SAID[0]
    assert shown.turned < SAID[1]
    assert shown.short < SAID[0]
    assert "IK of" not in " ".join(shown.said)
    assert tuple(rig.pose.bones[pole].location) == before


@pytest.mark.parametrize(
    ("name", "pole"),
    [
        *POLES,
        *([("Rigify on IK", "thigh_ik_target.L")] if SHARED.exists() else ()),  # it is off: IK has no poles
    ],
)
def test_a_dragged_pole_and_its_limb_move_as_under_g_and_nothing_else(name: str, pole: str) -> None:
    """The body went along by what the limb cannot turn: the foot by 9 cm where the pole was dragged 10 cm forward."""
    rig, _ = RIGS[name]()
    way = size_of(rig) * np.array((0.1, -0.06, 0.02))
    bone, start = rig.pose.bones[pole], rig.pose.bones[pole].matrix.copy()
    bone.matrix = Matrix.Translation(way.tolist()) @ start
    context.view_layer.update()
    by_g = bridge.read_matrices(rig)
    bone.matrix = start
    context.view_layer.update()
    assert bpy.ops.poise.drag(bone=pole, shift=tuple(way)) == {"FINISHED"}
    np.testing.assert_allclose(bridge.read_matrices(rig), by_g, atol=SAME * size_of(rig))


@pytest.mark.parametrize(("name", "pole"), POLES)
def test_a_pole_without_keys_takes_no_body_with_it(name: str, pole: str) -> None:
    """The body went where the pole was dragged, by up to its half: without the pole."""
    rig, _ = RIGS[name]()
    key_step(rig, (1, 20, 40))
    free_of_keys(rig, lambda bone: bone == pole)
    no_auto()
    start = bridge.read_matrices(rig)
    with pytest.raises(RuntimeError, match=rf"^Error: {pole} has no keys, and auto-keying is off, so"):
        bpy.ops.poise.drag(bone=pole, shift=(0.05 * size_of(rig), 0.0, 0.0))
    np.testing.assert_array_equal(bridge.read_matrices(rig), start)
    set_pins(context, rig, [pole], "POSITION", "WORLD")
    pin = rig.poise_pins[pole]
    pin.position = np.add(pin.position, (0.05 * size_of(rig), 0.0, 0.0)).tolist()
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(bridge.read_matrices(rig), start, atol=SAME * size_of(rig))


@pytest.mark.parametrize(
    ("name", "knee", "keyed", "stays", "pinned"),
    [
        ("legs on IK with poles", "shin.L", ("hips", "foot_ik.L", "foot_ik.R"), "knee.L", True),
        pytest.param(
            *("reverse feet without poles", "shin.L", ("root", "hips", "ik_foot.L", "ik_foot.R"), "thigh.L", False),
            marks=pytest.mark.long,
        ),
        ("Quaternius", "LowerLeg.L", ("Body", "Foot.L", "Foot.R"), "PoleTarget.L", False),
    ],
)
def test_a_knee_whose_pole_or_start_has_no_keys_is_shown_where_it_is_solved(
    name: str, knee: str, keyed: tuple[str, ...], stays: str, pinned: bool
) -> None:
    rig, parts = RIGS[name]()
    for bone in (rig.pose.bones[one] for one in keyed):
        for channel in ("location", rotation_channel(bone.rotation_mode)):
            bone.keyframe_insert(channel, frame=1)
    no_auto()
    if pinned:
        pin_feet(rig, parts, "hips")
    before, here = bridge.read_channels(rig), world(rig, knee)
    shown = drag_bone(rig, knee, (0.2, 0.0, 0.0))
    assert shown.off < SAID[0]
    assert shown.turned < SAID[1]
    assert world(rig, knee)[0] - here[0] > 0.02 * size_of(rig)
    said = " ".join(shown.said)
    assert stays in said
    assert "no keys" in said
    assert "IK of" not in said
    after, place = bridge.read_channels(rig), rig.pose.bones.find(stays)
    for channel, values in before.items():
        np.testing.assert_array_equal(after[channel][place], values[place])


@pytest.mark.parametrize(
    ("name", "knee", "stays"),
    [("reverse feet without poles", "shin.L", "thigh.L"), ("Quaternius", "LowerLeg.L", "PoleTarget.L")],
)
def test_solve_here_has_a_knee_at_its_pin_whose_pole_or_start_has_no_keys(name: str, knee: str, stays: str) -> None:
    rig, _ = RIGS[name]()
    key_step(rig, (1, 20, 40))
    free_of_keys(rig, lambda bone: bone == stays)
    context.scene.frame_set(20)
    no_auto()
    set_pins(context, rig, [knee], "POSITION", "WORLD")
    pin, before = rig.poise_pins[knee], rig.pose.bones[stays].matrix_basis.copy()
    pin.position = np.add(pin.position, size_of(rig) * np.array((0.03, -0.04, 0.05))).tolist()
    assert bpy.ops.poise.solve() == {"FINISHED"}
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, knee), pin.position, atol=1e-4 * size_of(rig))
    assert rig.pose.bones[stays].matrix_basis == before


@pytest.mark.parametrize(
    ("name", "stays"), [("reverse feet with poles", "foot"), ("reverse feet without poles", "thigh shin foot")]
)
def test_a_foot_that_ik_aims_from_a_bone_without_keys_is_not_twisted_on_and_on(name: str, stays: str) -> None:
    """It was thrown 8 to 13 cm past the mouse, or ended the drag: its control was turned by a twist that it lacks."""
    rig, parts = RIGS[name]()
    key_step(rig, (1, 20, 40))
    free_of_keys(rig, lambda bone: bone.partition(".")[0] in stays.split())
    context.scene.frame_set(20)
    no_auto()
    pin_feet(rig, parts, "hips")
    foot, way = world(rig, parts["foot.L"]), (0.05, -0.06, 0.04)
    shown = drag_bone(rig, "roll_heel.L", way)
    assert shown.short < 8.0 * NEAR  # its control was 5 to 7 mm beyond the reach of the leg, and is brought back
    np.testing.assert_allclose(world(rig, parts["foot.L"]) - foot, size_of(rig) * np.array(way), atol=0.005)
    assert np.linalg.norm(world(rig, parts["foot.R"]) - rig.poise_pins[parts["foot.R"]].position) < NEAR


def test_a_foot_is_twisted_by_its_control_where_that_takes_the_pole_of_its_leg_along() -> None:
    """Pinned feet were up to 3.8 degrees off, and 5 where a knee was dragged."""
    rig, parts = RIGS["reverse feet with poles"]()
    key_step(rig, (1, 20, 40))
    free_of_keys(rig, lambda bone: bone.partition(".")[0] in ("foot", "pole_knee"))
    context.scene.frame_set(20)
    no_auto()
    pin_feet(rig, parts, "hips")
    shown = drag_bone(rig, parts["hips"], (0.1, -0.05, -0.15))
    assert max(shown.off, shown.short, shown.pins) < NEAR
    assert max(pins_off(rig)[1].values()) < SAID[1]


@pytest.mark.parametrize(
    ("name", "half", "role"), [("legs on IK with poles", 1, "hips"), ("MMD", 1, "hips"), ("Quaternius", 0, "hand.R")]
)
def test_a_leg_that_does_not_reach_its_control_without_keys_is_solved_as_blender_shows_it(
    name: str, half: int, role: str
) -> None:
    rig, parts = captured(name, half)
    no_auto()
    shown = drag(rig, parts, role)
    assert shown.off < SAID[0]
    assert shown.turned < SAID[1]
    assert shown.pins < NEAR


@pytest.mark.parametrize("pinned", [(), ("foot.L", "foot.R", "hand.L")])
@pytest.mark.parametrize("half", [0, 1])
def test_limbs_that_ik_leads_to_objects_in_part_do_not_throw_the_head(half: int, pinned: tuple[str, ...]) -> None:
    rig = load(DATA / "rigs" / "odd_constraints_locks_driver.blend")[0]
    select(rig, [])
    key_step(rig, (1, 20, 40))
    bones = sorted({bone for bone, _ in filter(None, map(split_path, {path for path, _ in keys(rig)}))})
    free_of_keys(rig, lambda bone: bone in bones[half::2])
    no_auto()
    for way in ((0.0, -0.1, -0.1), (0.05, 0.0, 0.05)):
        context.scene.frame_set(20)
        if pinned:
            set_pins(context, rig, pinned, "BOTH", "WORLD")
        shown = drag_bone(rig, "head", way)
        # of the half without keys, or behind a pinned foot, the chain to the head reaches no further
        assert shown.short < (NEAR if half and not pinned else 0.8 * float(np.linalg.norm(way)))
        assert shown.off < NEAR
        assert shown.turned < SAID[1]


def keyed_but(rig: Any, *stays: str) -> None:
    """Key all controls of a body but these in the first frame; auto-key is off."""
    whole = bridge.read_rig(rig)
    body = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    assert body is not None
    key_bones(rig, {whole.skeleton.names[bone] for bone in body.keyed}.difference(stays))


def key_bones(rig: Any, names: Iterable[str]) -> None:
    for bone in map(rig.pose.bones.get, names):
        for channel in ("location", rotation_channel(bone.rotation_mode)):
            bone.keyframe_insert(channel, frame=1)
    no_auto()


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_the_control_of_a_paw_is_dragged_whose_heel_has_no_keys() -> None:
    """Its toes were turned in the place of the paw: it ended 13 mm off, and a driver was said to hold it."""
    rig, _ = RIGS["Rigify's wolf"]()
    for bone in rig.pose.bones:  # also what levels the heel
        bone.matrix_basis = Matrix()
    key_bones(rig, ("front_foot_ik.L", "front_thigh_ik.L", "front_toe.L"))
    heel = rig.pose.bones["front_foot_heel_ik.L"].matrix_basis.copy()
    shown = drag_bone(rig, "front_foot_ik.L", WAYS["foot.L"])
    assert max(shown.short, shown.off) < NEAR
    assert "short of its target" not in " ".join(shown.said)
    assert rig.pose.bones["front_foot_heel_ik.L"].matrix_basis == heel


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_heel_turns_about_the_ball_of_a_paw_whose_control_has_no_keys() -> None:
    """The ankle was held in place of the ball, and the knee ended 29 mm off."""
    rig, _ = RIGS["Rigify's wolf"]()
    keyed_but(rig, "foot_ik.L")
    ball = world(rig, "toe.L")
    assert drag_bone(rig, "shin_tweak.L", (0.01, -0.03, 0.02)).short < NEAR
    np.testing.assert_allclose(world(rig, "toe.L"), ball, atol=NEAR * size_of(rig))


@pytest.mark.parametrize("name", ["Auto-Rig Pro on IK", "reverse feet without poles", "legs on IK with poles"])
def test_feet_whose_controls_have_no_keys_stay_while_the_hips_go_down(name: str) -> None:
    rig, parts = RIGS[name]()
    whole = bridge.read_rig(rig)
    body = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    assert body is not None
    feet = [body.parts[whole.skeleton.index(parts[foot])] for foot in ("foot.L", "foot.R")]
    still = {whole.skeleton.names[body.controls[foot].moves] for foot in feet}
    for bone in {whole.skeleton.names[bone] for bone in body.keyed} - still:
        for channel in ("location", rotation_channel(rig.pose.bones[bone].rotation_mode)):
            rig.pose.bones[bone].keyframe_insert(channel, frame=1)
    no_auto()
    before = {part: world(rig, parts[part]) for part in ("hips", "foot.L", "foot.R")}
    assert bpy.ops.poise.drag(bone=parts["hips"], shift=tuple(size_of(rig) * np.array(DOWN))) == {"FINISHED"}
    wanted = before | {"hips": before["hips"] + size_of(rig) * np.array(DOWN)}
    for part, place in wanted.items():
        np.testing.assert_allclose(world(rig, parts[part]), place, atol=NEAR * size_of(rig), err_msg=part)


def test_a_foot_goes_with_what_carries_its_control_without_keys() -> None:
    rig = make_ik_body()
    select(rig, [])
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ("foot_ik.L", "knee.L"):
        rig.data.edit_bones[bone].parent = rig.data.edit_bones["hips"]
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        if bone.name != "foot_ik.L":
            bone.keyframe_insert("location", frame=1)
            bone.keyframe_insert("rotation_quaternion", frame=1)
    no_auto()
    set_pins(context, rig, ["foot.R"], "BOTH", "WORLD")
    foot = world(rig, "foot.L")
    session = DragSession(context, rig, [Grab(rig.name, "hips", (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.1, 1.0, 10):
        session.drag(share * np.array((0.03, 0.02, -0.04)), STILL)
    for _ in range(20):
        session.rest()
    session.finish()
    np.testing.assert_allclose(world(rig, "foot.L"), world(rig, "foot_ik.L"), atol=NEAR)
    assert np.linalg.norm(world(rig, "foot.L") - foot) > 0.04
    place = session.frames()[0][session.body.skeleton.index("foot.L")]
    np.testing.assert_allclose(place, world(rig, "foot.L"), atol=NEAR)


@pytest.mark.parametrize("keying", ["off", pytest.param("available", marks=pytest.mark.long)])
def test_solve_here_and_body_tools_change_no_other_frame(keying: str, capfd: Any) -> None:
    forbid, reason = KEYING[keying]
    acts: dict[str, Callable[[], set[str]]] = {
        "solve": bpy.ops.poise.solve,
        "t-pose": lambda: bpy.ops.poise.take_posture(posture="T"),
        "mirror": bpy.ops.poise.mirror_pose,
        "feet": bpy.ops.poise.plant_feet,
    }
    for name in ("Auto-Rig Pro on IK", "CloudRig on FK"):
        for half in (0, 1):
            rig, parts = captured(name, half)
            before, channels, set_before = others(rig), keys(rig).keys(), settings(rig)
            forbid()
            set_pins(context, rig, [parts["hand.L"], parts["foot.L"]], "BOTH", "WORLD")
            rig.poise_pins[parts["hand.L"]].position.z += 0.1 * size_of(rig)
            for act, do in acts.items():
                capfd.readouterr()
                assert do() == {"FINISHED"}
                assert f"no keys, and {reason}, so " in capfd.readouterr().out, (name, half, act)
            assert keys(rig).keys() == channels
            assert settings(rig) == set_before
            unchanged(rig, before)


@pytest.fixture
def walker() -> Any:
    """A naked body that walks; forearms, hands and feet have no keys."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_armature()
    make_walk(rig)
    select(rig, [])
    context.scene.frame_set(10)
    return rig


def rotations(rig: Any) -> np.ndarray:
    return bridge.read_channels(rig)["rotation_quaternion"]


def test_bones_of_a_naked_body_without_keys_stay(walker: Any, capfd: Any) -> None:
    no_auto()
    before, names = rotations(walker), walker.pose.bones.keys()
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.05, -0.1, 0.1)) == {"FINISHED"}
    turned = {names[bone] for bone in np.flatnonzero(np.abs(rotations(walker) - before).max(axis=1))}
    assert turned == {"upper_arm.L"}
    said = capfd.readouterr().out
    assert "have no keys, and auto-keying is off, so they are not changed" in said
    assert "the rotation of hips" in said
    set_pins(context, walker, ("hand.R",), "POSITION", "WORLD")
    assert bpy.ops.poise.solve() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Pins hold; 0 bones changed" in said
    assert "no keys" not in said  # of what nothing asks for


def test_nothing_is_said_of_a_root_bone_without_keys_that_hips_do_not_need(capfd: Any) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_armature(bones={"root": (None, (0, 0, 0), (0, 0.3, 0)), **BODY, "hips": ("root", *BODY["hips"][1:])})
    for bone in rig.pose.bones:
        for frame in (1, 10) if bone.name != "root" else ():
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    select(rig, [])
    no_auto()
    for bone in ("hips", "hand.L"):
        assert bpy.ops.poise.drag(bone=bone, shift=(0.0, -0.05, 0.05)) == {"FINISHED"}
    assert "no keys" not in capfd.readouterr().out
    assert bpy.ops.poise.drag(bone="root", shift=(0.0, -0.05, 0.05)) == {"FINISHED"}
    assert "root has no keys, and auto-keying is off" in capfd.readouterr().out


def test_an_armature_without_keys_is_posed_freely() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_armature()
    select(rig, [])
    no_auto()
    hand = world(rig, "hand.L")
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.0, -0.1, 0.1)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hand.L") - hand, (0.0, -0.1, 0.1), atol=NEAR)


@pytest.mark.parametrize("what", ["muted", "locked"])
def test_bones_whose_curves_are_muted_or_locked_stay_with_auto_key_too(walker: Any, what: str, capfd: Any) -> None:
    context.scene.tool_settings.use_keyframe_insert_auto = True
    for curve in channelbag_of(walker).fcurves:
        if 'upper_arm.L"' in curve.data_path:
            setattr(curve, {"muted": "mute", "locked": "lock"}[what], True)
    context.scene.frame_set(11)
    context.scene.frame_set(10)
    before = rotations(walker)
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.05, -0.1, 0.1)) == {"FINISHED"}
    arm = walker.pose.bones.find("upper_arm.L")
    np.testing.assert_array_equal(rotations(walker)[arm], before[arm])
    assert f"upper_arm.L has {what} curves, so it is not changed" in capfd.readouterr().out


@pytest.mark.parametrize(("auto", "stashed"), [(True, False), (False, False), (False, True)])
def test_what_gets_no_key_is_said_to_be_lost(walker: Any, capfd: Any, auto: bool, stashed: bool) -> None:
    for bone in walker.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
        bone.keyframe_insert("rotation_quaternion", frame=10)
    if stashed:
        track = walker.animation_data.nla_tracks.new()
        track.strips.new("Stashed", 1, bpy.data.actions.new("Stashed"))
        track.mute = True
    context.scene.tool_settings.use_keyframe_insert_auto = auto
    keying_set("Location")
    before = rotations(walker)
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.05, -0.1, 0.1)) == {"FINISHED"}
    why = 'the keying set "Location" does not contain their channels' if auto else "auto-keying is off"
    assert f"got no key and will reset when the frame changes: {why}" in capfd.readouterr().out
    context.scene.frame_set(11)
    context.scene.frame_set(10)
    np.testing.assert_allclose(rotations(walker), before, atol=1e-6)


def test_a_body_none_of_whose_controls_has_keys_refuses_in_a_sentence() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_ik_body()
    select(rig, [])
    for frame in (1, 10):
        rig.pose.bones["foot.R"].keyframe_insert("scale", frame=frame)
    no_auto()
    with pytest.raises(
        RuntimeError, match=r"and \d+ more have no keys, and auto-keying is off, so they are not changed"
    ):
        bpy.ops.poise.drag(bone="foot.L", shift=(0.0, -0.1, 0.1))


def feet_stay_in_place(
    rig: Any, hips: str, feet: tuple[str, str], act: Callable[[np.ndarray], set[str]], pinned: bool = True
) -> None:
    """Pin both feet in full, bring the hips down: they are there, and the feet are in their places."""
    if pinned:
        set_pins(context, rig, feet, "BOTH", "WORLD")
    shift = 2.0 * size_of(rig) * np.array(DOWN)
    wanted = {hips: world(rig, hips) + shift} | {foot: world(rig, foot) for foot in feet}
    assert act(shift) == {"FINISHED"}
    context.view_layer.update()
    for bone, place in wanted.items():
        np.testing.assert_allclose(world(rig, bone), place, atol=NEAR * size_of(rig), err_msg=bone)


def solve_at(rig: Any, bone: str, shift: np.ndarray) -> set[str]:
    """Pin the place of a bone, moved by a shift, and solve here."""
    set_pins(context, rig, [bone], "POSITION", "WORLD")
    rig.poise_pins[bone].position = np.add(rig.poise_pins[bone].position, shift).tolist()
    return bpy.ops.poise.solve()


@pytest.mark.parametrize("by", ["drag", "solve"])
@pytest.mark.parametrize("method", ["PINS", "HUMANOID"])
def test_the_pinned_rotation_of_a_foot_without_keys_gives_way(walker: Any, by: str, method: str, capfd: Any) -> None:
    for bone in ("thigh.R", "shin.L", "shin.R"):
        walker.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=10)
    walker.pose.bones["hips"].keyframe_insert("location", frame=10)
    no_auto()
    walker.poise_method = method

    def act(shift: np.ndarray) -> set[str]:
        if by == "drag":
            return bpy.ops.poise.drag(bone="hips", shift=tuple(shift))
        return solve_at(walker, "hips", shift)

    capfd.readouterr()
    feet_stay_in_place(walker, "hips", ("foot.L", "foot.R"), act)
    said = capfd.readouterr().out
    assert method == "HUMANOID" or "foot.L cannot rotate by itself, so its pin holds only its position" in said
    assert "resists" not in said


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_paws_whose_heels_have_no_keys_stay_at_their_controls_while_the_body_moves() -> None:
    """The heel turns with the leg: the ankle stayed, and the paws slid by 11 to 28 mm."""
    rig, _ = RIGS["Rigify's wolf"]()
    paws = ("front_foot_ik.L", "front_foot_ik.R", "foot_ik.L", "foot_ik.R")
    key_bones(rig, ("torso", *paws))
    before = [world(rig, paw) for paw in paws]
    drag_bone(rig, "torso", (0.02, -0.04, 0.0))
    np.testing.assert_allclose([world(rig, paw) for paw in paws], before, atol=NEAR * size_of(rig))


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("by", ["drag", "pinned", "solve"])
def test_hips_go_down_over_feet_of_which_the_ik_controls_alone_have_keys(by: str) -> None:
    """Feet that are not pinned were to keep their rotation as much as their place: both slid by 48 mm."""
    rig, parts = RIGS["MMD of the shared data"]()
    hips, feet = parts["hips"], (parts["foot.L"], parts["foot.R"])
    key_bones(rig, ("センター", hips, "左足ＩＫ", "右足ＩＫ"))

    def act(shift: np.ndarray) -> set[str]:
        return solve_at(rig, hips, shift) if by == "solve" else bpy.ops.poise.drag(bone=hips, shift=tuple(shift))

    feet_stay_in_place(rig, hips, feet, act, pinned=by == "pinned")


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_body_whose_control_has_locked_places_stays_and_gets_no_key(name: str, pinned: bool, capfd: Any) -> None:
    rig, parts = RIGS[name]()
    whole = bridge.read_rig(rig)
    body = bridge.find_controlled(rig, whole, bridge.read_roles(rig, whole.skeleton))
    assert body is not None
    mover = whole.skeleton.names[body.controls[0].moves]
    key_step(rig, (1, 20, 40))
    for curve in channelbag_of(rig).fcurves:
        curve.lock = curve.data_path == rig.pose.bones[mover].path_from_id("location")
    context.scene.tool_settings.use_keyframe_insert_auto = True
    if pinned:
        pin_feet(rig, parts, "hips")
    before, shown = keys(rig), bridge.read_matrices(rig)
    assert bpy.ops.poise.drag(bone=mover, shift=tuple(2.0 * size_of(rig) * np.array(DOWN))) == {"FINISHED"}
    context.view_layer.update()
    np.testing.assert_allclose(bridge.read_matrices(rig), shown, atol=SAME * size_of(rig))
    assert keys(rig) == before
    said = capfd.readouterr().out
    assert f"the location of {mover} has locked curves, so it is not changed" in said
    assert f"{mover} is " in said
    assert "parents can be changed" not in said  # it is no parent that stays
