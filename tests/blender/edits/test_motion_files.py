"""Many motion files on one body, in processes of their own: what comes of each, what stays, and going on."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from core import CoreError
from edits import motion_files
from edits.motion_files import MotionFiles, check_naming, find_motions
from tests.blender.rigs import contents, context, keys_of, load, select
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

CLIP = DATA / "motion" / "cmu_07_12.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
LENGTH = 8  # frames


def write_clip(path: Path, first: int) -> None:
    """A part of the walk."""
    head, _, motion = CLIP.read_text(encoding="utf-8").partition("MOTION\n")
    _, step, *rows = motion.splitlines()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"{head}MOTION", f"Frames: {LENGTH}", step, *rows[first:][:LENGTH]]) + "\n")


def write_takes(path: Path) -> None:
    """An FBX file with two motions."""
    rig = load(RIG)[0]
    head = rig.pose.bones["mixamorig:Head"]
    for name, last in (("nod", 4), ("bow", 6)):
        rig.animation_data_create().action = bpy.data.actions.new(name)
        for frame in (1, last):
            head.rotation_quaternion = 1.0, 0.02 * frame, 0.0, 0.0
            head.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_use_nla_strips=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three walks, one of them in a folder below, and a file that is none."""
    for number, name in enumerate(("a.bvh", "b.bvh", "more/a.bvh")):
        write_clip(tmp_path / "clips" / name, 2 + 12 * number)
    (tmp_path / "clips" / "bad.bvh").write_text("HIERARCHY nonsense", encoding="utf-8")
    (tmp_path / "clips" / "notes.txt").write_text("no motion", encoding="utf-8")
    return tmp_path / "clips"


def open_rig() -> Any:
    """The body, with a motion and a mesh beside it."""
    rig = load(RIG)[0]
    select(rig, [])
    bone = rig.pose.bones[0]
    for frame, x in ((1, 0.0), (9, 0.5)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)
    context.scene.collection.objects.link(bpy.data.objects.new("beside", bpy.data.meshes.new("beside")))
    context.scene.frame_set(5)
    return rig


