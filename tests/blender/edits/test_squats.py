"""Hips dragged down over pinned feet or toes, by both methods, measured where Blender has the bones."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge import Grab
from core import rotation
from core.body.joint_limits import RANGES
from edits.drag.session import DragSession
from edits.job import perform_job
from edits.pin_list import set_pins
from edits.pins import job_from_pins
from tests.blender.rigs import load, select, world
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

UP = np.array([0.0, 0.0, 1.0])
ANKLE = -RANGES["foot"][1][0]  # degrees
DOWN = (0.1, 0.2, 0.3, 0.45)
MILLIMETRE = 1e-3
FEET, TOES = ("Foot", "ToeBase"), ("ToeBase",)
METHODS = ("PINS", "HUMANOID")


@pytest.fixture
def rig() -> Any:
    """A body in its T-pose, with straight legs, on bones as Mixamo has them."""
    (found,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(found, [])
    return found


def bone(name: str) -> str:
    return f"mixamorig:{name}"


def pinned(rig: Any, part: str, kind: str, method: str) -> DragSession:
    set_pins(bpy.context, rig, [bone(f"{side}{part}") for side in ("Left", "Right")], kind)
    rig.poise_method = method
    return DragSession(bpy.context, rig, [Grab(rig.name, bone("Hips"), (0.0, 0.0, 0.0))], live=True)


def squat(session: DragSession, down: float) -> None:
    session.drag(-down * UP, rotation.IDENTITY)
    session.settle()
    bpy.context.view_layer.update()


def leg(rig: Any, side: str) -> dict[str, np.ndarray]:
    return {part: world(rig, bone(f"{side}{part}")) for part in ("UpLeg", "Leg", "Foot", "ToeBase")}


def angle(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.degrees(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1.0, 1.0))))


def outside(at: dict[str, np.ndarray], side: str) -> float:
    """How far a knee is outside the line of its foot, metres."""
    line = (at["ToeBase"] - at["Foot"]) * (1.0 - UP)
    across = np.cross(UP, line / np.linalg.norm(line)) * (1.0 if side == "Left" else -1.0)
    return float((at["Leg"] - at["Foot"]) @ across)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("part", "kind"), [("Foot", "BOTH"), ("Foot", "POSITION"), ("ToeBase", "BOTH"), ("ToeBase", "POSITION")]
)
def test_knees_are_over_the_toes_and_alike_on_both_sides(rig: Any, method: str, part: str, kind: str) -> None:
    session, before = pinned(rig, part, kind, method), world(rig, bone(f"Left{part}"))
    for down in DOWN:
        squat(session, down)
        aside = [outside(leg(rig, side), side) for side in ("Left", "Right")]
        assert np.abs(aside).max() < 50.0 * MILLIMETRE
        assert aside[0] == pytest.approx(aside[1], abs=2.0 * MILLIMETRE)
        assert np.linalg.norm(world(rig, bone(f"Left{part}")) - before) < 0.3 * MILLIMETRE


@pytest.mark.parametrize("method", METHODS)
def test_shins_over_flat_feet_stop_and_hips_go_back(rig: Any, method: str) -> None:
    session, hips = pinned(rig, "Foot", "BOTH", method), world(rig, bone("Hips"))
    toes, went = world(rig, bone("LeftToeBase")), []
    for down in DOWN:
        squat(session, down)
        at = leg(rig, "Left")
        assert angle(at["Leg"] - at["Foot"], UP) < ANKLE + 1.0
        np.testing.assert_allclose(at["ToeBase"], toes, atol=MILLIMETRE)
        went.append(world(rig, bone("Hips")) - hips)
    assert (np.diff(np.array(went), axis=0)[:, 2] < -0.03).all()
    assert went[-1][1] > 0.1  # the body looks along -Y


def test_hips_go_to_the_floor_without_a_jump() -> None:
    """Past the height of the knees they went by 46 cm for a step of 3 cm."""
    (human,) = load(SHARED / "rigs" / "scripted" / "rigify_metarig_human.blend")
    select(human, [])
    set_pins(bpy.context, human, ["foot.L", "foot.R"], "BOTH")
    session = DragSession(bpy.context, human, [Grab(human.name, "spine", (0.0, 0.0, 0.0))], live=True)
    at = [world(human, "spine")]
    for down in np.arange(0.03, 0.85, 0.03):
        squat(session, float(down))
        at.append(world(human, "spine"))
    assert np.linalg.norm(np.diff(np.array(at), axis=0), axis=1).max() < 5.0 * 0.03
    assert at[0][2] - at[-1][2] > 0.8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["BOTH", "POSITION"])
def test_heels_of_pinned_toes_do_not_sink(rig: Any, method: str, kind: str) -> None:
    session, height = pinned(rig, "ToeBase", kind, method), world(rig, bone("LeftFoot"))[2]
    for way in ((0.0, -0.07, -0.07), (0.0, -0.3, 0.0), (0.0, 0.0, -0.3)):
        session.drag(np.array(way), rotation.IDENTITY)
        session.settle()
        bpy.context.view_layer.update()
        for side in ("Left", "Right"):
            assert world(rig, bone(f"{side}Foot"))[2] > height - MILLIMETRE


@pytest.mark.parametrize("method", METHODS)
def test_feet_whose_place_is_pinned_stay_flat_until_ankles_are_at_their_stop(rig: Any, method: str) -> None:
    session, start = pinned(rig, "Foot", "POSITION", method), leg(rig, "Left")
    sole = start["ToeBase"] - start["Foot"]
    for down in DOWN:
        squat(session, down)
        at = leg(rig, "Left")
        lean = angle(at["Leg"] - at["Foot"], UP)
        assert angle(at["ToeBase"] - at["Foot"], sole) < max(0.0, lean - ANKLE) + 7.0
    rig.poise_balance = "OFF"  # they are free
    session.restore()
    squat(pinned(rig, "Foot", "POSITION", method), 0.2)
    assert angle(world(rig, bone("LeftToeBase")) - world(rig, bone("LeftFoot")), sole) > 20.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["BOTH", "POSITION"])
@pytest.mark.parametrize("ways", [DOWN, (0.4,)], ids=["in steps", "at once"])
def test_heels_rise_over_toes_that_are_pinned(rig: Any, method: str, kind: str, ways: tuple[float, ...]) -> None:
    """With the places of straight legs' toes pinned heels sank by 9 cm, knees stayed straight and hips 40 cm short."""
    session, start, hips = pinned(rig, "ToeBase", kind, method), leg(rig, "Left"), world(rig, bone("Hips"))
    rise = 0.0
    for down in ways:
        squat(session, down)
        at = leg(rig, "Left")
        np.testing.assert_allclose(world(rig, bone("Hips")), hips - down * UP, atol=5.0 * MILLIMETRE)
        rise = at["Foot"][2] - start["Foot"][2]
        assert rise > -2.0 * MILLIMETRE
        assert angle(at["UpLeg"] - at["Leg"], at["Foot"] - at["Leg"]) < 180.0 - 45.0
    assert rise > 20.0 * MILLIMETRE


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("part", "kind"), [("Foot", "BOTH"), ("Foot", "POSITION"), ("ToeBase", "POSITION")])
def test_solve_here_gives_the_squat_of_the_drag(rig: Any, method: str, part: str, kind: str) -> None:
    session, wanted = pinned(rig, part, kind, method), world(rig, bone("Hips")) - 0.3 * UP
    for down in np.linspace(0.0, 0.3, 7)[1:]:
        squat(session, float(down))
    dragged = {name: np.array(posed.matrix.to_quaternion()) for name, posed in rig.pose.bones.items()}
    session.restore()
    set_pins(bpy.context, rig, [bone("Hips")], "POSITION")
    pin = rig.poise_pins[len(rig.poise_pins) - 1]
    pin.space, pin.position, pin.priority = "WORLD", wanted, 1
    perform_job(bpy.context, rig, job_from_pins(rig))
    bpy.context.view_layer.update()
    for name, posed in rig.pose.bones.items():
        turned = rotation.angle_between(dragged[name], np.array(posed.matrix.to_quaternion()))
        assert np.degrees(turned) < 0.5, name


