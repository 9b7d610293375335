"""Chains set up from the selection, their lists, drags by them, and what a changed number does at once."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from core import rotation
from core.body.anatomy import anatomy
from core.contribution import learning, preset
from core.contribution.learned_list import Replay
from core.formats.chain_list import actuations_data, read_list_file
from core.limits import excess
from edits.chains import chain_method, preset_actuations, read_actuations
from edits.drag.chain import ChainDrag, begin_drag
from edits.drag.session import DragSession
from edits.drag.shown import targets
from panels.chains import POISE_PT_chains, POISE_PT_method, POISE_PT_turns
from tests.blender.rigs import (
    choose,
    contents,
    drawn_by,
    labels,
    library_override,
    load,
    make_armature,
    make_chain,
    make_walk,
    remove_bone,
    turn,
    world,
)
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

NEAR = 1e-4  # metres
STILL = np.array([1.0, 0.0, 0.0, 0.0])
WAY = (-0.15, -0.15, 0.2)
ARM = ("chest", "upper_arm.L", "forearm.L", "hand.L")


@pytest.fixture
def rig() -> Any:
    """A body in Pose Mode with a chain from the chest to the left hand."""
    object = make_armature()
    choose(object, *ARM)
    bpy.ops.poise.add_chain()
    return object


@pytest.fixture
def dragged(rig: Any) -> Any:
    """The same with the hand led somewhere by the list."""
    turn(rig, "spine", 0.2)
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    return rig


def chain_of(rig: Any) -> Any:
    return rig.poise_chains[rig.poise_active_chain]


def pose(rig: Any) -> dict[str, np.ndarray]:
    return {bone.name: np.array([*bone.rotation_quaternion, *bone.location]) for bone in rig.pose.bones}


def changed(before: dict[str, np.ndarray], rig: Any) -> set[str]:
    return {name for name, values in pose(rig).items() if not np.array_equal(values, before[name])}


def listed(chain: Any) -> list[tuple[str, str]]:
    return [(entry.bone, entry.axis) for entry in chain.entries]


# -- set-up -----------------------------------------------------------------------------------------------------------


def test_the_selected_bones_make_a_chain_with_the_list_that_suits_them(rig: Any) -> None:
    chain = chain_of(rig)
    assert (chain.name, chain.base, chain.effector, chain.use_drag) == ("hand.L", "chest", "hand.L", True)
    assert actuations_data(read_actuations(chain)) == actuations_data(
        preset("arm", bridge.read_rig(rig).skeleton, "chest", "hand.L")
    )


@pytest.mark.parametrize(
    ("bones", "inverted", "ends"),
    [
        (("thigh.R", "foot.R"), False, ("thigh.R", "foot.R")),
        (("hand.R", "hips"), False, ("hand.R", "hips")),  # what does not hang on the base: it is held
        (("upper_arm.R", "hand.R"), True, ("hand.R", "upper_arm.R")),
        (("spine", "chest", "head", "hips"), True, ("hips", "head")),
    ],
)
def test_a_chain_goes_from_the_farthest_bone_to_the_active_one_or_the_other_way_round(
    rig: Any, bones: tuple[str, ...], inverted: bool, ends: tuple[str, str]
) -> None:
    choose(rig, *bones)
    assert bpy.ops.poise.add_chain(inverted=inverted) == {"FINISHED"}
    assert (len(rig.poise_chains), chain_of(rig).base, chain_of(rig).effector) == (2, *ends)


@pytest.mark.parametrize(
    ("bones", "sentence"),
    [
        (("hand.L",), "Select the base of a chain"),
        (ARM, 'There is a chain from "chest" to "hand.L" already'),
        (("hips", "spine"), None),
    ],
)
def test_what_makes_no_chain_is_refused(rig: Any, bones: tuple[str, ...], sentence: str | None) -> None:
    choose(rig, *bones)
    before = contents()
    if sentence is None:
        assert bpy.ops.poise.add_chain() == {"FINISHED"}
        return
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.add_chain()
    assert contents() == before
    assert len(rig.poise_chains) == 1


def test_a_driven_bone_that_cuts_the_chain_is_named(rig: Any, capfd: pytest.CaptureFixture[str]) -> None:
    placed = rig.pose.bones["forearm.L"].constraints.new("COPY_TRANSFORMS")
    placed.target, placed.subtarget = rig, "forearm.R"
    bpy.context.view_layer.update()
    reason = '"forearm.L" is driven by constraint "Copy Transforms"'
    choose(rig, "upper_arm.L", "hand.L")
    with pytest.raises(RuntimeError, match=f'{reason}.*: no joint of this chain moves "hand.L"'):
        bpy.ops.poise.add_chain()
    assert len(rig.poise_chains) == 1
    bpy.ops.poise.add_chain(preset="TAIL")  # in which the hand turns, too
    assert reason in "".join(capfd.readouterr())


@pytest.mark.parametrize("kind", ["COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME", "driver"])
def test_what_only_scales_a_bone_does_not_cut_the_chain(rig: Any, kind: str) -> None:
    elbow = rig.pose.bones["forearm.L"]
    if kind == "driver":
        for curve in elbow.driver_add("scale"):
            curve.driver.expression = "1.2"
    else:
        scaling = elbow.constraints.new(kind)
        if kind == "COPY_SCALE":
            scaling.target, scaling.subtarget = rig, "forearm.R"
            rig.pose.bones["forearm.R"].scale = 1.2, 1.2, 1.2
        elif kind == "LIMIT_SCALE":
            scaling.use_min_x = scaling.use_min_y = scaling.use_min_z = True
            scaling.min_x = scaling.min_y = scaling.min_z = 1.2
        else:
            elbow.scale = 1.0, 1.2, 1.0
    bpy.context.view_layer.update()
    assert elbow.matrix.to_scale().y == pytest.approx(1.2)
    place, before = world(rig, "hand.L"), pose(rig)
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    assert changed(before, rig) >= {"upper_arm.L", "forearm.L"}
    np.testing.assert_allclose(world(rig, "hand.L") - place, WAY, atol=NEAR)
    assert elbow.matrix.to_scale().y == pytest.approx(1.2)


def test_chains_of_one_name_are_told_apart(rig: Any) -> None:
    for base in ("upper_arm.L", "forearm.L"):
        choose(rig, base, "hand.L")
        bpy.ops.poise.add_chain()
        chain_of(rig).name = "hand.L"
        chain_of(rig).name = chain_of(rig).name  # its own name it may keep
    assert [chain.name for chain in rig.poise_chains] == ["hand.L", "hand.L.001", "hand.L.002"]
    chain_of(rig).name = ""  # sentences and jobs say which one is meant
    assert chain_of(rig).name == "hand.L.002"
    assert all(rig.poise_chains[chain.name] == chain for chain in rig.poise_chains)


def test_a_held_hand_stays_where_it_is_while_the_hips_are_led(rig: Any) -> None:
    choose(rig, "hand.R", "hips")
    bpy.ops.poise.add_chain()
    hand, hips = world(rig, "hand.R"), world(rig, "hips")
    bpy.ops.poise.drag(bone="hips", shift=(0.05, 0.0, -0.1))
    np.testing.assert_allclose(world(rig, "hand.R"), hand, atol=NEAR)
    np.testing.assert_allclose(world(rig, "hips") - hips, [0.05, 0.0, -0.1], atol=NEAR)
    chain_of(rig).mode = "SMALLER"
    np.testing.assert_allclose(world(rig, "hand.R"), hand, atol=NEAR)
    np.testing.assert_allclose(world(rig, "hips") - hips, [0.05, 0.0, -0.1], atol=NEAR)


# -- drags ------------------------------------------------------------------------------------------------------------


def test_a_drag_of_the_effector_goes_by_the_list_and_moves_nothing_else(rig: Any) -> None:
    turn(rig, "spine", 0.2)
    rig.pose.bones["head"].rotation_quaternion = (-2.0, 0.1, 0.0, 0.0)  # of another length, as files have it
    before, hand = pose(rig), world(rig, "hand.L")
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    np.testing.assert_allclose(world(rig, "hand.L") - hand, WAY, atol=NEAR)
    assert changed(before, rig) <= {*ARM}


@pytest.mark.parametrize("scale", [1.3, 0.01])
def test_a_moved_turned_and_scaled_object_poses_alike(rig: Any, scale: float) -> None:
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    plain = pose(rig)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = STILL
    rig.location, rig.rotation_euler, rig.scale = (1.0, 2.0, 0.5), (0.2, 0.1, 0.7), (scale,) * 3
    bpy.context.view_layer.update()
    bpy.ops.poise.drag(bone="hand.L", shift=np.array(rig.matrix_world)[:3, :3] @ WAY)
    np.testing.assert_allclose([*pose(rig).values()], [*plain.values()], atol=1e-4)


def session_of(rig: Any) -> DragSession:
    return begin_drag(bpy.context, rig, [Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))])


def test_escape_gives_the_pose_back_and_the_chain_forgets_it(rig: Any) -> None:
    turn(rig, "forearm.L", 0.3)
    before = pose(rig)
    session = session_of(rig)
    assert isinstance(session, ChainDrag)
    session.drag(np.array(WAY), STILL)
    assert changed(before, rig)
    session.restore()
    assert not changed(before, rig)
    assert not len(chain_of(rig).turns)


def test_a_way_back_leads_back_to_the_pose_at_the_press(rig: Any) -> None:
    session = session_of(rig)
    for angle in np.linspace(0.0, 2.0 * np.pi, 30):
        session.drag(0.2 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.3 * np.sin(angle)]), STILL)
    turned = rotation.angle_between(session.start.rotations, session.pose.rotations)
    assert np.degrees(turned.max()) < 0.1


def test_a_creeping_target_moves_the_joints_little(rig: Any) -> None:
    for name, angle in (("upper_arm.L", 0.3), ("forearm.L", -0.6)):  # bent: a straight arm may go either way at first
        rig.pose.bones[name].rotation_quaternion = (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle))
    session = session_of(rig)
    last, steps = session.start.rotations, []
    for share in np.linspace(0.0, 1.0, 80):
        session.drag(share * np.array([-0.15, -0.15, 0.1]), STILL)
        steps.append(np.degrees(rotation.angle_between(last, session.pose.rotations).max()))
        last = session.pose.rotations
    assert max(steps) < 8.0


def test_step_by_step_goes_on_from_the_last_tick(rig: Any) -> None:
    poses = []
    for step_by_step in (False, True):
        chain_of(rig).successive = step_by_step
        session = session_of(rig)
        for share in np.linspace(0.0, 1.0, 10):
            session.drag(share * np.array(WAY), STILL)
        poses.append(session.pose.rotations)
        wanted, reached = targets(session)[0]
        np.testing.assert_allclose(reached, wanted, atol=NEAR)
        session.restore()
    assert np.degrees(rotation.angle_between(*poses).max()) > 1.0


def test_other_bones_and_chains_that_are_switched_off_are_dragged_with_the_whole_body(rig: Any) -> None:
    assert type(begin_drag(bpy.context, rig, [Grab(rig.name, "hand.R", (0.0, 0.0, 0.0))])) is DragSession
    for other, kind in (
        ("hand.R", DragSession),
        ("chest", ChainDrag),
    ):  # what of the chain is selected, too, is led by it
        both = [Grab(rig.name, bone, (0.0, 0.0, 0.0)) for bone in ("hand.L", other)]
        assert type(begin_drag(bpy.context, rig, both)) is kind
    chain_of(rig).use_drag = False
    assert type(session_of(rig)) is DragSession


def test_of_two_chains_of_one_effector_the_chosen_one_counts(rig: Any) -> None:
    choose(rig, "upper_arm.L", "hand.L")
    bpy.ops.poise.add_chain()
    assert session_of(rig).manner == 'by the list of "upper_arm.L to hand.L"'
    rig.poise_active_chain = 0
    assert session_of(rig).manner == 'by the list of "hand.L"'


def test_a_list_does_not_turn_what_is_dragged(rig: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match="This drag cannot rotate, because it is solved by the list of"):
        bpy.ops.poise.drag(bone="hand.L", turn=(0.2, 0.0, 0.0))
    assert contents() == before


@pytest.mark.parametrize("ranges", [True, False])
def test_hinges_keep_the_limits_of_their_anatomy_and_other_joints_as_the_panel_says(rig: Any, ranges: bool) -> None:
    rig.poise_use_anatomy_limits = ranges
    plain = bridge.read_rig(rig).skeleton
    known = anatomy(plain, bridge.read_roles(rig, plain))
    rng, out = np.random.default_rng(0), np.zeros(2)
    for way in rng.normal(scale=0.25, size=(8, 3)):
        session = session_of(rig)
        session.drag(way, STILL)
        turns = session.pose.rotations
        for place, groups in enumerate((known.limits, known.ranges)):
            for group in groups:
                beyond = excess(group, group.coordinates(rotation.to_matrix(turns[group.bones])))
                out[place] = max(out[place], np.degrees(np.abs(beyond).max()))
        session.restore()
    assert out[0] < 0.1
    assert (out[1] < 0.1) == ranges


def test_a_joint_that_was_bent_further_than_people_bend_stays_so_when_it_is_grabbed(rig: Any) -> None:
    turn(rig, "forearm.L", -0.6)
    bpy.context.view_layer.update()
    before = pose(rig)
    bpy.ops.poise.drag(bone="hand.L", shift=(0.0, 0.0, 1e-5))
    assert all(np.allclose(values, before[name], atol=1e-3) for name, values in pose(rig).items())


# -- numbers ----------------------------------------------------------------------------------------------------------


NUMBERS = {"fraction": 0.9, "angle": 0.5, "axis": "Y", "bone": "chest", "mode": "SMALLER", "passes": 3, "sweeps": 2}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_changed_number_does_at_once_what_a_new_drag_would(dragged: Any, name: str) -> None:
    chain = chain_of(dragged)
    if name in ("axis", "bone"):  # the forearm about one axis and the upper arm about two: no joint will be there twice
        for place in reversed(range(len(chain.entries))):
            if place not in (0, 3, 4):
                chain.active_entry = place
                bpy.ops.poise.remove_joint()
    owner = chain if name in chain.bl_rna.properties else chain.entries[-1 if name in ("fraction", "angle") else 0]
    first, old = pose(dragged), getattr(owner, name)
    setattr(owner, name, NUMBERS[name])
    assert chain.problem == "" or chain.problem.startswith("hand.L is ")  # what it misses by, not why it is refused
    tuned = pose(dragged)
    setattr(owner, name, old)
    np.testing.assert_allclose([*pose(dragged).values()], [*first.values()], atol=1e-5)
    setattr(owner, name, NUMBERS[name])
    for turned in chain.turns:
        dragged.pose.bones[turned.name].rotation_quaternion = turned.start_rotation
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    np.testing.assert_allclose([*pose(dragged).values()], [*tuned.values()], atol=1e-4)


def test_a_larger_fraction_gives_its_joint_a_larger_share(dragged: Any) -> None:
    chain = chain_of(dragged)
    for entry in chain.entries:
        entry.angle = 0.0
    before, hand = {turned.name: turned.turned for turned in chain.turns}, world(dragged, "hand.L")
    for place in (place for place, entry in enumerate(chain.entries) if entry.bone == "chest"):
        chain.entries[place].fraction = 0.6
        chain.entries.move(place, 0)
    chain.passes = 1  # moved by hand: solved again by the next change of a number
    chain.passes = 2
    after = {turned.name: turned.turned for turned in chain.turns}
    assert after["chest"] > before["chest"] + np.radians(2.0)
    np.testing.assert_allclose(world(dragged, "hand.L"), hand, atol=NEAR)


def test_one_undo_takes_back_the_number_and_the_pose(dragged: Any) -> None:
    bpy.ops.ed.undo_push(message="dragged")
    before, fraction = pose(dragged), chain_of(dragged).entries[3].fraction
    chain_of(dragged).entries[3].fraction = 0.1
    assert changed(before, dragged)
    bpy.ops.ed.undo_push(message="Fraction")  # as Blender does after a change in a panel
    bpy.ops.ed.undo()
    rig = bpy.data.objects["rig"]
    assert chain_of(rig).entries[3].fraction == fraction
    assert not changed(before, rig)
    chain_of(rig).entries[3].fraction = 0.1  # and it can be tuned on
    assert changed(before, rig)


def test_every_step_with_a_chain_is_undone_and_done_again() -> None:
    bpy.ops.ed.undo_push(message="before")
    choose(make_armature(), *ARM)
    bpy.ops.ed.undo_push(message="the rig")
    tools = bpy.ops.poise

    def kept() -> tuple[list[Any], list[list[float]]]:
        rig = bpy.data.objects["rig"]  # undo makes new objects
        chains = [[chain.name, listed(chain), [turn.name for turn in chain.turns]] for chain in rig.poise_chains]
        return chains, [values.tolist() for values in pose(rig).values()]

    states = [kept()]
    for tool, options in (
        (tools.add_chain, {}),
        (tools.drag, {"bone": "hand.L", "shift": WAY}),
        (tools.move_joint, {"direction": "DOWN"}),
        (tools.remove_joint, {}),
        (tools.add_joint, {}),
        (tools.reset_list, {"preset": "TAIL"}),
        (tools.remove_chain, {}),
    ):
        assert tool("EXEC_DEFAULT", True, **options) == {"FINISHED"}
        states.append(kept())
        assert states[-1] != states[-2]
    for state in reversed(states[:-1]):
        bpy.ops.ed.undo()
        assert kept() == state
    for state in states[1:]:
        bpy.ops.ed.redo()
        assert kept() == state


def test_a_pose_that_was_changed_since_is_left_alone(dragged: Any) -> None:
    turn(dragged, "forearm.L", 1.0)
    before = contents()
    chain_of(dragged).entries[0].fraction = 0.9
    assert contents()["objects"] == before["objects"]
    assert "Drag it again" in chain_of(dragged).problem
    assert "Drag it again" in " ".join(labels(POISE_PT_chains))


def _edit_rest(rig: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["upper_arm.L"].head.z += 0.05
    bpy.ops.object.mode_set(mode="POSE")


@pytest.mark.parametrize(
    "change",
    [
        lambda rig: turn(rig, "spine", 0.5),
        lambda rig: setattr(rig.pose.bones["hips"], "location", (0.0, 0.0, 0.5)),
        lambda rig: setattr(rig.pose.bones["upper_arm.L"], "scale", (1.0, 1.3, 1.0)),
        _edit_rest,
    ],
)
def test_a_chain_that_was_carried_elsewhere_since_is_left_alone(dragged: Any, change: Any) -> None:
    change(dragged)
    bpy.context.view_layer.update()
    before = pose(dragged)
    chain_of(dragged).entries[0].fraction = 0.9
    assert not changed(before, dragged)
    assert "Drag it again" in chain_of(dragged).problem


def test_without_a_drag_a_number_moves_nothing(rig: Any) -> None:
    before = pose(rig)
    chain_of(rig).entries[0].fraction = 0.9
    assert not changed(before, rig)
    assert chain_of(rig).problem == ""


@pytest.mark.parametrize("shift", [(0.0, 0.0, 3.0), (0.0, 3.0, 0.0)])
def test_a_straight_tail_out_of_reach_says_why_its_fractions_change_nothing(shift: Any) -> None:
    tail = make_chain(6)
    choose(tail, "b0", "b5")
    bpy.ops.poise.add_chain()
    bpy.ops.poise.drag(bone="b5", shift=shift)
    before, chain = pose(tail), chain_of(tail)
    chain.entries[0].fraction = 0.9
    np.testing.assert_allclose([*pose(tail).values()], [*before.values()], atol=2e-3)  # 0.2 degrees
    far = np.linalg.norm(np.array((0.0, 0.0, 2.5)) + shift) - 2.5
    assert chain.problem == f"b5 is {far:.3g} m short of its target: fully stretched from b0. Move the target closer"
    assert chain.problem in " ".join(labels(POISE_PT_chains))


def test_what_a_list_lacks_is_said_and_nothing_moves(dragged: Any) -> None:
    before, chain = pose(dragged), chain_of(dragged)
    chain.entries[1].bone = "foot.L"
    assert 'rotates "foot.L", which is not between' in chain.problem
    chain.entries[1].bone = "nobody"
    assert 'uses the bone "nobody"' in chain.problem
    assert not changed(before, dragged)
    with pytest.raises(RuntimeError, match='uses the bone "nobody"'):
        bpy.ops.poise.drag(bone="hand.L", shift=WAY)


def test_with_auto_keying_a_changed_number_changes_the_keys(rig: Any) -> None:
    for bone in ARM:
        rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=-5)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    try:
        bpy.ops.poise.drag(bone="hand.L", shift=WAY)
        chain_of(rig).entries[3].fraction = 0.1
    finally:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    before = pose(rig)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    np.testing.assert_allclose([*pose(rig).values()], [*before.values()], atol=1e-6)
    assert max(np.abs(values[1:4]).max() for values in before.values()) > 0.1


# -- the list ---------------------------------------------------------------------------------------------------------


def test_joints_come_go_and_change_places_and_the_pose_follows(dragged: Any) -> None:
    chain, hand = chain_of(dragged), world(dragged, "hand.L")
    choose(dragged, "hand.L", "chest")
    assert bpy.ops.poise.reset_list(preset="SPINE") == {"FINISHED"}
    full = listed(chain)
    chain.active_entry = 0
    assert bpy.ops.poise.move_joint(direction="DOWN") == {"FINISHED"}
    assert (listed(chain), chain.active_entry) == ([full[1], full[0], *full[2:]], 1)
    bpy.ops.poise.move_joint(direction="UP")
    with pytest.raises(RuntimeError, match="first one already"):
        bpy.ops.poise.move_joint(direction="UP")
    assert bpy.ops.poise.remove_joint() == {"FINISHED"}
    assert listed(chain) == full[1:]
    choose(dragged, full[0][0])
    assert bpy.ops.poise.add_joint() == {"FINISHED"}
    assert listed(chain) == [*full[1:], full[0]]
    assert bpy.ops.poise.add_joint() == {"FINISHED"}  # a joint may turn more than once
    assert listed(chain)[-1][0] == full[0][0]
    assert len({entry.name for entry in chain.entries}) == len(full) + 1
    np.testing.assert_allclose(world(dragged, "hand.L"), hand, atol=NEAR)


def test_a_joint_that_is_taken_out_goes_back_to_where_it_was(dragged: Any) -> None:
    chain = chain_of(dragged)
    start = {turned.name: np.array(turned.start_rotation) for turned in chain.turns}
    while (place := next((p for p, entry in enumerate(chain.entries) if entry.bone == "chest"), None)) is not None:
        chain.active_entry = place
        bpy.ops.poise.remove_joint()
    np.testing.assert_allclose(dragged.pose.bones["chest"].rotation_quaternion, start["chest"], atol=1e-6)
    assert chain.problem == ""


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [("add_joint", "None of the selected bones is between"), ("remove_joint", "needs at least one joint")],
)
def test_what_cannot_be_done_to_a_list_is_refused(rig: Any, tool: str, sentence: str) -> None:
    while len(chain_of(rig).entries) > 1:
        bpy.ops.poise.remove_joint()
    choose(rig, "foot.L")
    before = listed(chain_of(rig))
    with pytest.raises(RuntimeError, match=sentence):
        getattr(bpy.ops.poise, tool)()
    assert listed(chain_of(rig)) == before


@pytest.mark.parametrize(
    ("file", "chains"),
    [
        ("scripted/creature_octopus.blend", {("arm0_1", "arm0_12"): "tentacle", ("arm4_1", "arm4_12"): "tentacle"}),
        ("scripted/creature_spider8.blend", {("leg2_1.L", "leg2_4.L"): "leg"}),
        ("real/ozz_robot.fbx", {("shoulder", "wrist"): "arm"}),
        ("real/quaternius_trex.fbx", {("FrontLeg.L", "FrontFoot.L"): "arm", ("Tail1", "Tail5"): "tail"}),
        ("real/quaternius_eagle.fbx", {("Bone.007", "Bone.011"): "arm"}),  # a wing
        (
            "scripted/mpfb_mixamo.blend",
            {
                ("mixamorig:LeftHand", "mixamorig:LeftHandIndex3"): "finger",
                ("mixamorig:LeftShoulder", "mixamorig:LeftHandIndex3"): "arm",
                ("mixamorig:Hips", "mixamorig:LeftHand"): "arm",
                ("mixamorig:Spine", "mixamorig:Head"): "spine",
            },
        ),
        ("scripted/rigify_metarig_wolf.blend", {("brow.B.L", "brow.B.L.003"): "tail", ("jaw", "chin"): "tail",
                                                ("f_palm.04.L", "f_pinky.03.L"): "finger"}),
        ("scripted/rigify_generated_human.blend", {("upper_arm_fk.L", "hand_fk.L"): "arm",
                                                   ("thigh_fk.L", "foot_fk.L"): "leg"}),
    ],
)  # fmt: skip
def test_presets_suit_the_limbs_of_all_kinds_of_bodies(file: str, chains: dict[tuple[str, str], str]) -> None:
    body = load(SHARED / "rigs" / file)[-1]
    skeleton = bridge.read_rig(body).skeleton
    assert {ends: preset_actuations(body, skeleton, *ends)[0] for ends in chains} == chains


@pytest.mark.parametrize("name", ["arm", "leg", "spine", "neck", "tail", "finger", "tentacle"])
def test_every_preset_can_be_had_for_any_chain(name: str) -> None:
    tail = make_chain(5)
    choose(tail, "b0", "b4")
    assert bpy.ops.poise.add_chain(preset=name.upper()) == {"FINISHED"}
    place = world(tail, "b4")
    bpy.ops.poise.drag(bone="b4", shift=(0.4, 0.1, -0.3))
    np.testing.assert_allclose(world(tail, "b4") - place, [0.4, 0.1, -0.3], atol=NEAR)


def test_a_list_goes_out_and_comes_in_as_the_verb_has_it(dragged: Any, tmp_path: Path) -> None:
    file, chain = tmp_path / "list.json", chain_of(dragged)
    chain.mode, chain.passes, chain.successive = "MIXED", 3, True
    data, tuned = actuations_data(read_actuations(chain)), pose(dragged)
    assert bpy.ops.poise.export_list(filepath=str(file)) == {"FINISHED"}
    assert json.loads(file.read_text(encoding="utf-8"))["list"] == data
    assert actuations_data(read_list_file(file).actuations) == data
    bpy.ops.poise.reset_list(preset="TENTACLE")
    assert (chain.mode, chain.passes, chain.successive) == ("LARGER", 1, False)
    assert bpy.ops.poise.import_list(filepath=str(file)) == {"FINISHED"}
    assert actuations_data(read_actuations(chain)) == data
    assert (chain.mode, chain.passes, chain.successive) == ("MIXED", 3, True)
    np.testing.assert_allclose([*pose(dragged).values()], [*tuned.values()], atol=1e-3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"bone": "foot.L", "axis": "X"}]', 'rotates "foot.L", which is not between'),
        ("[{", "is not JSON"),
        ("[]", "The list has no actuations"),
    ],
)
def test_a_file_that_is_no_list_for_the_chain_is_refused(
    dragged: Any, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "list.json").write_text(text, encoding="utf-8")
    before, entries = pose(dragged), listed(chain_of(dragged))
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.import_list(filepath=str(tmp_path / "list.json"))
    assert listed(chain_of(dragged)) == entries
    assert not changed(before, dragged)


def test_the_list_is_learned_from_the_action(capfd: pytest.CaptureFixture[str]) -> None:
    rig = make_armature()
    make_walk(rig)
    choose(rig, "thigh.L", "foot.L")
    bpy.ops.poise.add_chain()
    assert bpy.ops.poise.learn_list(frame_end=20) == {"FINISHED"}
    assert {("thigh.L", "X"), ("shin.L", "X")} >= {*listed(chain_of(rig))}
    (error,) = re.findall(r"differs from the motion by ([\d.]+) degrees", "".join(capfd.readouterr()))
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(1, 21))
    skeleton, method = chain_method(rig, chain_of(rig), read.skeleton, motion.pose)
    used = Replay(skeleton, motion.pose, "foot.L", "thigh.L", method=method).errors(method.actuations).mean()
    assert float(error) == pytest.approx(np.degrees(used), abs=0.1)
    assert chain_of(rig).successive


def test_learning_is_refused_without_an_action_and_can_be_given_up_on_the_way() -> None:
    rig = make_armature()
    choose(rig, "thigh.L", "foot.L")
    bpy.ops.poise.add_chain()
    with pytest.raises(RuntimeError, match="has no action to learn from"):
        bpy.ops.poise.learn_list()
    make_walk(rig)
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(1, 21))
    steps = learning(read.skeleton, motion.pose, "foot.L", "thigh.L")
    assert 0.0 <= next(steps) <= next(steps) < 1.0
    steps.close()


def test_a_chain_is_removed_and_the_pose_stays(dragged: Any) -> None:
    before = pose(dragged)
    assert bpy.ops.poise.remove_chain() == {"FINISHED"}
    assert not len(dragged.poise_chains)
    assert not changed(before, dragged)


# -- files and panels -------------------------------------------------------------------------------------------------


def test_chains_survive_on_a_library_override(rig: Any, tmp_path: Path) -> None:
    object = library_override(rig, tmp_path / "library.blend")
    choose(object, "thigh.L", "foot.L")
    bpy.ops.poise.add_chain()
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    object.poise_chains[0].entries[2].fraction = 0.77
    object.poise_chains[0].mode = "SMALLER"
    object.poise_chains[1].entries[1].angle = 0.5
    object.poise_active_chain = 0
    for tool in ("remove_chain", "remove_joint", "move_joint", "reset_list"):
        with pytest.raises(RuntimeError, match="belongs to the linked file"):
            getattr(bpy.ops.poise, tool)()
    before = [(chain.name, chain.mode, actuations_data(read_actuations(chain))) for chain in object.poise_chains]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    object = next(o for o in bpy.data.objects if o.override_library)
    assert [(c.name, c.mode, actuations_data(read_actuations(c))) for c in object.poise_chains] == before
    here = pose(object)
    object.poise_chains[0].mode = "LARGER"  # it can be tuned on
    assert object.poise_chains[0].problem == ""
    assert changed(here, object) <= {*ARM}


def test_a_chain_that_was_dragged_in_its_library_is_dragged_on_in_an_override(dragged: Any, tmp_path: Path) -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["rig"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    object = wanted.objects[0].override_create(remap_local_usages=True)
    choose(object, "upper_arm.L", "hand.L")
    bpy.ops.poise.drag(bone="hand.L", shift=WAY)
    chain = object.poise_chains[0]
    names = [turn.name for turn in chain.turns]
    assert len(set(names)) == len(names) > 0
    chain.entries[0].fraction *= 0.5
    assert chain.problem == ""


def test_the_panel_shows_the_list_and_who_turned_and_changes_nothing(dragged: Any) -> None:
    before = contents()
    seen = drawn_by(POISE_PT_chains)
    assert {
        ("list", "poise_chains"),
        ("list", "entries"),
        ("prop", "fraction"),
        ("prop", "angle"),
        ("prop", "axis"),
        ("prop", "bone"),
    } <= {*seen}
    tools = {name.removeprefix("poise.") for kind, name in seen if kind == "operator"}
    assert tools == {
        *("add_chain", "remove_chain", "add_joint", "remove_joint", "move_joint"),
        *("reset_list", "bake_chain", "learn_list", "import_list", "export_list"),
    }
    bars = [text for kind, text in drawn_by(POISE_PT_turns) if kind == "progress"]
    assert len(bars) == len(chain_of(dragged).turns)
    assert abs(sum(int(text.rstrip("%").split()[-1]) for text in bars) - 100) <= len(bars)
    chain_of(dragged).mode = "MIXED"
    assert {("prop", name) for name in ("mode", "passes", "share", "sweeps", "finish", "successive")} == {
        *drawn_by(POISE_PT_method)
    }
    assert contents()["ids"] == before["ids"]


def test_chains_follow_their_bones_to_new_names(dragged: Any, tmp_path: Path) -> None:
    before = pose(dragged)
    dragged.data.bones["hand.L"].name = "tmp"
    dragged.data.bones["upper_arm.L"].name = "hand.L"  # a name that was another's
    dragged.data.bones["tmp"].name = "paw"
    dragged.data.bones["chest"].name = "rib"
    bpy.context.view_layer.update()
    chain = chain_of(dragged)
    assert (chain.base, chain.effector) == ("rib", "paw")
    assert (
        {entry.bone for entry in chain.entries} == {turn.name for turn in chain.turns} == {"rib", "hand.L", "forearm.L"}
    )
    np.testing.assert_array_equal([*pose(dragged).values()], [*before.values()])  # nothing was solved again
    place = world(dragged, "paw")
    next(entry for entry in chain.entries if entry.bone == "hand.L").fraction = 0.1
    assert not chain.problem
    np.testing.assert_allclose(world(dragged, "paw"), place, atol=NEAR)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    (again,) = (object for object in bpy.data.objects if object.type == "ARMATURE")
    again.data.bones["paw"].name = "hoof"
    bpy.context.view_layer.update()
    assert chain_of(again).effector == "hoof"


def test_a_bone_and_its_double_are_told_apart_when_they_are_renamed(rig: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.armature.select_all(action="DESELECT")
    for name in ("forearm.L", "hand.L"):
        bone = rig.data.edit_bones[name]
        bone.select = bone.select_head = bone.select_tail = True
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="POSE")
    assert rig.pose.bones["hand.L.001"].poise_mark == rig.pose.bones["hand.L"].poise_mark > 0
    rig.data.bones["hand.L"].name = "paw"
    bpy.context.view_layer.update()
    assert chain_of(rig).effector == "paw"
    choose(rig, "upper_arm.L", "hand.L.001")
    bpy.ops.poise.add_chain()
    rig.data.bones["hand.L.001"].name = "fin"
    bpy.context.view_layer.update()
    rig.data.bones["paw"].name = "hand.L"
    bpy.context.view_layer.update()
    assert [chain.effector for chain in rig.poise_chains] == ["hand.L", "fin"]


def test_a_list_that_names_a_bone_that_is_gone_says_so(rig: Any) -> None:
    remove_bone(rig, "hand.L")
    remove_bone(rig, "forearm.L")
    bpy.ops.object.mode_set(mode="POSE")
    assert any(text == "forearm.L (no such bone)" for text in labels(POISE_PT_chains))


def test_an_armature_without_chains_says_how_to_make_one() -> None:
    make_armature()
    assert "the base of a chain" in " ".join(labels(POISE_PT_chains))
    assert not POISE_PT_turns.poll(bpy.context)
    assert not POISE_PT_method.poll(SimpleNamespace(active_object=None))
