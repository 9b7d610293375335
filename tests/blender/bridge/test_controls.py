"""Rigs whose bodies are driven are posed by their controls, and measured where Blender has the bodies' bones."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from bridge import Grab, pose_controls, read_body
from core import CoreError, forward, rotation
from core.formats.job import parse
from edits.drag.session import DragSession
from edits.info import describe
from edits.job import perform_job
from edits.pin_list import set_pins
from tests.blender.rigs import (
    contents,
    load,
    make_ik_body,
    put_on_fk,
    said_by,
    select,
    world,
    world_rotation,
)
from tests.paths import SHARED

context: Any = bpy.context
SCRIPTED = SHARED / "rigs" / "scripted"


def at(rig: Any, part: str) -> np.ndarray:
    return world(rig, f"DEF-{part}")


def way(rig: Any, first: str, last: str) -> np.ndarray:
    line = at(rig, last) - at(rig, first)
    return line / np.linalg.norm(line)


def test_the_panel_says_that_the_body_is_led(human: Any) -> None:
    said = [row.text for row in context.window_manager.poise_survey.findings]
    assert "394 bones are driven; the body is posed by its controls." in said


def test_an_elbow_goes_to_where_it_was_from_any_turn_of_its_control(human: Any) -> None:
    hand, control = human.pose.bones["hand_ik.R"], human.pose.bones["upper_arm_ik.R"]
    free = [axis for axis, locked in enumerate(control.lock_rotation) if not locked]
    assert free == [1]
    rng = np.random.default_rng(25)

    def turn(degrees: float) -> np.ndarray:
        hand.location, control.rotation_euler[1] = rng.uniform(-0.3, 0.3, 3), np.radians(degrees)
        human.update_tag()
        context.view_layer.update()
        return at(human, "forearm.R")

    for wanted in (-46.0, 90.0, 170.0):
        elbow = turn(wanted)
        body = read_body(human)
        for start in range(-180, 180, 30):
            turn(start)
            pose_controls(human, body.rig, body.controlled, body.pose)
            context.view_layer.update()
            assert np.linalg.norm(at(human, "forearm.R") - elbow) < 1e-4, (wanted, start)


@pytest.mark.parametrize("fk", [0.0, 1.0])
def test_a_body_that_is_led_takes_a_t_pose_and_its_limbs_stay_on_ik_or_fk(human: Any, fk: float) -> None:
    put_on_fk(human, fk)
    assert bpy.ops.poise.take_posture(posture="T") == {"FINISHED"}
    for side, out in (("L", 1.0), ("R", -1.0)):
        np.testing.assert_allclose(way(human, f"upper_arm.{side}", f"hand.{side}"), (out, 0, 0), atol=1e-3)
        np.testing.assert_allclose(way(human, f"thigh.{side}", f"foot.{side}"), (0, 0, -1), atol=1e-3)
        assert human.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] == fk
    names = {bone.name for bone in human.pose.bones if bone.matrix_basis != Matrix()}
    assert not any(name.startswith(("DEF-", "ORG-", "MCH-")) for name in names)
    assert not any("_ik" in name if fk else "_fk." in name and "spine" not in name for name in names)


def test_fingers_alone_leave_the_limbs_as_they_are(human: Any) -> None:
    hand, tip = at(human, "hand.L"), at(human, "f_middle.03.L")
    bpy.ops.poise.pose_fingers(side="L", close=1.0)
    np.testing.assert_allclose(at(human, "hand.L"), hand, atol=1e-5)
    assert np.linalg.norm(at(human, "f_middle.03.L") - hand) < 0.8 * np.linalg.norm(tip - hand)
    assert human.pose.bones["upper_arm_parent.L"]["IK_FK"] == 0.0


@pytest.mark.parametrize(("mode", "axis"), [("QUATERNION", 0), ("XYZ", 0), ("XYZ", 2), ("ZYX", 1)])
def test_a_hand_whose_rotation_is_locked_goes_where_it_is_dragged(human: Any, mode: str, axis: int, capfd: Any) -> None:
    """No control determines the twist of the roots of fingers: of a hand that nothing turns they were refused.

    Of one with a locked Euler angle the hand was refused: the arm turned it about that as well.
    """
    control = human.pose.bones["hand_ik.L"]
    control.rotation_mode, control.lock_rotation[axis] = mode, True
    if mode != "QUATERNION":
        bpy.ops.poise.drag(bone="hand_ik.L", turn=(0.3, 0.2, 0.1))
        assert '"hand_ik.L" is locked: unlock its rotation to rotate it' in capfd.readouterr().out
    wanted, turned = np.add(at(human, "hand.L"), (0.05, -0.1, 0.1)), world_rotation(human, "DEF-hand.L")
    bpy.ops.poise.drag(bone="hand_ik.L", shift=(0.05, -0.1, 0.1))
    np.testing.assert_allclose(at(human, "hand.L"), wanted, atol=1e-3)
    assert np.degrees(rotation.angle_between(world_rotation(human, "DEF-hand.L"), turned)) < 0.5
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}


@pytest.mark.parametrize(("control", "axis"), [("upper_arm_fk.L", 0), ("upper_arm_fk.L", 2), ("forearm_fk.L", 0)])
def test_segments_on_fk_turn_about_the_axes_that_are_not_locked(
    human: Any, control: str, axis: int, capfd: Any
) -> None:
    """Arms were solved without the lock: they were refused, or stopped up to 3 cm beside."""
    put_on_fk(human, 1.0)
    locked = human.pose.bones[control]
    locked.rotation_mode, locked.rotation_euler, locked.lock_rotation[axis] = "XYZ", (0.2, 0.1, -0.2), True
    context.view_layer.update()
    before, wanted = locked.rotation_euler.copy(), np.add(at(human, "hand.L"), (0.05, -0.1, 0.1))
    assert bpy.ops.poise.drag(bone="hand_fk.L", shift=(0.05, -0.1, 0.1)) == {"FINISHED"}
    context.view_layer.update()
    np.testing.assert_allclose(at(human, "hand.L"), wanted, atol=1e-3)
    assert locked.rotation_euler[axis] == before[axis]
    assert locked.rotation_euler != before
    assert "misses" not in capfd.readouterr().out


def test_led_feet_stand_on_the_ground_and_mirrored_poses_are_images(human: Any) -> None:
    human.pose.bones["torso"].location = (0.1, 0.0, -0.1)
    bpy.ops.poise.plant_feet(height=0.1)
    for side in "LR":
        made = human.data.bones[f"DEF-foot.{side}"].head_local.z
        assert at(human, f"foot.{side}")[2] == pytest.approx(made + 0.1, abs=3e-3)
    bpy.ops.poise.take_posture(posture="REST")
    arm = human.pose.bones["upper_arm_fk.L"]
    arm.rotation_quaternion = (0.9, 0.3, 0.2, -0.2)
    left = way(human, "upper_arm.L", "hand.L")
    bpy.ops.poise.mirror_pose()
    np.testing.assert_allclose(way(human, "upper_arm.R", "hand.R"), left * (-1, 1, 1), atol=2e-3)


def test_eyes_look_by_the_bones_that_they_aim_at_and_else_go_along_with_the_head(human: Any) -> None:
    def astray(side: str) -> float:
        eye = human.pose.bones[f"ORG-eye.{side}"]
        way = np.array(context.scene.cursor.location) - world(human, eye.name)
        return float(np.degrees(np.arccos(np.array(eye.y_axis) @ way / np.linalg.norm(way))))

    context.scene.cursor.location = (0.4, -0.6, 1.5)
    bpy.ops.poise.look_at(target="CURSOR", head=0.5)
    assert max(astray("L"), astray("R")) < 0.1
    assert any(human.pose.bones["eye.L"].location)
    aims = [tuple(human.pose.bones[f"eye.{side}"].location) for side in "LR"]
    bpy.ops.poise.take_posture(posture="T")
    assert [tuple(human.pose.bones[f"eye.{side}"].location) for side in "LR"] == aims


def test_legs_on_ik_are_led_by_their_ik_bones() -> None:
    (rig,) = load(SCRIPTED / "named_mmd_japanese.blend")
    select(rig, [])
    assert describe(rig)["controls"]["foot.L"] == "左足ＩＫ"
    foot = world(rig, "左足首")
    bpy.ops.poise.plant_feet(side="L", height=0.15)
    raised = world(rig, "左足首")
    assert raised[2] - foot[2] == pytest.approx(0.15, abs=0.02)
    assert any(rig.pose.bones["左足ＩＫ"].location)


def test_what_does_not_follow_is_named_and_everything_is_as_it_was(human: Any) -> None:
    held = human.pose.bones["ORG-forearm.L"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget = human, "root"
    context.view_layer.update()
    before = contents()["objects"]["rig"]
    with pytest.raises(RuntimeError, match="does not follow its control"):
        bpy.ops.poise.take_posture(posture="T")
    assert contents()["objects"]["rig"] == before
    assert human.pose.bones["upper_arm_parent.L"]["IK_FK"] == 0.0


def solve(rig: Any, **job: Any) -> Any:
    return perform_job(bpy.context, rig, parse({"version": 1, **job}))


@pytest.mark.parametrize("fk", [0.0, 1.0])
@pytest.mark.parametrize("method", ["pins", "humanoid"])
def test_a_job_on_the_bodys_bones_keys_their_controls(human: Any, method: str, fk: float) -> None:
    put_on_fk(human, fk)
    foot, reach = at(human, "foot.R"), at(human, "hand.L")
    path = [[1, *reach], [3, *np.add(reach, (-0.1, -0.3, 0.2))]]
    goals = [
        {"bone": "DEF-foot.L", "pin": ["position", "rotation"]},
        {"bone": "DEF-foot.R", "pin": ["position", "rotation"]},
        {"bone": "DEF-hand.L", "position": {"path": [[float(x) for x in point] for point in path]}},
    ]
    report = solve(human, frames=[1, 3], method={"name": method}, goals=goals)
    assert report.met, report.explanations
    assert ("upper_arm_fk.L" if fk else "hand_ik.L") in report.rotated
    assert human.pose.bones["upper_arm_parent.L"]["IK_FK"] == fk
    assert not [name for name in (*report.rotated, *report.moved) if name.startswith(("DEF-", "ORG-", "MCH-"))]
    context.scene.frame_set(3)
    np.testing.assert_allclose(at(human, "hand.L"), path[1][1:], atol=1e-3)
    np.testing.assert_allclose(at(human, "foot.R"), foot, atol=1e-3)
    context.scene.frame_set(1)
    np.testing.assert_allclose(at(human, "hand.L"), reach, atol=1e-3)


def test_a_job_without_keys_poses_now_and_one_that_cannot_be_changes_nothing(human: Any) -> None:
    target = np.add(at(human, "hand.R"), (0.0, -0.2, 0.1)).tolist()
    before = contents()
    with pytest.raises(CoreError, match='"jaw" does not move with the body'):
        solve(human, goals=[{"bone": "DEF-hand.R", "position": target}, {"bone": "jaw", "position": target}])
    assert contents() == before
    assert solve(human, goals=[{"bone": "DEF-hand.R", "position": target}]).met
    np.testing.assert_allclose(at(human, "hand.R"), target, atol=1e-3)


def test_a_creature_is_led_too() -> None:
    wolf = next(rig for rig in load(SCRIPTED / "rigify_generated_wolf.blend") if rig.name == "rig")
    controls = describe(wolf)["controls"]
    assert controls["leg.front.L"][-2:] == ["front_foot_ik.L", "front_toe.L"]
    paw, feet = "DEF-front_foot.L", ("DEF-foot.L", "DEF-foot.R", "DEF-front_foot.R")
    stood = {foot: world(wolf, foot) for foot in feet}
    target = np.add(world(wolf, paw), (0.0, -0.1, 0.1)).tolist()
    goals = [{"bone": paw, "position": target}, *({"bone": foot, "pin": ["position"]} for foot in feet)]
    report = solve(wolf, goals=goals)
    assert report.met, report.explanations
    np.testing.assert_allclose(world(wolf, paw), target, atol=1e-3)
    for foot, place in stood.items():
        np.testing.assert_allclose(world(wolf, foot), place, atol=1e-3)
    assert not [name for name in (*report.rotated, *report.moved) if name.startswith(("DEF-", "ORG-", "MCH-"))]


@pytest.mark.parametrize("grabbed", ["DEF-hand.L", "hand_fk.L"])
def test_a_drag_leads_the_controls_keeps_pins_and_is_taken_back(human: Any, grabbed: str) -> None:
    select(human, ["DEF-foot.L", "DEF-foot.R"])
    set_pins(context, human, ["DEF-foot.L", "DEF-foot.R"], "BOTH")
    stood = {side: at(human, f"foot.{side}") for side in "LR"}
    put_on_fk(human, float(grabbed == "hand_fk.L"))
    hand, before = world(human, grabbed), contents()["objects"]["rig"]
    session = DragSession(context, human, [Grab("rig", grabbed, (0.0, 0.0, 0.0))])
    for share in (0.5, 1.0):
        way = share * np.array([-0.1, -0.3, -0.5])
        assert session.drag(way, np.array([1.0, 0.0, 0.0, 0.0])).converged
    np.testing.assert_allclose(world(human, grabbed), hand + way, atol=5e-3)
    for side, place in stood.items():
        np.testing.assert_allclose(at(human, f"foot.{side}"), place, atol=5e-3)
    session.restore()
    assert contents()["objects"]["rig"] == before
    session.drag(way, np.array([1.0, 0.0, 0.0, 0.0]))
    turned, moved, grown = session.finish()
    assert {"forearm_fk.L", "upper_arm_fk.L"} <= {*turned} if grabbed == "hand_fk.L" else "hand_ik.L" in moved
    assert not grown
    assert not [name for name in (*turned, *moved) if name.startswith(("DEF-", "ORG-", "MCH-"))]


@pytest.mark.parametrize(
    ("grabbed", "part"), [("hand_ik.L", "hand.L"), ("foot_ik.L", "foot.L"), ("foot_tweak.L", "foot.L")]
)
def test_an_animators_other_controls_lead_the_body_and_go_with_it(human: Any, grabbed: str, part: str) -> None:
    places = np.array([world(human, grabbed), at(human, part)])
    way = np.array([-0.1, -0.3, 0.25])
    assert bpy.ops.poise.drag(bone=grabbed, shift=way) == {"FINISHED"}
    np.testing.assert_allclose([world(human, grabbed), at(human, part)], places + way, atol=2e-3)


def test_a_pin_of_a_control_moves_with_a_drag_of_what_it_leads(human: Any) -> None:
    select(human, ["hand_ik.L"])
    bpy.ops.poise.pin(kind="POSITION")
    assert bpy.ops.poise.drag(bone="hand_fk.L", shift=(-0.1, -0.2, 0.1)) == {"FINISHED"}
    (pin,) = human.poise_pins
    assert pin.name == "hand_ik.L"
    np.testing.assert_allclose(pin.position, world(human, "hand_ik.L"), atol=1e-4)
    np.testing.assert_allclose(world(human, "hand_ik.L"), at(human, "hand.L"), atol=2e-3)


@pytest.mark.parametrize(
    "grabbed", ["lips.L", "eye.L", "brow.B.L.001", "lid.T.L.002", "lip.T.L.001", "nose.L", "ear.L.003", "cheek.B.L.001"]
)
def test_a_control_of_the_face_moves_alone_and_with_x_mirror_the_other_sides_too(human: Any, grabbed: str) -> None:
    """Those that copy some of the way of their neighbors dragged the whole body, or were refused."""
    human.pose.use_mirror_x = True
    select(human, ["foot_ik.L"])
    bpy.ops.poise.pin()
    other = bpy.utils.flip_name(grabbed)
    before = [world(human, name) for name in (grabbed, other)]
    channels = {bone.name: bone.matrix_basis.copy() for bone in human.pose.bones}
    assert bpy.ops.poise.drag(bone=grabbed, shift=(0.01, -0.02, 0.01)) == {"FINISHED"}
    side = [0.01, -0.02, 0.01] if other == grabbed else [-0.01, -0.02, 0.01]
    ways = np.subtract([world(human, name) for name in (grabbed, other)], before)
    np.testing.assert_allclose(ways, [[0.01, -0.02, 0.01], side], atol=1e-4)
    assert {bone.name for bone in human.pose.bones if bone.matrix_basis != channels[bone.name]} == {grabbed, other}


def test_a_control_that_leads_nothing_is_refused_with_the_reason_and_can_be_turned(human: Any) -> None:
    human.pose.bones["jaw_master"].lock_location = (True, True, True)
    before = contents()["objects"]["rig"]
    with pytest.raises(RuntimeError, match=r'"jaw_master" is parented to it and can only be rotated'):
        bpy.ops.poise.drag(bone="jaw_master", shift=(0.0, 0.0, -0.02))
    assert contents()["objects"]["rig"] == before
    chin = at(human, "chin")
    assert bpy.ops.poise.drag(bone="jaw_master", turn=(0.4, 0.0, 0.0)) == {"FINISHED"}
    assert np.linalg.norm(at(human, "chin") - chin) > 0.01


@pytest.fixture
def miku() -> Any:
    """A model of MikuMikuDance: its feet hang on legs that go after bones by IK."""
    (rig,) = load(SCRIPTED / "named_mmd_japanese.blend")
    select(rig, [])
    return rig


def test_a_knee_on_ik_without_a_pole_comes_where_a_job_wants_it(miku: Any) -> None:
    hip, knee, ankle = (world(miku, bone) for bone in ("左足", "左ひざ", "左足首"))
    way = np.array([0.5, -0.6, -0.6])  # out, forward and down; the shin hangs
    knee_wanted = hip + way / np.linalg.norm(way) * np.linalg.norm(knee - hip)
    ankle_wanted = knee_wanted - (0.0, 0.0, np.linalg.norm(ankle - knee))
    goals = [
        {"bone": "左ひざ", "position": knee_wanted.tolist()},
        {"bone": "左足首", "position": ankle_wanted.tolist()},
    ]
    report = solve(miku, frames=[1, 3], goals=goals)
    assert report.met, report.explanations
    assert {"左足", "左ひざ"} <= {*report.rotated}


FEET = ("foot.L", "foot.R")


@pytest.mark.parametrize("pinned", [FEET, ("foot_ik.L", "foot_ik.R")])
def test_feet_on_ik_that_are_pinned_stand_while_the_hips_are_dragged(pinned: tuple[str, str]) -> None:
    rig = make_ik_body()
    select(rig, [])
    set_pins(context, rig, pinned, "BOTH")
    stood = [world(rig, foot) for foot in FEET]
    hips = world(rig, "hips")
    assert bpy.ops.poise.drag(bone="hips", shift=(0.0, 0.0, -0.2)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hips"), hips - (0, 0, 0.2), atol=1e-4)
    np.testing.assert_allclose([world(rig, foot) for foot in FEET], stood, atol=1e-3)
    assert not any(rig.pose.bones["root"].location)


def test_a_control_of_ik_that_is_dragged_leads_its_limb_and_leaves_the_root() -> None:
    rig = make_ik_body()
    select(rig, [])
    way, others = (0.0, -0.3, 0.2), ("hips", "foot.R")
    control, led, before = world(rig, "foot_ik.L"), world(rig, "foot.L"), [world(rig, bone) for bone in others]
    assert bpy.ops.poise.drag(bone="foot_ik.L", shift=way) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "foot_ik.L"), control + way, atol=1e-3)
    assert (world(rig, "foot.L") - led) @ way > 0.1 * np.dot(way, way)
    np.testing.assert_allclose([world(rig, bone) for bone in others], before, atol=0.01)
    assert not any(rig.pose.bones["root"].location)


@pytest.mark.parametrize("method", ["pins", "humanoid"])
def test_a_job_may_name_the_controls_of_ik(method: str) -> None:
    rig = make_ik_body()
    select(rig, [])
    stood, wanted = world(rig, "foot.R"), np.add(world(rig, "foot_ik.L"), (0.0, -0.2, 0.2))
    goals = [{"bone": "foot_ik.R", "pin": ["position"]}, {"bone": "foot_ik.L", "position": wanted.tolist()}]
    report = solve(rig, method={"name": method}, goals=goals)
    assert report.met, report.explanations
    np.testing.assert_allclose([world(rig, bone) for bone in ("foot_ik.L", "foot.L")], [wanted, wanted], atol=1e-3)
    np.testing.assert_allclose(world(rig, "foot.R"), stood, atol=1e-3)
    assert "root" not in (*report.rotated, *report.moved)


def test_legs_on_ik_follow_wherever_their_feet_are_dragged(miku: Any) -> None:
    rng = np.random.default_rng(0)
    start = world(miku, "左足首")
    for way in rng.uniform((-0.1, -0.35, 0.03), (0.1, 0.3, 0.35), (6, 3)):
        session = DragSession(context, miku, [Grab(miku.name, "左足首", (0.0, 0.0, 0.0))], settle=True)
        session.drag(way, np.array([1.0, 0.0, 0.0, 0.0]))
        session.finish()
        np.testing.assert_allclose(world(miku, "左足首"), start + way, atol=2e-3)
        assert session.body.controlled is not None
        heads = forward(session.body.skeleton, session.pose)[0]
        knee = heads[session.body.skeleton.index("左ひざ")]
        np.testing.assert_allclose(world(miku, "左ひざ"), knee, atol=2e-3)
        session.restore()
        context.view_layer.update()


def test_the_centre_goes_down_on_pinned_feet(miku: Any) -> None:
    stood = [world(miku, foot) for foot in ("左足首", "右足首")]
    goals = [{"bone": foot, "pin": ["position", "rotation"]} for foot in ("左足首", "右足首")]
    report = solve(miku, goals=[*goals, {"bone": "センター", "position": [0.0, 0.0, 0.5]}])
    assert report.met, report.explanations
    assert report.moved[0] == "センター"
    np.testing.assert_allclose(world(miku, "センター"), (0.0, 0.0, 0.5), atol=1e-3)
    np.testing.assert_allclose([world(miku, foot) for foot in ("左足首", "右足首")], stood, atol=1e-3)


def limit(bone: Any, kind: str, most: float) -> None:
    if kind == "constraint":
        held = bone.constraints.new("LIMIT_ROTATION")
        held.owner_space = "LOCAL"
    for axis in "xyz":
        if kind == "constraint":
            setattr(held, f"use_limit_{axis}", True)
            setattr(held, f"min_{axis}", -most)
            setattr(held, f"max_{axis}", most)
        else:
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", -most)
            setattr(bone, f"ik_max_{axis}", most)
    context.view_layer.update()


@pytest.mark.parametrize("kind", ["constraint", "inverse kinematics"])
def test_a_control_goes_to_its_limit_and_the_rest_of_the_body_as_it_should(
    human: Any, kind: str, monkeypatch: Any
) -> None:
    """A Limit Rotation made the tool refuse, naming a finger; limits of inverse kinematics were not known."""
    put_on_fk(human)
    arm = human.pose.bones["upper_arm_fk.L"]
    limit(arm, kind, 0.3)
    level, said = said_by("take_posture", monkeypatch, posture="T")
    limited = "upper_arm_fk.L is at the limit. Widen the limits or turn them off"
    assert (level, said.partition("; ")[0]) == ("WARNING", limited)
    assert np.abs(arm.matrix_basis.to_euler(arm.rotation_mode.replace("QUATERNION", "XYZ"))).max() < 0.3 + 1e-4
    assert rotation.angle_between(arm.matrix_basis.to_quaternion(), rotation.IDENTITY) > 0.2
    np.testing.assert_allclose(way(human, "upper_arm.R", "hand.R"), (-1, 0, 0), atol=1e-3)
    assert way(human, "upper_arm.L", "forearm.L") @ way(human, "forearm.L", "hand.L") > 0.99  # a straight arm


@pytest.mark.parametrize("method", ["PINS", "HUMANOID"])
def test_a_drag_knows_how_far_controls_go(human: Any, method: str) -> None:
    """The solver knows it, so that the rest of the body makes up for what the arm cannot do."""
    arm, wanted = human.pose.bones["upper_arm_fk.L"], np.add(at(human, "hand.L"), (0.2, -0.2, 0.5))
    human.poise_method = method
    bpy.ops.poise.take_posture(posture="REST")
    limit(arm, "inverse kinematics", 0.1)
    bpy.ops.poise.drag(bone="DEF-hand.L", shift=tuple(wanted - at(human, "hand.L")))
    assert rotation.angle_between(arm.matrix_basis.to_quaternion(), rotation.IDENTITY) < 0.2
    np.testing.assert_allclose(at(human, "hand.L"), wanted, atol=1e-3)


def test_a_part_that_does_not_follow_is_named_with_what_is_in_the_way(human: Any) -> None:
    put_on_fk(human)
    held = human.pose.bones["ORG-hand.L"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget, held.influence = human, "root", 0.9
    context.view_layer.update()
    before = contents()["objects"]["rig"]
    with pytest.raises(RuntimeError, match=r'"DEF-hand\.L" does not follow its control "hand_fk\.L"'):
        bpy.ops.poise.take_posture(posture="T")
    assert contents()["objects"]["rig"] == before


def test_hands_that_hang_on_nothing_change_places_where_a_pose_is_flipped() -> None:
    """They were glued to the forearms, and where they had stood was lost."""
    (rig,) = load(SCRIPTED / "odd_disconnected_roots.blend")
    select(rig, [])
    rng = np.random.default_rng(3)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = rotation.exp(0.2 * rng.normal(size=3)).tolist()
    rig.pose.bones["hips"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    rig.pose.bones["hand.L"].location = (0.1, 0.2, 0.1)
    context.view_layer.update()
    before = {bone.name: world(rig, bone.name) for bone in rig.pose.bones}
    assert bpy.ops.poise.mirror_pose() == {"FINISHED"}
    middle = 0.5 * (before["foot.L"] + before["foot.R"])[0]
    np.testing.assert_allclose(world(rig, "hand.R")[0] - middle, middle - before["hand.L"][0], atol=1e-3)
    np.testing.assert_allclose(world(rig, "hand.R")[1:], before["hand.L"][1:], atol=0.03)
    bpy.ops.poise.mirror_pose()
    for bone, place in before.items():
        np.testing.assert_allclose(world(rig, bone), place, atol=1e-3, err_msg=bone)


def test_twist_bones_of_a_led_body_go_straight_in_a_t_pose() -> None:
    """They are bones of the body like others; bent ones left the elbow bent by 14 degrees."""
    (rig,) = load(SCRIPTED / "named_mmd_japanese.blend")
    select(rig, [])
    for bone in ("左腕捩", "左手捩"):
        rig.pose.bones[bone].rotation_mode = "XYZ"
        rig.pose.bones[bone].rotation_euler = (0.0, 0.0, 0.6)
    context.view_layer.update()
    assert bpy.ops.poise.take_posture(posture="T") == {"FINISHED"}
    shoulder, elbow, wrist = (world(rig, bone) for bone in ("左腕", "左ひじ", "左手首"))
    for here, there in ((shoulder, elbow), (elbow, wrist)):
        line = there - here
        np.testing.assert_allclose(line / np.linalg.norm(line), (1.0, 0.0, 0.0), atol=2e-3)


@pytest.mark.parametrize("fk", [0.0, 1.0])
def test_a_control_with_settings_only_stands_for_the_part_in_its_place(human: Any, fk: float) -> None:
    put_on_fk(human, fk)
    foot = "foot_fk.R" if fk else "foot_ik.R"
    select(human, [foot])
    bpy.ops.poise.pin()
    feet, hip = world(human, "DEF-foot.R"), np.linalg.norm(world(human, "DEF-thigh.R") - world(human, "DEF-spine"))
    session = DragSession(bpy.context, human, [Grab(human.name, "thigh_parent.R", (0.0, 0.0, 0.0))], live=True)
    assert session.body.skeleton.names[session.effectors[0].bone] == "DEF-thigh.R"
    thigh = world(human, "DEF-thigh.R")
    for share in np.linspace(0.0, 1.0, 21)[1:]:
        session.drag(share * np.array([0.05, -0.1, -0.05]), np.array([1.0, 0.0, 0.0, 0.0]))
        bpy.context.view_layer.update()
    np.testing.assert_allclose(world(human, "DEF-foot.R"), feet, atol=2e-3)
    now = np.linalg.norm(world(human, "DEF-thigh.R") - world(human, "DEF-spine"))
    assert now == pytest.approx(hip, abs=2e-3)  # the leg is on the body
    assert np.linalg.norm(world(human, "DEF-thigh.R") - thigh) > 0.05
