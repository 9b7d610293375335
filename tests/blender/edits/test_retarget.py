"""Motions brought from one body to another, measured in Blender by what is seen: directions of limbs, feet, places."""

import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from core import CoreError, forward, rotation
from core.body.posture import body_axes, leg_length
from core.editing.contacts import find_contacts, foot_points, point_positions
from core.formats.recipe import read_recipe
from edits.generate import Generated
from edits.pinned_motion import PinnedMotion
from edits.retarget import Retargeted, imported
from edits.timed_pins import add_timed_pin
from tests.blender.rigs import contents, context, keys_of, load, make_chain, make_ik_body, put_on_fk, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
FRAMES = (2, 40)  # the clip begins in its rest pose
RIGS = (
    DATA / "rigs" / "named_mixamo_cm.blend",
    DATA / "rigs" / "odd_random_rolls_apose.blend",
    DATA / "rigs" / "odd_inherit_flags.blend",
    SHARED / "rigs" / "scripted" / "named_unreal_apose.blend",
    SHARED / "rigs" / "real" / "vrm_example.vrm",
)
MIKU = SHARED / "rigs" / "scripted" / "named_mmd_japanese.blend"
SEGMENTS = (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))


def body(rig: Any, frames: tuple[int, int] = FRAMES) -> tuple[Any, Any, Any]:
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(frames[0], frames[1] + 1))
    return read.skeleton, motion, bridge.read_roles(rig, read.skeleton)


def directions(skeleton: Any, motion: Any, roles: Any) -> np.ndarray:
    """Of the limbs' segments, (8, F, 3) left, forward and up."""
    heads = forward(skeleton, motion.pose)[0]
    ends = [(roles.bones[f"{a}.{side}"], roles.bones[f"{b}.{side}"]) for a, b in SEGMENTS for side in "LR"]
    ways = np.array([heads[:, b] - heads[:, a] for a, b in ends])
    return ways @ body_axes(roles).T / np.linalg.norm(ways, axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("path", "fps"),
    [*((path, 30) for path in RIGS), *(pytest.param(RIGS[0], fps, marks=pytest.mark.long) for fps in (24, 25, 48, 60))],
    ids=lambda value: value.stem if isinstance(value, Path) else str(value),
)
def test_limbs_point_as_they_did_and_feet_stand(path: Path, fps: int) -> None:
    rig = load(path)[0]
    context.scene.render.fps = fps
    frames = FRAMES[0] + (fps > 30), round(FRAMES[1] * fps / 30)  # the clip begins in its rest pose, at 30
    before = set(bpy.data.user_map())
    with imported(context, CLIP) as (source, _):
        there = body(source, frames)
        plain = Retargeted(context, rig, source, frames, plant=False)
        edit = Retargeted(context, rig, source, frames)
    assert set(bpy.data.user_map()) == before
    exact = directions(plain.rig.skeleton, plain.after, plain.roles)
    np.testing.assert_allclose(exact, directions(*there), atol=1e-5)  # rest poses are in single precision

    edit.solve()
    assert edit.write(rig).met
    here = body(rig, frames)
    angles = np.degrees(np.arccos(np.clip((directions(*here) * directions(*there)).sum(-1), -1.0, 1.0)))
    assert angles.mean() < 3.0  # planted feet cost so much
    ways = [
        np.ptp(forward(skeleton, motion.pose)[0][:, roles.bones["hips"]] @ body_axes(roles).T, axis=0)
        / leg_length(skeleton, roles)
        for skeleton, motion, roles in (there, here)
    ]
    np.testing.assert_allclose(ways[1], ways[0], rtol=0.1, atol=0.05)  # as far, in lengths of its legs
    points = foot_points(there[0], there[2])
    touching = find_contacts(there[0], there[1], points).touching
    own = {point.name: point for point in foot_points(here[0], here[2])}
    for number, point in enumerate(points):
        if point.name in own and point.name.startswith("ball"):
            where = point_positions(here[0], here[1].pose, [own[point.name]])[:, 0]
            steps = np.linalg.norm(np.diff(where, axis=0), axis=1)[touching[1:, number] & touching[:-1, number]]
            assert steps.max() < 1e-3 * leg_length(here[0], here[2])


