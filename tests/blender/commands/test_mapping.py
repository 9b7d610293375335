"""Verbs ask which bones are which parts where they would have to guess, and take the answer as a mapping."""

import json
from pathlib import Path

import pytest

import bridge
import commands
from commands.verbs import REFUSED
from tests.blender.commands.rigs import Run
from tests.blender.core.figure import Flavour, bvh_of
from tests.blender.core.flavours import FLAVOURS
from tests.blender.rigs import contents, load
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

BODY = DATA / "rigs" / "named_mixamo_cm.blend"
LEG = ("thigh", "~thigh_twist", "shin", "~shin_twist", "foot", "toe")
ARM = ("shoulder", "upper_arm", "~arm_twist", "forearm", "~wrist_twist", "hand")
JOINTS = (  # depth, what of the side is in its name, point of the figure
    (0, "", "hips"),
    *((1 + number, "{1}", key) for number, key in enumerate(LEG)),
    *((1 + number, "", key) for number, key in enumerate(("spine", "spine2", "spine3", "neck", "head"))),
    *((4 + number, "{1}", key) for number, key in enumerate(ARM)),
)
VERBS = (
    "info",
    "solve",
    "body",
    "contribute",
    "keypoints",
    "lock-feet",
    "generate",
    "retarget",
    "reduce-keys",
    "bake",
    "edit-path",
)


@pytest.fixture
def nameless(tmp_path: Path) -> Path:
    """A clip whose joints are numbered, with one more amid each segment of the limbs: shape alone tells its parts."""
    names = [f"{' ' * depth}j{number}{side} {key}" for number, (depth, side, key) in enumerate(JOINTS)]
    path = tmp_path / "nameless.bvh"
    path.write_text(bvh_of(Flavour("\n".join(names), sides=("a", "b"))), encoding="utf-8")
    return path


def mapping_of(clip: Path, folder: Path) -> Path:
    """A file with the parts as `info` prints them."""
    printed = folder / "info.json"
    assert commands.run(["info", "--blend", str(clip), "--json", str(printed)]) == 0
    parts = json.loads(printed.read_text(encoding="utf-8"))["armatures"][0]["roles"]
    path = folder / "mapping.json"
    path.write_text(json.dumps({"version": 1, "roles": parts}), encoding="utf-8")
    return path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_a_mapping(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run([verb, "--help"]) == 0
    assert "--mapping FILE" in capsys.readouterr().out


def test_a_guessed_part_is_asked_about_and_a_mapping_answers(run: Run, nameless: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.blend"
    wave = ("generate", "--recipe", "wave.json", "--blend", nameless, "--output", out)
    code, _, error = run(*wave)
    assert code == REFUSED
    assert 'of "nameless" is hips. Assign it and 19 other parts in Rig > Parts' in error
    assert not out.exists()
    mapping = mapping_of(nameless, tmp_path)
    code, _, error = run(
        "generate", "--recipe", "wave.json", "--blend", nameless, "--mapping", mapping, "--output", out
    )
    assert code == 0, error
    assert out.exists()


def test_a_mapping_says_the_parts_of_the_clip_that_is_brought(run: Run, nameless: Path, tmp_path: Path) -> None:
    load(BODY)
    before = contents()
    code, _, error = run("retarget", "--motion", nameless)
    assert (code, contents()) == (REFUSED, before)
    assert '"nameless" is hips' in error
    mapping = mapping_of(nameless, tmp_path)
    (rig,) = load(BODY)
    code, report, error = run("retarget", "--motion", nameless, "--mapping", mapping, "--json")
    assert report["armature"] == rig.name, error
    assert not bridge.read_corrections(rig)  # the mapping is not about it


def test_a_mapping_for_other_bones_is_refused(run: Run, tmp_path: Path) -> None:
    load(BODY)
    path = tmp_path / "other.json"
    path.write_text('{"version": 1, "roles": {"hips": "Becken"}}', encoding="utf-8")
    before = contents()
    code, _, error = run("info", "--mapping", path)
    assert (code, contents()) == (REFUSED, before)
    assert 'hips: "Armature" has no bone "Becken".' in error


def test_verbs_that_need_a_rest_pose_say_that_this_one_shows_no_body(run: Run, tmp_path: Path) -> None:
    clip = tmp_path / "clip.bvh"
    clip.write_text(bvh_of(FLAVOURS["Ubisoft, along one axis"]), encoding="utf-8")
    for verb in (("lock-feet",), ("edit-path", "--scale", "1.1"), ("generate", "--recipe", "wave.json")):
        code, _, error = run(*verb, "--blend", clip)
        assert code == REFUSED
        assert 'No body can be detected in the rest pose of "clip": all bones point the same way.' in error
    code, _, error = run("info", "--blend", clip)
    assert code == 0
    assert "a human body facing -Y, rest pose folded, MotionBuilder names" in error
