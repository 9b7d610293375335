"""Clips of every kind, made by Blender's exporters or by a format's published description, as Blender shows them."""

import json
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

import bridge
import commands
from core import CoreError
from core.formats.smpl import read_smpl
from edits import clips
from edits.clips import ClipOptions
from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load
from tests.paths import DATA, ROOT, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
FRAMES = 5
RATE = 24.0  # of an empty file

# The joints of SMPL in their order, each with its parent (Loper et al. 2015); then those of the hands of SMPL+H
PARENTS = {
    "pelvis": "", "left_hip": "pelvis", "right_hip": "pelvis", "spine1": "pelvis", "left_knee": "left_hip",
    "right_knee": "right_hip", "spine2": "spine1", "left_ankle": "left_knee", "right_ankle": "right_knee",
    "spine3": "spine2", "left_foot": "left_ankle", "right_foot": "right_ankle", "neck": "spine3",
    "left_collar": "spine3", "right_collar": "spine3", "head": "neck", "left_shoulder": "left_collar",
    "right_shoulder": "right_collar", "left_elbow": "left_shoulder", "right_elbow": "right_shoulder",
    "left_wrist": "left_elbow", "right_wrist": "right_elbow",
}  # fmt: skip
HANDS = {
    f"{side}_{finger}{n}": f"{side}_{finger}{n - 1}" if n > 1 else f"{side}_wrist"
    for side in ("left", "right")
    for finger in ("index", "middle", "pinky", "ring", "thumb")
    for n in (1, 2, 3)
}
# From the axes of a file to Blender's, by the axis that is up
TO_BLENDER = {
    "+Z": Matrix.Identity(3),
    "+Y": Matrix.Rotation(np.pi / 2, 3, "X"),
    "-Y": Matrix.Rotation(-np.pi / 2, 3, "X"),
}
BODY = TO_BLENDER["+Y"]  # the axes of the rest pose


def turn(vector: np.ndarray) -> Matrix:
    """The matrix of a rotation vector, by Blender."""
    angle = float(np.linalg.norm(vector))
    return Matrix.Rotation(angle, 3, Vector(vector.tolist())) if angle else Matrix.Identity(3)


def random_turns(up: str, joints: int) -> np.ndarray:
    """Rotation vectors (F, J, 3) of a body that stands upright in axes of which this one is up."""
    turns = np.random.default_rng(2).normal(0.0, 0.3, (FRAMES, joints, 3))
    for frame in range(FRAMES):
        upright = TO_BLENDER[up].inverted() @ BODY @ turn(turns[frame, 0])
        axis, angle = upright.to_quaternion().to_axis_angle()
        turns[frame, 0] = np.array(axis) * angle
    return turns.astype(np.float32)


WAY = np.random.default_rng(3).normal(0.0, 0.1, (FRAMES, 3)).astype(np.float32)


def amass() -> tuple[str, dict[str, Any], np.ndarray]:
    turns = random_turns("+Z", 52)
    return "+Z", {
        "poses": turns.reshape(FRAMES, -1), "trans": WAY, "betas": np.zeros(16), "dmpls": np.zeros((FRAMES, 8)),
        "gender": "female", "mocap_framerate": RATE,
    }, turns  # fmt: skip


def amass_of_parts() -> tuple[str, dict[str, Any], np.ndarray]:
    """SMPL-X as AMASS has it, which names parts as well."""
    turns = random_turns("+Z", 52)
    parts = {"root_orient": turns[:, 0], "pose_body": turns[:, 1:22], "pose_hand": turns[:, 22:]}
    whole = np.concatenate([turns[:, :22], np.ones((FRAMES, 3, 3)), turns[:, 22:]], axis=1)  # with jaw and eyes
    return "+Z", {
        **{name: part.reshape(FRAMES, -1) for name, part in parts.items()}, "trans": WAY, "mocap_frame_rate": RATE,
        "surface_model_type": "smplx", "poses": whole.reshape(FRAMES, -1), "gender": "neutral", "betas": np.zeros(16),
        "num_betas": 16, "pose_jaw": np.ones((FRAMES, 3)), "pose_eye": np.ones((FRAMES, 6)),
        "mocap_time_length": FRAMES / RATE, "markers_latent": np.zeros((67, 3)), "latent_labels": object_array(),
    }, turns  # fmt: skip


