"""Trails are the paths that Blender shows points of a body to take, and reading them changes nothing."""

from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from bridge.view import View
from core.editing.contacts import find_contacts, foot_points
from edits.trails import Trail, find_traced, make_trails, nearest_dot, read_positions, trail_frames
from tests.blender.edits.test_ghosts import LAST, PRESENT, followed, show, walking, with_ik
from tests.blender.rigs import choose, contents, context, load, make_armature, make_view, select, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
WALK = DATA / "motion" / "cmu_07_12.bvh"


def trails_of(rig: Any) -> dict[str, Trail]:
    traced, frames = find_traced(rig), trail_frames(context, rig)
    made = make_trails(context, rig, traced, read_positions(context, rig, traced, frames))
    return {trail.bone: trail for trail in made}


@pytest.mark.parametrize("make", [walking, with_ik, followed])
def test_dots_are_where_blender_shows_the_bones_at_their_frames(make: Any) -> None:
    rig = make()
    rig.poise_trail_bones = "SELECTED"
    show(rig)
    names = [bone.name for bone in rig.pose.bones][1:6]
    choose(rig, *names)
    before, channels = contents(), [tuple(bone.matrix_basis[0]) for bone in rig.pose.bones]
    trails = trails_of(rig)
    assert contents() == before
    assert [tuple(bone.matrix_basis[0]) for bone in rig.pose.bones] == channels
    assert context.scene.frame_current == PRESENT
    assert trails.keys() == {*names}
    for number in (0, 3, -1):
        context.scene.frame_set(round(trails[names[0]].frames[number]))
        for name in names:
            np.testing.assert_allclose(trails[name].positions[number], world(rig, name), atol=1e-6)


def test_parts_of_the_body_have_trails() -> None:
    rig = walking()
    show(rig)
    assert trails_of(rig).keys() == {"hips", "hand.L", "hand.R", "foot.L", "foot.R"}
    rig.poise_trail_parts = {"HEAD"}
    assert trails_of(rig).keys() == {"head"}


def test_of_an_animal_the_tips_of_its_legs_have_trails() -> None:
    from tests.blender.control_drags import SHARED

    rig = load(SHARED / "rigs" / "real" / "quaternius_cat.fbx")[0]
    show(rig, trail_parts={"FEET"})
    traced = find_traced(rig)
    assert len(traced.points) == 4
    roles = bridge.read_roles(rig, bridge.read_rig(rig).skeleton)
    assert {point.bone for point in traced.points} == {
        chain[-1] for name, chain in roles.limbs.items() if name.startswith("leg")
    }
    assert all(point.position[1] > 0.0 for point in traced.points)


def test_without_selected_bones_there_are_no_trails() -> None:
    rig = walking()
    show(rig, trail_bones="SELECTED")
    select(rig, ())
    assert trails_of(rig) == {}


@pytest.mark.parametrize(("name", "roots", "tips"), [("creature_snake60", 1, 1), ("creature_left_hand_only", 1, 5)])
def test_of_a_body_without_known_parts_roots_and_tips_have_trails(name: str, roots: int, tips: int) -> None:
    from tests.blender.control_drags import SHARED

    load(SHARED / "rigs" / "scripted" / f"{name}.blend")
    rig = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    show(rig)
    traced = find_traced(rig)
    known = read_positions(context, rig, traced, [PRESENT])
    trails = make_trails(context, rig, traced, known)
    assert len(trails) == roots + tips
    bones: Any = rig.pose.bones
    ends = [bone.tail for bone in bones if not bone.children]
    shown = [bone.head for bone in bones if bone.parent is None] + ends
    places = np.array([rig.matrix_world @ end for end in shown])
    np.testing.assert_allclose([trail.positions[0] for trail in trails], places, atol=1e-5)


def test_feet_bear_where_the_contacts_of_the_motion_are() -> None:
    rig = load(WALK)[0]
    show(rig)
    trails, (first, last) = trails_of(rig), bridge.keyed_range(rig)
    read = bridge.read_rig(rig)
    motion, worlds = bridge.read_motion(rig, read, np.arange(first, last + 1))
    roles = bridge.read_roles(rig, read.skeleton)
    up = bridge.world_up(worlds[0])
    contacts = find_contacts(read.skeleton, motion, foot_points(read.skeleton, roles), up=up)
    for side in "LR":
        touching = contacts.touching[:, [point.name.endswith(side) for point in contacts.points]].any(axis=1)
        trail = trails[read.skeleton.names[roles.bone(f"foot.{side}")]]
        assert 0.3 < touching.mean() < 0.9
        assert trail.bears.tolist() == touching[: len(trail.bears)].tolist()
    assert not trails[read.skeleton.names[roles.bone("hips")]].bears.any()


def test_frames_with_keys_are_told() -> None:
    rig = walking()
    show(rig)
    trail = trails_of(rig)["hips"]
    assert trail.frames[trail.keyed].tolist() == [1, 5, 10, 15, 20]


def test_frames_are_those_of_the_motion_within_the_scene_or_around_the_present_one() -> None:
    rig = walking()
    show(rig)
    context.scene.frame_start, context.scene.frame_end = 3, 250
    assert trail_frames(context, rig) == list(range(3, LAST + 1))
    rig.poise_trail_range, rig.poise_trail_around = "AROUND", 2
    assert trail_frames(context, rig) == [5, 6, 7, 8, 9]


def test_what_takes_too_long_is_read_from_the_first_frame_on() -> None:
    rig = walking()
    show(rig)
    traced = find_traced(rig)
    assert list(read_positions(context, rig, traced, [7, 8, 6], seconds=0.0)) == [7]
    assert bpy.data.scenes[:] == [context.scene]


def test_the_dot_under_the_mouse_is_found_and_of_several_the_next_in_time() -> None:
    view: View = make_view()[0]
    none = np.zeros(5, bool)
    places = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.2, 0, 0], [0.2, 0, 0]])
    trail = Trail("hand.L", (0.0, 0.0, 0.0), np.arange(5.0), places, none, none)
    for now, frame, x in ((0, 1, 0.1), (0, 2, 0.2), (3, 3, 0.2), (9, 4, 0.2)):
        mouse = view.pixels([x, 0.0, 0.0])
        found = nearest_dot([trail], view, (float(mouse[0]) + 1.0, float(mouse[1])), now)
        assert found is not None
        assert found[0] == pytest.approx(1.0, abs=1e-6)
        assert found[1:] == (trail, frame)
    assert nearest_dot([], view, (0.0, 0.0), 1.0) is None


def test_an_armature_without_keys_has_dots_in_one_place() -> None:
    rig = make_armature()
    show(rig)
    assert len(np.unique(trails_of(rig)["hand.L"].positions.round(6), axis=0)) == 1
