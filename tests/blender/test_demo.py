"""What `make demo` does, with a small picture: measured in its files, as Blender evaluates them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import standalone
from tests.blender.rigs import load_example

EXAMPLES = standalone.ROOT / "docs" / "examples"
POSITION, ROTATION = 0.001, 0.5  # metres and degrees, the job's tolerance
FRAMES = range(1, 91)
ON_BALL = slice(15, 75)  # frames 16 to 75: between easing in and easing out
SMALL = ["--tiles", "2", "--samples", "1"]
FEET, HAND = ("LeftFoot", "RightFoot"), "RightHand"
SAME = 1e-5  # metres and radians, in the single precision of keys


@pytest.fixture(scope="module", autouse=True)
def backups() -> Iterator[None]:
    """The demo changes a preference."""
    paths = bpy.context.preferences.filepaths
    kept = paths.save_version
    yield
    paths.save_version = kept


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo made."""
    folder = tmp_path_factory.mktemp("demo")
    assert load_example("demo").main([*SMALL, "--output", str(folder)]) == 0
    return folder


class Film:
    """A .blend file frame by frame: bones (F, J, 4, 4) in the world and (F, J, 4, 4) as keyed, objects (F, 4, 4)."""

    def __init__(self, path: Path) -> None:
        bpy.ops.wm.open_mainfile(filepath=str(path))
        scene = bpy.context.scene
        walker: Any = bpy.data.objects["Walker"]
        others = [object for object in scene.objects if object.type != "CURVE"]
        self.names = list(walker.pose.bones.keys())
        self.fps = scene.render.fps / scene.render.fps_base
        self.range = scene.frame_start, scene.frame_end
        worlds, own, places = [], [], {object.name: [] for object in others}
        for frame in FRAMES:
            scene.frame_set(frame)
            worlds.append([np.array(walker.matrix_world @ bone.matrix) for bone in walker.pose.bones])
            own.append([np.array(bone.matrix_basis) for bone in walker.pose.bones])
            for object in others:
                places[object.name].append(np.array(object.matrix_world))
        self.worlds, self.own = np.array(worlds), np.array(own)
        self.objects = {name: np.array(matrices) for name, matrices in places.items()}
        self.action = walker.animation_data.action.name
        self.curves = {action.name: curves(action) for action in bpy.data.actions}

    def bone(self, name: str) -> np.ndarray:
        return self.worlds[:, self.names.index(name)]


def curves(action: Any) -> dict[tuple[str, int], np.ndarray]:
    """The keys of an action's curves, (N, 2) each."""
    return {
        (curve.data_path, curve.array_index): np.array([key.co[:] for key in curve.keyframe_points])
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    }


@pytest.fixture(scope="module")
def before(folder: Path) -> Film:
    return Film(folder / "demo_input.blend")


@pytest.fixture(scope="module")
def after(folder: Path) -> Film:
    return Film(folder / "demo.blend")