def gvhmr() -> tuple[str, dict[str, Any], np.ndarray]:
    turns = random_turns("+Y", 22)
    return "+Y", {
        "global_orient": turns[:, 0], "body_pose": turns[:, 1:].reshape(FRAMES, -1), "transl": WAY,
        "betas": np.zeros((FRAMES, 10)), "fps": RATE,
    }, turns  # fmt: skip


def wham() -> tuple[str, dict[str, Any], np.ndarray]:
    """Of SMPL, with the two joints in its hands, once in the camera's axes and once in the world's."""
    turns, other = random_turns("+Y", 24), random_turns("-Y", 24)
    return "+Y", {
        "pose": other.reshape(FRAMES, -1), "pose_world": turns.reshape(FRAMES, -1), "trans": np.zeros((FRAMES, 3)),
        "trans_world": WAY, "fps": RATE,
    }, turns[:, :22]  # fmt: skip


def smpler_x() -> tuple[str, dict[str, Any], np.ndarray]:
    """In the camera's axes: Y goes down."""
    turns = random_turns("-Y", 52)
    return "-Y", {
        "global_orient": turns[:, :1], "body_pose": turns[:, 1:22], "left_hand_pose": turns[:, 22:37],
        "right_hand_pose": turns[:, 37:].reshape(FRAMES, -1), "jaw_pose": np.zeros((FRAMES, 3)), "transl": WAY[:, None],
        "fps": RATE,
    }, turns  # fmt: skip


def matrices() -> tuple[str, dict[str, Any], np.ndarray]:
    turns = random_turns("+Y", 22)
    found = np.array([[np.array(turn(one)) for one in frame] for frame in turns])
    return "+Y", {"global_orient": found[:, :1], "body_pose": found[:, 1:], "transl": WAY, "fps": RATE}, turns


@pytest.mark.parametrize("make", [amass, amass_of_parts, gvhmr, wham, smpler_x, matrices], ids=lambda one: one.__name__)
def test_joints_of_smpl_turn_as_the_file_says(make: Any, tmp_path: Path) -> None:
    up, arrays, turns = make()
    path = tmp_path / "take.npz"
    np.savez(path, **arrays)
    parents = PARENTS | (HANDS if turns.shape[1] > 22 else {})
    with imported(context, path) as (source, takes):
        assert takes == ["take"]
        assert set(source.pose.bones.keys()) == set(parents)
        assert bridge.keyed_range(source) == (1, FRAMES)
        heads = []
        for frame in range(FRAMES):
            context.scene.frame_set(frame + 1)
            found: dict[str, Matrix] = {"": Matrix.Identity(3)}
            for joint, (name, parent) in enumerate(parents.items()):
                found[name] = found[parent] @ turn(turns[frame, joint])
                bone = source.pose.bones[name]
                seen = (bone.matrix @ bone.bone.matrix_local.inverted()).to_3x3()
                wanted = TO_BLENDER[up] @ found[name] @ BODY.inverted()
                np.testing.assert_allclose(np.array(seen), np.array(wanted), atol=2e-5, err_msg=name)
            heads.append(np.array(source.pose.bones["pelvis"].head))
        moved = (WAY - WAY[0]) @ np.array(TO_BLENDER[up]).T
        np.testing.assert_allclose(np.array(heads) - heads[0], moved, atol=1e-5)


