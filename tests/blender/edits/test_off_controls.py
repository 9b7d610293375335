"""Controls that are off, locked, or stay where they are: what a drag poses is what an animator expects of the rig.

Ground truth is where Blender shows the bones, and what its own G would have moved.
"""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from bridge import Grab, listed
from edits.drag.session import DragSession
from edits.info import describe
from edits.pin_list import find_pin, set_pins
from tests.blender.control_drags import NEAR, RIGS, STILL, Parts, drag_bone, pin_feet, size_of
from tests.blender.rigs import FULL, select, world
from tests.paths import SHARED

context: Any = bpy.context
FINISHED = {"FINISHED"}
WAY = np.array([-0.05, -0.06, 0.05])  # metres of a human of 1.7 m
DOWN = np.array([0.02, 0.03, -0.06])
AWAY = np.array([-0.1, -0.15, 0.1])  # from where the other system is
# rig -> the control of the left hand that is on, that which is off, and the one that moves the body
OFF = {
    "Auto-Rig Pro on IK": ("c_hand_ik.l", "c_hand_fk.l", "c_root_master.x"),
    "Auto-Rig Pro on FK": ("c_hand_fk.l", "c_hand_ik.l", "c_root_master.x"),
    "CloudRig on IK": ("IK-MSTR-Hand.L", "FK-Hand.L", "MSTR-Torso"),
    "CloudRig on FK": ("FK-Hand.L", "IK-MSTR-Hand.L", "MSTR-Torso"),
    "Rigify on IK": ("hand_ik.L", "hand_fk.L", "torso"),
    "Rigify on FK": ("hand_fk.L", "hand_ik.L", "torso"),
}
MOVERS = {  # rig -> what moves its body
    "Auto-Rig Pro on IK": "c_root_master.x",
    "Auto-Rig Pro on FK": "c_root_master.x",
    "CloudRig on IK": "MSTR-Torso",
    "CloudRig on FK": "MSTR-Torso",
    "legs on IK with poles": "hips",
    "reverse feet with poles": "hips",
    "MMD": "腰",
    "Quaternius": "Body",
    "Rigify on IK": "torso",
    "Rigify on FK": "torso",
}


def apart(name: str) -> tuple[Any, Parts]:
    """A rig whose left hand is where the system that is on has it, and the other one elsewhere."""
    rig, parts = RIGS[name]()
    assert bpy.ops.poise.drag(bone=parts["hand.L"], shift=tuple(size_of(rig) * AWAY)) == FINISHED
    context.view_layer.update()
    assert np.linalg.norm(world(rig, OFF[name][1]) - world(rig, parts["hand.L"])) > 0.05 * size_of(rig)
    return rig, parts


@pytest.mark.long
@pytest.mark.parametrize("name", OFF)
def test_a_drag_of_a_control_that_is_off_drags_its_part_by_what_is_on(name: str, capfd: Any) -> None:
    rig, parts = apart(name)
    on, off, _ = OFF[name]
    before, kept = world(rig, parts["hand.L"]), rig.pose.bones[off].matrix_basis.copy()
    way = size_of(rig) * WAY
    assert bpy.ops.poise.drag(bone=off, shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, parts["hand.L"]) - before, way, atol=NEAR * size_of(rig))
    assert rig.pose.bones[off].matrix_basis == kept
    system = name.rpartition(" ")[2]
    assert f'"{off}" has no effect while its limb is in {system}: "{on}" poses it' in capfd.readouterr().out
    select(rig, [])
    rig.pose.bones[OFF[name][2]].keyframe_insert("location", frame=1)
    context.scene.tool_settings.use_keyframe_insert_auto = False
    assert bpy.ops.poise.drag(bone=off, shift=tuple(-way)) == FINISHED  # also where what is on has no keys and stays
    said = capfd.readouterr().out
    assert "have no keys, and auto-keying is off, so they are not changed" in said
    assert "pinned" not in said


