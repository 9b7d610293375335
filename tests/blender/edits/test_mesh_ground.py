"""Meshes as the ground: soles on steps and slopes, as Blender evaluates bones, by its own ray casts on the meshes."""

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import standalone
from core import CoreError
from core.editing.contacts import foot_points
from core.editing.root_motion import with_object
from core.motion import shifted
from core.pose import forward
from edits.foot_lock import LockedFeet
from edits.keypoints import KeypointsJob, load_recording, perform_keypoints
from edits.loop import LoopEdit
from edits.path import PathEdit
from edits.pinned_actions import restore_source
from edits.pinned_motion import PinnedMotion, pin_contacts, show_pinned_frame
from edits.retarget import Retargeted, imported
from edits.smoothing import SmoothEdit
from tests.blender.rigs import context, load, select
from tests.paths import DATA

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]

CLIP = DATA / "motion" / "cmu_07_12.bvh"
WALK = standalone.ROOT / "docs" / "examples" / "cmu_35_01.bvh"
RATES = [24, 30, 60]
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
STEP = 0.06  # metres
STEEP = 0.36  # 20 degrees
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
    thick = scale * np.array([point.above for point in points])
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
    """The heights (n,) of points that stay, and are near the ground."""
    on = still(places) & (heights < 0.05)
    return heights[on]


def still(places: np.ndarray) -> np.ndarray:
    """Which points (F, P) have moved by less than 0.1 mm in a 24th of a second."""
    span = round(context.scene.render.fps / 24)
    moved = np.linalg.norm(places[span:] - places[:-span], axis=-1)
    return np.concatenate([np.zeros((span, places.shape[1]), bool), moved < 1e-4])


def brought(rig: Any) -> tuple[Any, range]:
    """The rig with the walk on its ground, and its frames."""
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (2, bridge.keyed_range(source)[1]))
    edit.solve()
    edit.write(rig)
    return edit, range(int(edit.after.frames[0]), int(edit.after.frames[-1]) + 1)


