"""Bones of an IK chain of no known body lead its target and pole; limbs whose IK follows an object stay at that."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

import bridge
from bridge import Grab, read_channels
from core import rotation
from core.formats import job
from edits.drag.explain import explain, explain_held
from edits.drag.session import DragSession
from edits.job import perform_job
from edits.pin_list import set_pins
from tests.blender.control_drags import CONTROLS, NEAR, RIGS, TURNED, WAYS, drag_bone, size_of
from tests.blender.control_rigs import flip_name
from tests.blender.rigs import Bones, load, make_armature, make_empty, make_ik_body, select, turn, world
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

STILL = np.array([1.0, 0.0, 0.0, 0.0])
SHIFT = np.array([0.1, -0.1, -0.08])
SHOWN = 1.5e-3  # metres
BONES: Bones = {
    "base": (None, (0, 0, 0), (0, 0, 0.2)),
    "a": ("base", (0, 0, 0.2), (0, -0.1, 0.7)),
    "b": ("a", (0, -0.1, 0.7), (0, 0, 1.2)),
    "tip": ("b", (0, 0, 1.2), (0, 0.1, 1.3)),
    "pole": (None, (0, -1.0, 0.7), (0, -1.2, 0.7)),
    "other": (None, (1, 0, 0), (1, 0, 1)),
}


def crane(beside: float = 0.0, pole: bool = False) -> Any:
    """Two bones on IK, whose target is so far beside their end at rest, and a bone on them."""
    rig: Any = make_armature(bones={**BONES, "target": (None, (0, beside, 1.2), (0, beside + 0.2, 1.2))})
    ik = rig.pose.bones["b"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "target", 2
    if pole:
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, "pole", np.radians(-90.0)
    rig.pose.bones["target"].location = (0.1, 0.0, -0.3)
    select(rig, [])
    bpy.context.view_layer.update()
    return rig


def lead(rig: Any, bone: str, point: tuple[float, float, float], shift: np.ndarray) -> DragSession:
    session = DragSession(bpy.context, rig, [Grab(rig.name, bone, point)], live=True)
    for share in np.linspace(0.0, 1.0, 21)[1:]:
        session.drag(share * shift, STILL)
        bpy.context.view_layer.update()
    for _ in range(20):
        session.rest()
        bpy.context.view_layer.update()
    return session


def place(rig: Any, bone: str, point: tuple[float, float, float]) -> np.ndarray:
    return np.array(rig.matrix_world @ rig.pose.bones[bone].matrix @ Vector(point))


@pytest.mark.parametrize("beside", [0.0, 0.3])
@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize(
    ("bone", "point"), [("b", (0.0, 0.5, 0.0)), ("tip", (0.0, 0.0, 0.0)), ("tip", (0.0, 0.14, 0.0))]
)
def test_the_end_of_an_ik_chain_leads_its_target(beside: float, pole: bool, bone: str, point: Any) -> None:
    rig = crane(beside, pole)
    before = place(rig, bone, point)
    stored = {name: values.tolist() for name, values in read_channels(rig).items()}
    session = lead(rig, bone, point, SHIFT)
    turned, moved, _ = session.finish()
    np.testing.assert_allclose(place(rig, bone, point) - before, SHIFT, atol=SHOWN)
    assert "target" in moved
    assert {*turned, *moved} <= {"target", "pole", "a", "b", "tip"}
    session.restore()
    assert {name: values.tolist() for name, values in read_channels(rig).items()} == stored


def test_the_middle_of_a_chain_leads_its_pole() -> None:
    rig = crane(pole=True)
    knee, end = world(rig, "b"), world(rig, "b", tail=True)
    axis = (end - world(rig, "a")) / np.linalg.norm(end - world(rig, "a"))
    out = knee - world(rig, "a") - axis * (axis @ (knee - world(rig, "a")))
    angle = 0.4  # round the line from the first joint to the end, which may stay
    shift = (np.cos(angle) - 1.0) * out + np.sin(angle) * np.cross(axis, out)
    session = lead(rig, "b", (0.0, 0.0, 0.0), shift)
    np.testing.assert_allclose(world(rig, "b") - knee, shift, atol=SHOWN)
    _, moved, _ = session.finish()
    assert "pole" in moved


@pytest.mark.parametrize("bone", ["hold.L", "pole.L"])
def test_the_target_and_the_pole_of_a_rig_whose_body_is_not_known_move_alone(bone: str) -> None:
    rig: Any = make_armature(
        bones={
            "all": (None, (0, 0, 0), (0, 0.3, 0)),
            **{
                name + side: (parent and parent + side * (parent != "all"), head, tail)
                for side, x in ((".L", 1.0), (".R", -1.0))
                for name, parent, head, tail in (
                    ("a", "all", (x, 0, 0.2), (x, -0.1, 0.7)),
                    ("b", "a", (x, -0.1, 0.7), (x, 0, 1.2)),
                    ("hold", "all", (x, 0, 1.2), (x, 0.2, 1.2)),
                    ("pole", "all", (x, -1.0, 0.7), (x, -1.2, 0.7)),
                )
            },
        }
    )
    for side in (".L", ".R"):
        ik = rig.pose.bones["b" + side].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = rig, "hold" + side, 2
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, "pole" + side, np.radians(-90.0)
    select(rig, [])
    bpy.context.view_layer.update()
    before = {bone.name: world(rig, bone.name) for bone in rig.pose.bones}
    lead(rig, bone, (0, 0, 0), SHIFT)
    np.testing.assert_allclose(world(rig, bone), before[bone] + SHIFT, atol=1e-5)
    for other in ("all", "a.R", "b.R", "hold.R", "pole.R"):
        np.testing.assert_allclose(world(rig, other), before[other], atol=1e-6)


def test_a_chain_that_follows_another_object_stays_and_names_it() -> None:
    rig = crane()
    ik = rig.pose.bones["b"].constraints[0]
    ik.target = make_empty("Cup", (0.1, -0.3, 0.9))
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    before = {bone.name: bone.matrix.copy() for bone in rig.pose.bones}
    session = lead(rig, "b", (0.0, 0.0, 0.0), SHIFT)
    assert explain_held(session)[0] == '"b" follows the object "Cup". Move that object instead'
    session.finish()
    assert {bone.name: bone.matrix for bone in rig.pose.bones} == before
    with pytest.raises(RuntimeError, match=r'is parented to it and can only be rotated\. Move the object "Cup"'):
        bpy.ops.poise.drag(bone="tip", shift=(0.1, 0.0, 0.0))


def straight(rig: Any, cup: Any) -> None:
    """IK leads to the object itself, without a pole; the foot turns with the leg."""
    ik = rig.pose.bones["shin.L"].constraints[0]
    ik.target, ik.subtarget, ik.pole_target = cup, "", None
    rig.pose.bones["foot.L"].constraints.remove(rig.pose.bones["foot.L"].constraints[0])


def copied(kind: str) -> Callable[[Any, Any], None]:
    """The control of the foot copies the object."""

    def tie(rig: Any, cup: Any) -> None:
        rig.pose.bones["foot_ik.L"].constraints.new(kind).target = cup

    return tie


@pytest.fixture(
    params=[straight, copied("COPY_TRANSFORMS"), copied("COPY_LOCATION")], ids=["IK", "transforms", "place"]
)
def tied(request: Any) -> Any:
    """A body on IK whose left foot follows the object "Cup"; both feet are pinned."""
    rig: Any = make_ik_body()
    cup = make_empty("Cup", (0.0, 0.0, 0.0))
    cup.matrix_world = rig.matrix_world @ rig.pose.bones["foot_ik.L"].matrix
    request.param(rig, cup)
    select(rig, [])
    bpy.context.view_layer.update()
    set_pins(bpy.context, rig, ["foot.L", "foot.R"], "BOTH", "WORLD")
    return rig


def shown(session: DragSession, rig: Any) -> float:
    """How far a bone is from where it was solved at most."""
    heads, names = session.frames()[0], session.body.skeleton.names
    return max(float(np.linalg.norm(world(rig, name) - head)) for name, head in zip(names, heads, strict=True))


@pytest.mark.parametrize(("bone", "shift"), [("hips", (0.02, 0.03, -0.08)), ("hand.L", (0.05, -0.3, 0.1))])
def test_a_foot_that_follows_an_object_stays_while_the_body_is_dragged(tied: Any, bone: str, shift: Any) -> None:
    before, feet = world(tied, bone), [world(tied, foot) for foot in ("foot.L", "foot.R")]
    session = lead(tied, bone, (0.0, 0.0, 0.0), np.array(shift))
    assert not session.restless
    assert not explain(session)
    session.finish()
    np.testing.assert_allclose(world(tied, bone) - before, shift, atol=SHOWN)
    np.testing.assert_allclose([world(tied, foot) for foot in ("foot.L", "foot.R")], feet, atol=SHOWN)
    assert shown(session, tied) < SHOWN


@pytest.mark.parametrize(("influence", "beside"), [(0.5, (0.0, 0.0, 0.0)), (1.0, (0.0, -0.1, -0.3))])
def test_a_foot_that_ik_does_not_bring_to_an_object_does_not_hold_the_hips(
    tied: Any, influence: float, beside: tuple[float, ...]
) -> None:
    tied.poise_pins.clear()
    tied.pose.bones["shin.L"].constraints[0].influence = influence
    bpy.data.objects["Cup"].location += Vector(beside)
    bpy.context.view_layer.update()
    shown = drag_bone(tied, "hips", (0.05, 0.0, 0.06))
    assert max(shown.off, shown.short) < NEAR
    assert shown.turned < TURNED
    (said,) = shown.said  # the leg is straight
    assert said.startswith('Feet that are not pinned moved: "foot.R" (6.')


def test_a_pinned_foot_half_way_between_an_object_and_its_own_pose_stays(tied: Any) -> None:
    tied.pose.bones["shin.L"].constraints[0].influence = 0.5
    for bone, angle in (("thigh.L", -0.6), ("shin.L", 0.8)):  # away from where its IK is
        turn(tied, bone, angle)
    bpy.context.view_layer.update()
    set_pins(bpy.context, tied, ["foot.L"], "BOTH", "WORLD")
    shown = drag_bone(tied, "hips", (0.02, 0.03, -0.08))
    assert max(shown.off, shown.short, shown.pins) < NEAR
    assert shown.said == ()


@pytest.mark.parametrize("bone", ["foot.L", "shin.L"])
def test_a_drag_of_a_limb_that_follows_an_object_leaves_that_and_names_it(tied: Any, bone: str) -> None:
    cup = np.array(bpy.data.objects["Cup"].matrix_world)
    foot = world(tied, "foot.L")
    session = lead(tied, bone, (0.0, 0.0, 0.0), np.array((0.0, -0.1, 0.1)))
    assert not session.restless
    assert explain_held(session)[0] == 'foot.L follows the object "Cup". Move that object instead'
    session.finish()
    said = " ".join(explain(session))  # once, and no pin is blamed that holds nothing
    assert said.count('foot.L follows the object "Cup". Move that object instead') == 1
    assert "foot.L is pinned" not in said
    np.testing.assert_allclose(world(tied, "foot.L"), foot, atol=SHOWN)
    np.testing.assert_array_equal(np.array(bpy.data.objects["Cup"].matrix_world), cup)
    assert shown(session, tied) < SHOWN


def test_solve_here_holds_the_other_foot_of_a_body_that_follows_an_object(tied: Any) -> None:
    tied.poise_pins["foot.R"].position.z += 0.1
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(tied, "foot.R"), tied.poise_pins["foot.R"].position, atol=SHOWN)
    turn = np.array((tied.matrix_world @ tied.pose.bones["foot.R"].matrix).to_quaternion())
    assert rotation.angle_between(turn, np.array(tied.poise_pins["foot.R"].rotation)) < np.radians(0.5)
    np.testing.assert_allclose(world(tied, "foot.L"), tied.poise_pins["foot.L"].position, atol=SHOWN)


def test_solve_here_changes_nothing_for_a_pin_that_an_object_holds_its_foot_from(tied: Any) -> None:
    stored = {name: values.tolist() for name, values in read_channels(tied).items()}
    tied.poise_pins["foot.L"].position.z += 0.1
    assert bpy.ops.poise.solve() == {"FINISHED"}
    assert {name: values.tolist() for name, values in read_channels(tied).items()} == stored
    assert tied.animation_data is None


def test_a_bake_holds_a_foot_where_its_object_is_in_each_frame(tied: Any) -> None:
    cup, frames = bpy.data.objects["Cup"], range(1, 5)
    for frame in (1, 4):
        cup.location += Vector((0.01, -0.02, 0.03))
        cup.keyframe_insert("location", frame=frame)
    feet, hips = dict[int, np.ndarray](), world(tied, "hips")
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        feet[frame] = world(tied, "foot.L")
    tied.poise_pins["foot.L"].position.z += 0.1
    tied.poise_pins["foot.R"].position.z += 0.05
    assert bpy.ops.poise.bake(frame_start=1, frame_end=4, action="NEW") == {"FINISHED"}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(world(tied, "foot.L"), feet[frame], atol=1e-4)  # as near as Blender's IK ends
        np.testing.assert_allclose(world(tied, "foot.R"), tied.poise_pins["foot.R"].position, atol=SHOWN)
        assert np.linalg.norm(world(tied, "hips") - hips) < 0.05


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("beside", [(0.0, 0.0, 0.06), (0.0, 0.05, 0.0)])
@pytest.mark.parametrize("bones", ["foot", "foot foot_ik"])  # the control is at the end of the shin, or at the foot
@pytest.mark.parametrize("bone", ["foot.L", "hips"])
def test_a_foot_that_begins_beside_the_end_of_its_ik_is_where_the_mouse_has_it(
    beside: tuple[float, ...], bones: str, bone: str
) -> None:
    rig = make_ik_body()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for moved in [rig.data.edit_bones[f"{name}.{side}"] for name in bones.split() for side in "LR"]:
        moved.use_connect = False
        moved.head, moved.tail = moved.head + Vector(beside), moved.tail + Vector(beside)
    bpy.ops.object.mode_set(mode="OBJECT")
    select(rig, [])
    shown = drag_bone(rig, bone, WAYS[bone])
    assert max(shown.off, shown.short) < NEAR
    assert shown.turned < TURNED
    assert shown.said == ()


@pytest.mark.parametrize(("bone", "end", "cup"), [
    ("hand.L", "hand.L", "hand_ik"), ("forearm.L", "hand.L", "hand_ik"), ("thigh.L", "foot.L", "foot_ik"),
])  # fmt: skip
def test_locks_of_an_elbow_leave_the_other_limbs_their_ik(bone: str, end: str, cup: str) -> None:
    rig = load(SHARED / "rigs" / "scripted" / "odd_constraints_locks_driver.blend")[0]
    select(rig, [])
    session = lead(rig, bone, (0.0, 0.0, 0.0), np.array((0.0, -0.1, 0.05)))
    assert explain_held(session)[0] == f'{end} follows the object "{cup}". Move that object instead'


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_a_body_with_ik_keeps_the_locks_of_an_elbow_on_fk() -> None:
    turns = []
    for locked in (False, True):
        rig = load(SHARED / "rigs" / "scripted" / "odd_constraints_locks_driver.blend")[0]
        select(rig, [])
        elbow, before, shift = rig.pose.bones["forearm.R"], world(rig, "hand.R"), np.array((0.05, -0.15, 0.1))
        assert [*elbow.lock_rotation] == [False, True, True]
        elbow.lock_rotation = (False, locked, locked)
        lead(rig, "hand.R", (0.0, 0.0, 0.0), shift).finish()
        np.testing.assert_allclose(world(rig, "hand.R") - before, shift, atol=SHOWN)
        turns.append(np.abs(elbow.rotation_quaternion[2:]).max())
    assert turns[0] > 0.05
    assert turns[1] < 1e-6


@pytest.mark.parametrize(
    ("name", "hand", "foot"),
    [
        ("Auto-Rig Pro on IK", "c_hand_ik.l", "c_foot_ik.l"),
        pytest.param("Rigify on IK", "hand_ik.L", "foot_ik.L", marks=pytest.mark.skipif(
            not SHARED.exists(), reason="without the rigs of the shared data"
        )),
    ],
)  # fmt: skip
def test_controls_beyond_the_reach_of_their_limbs_stay_there_while_something_else_is_dragged(
    name: str, hand: str, foot: str, capfd: Any
) -> None:
    """They were pulled to the hand and the foot, and keyed there, by 65 and 80 mm while the hips moved by 1."""
    rig, parts = RIGS[name]()
    for bone in rig.pose.bones:  # Rigify limits the target of IK to the limb's length then
        if "IK_Stretch" in bone:
            bone["IK_Stretch"] = 0.0
    size = size_of(rig)
    for control, way in ((hand, (0.4, 0.0, 0.0)), (foot, (0.03, 0.05, -0.08))):
        rig.pose.bones[control].matrix = Matrix.Translation(size * Vector(way)) @ rig.pose.bones[control].matrix
        bpy.context.view_layer.update()
    beyond = np.linalg.norm(world(rig, parts["hand.L"]) - world(rig, hand))
    assert beyond > 0.03 * size
    placed = np.array(rig.pose.bones[foot].matrix_basis)
    assert bpy.ops.poise.drag(bone=parts["hips"], shift=(0.001 * size, 0.0, -0.001 * size)) == {"FINISHED"}
    after = np.linalg.norm(world(rig, parts["hand.L"]) - world(rig, hand))
    assert after == pytest.approx(beyond, rel=0.02)
    assert (np.array(rig.pose.bones[foot].matrix_basis) == placed).all()
    assert bpy.ops.poise.drag(bone=parts["hips"], shift=(0.0, 0.0, -0.02 * size)) == {"FINISHED"}
    assert "Feet that are not pinned moved:" in capfd.readouterr().out  # the foot goes down, as under G
    lower = world(rig, parts["hips"]) - size * np.array([0.0, 0.0, 0.02])
    goals = [{"bone": parts["hips"], "position": lower.tolist()}]
    report = perform_job(bpy.context, rig, job.parse({"version": 1, "armature": rig.name, "goals": goals}))
    assert report.explanations == ()  # the leg is where Blender shows it


def test_a_leg_that_falls_short_of_a_foot_without_a_parent_is_solved_as_blender_shows_it() -> None:
    """The knee was shown 25 mm beside, since the solved leg went on with the gap between the two."""
    rig, parts = RIGS["Quaternius"]()
    foot = rig.pose.bones[parts["foot.L"]]
    foot.matrix = Matrix.Translation(size_of(rig) * Vector((0.03, 0.05, -0.08))) @ foot.matrix
    bpy.context.view_layer.update()
    shown = drag_bone(rig, parts["foot.R"], (0.02, -0.05, 0.04))
    assert max(shown.off, shown.short) < NEAR
    assert shown.turned < TURNED


def test_ik_of_a_tail_is_dragged_beside_the_body_and_does_not_hold_it() -> None:
    """The tail was taken for a rigid part of the body, and a pin of its end turned that over."""
    rig, parts = RIGS["legs on IK with poles"]()
    bpy.ops.object.mode_set(mode="EDIT")
    edited, joint = rig.data.edit_bones, rig.data.edit_bones["hips"].head + Vector((0.0, 0.08, 0.0))
    for name, above, way in (
        *((f"tail.{n}", f"tail.{n - 1}" if n else "hips", (0.0, 0.1, -0.05 + 0.01 * (n % 2))) for n in range(4)),
        ("tail_ik", "", (0.0, 0.1, 0.0)),
    ):
        bone = edited.new(name)
        bone.head, bone.tail = joint, joint + Vector(way)
        bone.parent, joint = edited.get(above), bone.tail
    bpy.ops.object.mode_set(mode="POSE")
    ik = rig.pose.bones["tail.3"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "tail_ik", 4
    bpy.context.view_layer.update()
    hand = world(rig, parts["hand.R"])
    shown = drag_bone(rig, "tail.3", (0.06, -0.06, 0.06))
    assert shown.short < NEAR
    assert shown.said == ()
    np.testing.assert_allclose(world(rig, parts["hand.R"]), hand, atol=1e-6)
    set_pins(bpy.context, rig, ["tail.3", parts["foot.L"], parts["foot.R"]], "BOTH")
    down = np.array([0.0, 0.0, -0.05])
    shown = drag_bone(rig, "hips", down)
    assert shown.short < NEAR
    np.testing.assert_allclose(world(rig, parts["hand.R"]) - hand, size_of(rig) * down, atol=0.01)


@pytest.mark.parametrize("way", [(0.0, 0.0, 0.05), (0.0, -0.05, 0.0)])
@pytest.mark.parametrize("lift", [0.04, 0.08])
@pytest.mark.parametrize(
    "name",
    [
        "MMD",
        pytest.param(
            "MMD of the shared data",
            marks=pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data"),
        ),
    ],
)
def test_a_foot_goes_with_the_mouse_where_its_control_is_beyond_its_reach(
    name: str, lift: float, way: tuple[float, ...], capfd: Any
) -> None:
    """The drag was refused, or told to be short by as much as the control was off. Or the control goes, as under G."""
    rig, parts = RIGS[name]()
    size, hips = size_of(rig), rig.pose.bones["センター"]
    hips.matrix = Matrix.Translation((0.0, 0.0, lift * size / rig.matrix_world.to_scale()[0])) @ hips.matrix
    bpy.context.view_layer.update()
    wanted = [world(rig, bone) + size * np.array(way) for bone in (parts["foot.L"], "左足ＩＫ")]
    assert bpy.ops.poise.drag(bone="左足ＩＫ", shift=tuple(size * np.array(way))) == {"FINISHED"}
    foot, control = (world(rig, bone) for bone in (parts["foot.L"], "左足ＩＫ"))
    assert min(np.linalg.norm(foot - wanted[0]), np.linalg.norm(control - wanted[1])) < NEAR * size
    assert "short" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "hips", "lead"), [("MMD", "センター", "hand.L"), ("Auto-Rig Pro on IK", "c_root_master.x", "head")]
)
def test_nothing_goes_on_at_rest_where_pinned_controls_are_beyond_the_reach_of_their_legs(
    name: str, hips: str, lead: str
) -> None:
    """Under the moving mouse the feet stayed as shown; at rest they went to the pins, and the hands by up to 20 cm."""
    rig, parts = RIGS[name]()
    size, feet = size_of(rig), [parts["foot.L"], parts["foot.R"]]
    bone = rig.pose.bones[hips]
    bone.matrix = Matrix.Translation((0.0, 0.0, 0.06 * size / rig.matrix_world.to_scale()[0])) @ bone.matrix
    bpy.context.view_layer.update()
    controls = [one for one in CONTROLS[name] if "foot" in one or "足ＩＫ" in one][:1]
    set_pins(bpy.context, rig, [*controls, *map(flip_name, controls)], "BOTH", "WORLD")
    assert np.linalg.norm(world(rig, controls[0]) - world(rig, feet[0])) > 0.03 * size
    whole = bridge.read_rig(rig)
    roles = bridge.read_roles(rig, whole.skeleton)
    body = {role: whole.skeleton.names[roles.bone(role)] for role in roles.bones if roles.bone(role) >= 0}
    before = [world(rig, foot) for foot in feet]
    session = DragSession(bpy.context, rig, [Grab(rig.name, body[lead], (0.0, 0.0, 0.0))], live=True)
    for share in np.linspace(0.0, 1.0, 11)[1:]:
        session.drag(share * size * np.array([0.0, -0.05, -0.03]), STILL)
    moving = {one: world(rig, one) for one in body.values()}
    session.finish()
    for one, place in moving.items():
        assert np.linalg.norm(world(rig, one) - place) < 12.0 * NEAR * size, one
    np.testing.assert_allclose([world(rig, foot) for foot in feet], before, atol=2.0 * NEAR * size)