def test_the_axis_that_is_up_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "lies.npz"
    np.savez(path, poses=np.zeros((2, 72)), trans=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    rises = []
    for up in (None, "+Z"):
        with imported(context, path, options=ClipOptions(up)) as (source, _):
            places = []
            for frame in bridge.keyed_range(source):
                context.scene.frame_set(frame)
                places.append(source.pose.bones["pelvis"].head.z)
            rises.append(places[1] - places[0])
    np.testing.assert_allclose(rises, [0.0, 1.0], atol=1e-6)


def test_the_unit_of_the_way_can_be_said(tmp_path: Path) -> None:
    """A walk of 1.5 m/s in centimetres, and in millimetres."""
    way, places = np.array([[0.0, 0.0, 0.95], [0.0, 0.05, 0.95]]), []
    for unit, size in (("m", 1.0), ("cm", 100.0), ("mm", 1000.0)):
        path = tmp_path / f"{unit}.npz"
        np.savez(path, poses=np.zeros((2, 72)), trans=way * size)
        with imported(context, path, options=ClipOptions("+Z", unit=unit)) as (source, _):
            context.scene.frame_set(2)
            places.append(np.array(source.pose.bones["pelvis"].head))
    np.testing.assert_allclose(places[1:], [places[0]] * 2, atol=1e-6)


@pytest.mark.parametrize("joints", [24, 52, 55])
def test_a_body_model_brings_its_proportions(joints: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(joints)
    regressor, template = rng.random((joints, 80)), rng.normal(0.0, 0.02, (80, 3))
    shapes, betas = rng.normal(0.0, 0.01, (80, 3, 4)), rng.normal(0.0, 1.0, 3)
    model = {"J_regressor": regressor, "v_template": template, "shapedirs": shapes, "f": np.zeros((9, 3), np.uint32)}
    np.savez(tmp_path / "model.npz", weights=np.array([None]), **model)  # an object, which is not read
    path = tmp_path / "take.npz"
    count = 66 if joints == 24 else 3 * joints
    np.savez(path, poses=np.zeros((2, count)), betas=betas)
    places = regressor @ (template + shapes[..., :3] @ betas)
    names = [*PARENTS, *["" for _ in range(joints - 22 - 30)], *HANDS][:joints]
    with imported(context, path, options=ClipOptions(body_model=tmp_path / "model.npz")) as (source, _):
        for name, place in zip(names, places, strict=True):
            if name and name in source.data.bones:
                wanted = BODY @ Vector((place - places[0]).tolist())
                found = source.data.bones[name].head_local - source.data.bones["pelvis"].head_local
                np.testing.assert_allclose(found, wanted, atol=2e-5, err_msg=name)


def test_a_motion_of_smpl_keeps_its_speed_on_another_body(tmp_path: Path) -> None:
    turns = np.zeros((121, 52, 3))
    turns[:, 16, 1] = np.linspace(0.0, -1.0, 121)  # the left arm goes forward
    np.savez(tmp_path / "wave.npz", poses=turns.reshape(121, -1), trans=np.zeros((121, 3)), mocap_framerate=120.0)
    out = tmp_path / "out.blend"
    line = ["retarget", "--motion", tmp_path / "wave.npz", "--blend", RIG, "--output", out]
    assert commands.run([str(one) for one in line]) == 0
    rig = load(out)[0]
    fps = context.scene.render.fps
    assert bridge.keyed_range(rig) == (1, 1 + fps)
    context.scene.frame_set(1 + fps)
    bones = rig.pose.bones
    way = (
        rig.matrix_world.to_3x3() @ (bones["mixamorig:LeftForeArm"].head - bones["mixamorig:LeftArm"].head)
    ).normalized()
    angle = np.degrees(np.arctan2(-way.y, way.x))  # it faces -Y, its left is +X
    assert angle == pytest.approx(np.degrees(1.0), abs=6.0)  # the neutral arm is so far from straight


def object_array() -> np.ndarray:
    return np.array([{"a": 1}], dtype=object)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"points": np.zeros((2, 3))}, 'none of them is called "pose_world" or "poses"'),
        ({"poses": np.zeros((2, 70))}, "it needs 66 or 72 or 156 or 165 numbers for each of 2 frames"),
        ({"poses": np.zeros((0, 72))}, "numbers for each of 0 frames"),
        ({"poses": np.full((2, 72), np.nan)}, '"poses" contains numbers that are not finite'),
        ({"poses": np.full((2, 72), 90.0)}, '"poses" contains numbers outside of'),
        ({"poses": np.array(["a"] * 72)}, '"poses" is not an array of numbers'),
        ({"poses": object_array()}, "without running code from it"),
        ({"poses": np.zeros((2, 72), complex)}, "has complex numbers"),
        (
            {"poses": np.zeros((2, 72)), "trans": np.zeros((3, 3))},
            '"trans" has the shape (3, 3); it needs x, y and z',
        ),
        (
            {"poses": np.zeros((2, 72)), "trans": np.zeros((3, 2))},
            '"trans" has the shape (3, 2); it needs x, y and z',
        ),
        (
            {"poses": np.zeros((2, 72)), "trans": np.full((2, 3), np.nan)},
            '"trans" contains numbers that are not finite',
        ),
        (
            {"poses": np.zeros((2, 72)), "trans": [(0, 0, 90), (0, 4, 90)]},
            "moves the body by 120 meters per second. Choose another unit",
        ),
        (
            {"poses": np.zeros((2, 72)), "mocap_framerate": 0.0},
            '"mocap_framerate" must be the number of frames per sec',
        ),
        ({"global_orient": np.zeros((2, 3)), "body_pose": np.zeros((2, 60))}, "it needs 63 or 69 numbers"),
        ({"global_orient": np.zeros((2, 3)), "left_hand_pose": np.zeros((2, 6))}, "it needs 45 numbers"),
    ],
)
def test_a_file_that_is_no_motion_of_smpl_is_refused(arrays: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    before = set(bpy.data.user_map())
    np.savez(tmp_path / "bad.npz", **arrays)
    with (
        pytest.raises(CoreError, match=r'"bad\.npz" cannot be read; ') as said,
        imported(context, tmp_path / "bad.npz"),
    ):
        pass
    assert sentence in str(said.value)
    assert set(bpy.data.user_map()) == before
    whole = (tmp_path / "bad.npz").read_bytes()
    with pytest.raises(CoreError, match="The file is damaged"):
        read_smpl(whole[: len(whole) // 2])


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            {"v_template": np.zeros((9, 3))},
            '"model.npz" is not a body model; The file has the arrays v_template, but none',
        ),
        ({"J_regressor": np.zeros((24, 9)), "v_template": np.zeros((8, 3))}, "for a body with 52 joints"),
        ({"J_regressor": np.zeros((24, 8)), "v_template": np.zeros((8, 3))}, "for a body with 52 joints"),
        ({"J_regressor": np.zeros((52, 8)), "v_template": np.zeros((8, 3))}, "The body model has no"),
        ({"J_regressor": object_array()}, "without running code from it"),
    ],
)
def test_a_file_that_is_no_body_model_is_refused(model: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "take.npz", poses=np.zeros((2, 156)), betas=np.zeros(10))
    np.savez(tmp_path / "model.npz", **model)
    options = ClipOptions(body_model=tmp_path / "model.npz")
    with pytest.raises(CoreError) as said, imported(context, tmp_path / "take.npz", options=options):
        pass
    assert sentence in str(said.value)