@pytest.mark.long
@pytest.mark.parametrize(("start", "on"), [("upper_arm_ik.L", "upper_arm_fk.L"), ("thigh_ik.L", "thigh_fk.L")])
def test_where_ik_starts_that_is_off_is_dragged_and_pinned_by_what_is_on(start: str, on: str, capfd: Any) -> None:
    """An error said that the IK which is off drives it."""
    rig, _ = RIGS["Rigify on FK"]()
    assert bpy.ops.poise.cycle_pin(bone=start) == FINISHED
    assert [pin.name for pin in rig.poise_pins] == [on]
    assert bpy.ops.poise.clear_pins() == FINISHED
    before, kept = world(rig, on), rig.pose.bones[start].matrix_basis.copy()
    assert bpy.ops.poise.drag(bone=start, shift=(0.0, -0.02, -0.02)) == FINISHED
    assert f'"{start}" has no effect while its limb is in FK: "{on}" poses it' in capfd.readouterr().out
    context.view_layer.update()
    assert np.linalg.norm(world(rig, on) - before) > 0.01
    assert rig.pose.bones[start].matrix_basis == kept


@pytest.mark.long
@pytest.mark.parametrize("name", OFF)
def test_a_pin_of_a_control_that_is_off_holds_its_part(name: str) -> None:
    rig, parts = apart(name)
    on, off, torso = OFF[name]
    select(rig, [off])
    for _ in range(2):
        assert bpy.ops.poise.cycle_pin(bone=off) == FINISHED
    assert [pin.name for pin in rig.poise_pins] == [on]
    before = world(rig, parts["hand.L"])
    assert bpy.ops.poise.drag(bone=torso, shift=tuple(size_of(rig) * DOWN)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, parts["hand.L"]), before, atol=NEAR * size_of(rig))
    assert bpy.ops.poise.unpin() == FINISHED
    assert not len(rig.poise_pins)
    assert bpy.ops.poise.pin(kind="POSITION") == FINISHED
    assert rig.poise_pins[rig.poise_active_pin].name == on


@pytest.mark.long
@pytest.mark.parametrize("name", OFF)
def test_a_pin_whose_control_was_switched_off_holds_the_part_where_the_pin_is(name: str, capfd: Any) -> None:
    rig, parts = apart(name)
    on, off, torso = OFF[name]
    assert bpy.ops.poise.cycle_pin(bone=on) == FINISHED
    find_pin(rig, on).name = off  # as it was pinned while the other system was on
    place = np.array(find_pin(rig, off).position)
    assert bpy.ops.poise.drag(bone=torso, shift=tuple(size_of(rig) * DOWN)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, parts["hand.L"]), place, atol=NEAR * size_of(rig))
    find_pin(rig, off).position = place = place + size_of(rig) * WAY
    assert bpy.ops.poise.solve() == FINISHED
    assert "Pins hold" in capfd.readouterr().out
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, parts["hand.L"]), place, atol=NEAR * size_of(rig))
    assert bpy.ops.poise.pin_here() == FINISHED
    np.testing.assert_allclose(find_pin(rig, off).position, world(rig, parts["hand.L"]), atol=NEAR * size_of(rig))


@pytest.mark.parametrize("name", ["Auto-Rig Pro on IK", "CloudRig on FK", "Rigify on IK", "Rigify on FK"])
def test_a_locked_control_of_the_body_holds_it_and_no_root_comes_in_its_place(name: str, capfd: Any) -> None:
    for dragged in ("hand.L", "torso"):
        rig, parts = RIGS[name]()
        torso = OFF[name][2]
        rig.pose.bones[torso].lock_location = (True, True, True)
        before = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
        hips = world(rig, parts["hips"])
        way = size_of(rig) * WAY
        wanted = world(rig, parts["hand.L"]) + way
        bone = torso if dragged == "torso" else parts[dragged]
        assert bpy.ops.poise.drag(bone=bone, shift=tuple(way)) == FINISHED
        context.view_layer.update()
        above = [torso, *(other.name for other in rig.data.bones[torso].parent_recursive)]
        assert all(rig.pose.bones[name].matrix_basis == before[name] for name in above)
        np.testing.assert_allclose(world(rig, parts["hips"]), hips, atol=NEAR * size_of(rig))
        said = capfd.readouterr().out
        if dragged == "torso":
            assert f'"{torso}" is locked' in said
        else:
            np.testing.assert_allclose(world(rig, parts["hand.L"]), wanted, atol=NEAR * size_of(rig))