def lowest(rig: Any) -> float:
    """The lowest joint in the world."""
    bones = bpy.data.objects[rig.name].pose.bones
    return min((rig.matrix_world @ bone.head).z for bone in bones)


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "fps"),
    [*((RIGS[0], fps) for fps in (24, 25, 30, 48, 60)), (RIGS[1], 30), (RIGS[2], 30)],
    ids=lambda value: value.stem if isinstance(value, Path) else str(value),
)
def test_feet_are_never_below_the_floor(path: Path, fps: int) -> None:
    rig = load(path)[0]
    context.scene.render.fps = fps
    rig.data.pose_position = "REST"
    context.view_layer.update()
    floor = min(lowest(rig), 0.0)  # the rigs stand at the origin; some have all bones above the sole
    rig.data.pose_position = "POSE"
    with imported(context, CLIP) as (source, _):
        frames = (2, bridge.keyed_range(source)[1])
        edit = Retargeted(context, rig, source, frames)
    edit.solve()
    edit.write(rig)
    leg = leg_length(edit.skeleton, edit.roles) * rig.matrix_world.to_scale()[2]
    for frame in range(frames[0], frames[1] + 1):
        context.scene.frame_set(frame)
        assert lowest(rig) > floor - 0.005 * leg


def test_toes_side_by_side_bend_together() -> None:
    """A second toe that hangs on the foot stayed straight: rolled onto the first one, it was below the floor."""
    rig = load(RIGS[0])[0]
    select(rig, ())
    bpy.ops.object.mode_set(mode="EDIT")
    for side in ("Left", "Right"):
        first = next(bone for bone in rig.data.edit_bones if bone.name.endswith(f"{side}ToeBase"))
        second = rig.data.edit_bones.new(f"{side} second toe")
        second.head, second.tail, second.roll = first.head, first.tail, first.roll + 0.3
        second.parent = first.parent
    bpy.ops.object.mode_set(mode="OBJECT")
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, FRAMES)
    edit.solve()
    edit.write(rig)
    bent = 0.0
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        context.scene.frame_set(frame)
        for side in ("Left", "Right"):
            ends = [
                bone.tail for bone in rig.pose.bones if bone.name.endswith((f"{side}ToeBase", f"{side} second toe"))
            ]
            assert len(ends) == 2
            assert (ends[0] - ends[1]).length < 1e-3 * edit.skeleton.size
            foot = next(bone for bone in rig.pose.bones if bone.name.endswith(f"{side}Foot"))
            bent = max(
                bent,
                (
                    foot.matrix.inverted() @ ends[0]
                    - foot.bone.matrix_local.inverted() @ rig.data.bones[f"{side} second toe"].tail_local
                ).length,
            )
    assert bent > 0.005 * edit.skeleton.size


def test_the_same_body_gets_the_same_motion() -> None:
    (rig,) = load(CLIP)
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, FRAMES, plant=False)
        there = body(source)
    here = forward(edit.rig.skeleton, edit.after.pose)[0]
    wanted = forward(there[0], there[1].pose)[0]
    off = (here - here[:, :1]) - (wanted - wanted[:, :1])
    assert np.abs(off).max() < 1e-4 * edit.rig.skeleton.size


@pytest.mark.parametrize("name", ["ozz_pab_walk.fbx", "cesium_man.gltf"])
def test_motions_come_from_fbx_and_gltf_files(name: str) -> None:
    path = SHARED / "rigs" / "real" / name
    if not path.is_file():
        pytest.skip(f"{name}: the larger test data (../shared/data) is not here")
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    with imported(context, path) as (source, _):
        there = body(source)
        edit = Retargeted(context, rig, source, FRAMES, plant=False)
        worlds = bridge.read_motion(source, bridge.read_rig(source), there[1].frames)[1]
    found = directions(edit.rig.skeleton, edit.after, edit.roles)
    carried = body_axes(there[2]) @ np.linalg.solve(worlds[0], worlds)[:, :3, :3] @ body_axes(there[2]).T
    seen = (carried @ directions(*there)[..., None])[..., 0]  # what the armature object does is part of the motion
    np.testing.assert_allclose(found, seen, atol=1e-4)  # the file's rest pose is in single precision
    assert np.ptp(found, axis=1).max() > 0.5  # it walks


