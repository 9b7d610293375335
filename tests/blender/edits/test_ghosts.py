"""Ghosts are the poses that Blender shows at other frames, and reading them changes nothing."""

from typing import Any

import bpy
import numpy as np
import pytest

from bridge.view import View
from edits.ghosts import Ghost, ghost_frames, nearest_ghost, read_ghosts
from tests.blender.control_rigs import cloud_rig
from tests.blender.rigs import (
    choose,
    contents,
    context,
    make_armature,
    make_ik_body,
    make_skin,
    make_view,
    make_walk,
    select,
)

pytestmark = pytest.mark.usefixtures("empty_file")
PRESENT, LAST, STEP = 7, 20, 4


def walking() -> Any:
    rig = make_armature()
    make_walk(rig, LAST)
    return rig


def with_ik() -> Any:
    rig = make_ik_body()
    for name, amount in (("hand_ik.L", 0.1), ("hips", 0.05)):
        bone = rig.pose.bones[name] if name in rig.pose.bones else rig.pose.bones[0]
        for frame in range(1, LAST + 1, STEP):
            bone.location = (amount * np.sin(frame), 0.0, amount * np.cos(frame))
            bone.keyframe_insert("location", frame=frame)
    return rig


def followed() -> Any:
    """A rig whose object and whose constraint's target move, with controls."""
    rig = cloud_rig()
    for frame in range(1, LAST + 1, STEP):
        rig.location = (0.1 * frame, 0.0, 0.0)
        rig.keyframe_insert("location", frame=frame)
        for bone in list(rig.pose.bones)[::3]:
            bone.location = (0.01 * frame, 0.0, 0.02 * np.sin(frame))
            bone.keyframe_insert("location", frame=frame)
    return rig


def show(rig: Any, **settings: Any) -> None:
    context.view_layer.objects.active = rig
    context.scene.frame_set(PRESENT)
    for name, value in settings.items():
        setattr(rig, f"poise_{name}", value)


def lines_at(rig: Any, frame: int) -> np.ndarray:
    """Heads and tails of the bones that deform, in the world, after a change of frame by Blender."""
    context.scene.frame_set(frame)
    bones = [bone for bone in rig.pose.bones if bone.bone.use_deform] or list(rig.pose.bones)
    return np.array([rig.matrix_world @ end for bone in bones for end in (bone.head, bone.tail)])


@pytest.mark.parametrize("make", [walking, with_ik, followed])
def test_ghosts_are_where_blender_shows_the_bones_at_their_frames(make: Any) -> None:
    rig = make()
    show(rig)
    rig.pose.bones[2].location.x = 0.3  # without keys, it is so in all frames
    before, channels = contents(), [tuple(bone.matrix_basis[0]) for bone in rig.pose.bones]
    ghosts = read_ghosts(context, rig, ghost_frames(context, rig))
    assert len(ghosts) >= 3
    assert contents() == before
    assert [tuple(bone.matrix_basis[0]) for bone in rig.pose.bones] == channels
    assert context.scene.frame_current == PRESENT
    for ghost in ghosts:
        np.testing.assert_allclose(ghost.points, lines_at(rig, round(ghost.frame)), atol=1e-6)


def test_a_mesh_is_shown_as_blender_deforms_it() -> None:
    rig = walking()
    skin = make_skin(rig)
    show(rig, ghost_shape="MESH")
    for ghost in read_ghosts(context, rig, ghost_frames(context, rig)):
        context.scene.frame_set(round(ghost.frame))
        evaluated = skin.evaluated_get(context.evaluated_depsgraph_get())
        points = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])
        np.testing.assert_allclose(ghost.points, points, atol=1e-6)
        np.testing.assert_allclose(np.sqrt(np.sum(ghost.normals**2, axis=1)), 1.0, atol=1e-6)
        assert ghost.corners.max() < len(points)


def keys_of_two_bones() -> Any:
    rig = make_armature()
    for bone, frames in (("head", (1, 5, 9, 13)), ("hand.L", (3, 7, 11))):
        for frame in frames:
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    return rig


def test_key_poses_next_to_the_present_frame_are_shown() -> None:
    rig = keys_of_two_bones()
    show(rig, ghosts_before=2, ghosts_after=5)
    assert ghost_frames(context, rig) == [3, 5, 9, 11, 13]
    rig.poise_ghost_step = 2
    assert ghost_frames(context, rig) == [3, 11]


def test_of_selected_bones_only_their_keys_and_lines_are_shown() -> None:
    rig = keys_of_two_bones()
    show(rig, ghost_bones="SELECTED")
    choose(rig, "hand.L")
    assert ghost_frames(context, rig) == [3, 11]
    assert len(read_ghosts(context, rig, [3])[0].corners) == 1
    select(rig, ())
    assert ghost_frames(context, rig) == []


def test_frames_are_those_of_the_scene_or_of_its_preview() -> None:
    rig = make_armature()
    show(rig, ghost_frames="ALL", ghost_step=3, ghosts_before=5, ghosts_after=2)
    assert ghost_frames(context, rig) == [1, 4, 10, 13]
    context.scene.use_preview_range = True
    context.scene.frame_preview_start, context.scene.frame_preview_end = 4, 10
    assert ghost_frames(context, rig) == [4, 10]


def test_a_remapped_time_is_that_of_the_scene() -> None:
    rig = walking()
    context.scene.render.frame_map_old, context.scene.render.frame_map_new = 100, 50
    show(rig, ghost_frames="ALL", ghost_step=2)
    for ghost in read_ghosts(context, rig, ghost_frames(context, rig)):
        np.testing.assert_allclose(ghost.points, lines_at(rig, round(ghost.frame)), atol=1e-6)


def test_the_ghost_under_the_mouse_is_found() -> None:
    view: View = make_view()[0]
    corners = np.array([[0, 1]], np.int32)
    ghosts = [
        Ghost(float(frame), np.array([[0.0, 0.0, z], [0.5, 0.0, z]]), corners, np.zeros((0, 3)))
        for frame, z in ((1, 0.0), (2, 0.4))
    ]
    mouse = view.pixels([0.25, 0.0, 0.4])
    found = nearest_ghost(ghosts, view, (float(mouse[0]), float(mouse[1])))
    assert found is not None
    assert found[0] < 1.0
    assert found[1] is ghosts[1]
    assert nearest_ghost([], view, (0.0, 0.0)) is None


def test_bones_without_armature_or_keys_have_no_ghosts() -> None:
    rig = make_armature()
    show(rig)
    assert ghost_frames(context, rig) == []
    assert bpy.data.scenes[:] == [context.scene]
