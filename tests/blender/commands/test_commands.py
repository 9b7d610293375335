"""The headless verbs: what they print, write and refuse, with exit codes. Results are measured in Blender again."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from benchmarks.robust.corpus import corpus
from bridge import all_curves
from core import CoreError
from edits.files import write_files
from tests.blender.commands.rigs import check_told, job_file, opened, snapshot, told
from tests.blender.rigs import contents, make_armature, make_chain, make_empty, world, world_rotation

pytestmark = pytest.mark.usefixtures("empty_file")

POSITION = 0.001  # metres, the default tolerance
Run = Callable[..., "Result"]


class Result:
    """What one run of `blender --command poise` gave."""

    def __init__(self, code: int, out: str, error: str) -> None:
        self.code, self.out, self.error = code, out, error

    @property
    def json(self) -> dict[str, Any]:
        (line,) = [line for line in self.out.splitlines() if line.startswith("{")]
        return json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str | Path) -> Result:
        capsys.readouterr()
        code = commands.run(told([str(argument) for argument in argv]))
        result = Result(code, *capsys.readouterr())
        lines = [line for line in result.out.splitlines() if line.startswith("{")]
        check_told([str(argument) for argument in argv], code, json.loads(lines[0]) if lines else {})
        return result

    return call


def at_frames(first: int, last: int) -> Iterator[int]:
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        yield frame


def places(path: Path, bone: str, first: int = 1, last: int = 20, tail: bool = False) -> np.ndarray:
    """Where a bone is in the world at each frame of a file, (F, 3)."""
    rig = opened(path)
    return np.array([world(rig, bone, tail) for _ in at_frames(first, last)])


FEET = [{"bone": f"foot.{side}", "pin": ["position", "rotation"]} for side in "LR"]


def test_solve_does_the_whole_job(run: Run, folder: Path) -> None:
    before = {side: places(folder / "walk.blend", f"foot.{side}") for side in "LR"}
    source = (folder / "walk.blend").read_bytes()
    goals = [
        *FEET,
        {"bone": "hand.R", "position": {"path": [[1, -0.4, -0.2, 1.2], [20, -0.5, -0.3, 1.4]]}, "point": "tail"},
    ]
    job = job_file(folder, goals, write={"action": "reach"})
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--report",
                 folder / "r.json", "--json")  # fmt: skip
    assert result.code == 0, result.error
    assert (folder / "walk.blend").read_bytes() == source
    report = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert report == result.json

    assert report["armature"] == "rig"
    assert report["frames"] == [1, 20]
    assert report["method"] == "pins"
    assert set(report["seconds"]) == {"read", "solve", "write"}
    assert report["frames_per_second"] > 0
    assert report["converged_frames"] == 20
    assert report["explanations"] == []
    assert report["action"] == "reach"
    assert [(goal["bone"], goal["kind"], goal["met"]) for goal in report["goals"]] == [
        ("foot.L", "pin", True),
        ("foot.R", "pin", True),
        ("hand.R", "drag", True),
    ]
    assert report["goals"][2]["rotation_error"] is None

    rig = opened(folder / "out.blend")
    assert rig.animation_data.action.name == "reach"
    assert "walk" in bpy.data.actions
    hand = places(folder / "out.blend", "hand.R", tail=True)
    wanted = np.linspace((-0.4, -0.2, 1.2), (-0.5, -0.3, 1.4), 20)
    errors = np.linalg.norm(hand - wanted, axis=1)
    assert errors.max() < POSITION
    error = report["goals"][2]["position_error"]
    assert error["max"] == pytest.approx(errors.max(), abs=1e-6)
    assert error["mean"] == pytest.approx(errors.mean(), abs=1e-6)
    for side in "LR":
        assert np.linalg.norm(places(folder / "out.blend", f"foot.{side}") - before[side], axis=1).max() < POSITION


def solved(run: Run, folder: Path, goals: list[dict[str, Any]], code: int = 0, **fields: Any) -> dict[str, Any]:
    """Run a job on walk.blend into out.blend; returns the report."""
    job = job_file(folder, goals, **fields)
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--json")
    assert result.code == code, result.error
    return result.json


def test_an_animated_object_is_followed(run: Run, folder: Path) -> None:
    solved(run, folder, [*FEET, {"bone": "hand.L", "position": {"object": "Cup"}}])
    hand = places(folder / "out.blend", "hand.L")
    cup = np.array([tuple(bpy.data.objects["Cup"].matrix_world.translation) for _ in at_frames(1, 20)])
    assert np.ptp(cup[:, 0]) > 0.05
    assert np.linalg.norm(hand - cup, axis=1).max() < POSITION


def test_an_objects_rotation_is_followed(run: Run, folder: Path) -> None:
    make_empty("Turned").rotation_euler = (0.3, 0.2, 0.5)
    bpy.ops.wm.save_mainfile()
    solved(run, folder, [{"bone": "head", "rotation": {"object": "Turned"}}])
    rig = opened(folder / "out.blend")
    turned = np.array(bpy.data.objects["Turned"].matrix_world.to_quaternion())
    for _ in at_frames(1, 20):
        assert abs(world_rotation(rig, "head") @ turned) > np.cos(np.radians(0.25))


def test_a_pin_at_a_frame_holds_where_the_motion_was_there(run: Run, folder: Path) -> None:
    place = places(folder / "walk.blend", "foot.L")[11]
    solved(run, folder, [{"bone": "foot.L", "pin": ["position"], "at": 12}], frames=[3, 9])
    assert np.linalg.norm(places(folder / "out.blend", "foot.L", 3, 9) - place, axis=1).max() < POSITION


def test_a_goal_with_frames_leaves_the_others_alone_and_blends(run: Run, folder: Path) -> None:
    before = places(folder / "walk.blend", "hand.L")
    goal = {"bone": "hand.L", "position": [0.45, -0.3, 1.3], "frames": [5, 16], "ease": 4}
    report = solved(run, folder, [goal])
    assert report["goals"][0]["frames"] == [9, 12]
    after = places(folder / "out.blend", "hand.L")
    moved = np.linalg.norm(after - before, axis=1)
    far = np.linalg.norm(after - goal["position"], axis=1)
    assert moved[:5].max() < 1e-5
    assert moved[15:].max() < 1e-5
    assert far[8:12].max() < POSITION
    assert np.all(np.diff(moved[4:9]) > 0.0)
    steps = np.linalg.norm(np.diff(after, axis=0), axis=1)
    assert steps.max() < 0.5 * np.linalg.norm(before[8] - goal["position"])


def test_armature_space_goes_with_the_object_and_world_space_does_not(run: Run, folder: Path) -> None:
    rig = opened(folder / "walk.blend")
    for frame, x in ((1, 0.0), (20, 1.0)):
        rig.location, rig.scale = (x, 0.2, 0.0), (1.5, 1.5, 1.5)
        rig.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_mainfile()
    goal = {"bone": "hand.L", "position": [0.45, -0.3, 1.3]}
    solved(run, folder, [goal], space="armature")
    rig = opened(folder / "out.blend")
    for _ in at_frames(1, 20):
        np.testing.assert_allclose(rig.pose.bones["hand.L"].head, goal["position"], atol=POSITION)
    solved(run, folder, [goal], space="world")
    assert np.linalg.norm(places(folder / "out.blend", "hand.L") - goal["position"], axis=1).max() < POSITION


@pytest.mark.parametrize("scale", [(0.01, 0.01, 0.01), (100.0, 100.0, 100.0), (1.0, 2.0, 0.5), (-1.0, 1.0, 1.0)])
def test_errors_and_tolerance_are_metres_of_the_world(
    run: Run, folder: Path, scale: tuple[float, float, float]
) -> None:
    rig = opened(folder / "walk.blend")
    rig.scale = scale
    bpy.ops.wm.save_mainfile()
    start = places(folder / "walk.blend", "hand.L", 1, 3)
    target = start.mean(axis=0) + 0.1 * np.abs(scale)
    tolerance = {"position": 1e-3 * max(1.0, abs(scale[0])), "rotation": 0.5}
    report = solved(run, folder, [{"bone": "hand.L", "position": target.tolist()}], frames=[1, 3], tolerance=tolerance)
    errors = np.linalg.norm(places(folder / "out.blend", "hand.L", 1, 3) - target, axis=1)
    assert errors.max() < tolerance["position"]
    assert report["goals"][0]["position_error"]["max"] == pytest.approx(errors.max(), abs=1e-6 * max(np.abs(scale)))


def test_what_is_out_of_reach_is_exit_code_1_with_reasons_and_still_written(run: Run, folder: Path) -> None:
    goals = [*FEET, {"bone": "hand.L", "position": [2.0, 0.0, 1.0]}]
    report = solved(run, folder, goals, code=1)
    goal = report["goals"][2]
    assert not goal["met"]
    assert [other["met"] for other in report["goals"][:2]] == [True, True]
    hand = places(folder / "out.blend", "hand.L")
    errors = np.linalg.norm(hand - (2.0, 0.0, 1.0), axis=1)
    assert goal["position_error"]["max"] == pytest.approx(errors.max(), abs=1e-5)
    assert goal["position_error"]["frame"] == 1 + int(np.argmax(errors))
    assert report["converged_frames"] == 0
    (sentence,) = report["explanations"]
    assert sentence.startswith(
        f"hand.L is {1000 * errors.max():.3g} mm short of its target at frame {1 + int(np.argmax(errors))}"
    )


def test_goals_of_every_kind_go_through_files_and_stretch_is_told(run: Run, folder: Path) -> None:
    rig = opened(folder / "walk.blend")
    for name in ("upper_arm.L", "forearm.L"):
        rig.pose.bones[name].ik_stretch = 1.0
    bpy.ops.wm.save_mainfile()
    goals = [
        *FEET,
        {"bone": "head", "look_at": {"object": "Cup"}, "axis": "Z"},
        {"bone": "hand.R", "distance": 0.1, "to": "head", "bound": "at least"},
        {"bone": "hand.L", "position": [0.85, 0.0, 1.4]},
    ]
    stiff = dict.fromkeys(("hips", "spine", "chest"), 1)
    job = job_file(folder, goals, root="fixed", stretch=True, stiffness=stiff, tolerance={"position": 0.01})
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--json")
    assert [goal["kind"] for goal in result.json["goals"]] == ["pin", "pin", "look_at", "distance", "drag"]
    assert "bones rotated, 2 stretched, keyed in" in result.error
    opened(folder / "out.blend")
    paths = {path for path, _, _ in contents()["actions"]["walk poise"]}
    assert 'pose.bones["forearm.L"].scale' in paths


def test_a_bone_that_a_constraint_decides_is_named_with_the_constraint(run: Run, folder: Path) -> None:
    object = opened(folder / "walk.blend")
    constraint = object.pose.bones["hand.L"].constraints.new("COPY_LOCATION")
    constraint.name, constraint.target = "Follow", bpy.data.objects["Cup"]
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    job = job_file(folder, [{"bone": "hand.L", "position": [0.0, 0.0, 2.0]}])
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--json")
    assert result.code == 1
    (sentence,) = result.json["explanations"]
    assert 'hand.L is driven by constraint "Follow" on "hand.L" (Copy Location)' in sentence


def test_a_device_or_pipe_is_written_into_and_not_replaced(run: Run, folder: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run("info", "--blend", folder / "walk.blend", "--json", pipe).code == 0
        assert json.loads(os.read(reader, 1 << 20))["armatures"]
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_linked_library_is_not_written_over(run: Run, folder: Path) -> None:
    before = (folder / "walk.blend").read_bytes()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(folder / "walk.blend"), link=True) as (_, linked):
        linked.objects = ["rig"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    linked.objects[0].override_create(remap_local_usages=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    job = job_file(folder, [{"bone": "hand.L", "position": [0.3, -0.3, 1.2]}])
    result = run("solve", "--blend", folder / "shot.blend", "--job", job, "--output", folder / "walk.blend")
    assert result.code == 2
    assert "is linked by the opened file" in result.error
    assert (folder / "walk.blend").read_bytes() == before


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_blender_cannot_have_are_refused_by_field(run: Run, folder: Path, name: str) -> None:
    for fields in ({"armature": name}, {"write": {"action": name}}):
        job = job_file(folder, [{"bone": "hand.L", "position": [0.3, -0.3, 1.2]}], **fields)
        result = run("solve", "--blend", folder / "walk.blend", "--job", job)
        assert result.code == 2
        assert ("armature: has" if "armature" in fields else "write.action: has") in result.error


def test_curves_that_repeat_their_keys_are_named(run: Run, folder: Path) -> None:
    from bpy_extras.anim_utils import action_get_channelbag_for_slot

    data = opened(folder / "walk.blend").animation_data
    for curve in action_get_channelbag_for_slot(data.action, data.action_slot).fcurves:
        if "thigh.L" in curve.data_path:
            curve.modifiers.new("CYCLES")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    foot = places(folder / "walk.blend", "foot.L")[4]
    job = job_file(folder, [{"bone": "foot.L", "position": np.add(foot, (0.0, -0.1, 0.1)).tolist()}], frames=[4, 6])
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--json")
    assert result.code == 0
    (sentence,) = result.json["explanations"]
    assert sentence.startswith("curves of thigh.L repeat or extend their keys")


def test_strips_below_a_new_action_go_on_outside_its_range(run: Run, folder: Path) -> None:
    object = opened(folder / "walk.blend")
    data = object.animation_data
    track = data.nla_tracks.new()
    track.strips.new("walk", 1, data.action)
    data.action = None
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    before = places(folder / "walk.blend", "hand.L")
    job = job_file(folder, [{"bone": "hand.L", "position": [0.5, -0.2, 1.3]}], frames=[8, 12])
    assert run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend").code == 0
    after = places(folder / "out.blend", "hand.L")
    changed = np.linalg.norm(after - before, axis=1) > 1e-4
    assert np.flatnonzero(changed).tolist() == [7, 8, 9, 10, 11]


def test_what_wins_is_said_by_the_job(run: Run, folder: Path) -> None:
    goals = [{"bone": "foot.L", "pin": ["position"]}, {"bone": "shin.L", "position": [0.6, -0.8, 1.2]}]
    pins = solved(run, folder, goals, code=1, frames=[1, 3])
    drag = solved(run, folder, goals, code=1, frames=[1, 3], method={"wins": "drag"})
    assert [goal["met"] for goal in pins["goals"]] == [True, False]
    assert [goal["met"] for goal in drag["goals"]] == [False, True]
    explicit = solved(run, folder, [{**goals[0], "priority": 1}, {**goals[1], "priority": 0}], code=1, frames=[1, 3])
    assert [goal["met"] for goal in explicit["goals"]] == [False, True]


def test_only_listed_bones_are_written(run: Run, folder: Path) -> None:
    goal = {"bone": "hand.L", "position": [0.5, -0.25, 1.35]}
    solved(run, folder, [goal], frames=[1, 3], write={"bones": ["upper_arm.L", "forearm.L"]})
    opened(folder / "out.blend")
    actions = contents()["actions"]
    before, after = ({(path, index): keys for path, index, keys in actions[name]} for name in ("walk", "walk poise"))
    changed = {path.split('"')[1] for (path, index), keys in after.items() if before.get((path, index)) != keys}
    assert changed == {"upper_arm.L", "forearm.L"}


def test_null_edits_the_present_action_within_the_frames(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend")
    before = {(path, index): keys for path, index, keys in contents()["actions"]["walk"]}
    goal = {"bone": "hand.L", "position": [0.45, -0.3, 1.3]}
    beside = [places(folder / "walk.blend", "hand.L", *span) for span in ((1, 5), (13, 20))]
    report = solved(run, folder, [goal], frames=[6, 12], write={"action": None})
    assert report["action"] == "walk"
    for was, span in zip(beside, ((1, 5), (13, 20)), strict=True):
        np.testing.assert_allclose(places(folder / "out.blend", "hand.L", *span), was, atol=1e-5)
    held = places(folder / "out.blend", "hand.L", 6, 12)
    assert np.linalg.norm(held - goal["position"], axis=1).max() < POSITION
    actions = contents()["actions"]
    assert not any("poise" in name for name in actions)
    for path, index, keys in actions["walk"]:
        old = before.get((path, index), [])
        kept = [key[:2] for key in old if not 6 <= key[0] <= 12]
        outside = [key[:2] for key in keys if not 6 <= key[0] <= 12]
        assert [key for key in outside if key in kept or key[0] not in (5, 13)] == kept


def test_a_job_without_frames_poses_an_armature_without_animation(run: Run, tmp_path: Path) -> None:
    make_armature()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "still.blend"))
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"version": 1, "goals": [{"bone": "hand.L", "position": [0.45, -0.3, 1.3]}]}))
    result = run("solve", "--job", job, "--output", tmp_path / "out.blend", "--json")
    assert result.code == 0, result.error
    assert result.json["action"] is None
    assert result.json["frames"] == [1, 1]
    rig = opened(tmp_path / "out.blend")
    np.testing.assert_allclose(world(rig, "hand.L"), (0.45, -0.3, 1.3), atol=POSITION)
    assert rig.animation_data is None


def test_an_unkeyed_pose_on_an_animated_armature_is_refused_and_a_key_is_not(run: Run, folder: Path) -> None:
    job = {"version": 1, "goals": [{"bone": "hand.L", "position": [0.45, -0.3, 1.3]}]}
    path = folder / "pose.json"
    path.write_text(json.dumps(job))
    files = snapshot(folder)
    options = ("solve", "--blend", folder / "walk.blend", "--job", path, "--output", folder / "out.blend", "--json")
    refusal = run(*options)
    assert refusal.code == 2
    assert '"rig" is animated by the action "walk"' in refusal.error
    assert "lost when the file is opened again" in refusal.error
    assert snapshot(folder) == files

    path.write_text(json.dumps({**job, "write": {"key": True}}))
    result = run(*options)
    assert result.code == 0, result.error
    assert result.json["action"] == "walk poise"
    assert np.linalg.norm(places(folder / "out.blend", "hand.L", 1, 1) - (0.45, -0.3, 1.3)) < POSITION


def test_the_default_name_is_numbered_where_it_is_taken(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend")
    bpy.data.actions.new("walk poise").use_fake_user = True
    bpy.ops.wm.save_mainfile()
    assert solved(run, folder, FEET)["action"] == "walk poise.001"


def test_a_new_action_is_made_where_there_was_none(run: Run, folder: Path) -> None:
    rig = opened(folder / "walk.blend")
    rig.animation_data_clear()
    bpy.ops.wm.save_mainfile()
    assert solved(run, folder, [{"bone": "hand.L", "position": [0.45, -0.3, 1.3]}])["action"] == "rig poise"
    assert np.linalg.norm(places(folder / "out.blend", "hand.L") - (0.45, -0.3, 1.3), axis=1).max() < POSITION


def test_the_same_job_gives_the_same_curves(run: Run, folder: Path) -> None:
    seen = []
    for _ in range(2):
        solved(run, folder, [*FEET, {"bone": "hand.L", "position": {"object": "Cup"}}])
        opened(folder / "out.blend")
        seen.append(contents())
    assert seen[0] == seen[1]


# ---- files


def test_the_input_is_only_written_over_when_asked(run: Run, folder: Path) -> None:
    job = job_file(folder, FEET)
    (folder / "link.blend").symlink_to(folder / "walk.blend")
    os.link(folder / "walk.blend", folder / "twin.blend")
    files = snapshot(folder)
    for target in ("walk.blend", "link.blend", "twin.blend"):
        result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / target)
        assert result.code == 2
        assert "--overwrite" in result.error
    assert snapshot(folder) == files
    result = run(
        "solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "walk.blend", "--overwrite"
    )
    assert result.code == 0, result.error
    assert opened(folder / "walk.blend").animation_data.action.name == "walk poise"


def test_paths_are_relative_to_the_working_directory(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job_file(folder, FEET)
    (folder / "results").mkdir()
    monkeypatch.chdir(folder)
    result = run("solve", "--blend", "walk.blend", "--job", "job.json", "--output", "results/out.blend", "--report",
                 "results/r.json", "--json", "results/j.json")  # fmt: skip
    assert result.code == 0, result.error
    assert {path.name for path in (folder / "results").iterdir()} == {"out.blend", "r.json", "j.json"}
    assert not any(line.startswith("{") for line in result.out.splitlines())
    result = run("solve", "--blend", "walk.blend", "--job", "job.json", "--output", "./results/../walk.blend")
    assert result.code == 2


def test_an_opened_file_needs_no_blend_option_and_a_second_run_opens_anew(run: Run, folder: Path) -> None:
    job = job_file(folder, FEET)
    opened(folder / "walk.blend")
    assert run("solve", "--job", job, "--output", folder / "out.blend").code == 0
    assert run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend").code == 0


def test_what_fails_at_the_last_moment_leaves_no_file(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_file(folder, FEET)
    (folder / "out.blend").write_bytes(b"an older result")
    files = snapshot(folder)
    options = ("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--report",
               folder / "r.json", "--json")  # fmt: skip

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        result = run(*options)
    assert result.code == 2
    assert "no space left" in result.error
    assert result.out.strip() == "" or "{" not in result.out
    assert snapshot(folder) == files


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("missing", [500, 5_000, 50_000])
def test_a_file_that_does_not_fit_on_the_disk_is_not_put_in_the_place_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], compressed: bool, missing: int
) -> None:
    """A limit to the size of files stands for the disk: Blender does not always say that it could not write all."""
    resource = pytest.importorskip("resource")
    path = folder / "walk.blend"
    monkeypatch.setattr(bpy.context.preferences.filepaths, "use_file_compression", compressed)
    write_files(path, {})
    files = snapshot(folder)
    capfd.readouterr()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size - missing, hard))
        with pytest.raises(CoreError, match=r'Nothing was written: Blender could not write .*walk\.blend"'):
            write_files(path, {folder / "report.json": "{}"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert snapshot(folder) == files
    assert "Saved" not in capfd.readouterr().out  # as Blender says before the file is looked at


def test_a_fault_of_poise_is_exit_code_3_and_writes_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import commands.verbs

    def fail(*_: object) -> None:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr(commands.verbs, "perform_job", fail)
    job = job_file(folder, FEET)
    files = snapshot(folder)
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--report",
                 folder / "r.json", "--json")  # fmt: skip
    assert result.code == 3
    assert "bug in Poise" in result.error
    assert "by accident" in result.error
    assert "Traceback" not in result.error
    assert "{" not in result.out
    assert snapshot(folder) == files
    (named,) = re.findall(r'details are in "(.+)"', result.error)
    details = Path(named).read_text(encoding="utf-8")
    Path(named).unlink()
    assert "Traceback" in details
    assert bpy.app.version_string in details
    assert str(job) in details


def test_verbose_tells_the_seconds_by_phase(run: Run, folder: Path) -> None:
    result = run("bake", "--blend", folder / "walk.blend", "--verbose")
    assert re.search(r"read \d+\.\d\d s, solve \d+\.\d\d s, write \d+\.\d\d s", result.error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["solve"], "The following arguments are required: --job"),
        (["solve", "--job"], "Argument --job: expected one argument"),
        (["solve", "--job", "none.json"], '"none.json" cannot be read'),
        (["solve", "--job", "job.json", "--blend", "none.blend"], 'There is no file "none.blend"'),
        (["solve", "--job", "job.json", "--blend", "job.json"], '"job.json" is not a .blend file'),
        (["solve", "--job", "job.json", "--output", "no/such/out.blend"], "There is no folder"),
        (["solve", "--job", "job.json", "--output", "."], 'does not end in ".blend"'),
        (["solve", "--job", "job.json", "--output", "out"], 'does not end in ".blend"'),
        (["solve", "--job", "job.json", "--output", ".blend"], '".blend" has no name before ".blend".'),
        (["reduce-keys", "--blend", "walk.blend", "--tolerance", "1e300"], "m, the size of the body, not 1e+300 m."),
        (["solve", "--job", "job.json", "--output", "a" * 250 + ".blend"], "is too long: the maximum is"),
        (["solve", "--job", "job.json", "--output", "folder.blend"], '"folder.blend" is a folder'),
        (["solve", "--job", "job.json", "--report", "job.json"], "is the job file"),
        (["solve", "--job", "job.json", "--json", "walk.blend"], "is the opened file"),
        (["solve", "--job", "job.json", "--report", "a.json", "--json", "a.json"], "is given twice"),
        (["solve", "--job", "job.json", "--outptu", "out.blend"], "Unrecognized arguments: --outptu"),
        (["solve", "--job", "job.json", "--out", "out.blend"], "Unrecognized arguments: --out"),
        (["solve", "--job", "job.json", "extra"], "Unrecognized arguments: extra"),
        (["slove"], "invalid choice: 'slove'"),
        ([], "arguments are required: VERB"),
        (["info", "--armature", "rgi"], 'No armature "rgi" in the file; there is "rig"'),
        (["info", "--armature", "Cup"], '"Cup" is not an armature'),
        (["info", "--json", "no/such/info.json"], "There is no folder"),
    ],
)
def test_bad_options_are_exit_code_2_with_a_sentence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    job_file(folder, FEET)
    (folder / "folder.blend").mkdir()
    monkeypatch.chdir(folder)
    files = snapshot(folder)
    result = run(*options)
    assert result.code == 2
    assert message in result.error
    assert "Traceback" not in result.error
    assert "batch-worker" not in result.error  # for `batch` alone
    assert "{" not in result.out
    assert snapshot(folder) == files


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"goals": [{"bone": "foot.L", "positon": [0, 0, 0]}]},
            'goals[0].positon: unknown field; did you mean "position"?',
        ),
        (
            {"goals": [{"bone": "foto.L", "pin": ["position"]}]},
            'goals[0].bone: No bone "foto.L"; did you mean "foot.L"?',
        ),
        ({"armature": "rgi"}, 'No armature "rgi"'),
        ({"armature": "Cup"}, '"Cup" is not an armature'),
        ({"frames": [20, 1]}, "frames: the range runs backwards"),
        ({"write": {"action": "walk"}}, 'write.action: the action "walk" already exists'),
        ({"method": {"name": "humanoids"}}, "method.name"),
    ],
)
def test_a_bad_job_is_exit_code_2_and_writes_nothing(
    run: Run, folder: Path, fields: dict[str, Any], message: str
) -> None:
    job = job_file(folder, **{"goals": FEET, **fields})
    files = snapshot(folder)
    result = run("solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--report",
                 folder / "r.json", "--json", folder / "j.json")  # fmt: skip
    assert result.code == 2
    assert message in result.error
    assert snapshot(folder) == files


def test_a_job_has_to_name_one_of_several_armatures(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend")
    make_chain(2)
    bpy.ops.wm.save_mainfile()
    options = ("solve", "--blend", folder / "walk.blend", "--job", job_file(folder, FEET))
    result = run(*options)
    assert result.code == 2
    assert 'The file has several armatures, "chain", "rig". Name one of them' in result.error
    job_file(folder, FEET, armature="rig")
    assert run(*options).code == 0


@pytest.mark.parametrize("options", [["--help"], ["solve", "--help"]])
def test_help_is_no_error(run: Run, options: list[str]) -> None:
    result = run(*options)
    assert result.code == 0
    assert "usage" in result.out


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "Frame Time: 0.04",
            "Frame Time: nan",
            '"clip.bvh" cannot be read; "Frame Time: nan" is not the time of a frame',
        ),
        ("CHANNELS 3 Z", "CHANNELS 3 X", '"clip.bvh" cannot be read; the BVH file is damaged or incomplete, or'),
        ("OFFSET 0.0", "OFFSET zero", '"clip.bvh" cannot be read; the BVH file has "zero" where a number is needed'),
    ],
)
def test_a_strangers_clip_is_refused_in_one_sentence_and_nothing_of_its_importer_is_shown(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    (tmp_path / "clip.bvh").write_text(corpus()[".bvh"][0].decode().replace(old, new))
    capfd.readouterr()
    assert commands.run(["info", "--blend", str(tmp_path / "clip.bvh")]) == 2
    out, error = capfd.readouterr()  # also what Blender itself prints, past Python
    assert (out, error.count("\n")) == ("", 1), out + error
    assert sentence in error


def test_keys_beyond_all_frames_are_refused(run: Run, folder: Path) -> None:
    """As importers make them of times in a file."""
    rig = opened(folder / "walk.blend")
    curve = next(curve for curve in all_curves(rig.animation_data.action) if curve.data_path.startswith("pose"))
    curve.keyframe_points[-1].co.x = 1e12
    curve.update()
    bpy.ops.wm.save_mainfile()
    result = run("bake", "--blend", folder / "walk.blend", "--output", folder / "out.blend")
    assert (result.code, result.error.count("\n")) == (2, 1), result.error
    assert "is keyed from 1 to 1e+12" in result.error


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_keys_that_blender_cannot_show_are_refused_by_their_bone(run: Run, folder: Path, value: float) -> None:
    rig = opened(folder / "walk.blend")
    curve = next(curve for curve in all_curves(rig.animation_data.action) if "hips" in curve.data_path)
    curve.keyframe_points[3].co.y = value
    bpy.ops.wm.save_mainfile()
    told = refused(run, "bake", "--blend", folder / "walk.blend", "--output", folder / "out.blend")
    assert 'of "hips" is not finite, or too large to show.' in told


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0)])
def test_a_scale_of_zero_is_refused_where_the_ground_counts(
    run: Run, folder: Path, scale: tuple[float, float, float]
) -> None:
    opened(folder / "walk.blend").scale = scale
    bpy.ops.wm.save_mainfile()
    assert "a scale of zero" in refused(run, "edit-path", "--scale", "2", "--blend", folder / "walk.blend")
    assert run("bake", "--blend", folder / "walk.blend", "--output", folder / "out.blend").code in (0, 1)


def test_names_are_told_without_what_a_terminal_obeys(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend").name = "\x1b[31mred\nline"
    bpy.ops.wm.save_mainfile()
    result = run("info", "--blend", folder / "walk.blend")
    assert result.error.startswith(r"\x1b[31mred\nline: 16 bones")
    assert result.error.count("\n") == 1


def test_more_frames_than_fit_into_memory_are_refused_with_their_number(run: Run, folder: Path) -> None:
    job = job_file(folder, [{"bone": "hand.R", "position": [0, 0, 1]}], frames=[1, 10**6])
    told = refused(run, "solve", "--blend", folder / "walk.blend", "--job", job)
    assert re.search(r"frames: 1000000 of 16 bones are too many at once; the maximum is \d+", told)
    opened(folder / "walk.blend").pose.bones["hips"].constraints.new("LIMIT_LOCATION")  # more than keys may move it
    bpy.ops.wm.save_mainfile()
    told = refused(run, "bake", "--blend", folder / "walk.blend", "--frames", str(-(10**6)), str(10**6))
    assert "2000001 frames of" in told
    recipe = folder / "recipe.json"
    tracks = [{"parts": "all", "samples": [0.5] * 100_000}]
    recipe.write_text(json.dumps({"version": 1, "seconds": 2, "poses": {"min": {}, "max": {}}, "tracks": tracks}))
    told = refused(run, "generate", "--blend", folder / "walk.blend", "--recipe", recipe)
    assert "tracks[0].samples: 100000 are too many; the maximum is 2000." in told


@pytest.mark.parametrize("verb", [["bake"], ["lock-feet"], ["reduce-keys"], ["edit-path", "--scale", "2"]])
def test_frames_outside_the_motion_are_refused(run: Run, folder: Path, verb: list[str]) -> None:
    told = refused(run, *verb, "--blend", folder / "walk.blend", "--frames", "1", "6000")
    assert "--frames: 1 to 6000 is not within the motion, which has frames 1 to 20." in told


def refused(run: Run, *argv: str | Path) -> str:
    """The one sentence about what was asked for."""
    result = run(*argv)
    assert (result.code, result.error.count("\n")) == (2, 1), result.error
    return result.error


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["bake", "--step", "1000000000"], "A step of 1000000000 is more than the number of frames from 1 to 20."),
        (["bake", "--frames", "1", "999999999"], "--frames[1]: must be between -1048574 and 1048574, not 999999999."),
        (["bake", "--action", "a" * 100], "Argument --action: a name has at most 63 bytes."),
        (["edit-path"], "The path stays as it is. Give it an offset, a scale or a bend."),
        (["edit-path", "--scale", "0"], "The scale of a path must be between 0.01 and 100."),
        (["edit-path", "--scale=-1"], "The scale of a path must be between 0.01 and 100."),
        (["edit-path", "--offset", "1e9", "0", "0"], "The offset of a path must be between -10000 and 10000."),
        (["edit-path", "--bend", "1e9"], "The bend of a path must be between -3600 and 3600."),
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_their_names(
    run: Run, folder: Path, argv: list[str], sentence: str
) -> None:
    assert sentence in refused(run, *argv, "--blend", folder / "walk.blend")


def test_a_goal_follows_no_armature_that_it_moves(run: Run, folder: Path) -> None:
    job = job_file(folder, [{"bone": "hand.R", "position": {"object": "rig"}}])
    assert '"rig" is the armature itself' in refused(run, "solve", "--blend", folder / "walk.blend", "--job", job)


def test_a_wrong_name_is_said_before_anything_about_the_action(run: Run, folder: Path) -> None:
    opened(folder / "walk.blend")
    goals = [{"bone": "hnad.R", "position": [0, 0, 1]}]
    once = json.dumps({"version": 1, "goals": goals})
    job = folder / "once.json"
    job.write_text(once)  # without frames: a pose of an animated armature is lost, which is said after the name
    assert 'No bone "hnad.R"; did you mean "hand.R"?' in refused(
        run, "solve", "--blend", folder / "walk.blend", "--job", job
    )
    job.write_text(json.dumps({"version": 1, "goals": [{"role": "hand.R", "distance": 1, "to": "hand.R"}]}))
    assert '"hand.R" cannot be a target for itself' in refused(
        run, "solve", "--blend", folder / "walk.blend", "--job", job
    )
    job.write_text(once.replace("hnad", "hand").replace("[0, 0, 1]", '{"object": "Cpu"}'))
    assert 'No object "Cpu"' in refused(run, "solve", "--blend", folder / "walk.blend", "--job", job)
    taken = job_file(folder, goals, write={"action": "walk"})
    assert 'No bone "hnad.R"' in refused(run, "solve", "--blend", folder / "walk.blend", "--job", taken)
    bpy.data.objects["rig"].animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "still.blend"))
    assert 'No bone "nose"' in refused(run, "bake", "--bones", "nose", "--blend", folder / "still.blend")
    assert 'No bone "nose"' in refused(run, "lock-feet", "--points", "nose", "--blend", folder / "still.blend")
    assert 'The body has no "nose"' in refused(run, "reduce-keys", "--bones", "nose", "--blend", folder / "still.blend")
