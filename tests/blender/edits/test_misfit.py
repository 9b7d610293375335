"""Where IK controls cannot show the pose that was solved, the report says by how much, and which limb."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

import bridge
from bridge import Grab
from core import Motion, Pose, forward, rotation
from core.formats import job
from core.steps import run_steps
from edits.controls import find_control_motion
from edits.drag.explain import explain
from edits.drag.session import DragSession
from edits.job import perform_job
from edits.pin_list import set_pins
from edits.pins import job_from_pins
from edits.retarget import Retargeted, imported
from tests.blender.control_drags import RIGS, STILL, drag_bone, shared, size_of
from tests.blender.control_rigs import BODY, auto_rig_pro, build, constrain, ik, reverse_foot, shown
from tests.blender.rigs import make_empty, make_ik_body, select, world
from tests.paths import DATA, SHARED

context: Any = bpy.context


def test_a_swivel_that_ik_cannot_show_is_said_in_numbers() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_ik_body()
    for side in "LR":
        rig.pose.bones[f"shin.{side}"].constraints["IK"].pole_target = None
        rig.pose.bones[f"thigh.{side}"].lock_rotation = (True, True, True)
        rig.pose.bones[f"foot_ik.{side}"].location = (0.0, 0.0, 0.0)
    rig.pose.bones["hips"].location = (0.0, -0.15, 0.0)
    select(rig, [])
    context.view_layer.update()
    whole = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, whole.skeleton)
    controlled = bridge.find_controlled_frames(rig, whole, roles, np.array([1.0]), {})
    assert controlled is not None
    present = controlled.read(bridge.read_matrices(rig)[None])
    misfit, _ = _pose(rig, whole, controlled, present)
    assert misfit == []
    thigh = controlled.skeleton.index("thigh.L")
    heads, turns = forward(controlled.skeleton, present)
    limb = heads[0, controlled.skeleton.index("foot.L")] - heads[0, thigh]
    above = turns[0, controlled.skeleton.parents[thigh]]
    base = rotation.mul(above, controlled.skeleton.rest_rotations[thigh])
    for swiveled, advice in ((30.0, ". Mute its IK"), (1.0, "")):  # this rig has no FK to switch to
        swivel = rotation.exp(np.radians(swiveled) * limb / np.linalg.norm(limb))
        rotations = np.array(present.rotations)
        rotations[0, thigh] = rotation.mul(rotation.inv(base), rotation.mul(swivel, turns[0, thigh]))
        wanted = Pose(rotations, present.translations)
        (said,), reached = _pose(rig, whole, controlled, wanted)
        (there, shown), (asked, turned) = (forward(controlled.skeleton, pose) for pose in (reached, wanted))
        leg = [controlled.skeleton.index(name) for name in ("thigh.L", "shin.L", "foot.L")]
        away = np.linalg.norm(there - asked, axis=-1)[0, leg].max()
        angle = np.degrees(rotation.angle_between(shown, turned)[0, leg].max())
        assert angle > 0.8 * swiveled
        assert said.startswith('IK of "foot.L" misses the solved pose by up to ')
        assert f"{bridge.say_length(context.scene, float(away))} and {angle:.1f} degrees" in said
        assert said.endswith(f'(at "shin.L"){advice}')


def test_the_object_that_is_a_pole_is_named() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = make_ik_body()
    chain = rig.pose.bones["shin.R"].constraints["IK"]
    chain.pole_target, chain.pole_subtarget = make_empty("Pole", rig.data.bones["knee.R"].head_local), ""
    select(rig, [])
    session = DragSession(context, rig, [Grab(rig.name, "shin.R", (0.0, 0.0, 0.0))])
    session.drag(np.array([-0.05, -0.1, 0.05]), STILL)
    session.finish()
    assert any(reason.endswith('(at "shin.R"). Move its pole "Pole"') for reason in explain(session))


def test_a_hinge_that_a_pole_makes_is_not_said_to_be_locked() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    arm = {"ik_hand.L": ("root", "wrist", "knuckles"), "pole_elbow.L": ("root", "behind", "further behind")}
    rig = build(BODY | arm)
    ik(rig, "forearm.L", "ik_hand.L", "pole_elbow.L")
    constrain(rig, "hand.L", "COPY_ROTATION", "ik_hand.L")
    select(shown(rig), [])
    rig.poise_root = "FIXED"
    set_pins(context, rig, ["hand.L"], "BOTH", "WORLD")
    session = DragSession(context, rig, [Grab(rig.name, "forearm.L", (0.0, 0.0, 0.0))])
    session.drag(np.array([0.0, 0.05, 0.1]), STILL)
    session.finish()
    (said,) = explain(session)
    assert "hand.L is pinned, IK cannot rotate forearm.L further. Unpin hand.L" in said


def _pose(rig: Any, whole: Any, controlled: Any, pose: Pose) -> tuple[list[str], Pose]:
    motion = Motion(bridge.read_pose(rig, whole)[None], np.array([1.0]), 24.0)
    steps = find_control_motion(context, rig, controlled.with_starts(whole), controlled, motion, pose, False)
    found, _, reached = run_steps(steps)
    return found.misfit, reached


@pytest.mark.long
def test_jobs_measure_limbs_with_the_lengths_that_ik_gives_them() -> None:
    if not SHARED.is_dir():
        pytest.skip("the larger test data (../shared/data) is not here")
    rig, _ = RIGS["Rigify on IK"]()
    with imported(context, DATA / "motion" / "cmu_07_12.bvh") as (source, _):
        edit = Retargeted(context, rig, source, (20, 24), plant=False)
    edit.solve()
    edit.write(rig)
    goals = [{"role": "foot.L", "pin": ["position", "rotation"]}, {"role": "hand.R", "position": [-0.35, -0.5, 1.1]}]
    report = perform_job(
        context, rig, job.parse({"version": 1, "armature": rig.name, "frames": [20, 24], "goals": goals})
    )
    assert report.pose is not None
    assert report.pose.position_error is not None
    assert report.pose.position_error.max() < 1e-3
    context.scene.frame_set(20)
    set_pins(context, rig, ["foot_ik.L", "foot_ik.R"], "BOTH", "WORLD")
    torso = rig.pose.bones["torso"]
    torso.matrix = Matrix.Translation((0.0, 0.0, -0.03)) @ torso.matrix
    context.view_layer.update()
    assert perform_job(context, rig, job_from_pins(rig)).explanations == ()


FREE, TWIST, NONE = (False, False, False), (True, False, True), (True, True, True)
Locks = tuple[bool, bool, bool]


def drag_elbow(upper: Locks, lower: Locks) -> tuple[Any, DragSession]:
    """Drag an elbow, a hinge, round the line of its arm, whose IK has no pole and starts from segments with locks."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = reverse_foot(False)
    rig.pose.bones["forearm.L"].lock_ik_y = rig.pose.bones["forearm.L"].lock_ik_z = True
    rig.pose.bones["ik_hand.L"].matrix = Matrix.Translation((-0.2, -0.25, -0.25)) @ rig.pose.bones["ik_hand.L"].matrix
    rig.pose.bones["upper_arm.L"].rotation_mode = "ZXY"
    rig.pose.bones["upper_arm.L"].lock_rotation, rig.pose.bones["forearm.L"].lock_rotation = upper, lower
    select(rig, [])
    rig.poise_root = "FIXED"
    set_pins(context, rig, ["hand.L"], "BOTH", "WORLD")
    session = DragSession(context, rig, [Grab(rig.name, "forearm.L", (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.1, 1.0, 10):
        session.drag(share * np.array([0.0, 0.05, -0.1]), STILL)
        context.view_layer.update()
    for _ in range(10):
        session.rest()
        context.view_layer.update()
    session.finish()
    context.view_layer.update()
    return rig, session


def test_what_a_drag_is_short_of_names_the_controls_that_are_dragged_and_pinned() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = auto_rig_pro()
    select(rig, [])
    set_pins(context, rig, ["c_foot_ik.l", "c_foot_ik.r"], "BOTH", "WORLD")
    session = DragSession(context, rig, [Grab(rig.name, "c_hand_ik.l", (0.0, 0.0, 0.0))])
    session.drag(np.array([0.0, 0.0, 3.0]), STILL)
    said = next(reason for reason in explain(session) if " short of its target: " in reason)
    assert said.startswith("c_hand_ik.l is ")
    assert "c_foot_ik." in said


@pytest.mark.parametrize(
    ("upper", "lower"), [(FREE, FREE), (FREE, NONE), (TWIST, NONE)], ids=["free", "upper", "twist"]
)
def test_ik_without_a_pole_starts_so_that_the_elbow_is_where_it_was_solved(upper: Locks, lower: Locks) -> None:
    rig, session = drag_elbow(upper, lower)
    solved = session.frames()[0][session.body.skeleton.index("forearm.L")]
    assert np.linalg.norm(solved - session.body.heads[session.effectors[0].bone]) > 0.05
    np.testing.assert_allclose(world(rig, "forearm.L"), solved, atol=3e-3)
    beside = np.linalg.norm(world(rig, "forearm.L") - solved)
    assert any("misses the solved pose" in reason for reason in explain(session)) == (beside > 1e-3)


def test_an_elbow_that_cannot_go_round_turns_nothing_else() -> None:
    _, session = drag_elbow(NONE, NONE)
    assert any('IK of "hand.L" misses the solved pose by up to' in reason for reason in explain(session))
    shoulder = session.body.skeleton.index("shoulder.L")
    assert session.body.controlled is not None
    starts = session.body.controlled.bones_that("begins")
    assert session.body.rig.skeleton.index("shoulder.L") not in starts[shoulder:]


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_an_elbow_that_has_a_location_of_its_own_is_dragged_with_it() -> None:
    """It lengthens the arm: solved without it, the elbow ended 5.8 mm short."""
    rig, _ = shared("scripted/named_mmd_japanese.blend")
    elbow = "左ひじ"
    rig.pose.bones[elbow].location = (0.02, 0.03, 0.01)
    context.view_layer.update()
    start, shift = world(rig, elbow), np.array([0.0, -0.03, 0.02])
    session = DragSession(context, rig, [Grab(rig.name, elbow, (0.0, 0.0, 0.0))])
    session.drag(shift, STILL)
    session.finish()
    context.view_layer.update()
    np.testing.assert_allclose(world(rig, elbow), start + shift, atol=1e-5)
    assert not explain(session)


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_leg_that_ik_no_longer_stretches_is_shown_as_it_is_solved() -> None:
    human, _ = RIGS["Rigify on IK"]()
    size = size_of(human)
    human.pose.bones["torso"].location.z = 0.02 * size
    context.view_layer.update()
    hip, knee, foot = (world(human, f"DEF-{part}.R") for part in ("thigh", "shin", "foot"))
    assert np.linalg.norm(foot - hip) > 0.9999 * (np.linalg.norm(knee - hip) + np.linalg.norm(foot - knee))
    shown = drag_bone(human, "hand_ik.L", (0.03, -0.04, -0.05))
    assert shown.off < 1e-3
    assert not any("misses" in sentence for sentence in shown.said)
