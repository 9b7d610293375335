"""Motion capture as many programs write it: which joints are which parts, and what comes of it on another body."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from core import CoreError, forward
from core.body.detection.families import name_family
from core.body.posture import body_axes
from core.body.roles import BODY, SEGMENTS
from edits.retarget import Retargeted, imported
from tests.blender.core.figure import answer_of, bvh_of, directions_of, joints_of
from tests.blender.core.flavours import FLAVOURS
from tests.blender.rigs import context, load
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

FRAMES = (1, 24)
RETARGETED = (
    "CMU for 3ds Max",
    "Character Creator, along one axis",
    "Ubisoft, along one axis",
    "100STYLE, along one axis",
    "Bandai",
    "SFU",
    "Move, helpers beside joints",
)


def clip(flavour: str, folder: Path) -> Path:
    path = folder / "clip.bvh"
    path.write_text(bvh_of(FLAVOURS[flavour]), encoding="utf-8")
    return path


def parts_of(armature: Any) -> tuple[dict[str, str | list[str]], dict[str, float]]:
    roles, names = bridge.read_roles(armature), armature.data.bones.keys()
    found = {
        role: names[bones] if isinstance(bones, int) else [names[bone] for bone in bones]
        for role, bones in roles.bones.items()
        if role in BODY and bones != ()
    }
    return found, roles.confidence


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_parts_of_every_flavour_are_found(flavour: str, tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):
        (armature,) = load(clip(flavour, tmp_path))
    found, confidence = parts_of(armature)
    wanted = answer_of(FLAVOURS[flavour])
    assert found == {role: bones for role, bones in wanted.items() if role in BODY}
    assert min(confidence[role] for role in found) >= 0.8


def test_known_names_are_named() -> None:
    named = {flavour: name_family([joint.name for joint in joints_of(FLAVOURS[flavour])]) for flavour in FLAVOURS}
    assert named == {
        "CMU for MotionBuilder": "CMU",
        "CMU for 3ds Max": "CMU",
        "CMU, hip joints without length": "CMU",
        "cgspeed for Daz": "Poser and Daz",
        "Character Creator, along one axis": "Character Creator",
        "Ubisoft, along one axis": "MotionBuilder",
        "Mixamo": "Mixamo",
        "Rokoko": "Rokoko",
        "Xsens": "Biovision",
        "100STYLE, along one axis": "Biovision",
        "Bandai": "Bandai Namco",
        "meshes among the joints": "MotionBuilder",
        "OptiTrack": "MotionBuilder",
        "Perception Neuron": "Perception Neuron",
        "Perception Neuron 3, along one axis": "MotionBuilder",
        "HumanIK": "MotionBuilder",
        "Biped of 3ds Max": "3ds Max Biped",
        "BVH of Character Studio": "Biovision",
        "Daz Genesis 8": "Daz Genesis 8",
        "SFU": "MotionBuilder",
        "Unreal": "Unreal",
        "SMPL": "SMPL",
        "Kinect": "Kinect",
        "Move, helpers beside joints": "MotionBuilder",
    }
    assert name_family([f"b{number}" for number in range(20)]) == ""


@pytest.mark.parametrize("flavour", RETARGETED)
def test_the_limbs_of_another_body_point_as_those_of_the_figure(flavour: str, tmp_path: Path) -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    context.scene.render.fps = 24
    with redirect_stdout(io.StringIO()), imported(context, clip(flavour, tmp_path)) as (source, _):
        edit = Retargeted(context, rig, source, FRAMES, plant=False)
    heads = forward(edit.rig.skeleton, edit.after.pose)[0]
    ways = np.array([heads[:, edit.roles.bone(lower)] - heads[:, edit.roles.bone(upper)] for upper, lower in SEGMENTS])
    ways = ways @ body_axes(edit.roles).T / np.linalg.norm(ways, axis=-1, keepdims=True)
    apart = np.degrees(np.arccos(np.clip(np.sum(ways * directions_of(FLAVOURS[flavour]), axis=-1), -1.0, 1.0)))
    assert apart.max() < 1.0


def test_what_goes_by_the_rest_pose_says_that_it_shows_no_body(tmp_path: Path) -> None:
    with redirect_stdout(io.StringIO()):
        (armature,) = load(clip("Ubisoft, along one axis", tmp_path))
    bridge.read_roles(armature).require("hips")  # the motion shows it
    with pytest.raises(CoreError, match="No body can be detected in the rest pose: all bones point the same way"):
        bridge.read_roles(armature, bridge.read_rig(armature).skeleton).require("hips")
