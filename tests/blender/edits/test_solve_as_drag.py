"""Solve Here on rigs with controls: the pose of a drag to the same place, measured where Blender has the bones."""

import bpy
import numpy as np
import pytest

from bridge import read_channels, read_matrices, read_rig, read_roles, write_channels
from core import rotation
from core.pose import frame_rotations
from edits.pin_list import find_pin, place_pin, set_pins
from tests.blender.control_drags import RIGS
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

SHARED_DATA = pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
CONTROLS = {"hips": "torso", "foot.L": "foot_ik.L", "foot.R": "foot_ik.R"}
APART = np.radians(0.1)


def turns(armature: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return frame_rotations(read_matrices(armature)[..., :3])


@pytest.mark.long
@pytest.mark.parametrize("pinned", [["foot.L"], ["foot.L", "foot.R"], []])
@pytest.mark.parametrize(
    ("name", "controls"),
    [
        ("MMD", {}),
        ("legs on IK with poles", {}),
        ("CloudRig on IK", {}),
        pytest.param("Rigify on IK", {}, marks=SHARED_DATA),
        pytest.param("Rigify on IK", CONTROLS, marks=SHARED_DATA),
    ],
)
def test_solve_here_gives_the_pose_of_a_drag(name: str, controls: dict[str, str], pinned: list[str]) -> None:
    rig, parts = RIGS[name]()
    parts = {**parts, **controls}
    skeleton = read_rig(rig).skeleton
    before, start = read_channels(rig), turns(rig)
    set_pins(bpy.context, rig, [parts[foot] for foot in pinned], "BOTH", "ARMATURE")
    way = skeleton.size * np.array([-0.05, 0.1, -0.15])
    bpy.ops.poise.drag(bone=parts["hips"], shift=tuple(np.array(rig.matrix_world)[:3, :3] @ way))
    dragged = turns(rig)
    write_channels(rig, before)
    bpy.context.view_layer.update()
    set_pins(bpy.context, rig, [parts["hips"]], "POSITION", "ARMATURE")
    pin, hips = find_pin(rig, parts["hips"]), skeleton.index(parts["hips"])
    pin.priority = 1
    place_pin(rig, pin, read_matrices(rig)[hips, :, 3] + way, start[hips])
    bpy.ops.poise.solve()
    assert rotation.angle_between(dragged, start).max() > np.radians(10.0)
    assert rotation.angle_between(turns(rig), dragged).max() < APART


@pytest.mark.parametrize("kind", ["BOTH", "POSITION"])
@pytest.mark.parametrize(
    ("name", "controls"),
    [
        ("legs on IK with poles", {}),
        pytest.param("Auto-Rig Pro on FK", {}, marks=pytest.mark.long),
        pytest.param("Rigify on FK", {}, marks=SHARED_DATA),
        pytest.param("Rigify on IK", {}, marks=SHARED_DATA),
        pytest.param("Rigify on IK", CONTROLS, marks=SHARED_DATA),
    ],
)
def test_knees_stay_over_the_toes_where_hips_are_pinned_low(name: str, controls: dict[str, str], kind: str) -> None:
    """Ankles were at their limits, and both knees went by 20 to 30 cm to one side, also where hips are a bit aside."""
    rig, parts = RIGS[name]()
    parts = {**parts, **controls}
    skeleton, hips = read_rig(rig).skeleton, parts["hips"]
    set_pins(bpy.context, rig, [parts["foot.L"], parts["foot.R"]], "BOTH", "WORLD")
    way = skeleton.size * np.array([0.01, 0.0, -0.25])
    bpy.ops.poise.drag(bone=hips, shift=tuple(np.array(rig.matrix_world)[:3, :3] @ way))
    roles = read_roles(rig, skeleton)
    legs = [roles.bone(f"{part}.{side}") for part in ("shin", "foot") for side in "LR"]
    set_pins(bpy.context, rig, [hips], kind, "ARMATURE")
    before, pin = read_matrices(rig)[..., 3], find_pin(rig, hips)
    low = before[skeleton.index(hips)] - skeleton.size * np.array([0.0, 0.0, 0.08])
    place_pin(rig, pin, low, np.array(pin.rotation))
    bpy.ops.poise.solve()
    gone = (read_matrices(rig)[..., 3] - before) / skeleton.size
    np.testing.assert_allclose(read_matrices(rig)[skeleton.index(hips), :, 3], low, atol=1e-3 * skeleton.size)
    np.testing.assert_allclose(gone[legs[2:]], 0.0, atol=1e-3)
    assert np.abs(gone[legs[:2], 0]).max() < 0.01
    assert (gone[legs[:2], 1] < 0.0).all()


def test_a_pin_of_what_does_not_move_with_the_body_is_refused_beside_one_of_a_foot() -> None:
    """The bones were solved as if no IK moved the legs: all of the body went half of the way, and both pins missed."""
    rig, _ = RIGS["MMD"]()
    set_pins(bpy.context, rig, ["左足IK親", "センター"], "BOTH", "WORLD")
    pin = find_pin(rig, "センター")
    place_pin(rig, pin, np.array(pin.position) - (0.0, 0.0, 0.05), np.array(pin.rotation))
    before = read_channels(rig)
    with pytest.raises(RuntimeError, match='"センター" does not move with the body'):
        bpy.ops.poise.solve()
    for kind, values in read_channels(rig).items():
        np.testing.assert_array_equal(values, before[kind])
