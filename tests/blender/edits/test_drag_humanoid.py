"""The drag tool by the humanoid method: it leads any part, keeps pins, comes home."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from core import rotation
from core.body.anatomy import anatomy
from core.formats.job import parse
from core.limits import excess
from edits.drag.session import DragSession
from edits.job import perform_job
from tests.blender.rigs import contents, make_armature, select, turn, world

pytestmark = pytest.mark.usefixtures("empty_file")
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


@pytest.fixture
def rig() -> Any:
    """A body with pinned feet, dragged by the humanoid method."""
    rig = make_armature()
    select(rig, ["foot.L", "foot.R"])
    bpy.ops.poise.pin()
    rig.poise_method = "HUMANOID"
    for side in "LR":
        turn(rig, f"forearm.{side}", -0.3)
    bpy.context.view_layer.update()
    return rig


def test_a_hand_is_led_far_down_and_comes_home(rig: Any) -> None:
    feet = [world(rig, f"foot.{side}") for side in "LR"]
    hand, start = world(rig, "hand.L"), contents()["objects"]["rig"]["bones"]
    session = DragSession(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
    ways = [np.array([0.0, -0.3 * t, -0.9 * t]) for t in (*np.linspace(0.0, 1.0, 8), *np.linspace(1.0, 0.0, 8))]
    for number, way in enumerate(ways):
        assert session.drag(way, NO_TURN).converged
        if number == 7:
            np.testing.assert_allclose(world(rig, "hand.L"), hand + way, atol=1e-3)
            for side, place in zip("LR", feet, strict=True):
                np.testing.assert_allclose(world(rig, f"foot.{side}"), place, atol=1e-3)
            assert world(rig, "hips")[2] < 0.95
    now = contents()["objects"]["rig"]["bones"]
    for bone, channels in start.items():
        np.testing.assert_allclose(np.concatenate(now[bone]), np.concatenate(channels), atol=2e-4)
    session.restore()


def test_the_tool_from_python_and_the_buttons_use_the_method(rig: Any) -> None:
    hand = world(rig, "hand.L")
    assert bpy.ops.poise.drag(bone="hand.L", shift=(0.0, -0.1, -0.6)) == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "hand.L"), np.add(hand, (0.0, -0.1, -0.6)), atol=1e-3)
    foot = world(rig, "foot.L")
    rig.pose.bones["hips"].location = (0.0, -0.1, 0.0)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(rig, "foot.L"), foot, atol=1e-3)


def test_who_wins_is_none_of_its_business(rig: Any) -> None:
    session = DragSession(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
    session.switch(wins="DRAG")
    assert (session.wins, session.manner) == ("PINS", "as a humanoid")


@pytest.mark.parametrize("bone", ["upper_arm.L", "spine", "thigh.R"])
def test_any_part_is_led_and_comes_home(rig: Any, bone: str) -> None:
    feet, part = [world(rig, f"foot.{side}") for side in "LR"], world(rig, bone)
    start = contents()["objects"]["rig"]["bones"]
    session = DragSession(bpy.context, rig, [Grab("rig", bone, (0.0, 0.0, 0.0))])
    for t in (0.5, 1.0, 0.5, 0.0):
        way = t * np.array([0.02, -0.05, -0.06])
        assert session.drag(way, NO_TURN).converged
        np.testing.assert_allclose(world(rig, bone), part + way, atol=1e-3)
        for side, place in zip("LR", feet, strict=True):
            np.testing.assert_allclose(world(rig, f"foot.{side}"), place, atol=1e-3)
    now = contents()["objects"]["rig"]["bones"]
    for name, channels in start.items():
        np.testing.assert_allclose(np.concatenate(now[name]), np.concatenate(channels), atol=2e-4)
    session.restore()


@pytest.mark.parametrize("ranges", [True, False])
def test_joints_go_as_far_as_those_of_people_in_drags_and_jobs_as_the_switch_says(rig: Any, ranges: bool) -> None:
    read = bridge.read_rig(rig)
    groups = anatomy(read.skeleton, bridge.read_roles(rig, read.skeleton)).ranges

    def beyond() -> float:
        turns = rotation.to_matrix(bridge.read_pose(rig, read).rotations)
        return float(np.degrees(max(np.abs(excess(g, g.coordinates(turns[g.bones]))).max() for g in groups)))

    rig.poise_use_anatomy_limits = ranges
    far, shoulder = [], world(rig, "upper_arm.L")
    for place in ([-0.1, 0.25, 0.1], [0.1, 0.3, -0.1], [-0.15, 0.1, 0.3]):  # behind the back, and over it
        session = DragSession(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
        session.drag(shoulder + place - world(rig, "hand.L"), NO_TURN)
        far.append(beyond())
        session.restore()
    job = {"version": 1, "method": {"name": "humanoid"}, "anatomical_limits": ranges, "goals": [
        {"bone": "hand.L", "position": (shoulder + np.array([0.1, 0.3, -0.1])).tolist()},
        *({"bone": foot, "pin": ["position"]} for foot in ("foot.L", "foot.R"))]}  # fmt: skip
    perform_job(bpy.context, rig, parse(job))
    far.append(beyond())
    assert max(far) < 0.1 if ranges else min(max(far), far[-1]) > 5.0


def test_the_share_of_a_bone_of_the_spine_is_heeded_by_drags_and_jobs(rig: Any) -> None:
    def bends() -> list[float]:
        return [float(rig.pose.bones[name].rotation_quaternion.angle) for name in ("spine", "chest")]

    turning = {"bone": "chest", "rotation": [0.94, 0.0, 0.0, 0.34]}
    hips = {"bone": "hips", "pin": ["position", "rotation"]}
    found = []
    for shares in ({}, {"spine": 0.0}):
        method = {"name": "humanoid", "shares": shares, "finish": False}
        perform_job(bpy.context, rig, parse({"version": 1, "method": method, "goals": [turning, hips]}))
        found.append(bends())
        for bone in ("spine", "chest"):
            turn(rig, bone, 0.0)
    assert found[0][0] > 0.1
    assert found[1][0] < 1e-5 < found[0][1] < found[1][1]
    rig.pose.bones["spine"].poise_share = 0.0
    rig.pose.bones["hand.L"].poise_share = 0.5  # no part of a column: it counts for nothing
    session = DragSession(bpy.context, rig, [Grab("rig", "chest", (0.0, 0.0, 0.0))], turning=True)
    session.drag(np.zeros(3), np.array([0.94, 0.0, 0.0, 0.34]))
    assert bends()[0] < 0.02 < bends()[1]
    session.restore()


def test_pull_resist_and_reach_of_the_panel_are_heeded(rig: Any) -> None:
    def led(*way: float) -> dict[str, np.ndarray]:
        session = DragSession(bpy.context, rig, [Grab("rig", "hand.L", (0.0, 0.0, 0.0))])
        session.drag(np.array(way), NO_TURN)
        found = {bone: world(rig, bone) for bone in ("hips", "chest", "upper_arm.L")}
        session.restore()
        bpy.context.view_layer.update()
        return found

    start, free = {bone: world(rig, bone) for bone in ("hips", "chest", "upper_arm.L")}, led(0.0, -0.3, -0.9)
    assert free["hips"][2] < start["hips"][2] - 0.05
    rig.poise_resist_hips = 1.0
    leaning = led(0.0, -0.3, -0.9)
    np.testing.assert_allclose(leaning["hips"], start["hips"], atol=2e-3)
    assert leaning["chest"][2] < start["chest"][2] - 0.02
    rig.poise_resist_hips = 0.0
    turn(rig, "forearm.L", -1.2)
    bpy.context.view_layer.update()
    arm = world(rig, "hand.L") - start["upper_arm.L"]
    near = 0.05 * arm / np.linalg.norm(arm)
    late = led(*near)["upper_arm.L"]
    rig.poise_reach = 0.5
    assert np.linalg.norm(led(*near)["upper_arm.L"] - start["upper_arm.L"]) > 0.005
    assert np.linalg.norm(late - start["upper_arm.L"]) < 0.002
    rig.poise_pull_hand_l = 0.0
    np.testing.assert_allclose(led(*near)["upper_arm.L"], start["upper_arm.L"], atol=1e-4)


def test_a_swivel_of_the_panel_turns_the_elbow_and_leaves_the_hand(rig: Any) -> None:
    rig.poise_use_swivel_arm_l = True
    elbows = []
    for swivel in (0.0, 0.6):
        rig.poise_swivel_arm_l = swivel
        hand = world(rig, "hand.L")
        assert bpy.ops.poise.drag(bone="hand.L", shift=(0.0, -0.2, 0.0) if not swivel else (0.0, 0.0, 0.0)) == {
            "FINISHED"
        }
        elbows.append(world(rig, "forearm.L"))
    np.testing.assert_allclose(world(rig, "hand.L"), hand, atol=2e-3)
    shoulder = world(rig, "upper_arm.L")
    axis = (hand - shoulder) / np.linalg.norm(hand - shoulder)
    sides = [elbow - shoulder - ((elbow - shoulder) @ axis) * axis for elbow in elbows]
    turned = np.arccos(sides[0] @ sides[1] / np.prod([np.linalg.norm(side) for side in sides]))
    assert turned == pytest.approx(0.6, abs=0.05)
