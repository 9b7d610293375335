"""Meshes as the ground: soles on steps and slopes, as Blender evaluates bones, by its own ray casts on the meshes."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import CoreError
from core.editing.contacts import foot_points
from core.editing.floor import above_soles
from core.pose import shifted
from edits.foot_lock import LockedFeet
from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load, select
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
STEP = 0.06  # metres
DEEP = 0.005  # metres, by which a sole may be below the ground, or beside it where it bears


def make_ground(rig: Any, *faces: list[tuple[float, float, float]]) -> Any:
    """Make a mesh of faces of four corners the ground of a rig."""
    mesh = bpy.data.meshes.new("ground")
    mesh.from_pydata(
        [corner for face in faces for corner in face], [], [tuple(range(4 * n, 4 * n + 4)) for n in range(len(faces))]
    )
    owner = bpy.data.objects.new("ground", mesh)
    collection = bpy.data.collections.new("Ground")
    context.scene.collection.children.link(collection)
    collection.objects.link(owner)
    rig.poise_ground = collection
    context.view_layer.update()
    return owner


def soles_above(rig: Any, ground: Any, frames: range) -> tuple[np.ndarray, np.ndarray]:
    """Heights (F, P) of heels, balls and tips above the mesh, or else above z = 0, and their places (F, P, 3)."""
    read = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, read.skeleton)
    points = foot_points(read.skeleton, roles)
    scale = rig.matrix_world.to_scale()[2]
    thick = above_soles(read.skeleton, roles, points) * scale
    places, heights = [], []
    for frame in frames:
        context.scene.frame_set(frame)
        bones = rig.pose.bones
        here = [rig.matrix_world @ bones[point.bone].matrix @ bpy_vector(point.position) for point in points]
        back = ground.matrix_world.inverted()
        floors = []
        for place in here:
            hit, at, *_ = ground.ray_cast(back @ bpy_vector((place.x, place.y, 10.0)), bpy_vector((0.0, 0.0, -1.0)))
            floors.append((ground.matrix_world @ at).z if hit else 0.0)
        places.append([tuple(place) for place in here])
        heights.append([place.z - floor for place, floor in zip(here, floors, strict=True)] - thick)
    return np.array(heights), np.array(places)


def bpy_vector(values: Any) -> Any:
    from mathutils import Vector

    return Vector(values)


def stands(heights: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The heights (n,) of points that do not move from one frame to the next, and are near the ground."""
    still = np.linalg.norm(np.diff(places, axis=0), axis=-1) < 1e-4
    return heights[1:][still & (heights[1:] < 0.05)]


def brought(rig: Any) -> tuple[Any, range]:
    """The rig with the walk on its ground, and its frames."""
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (2, bridge.keyed_range(source)[1]))
    edit.solve()
    edit.write(rig)
    return edit, range(int(edit.after.frames[0]), int(edit.after.frames[-1]) + 1)


def way(rig: Any, edit: Any, frames: range) -> list[np.ndarray]:
    """Places (2,) of the hips in the middle of the walk, and ten times as far as they go from there to its end."""
    found = []
    for frame in (frames[len(frames) // 2], frames[-1]):
        context.scene.frame_set(frame)
        found.append(np.array(rig.matrix_world @ rig.pose.bones[edit.skeleton.names[edit.hips]].head)[:2])
    return [found[0], found[0] + 10.0 * (found[1] - found[0])]


def across(start: np.ndarray, end: np.ndarray, low: float, high: float) -> list[tuple[float, float, float]]:
    """The corners of a face ten metres wide from a start to an end."""
    ahead = (end - start) / np.linalg.norm(end - start)
    side = 5.0 * np.array([-ahead[1], ahead[0]])
    places = [(start + side, low), (start - side, low), (end - side, high), (end + side, high)]
    return [(float(place[0]), float(place[1]), height) for place, height in places]


@pytest.mark.parametrize("tilt", [0.0, 0.1])
@pytest.mark.parametrize("fps", [24, pytest.param(60, marks=pytest.mark.long)])
def test_a_walk_is_brought_onto_a_step_or_a_slope(tilt: float, fps: int) -> None:
    """The ground begins in the midst of the way: a step of 6 cm, or a slope of six degrees."""
    (rig,) = load(RIG)
    context.scene.render.fps = fps
    start, end = way(rig, *brought(rig))
    low, high = (STEP, STEP) if not tilt else (0.0, tilt * float(np.linalg.norm(end - start)))
    ground = make_ground(rig, across(start, end, low, high))
    _, frames = brought(rig)
    heights, places = soles_above(rig, ground, frames)
    on = (places[..., :2] - start) @ (end - start) > 0.0
    assert on.any()
    assert (~on).any()
    bearing = stands(heights, places)
    assert len(bearing) > 20
    assert np.abs(bearing).max() < DEEP
    assert heights.min() > -DEEP


def test_feet_are_locked_to_a_step_that_the_motion_sinks_into() -> None:
    """By up to 2 cm, up and down once a second."""
    (rig,) = load(RIG)
    context.scene.render.fps = 30
    start, end = way(rig, *brought(rig))
    ground = make_ground(rig, across(start, end, STEP, STEP), across(2.0 * start - end, start, 0.0, 0.0))
    edit, frames = brought(rig)
    up = bridge.world_up(edit.worlds[0])
    bob = 0.02 * np.sin(2.0 * np.pi * np.arange(len(frames)) / 30.0)
    motion, _ = bridge.read_motion(rig, edit.rig, np.array(frames))
    sunk = replace(motion, pose=shifted(edit.rig.skeleton, motion.pose, edit.hips, bob[:, None] * up))
    bridge.write_keys(rig, edit.rig, sunk, [], [edit.hips], None, False)
    before, _ = soles_above(rig, ground, frames)
    assert before.min() < -0.015
    locked = LockedFeet(context, rig, (frames[0], frames[-1]))
    locked.solve()
    locked.write(rig)
    heights, places = soles_above(rig, ground, frames)
    bearing = stands(heights, places)
    assert len(bearing) > 20
    assert np.abs(bearing).max() < DEEP
    assert heights.min() > -DEEP


def test_feet_are_put_on_the_meshes_that_are_the_ground() -> None:
    (rig,) = load(RIG)
    select(rig, [])
    start, end = np.array([0.0, 1.0]), np.array([0.0, -1.0])
    ground = make_ground(rig, across(start, end, 0.05, 0.25))
    assert bpy.ops.poise.plant_feet() == {"FINISHED"}
    heights, _ = soles_above(rig, ground, range(1, 2))
    assert np.abs(heights).max() < DEEP


def test_a_ground_without_faces_is_refused() -> None:
    (rig,) = load(RIG)
    make_ground(rig, across(np.zeros(2), np.ones(2), 0.0, 0.0))
    rig.poise_ground.objects.unlink(rig.poise_ground.objects[0])
    with pytest.raises(CoreError, match='no mesh with faces in "Ground"'):
        brought(rig)
