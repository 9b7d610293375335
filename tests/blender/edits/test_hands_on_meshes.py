"""Hands on rails: palms as Blender evaluates them, by its own nearest points on the meshes."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

import bridge
import commands
from core import CoreError
from core.body.ground import find_palm
from core.editing.contacts import runs
from edits.clips import import_motion
from edits.foot_lock import HANDS, LockedFeet
from edits.pinned_motion import PinnedMotion
from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load, select
from tests.paths import DATA, SHARED

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.long]

CLIMB = SHARED / "motion" / "bvh30" / "cmu_01_03.bvh"  # hands go from bar to bar of a playground
RIGS = [DATA / "rigs" / "named_mixamo_cm.blend", SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"]
SLOW = 0.2  # sizes of the body a second: a hand that is slower for 0.3 s while the body moves holds something
ASIDE = np.array([0.02, -0.02, 0.02])  # metres
RESTS = 9  # frames
DEEP = 0.005  # metres
WALK = SHARED / "motion" / "bvh30" / "cmu_32_01.bvh"
ALONG = range(30, 70)  # frames
needs_data = pytest.mark.skipif(not CLIMB.is_file(), reason="there is no ../shared/data")


def palms(rig: Any, frames: range, edit: Any = None) -> np.ndarray:
    """Where Blender shows the middles of the palms, (F, 2, 3) in the world; `edit`: of the body on a control rig."""
    skeleton = edit.skeleton if edit else bridge.read_rig(rig).skeleton
    roles = edit.roles if edit else bridge.read_roles(rig, skeleton)
    found = [find_palm(skeleton, roles, side) for side in "LR"]
    places = []
    for frame in frames:
        context.scene.frame_set(frame)
        seen = rig.evaluated_get(context.evaluated_depsgraph_get())
        bones = [seen.pose.bones[skeleton.names[hand]] for hand, *_ in found]
        points = [Vector(place) for *_, place in found]
        places.append([seen.matrix_world @ bone.matrix @ point for bone, point in zip(bones, points, strict=True)])
    return np.array(places)


def rests(places: np.ndarray, size: float, fps: float) -> list[tuple[int, int, int]]:
    """Hand, first and last index of the frames in which it rests, of places (F, 2, 3)."""
    speed = np.linalg.norm(np.gradient(places, axis=0), axis=-1) * fps / size
    ends = [(hand, *run) for hand in (0, 1) for run in runs(speed[:, hand] < SLOW)]
    return [(hand, first, last) for hand, first, last in ends if last - first >= RESTS]


def make_bars(owner: Any, places: list[np.ndarray], name: str, half: float) -> Any:
    """Make blocks whose upper sides are at places the ground of an armature."""
    collection = bpy.data.collections.new(name)
    context.scene.collection.children.link(collection)
    for place in places:
        mesh = bpy.data.meshes.new(name)
        corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-half, half)]
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh.from_pydata(corners, [], faces)
        bar = bpy.data.objects.new(name, mesh)
        bar.location = place - np.array([0.0, 0.0, half])
        collection.objects.link(bar)
    owner.poise_ground = collection
    context.view_layer.update()
    return collection


def make_rail(owner: Any, places: np.ndarray, name: str) -> Any:
    """Make a straight rail, on whose upper side places (n, 3) are in the mean, the ground of an armature."""
    middle, way = places.mean(axis=0), places[-1] - places[0]
    turn, half = Vector(way.tolist()).to_track_quat("X", "Z"), float(np.linalg.norm(way)) / 100.0
    collection = make_bars(owner, [middle], name, half)
    (rail,) = collection.all_objects
    rail.rotation_mode = "QUATERNION"
    rail.rotation_quaternion, rail.location = turn, Vector(middle.tolist()) - turn @ Vector((0.0, 0.0, half))
    rail.scale.x = 80.0
    context.view_layer.update()
    return collection


def lead_hand(source: Any, frames: range) -> None:
    """Have the right hand of an armature go along a straight line beside its hips, without turning, by Blender's IK."""
    wrists, hips = [], []
    for frame in frames:
        context.scene.frame_set(frame)
        wrists.append(source.matrix_world @ source.pose.bones["RightHand"].head)
        hips.append(source.matrix_world @ source.pose.bones["Hips"].head)
    line = np.stack([np.polyval(np.polyfit(frames, column, 1), frames) for column in np.array(hips).T], axis=1)
    line += (np.array(wrists) - line).mean(axis=0)
    led = bpy.data.objects.new("Led", None)
    context.scene.collection.objects.link(led)
    led.rotation_mode = "QUATERNION"
    led.rotation_quaternion = (source.matrix_world @ source.pose.bones["RightHand"].matrix).to_quaternion()
    for frame, place in zip(frames, line.tolist(), strict=True):
        led.location = place
        led.keyframe_insert("location", frame=frame)
    reach = source.pose.bones["RightForeArm"].constraints.new("IK")
    reach.target, reach.chain_count = led, 2
    source.pose.bones["RightHand"].constraints.new("COPY_ROTATION").target = led