@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_a_body_goes_with_what_the_object_of_the_other_does(turn: float) -> None:
    (rig,) = load(CLIP)
    with imported(context, CLIP) as (source, _):
        source.animation_data.action = None
        source.rotation_euler.z = turn
        for frame, place in ((2, 0.0), (40, 30.0)):
            source.location = np.array([np.cos(turn), np.sin(turn), 0.0]) * place
            source.keyframe_insert("location", frame=frame)
        edit = Retargeted(context, rig, source, FRAMES, plant=False)
    hips = (
        forward(edit.rig.skeleton, edit.after.pose)[0][:, edit.roles.bones["hips"]]
        @ np.array(rig.matrix_world)[:3, :3].T
    )
    np.testing.assert_allclose(hips[-1] - hips[0], [30.0, 0.0, 0.0], atol=1e-3)  # one body, and sideways as it stood


@pytest.mark.parametrize("fails", [False, True])
def test_the_scene_keeps_its_time_whatever_a_file_brings(fails: bool, tmp_path: Path) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    path = tmp_path / "walk.fbx"
    context.scene.render.fps = 24
    rig.select_set(True)
    for frame, x in ((1, 0.0), (25, 100.0)):  # one second
        rig.pose.bones["mixamorig:Hips"].location.x = x
        rig.pose.bones["mixamorig:Hips"].keyframe_insert("location", frame=frame)
    bpy.ops.export_scene.fbx(filepath=str(path), use_selection=True, bake_anim_simplify_factor=0.0)
    scene = context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 60, 7, 99
    scene.frame_set(12, subframe=0.5)
    if fails:
        path.write_bytes(path.read_bytes()[:2000])
        with pytest.raises(CoreError), imported(context, path):
            pass
    else:
        with imported(context, path) as (source, _):
            assert bridge.keyed_range(source) == (1, 61)
    found = scene.render.fps, scene.frame_start, scene.frame_end, scene.frame_current, scene.frame_subframe
    assert found == (60, 7, 99, 12, 0.5)


def test_any_take_of_a_file_can_be_brought(tmp_path: Path) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    head = rig.pose.bones["mixamorig:Head"]
    for name, last in (("nod", 10), ("bow", 20)):
        rig.animation_data_create().action = bpy.data.actions.new(name)
        for frame in (1, last):
            head.rotation_quaternion = 1.0, 0.01 * frame, 0.0, 0.0
            head.keyframe_insert("rotation_quaternion", frame=frame)
    path = tmp_path / "two.fbx"
    bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_use_nla_strips=False)
    with pytest.raises(CoreError, match='There is no take "sit"'), imported(context, path, "sit"):
        pass
    lasts = {}
    for name in ("nod", "bow"):
        with imported(context, path, name) as (source, takes):
            assert takes[0] == name
            lasts[name] = bridge.keyed_range(source)[1]
    assert lasts == {"nod": 10, "bow": 20}
    select(rig, [])
    bpy.ops.poise.retarget(filepath=str(path), take="nod", plant=False)
    assert bridge.keyed_range(rig)[1] == 10
    assert rig.animation_data.action.name == f"{rig.name} nod"


def test_a_motion_of_strips_is_brought_as_well() -> None:
    (rig,) = load(CLIP)
    with imported(context, CLIP) as (source, _):
        wanted = Retargeted(context, rig, source, FRAMES, plant=False).after
        data = source.animation_data
        data.nla_tracks.new().strips.new("walk", 11, data.action)
        data.action = None
        found = Retargeted(context, rig, source, plant=False).after
    assert found.frames[0] == 12  # without the rest pose that the clip begins with
    part = found.pose[: len(wanted)]
    np.testing.assert_allclose(np.abs((part.rotations * wanted.pose.rotations).sum(-1)), 1.0, atol=1e-6)