def way(rig: Any, frames: range) -> list[np.ndarray]:
    """Places (2,) of the hips in the middle of the walk, and ten times as far as they go from there to its end."""
    read, found = bridge.read_rig(rig), []
    hips = read.skeleton.names[bridge.read_roles(rig, read.skeleton).bone("hips")]
    for frame in (frames[len(frames) // 2], frames[-1]):
        context.scene.frame_set(frame)
        found.append(np.array(rig.matrix_world @ rig.pose.bones[hips].head)[:2])
    return [found[0], found[0] + 10.0 * (found[1] - found[0])]


def across(start: np.ndarray, end: np.ndarray, low: float, high: float) -> list[tuple[float, float, float]]:
    """The corners of a face ten metres wide from a start to an end."""
    ahead = (end - start) / np.linalg.norm(end - start)
    side = 5.0 * np.array([-ahead[1], ahead[0]])
    places = [(start + side, low), (start - side, low), (end - side, high), (end + side, high)]
    return [(float(place[0]), float(place[1]), height) for place, height in places]


@pytest.mark.parametrize("tilt", [0.0, STEEP])
@pytest.mark.parametrize("fps", [24, 60])
def test_a_walk_is_brought_onto_a_step_or_a_slope(tilt: float, fps: int) -> None:
    """The ground begins in the midst of the way: a step of 6 cm, or a slope of 20 degrees."""
    (rig,) = load(RIG)
    context.scene.render.fps = fps
    start, end = way(rig, brought(rig)[1])
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


def on_ground(fps: float, tilt: float) -> tuple[Any, Any, Any, range]:
    """A rig that walks over a step, or onto a slope, in the midst of its way; the ground, the motion and its frames."""
    (rig,) = load(RIG)
    context.scene.render.fps = fps
    start, end = way(rig, brought(rig)[1])
    high = tilt * float(np.linalg.norm(end - start)) if tilt else STEP
    low = 0.0 if tilt else STEP
    ground = make_ground(rig, across(start, end, low, high), across(2.0 * start - end, start, 0.0, 0.0))
    return (rig, ground, *brought(rig))


def sink(rig: Any, edit: Any, frames: range) -> None:
    """Key the hips up and down by 2 cm, once a second."""
    up = bridge.world_up(edit.worlds[0])
    bob = 0.02 * np.sin(2.0 * np.pi * np.arange(len(frames)) / context.scene.render.fps)
    motion, _ = bridge.read_motion(rig, edit.rig, np.array(frames))
    sunk = replace(motion, pose=shifted(edit.rig.skeleton, motion.pose, edit.hips, bob[:, None] * up))
    bridge.write_keys(rig, edit.rig, sunk, [], [edit.hips], None, False)


def check_soles(rig: Any, ground: Any, frames: range) -> None:
    """Soles that stand are on the ground, and none is below it, to within 5 mm."""
    heights, places = soles_above(rig, ground, frames)
    bearing = stands(heights, places)
    assert len(bearing) > 20
    assert np.abs(bearing).max() < DEEP
    assert heights.min() > -DEEP


@pytest.mark.parametrize(
    ("edit", "tilt", "fps"),
    [
        *((edit, STEEP if edit is LockedFeet else 0.0, 30) for edit in (LockedFeet, SmoothEdit)),
        *(
            pytest.param(edit, STEEP if (edit is SmoothEdit) == odd else 0.0, fps, marks=pytest.mark.long)
            for edit in (LockedFeet, SmoothEdit)
            for fps, odd in ((24, False), (25, True), (30, True), (48, False), (60, True))
        ),
    ],
)
def test_feet_stand_on_the_ground_that_the_motion_sinks_into(edit: Any, tilt: float, fps: float) -> None:
    rig, ground, walk, frames = on_ground(fps, tilt)
    sink(rig, walk, frames)
    before, _ = soles_above(rig, ground, frames)
    assert before.min() < -0.015
    changed = edit(context, rig, (frames[0], frames[-1]))
    changed.solve()
    report = changed.write(rig)
    check_soles(rig, ground, frames)
    assert not tilt or max(goal.position_error.max() for goal in report.goals) < DEEP


@pytest.mark.parametrize("fps", RATES)
def test_feet_stand_on_the_ground_of_another_path(fps: float) -> None:
    """Longer by a tenth, and bent by ten degrees, over a step."""
    rig, ground, _, frames = on_ground(fps, 0.0)
    path = PathEdit(context, rig, (frames[0], frames[-1]), scale=1.1, bend=10.0)
    path.solve()
    path.write(rig)
    check_soles(rig, ground, frames)


@pytest.mark.parametrize("fps", RATES)
def test_a_loop_goes_up_a_slope(fps: float) -> None:
    """Each cycle begins as much higher as the ground is there."""
    rig, ground, _, frames = on_ground(fps, 0.1)
    middle = frames[len(frames) // 2 + round(0.05 * fps)]
    loop = LoopEdit(context, rig, (middle, frames[-1]), find=False)
    loop.solve()
    loop.write(rig)
    first, last = (int(frame) for frame in loop.before.frames[[0, -1]])
    check_soles(rig, ground, range(first, last + 1))
    ahead = np.linalg.norm(loop.loop.travel[:3, 3][:2])
    assert abs(loop.loop.travel[2, 3]) > 0.05 * ahead


@pytest.mark.parametrize(("low", "high"), [(-0.5, -0.5), (-0.8, 1.9)], ids=["a floor far below", "15 degrees"])
def test_a_jump_is_made_on_the_ground(low: float, high: float) -> None:
    (rig,) = load(RIG)
    select(rig, [])
    context.scene.render.fps = 30
    ground = make_ground(rig, across(np.array([0.0, 3.0]), np.array([0.0, -7.0]), low, high))
    assert bpy.ops.poise.generate(recipe="jump", start=1) == {"FINISHED"}
    frames = range(1, 62)
    check_soles(rig, ground, frames)
    heights, _ = soles_above(rig, ground, frames)
    assert np.abs(heights[[0, -1]]).max() < DEEP
    assert heights.min(axis=1).max() > 0.1  # in flight


def test_locked_feet_come_down_to_a_floor_far_below() -> None:
    (rig,) = load(RIG)
    context.scene.render.fps = 30
    _, frames = brought(rig)
    ground = make_ground(rig, across(np.array([0.0, 9.0]), np.array([0.0, -9.0]), -0.5, -0.5))
    locked = LockedFeet(context, rig, (frames[0], frames[-1]))
    locked.solve()
    locked.write(rig)
    check_soles(rig, ground, frames)


def test_a_motion_through_a_thin_roof_is_reported() -> None:
    (rig,) = load(RIG)
    _, frames = brought(rig)
    top, under = (across(np.array([0.0, 9.0]), np.array([0.0, -9.0]), level, level) for level in (1.2, 1.1))
    ground = make_ground(rig, top, under[::-1])
    locked = LockedFeet(context, rig, (frames[0], frames[-1]))
    locked.solve()
    report = locked.write(rig)
    assert soles_above(rig, ground, frames)[0].max() < -0.5
    assert any(
        text.startswith(f"The hips are below faces of the ground in {len(frames)} frames")
        for text in report.explanations
    )


def test_feet_of_a_rig_whose_object_moves_stand_on_the_ground() -> None:
    """The object goes along a curve while it turns, and the hips go back as much: in the world as if it stood."""
    rig, ground, walk, frames = on_ground(30, 0.1)
    sink(rig, walk, frames)
    before, _ = soles_above(rig, ground, frames)
    standing = LockedFeet(context, rig, (frames[0], frames[-1]))
    standing.solve()
    motion, worlds = bridge.read_motion(rig, walk.rig, np.array(frames))
    for frame in frames:
        share = (frame - frames[0]) / len(frames)
        rig.location, rig.rotation_euler.z = (share, 0.5 * share * share, 0.1 * share), 0.8 * share
        rig.keyframe_insert("location", frame=frame)
        rig.keyframe_insert("rotation_euler", frame=frame)
    _, moved = bridge.read_motion(rig, walk.rig, np.array(frames))
    back = with_object(walk.rig.skeleton, motion, np.linalg.solve(moved, worlds))
    roots = np.flatnonzero(walk.rig.skeleton.parents < 0)
    bridge.write_keys(rig, walk.rig, back, roots, roots, None, False)
    np.testing.assert_allclose(soles_above(rig, ground, frames)[0], before, atol=1e-4)
    locked = LockedFeet(context, rig, (frames[0], frames[-1]))
    locked.solve()
    heads = [
        bridge.armature_to_world(edit.worlds[:, None], forward(edit.skeleton, edit.after.pose)[0])[0]
        for edit in (standing, locked)
    ]
    np.testing.assert_allclose(heads[1], heads[0], atol=1e-3)
    locked.write(rig)
    check_soles(rig, ground, frames)


def test_a_rig_whose_object_grows_is_refused() -> None:
    rig, _, _, frames = on_ground(30, 0.1)
    for frame, size in ((frames[0], 1.0), (frames[-1], 1.1)):
        rig.scale = [size * 0.01] * 3
        rig.keyframe_insert("scale", frame=frame)
    with pytest.raises(CoreError, match="scale of the armature object is animated"):
        LockedFeet(context, rig, (frames[0], frames[-1]))


@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_keypoints_are_keyed_on_the_ground(tilt: float) -> None:
    """Feet that stand touch it; toes may be raised, as they are on a plane."""
    (rig,) = load(RIG)
    context.scene.render.fps = 30
    recording = load_recording(context, WALK, None)

    def key() -> range:
        report, _ = perform_keypoints(context, rig, recording, KeypointsJob())
        return range(int(report.frames[0]), int(report.frames[-1]) + 1)

    start, end = way(rig, key())
    high = tilt * float(np.linalg.norm(end - start)) if tilt else STEP
    low = 0.0 if tilt else STEP
    ground = make_ground(rig, across(start, end, low, high), across(2.0 * start - end, start, 0.0, 0.0))
    heights, places = soles_above(rig, ground, key())
    lowest = heights.reshape(-1, 2, 3).min(axis=-1)[still(places).reshape(-1, 2, 3).all(axis=-1)]
    assert len(lowest) > 20
    assert np.abs(lowest).max() < DEEP
    assert heights.min() > -DEEP


def test_feet_are_put_on_the_meshes_that_are_the_ground() -> None:
    (rig,) = load(RIG)
    select(rig, [])
    start, end = np.array([0.0, 1.0]), np.array([0.0, -1.0])
    ground = make_ground(rig, across(start, end, 0.05, 0.25))
    assert bpy.ops.poise.plant_feet() == {"FINISHED"}
    heights, _ = soles_above(rig, ground, range(1, 2))
    assert np.abs(heights).max() < DEEP


def stairs(start: np.ndarray, end: np.ndarray, rise: float) -> list[list[tuple[float, float, float]]]:
    """The treads of stairs from a start to an end, and the ground before them."""
    start = start - 0.08 * (end - start)
    edges = [start + share * (end - start) for share in np.linspace(0.0, 0.3, 9)]
    pairs = zip(edges, [*edges[1:], end], strict=True)
    return [
        across(2.0 * start - end, start, 0.0, 0.0),
        *(across(*pair, rise * n, rise * n) for n, pair in enumerate(pairs)),
    ]


@pytest.mark.parametrize("rise", [0.15, 0.1])
def test_a_walk_up_stairs_goes_up_those_of_another_body(rise: float) -> None:
    """The first body's stairs are its ground, so that the second one does not climb both."""
    (source,) = load(RIG)
    context.scene.render.fps = 30
    _, frames = brought(source)
    start, end = way(source, frames)
    flat = make_ground(source, across(2.0 * start - end, end, 0.0, 0.0))
    standing = len(stands(*soles_above(source, flat, frames)))
    ground = make_ground(source, *stairs(start, end, 0.15))
    heights, places = soles_above(source, ground, brought(source)[1])
    assert heights.min() > -DEEP  # also of feet that swing past an edge
    assert np.abs(stands(heights, places)).max() < DEEP
    rig = source.copy()
    rig.animation_data_clear()
    rig.scale = [1.3 * size for size in source.scale]
    rig.poise_ground = None
    context.scene.collection.objects.link(rig)
    context.view_layer.update()

    def take() -> range:
        edit = Retargeted(context, rig, source)
        edit.solve()
        edit.write(rig)
        return range(int(edit.after.frames[0]), int(edit.after.frames[-1]) + 1)

    start, end = way(rig, take())
    ground = make_ground(rig, *stairs(start, end, rise))
    frames = take()
    check_soles(rig, ground, frames)
    assert len(stands(*soles_above(rig, ground, frames))) > 0.8 * standing


@pytest.mark.parametrize("again", [False, True])
def test_locked_feet_of_a_level_walk_go_up_stairs(again: bool) -> None:
    """And stay on them once they are there; the report says how far pins are off, as Blender shows them."""
    (rig,) = load(RIG)
    context.scene.render.fps = 30
    _, frames = brought(rig)
    start, end = way(rig, frames)
    ground = make_ground(rig, *stairs(start, end, 0.15))
    before, _ = soles_above(rig, ground, frames)
    assert before.min() < -0.3
    for _ in range(1 + again):
        locked = LockedFeet(context, rig, (frames[0], frames[-1]))
        locked.solve()
        report = locked.write(rig)
    heights, places = soles_above(rig, ground, frames)
    assert heights.min() > -DEEP  # also of feet that swing past an edge
    bearing = stands(heights, places)
    assert len(bearing) > 20
    assert np.abs(bearing).max() < DEEP
    assert max(goal.position_error.max() for goal in report.goals) < DEEP
    sunk = "Feet are lower than the ground there by up to "
    assert not any(text.startswith(sunk) for text in report.explanations)
    if not again:  # as if nothing had raised them
        locked.after = locked.before
        assert any(text.startswith(sunk) for text in locked.explain(report.goals))


def test_timed_pins_of_a_level_walk_go_up_stairs() -> None:
    """As the panel finds and solves them: the body goes up with its feet."""
    (rig,) = load(RIG)
    context.scene.render.fps = 30
    _, frames = brought(rig)
    start, end = way(rig, frames)
    ground = make_ground(rig, *stairs(start, end, 0.15))
    pin_contacts(context, rig, ["feet"], 0.2, True)
    edit = PinnedMotion(context, rig)
    edit.solve()
    report = edit.write(rig)
    assert max(goal.position_error.max() for goal in report.goals) < DEEP
    heights, places = soles_above(rig, ground, frames)
    assert heights.min() > -DEEP  # also of feet that swing past an edge
    bearing = stands(heights, places)
    assert len(bearing) > 20
    assert np.abs(bearing).max() < DEEP
    restore_source(rig)
    pin = rig.poise_timed_pins[0]
    context.scene.frame_set(pin.start)
    show_pinned_frame(context, rig)
    context.view_layer.update()
    seen = rig.matrix_world @ rig.pose.bones[pin.bone].matrix @ bpy_vector(pin.point)
    assert (seen - rig.matrix_world @ bpy_vector(pin.position)).length < DEEP


LOOKED_AT = {  # faces that look up, and others that look down, over a floor; the ground there
    "three stairs": ([0.51], [], 0.51),
    "a slope above the head": ([2.0], [], 2.0),
    "a table": ([0.72], [0.68], 0.0),
    "a board": ([0.04], [0.02], 0.04),
    "a block that goes through the floor": ([1.5], [-0.1], 1.5),
    "an upper floor with a ceiling": ([3.0], [2.8], 0.0),
}


@pytest.mark.parametrize(("tops", "undersides", "ground"), [*LOOKED_AT.values()], ids=[*LOOKED_AT])
def test_undersides_that_are_higher_than_a_step_are_roofs(
    tops: list[float], undersides: list[float], ground: float
) -> None:
    (rig,) = load(RIG)
    faces = [across(-np.ones(2), np.ones(2), level, level) for level in (0.0, *tops)]
    owner = make_ground(
        rig,
        *faces,
        *(across(-np.ones(2), np.ones(2), level, level)[::-1] for level in undersides),
    )
    assert owner.data.polygons[0].normal.z > 0.0
    meshes = bridge.read_ground(context, rig, np.eye(4), size=1.7)
    assert meshes is not None
    np.testing.assert_allclose(meshes(np.zeros((1, 3))), [ground], atol=1e-6)


def test_instances_curves_and_mirrored_objects_are_ground() -> None:
    (rig,) = load(RIG)
    board = make_ground(rig, across(-np.ones(2), np.ones(2), 0.0, 0.0))
    collection = rig.poise_ground
    collection.objects.unlink(board)
    source = bpy.data.collections.new("Board")
    source.objects.link(board)
    empty = bpy.data.objects.new("Instance", None)
    empty.instance_type, empty.instance_collection, empty.location.z = "COLLECTION", source, 0.1
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", "CURVE"))
    curve.data.dimensions, curve.data.fill_mode, curve.location = "2D", "BOTH", (5.0, 0.0, 0.2)
    ring = curve.data.splines.new("POLY")
    ring.points.add(3)
    for point, place in zip(ring.points, [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], strict=True):
        point.co = (*place, 0.0, 1.0)
    ring.use_cyclic_u = True
    mirrored = bpy.data.objects.new("Mirrored", board.data)
    mirrored.scale.x, mirrored.location = -1.0, (10.0, 0.0, 3.0)
    for owner in (empty, curve, mirrored):
        collection.objects.link(owner)
    context.view_layer.update()
    meshes = bridge.read_ground(context, rig, np.eye(4), size=1.7)
    assert meshes is not None
    np.testing.assert_allclose(
        meshes(np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [10.0, 0.0, 0.0]])), [0.1, 0.2, 3.0], atol=1e-6
    )


def test_a_ground_without_faces_is_refused() -> None:
    (rig,) = load(RIG)
    make_ground(rig, across(np.zeros(2), np.ones(2), 0.0, 0.0))
    rig.poise_ground.objects.unlink(rig.poise_ground.objects[0])
    with pytest.raises(CoreError, match='"Ground" has no mesh with faces'):
        brought(rig)