def beside(places: np.ndarray, collection: Any) -> np.ndarray:
    """How far places (n, 3) are from the meshes of a collection."""
    found = []
    for place in places.tolist():
        near = []
        for bar in collection.all_objects:
            hit, at, *_ = bar.closest_point_on_mesh(bar.matrix_world.inverted() @ Vector(place))
            assert hit
            near.append((bar.matrix_world @ at - Vector(place)).length)
        found.append(min(near))
    return np.array(found)


def climbing(path: Any, clip: Any = CLIMB) -> tuple[Any, Any]:
    """A rig, and an armature that climbs, or has another clip."""
    rig = next(one for one in load(path) if one.name in ("rig", "Armature"))
    select(rig, [])
    context.scene.render.fps = 30
    before = {*bpy.data.objects}
    import_motion(clip)
    return rig, next(one for one in bpy.data.objects if one not in before and one.type == "ARMATURE")


def held_on_bars(path: Any, known: bool, span: tuple[int, int]) -> list[np.ndarray]:
    """How far palms that rest are beside the bars without and with `hands`, (n,) metres each.

    The bars are 2 cm off in each direction, and `known` says whether the source has some, where its hands rest.
    """
    rig, source = climbing(path)
    frames = range(span[0], span[1] + 1)
    there = palms(source, frames)
    size = float(bridge.length_scale(bridge.world_matrix(source))) * bridge.read_rig(source).skeleton.size
    held = rests(there, size, 30.0)
    assert held
    if known:
        make_bars(source, [there[a : b + 1, hand].mean(axis=0) for hand, a, b in held], "Bars", 0.03 * size)
    plain = Retargeted(context, rig, source, span, False)
    plain.solve()
    plain.write(rig)
    before = palms(rig, frames, plain)
    places = [before[a : b + 1, hand].mean(axis=0) + ASIDE for hand, a, b in held]
    bars = make_bars(rig, places, "Other Bars", 0.01)
    edit = Retargeted(context, rig, source, span, False, hands=True)
    edit.solve()
    report = edit.write(rig)
    assert report.met
    assert report.shown
    after = palms(rig, frames, edit)
    resting = [(slice(a, b + 1), hand) for hand, a, b in held]
    return [np.concatenate([beside(one[rest], bars) for rest in resting]) for one in (before, after)]


@needs_data
@pytest.mark.parametrize("known", [True, False])
def test_hands_hold_bars_that_are_elsewhere_than_where_they_would_be(known: bool) -> None:
    before, after = held_on_bars(RIGS[0], known, (100, 260))
    assert before.mean() > 0.01
    assert after.max() < DEEP


@needs_data
def test_hands_of_a_control_rig_hold_bars() -> None:
    before, after = held_on_bars(RIGS[1], False, (112, 127))
    assert before.mean() > 0.01
    assert after.max() < DEEP


@needs_data
@pytest.mark.parametrize(("path", "known"), [(RIGS[0], True), (RIGS[0], False), (RIGS[1], True)])
def test_a_hand_slides_along_a_rail(path: Any, known: bool) -> None:
    """Beside a walk is a rail along which its hand goes; `known` says whether the source has one, too."""
    rig, source = climbing(path, WALK)
    lead_hand(source, ALONG)
    span = ALONG[0], ALONG[-1]
    if known:
        make_rail(source, palms(source, ALONG)[:, 1], "Rail")
    plain = Retargeted(context, rig, source, span, False)
    plain.solve()
    plain.write(rig)
    before = palms(rig, ALONG, plain)
    below = ASIDE * (1.0, 1.0, -1.0) if known else np.array((0.0, 0.0, -0.03))
    rail = make_rail(rig, before[:, 1] + below, "Other Rail")
    edit = Retargeted(context, rig, source, span, False, hands=True)
    edit.solve()
    report = edit.write(rig)
    assert report.met
    (pin,) = edit.pins
    assert pin.bone == edit.roles.bone("hand.R")
    assert (pin.start, pin.end) == span
    after = palms(rig, ALONG, edit)[:, 1]
    assert beside(before[:, 1], rail).mean() > 0.01
    print(1e3 * beside(before[:, 1], rail).mean(), 1e3 * beside(after, rail).max(), pin.start, pin.end)
    assert beside(after, rail).max() < DEEP
    steps = np.linalg.norm(np.diff(after, axis=0), axis=-1)
    np.testing.assert_allclose(steps, np.linalg.norm(np.diff(before[:, 1], axis=0), axis=-1), atol=DEEP)


