"""VRM Animations that Poise writes, as Blender's importer of glTF shows them and as the specification wants them."""

import json
import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
import commands
from core import CoreError
from edits.retarget import Retargeted, imported
from edits.vrm_animation import export_vrma
from tests.blender.commands.rigs import check_told
from tests.blender.rigs import context, load, make_chain, select
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
PARTS = {
    "hips": "hips", "head": "head",
    **{f"{side}{human}": f"{part}.{side[0].upper()}" for side in ("left", "right") for human, part in (
        ("UpperArm", "upper_arm"), ("LowerArm", "forearm"), ("Hand", "hand"), ("UpperLeg", "thigh"),
        ("LowerLeg", "shin"), ("Foot", "foot"), ("Toes", "toe"),
    )},
}  # fmt: skip
# https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md
NEEDED = {name for name in PARTS if not name.endswith("Toes")} | {"spine"}
PARENTS = {"chest": "spine", "upperChest": "chest", "leftThumbProximal": "leftThumbMetacarpal"}


def moving(path: Path) -> Any:
    """A rig that walks, 30 frames a second."""
    rig = load(path)[0]
    context.scene.render.fps = 30
    if path != CLIP:
        with imported(context, CLIP) as (source, _):
            edit = Retargeted(context, rig, source, (2, 40), plant=False)
        edit.solve()
        edit.write(rig)
    return rig


def seen(rig: Any, names: Any) -> np.ndarray:
    """Heads of bones in the world."""
    return np.array([(rig.matrix_world @ rig.pose.bones[name].head)[:] for name in names])


def parsed(data: bytes) -> tuple[Any, bytes]:
    magic, version, size, length, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, size, kind) == (b"glTF", 2, len(data), b"JSON")
    return json.loads(data[20 : 20 + length]), data[28 + length :]


@pytest.mark.parametrize(
    "path",
    [
        CLIP,
        DATA / "rigs" / "named_mixamo_cm.blend",
        DATA / "rigs" / "odd_random_rolls_apose.blend",
        SHARED / "rigs" / "real" / "vrm_example.vrm",
    ],
    ids=lambda path: path.stem,
)
def test_limbs_are_where_they_were(path: Path, tmp_path: Path) -> None:
    rig = moving(path)
    skeleton = bridge.read_rig(rig).skeleton
    roles = bridge.read_roles(rig, skeleton)
    parts = {human: role for human, role in PARTS.items() if role in roles.bones}
    names = [skeleton.names[roles.bones[role]] for role in parts.values()]
    first, last = bridge.keyed_range(rig)
    frames = np.unique(np.linspace(first, last, 6).round().astype(int)).tolist()
    truth, found = [], []
    for frame in frames:
        context.scene.frame_set(frame)
        truth.append(seen(rig, names))
    file = tmp_path / "walk.vrma"
    file.write_bytes(export_vrma(rig, (first, last)))
    with imported(context, file) as (source, _):
        for frame in frames:
            context.scene.frame_set(frame - first)
            found.append(seen(source, parts))
    place = {role: number for number, role in enumerate(parts.values())}
    off = np.array(found) - truth
    off -= off[0, place["hips"]]  # in the file the ground is at 0, and the first frame where the armature is
    leg = np.linalg.norm(truth[0][place["thigh.L"]] - truth[0][place["foot.L"]])
    body = [number for role, number in place.items() if role[:-2] in ("hi", "thigh", "shin", "foot", "toe")]
    assert np.abs(off[:, body]).max() < 1e-3 * leg
    for side in "LR":  # shoulders hang on a spine of which not all bones are in the file
        arm = [place[f"{part}.{side}"] for part in ("upper_arm", "forearm", "hand")]
        assert np.abs(np.diff(off[:, arm], axis=1)).max() < 1e-3 * leg