def test_a_root_that_is_dragged_moves_while_the_torso_is_locked() -> None:
    rig, parts = RIGS["Auto-Rig Pro on IK"]()
    rig.pose.bones["c_root_master.x"].lock_location = (True, True, True)
    before, way = world(rig, parts["hips"]), size_of(rig) * WAY
    assert bpy.ops.poise.drag(bone="c_traj", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, parts["hips"]) - before, way, atol=NEAR * size_of(rig))


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_locked_heel_goes_with_its_foot_and_nothing_is_said_of_the_lock(capfd: Any) -> None:
    rig, _ = RIGS["Rigify on IK"]()
    before, way = world(rig, "foot_heel_ik.L"), size_of(rig) * WAY
    assert all(rig.pose.bones["foot_heel_ik.L"].lock_location)
    assert bpy.ops.poise.drag(bone="foot_heel_ik.L", shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, "foot_heel_ik.L") - before, way, atol=NEAR * size_of(rig))
    assert "is locked" not in capfd.readouterr().out


def test_a_torso_that_may_not_turn_moves_without_turning() -> None:
    rig, parts = RIGS["CloudRig on IK"]()
    torso = rig.pose.bones["MSTR-Torso"]
    torso.lock_rotation = (True, True, True)
    turned, hips = torso.matrix_basis.to_quaternion(), world(rig, parts["hips"])
    assert bpy.ops.poise.drag(bone=parts["hand.L"], shift=tuple(5.0 * size_of(rig) * WAY)) == FINISHED
    context.view_layer.update()
    assert torso.matrix_basis.to_quaternion() == turned
    assert np.linalg.norm(world(rig, parts["hips"]) - hips) > NEAR * size_of(rig)


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("name", MOVERS)
def test_feet_stay_or_go_as_under_g_when_the_body_is_dragged(name: str, turned: bool) -> None:
    """Also where rotations have no keys: feet, which kept theirs alone, went through the floor with the hips."""
    feet = ("foot.L", "foot.R")
    rig, parts = RIGS[name]()
    way, bone = size_of(rig) * DOWN, rig.pose.bones[MOVERS[name]]
    before = {foot: world(rig, parts[foot]) for foot in feet}
    bone.matrix = Matrix.Translation(way) @ bone.matrix
    context.view_layer.update()
    by_g = {foot: world(rig, parts[foot]) - before[foot] for foot in feet}
    rig, parts = RIGS[name]()
    for keyed in () if turned else rig.pose.bones:
        keyed.keyframe_insert("location", frame=1)
    context.scene.tool_settings.use_keyframe_insert_auto = False
    assert bpy.ops.poise.drag(bone=MOVERS[name], shift=tuple(way)) == FINISHED
    context.view_layer.update()
    for foot in feet:
        np.testing.assert_allclose(world(rig, parts[foot]) - before[foot], by_g[foot], atol=NEAR * size_of(rig))


@pytest.mark.parametrize("by", ["drag", "drag without keys of feet", "solve"])
@pytest.mark.parametrize("name", ["Auto-Rig Pro on IK", "legs on IK with poles", "MMD"])
def test_feet_on_ik_stay_where_hips_go_down_further_than_ankles_bend(name: str, by: str) -> None:
    """They slid and sank by 3 to 5 cm: a limit of an ankle has no part in where Blender leaves a foot."""
    rig, parts = RIGS[name]()
    size, hips, feet = size_of(rig), parts["hips"], [parts["foot.L"], parts["foot.R"]]
    wanted = [world(rig, hips) + size * np.array([0.0, 0.0, -0.35]), *(world(rig, foot) for foot in feet)]
    turns = [rig.pose.bones[foot].matrix.to_quaternion() for foot in feet]
    if by == "drag without keys of feet":
        for bone in rig.pose.bones:
            if bone.name == MOVERS[name] or "hand" in bone.name:  # which would hold the hips
                bone.keyframe_insert("location", frame=1)
        context.scene.tool_settings.use_keyframe_insert_auto = False
    if by != "solve":
        assert bpy.ops.poise.drag(bone=hips, shift=(0.0, 0.0, -0.35 * size)) == FINISHED
    else:
        set_pins(context, rig, [hips], "POSITION", "WORLD")
        rig.poise_pins[hips].position = wanted[0].tolist()
        assert bpy.ops.poise.solve() == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose([world(rig, bone) for bone in (hips, *feet)], wanted, atol=NEAR * size)
    for foot, turn in zip(feet, turns, strict=True):
        assert turn.rotation_difference(rig.pose.bones[foot].matrix.to_quaternion()).angle < np.radians(0.5)