@needs_data
@pytest.mark.parametrize("path", RIGS)
def test_find_contacts_lists_a_hand_that_slides_below_a_rail_and_it_is_held_there(path: Any) -> None:
    """The rail is above the palm: nothing is below it."""
    rig, source = climbing(path, WALK)
    lead_hand(source, ALONG)
    plain = Retargeted(context, rig, source, (ALONG[0], ALONG[-1]), False)
    plain.solve()
    plain.write(rig)
    bpy.data.objects.remove(source)
    before = palms(rig, ALONG, plain)
    thick = 0.02 * float(np.linalg.norm(before[-1, 1] - before[0, 1]))  # of the rail
    rail = make_rail(rig, before[:, 1] + (0.0, 0.0, 0.03 + thick), "Rail")
    select(rig, [])
    assert bpy.ops.poise.find_contacts(points="HANDS") == {"FINISHED"}
    (pin,) = rig.poise_timed_pins
    assert (pin.held, pin.label, pin.start, pin.end) == ("GROUND", "hand.R", ALONG[0], ALONG[-1])
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    after = palms(rig, ALONG, plain)[:, 1]
    assert beside(before[:, 1], rail).mean() > 0.01
    assert beside(after, rail).max() < DEEP
    steps = np.linalg.norm(np.diff(after, axis=0), axis=-1)
    np.testing.assert_allclose(steps, np.linalg.norm(np.diff(before[:, 1], axis=0), axis=-1), atol=DEEP)
    rig.poise_ground = None
    (said,) = PinnedMotion(context, rig).left_out
    assert "has no collection with meshes" in said


@needs_data
@pytest.mark.parametrize("verb", [False, True])
def test_hands_that_rest_on_bars_above_them_are_found(verb: bool) -> None:
    rig, source = climbing(RIGS[0])
    span, frames = (100, 260), range(100, 261)
    plain = Retargeted(context, rig, source, span, False)
    plain.solve()
    plain.write(rig)
    bpy.data.objects.remove(source)
    before = palms(rig, frames, plain)
    size = float(bridge.length_scale(bridge.world_matrix(rig))) * plain.skeleton.size
    held = rests(before, size, 30.0)
    above = np.array([0.0, 0.0, 0.04])
    bars = make_bars(rig, [above + before[a : b + 1, hand].mean(axis=0) for hand, a, b in held], "Bars", 0.01)
    select(rig, [])
    if verb:
        edit = LockedFeet(context, rig, span, points=[HANDS])
        edit.solve()
        assert edit.write(rig).met
        pins: Any = edit.pins
    else:
        assert bpy.ops.poise.find_contacts(points="HANDS") == {"FINISHED"}
        pins = rig.poise_timed_pins
        assert {pin.held for pin in pins} == {"PLACE"}
        bpy.ops.poise.solve_motion()
    after = palms(rig, frames, plain)
    assert len(pins) >= len(held)
    resting = [(slice(a, b + 1), hand) for hand, a, b in held]
    off, there = (np.concatenate([beside(one[rest], bars) for rest in resting]) for one in (before, after))
    assert off.mean() > 0.01
    assert there.max() < DEEP


def test_hands_that_are_far_from_the_meshes_or_pass_them_are_not_held() -> None:
    """A walk with a long rail beside it: the arms swing past it, and are 3 cm from it at the nearest."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    context.scene.render.fps = 30

    def walk(hands: bool) -> Retargeted:
        with imported(context, DATA / "motion" / "cmu_07_12.bvh") as (source, _):
            return Retargeted(context, rig, source, (2, 60), False, hands=hands)

    with pytest.raises(CoreError, match='"Armature" has no collection with meshes'):
        walk(True)
    plain = walk(False)
    plain.solve()
    plain.write(rig)
    seen = palms(rig, range(2, 61))
    make_bars(rig, list(seen[10::4, 0] + (0.0, 0.0, -0.03)), "Rail", 0.01)
    assert not walk(True).pins
    for hand in (0, 1):
        ends = seen[[0, -1], hand]
        make_rail(
            rig, np.linspace(*ends, 50) * (1.0, 1.0, 0.0) + (0.0, 0.0, seen[:, hand, 2].min() - 0.03), "Long Rail"
        )
        assert not walk(True).pins
    assert commands.run(["retarget", "--motion", str(DATA / "motion" / "cmu_07_12.bvh"), "--hands"]) == 0
    rig.poise_ground = None
    assert commands.run(["retarget", "--motion", str(DATA / "motion" / "cmu_07_12.bvh"), "--hands"]) == 2