def test_a_brought_motion_has_nothing_of_the_one_before() -> None:
    (rig,) = load(CLIP)
    old = rig.animation_data.action
    arm = rig.pose.bones["LeftArm"]
    for frame in (1, 300):
        arm.scale = (1.23, 1.23, 1.23)
        arm.keyframe_insert("scale", frame=frame)
    source_motion = keys_of(old)
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, FRAMES, plant=False)
    edit.solve()
    edit.write(rig)
    assert bridge.keyed_range(rig) == FRAMES
    context.scene.frame_set(20)
    np.testing.assert_allclose(arm.scale, 1.0)
    assert rig.animation_data.action != old
    assert keys_of(old) == source_motion


def test_the_operator_takes_the_other_selected_armature_or_a_file() -> None:
    (source,) = load(CLIP)
    with bpy.data.libraries.load(str(DATA / "rigs" / "odd_random_rolls_apose.blend")) as (there, wanted):
        wanted.objects = list(there.objects)
    rig = next(object for object in wanted.objects if object.type == "ARMATURE")
    context.scene.collection.objects.link(rig)
    source.select_set(True)
    context.view_layer.objects.active = rig
    rig.select_set(True)
    assert bpy.ops.poise.retarget(plant=False) == {"FINISHED"}
    assert rig.animation_data.action.name == f"{rig.name} cmu_07_12"
    source.select_set(False)
    with pytest.raises(RuntimeError, match="Select one other armature"):
        bpy.ops.poise.retarget()
    before = contents()["ids"]
    assert bpy.ops.poise.retarget(filepath=str(CLIP), plant=False) == {"FINISHED"}
    assert len(contents()["ids"]) == len(before) + 1
    assert context.view_layer.objects.active == rig


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clip.txt", "is not a motion file"), ("none.bvh", "There is no file"), ("none", "There is no file"),
        ("bad.bvh", "There is no armature with a motion"),
    ],
)  # fmt: skip
def test_a_file_without_a_motion_is_refused_and_leaves_nothing(
    tmp_path: Path, name: str, message: str, capsys: Any
) -> None:
    load(DATA / "rigs" / "odd_random_rolls_apose.blend")
    (tmp_path / "bad.bvh").write_text("HIERARCHY nonsense", encoding="utf-8")
    (tmp_path / "clip.txt").write_text("", encoding="utf-8")
    before = contents()
    assert commands.run(["retarget", "--motion", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err
    assert contents() == before


@pytest.mark.parametrize("fk", [0.0, 1.0])
def test_controls_bring_a_body_that_they_lead(fk: float) -> None:
    path = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"
    if not path.is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    rig = next(object for object in load(path) if object.name == "rig")
    put_on_fk(rig, fk)
    with imported(context, CLIP) as (source, _):
        there = body(source)
        edit = Retargeted(context, rig, source, (20, 24), plant=False)
    wanted = directions(*there)[:, 20 - FRAMES[0] : 25 - FRAMES[0]]
    edit.solve()
    edit.write(rig)
    names = edit.skeleton.names
    ends = [(edit.roles.bones[f"{a}.{side}"], edit.roles.bones[f"{b}.{side}"]) for a, b in SEGMENTS for side in "LR"]
    last = [edit.roles.bones[f"{part}.{side}"] for part in ("hand", "foot") for side in "LR"]
    heads, _ = forward(edit.skeleton, edit.after.pose)
    for place, frame in enumerate(range(20, 25)):
        context.scene.frame_set(frame)
        ways = np.array([rig.pose.bones[names[b]].head - rig.pose.bones[names[a]].head for a, b in ends])
        ways = ways @ body_axes(edit.roles).T / np.linalg.norm(ways, axis=1, keepdims=True)
        assert np.degrees(np.arccos(np.clip((ways * wanted[:, place]).sum(-1), -1.0, 1.0))).max() < (
            1.0 if fk else 15.0
        )  # Rigify's IK shortens limbs by up to 4 %
        shown = np.array([rig.pose.bones[names[bone]].head for bone in last])
        assert np.linalg.norm(shown - heads[place, last], axis=-1).max() < 1e-3 * edit.skeleton.size
    assert not any(curve.data_path.startswith('pose.bones["DEF-') for curve in bridge.motion.active_curves(rig))


def test_leading_controls_tells_how_far_it_is_and_closed_in_the_middle_leaves_all_as_it_was() -> None:
    rig = make_ik_body()
    rig.pose.bones["hips"].location.z = -0.05  # not keyed
    context.view_layer.update()
    with imported(context, CLIP) as (source, _):
        edit = Retargeted(context, rig, source, (20, 24), plant=False)
    edit.solve()
    before, frame = contents(), context.scene.frame_current
    steps = edit.pose_controls(rig)
    assert [next(steps) for _ in range(2)] == [0.2, 0.4]
    assert contents() != before  # it is being tried
    steps.close()
    assert contents() == before
    assert context.scene.frame_current == frame

    done = list(edit.pose_controls(rig))
    assert done == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert contents() == before
    led = edit.control_motion
    edit.write(rig)
    assert edit.control_motion is led  # not once more


def off_by_part(rig: Any, edit: Any) -> dict[str, float]:
    """How far joints are from where the motion has them, at most, in sizes of the body."""
    there, _ = edit.read_frames(rig, slice(None))
    gaps = forward(edit.skeleton, there.pose)[0] - forward(edit.skeleton, edit.after.pose)[0]
    most = np.linalg.norm(gaps, axis=-1).max(axis=0) / edit.skeleton.size
    return {role: float(most[bone]) for role, bone in edit.roles.bones.items() if isinstance(bone, int)}


def test_controls_that_stay_in_most_frames_of_a_motion_stay_where_they_were_led() -> None:
    rig = make_ik_body()
    edit = Generated(context, rig, read_recipe(Path("wave")), 1)
    assert edit.controlled is not None
    edit.solve()
    edit.write(rig)
    off = off_by_part(rig, edit)
    assert max(off[f"{part}.{side}"] for part in ("hand", "forearm", "foot") for side in "LR") < 1e-3


def knees_astray(rig: Any, edit: Any) -> np.ndarray:
    """How far thighs and shins are turned from where the motion has them, (F, 4) degrees."""
    there, _ = edit.read_frames(rig, slice(None))
    seen, wanted = (forward(edit.skeleton, motion.pose)[1] for motion in (there, edit.after))
    legs = [edit.roles.bones[f"{part}.{side}"] for part in ("thigh", "shin") for side in "LR"]
    return np.degrees(rotation.angle_between(seen, wanted))[:, legs]


def bends(edit: Any, motion: Any) -> np.ndarray:
    """How the knees are bent, (F, 2, 3): the axis by the angle in degrees."""
    heads = forward(edit.skeleton, motion.pose)[0]
    legs = np.array([[edit.roles.bones[f"{part}.{side}"] for side in "LR"] for part in ("thigh", "shin", "foot")])
    ways = np.diff(heads[:, legs], axis=1)
    ways /= np.linalg.norm(ways, axis=-1, keepdims=True)
    across = np.cross(ways[:, 0], ways[:, 1])
    sine = np.linalg.norm(across, axis=-1, keepdims=True)
    return across / np.maximum(sine, 1e-12) * np.degrees(np.arctan2(sine, (ways[:, 0] * ways[:, 1]).sum(-1)[..., None]))


LEAST_BEND = 5.6  # degrees: what the model's own limit of IK lets knees be straight


@pytest.mark.parametrize(("rig", "motion"), [("MMD", "jump"), ("MMD", "walk"), ("poles", "walk")])
def test_legs_that_only_ik_leads_stand_as_a_motion_has_them(rig: str, motion: str) -> None:
    """Feet by the targets of IK; knees by where Blender's solver begins, or by poles."""
    body = make_ik_body() if rig == "poles" else load(MIKU)[0]
    if motion == "jump":
        context.scene.render.fps = 10
        edit: Any = Generated(context, body, read_recipe(Path("jump")), 1)
    else:
        if rig == "poles":
            body.pose.bones["upper_arm.L"].location = 0.1, 0.05, 0.0  # as a motion before may leave it
        with imported(context, CLIP) as (source, _):
            edit = Retargeted(context, body, source, (14, 34))
    edit.solve()
    edit.write(body)
    off = off_by_part(body, edit)
    assert max(off[f"{part}.{side}"] for part in ("hand", "forearm", "foot") for side in "LR") < 1.5e-3
    astray = knees_astray(body, edit)
    shown, wanted = (bends(edit, motion) for motion in (edit.read_frames(body, slice(None))[0], edit.after))
    bent = np.linalg.norm(wanted, axis=-1) > LEAST_BEND
    assert astray[np.tile(bent, 2)].max() < (0.1 if rig == "MMD" else 0.2)
    assert np.linalg.norm(shown, axis=-1)[~bent].max(initial=0.0) < LEAST_BEND  # no more than the model's limit asks
    lack = np.linalg.norm(shown - wanted, axis=-1)[~bent]  # which thigh and shin share
    thighs, shins = astray[:, :2][~bent], astray[:, 2:][~bent]
    np.testing.assert_allclose(thighs + shins, lack, atol=0.05)
    np.testing.assert_allclose(thighs, shins, atol=0.25)


def test_knees_on_ik_without_poles_stay_as_solved_with_timed_pins() -> None:
    rig = load(MIKU)[0]
    with imported(context, CLIP) as (source, _):
        edit: Any = Retargeted(context, rig, source, (14, 34), plant=False)
    edit.solve()
    edit.write(rig)
    hips = edit.roles.bones["hips"]
    place = forward(edit.skeleton, edit.after.pose[6])[0][hips] - [0.0, 0.0, 0.1 * edit.skeleton.size]
    for side in "LR":
        pin = add_timed_pin(rig, edit.skeleton.names[edit.roles.bones[f"foot.{side}"]], 14, 34)
        pin.held = "MOTION"
    pin = add_timed_pin(rig, edit.skeleton.names[hips], 20, 24)
    pin.held, pin.position, pin.ease_in, pin.ease_out = "PLACE", place, 4, 4
    for last in (24, 22):  # all of it, and what a change reaches
        pin.end = last
        held = PinnedMotion(context, rig)
        held.solve()
        assert (held.only is None) == (last == 24)
        held.write(rig)
        astray = knees_astray(rig, held)
        assert np.median(astray) < 0.1
        assert astray.max() < 3.0


def test_a_body_that_nothing_known_leads_is_refused_with_the_reason() -> None:
    rig = load(CLIP)[0]
    limit = rig.pose.bones["LeftForeArm"].constraints.new("COPY_ROTATION")
    limit.target, limit.subtarget = rig, "RightForeArm"
    context.view_layer.update()
    before = contents()
    with imported(context, CLIP) as (source, _), pytest.raises(CoreError, match="no controls were detected"):
        Retargeted(context, rig, source, FRAMES)
    assert contents() == before


def test_what_has_no_human_body_is_refused(tmp_path: Path) -> None:
    make_chain(4)
    chain, flat = bpy.data.objects["chain"], tmp_path / "flat.bvh"
    with imported(context, CLIP) as (source, _), pytest.raises(CoreError, match="human bodies"):
        Retargeted(context, chain, source, FRAMES)
    flat.write_text(re.sub("OFFSET.*", "OFFSET 0 0 0", CLIP.read_text(encoding="utf-8")), encoding="utf-8")
    rig = load(RIGS[0])[0]
    with imported(context, flat) as (source, _), pytest.raises(CoreError, match='bones of "flat" have no length'):
        Retargeted(context, rig, source, FRAMES)
