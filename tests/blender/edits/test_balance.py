"""The balance over pinned feet, and ankles, in drags and Solve Here; measured where Blender has the bones."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab, read_channels, read_rig, read_roles, write_channels
from core import rotation
from core.body.axes import axis_vector
from core.body.masses import masses_of
from core.goals import SUPPORT_RADIUS
from edits.drag.explain import explain
from edits.drag.session import DragSession
from edits.pin_list import find_pin, place_pin, set_pins
from edits.pins import job_from_pins
from tests.blender.control_drags import RIGS, size_of
from tests.blender.rigs import FEET, choose, load, make_chain, make_walk, pin_feet, select, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

NEAR = 2e-3  # metres
TOES = (-0.15, 0.0)  # y of the feet's tails and heads
ANKLE = np.radians(40.0)
STILL = rotation.IDENTITY


@pytest.fixture
def rig() -> Any:
    return pin_feet()


def drag(rig: Any, bone: str, shift: list[float], ticks: int = 15) -> DragSession:
    session = DragSession(bpy.context, rig, [Grab(rig.name, bone, (0.0, 0.0, 0.0))])
    for share in np.linspace(0.0, 1.0, ticks + 1)[1:]:
        session.drag(share * np.array(shift), STILL)
    bpy.context.view_layer.update()
    return session


def centre(rig: Any) -> np.ndarray:
    """The centre of mass where Blender has the bones: masses lie halfway along them."""
    skeleton = read_rig(rig).skeleton
    middles = [0.5 * (world(rig, bone) + world(rig, bone, tail=True)) for bone in skeleton.names]
    return masses_of(skeleton) @ np.array(middles)


def beyond(rig: Any) -> float:
    """How far the center of mass is before or behind the feet."""
    y = float(centre(rig)[1])
    return max(y - TOES[1], TOES[0] - y, 0.0)


def rotations(rig: Any) -> dict[str, np.ndarray]:
    return {bone.name: np.array(bone.matrix.to_quaternion()) for bone in rig.pose.bones}


def apart(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    return max(np.degrees(rotation.angle_between(one[bone], other[bone])) for bone in one)


FORWARD = [0.0, -0.45, -0.35]  # of a hand
FAR = [0.0, -0.8, -0.8]


def test_a_body_on_both_feet_keeps_its_balance_over_them(rig: Any) -> None:
    rest = rotations(rig)
    kept = drag(rig, "hand.L", FAR)
    radius = SUPPORT_RADIUS * read_rig(rig).skeleton.size
    assert beyond(rig) < radius + NEAR
    assert any("the body keeps its balance" in reason for reason in explain(kept))
    kept.restore()
    bpy.context.view_layer.update()
    assert apart(rotations(rig), rest) < 0.01
    rig.poise_balance = "OFF"
    drag(rig, "hand.L", FAR)
    assert beyond(rig) > 5.0 * radius


@pytest.mark.parametrize(
    ("bone", "shift"),
    [("hand.L", [0.6, -0.2, 0.0]), ("hips", [0.0, 0.3, 0.0]), ("hips", [0.0, 0.0, -0.6])],
)
def test_to_turn_balance_off_is_advised_where_that_helps(bone: str, shift: list[float]) -> None:
    short: list[float] = []
    for balance in ("OFF", "FEET"):
        rig = pin_feet()
        rig.poise_balance = balance
        wanted = world(rig, bone) + shift
        session = drag(rig, bone, shift)
        for _ in range(10):
            session.rest()
        bpy.context.view_layer.update()
        short.append(float(np.linalg.norm(world(rig, bone) - wanted)))
    (said,) = (reason for reason in explain(session) if "short of its target" in reason)
    assert ("Turn Balance off" in said) == (short[0] < 0.7 * short[1])


@pytest.mark.parametrize("balance", ["FEET", "PINS"])
def test_a_body_that_is_out_of_balance_stays_so(rig: Any, balance: str) -> None:
    rig.poise_balance = "OFF"
    drag(rig, "head", [0.0, -0.6, -0.2]).finish()
    bpy.context.view_layer.update()
    rig.poise_balance = balance
    out, start = beyond(rig), rotations(rig)
    assert out > 3.0 * SUPPORT_RADIUS * read_rig(rig).skeleton.size
    session = drag(rig, "hand.L", [0.01, 0.0, 0.0])
    dragged = rotations(rig)
    assert 0.1 < apart(dragged, start) < 2.0
    assert beyond(rig) < out + NEAR
    session.restore()
    choose(rig, "hand.L")
    bpy.ops.poise.pin(kind="POSITION", space="ARMATURE")
    bpy.ops.poise.solve()
    assert apart(rotations(rig), start) < 0.1


@pytest.mark.parametrize(("bone", "shift"), [("hips", [0.4, 0.0, 0.0]), ("hand.L", [0.4, -0.4, 0.6])])
def test_hips_and_back_keep_it_and_not_arms_or_toes(rig: Any, bone: str, shift: list[float]) -> None:
    held = [name for name in read_rig(rig).skeleton.names if name.startswith(("toe", "upper_arm.R", "forearm.R"))]
    before = {name: np.array(rig.pose.bones[name].matrix_basis.to_quaternion()) for name in held}
    spine = np.array(rig.pose.bones["spine"].matrix.to_quaternion())
    drag(rig, bone, shift, 40)
    assert np.degrees(rotation.angle_between(spine, np.array(rig.pose.bones["spine"].matrix.to_quaternion()))) > 2.0
    for name in held:
        assert rotation.angle_between(before[name], np.array(rig.pose.bones[name].matrix_basis.to_quaternion())) < 1e-6


@pytest.mark.parametrize("limits", ["HARD", "SOFT"])
@pytest.mark.parametrize(
    ("file", "hips", "feet"),
    [
        ("xsens_motive_tpose.bvh", "Hips", ["LeftAnkle", "RightAnkle"]),
        ("named_mixamo_cm.blend", "mixamorig:Hips", ["mixamorig:LeftFoot", "mixamorig:RightFoot"]),
    ],
)
def test_a_body_at_the_edge_of_its_balance_comes_to_rest(file: str, hips: str, feet: list[str], limits: str) -> None:
    (rig,) = load(DATA / "rigs" / file)
    select(rig, [])
    bpy.ops.poise.take_posture(posture="RELAXED")
    set_pins(bpy.context, rig, feet, "BOTH")
    rig.poise_limits = limits
    skeleton = read_rig(rig).skeleton
    way = skeleton.size * np.array(rig.matrix_world)[:3, :3] @ axis_vector(read_roles(rig, skeleton).facing)
    session = DragSession(bpy.context, rig, [Grab(rig.name, hips, (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 0.4, 41)[1:]:
        session.drag(share * way, STILL)
    rests = 0
    while session.restless and rests < 30:
        session.rest()
        rests += 1
    assert rests < 30


@pytest.mark.parametrize("pinned", [["foot.L"], ["foot.L", "hand.L"], ["hand.L", "hand.R"]])
def test_without_both_feet_it_is_as_if_it_were_off(rig: Any, pinned: list[str]) -> None:
    bpy.ops.poise.clear_pins()
    select(rig, pinned)
    bpy.ops.poise.pin()
    poses = []
    for balance in ("FEET", "OFF"):
        rig.poise_balance = balance
        session = drag(rig, "head", [0.0, -0.35, -0.1])
        poses.append(rotations(rig))
        session.restore()
    assert apart(*poses) == 0.0


def test_a_body_that_is_no_human_has_none() -> None:
    rig = make_chain(6)
    select(rig, [rig.pose.bones[0].name, rig.pose.bones[3].name])
    bpy.ops.poise.pin()
    session = drag(rig, rig.pose.bones[-1].name, [0.1, 0.0, -0.1])
    assert session.pins.balance("FEET", False, 2) == []


def test_solve_here_gives_the_pose_of_the_drag(rig: Any) -> None:
    drag(rig, "hand.L", FORWARD).finish()
    bpy.context.view_layer.update()
    assert beyond(rig) < SUPPORT_RADIUS * read_rig(rig).skeleton.size + NEAR
    dragged = rotations(rig)
    choose(rig, "hand.L")
    bpy.ops.poise.pin(kind="POSITION", space="ARMATURE")
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    start = rotations(rig)
    bpy.ops.poise.solve()
    assert apart(rotations(rig), start) > 10.0
    assert apart(rotations(rig), dragged) < 0.5


@pytest.mark.parametrize("balance", ["FEET", "PINS"])
def test_what_is_moved_is_no_ground_in_a_drag_and_in_solve_here(rig: Any, balance: str) -> None:
    rig.poise_balance = balance
    bpy.ops.poise.take_posture(posture="RELAXED")
    bpy.context.view_layer.update()
    before, start, place = read_channels(rig), rotations(rig), world(rig, "foot.L")
    drag(rig, "foot.L", [0.15, -0.1, 0.3]).finish()
    bpy.context.view_layer.update()
    dragged = rotations(rig)
    write_channels(rig, before)
    bpy.context.view_layer.update()
    pin = find_pin(rig, "foot.L")
    pin.priority = 1
    place_pin(rig, pin, place + np.array([0.15, -0.1, 0.3]), start["foot.L"])
    bpy.ops.poise.solve()
    assert apart(start, dragged) > 10.0
    assert apart(rotations(rig), dragged) < 0.1


def test_a_missed_balance_over_the_feet_is_not_said(rig: Any) -> None:
    for balance, said in (("PINS", True), ("FEET", False)):
        rig.poise_balance = balance
        rig.poise_use_strength = False
        session = drag(rig, "head", [0.0, -1.0, -0.2])
        assert session.solution is not None
        assert not session.solution.met()[..., -1].all()
        assert any("the balance of hips is" in reason for reason in explain(session)) == said
        session.restore()


def test_a_motion_keeps_its_own_balance(rig: Any) -> None:
    make_walk(rig)
    assert job_from_pins(rig).balance is not None
    assert job_from_pins(rig, (1, 20)).balance is None
    rig.poise_balance = "PINS"
    assert job_from_pins(rig, (1, 20)).balance is not None


@pytest.mark.parametrize("method", ["PINS", "HUMANOID"])
@pytest.mark.parametrize("shift", [[0.0, 0.0, -0.3], [0.0, 0.15, -0.4]])
def test_shins_over_flat_feet_lean_forward_by_40_degrees_at_most(rig: Any, shift: list[float], method: str) -> None:
    rig.poise_method = method
    leans = {}
    for limits in (True, False):
        rig.poise_use_anatomy_limits = limits
        session = drag(rig, "hips", shift)
        shins = [world(rig, f"shin.{side}") - world(rig, foot) for side, foot in zip("LR", FEET, strict=True)]
        leans[limits] = max(np.arctan2(-shin[1], shin[2]) for shin in shins)
        session.restore()
    assert leans[True] < ANKLE + np.radians(1.0)
    if shift[1] == 0.0:
        assert leans[False] > ANKLE + np.radians(5.0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["Auto-Rig Pro on IK", "legs on IK with poles"])
def test_knees_bend_as_soon_as_that_is_easier(name: str) -> None:
    """They stayed straight until the hand fell short, and then went by 18 cm, and the hips by 10, for 2 mm."""
    rig, parts = RIGS[name]()
    size = size_of(rig)
    set_pins(bpy.context, rig, [parts["foot.L"], parts["foot.R"]], "BOTH", "WORLD")
    session = DragSession(bpy.context, rig, [Grab(rig.name, parts["hand.L"], (0.0, 0.0, 0.0))], live=True)
    hips = [world(rig, parts["hips"])]
    for share in np.linspace(0.0, 1.0, 161)[1:]:
        session.drag(share * size * np.array((0.15, -0.39, -0.49)), STILL)
        session.settle()
        bpy.context.view_layer.update()
        hips.append(world(rig, parts["hips"]))
    assert np.linalg.norm(np.diff(hips, axis=0), axis=1).max() < 0.006 * size
    assert np.linalg.norm(hips[-1] - hips[0]) > 0.1 * size
