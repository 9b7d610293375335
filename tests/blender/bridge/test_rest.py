"""The present pose as the rest pose: bones, meshes and keys, as Blender evaluates them."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.rigs import contents, make_armature, make_empty, select, turn

pytestmark = pytest.mark.usefixtures("empty_file")
context: Any = bpy.context
KEYS = (1, 6, 14)


@pytest.fixture
def rig() -> Any:
    """A body that moves by keys of all kinds, in another pose at frame 6."""
    object = make_armature()
    select(object, [])
    rng = np.random.default_rng(3)
    object.pose.bones["upper_arm.L"].rotation_mode = "ZXY"
    for name, path in (
        ("upper_arm.L", "rotation_euler"),
        ("forearm.L", "rotation_quaternion"),
        ("thigh.R", "rotation_quaternion"),
        ("hips", "location"),
        ("hips", "rotation_quaternion"),
    ):
        bone = object.pose.bones[name]
        for frame in KEYS:
            if path == "rotation_quaternion":
                turn(object, name, float(rng.normal()))
            else:
                setattr(bone, path, (0.5 * rng.normal(size=3)).tolist())
            bone.keyframe_insert(path, frame=frame)
    context.scene.frame_set(6)
    turn(object, "shin.R", 0.7)  # without a key
    object.pose.bones["head"].scale = (1.0000005, 0.9999995, 1.0)  # as imports leave it
    return object


@pytest.fixture
def sleeve(rig: Any) -> Any:
    """A strip of vertices along the left arm with a shape key, on a moved object, behind a modifier of its own."""
    data = bpy.data.meshes.new("Sleeve")
    places = [(x, y, 1.4) for x in np.linspace(0.2, 0.8, 7) for y in (-0.05, 0.05)]
    data.from_pydata(places, [], [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(6)])
    object: Any = bpy.data.objects.new("Sleeve", data)
    object.location = (0.1, 0.2, 0.3)
    context.scene.collection.objects.link(object)
    for name, share in (("upper_arm.L", 1.0), ("forearm.L", 0.4)):
        group = object.vertex_groups.new(name=name)
        group.add(range(14), share, "REPLACE")
    object.shape_key_add(name="Basis")
    wide = object.shape_key_add(name="Wide")
    wide.data.foreach_set("co", (1.1 * np.array(places)).ravel())
    wide.value = 0.6
    object.modifiers.new("Armature", "ARMATURE").object = rig
    object.modifiers.new("Subdivision", "SUBSURF")
    context.view_layer.update()
    return object


def frames_of(rig: Any, frame: int) -> np.ndarray:
    context.scene.frame_set(frame)
    return np.array([bone.matrix for bone in rig.pose.bones])


def shape_of(object: Any) -> np.ndarray:
    mesh = object.evaluated_get(context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in mesh.vertices])


def test_bones_stand_at_every_key_where_they_stood_and_the_pose_is_the_rest_pose(rig: Any) -> None:
    before = {frame: frames_of(rig, frame) for frame in (1, 14, 6)}
    turn(rig, "shin.R", 0.7)
    context.view_layer.update()
    posed = np.array([bone.matrix for bone in rig.pose.bones])
    assert bpy.ops.poise.make_rest() == {"FINISHED"}
    np.testing.assert_allclose([bone.matrix_local for bone in rig.data.bones], posed, atol=1e-5)
    np.testing.assert_allclose([bone.matrix_basis for bone in rig.pose.bones], [np.eye(4)] * len(posed), atol=1e-5)
    others = [place for place, bone in enumerate(rig.pose.bones) if bone.name not in ("shin.R", "foot.R")]
    for frame, matrices in before.items():
        np.testing.assert_allclose(frames_of(rig, frame)[others], matrices[others], atol=2e-5)
    bag = rig.animation_data.action.layers[0].strips[0].channelbags[0]
    assert {curve.data_path.split('"')[1] for curve in bag.fcurves} == {"upper_arm.L", "forearm.L", "thigh.R", "hips"}
    assert all([key.co.x for key in curve.keyframe_points] == list(KEYS) for curve in bag.fcurves)


def test_meshes_keep_the_shape_that_they_show_at_every_value_of_their_shape_keys(rig: Any, sleeve: Any) -> None:
    shown: list[np.ndarray] = []
    for _ in range(2):
        for value in (0.0, 0.6, 1.0):
            sleeve.data.shape_keys.key_blocks["Wide"].value = value
            context.view_layer.update()
            shown.append(shape_of(sleeve))
        if len(shown) == 3:
            assert bpy.ops.poise.make_rest() == {"FINISHED"}
    np.testing.assert_allclose(shown[3:], shown[:3], atol=1e-5)
    assert [modifier.show_viewport for modifier in sleeve.modifiers] == [True, True]


def test_it_is_one_undo_step(rig: Any, sleeve: Any) -> None:
    name = rig.name
    bpy.ops.ed.undo_push(message="before")
    before, rest = contents(), [bone.matrix_local.copy() for bone in rig.data.bones]
    bpy.ops.poise.make_rest("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    assert contents() == before
    assert [bone.matrix_local for bone in bpy.data.objects[name].data.bones] == rest


def _twin(rig: Any) -> None:
    context.scene.collection.objects.link(rig.copy())


def _track(rig: Any) -> None:
    rig.pose.bones["head"].constraints.new("DAMPED_TRACK").target = make_empty("Cup")
    context.view_layer.objects.active = rig


def _strip(rig: Any) -> None:
    rig.animation_data.nla_tracks.new().strips.new("old", 1, rig.animation_data.action)


def _scale(rig: Any) -> None:
    rig.pose.bones["head"].scale = (1.2, 1.2, 1.2)


def _shared(rig: Any) -> None:
    make_empty("Cup").animation_data_create().action = rig.animation_data.action
    context.view_layer.objects.active = rig


def _lattice(rig: Any) -> None:
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    context.scene.collection.objects.link(cage)
    cage.modifiers.new("Armature", "ARMATURE").object = rig


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_twin, "would also get another rest pose"),
        (_track, '"head" is driven by constraint "Damped Track"'),
        (_strip, "NLA strips"),
        (_scale, "Bones are scaled"),
        (_shared, "has other users"),
        (_lattice, '"Cage" is deformed by the armature, but is not a mesh'),
    ],
)
def test_what_cannot_be_brought_along_is_said_and_nothing_changes(rig: Any, spoil: Any, sentence: str) -> None:
    spoil(rig)
    context.view_layer.update()
    before, rest = contents(), [bone.matrix_local.copy() for bone in rig.data.bones]
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.make_rest()
    assert contents() == before
    assert [bone.matrix_local for bone in rig.data.bones] == rest
