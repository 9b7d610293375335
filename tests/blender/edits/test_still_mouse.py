"""Drags on rigs whose IK stretches limbs, under a mouse that has stopped: they come to rest, and no limb grows."""

from collections.abc import Sequence
from itertools import pairwise

import bpy
import numpy as np
import pytest

import bridge
from bridge import Grab
from core import Pose, forward, rotation
from edits.drag.explain import explain
from edits.drag.session import DragSession
from edits.pin_list import set_pins
from tests.blender.control_drags import RIGS, STILL, pin_feet, size_of
from tests.blender.rigs import load, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

SHARED_DATA = pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
MOST = 12  # ticks of a still mouse
GROWN = 1e-3  # of the size: Blender's IK ends beside its target


def legs(session: DragSession, pose: Pose) -> list[float]:
    """How far both ankles are from their hips, of the size."""
    skeleton, roles = session.body.skeleton, session.body.roles
    heads = forward(skeleton, pose)[0]
    ends = [[roles.bone(f"{part}.{side}") for part in ("thigh", "shin", "foot")] for side in "LR"]
    return [float(np.linalg.norm(heads[foot] - heads[thigh])) / skeleton.size for thigh, _, foot in ends]


def reach(session: DragSession) -> float:
    """How long a leg is at rest, of the size."""
    skeleton, heads = session.body.skeleton, forward(session.body.skeleton, Pose.rest(session.body.skeleton))[0]
    hip, knee, ankle = (heads[session.body.roles.bone(f"{part}.L")] for part in ("thigh", "shin", "foot"))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee)) / skeleton.size


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["CloudRig on IK", "reverse feet with poles", pytest.param("Rigify on IK", marks=SHARED_DATA)]
)
@pytest.mark.parametrize(("role", "way"), [("hand.L", (0.2, -0.3, 0.3)), ("hips", (0.05, 0.0, 0.2))])
def test_a_drag_that_straightens_legs_comes_to_rest(name: str, role: str, way: Sequence[float]) -> None:
    rig, parts = RIGS[name]()
    pin_feet(rig, parts, role)
    session = DragSession(bpy.context, rig, [Grab(rig.name, parts[role], (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.05, 1.0, 20):
        session.drag(share * size_of(rig) * np.array(way), STILL)
    ticks = 0
    while session.restless and ticks < 50:
        session.rest()
        ticks += 1
    assert ticks <= MOST
    bpy.context.view_layer.update()
    assert session.body.controlled is not None
    seen = bridge.read_controlled(session.body.controlled, bridge.read_matrices(rig))
    assert reach(session) - 0.01 < max(legs(session, seen)) < reach(session) + GROWN
    assert not any("was outside its limits" in reason for reason in explain(session))


def test_a_body_far_out_of_reach_stays_where_it_is_while_targets_do() -> None:
    """A knee that its limit holds straight bent by 11 degrees in one tick and was straight in the next."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(rig, [])
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.poise.take_posture(posture="RELAXED")  # pyright: ignore[reportAttributeAccessIssue]
    set_pins(bpy.context, rig, ["mixamorig:LeftFoot", "mixamorig:RightFoot"], "BOTH")
    session = DragSession(bpy.context, rig, [Grab(rig.name, "mixamorig:LeftHand", (0.0, 0.0, 0.0))], live=True)
    way = np.array([0.6, -0.8, 0.4]) * session.body.skeleton.size * np.linalg.norm(session.body.world[:3, 0])
    for share in np.linspace(0.0, 1.0, 108)[1:]:
        session.drag(share * way, STILL)
    poses = [session.drag(way, STILL).pose.rotations for _ in range(4)]
    turned = [rotation.angle_between(one, other).max() for one, other in pairwise(poses)]
    assert np.degrees(max(turned)) < 0.5


@pytest.mark.parametrize(
    ("name", "role", "way", "most"),
    [
        ("Auto-Rig Pro on FK", "head", (0.2, -0.6, -0.5), 6e-3),  # steps shorter than the way passed for the last
        ("CloudRig on IK", "shin.L", (0.08, -0.12, 0.1), 6e-3),  # lengths by IK were taken over at rest alone: 17 mm
        pytest.param("Rigify's basic quadruped", "hips", (0.05, 0.0, 0.15), 0.02, marks=SHARED_DATA),  # 68 mm
    ],
)
def test_a_body_is_about_at_rest_when_the_mouse_stops(name: str, role: str, way: Sequence[float], most: float) -> None:
    rig, _ = RIGS[name]()
    whole = bridge.read_rig(rig)
    bone = whole.skeleton.names[bridge.read_roles(rig, whole.skeleton).bone(role)]
    session = DragSession(bpy.context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.04, 1.0, 25):
        session.drag(share * size_of(rig) * np.array(way), STILL)
        bpy.context.view_layer.update()
    assert session.body.controlled is not None
    parts = np.setdiff1d(session.body.controlled.bones, session.body.controlled.bones[[*session.body.controlled.poles]])
    before = bridge.read_matrices(rig)[parts, :, 3]
    session.settle()
    bpy.context.view_layer.update()
    far = np.linalg.norm(bridge.read_matrices(rig)[parts, :, 3] - before, axis=-1)
    assert far.max() < most * size_of(rig)


def test_poles_come_back_with_the_mouse_however_often_it_goes_there_and_back() -> None:
    """They went 5 cm further from their legs each time where lengths by IK were taken over under the moving mouse."""
    rig, parts = RIGS["CloudRig on IK"]()
    session = DragSession(bpy.context, rig, [Grab(rig.name, parts["hips"], (0.0, 0.0, 0.0))], live=True)
    assert session.body.controlled is not None
    poles = session.body.controlled.bones[[*session.body.controlled.poles]]
    before = bridge.read_matrices(rig)[poles, :, 3]
    for share in np.tile(np.append(np.linspace(0.02, 1.0, 50), np.linspace(1.0, 0.0, 51)), 2):
        session.drag(share * size_of(rig) * np.array([0.03, -0.04, -0.06]), STILL)
        bpy.context.view_layer.update()
    session.settle()
    bpy.context.view_layer.update()
    assert np.linalg.norm(bridge.read_matrices(rig)[poles, :, 3] - before, axis=-1).max() < 5e-3 * size_of(rig)


def beside_limbs(session: DragSession) -> list[list[float]]:
    """How far poles are along their limbs and beside them, in meters, as Blender shows them."""
    controlled = session.body.controlled
    assert controlled is not None
    heads, found = bridge.read_matrices(session.body.find())[controlled.bones, :, 3], list[list[float]]()
    for pole, first in controlled.poles.items():
        way, away = heads[controlled.ends[first]] - heads[first], heads[pole] - heads[first]
        along = float(away @ way / np.linalg.norm(way))
        found.append([along, float(np.sqrt(away @ away - along * along))])
    return found


@pytest.mark.parametrize("name", ["CloudRig on IK", "legs on IK with poles"])
def test_poles_keep_their_distance_from_limbs_in_one_drag_after_the_other(name: str) -> None:
    """Drags there and back pushed them 9 to 18 cm out each time, for good."""
    rig, parts = RIGS[name]()
    way = size_of(rig) * np.array([0.03, -0.05, -0.04])
    for shift in (way, -way, way):
        for role in ("hips", "foot.L"):
            session = DragSession(bpy.context, rig, [Grab(rig.name, parts[role], (0.0, 0.0, 0.0))], settle=True)
            before = beside_limbs(session)
            session.drag(shift, STILL)
            session.finish()
            bpy.context.view_layer.update()
            np.testing.assert_allclose(beside_limbs(session), before, atol=1e-3 * size_of(rig))


@pytest.mark.parametrize(
    ("name", "roll"),
    [("CloudRig on IK", "ROLL-Foot.L"), pytest.param("Rigify on IK", "foot_heel_ik.L", marks=SHARED_DATA)],
)
def test_a_foot_that_is_rolled_stays_while_a_hand_is_dragged(name: str, roll: str) -> None:
    """Its control is no longer where the foot is: the foot jumped by 45 mm."""
    rig, parts = RIGS[name]()
    heel = rig.pose.bones[roll]
    heel.rotation_mode, heel.rotation_euler = "XYZ", np.radians((20.0, 0.0, 10.0))
    bpy.context.view_layer.update()
    feet = [f"DEF-foot.{side}" for side in "LR"] if "DEF-foot.L" in rig.pose.bones else [parts["foot.L"]]
    before = [np.array(rig.pose.bones[foot].matrix) for foot in feet]
    session = DragSession(bpy.context, rig, [Grab(rig.name, parts["hand.L"], (0.0, 0.0, 0.0))], live=True)
    for share in (0.5, 1.0):
        session.drag(share * 0.02 * size_of(rig) * np.array([1.0, -1.0, -1.0]), STILL)
    while session.restless:
        session.rest()
    bpy.context.view_layer.update()
    after = [np.array(rig.pose.bones[foot].matrix) for foot in feet]
    np.testing.assert_allclose(after, before, atol=1e-3 * size_of(rig))