@pytest.mark.parametrize("kind", ["BOTH", "POSITION"])
def test_hips_of_humanoid_that_are_pulled_into_the_floor_stay_level_and_facing(kind: str) -> None:
    """With a root that was free to turn, those of this figure turned by 97 degrees over pinned places."""
    (figure,) = load(SHARED / "rigs" / "real" / "vrm_example.vrm")
    select(figure, [])
    hips = "hips"
    set_pins(bpy.context, figure, ["foot.L", "foot.R"], kind)
    figure.poise_method = "HUMANOID"
    before = figure.pose.bones[hips].matrix.to_quaternion()
    session = DragSession(bpy.context, figure, [Grab(figure.name, hips, (0.0, 0.0, 0.0))], live=True)
    squat(session, 0.75 * session.body.skeleton.size)
    turned = figure.pose.bones[hips].matrix.to_quaternion() @ before.inverted()
    across = np.array([1.0, 0.0, 0.0])
    assert angle(rotation.rotate(np.array(turned), across), across) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_toes_whose_foot_is_pinned_stay_with_it(rig: Any, method: str) -> None:
    set_pins(bpy.context, rig, [bone("LeftFoot"), bone("RightFoot")], "BOTH")
    rig.poise_method = method
    foot, toes = world(rig, bone("LeftFoot")), world(rig, bone("LeftToeBase"))
    session = DragSession(bpy.context, rig, [Grab(rig.name, bone("LeftToeBase"), (0.0, 0.0, 0.0))], live=True)
    session.drag(np.array([0.0, 0.0, 0.1]), rotation.IDENTITY)
    session.settle()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world(rig, bone("LeftFoot")), foot, atol=0.1 * MILLIMETRE)
    np.testing.assert_allclose(world(rig, bone("LeftToeBase")), toes, atol=0.1 * MILLIMETRE)