def off(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances (F,) in metres between the origins of matrices."""
    return np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=1)


def turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles (F,) in degrees between matrices without scale; exact for small ones, too."""
    half = np.linalg.norm(a[:, :3, :3] - b[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return np.degrees(2.0 * np.arcsin(np.clip(half, 0.0, 1.0)))


def to_ball(film: Film, folder: Path) -> np.ndarray:
    """Distances (F,) from the palm to the middle of the ball."""
    job = json.loads((folder / "demo_job.json").read_text(encoding="utf-8"))
    (point,) = [goal["point"] for goal in job["goals"] if goal["bone"] == HAND]
    palm = film.bone(HAND) @ [*point, 1.0]
    return np.linalg.norm(palm[:, :3] - film.objects["Ball"][:, :3, 3], axis=1)


def test_the_clip_comes_in_upright_in_metres_and_frame_for_frame(before: Film) -> None:
    assert before.fps == 30.0
    assert before.range == (1, 90)
    hips, head = before.bone("Hips")[:, :3, 3], before.bone("Head")[:, :3, 3]
    assert np.all((hips[:, 2] > 0.9) & (hips[:, 2] < 1.1))
    assert np.all((head[:, 2] > 1.35) & (head[:, 2] < 1.5))
    walked = np.linalg.norm(hips[-1] - hips[0])
    assert 1.0 < walked / (89 / 30.0) < 1.6  # metres a second
    soles = np.array([before.bone(toe)[:, 2, 3] for toe in ("LeftToeBase", "RightToeBase")])
    assert 0.0 < soles.min() < 0.05


@pytest.mark.parametrize("foot", FEET)
def test_a_foot_stays_where_the_walk_has_it_in_every_frame(before: Film, after: Film, foot: str) -> None:
    assert off(before.bone(foot), after.bone(foot)).max() < POSITION
    assert turned(before.bone(foot), after.bone(foot)).max() < ROTATION


def test_the_head_looks_where_the_walk_has_it_look(before: Film, after: Film) -> None:
    assert turned(before.bone("Head"), after.bone("Head")).max() < ROTATION


def test_the_hand_is_on_the_ball_between_the_eases(before: Film, after: Film, folder: Path) -> None:
    assert to_ball(after, folder)[ON_BALL].max() < POSITION
    assert to_ball(before, folder)[ON_BALL].min() > 0.1  # which it was not before


def test_the_hand_comes_from_the_walk_and_goes_back_to_it(before: Film, after: Film) -> None:
    hand = off(before.bone(HAND), after.bone(HAND))
    assert hand[[0, -1]].max() < POSITION
    path = after.bone(HAND)[:, :3, 3]
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 0.2  # metres a frame: it does not jump


def test_every_frame_has_keys_in_a_new_action_and_the_walk_is_kept(before: Film, after: Film) -> None:
    assert after.action == "Walk with the ball"
    arm = after.curves[after.action]['pose.bones["RightArm"].rotation_quaternion', 0]
    assert arm[:, 0].tolist() == list(FRAMES)
    assert after.curves["Walk"].keys() == before.curves["Walk"].keys()
    for name, keys in before.curves["Walk"].items():
        np.testing.assert_array_equal(after.curves["Walk"][name], keys)


def test_nothing_else_is_touched(before: Film, after: Film) -> None:
    for bone in ("LeftArm", "LeftForeArm", "LeftHand", "LHipJoint", "RHipJoint", "LeftToeBase", "RightToeBase"):
        column = before.names.index(bone)
        assert abs(after.own[:, column] - before.own[:, column]).max() < SAME, bone
    assert before.objects.keys() == after.objects.keys()
    for name in before.objects.keys() - {"Walker eyes"}:  # which are on its head
        np.testing.assert_array_equal(after.objects[name], before.objects[name], err_msg=name)


def test_the_report_says_that_all_is_met(folder: Path) -> None:
    report = json.loads((folder / "demo_report.json").read_text(encoding="utf-8"))
    assert [(goal["bone"], goal["kind"], goal["met"]) for goal in report["goals"]] == [
        ("LeftFoot", "pin", True),
        ("RightFoot", "pin", True),
        ("Head", "pin", True),
        ("RightHand", "drag", True),
    ]
    assert report["converged_frames"] == len(FRAMES)
    assert report["explanations"] == []


def test_the_ways_of_the_hand_are_in_the_file(before: Film, folder: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(folder / "demo.blend"))
    job = json.loads((folder / "demo_job.json").read_text(encoding="utf-8"))
    palm = (before.bone(HAND) @ [*job["goals"][-1]["point"], 1.0])[:, :3]
    way = np.array([point.co[:3] for point in bpy.data.objects["Path before"].data.splines[0].points])
    np.testing.assert_allclose(way, palm, atol=SAME)
    assert len(bpy.data.objects["Path after"].data.splines[0].points) == len(FRAMES)


def test_the_picture_shows_figure_pins_ball_and_ways(folder: Path) -> None:
    image = bpy.data.images.load(str(folder / "demo.png"))
    width, height = image.size
    pixels = np.array(image.pixels[:]).reshape(height, width, -1)[..., :3]
    bpy.data.images.remove(image)
    tiles = pixels[: height - 112, : width // 2]  # below the legend; two of four columns are used
    assert tiles.std() > 0.1
    left, right = tiles[:, : width // 4], tiles[:, width // 4 :][:, : width // 4]
    for tile in (left, right):
        for name, near in {
            "shirt": (0.95, 0.4, 0.28),
            "trousers": (0.25, 0.3, 0.4),
            "pins": (0.1, 0.65, 0.35),
            "ball": (1.0, 0.78, 0.15),
            "way before": (0.4, 0.53, 0.8),
        }.items():
            assert np.count_nonzero(np.linalg.norm(tile - near, axis=-1) < 0.2) > 60, name
    assert abs(left - right).mean() > 0.01


@pytest.mark.long
def test_a_ball_out_of_reach_is_told_and_makes_the_demo_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = load_example("demo")
    job = json.loads(demo.JOB.read_text(encoding="utf-8"))
    job["goals"][-1]["position"] = [0.0, 0.0, 5.0]
    monkeypatch.setattr(demo, "JOB", tmp_path / "far.json")
    demo.JOB.write_text(json.dumps(job), encoding="utf-8")
    assert demo.main(["--tiles", "0", "--output", str(tmp_path / "far")]) == 1
    out = capsys.readouterr().out
    assert "RightHand is NOT where it should be" in out
    assert "LeftFoot  stays as the walk has it" in out
    assert not (tmp_path / "far" / "demo.png").exists()


def test_the_clip_has_its_licence_beside_it() -> None:
    licences = (EXAMPLES / "LICENSES.md").read_text(encoding="utf-8")
    for clip in EXAMPLES.glob("*.bvh"):
        assert clip.name in licences
    assert "mocap.cs.cmu.edu" in licences
    assert "NSF EIA-0196217" in " ".join(licences.split())
