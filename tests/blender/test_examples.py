"""What `make examples` writes: three files that open, in which pins hold and a body jumps, and their pictures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.rigs import load_example

FEET = ("LeftFoot", "RightFoot")
HELD = 0.002  # metres that a held point may be off
FLIGHT = 0.1  # metres that a jump leaves the ground at least
STANDING = 0.03  # metres


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the examples are written into; they change a preference."""
    paths = bpy.context.preferences.filepaths
    kept = paths.save_version
    folder = tmp_path_factory.mktemp("examples")
    assert load_example("examples").main(["--output", str(folder), "--samples", "1"]) == 0
    yield folder
    paths.save_version = kept


def opened(folder: Path, name: str) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{name}.blend"))
    return bpy.data.objects["Walker"]


def places(walker: Any, bone: str, point: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Where Blender shows a point of a bone in each frame of the scene, (F, 3)."""
    from mathutils import Vector

    found = []
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        found.append(walker.matrix_world @ walker.pose.bones[bone].matrix @ Vector(point))
    return np.array(found)


def test_a_body_stands_on_its_pins_and_reaches_overhead(folder: Path) -> None:
    walker = opened(folder, "posed")
    assert sorted(pin.name for pin in walker.poise_pins) == sorted(FEET)
    for pin in walker.poise_pins:
        at = walker.matrix_world @ walker.pose.bones[pin.name].head
        assert (at - pin.position).length < HELD
        rest = walker.matrix_world @ walker.data.bones[pin.name].head_local
        assert (at - rest).length < HELD
    world, bones = walker.matrix_world, walker.pose.bones
    assert (world @ bones["RightHand"].head).z > (world @ bones["Head"].tail).z
    assert (world @ bones["Hips"].head).z < (world @ walker.data.bones["Hips"].head_local).z - 0.1


def test_feet_of_the_walk_stay_while_a_timed_pin_holds_them(folder: Path) -> None:
    walker = opened(folder, "walk")
    pins = [(pin.bone, tuple(pin.point), pin.start, pin.end) for pin in walker.poise_timed_pins]
    assert len(pins) > 10
    first = bpy.context.scene.frame_start
    for bone, point, start, end in pins:
        held = places(walker, bone, point)[start - first : end - first + 1]
        assert np.ptp(held[:, :2], axis=0).max() < HELD, (bone, start, end)
    assert "Walk" in bpy.data.actions  # as it was captured


def test_the_jump_begins_and_ends_standing_and_leaves_the_ground(folder: Path) -> None:
    walker = opened(folder, "jump")
    for foot in FEET:
        height = places(walker, foot)[:, 2]
        rest = (walker.matrix_world @ walker.data.bones[foot].head_local).z
        assert abs(height[[0, -1]] - rest).max() < STANDING
        assert height.max() > rest + FLIGHT


@pytest.mark.parametrize("name", ["posed", "walk", "jump"])
def test_each_has_a_picture_of_its_bodies(folder: Path, name: str) -> None:
    image = bpy.data.images.load(str(folder / f"{name}.png"))
    width, height = image.size
    pixels = np.array(image.pixels[:]).reshape(height, width, -1)[..., :3]
    bpy.data.images.remove(image)
    assert (width, height) == (960, 540)
    shirts = np.linalg.norm(pixels - (0.95, 0.4, 0.28), axis=-1) < 0.2
    columns = np.flatnonzero(shirts.any(axis=0))
    assert shirts.sum() > 2000
    assert 0 < columns[0] < columns[-1] < width - 1  # nobody is cut