def test_a_foot_on_ik_stays_while_a_hand_is_dragged_and_gives_way_where_the_hand_would_be_missed(capfd: Any) -> None:
    for share, stays in ((3.0, True), (16.0, False)):
        rig, parts = RIGS["Auto-Rig Pro on IK"]()
        foot, wanted = world(rig, parts["foot.R"]), world(rig, parts["hand.L"]) - share * size_of(rig) * WAY
        assert bpy.ops.poise.drag(bone=parts["hand.L"], shift=tuple(-share * size_of(rig) * WAY)) == FINISHED
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, parts["hand.L"]), wanted, atol=NEAR * size_of(rig))
        assert (np.linalg.norm(world(rig, parts["foot.R"]) - foot) < NEAR * size_of(rig)) == stays
        assert ("Feet that are not pinned moved:" in capfd.readouterr().out) != stays


def test_a_script_drags_a_hand_far_as_the_mouse_does_and_feet_on_ik_stay() -> None:
    """Each of its 40 solves ended before it had come to rest, and with a foot 34 cm off: that took seconds."""
    rig, parts = RIGS["legs on IK with poles"]()
    way = size_of(rig) * np.array([-0.1, -1.0, -1.0])
    bones = [parts[bone] for bone in ("hand.L", "foot.L", "foot.R")]
    wanted = np.array([world(rig, bone) for bone in bones]) + np.outer([1.0, 0.0, 0.0], way)
    assert bpy.ops.poise.drag(bone=bones[0], shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose([world(rig, bone) for bone in bones], wanted, atol=NEAR * size_of(rig))


def test_feet_on_ik_stay_where_the_elbow_of_a_pinned_hand_is_dragged_further_than_it_reaches() -> None:
    """Legs that resist bending pressed them 6 cm down through the floor."""
    rig, parts = RIGS["CloudRig on IK"]()
    set_pins(context, rig, [parts["hand.L"]], "BOTH", "WORLD")
    feet = [world(rig, parts[foot]) for foot in ("foot.L", "foot.R")]
    shown = drag_bone(rig, "DEF-Forearm1.L", (0.0, 0.0, -0.25))
    assert shown.short > 0.05
    np.testing.assert_allclose(
        [world(rig, parts[foot]) for foot in ("foot.L", "foot.R")], feet, atol=NEAR * size_of(rig)
    )


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name == "Rigify on IK" else name for name in MOVERS]
)
def test_no_control_above_the_body_comes_unless_it_is_dragged(name: str) -> None:
    rig, _ = RIGS[name]()
    above = [bone.name for bone in rig.data.bones[MOVERS[name]].parent_recursive]
    before = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    trunk = ("hips", "spine", "neck", "head", "shoulder.L", "hand.L", "foot.L")
    controls = {role: names for role, names in describe(rig)["controls"].items() if role in trunk}
    for names in controls.values():
        for control in [names] if isinstance(names, str) else names:
            assert bpy.ops.poise.drag(bone=control, shift=tuple(size_of(rig) * WAY)) == FINISHED
            assert all(rig.pose.bones[other].matrix_basis == before[other] for other in above), control
            for bone in rig.pose.bones:
                bone.matrix_basis = before[bone.name]
            context.view_layer.update()