def heads(armature: Any, names: Any) -> np.ndarray:
    return np.array([(armature.matrix_world @ armature.pose.bones[name].head)[:] for name in names])


def walk() -> Any:
    """A figure that walks, alone in the file, at 30 frames a second."""
    context.scene.render.fps = 30
    (rig,) = load(CLIP)
    context.scene.frame_start, context.scene.frame_end = bridge.keyed_range(rig)
    return rig


def export(path: Path) -> None:
    if path.suffix == ".fbx":
        bpy.ops.export_scene.fbx(
            filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0, bake_anim_use_nla_strips=False
        )
    else:
        bpy.ops.wm.usd_export(filepath=str(path), export_animation=True)


@pytest.mark.parametrize(
    ("kind", "fps"), [(".usda", 30), (".usda", 60), (".usdc", 60), (".usdz", 60), (".fbx", 30), (".fbx", 60)]
)
def test_what_blender_exported_comes_back_at_its_speed(kind: str, fps: int, tmp_path: Path) -> None:
    rig = walk()
    frames, names = (1, 20, 45), rig.pose.bones.keys()
    truth = []
    for frame in frames:
        context.scene.frame_set(frame)
        truth.append(heads(rig, names))
    path = tmp_path / f"it's a walk{kind}"
    export(path)
    bpy.data.objects.remove(rig)
    scene = context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = fps, 7, 99
    scene.frame_set(12)
    with imported(context, path) as (source, _):
        assert (scene.render.fps, scene.frame_start, scene.frame_end, scene.frame_current) == (fps, 7, 99, 12)
        for frame, wanted in zip(frames, truth, strict=True):
            scene.frame_set(1 + (frame - 1) * fps // 30)
            np.testing.assert_allclose(heads(source, names), wanted, atol=2e-4 * np.abs(wanted).max())


VRM = {
    "Hips": "hips", "LowerBack": "spine", "Spine": "chest", "Spine1": "upperChest", "Neck1": "neck", "Head": "head",
    **{f"{a}{name}": f"{a.lower()}{human}" for a in ("Left", "Right") for name, human in (
        ("Shoulder", "Shoulder"), ("Arm", "UpperArm"), ("ForeArm", "LowerArm"), ("Hand", "Hand"), ("UpLeg", "UpperLeg"),
        ("Leg", "LowerLeg"), ("Foot", "Foot"), ("ToeBase", "Toes"),
    )},
}  # fmt: skip


def with_extension(data: bytes, change: Any) -> bytes:
    """A binary glTF file whose JSON is changed, packed again as glTF 2.0 says."""
    length = struct.unpack_from("<I", data, 12)[0]
    root = json.loads(data[20 : 20 + length])
    change(root)
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    return b"glTF" + struct.pack("<III", 2, 20 + len(text) + len(rest), len(text)) + b"JSON" + text + rest


def vrma_of_walk(path: Path, names: dict[str, str] = VRM) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Write a VRM Animation by Blender's exporter, and return where the heads of its bones are at some frames."""
    rig = walk()
    frames = (1, 20, 45)
    truth = []
    for frame in frames:
        context.scene.frame_set(frame)
        truth.append(heads(rig, names))
    made = path.with_suffix(".glb")
    bpy.ops.export_scene.gltf(
        filepath=str(made), export_format="GLB", export_frame_range=True, export_animation_mode="ACTIVE_ACTIONS"
    )

    def name_bones(root: Any) -> None:
        places = {node["name"]: number for number, node in enumerate(root["nodes"])}
        bones = {human: {"node": places[name]} for name, human in names.items()}
        root["extensions"] = {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
        root.setdefault("extensionsUsed", []).append("VRMC_vrm_animation")
        for number, node in enumerate(root["nodes"]):
            node["name"] = f"hand.L {number}"  # names say nothing

    path.write_bytes(with_extension(made.read_bytes(), name_bones))
    bpy.data.objects.remove(rig)
    return truth, frames


def test_a_vrm_animation_is_read_by_the_bones_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "walk.vrma"
    truth, frames = vrma_of_walk(path)
    with imported(context, path) as (source, _):
        for frame, wanted in zip(frames, truth, strict=True):
            context.scene.frame_set(frame)
            np.testing.assert_allclose(heads(source, VRM.values()), wanted, atol=1e-4 * np.abs(wanted).max())
        roles = bridge.read_roles(source, bridge.read_rig(source).skeleton)
        assert roles.humanoid
        assert roles.missing == ()
        assert min(roles.confidence.values()) >= 0.8


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda data: data[:10], "it is not a binary glTF file"),
        (lambda data: b'{"asset": {}}', "it is not a binary glTF file"),
        (lambda data: data[:400], "its JSON cannot be read"),
        (lambda data: with_extension(data, lambda root: root.pop("extensions")), "it has no bones of a humanoid"),
        (lambda data: with_extension(data, lambda root: root.pop("nodes")), "its nodes are not a list of objects"),
        (lambda data: with_extension(data, lambda root: root.update(nodes=root["nodes"][:3])), "is not one of its 3"),
    ],
)
def test_a_vrm_animation_that_is_none_is_refused(spoil: Any, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "walk.vrma"
    vrma_of_walk(path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(CoreError, match=r'"walk\.vrma" cannot be read; ') as said, imported(context, path):
        pass
    assert sentence in str(said.value)


@pytest.mark.parametrize("kind", [".usda", ".fbx"])
def test_a_blender_that_is_built_without_an_importer_says_so(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / f"walk{kind}").write_text("#usda 1.0")
    monkeypatch.setattr(clips, "_OPERATORS", SimpleNamespace(wm=SimpleNamespace()))
    with pytest.raises(CoreError, match="this build of Blender has no importer for it"):
        clips.import_motion(tmp_path / f"walk{kind}")


def ends_blender() -> bytes:
    """A text as Blender's exporter writes it, with a type that is none, which its importer does not survive (5.2)."""
    return next((ROOT / "benchmarks" / "robust" / "kept" / "usda").glob("*")).read_bytes()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (".usda", b"#usda 1.0\n("), (".usda", b"nothing of the kind"), (".usda", ends_blender()),
        (".usdc", b"PXR-USDC" + bytes(80)), (".usdz", b""), (".fbx", b""), (".fbx", b"nothing of the kind"),
    ],
)  # fmt: skip
def test_broken_files_for_blender_get_one_sentence(kind: str, data: bytes, tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / f"bad{kind}"
    path.write_bytes(data)
    assert commands.run(["bake", "--blend", str(path)]) == 2
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "bad" in said or "armature" in said


def test_a_captured_walk_as_smpl_points_every_limb_as_its_subject_did(tmp_path: Path) -> None:
    """The subject's joints in a T-pose are the body model; how it walks is computed here, by Blender's matrices."""
    folder = SHARED / "motion"
    if not (folder / "cmu_mb_val.npz").is_file():
        pytest.skip("the larger test data (../shared/data) is not here")
    pack = np.load(folder / "cmu_mb_val.npz")
    known = json.loads((folder / "canonical_joints.json").read_text())["cmu_mb"]
    sides = {"left_": "l_", "right_": "r_"}
    others = {"collar": "clavicle", "foot": "toe"}
    parents, offsets = pack["parents"].tolist(), pack["offsets"][pack["skeleton"][0]]
    places = dict[str, int]()
    for name in PARENTS:
        side, plain = next(((side, name.removeprefix(side)) for side in sides if name.startswith(side)), ("", name))
        places[name] = pack["names"].tolist().index(known[sides.get(side, "") + others.get(plain, plain)])
    rows = pack["rot"][pack["start"][0] : pack["start"][1] : 10] / 32767.0
    figures = []  # of each frame the joints' world rotations and heads
    for row in (np.tile([1.0, 0.0, 0.0, 0.0], (len(parents), 1)), *rows):
        turned, placed = list[Matrix](), list[Vector]()
        for joint, parent in enumerate(parents):
            own = Quaternion(row[joint].tolist()).to_matrix()
            turned.append(turned[parent] @ own if parent >= 0 else own)
            offset = Vector(offsets[joint].tolist())
            placed.append(placed[parent] + turned[parent] @ offset if parent >= 0 else Vector())
        figures.append((turned, placed))
    turns = np.zeros((len(rows), 24, 3))
    for frame, (turned, _) in enumerate(figures[1:]):
        for joint, (name, parent) in enumerate(PARENTS.items()):
            above = turned[places[parent]].inverted() if parent else Matrix.Identity(3)
            axis, angle = (above @ turned[places[name]]).to_quaternion().to_axis_angle()
            turns[frame, joint] = np.array(axis) * angle
    np.savez(tmp_path / "walk.npz", poses=turns.reshape(len(rows), 72), fps=RATE)
    rest = np.array([figures[0][1][place] for place in places.values()])
    np.savez(tmp_path / "model.npz", J_regressor=np.eye(24, 22), v_template=rest)
    rig = load(RIG)[0]
    context.scene.render.fps = round(RATE)
    with imported(context, tmp_path / "walk.npz", options=ClipOptions(None, tmp_path / "model.npz")) as (source, _):
        edit = Retargeted(context, rig, source, plant=False)
    edit.solve()
    edit.write(rig)
    segments = {("shoulder", "elbow"): ("Arm", "ForeArm"), ("elbow", "wrist"): ("ForeArm", "Hand"),
                ("hip", "knee"): ("UpLeg", "Leg"), ("knee", "ankle"): ("Leg", "Foot")}  # fmt: skip
    for frame, (_, placed) in enumerate(figures[1:]):
        context.scene.frame_set(frame + 1)
        for (upper, lower), bones in segments.items():
            for side in ("left", "right"):
                wanted = BODY @ (placed[places[f"{side}_{lower}"]] - placed[places[f"{side}_{upper}"]])
                a, b = (rig.pose.bones[f"mixamorig:{side.title()}{bone}"].head for bone in bones)
                assert np.degrees((rig.matrix_world.to_3x3() @ (b - a)).angle(wanted)) < 0.1
