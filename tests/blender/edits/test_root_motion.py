"""Root motion of a captured walk, as Blender evaluates it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

import commands
from edits.retarget import Retargeted, imported
from edits.root_motion import RootMotion
from tests.blender.control_drags import NEAR, RIGS, key_step
from tests.blender.edits.rigs import heads_over
from tests.blender.rigs import FULL, contents, context, load, make_armature
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
FRAMES = (2, 66)
EXACT = 1e-4  # of the way
CLIP = DATA / "motion" / "cmu_07_12.bvh"


@pytest.fixture
def walker() -> Any:
    return load(CLIP)[0]


@pytest.fixture
def rooted(walker: Any) -> Any:
    """The same walk below a root bone."""
    bpy.ops.object.mode_set(mode="EDIT")
    root = walker.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 5.0, 0.0)
    top = next(bone for bone in walker.data.edit_bones if bone.parent is None and bone.name != "root")
    top.parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    return walker


def seen(rig: Any, between: float = 0.0) -> dict[str, np.ndarray]:
    """Heads and tails (F, 2, 3) of the bones in the world, as Blender evaluates them at or `between` all frames."""
    found: dict[str, list[Any]] = {bone.name: [] for bone in rig.pose.bones}
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        context.scene.frame_set(frame, subframe=between)
        for bone in rig.pose.bones:
            found[bone.name].append([rig.matrix_world @ bone.head, rig.matrix_world @ bone.tail])
    return {name: np.array(ends) for name, ends in found.items()}


def run(rig: Any, carrier: Any, **settings: Any) -> dict[str, np.ndarray]:
    edit = RootMotion(context, rig, FRAMES, carrier, **settings)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is not None
    assert report.pose.met.all()
    return seen(rig)


def test_a_rest_pose_before_a_clip_does_not_travel(walker: Any) -> None:
    found = []
    for first in (1, FRAMES[0]):
        edit = RootMotion(context, walker, (first, FRAMES[1]), "nobody")
        edit.solve()
        assert len(edit.jumps()) == (first == 1)
        source, name = walker.animation_data.action, edit.write(walker).action
        found.append(seen(walker))
        walker.animation_data.action = source
        bpy.data.actions.remove(bpy.data.actions[str(name)])
    for name, ends in found[0].items():
        np.testing.assert_array_equal(ends, found[1][name])


def test_the_root_bone_travels_and_gives_the_travel_back(rooted: Any) -> None:
    before, action = seen(rooted), rooted.animation_data.action
    given = run(rooted, "root")
    size = np.ptp(before["Hips"][:, 0, :2], axis=0).max()
    for name in before.keys() - {"root"}:
        np.testing.assert_allclose(given[name], before[name], atol=EXACT * size)
    travelled = given["root"][-1, 0] - given["root"][0, 0]
    assert np.linalg.norm(travelled[:2]) > 0.9 * np.linalg.norm((before["Hips"][-1, 0] - before["Hips"][0, 0])[:2])
    apart = given["Hips"][:, 0, :2] - given["root"][:, 0, :2]
    assert np.ptp(apart, axis=0).max() < 0.15 * size
    assert rooted.animation_data.action != action

    back = run(rooted, "body")
    for name, ends in before.items():
        np.testing.assert_allclose(back[name], ends, atol=EXACT * size)


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
@pytest.mark.parametrize("start", ["as imported", "mirrored, turned and scaled"])
def test_the_object_travels_and_gives_the_travel_back(walker: Any, mode: str, start: str) -> None:
    walker.rotation_mode = mode
    if start != "as imported":
        walker.matrix_world = Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.1, 0.2, 2.5)), (-0.5, 0.5, 0.5))
    before, halfway = seen(walker), seen(walker, 0.5)
    given, between = run(walker, "object"), seen(walker, 0.5)
    way = np.linalg.norm(before["Hips"][-1, 0, :2] - before["Hips"][0, 0, :2])
    places = np.array([_at(walker, frame).translation for frame in FRAMES])
    assert abs(np.linalg.norm((places[1] - places[0])[:2]) - way) < 0.05 * way
    for name, ends in before.items():
        np.testing.assert_allclose(given[name], ends, atol=EXACT * way)
        np.testing.assert_allclose(between[name], halfway[name], atol=0.01 * way)
    back = run(walker, "body")
    assert np.ptp([_at(walker, frame) for frame in FRAMES], axis=0).max() < 1e-6
    for name, ends in before.items():
        np.testing.assert_allclose(back[name], ends, atol=EXACT * way)


def _at(rig: Any, frame: int) -> Any:
    """The matrix of the object at a frame."""
    context.scene.frame_set(frame)
    return rig.matrix_world.copy()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rig: setattr(rig, "parent", _empty()), "since its parents determine where it is"),
        (lambda rig: rig.constraints.new("LIMIT_LOCATION"), "since constraints determine where it is"),
        (lambda rig: rig.driver_add("location", 0), "since drivers determine where it is"),
        (lambda rig: setattr(rig, "delta_location", (1.0, 0.0, 0.0)), "since delta transforms determine where it is"),
        (lambda rig: setattr(rig, "lock_location", (True, False, False)), "is locked. Unlock"),
        (lambda rig: setattr(rig, "scale", (1.0, 2.0, 1.0)), "is animated or uneven. Apply it first"),
    ],
)  # fmt: skip
def test_an_object_that_keys_cannot_move_is_left_alone_and_the_tool_says_why(
    walker: Any, change: Callable[[Any], object], told: str
) -> None:
    change(walker)
    context.view_layer.update()
    before = contents()
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.poise.root_motion(carrier="OBJECT")
    assert contents() == before


def _empty() -> Any:
    made = bpy.data.objects.new("Empty", None)
    context.scene.collection.objects.link(made)
    return made


@pytest.mark.long
@pytest.mark.parametrize("name", ["Rigify on IK", *(("Rigify on FK", "Auto-Rig Pro on IK") if FULL else ())])
def test_the_root_of_controls_travels_and_gives_the_travel_back(name: str) -> None:
    rig, parts = RIGS[name]()
    with imported(context, CLIP) as (source, _):
        made = Retargeted(context, rig, source, FRAMES)
    made.solve()
    made.write(rig)
    size, (hips, *others) = made.skeleton.size, parts.values()
    before, root = seen(rig), "root" if "root" in rig.pose.bones else "c_pos"
    way = np.linalg.norm(before[hips][-1, 0, :2] - before[hips][0, 0, :2])
    for carrier, share in (("root", 1.0), ("object", 0.0), ("root", 1.0), ("body", 0.0)):
        after = run(rig, carrier)
        for part in (hips, *others):
            np.testing.assert_allclose(after[part], before[part], atol=NEAR * size)
        within = [rig.pose.bones[root].matrix.translation.copy() for _ in map(context.scene.frame_set, FRAMES)]
        assert abs(np.linalg.norm(within[1] - within[0]) - share * way) < 0.1 * way


def test_in_place_a_walk_goes_nowhere_and_keeps_its_ups_and_downs(walker: Any) -> None:
    before = seen(walker)
    still = run(walker, "nobody")
    way, rest = (np.ptp(one["Hips"][:, 0, :2], axis=0).max() for one in (before, still))
    assert rest < 0.12 * way
    np.testing.assert_allclose(still["Hips"][:, 0, 2], before["Hips"][:, 0, 2], atol=EXACT * way)
    for name in ("LeftFoot", "RightFoot"):
        gone = np.linalg.norm(still[name][:, 0] - still["Hips"][:, 0], axis=1)
        np.testing.assert_allclose(
            gone, np.linalg.norm(before[name][:, 0] - before["Hips"][:, 0], axis=1), atol=EXACT * way
        )


def test_one_axis_alone_is_taken_out(walker: Any) -> None:
    before = seen(walker)["Hips"][:, 0]
    along = int(np.argmax(np.ptp(before[:, :2], axis=0)))
    still = run(walker, "nobody", smooth=0.0, axes=("xy"[along],))["Hips"][:, 0]
    assert np.ptp(still[:, along]) < EXACT * np.ptp(before[:, along])
    np.testing.assert_allclose(still[:, 1 - along], before[:, 1 - along], atol=EXACT * np.ptp(before[:, along]))


def test_without_a_root_bone_nothing_is_changed_and_the_tool_says_so(walker: Any) -> None:
    before = contents()
    with pytest.raises(RuntimeError, match="no bone above the hips"):
        bpy.ops.poise.root_motion(carrier="ROOT")
    assert contents() == before


def test_the_operator_takes_the_travel_out_in_one_go(walker: Any) -> None:
    context.view_layer.objects.active = walker
    before = seen(walker)["Hips"][:, 0, :2]
    assert bpy.ops.poise.root_motion(carrier="NOBODY", axes={"X", "Y"}) == {"FINISHED"}
    hips = seen(walker)["Hips"][:, 0, :2]
    assert np.linalg.norm(hips[-1] - hips[0]) < 0.1 * np.linalg.norm(before[-1] - before[0])


def test_headless(rooted: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walk.blend"))
    given = ["--blend", str(tmp_path / "walk.blend"), "--output", str(tmp_path / "root.blend")]
    assert commands.run(["root-motion", "--to", "root", "--report", str(tmp_path / "report.json"), *given]) == 0
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["method"] == "root-motion"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "root.blend"))
    given_back = seen(next(object for object in bpy.data.objects if object.type == "ARMATURE"))["root"][:, 0]
    assert np.linalg.norm(given_back[-1] - given_back[0]) > 1.0


@pytest.mark.parametrize("options", [("--smooth", "-1"), ("--smooth", "1e9")])
def test_numbers_that_make_no_sense_are_refused(options: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    make_armature()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    given = ["--blend", str(tmp_path / "rig.blend"), "--output", str(tmp_path / "out.blend")]
    assert commands.run(["root-motion", "--to", "nobody", "=".join(options), *given]) == 2
    assert "The smoothing of root motion must be between 0 and 60 seconds." in capsys.readouterr().err


def test_feet_that_hang_on_the_root_stay_where_they_are_beside_their_legs() -> None:
    """They were taken to the ends of the legs, a fifth of the body away, and nobody said so."""
    rig, _ = RIGS["Quaternius"]()
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    key_step(rig, (1, 20, 40))
    before = heads_over(rig, 1, 40)
    beside = rig.pose.bones["Foot.L"].head - rig.pose.bones["LowerLeg.L"].tail
    assert beside.length > 0.02
    edit = RootMotion(context, rig, (1, 40), "BODY")
    edit.solve()
    edit.write(rig)
    np.testing.assert_allclose(heads_over(rig, 1, 40), before, atol=1e-4)