@pytest.mark.long
@pytest.mark.parametrize("lock", [(False, False, True), (True, False, True), (True, True, True)])
@pytest.mark.parametrize(
    ("name", "control", "role"),
    [
        ("legs on IK with poles", "foot_ik.L", "foot.L"),
        ("Rigify on IK", "hand_ik.L", "hand.L"),
        ("Rigify on IK", "foot_ik.L", "foot.L"),
        ("Rigify on IK", "torso", "hips"),
    ],
)
def test_a_locked_control_moves_along_its_free_axes_when_it_is_dragged_and_is_named(
    name: str, control: str, role: str, lock: tuple[bool, ...], capfd: Any
) -> None:
    """What drives the hidden bone between it and the limb was named, and a bone below the control moved the foot.

    One locked axis held all three.
    """
    rig, parts = RIGS[name]()
    led = rig.pose.bones[control]
    led.lock_location, way = lock, np.array((0.03, -0.08, 0.06))
    axes, before = np.array(led.matrix.to_3x3() if led.bone.use_local_location else np.eye(3)), led.location.copy()
    free = axes @ np.diag(1.0 - np.array(lock)) @ axes.T @ way
    for dragged in (control, parts[role]):
        place = world(rig, control)
        assert bpy.ops.poise.drag(bone=dragged, shift=tuple(way)) == FINISHED
        said = capfd.readouterr().out
        assert f'"{control}" is locked: unlock {listed(list(np.array([*"XYZ"])[[*lock]]))} of its location' in said
        assert "Mute" not in said
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, control) - place, free, atol=1e-3)
        assert all(now == then for now, then, locked in zip(led.location, before, lock, strict=True) if locked)
    if role != "hips":
        np.testing.assert_allclose(world(rig, parts[role]), world(rig, control), atol=1e-3)
        place = world(rig, parts[role])
        assert bpy.ops.poise.drag(bone=parts["hips"], shift=(0.02, 0.0, -0.03)) == FINISHED
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, parts[role]), place, atol=1e-3)


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_locks_of_a_bone_that_constraints_move_are_not_said(capfd: Any) -> None:
    rig, parts = RIGS["Rigify on IK"]()
    hand = parts["hand.L"]
    assert any(rig.pose.bones[hand].lock_location)
    wanted = world(rig, hand) + np.array((0.0, -0.08, 0.06))
    assert bpy.ops.poise.drag(bone=hand, shift=(0.0, -0.08, 0.06)) == FINISHED
    np.testing.assert_allclose(world(rig, hand), wanted, atol=NEAR * size_of(rig))
    assert "is locked" not in capfd.readouterr().out


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_controls_that_copy_a_rotation_beside_their_own_are_dragged_by_the_chain_that_curls(capfd: Any) -> None:
    """Where Blender shows them is reached with the chain posed by hand; they were refused as driven."""
    rig, _ = RIGS["Rigify's wolf"]()
    tail = ("spine.003", "spine.002", "spine.001", "spine")
    for chain in (tail, ("r_index.01.L", "r_index.02.L", "r_index.03.L")):
        bones = [rig.pose.bones[name] for name in chain]
        bones[1].matrix_basis = Matrix.Rotation(0.1, 4, "Z")  # they do not begin as they rest
        context.view_layer.update()
        start, before = world(rig, chain[-1]), {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
        bones[0].matrix_basis, bones[1].matrix_basis = (Matrix.Rotation(angle, 4, "X") for angle in (0.2, 0.15))
        context.view_layer.update()
        wanted = world(rig, chain[-1])
        for bone in bones[:2]:
            bone.matrix_basis = before[bone.name]
        assert bpy.ops.poise.drag(bone=chain[-1], shift=tuple(wanted - start)) == FINISHED
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, chain[-1]), wanted, atol=NEAR * size_of(rig))
        assert {bone.name for bone in rig.pose.bones if bone.matrix_basis != before[bone.name]} <= {*chain}
    channels = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    assert bpy.ops.poise.drag(bone=tail[0], shift=(0.01, -0.03, 0.03)) == FINISHED  # by its location: nothing turns it
    assert {bone.name for bone in rig.pose.bones if bone.matrix_basis != channels[bone.name]} == {tail[0]}
    assert "short of its target" not in capfd.readouterr().out
    assert bpy.ops.poise.drag(bone="spine_master.003", shift=(0.01, -0.03, 0.03)) == FINISHED  # beside the body
    said = capfd.readouterr().out
    assert "short of its target" in said
    assert "MCH" not in said  # the body stays, whatever drives the bones above it


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize(("name", "bone"), [
    ("Rigify's wolf", "DEF-spine"),
    *([("Rigify's horse", "DEF-tail.003"), ("Rigify's horse", "DEF-tail.005")] if FULL else []),
])  # fmt: skip
def test_a_bone_of_a_tail_that_curls_is_dragged_by_the_controls_of_the_tail(name: str, bone: str) -> None:
    """The body stays, and each tick shows the bone at the mouse: each control adds the rotation of the one above."""
    rig, _ = RIGS[name]()
    size, start = size_of(rig), world(rig, bone)
    before = {one.name: one.matrix_basis.copy() for one in rig.pose.bones}
    session = DragSession(context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.1, 1.0, 10):
        shift = share * size * np.array((0.05, -0.03, 0.06))
        session.drag(shift, STILL)
        context.view_layer.update()
        np.testing.assert_allclose(world(rig, bone), start + shift, atol=3.0 * NEAR * size)
    session.finish()
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, bone), start + shift, atol=NEAR * size)
    moved = {one.name for one in rig.pose.bones if one.matrix_basis != before[one.name]}
    assert moved <= {"spine.003", "spine.002", "spine.001", "spine", *(f"tail.00{link}" for link in range(1, 6))}


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_line_that_shows_a_pole_goes_with_its_knee_or_elbow() -> None:
    """It went with the hips: the body moved in its place, and a pin of it was left by 10 cm."""
    rig, parts = RIGS["Rigify on IK with poles"]()
    pin_feet(rig, parts, "hips")
    hips = world(rig, parts["hips"])
    assert drag_bone(rig, "VIS_upper_arm_ik_pole.L", (0.03, -0.05, 0.06)).short < NEAR
    assert np.linalg.norm(world(rig, parts["hips"]) - hips) < 0.02 * size_of(rig)
    rig, parts = RIGS["Rigify on IK with poles"]()
    set_pins(context, rig, ["VIS_thigh_ik_pole.L"], "POSITION", "WORLD")
    assert drag_bone(rig, parts["hips"], (0.03, -0.02, -0.05)).pins < NEAR


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_fingers_of_a_hand_that_is_locked_in_full_bend_as_far_as_they_reach() -> None:
    """The hand was no part of the body: the arm was solved without its IK, and fingers stayed where they were."""
    for way, short in (((-0.03, -0.02, 0.0), NEAR), ((0.0, -0.03, 0.0), 0.012)):
        rig, parts = RIGS["Rigify on IK"]()
        control = rig.pose.bones["hand_ik.L"]
        control.lock_location = control.lock_rotation = (True, True, True)
        control.lock_rotation_w = True
        hand = world(rig, parts["hand.L"])
        shown = drag_bone(rig, "DEF-f_index.03.L", way)
        np.testing.assert_allclose(world(rig, parts["hand.L"]), hand, atol=NEAR * size_of(rig))
        assert shown.short < short
        assert shown.off < NEAR
        locked = '"hand_ik.L" is locked: unlock X, Y and Z of its location to move it there' in shown.said
        assert locked == (short > NEAR)


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("bone", ["tweak_spine.006", "tweak_spine.007"])
def test_a_tweak_of_a_bone_that_nothing_else_poses_is_not_off(bone: str, capfd: Any) -> None:
    rig, _ = RIGS["Rigify's basic quadruped"]()
    before, way = world(rig, bone), size_of(rig) * DOWN
    assert bpy.ops.poise.drag(bone=bone, shift=tuple(way)) == FINISHED
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, bone) - before, way, atol=NEAR * size_of(rig))
    assert "has no effect" not in capfd.readouterr().out