def without(seen: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """What is in the file but these actions."""
    rest = {**seen, "ids": [id for id in seen["ids"] if id[1] not in names]}
    return rest | {key: {n: v for n, v in seen[key].items() if n not in names} for key in ("actions", "slots")}


def test_every_motion_of_a_folder_becomes_an_action_as_one_by_one_and_a_second_run_goes_on(folder: Path) -> None:
    write_takes(folder / "two.fbx")
    rig = open_rig()
    before = contents()
    names = ["Armature a", "Armature b", "Armature a.001", "Armature two nod", "Armature two bow"]

    assert bpy.ops.poise.retarget_files(directory=str(folder), jobs=2) == {"FINISHED"}
    made = [action for action in bpy.data.actions if action.name in names]
    assert sorted(action.name for action in made) == sorted(names)
    assert all(action.use_fake_user and action.asset_data is None for action in made)
    assert without(contents(), names) == before  # and the armature has the action that it had
    for name, path, take in (
        ("Armature a", "a.bvh", ""),
        ("Armature a.001", "more/a.bvh", ""),
        ("Armature two bow", "two.fbx", "bow"),
    ):
        found = keys_of(bpy.data.actions[name])
        assert bpy.ops.poise.retarget(filepath=str(folder / path), take=take) == {"FINISHED"}
        alone = rig.animation_data.action
        assert [*found.values()] == [*keys_of(alone).values()]
        rig.animation_data.action = bpy.data.actions[name]
        assert rig.animation_data.action_slot is not None  # it is the armature's
        bpy.data.actions.remove(alone)

    bpy.data.actions.remove(bpy.data.actions["Armature b"])
    files = MotionFiles(context, rig, find_motions([folder]))
    for _ in files.work():
        pass
    rows = files.write(context, rig)
    states = {row.file: row.state for row in rows}
    there = dict.fromkeys(("a.bvh", "more/a.bvh", "two.fbx"), "there already")  # of the same name, with their folders
    assert states == {**there, "b.bvh": "done", "bad.bvh": "failed"}
    assert [row.action for row in rows if row.action] == ["Armature b"]
    assert next(row for row in rows if row.file == "bad.bvh").reason.startswith("There is no armature with a motion")


@pytest.mark.long
def test_stopped_in_the_middle_it_keeps_what_is_finished_and_the_next_run_does_the_rest(folder: Path) -> None:
    rig = open_rig()
    before = contents()
    chosen = find_motions([folder / "a.bvh", folder / "b.bvh", folder / "more"])
    files = MotionFiles(context, rig, chosen, ["--no-feet"])
    work = files.work()
    while files.done < 1:
        next(work)
    work.close()
    assert contents() == before
    first = files.write(context, rig, "{number} {file}")
    assert [row.state for row in first] == ["done", "not done", "not done"]

    files = MotionFiles(context, rig, chosen, ["--no-feet"])
    for _ in files.work():
        pass
    rows = files.write(context, rig, "{number} {file}")
    assert [row.state for row in rows] == ["there already", "done", "done"]
    assert [row.action for row in (first[0], *rows[1:])] == ["001 a", "002 b", "003 a"]
    assert without(contents(), ["001 a", "002 b", "003 a"]) == before


def test_parts_of_all_files_go_over_the_motion_that_is_there_from_a_start_on(folder: Path) -> None:
    rig = open_rig()
    own = rig.animation_data.action
    for name in ("a.bvh", "bad.bvh"):
        (folder / name).unlink()
    (folder / "more" / "a.bvh").unlink()
    options = {"parts": {"arm.R", "head"}, "start": 0, "jobs": 1}

    def states() -> list[str]:
        files = MotionFiles(
            context, rig, find_motions([folder]), ["--parts", "arm.R", "head", "--fade=0.3", "--start=0"]
        )
        return [row.state for row in files.write(context, rig)]

    assert bpy.ops.poise.retarget_files(directory=str(folder), **options) == {"FINISHED"}
    made = bpy.data.actions["Armature b"]
    assert rig.animation_data.action == own
    assert states() == ["there already"]
    alone = {"filepath": str(folder / "b.bvh"), "parts": {"arm.R", "head"}, "start": 0}
    assert bpy.ops.poise.retarget(**alone) == {"FINISHED"}
    found = keys_of(rig.animation_data.action)
    one = keys_of(made)
    assert one.keys() == found.keys()
    for curve, keys in found.items():  # to a rounding of single precision: the other process has its own rig
        np.testing.assert_allclose([key[0] for key in one[curve]], [key[0] for key in keys], atol=1e-6)
    assert any("mixamorig:RightArm" in str(curve) for curve in found)
    rig.animation_data.action = own
    rig.pose.bones[0].keyframe_insert("location", frame=20)  # it goes over another motion now
    assert states() == ["not done"]


def test_the_verb_makes_assets_and_strips_and_takes_slashes_for_letters_of_names(folder: Path, tmp_path: Path) -> None:
    output, report = tmp_path / "all.blend", tmp_path / "report.json"
    argv = ["retarget", "--blend", str(RIG), "--no-feet", "--jobs", "1", "--assets", "--strips"]
    argv += ["--names", "../../clip {number:03d}", "--report", str(report), "--output", str(output)]
    assert commands.run([*argv, "--motion", str(folder / "a.bvh"), str(folder / "b.bvh")]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"all.blend", "clips", "report.json"}
    bpy.ops.wm.open_mainfile(filepath=str(output))
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    one, two = names = ("../../clip 001", "../../clip 002")
    actions = [bpy.data.actions[name] for name in names]
    assert all(action.asset_data is not None for action in actions)
    (track,) = rig.animation_data.nla_tracks
    assert [(strip.name, strip.action.name) for strip in track.strips] == [(one, one), (two, two)]
    last = round(1 + (LENGTH - 1) * 24 / 30)  # the file has 24 frames a second
    assert [(strip.frame_start, strip.frame_end) for strip in track.strips] == [(1.0, last), (last + 1, 2 * last)]
    rig.animation_data.action = None

    def hips() -> list[float]:
        return [value for row in rig.pose.bones["mixamorig:Hips"].matrix for value in row]

    for number, action in enumerate(actions):
        context.scene.frame_set(number * last + 5)
        shown = hips()
        rig.animation_data.action, rig.animation_data.use_nla = action, False
        context.scene.frame_set(5)
        assert hips() == pytest.approx(shown, abs=1e-6)
        rig.animation_data.action, rig.animation_data.use_nla = None, True


def test_a_second_run_makes_assets_and_strips_of_what_is_there(folder: Path) -> None:
    rig = open_rig()

    def run(**kept: bool) -> list[str]:
        files = MotionFiles(context, rig, [folder / "a.bvh", folder / "b.bvh"], ["--no-feet"])
        for _ in files.work():
            pass
        return [row.state for row in files.write(context, rig, **kept)]

    assert run() == ["done"] * 2
    actions = [bpy.data.actions[f"Armature {name}"] for name in "ab"]
    assert not any(action.asset_data for action in actions)
    for _ in range(2):
        assert run(assets=True, strips=True) == ["there already"] * 2
        assert all(action.asset_data for action in actions)
        (track,) = rig.animation_data.nla_tracks
        assert [strip.action for strip in track.strips] == actions


def test_several_motions_need_an_output_and_one_makes_no_strips(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    argv = ["retarget", "--blend", str(RIG), "--motion", str(folder / "a.bvh")]
    assert commands.run([*argv, str(folder / "b.bvh")]) == 2
    assert "--output: needed for several motions." in capfd.readouterr().err
    assert commands.run([*argv, "--strips", "--output", str(tmp_path / "one.blend")]) == 2
    assert "only for several motions" in capfd.readouterr().err
    output = tmp_path / "library.blend"
    assert (
        commands.run(
            ["retarget", "--blend", str(RIG), "--motion", str(folder), "--parts", "tail", "--output", str(output)]
        )
        == 2
    )
    assert 'The body has no "tail"' in capfd.readouterr().err
    assert not output.exists()


@pytest.mark.long
def test_after_ctrl_c_the_verb_writes_what_is_finished(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, least = MotionFiles.work, 0

    def interrupted(files: MotionFiles) -> Any:
        for share in work(files):
            if files.done >= least:
                raise KeyboardInterrupt
            yield share

    monkeypatch.setattr(MotionFiles, "work", interrupted)
    output = tmp_path / "all.blend"
    argv = ["retarget", "--blend", str(RIG), "--no-feet", "--jobs", "1", "--output", str(output)]
    argv += ["--motion", str(folder / "a.bvh"), str(folder / "b.bvh")]
    assert commands.run(argv) == 130
    assert not output.exists()  # nothing is finished
    least = 1
    assert commands.run(argv) == 130
    bpy.ops.wm.open_mainfile(filepath=str(output))
    assert "Armature a" in bpy.data.actions
    assert "Armature b" not in bpy.data.actions


@pytest.mark.parametrize(
    "naming", ["", "{clip}", "{file", "{armature.name}", "{number:x}", "{take:03d}", "{number:999999d}", "ä" * 32]
)
def test_names_that_make_no_sense_are_refused(naming: str) -> None:
    with pytest.raises(CoreError, match="name pattern"):
        check_naming(naming)


def test_a_folder_without_motions_and_a_bad_option_are_refused_at_once(tmp_path: Path) -> None:
    open_rig()
    before = contents()
    with pytest.raises(RuntimeError, match="There is no motion in"):
        bpy.ops.poise.retarget_files(directory=str(tmp_path))
    (tmp_path / "a.bvh").write_text("", encoding="utf-8")
    with pytest.raises(RuntimeError, match="is not a valid name pattern"):
        bpy.ops.poise.retarget_files(directory=str(tmp_path), naming="{what}")
    assert commands.run(["retarget", "--motion", str(tmp_path), "--take", "nod"]) == 2
    assert contents() == before


def test_a_process_that_cannot_begin_fails_its_files_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = open_rig()
    monkeypatch.setattr(motion_files, "worker_command", lambda: ["python3", "-c", "print('no room'); exit(3)"])
    files = MotionFiles(context, rig, [folder / "a.bvh"])
    for _ in files.work():
        pass
    (row,) = files.write(context, rig)
    assert row.state == "failed"
    assert "no room" in row.reason