def test_the_file_is_as_its_specification_wants_it() -> None:
    rig = moving(SHARED / "rigs" / "real" / "vrm_example.vrm")
    first, last = bridge.keyed_range(rig)
    root, rest = parsed(export_vrma(rig, (first, last)))
    extension = root["extensions"]["VRMC_vrm_animation"]
    assert root["extensionsUsed"] == ["VRMC_vrm_animation"]
    assert extension["specVersion"] == "1.0"
    bones = {name: one["node"] for name, one in extension["humanoid"]["humanBones"].items()}
    assert bones.keys() >= NEEDED
    for name, parent in PARENTS.items():
        assert name not in bones or parent in bones
    assert not {"leftEye", "rightEye"} & bones.keys()
    nodes, (animation,) = root["nodes"], root["animations"]
    assert all("rotation" not in node and "scale" not in node for node in nodes)
    moved = {(c["target"]["node"], c["target"]["path"]) for c in animation["channels"]}
    assert moved == {(node, "rotation") for node in bones.values()} | {(bones["hips"], "translation")}
    places = {bones["hips"]: np.array(nodes[bones["hips"]]["translation"])}
    for number, node in enumerate(nodes):
        for child in node.get("children", ()):
            places[child] = places[number] + nodes[child]["translation"]
    assert len(places) == len(nodes)
    for side, sign in (("left", 1.0), ("right", -1.0)):  # a T-pose that faces +Z
        arm = places[bones[f"{side}Hand"]] - places[bones[f"{side}UpperArm"]]
        np.testing.assert_allclose(arm / np.linalg.norm(arm), [sign, 0.0, 0.0], atol=0.02)
        leg = places[bones[f"{side}Foot"]] - places[bones[f"{side}UpperLeg"]]
        np.testing.assert_allclose(leg / np.linalg.norm(leg), [0.0, -1.0, 0.0], atol=0.1)
        assert 0.0 <= places[bones[f"{side}Foot"]][1] < 0.2
    view, time = root["bufferViews"][0], root["accessors"][0]
    times = np.frombuffer(rest, "<f4", time["count"], view["byteOffset"])
    np.testing.assert_allclose(times, np.arange(last - first + 1) / 30, atol=1e-6)
    assert time["min"] == [0.0]
    assert time["max"] == [float(times[-1])]
    assert root["buffers"][0]["byteLength"] == len(rest)


def test_the_verb_and_the_button_write_the_same(tmp_path: Path, capfd: Any) -> None:
    rig = moving(CLIP)
    select(rig, [])
    before = set(bpy.data.user_map())
    assert bpy.ops.poise.export_vrma(filepath=str(tmp_path / "button.vrma")) == {"FINISHED"}
    assert set(bpy.data.user_map()) == before
    line = ["export-vrma", "--blend", str(CLIP), "--file", str(tmp_path / "verb.vrma"), "--json"]
    capfd.readouterr()
    assert commands.run(line) == 0
    data = json.loads(capfd.readouterr().out.strip().splitlines()[-1])
    check_told(line, 0, data)
    assert data["frames"] == list(bridge.keyed_range(bpy.data.objects[data["armature"]]))
    assert (tmp_path / "verb.vrma").read_bytes() == (tmp_path / "button.vrma").read_bytes()
    assert commands.run([*line, "--frames", "1", "10000"]) == 2
    assert "is not within the motion" in capfd.readouterr().err


def test_what_is_no_human_body_is_refused() -> None:
    rig = make_chain(3)
    rig.pose.bones[0].keyframe_insert("rotation_quaternion", frame=1)
    rig.pose.bones[0].keyframe_insert("rotation_quaternion", frame=2)
    with pytest.raises(CoreError, match="No human body was detected"):
        export_vrma(rig, (1, 2))


def test_the_verb_writes_over_no_file_of_another_kind(tmp_path: Path, capfd: Any) -> None:
    other = tmp_path / "mine.blend"
    other.write_bytes(b"mine")
    assert commands.run(["export-vrma", "--blend", str(CLIP), "--file", str(other)]) == 2
    assert 'mine.blend" does not end in ".vrma".' in capfd.readouterr().err
    assert other.read_bytes() == b"mine"
