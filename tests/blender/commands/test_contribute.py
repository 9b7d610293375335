"""Contribution CCD headless: `contribute`, the method "ccd" of a job, lists as JSON; measured in Blender."""

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import rotation
from core.contribution import preset, with_hinges
from core.contribution.learned_list import Replay, uniform_list
from core.formats.chain_list import actuations_data, read_list_file
from core.formats.job import parse
from core.limits import excess
from edits.job import perform_job
from tests.blender.commands.rigs import Run, job_file
from tests.blender.rigs import choose, load, make_armature, make_chain, make_walk, world, world_rotation
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

LIST = [
    {"bone": "forearm.R", "axis": "X", "fraction": 0.4, "angle": 10},
    {"bone": "upper_arm.R", "axis": "X", "fraction": 0.6, "angle": 5},
    {"bone": "upper_arm.R", "axis": "Z", "fraction": 0.6},
    {"bone": "forearm.R", "axis": "Z", "fraction": 0.2},
]
REACH = [{"bone": "hand.R", "position": {"path": [[1, -0.5, -0.2, 1.3], [20, -0.4, -0.3, 1.5]]}}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with walk.blend, the walk on "rig", and list.json."""
    make_walk(make_armature())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    (tmp_path / "list.json").write_text(json.dumps(LIST), encoding="utf-8")
    return tmp_path


def frames_of(path: Path, bone: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a bone is and how it stands in the world at frames 1 to 20."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["rig"]
    places, stands = [], []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        places.append(world(rig, bone))
        stands.append(world_rotation(rig, bone))
    return np.array(places), np.array(stands)


def test_contribute_does_a_job_with_a_list_from_a_file(run: Run, folder: Path) -> None:
    feet, _ = frames_of(folder / "walk.blend", "foot.L")
    code, report, error = run("contribute", "--blend", folder / "walk.blend", "--chain", "upper_arm.R:hand.R", "--list",
                              folder / "list.json", "--job", job_file(folder, REACH), "--output", folder / "out.blend",
                              "--json")  # fmt: skip
    assert code == 0, error
    assert (report["method"], report["converged_frames"]) == ("ccd", 20)
    wanted = np.linspace([-0.5, -0.2, 1.3], [-0.4, -0.3, 1.5], 20)
    places, _ = frames_of(folder / "out.blend", "hand.R")
    np.testing.assert_allclose(np.linalg.norm(places - wanted, axis=-1), 0.0, atol=1e-3)
    np.testing.assert_array_equal(frames_of(folder / "out.blend", "foot.L")[0], feet)
    assert bpy.data.actions.get("walk poise") is not None


def test_a_chain_that_is_saved_with_the_armature_does_what_a_drag_by_it_does(run: Run, tmp_path: Path) -> None:
    rig, file = make_armature(), tmp_path / "rig.blend"
    choose(rig, "chest", "hand.L")
    bpy.ops.poise.add_chain()
    chain = rig.poise_chains["hand.L"]
    chain.mode, chain.passes, chain.entries[0].fraction = "SMALLER", 3, 0.2
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.poise.drag(bone="hand.L", shift=(-0.3, -0.3, 0.4))
    dragged = {bone.name: np.array(bone.rotation_quaternion) for bone in rig.pose.bones}
    goals = [{"bone": "hand.L", "position": world(rig, "hand.L").tolist()}]
    job = tmp_path / "job.json"
    for verb, method in (("contribute", {}), ("solve", {"method": {"name": "ccd", "chain": "hand.L"}})):
        job.write_text(json.dumps({"version": 1, "goals": goals, **method}), encoding="utf-8")
        saved = () if method else ("--saved", "hand.L")
        code, report, error = run(verb, "--blend", file, *saved, "--job", job, "--json")
        assert (code, report["method"]) == (0, "ccd"), error
        posed = {bone.name: np.array(bone.rotation_quaternion) for bone in bpy.data.objects["rig"].pose.bones}
        np.testing.assert_allclose([*posed.values()], [*dragged.values()], atol=1e-3)
    for name, bone, message in (
        ("arm", "hand.L", '"rig" has no chain "arm"; it has "hand.L".'),
        ("hand.L", "hand.R", 'method.chain: "hand.L" ends at "hand.L", not at "hand.R".'),
    ):
        job.write_text(json.dumps({"version": 1, "goals": [{**goals[0], "bone": bone}]}))
        code, _, error = run("contribute", "--blend", file, "--saved", name, "--job", job)
        assert (code, message in error) == (2, True), error


def test_several_chains_of_a_job_and_pins_beside_them_arrive_in_blender(run: Run, folder: Path) -> None:
    rig = bpy.data.objects["rig"]
    choose(rig, "chest", "hand.L")
    bpy.ops.poise.add_chain()
    rights = preset("arm", bridge.read_rig(rig).skeleton, "upper_arm.R", "hand.R")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    feet, _ = frames_of(folder / "walk.blend", "foot.L")
    chains = [{"chain": "hand.L"}, {"bone": "hand.R", "base": "upper_arm.R", "list": actuations_data(rights)}]
    wanted = {"hand.L": [0.4, -0.35, 1.3], "hand.R": [-0.35, -0.25, 1.35]}
    goals = [
        *({"bone": bone, "position": place} for bone, place in wanted.items()),
        {"bone": "foot.L", "pin": ["position"]},
    ]
    job = job_file(folder, goals, method={"name": "ccd", "chains": chains})
    code, report, error = run(
        "solve", "--blend", folder / "walk.blend", "--job", job, "--output", folder / "out.blend", "--json"
    )
    assert (code, report["method"], report["converged_frames"]) == (0, "ccd", 20), error
    for bone, place in wanted.items():
        places, _ = frames_of(folder / "out.blend", bone)
        np.testing.assert_allclose(np.linalg.norm(places - place, axis=-1), 0.0, atol=1e-3)
    np.testing.assert_allclose(frames_of(folder / "out.blend", "foot.L")[0], feet, atol=1e-3)
    for wrong, message in (
        ([*chains, chains[1]], 'method.chains[2]: another chain already ends at "hand.R"'),
        ([{**chains[1], "bone": "foot.R"}], 'goals: the chain ends at "foot.R": give it one goal'),
        ([{"chain": "tail"}], 'has no chain "tail"; it has "hand.L"'),
    ):
        job = job_file(folder, goals, method={"name": "ccd", "chains": wrong})
        code, _, error = run("solve", "--blend", folder / "walk.blend", "--job", job)
        assert (code, message in error) == (2, True), error


def test_a_held_hand_stays_put_in_blender_while_the_hips_move(run: Run, folder: Path) -> None:
    held = frames_of(folder / "walk.blend", "hand.R")
    hips, _ = frames_of(folder / "walk.blend", "hips")
    goals = [{"bone": "hips", "position": {"path": [[1, *(hips[0] + [0, 0, -0.1])], [20, *(hips[-1] + [0.1, 0, 0])]]}}]
    options = "--preset", "arm", "--job", job_file(folder, goals), "--output", folder / "out.blend", "--json"
    code, report, error = run("contribute", "--blend", folder / "walk.blend", "--chain", "hand.R:hips", *options)
    assert code == 0, error
    places, stands = frames_of(folder / "out.blend", "hand.R")
    np.testing.assert_allclose(places, held[0], atol=1e-5)
    np.testing.assert_allclose(np.abs(np.sum(stands * held[1], axis=-1)), 1.0, atol=1e-6)
    assert report["goals"][0]["met"]


def test_jobs_keep_the_limits_that_drags_keep_unless_they_say_otherwise() -> None:
    bent: dict[bool, bool] = {}
    for limits in (True, False):
        rig = make_armature()
        skeleton = bridge.read_rig(rig).skeleton
        elbow, _ = with_hinges(skeleton, bridge.read_roles(rig, skeleton))
        entries = [{"bone": "forearm.R", "axis": axis} for axis in "XYZ"]
        place = np.add(world(rig, "hand.R"), (0.05, 0.15, 0.0))  # behind the body: an elbow that bends there is broken
        job = {"version": 1, "limits": limits, "method": {"name": "ccd", "list": entries},
               "goals": [{"bone": "hand.R", "position": place.tolist()}]}  # fmt: skip
        perform_job(bpy.context, rig, parse(job))
        matrices = rotation.to_matrix(bridge.read_pose(rig, bridge.read_rig(rig)).rotations)
        bent[limits] = any(np.abs(excess(g, g.coordinates(matrices[g.bones]))).max() > 0.01 for g in elbow.limits)
    assert bent == {True: False, False: True}


def test_a_chain_of_bones_that_inherit_oddly_ends_where_the_solver_says() -> None:
    (rig,) = load(DATA / "rigs" / "odd_inherit_flags.blend")
    skeleton = bridge.read_rig(rig).skeleton
    tip = max(range(len(skeleton)), key=lambda bone: len(skeleton.ancestors(bone)))
    chain = skeleton.ancestors(tip)[::-1]
    name = skeleton.names[tip]
    entries = [{"bone": skeleton.names[b], "axis": a, "fraction": 0.2} for b in chain[1:] for a in "XYZ"]
    assert not skeleton.inherit_rotation[chain].all()
    way = 0.2 * np.linalg.norm(np.array(rig.pose.bones[name].tail) - np.array(rig.pose.bones[chain[1]].head))
    target = world(rig, name, tail=True) + way * np.array([0.6, -0.5, 0.3])
    job = parse({"version": 1, "method": {"name": "ccd", "list": entries, "base": skeleton.names[chain[1]]},
                 "goals": [{"bone": name, "point": "tail", "position": target.tolist()}]})  # fmt: skip
    report = perform_job(bpy.context, rig, job)
    far = np.linalg.norm(world(rig, name, tail=True) - target)
    assert far == pytest.approx(report.data()["goals"][0]["position_error"]["max"], abs=1e-5)
    assert far < 1e-3


def test_a_list_is_learned_from_captured_motion_and_used_on_the_rest_of_it(run: Run, tmp_path: Path) -> None:
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clip.blend"))
    ends = "RightArm", "RightHand"
    # the clip begins in a T-pose
    code, found, error = run("contribute", "--chain", ":".join(ends), "--learn", tmp_path / "learned.json", "--frames",
                             10, 38, "--json")  # fmt: skip
    assert code == 0, error
    assert found["error"] < 0.5 * found["uniform_error"]
    learned = read_list_file(tmp_path / "learned.json")
    entries = learned.actuations
    assert learned.successive
    assert actuations_data(entries) == found["list"]
    rig = bpy.data.objects[rig.name]
    read = bridge.read_rig(rig)
    motion, _ = bridge.read_motion(rig, read, np.arange(39, 67))
    rest = Replay(read.skeleton, motion.pose, ends[1], ends[0])
    held_out, uniform = rest.errors(entries).mean(), rest.errors(uniform_list(read.skeleton, rest.joints)).mean()
    assert held_out < uniform
    assert np.degrees(held_out) < 10.0


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ({"name": "pins"}, 'The job has the "method" "pins"'),
        ({"name": "humanoid"}, 'The job has the "method" "humanoid"'),
        ({"name": "ccd", "chain": "hand.R"}, "method.chain: "),
        ({"name": "ccd", "base": "no bone"}, "method.base: "),
        ({"name": "ccd", "list": LIST}, "method.list: "),
    ],
)
def test_a_job_that_says_what_the_options_say_is_refused(
    run: Run, folder: Path, method: dict[str, Any], message: str
) -> None:
    options = "--chain", "upper_arm.R:hand.R", "--list", folder / "list.json", "--job"
    code, _, error = run("contribute", *options, job_file(folder, REACH, method=method))
    assert (code, message in error) == (2, True), error


def test_only_frames_of_the_action_are_learned_from(run: Run, folder: Path) -> None:
    options = "--learn", folder / "new.json", "--frames", 17, 1000000, "--json"
    code, found, error = run("contribute", "--blend", folder / "walk.blend", "--chain", "thigh.L:foot.L", *options)
    assert (code, found["frames"]) == (0, [17, 20]), error


def test_names_with_colons_make_a_chain(run: Run, tmp_path: Path) -> None:
    rig = make_chain(3)
    for bone in rig.data.bones:
        bone.name = f"mixamorig:{bone.name}"
    job = {"version": 1, "goals": [{"bone": "mixamorig:b2", "position": [0.3, 0.2, 0.8]}]}
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    options = "--preset", "tail", "--job", tmp_path / "job.json", "--json"
    code, report, error = run("contribute", "--chain", "mixamorig:b0:mixamorig:b2", *options)
    assert code == 0, error
    assert report["goals"][0]["met"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--chain", "upper_arm.R:hand.R", "--preset", "arm"), "--job is missing"),
        (
            ("--chain", "upper_arm.R", "--preset", "arm", "--job", "JOB"),
            '--chain needs BASE:EFFECTOR, not "upper_arm.R"',
        ),
        (("--chain", "upper_arm.R:hnad.R", "--preset", "arm", "--job", "JOB"), 'did you mean "hand.R"?'),
        (
            ("--chain", "upper_arm.L:hand.L", "--preset", "arm", "--job", "JOB"),
            'ends at "hand.L", but the goal of the job is for "hand.R"',
        ),
        (("--chain", "upper_arm.R:hand.R", "--preset", "wing", "--job", "JOB"), "invalid choice"),
        (("--chain", "upper_arm.R:hand.R", "--job", "JOB"), "required"),
        (("--chain", "upper_arm.R:hand.R", "--saved", "arm", "--job", "JOB"), "--chain: not with --saved"),
        (("--preset", "arm", "--job", "JOB"), "--chain is missing"),
        (("--chain", "upper_arm.R:hand.R", "--list", "NONE", "--job", "JOB"), 'The list file "'),
        (("--chain", "upper_arm.R:hand.R", "--learn", "NEW", "--job", "JOB"), "--job: not with --learn"),
        (("--chain", "upper_arm.R:hand.R", "--list", "LIST", "--job", "JOB", "--report", "LIST"), "is the list file"),
        (("--chain", "thigh.L:foot.L", "--learn", "NEW", "--frames", 1, 1000000000), "--frames[1]: must be between"),
        (("--chain", "thigh.L:foot.L", "--learn", "NEW", "--frames", 9, 1), "--frames: the range runs backwards"),
        (("--chain", "thigh.L:foot.L", "--learn", "NEW", "--frames", 30, 90), "has frames 1 to 20"),
    ],
)
def test_bad_input_is_exit_code_2_and_writes_nothing(run: Run, folder: Path, options: tuple, message: str) -> None:
    job = job_file(folder, REACH)
    paths = {"JOB": job, "LIST": folder / "list.json", "NONE": folder / "none.json", "NEW": folder / "new.json"}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, _, error = run(
        "contribute", "--blend", folder / "walk.blend", *(paths.get(option, option) for option in options)
    )
    assert code == 2, error
    assert message in error
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
