"""What is under the mouse: joints, ends, bones and custom shapes."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from bridge.grab import Grab, pick, picks, ranked, step
from bridge.pick_order import FIRST, SECOND
from tests.blender.control_rigs import BUILT
from tests.blender.rigs import load, make_armature, make_skin, make_view, select, set_hidden, world
from tests.paths import SHARED

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def rig() -> Any:
    object = make_armature()
    bpy.ops.object.mode_set(mode="POSE")
    return object


@pytest.mark.parametrize("bone", ["hand.L", "forearm.R", "head", "shin.L"])
def test_a_joint_is_grabbed_where_it_is_seen(rig: Any, bone: str) -> None:
    view, _ = make_view()
    mouse = view.pixels(world(rig, bone)) + np.array([3.0, -4.0])
    assert pick(bpy.context, view, tuple(mouse)) == Grab(rig.name, bone, (0.0, 0.0, 0.0))


def test_a_free_end_is_grabbed_and_the_end_of_an_inner_bone_is_the_joint_of_the_next(rig: Any) -> None:
    view, _ = make_view()
    for bone, grabbed, end in (("hand.L", "hand.L", True), ("forearm.L", "hand.L", False)):
        tail = np.array(rig.matrix_world @ rig.pose.bones[bone].tail)
        found = pick(bpy.context, view, tuple(view.pixels(tail)))
        assert found is not None
        assert found.bone == grabbed
        assert found.point[1] == pytest.approx(rig.data.bones[grabbed].length if end else 0.0)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_bone_is_grabbed_at_the_point_that_is_under_the_mouse(rig: Any, share: float) -> None:
    view, _ = make_view()
    rig.location, rig.scale = (0.1, 0.0, 0.05), (0.9, 0.9, 0.9)
    bpy.context.view_layer.update()
    shin = rig.pose.bones["shin.R"]
    point = np.array(rig.matrix_world @ (shin.head + share * (shin.tail - shin.head)))
    found = pick(bpy.context, view, tuple(view.pixels(point)))
    assert found is not None
    assert found.bone == "shin.R"
    assert found.point[1] == pytest.approx(share * rig.data.bones["shin.R"].length, rel=1e-3)


def test_nothing_is_grabbed_beside_the_body_or_of_hidden_bones(rig: Any) -> None:
    view, _ = make_view()
    assert pick(bpy.context, view, (5.0, 5.0)) is None
    mouse = tuple(view.pixels(world(rig, "hand.L")))
    assert pick(bpy.context, view, mouse) is not None
    for name in ("hand.L", "forearm.L"):
        set_hidden(rig.pose.bones[name])
    assert pick(bpy.context, view, mouse) is None


@pytest.mark.parametrize(("side", "turned"), [("L", np.pi / 2.0), ("R", -np.pi / 2.0)])
@pytest.mark.parametrize("bone", ["hand", "shin", "thigh"])
def test_of_two_sides_seen_in_one_place_the_one_in_front_is_grabbed(
    rig: Any, bone: str, side: str, turned: float
) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, turned))
    middle = np.array(rig.pose.bones[f"{bone}.{side}"].center)
    for place in (world(rig, f"{bone}.{side}"), middle):
        grab = pick(bpy.context, view, tuple(view.pixels(place)))
        assert grab is not None
        assert grab.bone == f"{bone}.{side}"


def add_shape(rig: Any, bone: str, away: float, faces: bool = False, **settings: Any) -> Any:
    """A square of side 0.2 across the bone, drawn so far along it in its place; its corners in the bone's frame."""
    corners = [(0.1, away, 0.1), (-0.1, away, 0.1), (-0.1, away, -0.1), (0.1, away, -0.1)]
    mesh = bpy.data.meshes.new("shape")
    edges = [] if faces else [(0, 1), (1, 2), (2, 3), (3, 0)]
    mesh.from_pydata([Vector(corner) / 0.5 for corner in corners], edges, [(0, 1, 2, 3)] if faces else [])
    shape = rig.pose.bones[bone]
    shape.custom_shape = bpy.data.objects.new("shape", mesh)  # of no collection, as shapes are
    shape.use_custom_shape_bone_size, shape.custom_shape_scale_xyz = False, (0.5, 0.5, 0.5)
    for name, value in settings.items():
        setattr(shape, name, value)
    bpy.context.view_layer.update()
    return np.array(corners)


def test_a_custom_shape_is_grabbed_where_it_is_drawn(rig: Any) -> None:
    view, _ = make_view()
    corners = add_shape(rig, "hand.L", 0.2)
    hand = rig.matrix_world @ rig.pose.bones["hand.L"].matrix
    for edge in range(4):
        seen = hand @ Vector(0.3 * corners[edge] + 0.7 * corners[edge - 1])
        assert pick(bpy.context, view, tuple(view.pixels(seen))) == Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))
    middle = tuple(view.pixels(hand @ Vector(corners.mean(axis=0))))
    assert pick(bpy.context, view, middle) is None
    rig.data.show_bone_custom_shapes = False
    assert pick(bpy.context, view, tuple(view.pixels(seen))) is None


def test_a_custom_shape_that_is_moved_scaled_and_drawn_at_another_bone_is_grabbed_there(rig: Any) -> None:
    view, _ = make_view()
    corners = add_shape(
        rig, "hand.L", 0.0, custom_shape_translation=(0.1, 0.2, 0.3), custom_shape_transform=rig.pose.bones["head"],
        use_custom_shape_bone_size=True, custom_shape_rotation_euler=(np.pi / 2.0, 0.0, 0.0),
    )  # fmt: skip
    (x, _, z), size = corners[0], rig.data.bones["hand.L"].length
    edge = Vector((0.1 + size * x, 0.2 - size * z, 0.3))  # in the frame of the head: Z is turned to -Y
    seen = rig.matrix_world @ rig.pose.bones["head"].matrix @ edge
    grab = pick(bpy.context, view, tuple(view.pixels(seen)))
    assert grab is not None
    assert grab.bone == "hand.L"


@pytest.mark.parametrize("wire", [False, True])
def test_a_face_of_a_custom_shape_is_grabbed_unless_it_is_drawn_as_wires(rig: Any, wire: bool) -> None:
    view, _ = make_view()
    corners = add_shape(rig, "hand.L", 0.2, faces=True)
    rig.data.bones["hand.L"].show_wire = wire
    inside = rig.matrix_world @ rig.pose.bones["hand.L"].matrix @ Vector(corners.mean(axis=0))
    grab = pick(bpy.context, view, tuple(view.pixels(inside)))
    assert (grab is None) == wire


def test_a_bone_with_a_custom_shape_is_grabbed_by_its_joint_where_nothing_that_is_drawn_is_near(rig: Any) -> None:
    view, _ = make_view()
    joint = tuple(view.pixels(world(rig, "hand.L")))
    add_shape(rig, "hand.L", 0.0, custom_shape_scale_xyz=(3.0, 3.0, 3.0))
    grab = pick(bpy.context, view, joint)
    assert grab is not None
    assert grab.bone == "forearm.L"  # its line ends there, and is drawn
    add_shape(rig, "forearm.L", 0.0, custom_shape_scale_xyz=(3.0, 3.0, 3.0))
    grab = pick(bpy.context, view, joint)
    assert grab == Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))


def test_of_custom_shapes_seen_in_one_place_the_one_in_front_is_grabbed(rig: Any) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, np.pi / 2.0))
    for side in "LR":
        corners = add_shape(rig, f"hand.{side}", 0.2)
    seen = rig.matrix_world @ rig.pose.bones["hand.R"].matrix @ Vector(0.3 * corners[0] + 0.7 * corners[1])
    grab = pick(bpy.context, view, tuple(view.pixels(seen)))
    assert grab is not None
    assert grab.bone == "hand.L"


@pytest.mark.parametrize(("mouse", "taken"), [(0.0, 0), (2.0, 0), (4.0, 1), (6.0, 1)])
def test_of_a_joint_and_the_shape_of_another_bone_the_nearer_is_grabbed(mouse: float, taken: int) -> None:
    """As at the wrist of a hand before which the control of the other hand is drawn, 6 pixels beside it."""
    view, _ = make_view("ORTHO")
    right, towards = (view.turn[axis] for axis in (0, 2))
    pixel = float(view.pixel(np.zeros(3)))
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, :3, 3] = 50.0 * pixel * right + 0.1 * towards
    line = 6.0 * pixel * right + np.array([[-1.0], [1.0]]) * 20.0 * pixel * view.turn[1] + 0.1 * towards
    shapes = {0: np.zeros((0, 2, 3)), 1: line[None]}
    at = view.pixels(np.zeros(3)) + np.array([mouse, 0.0])
    found = ranked(view, tuple(at), matrices, np.full(2, pixel), np.array([True, True]), shapes=shapes)
    assert [bone for _, bone, _ in found] == [taken, 1 - taken]


@pytest.mark.parametrize(
    ("mouse", "taken"), [((0.0, 18.0), 0), ((1.0, 22.0), 0), ((7.0, 20.0), 1), ((9.0, 22.0), 1), ((0.0, 35.0), 2)]
)
def test_a_palm_is_grabbed_beside_the_root_of_a_thumb_and_that_at_its_joint(
    mouse: tuple[float, float], taken: int
) -> None:
    """A palm of 40 pixels, a thumb that begins 7 beside its middle, and a finger at its end."""
    view, _ = make_view("ORTHO")
    pixel = float(view.pixel(np.zeros(3)))
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[:, :3, 1], matrices[:, :3, 2] = view.turn[1], view.turn[2]
    matrices[1, :3, 3] = pixel * (7.0 * view.turn[0] + 20.0 * view.turn[1])
    matrices[2, :3, 3] = pixel * 40.0 * view.turn[1]
    order = np.array([FIRST, SECOND, SECOND])
    lengths, free = pixel * np.array([40.0, 20.0, 20.0]), np.array([False, True, True])
    at = view.pixels(np.zeros(3)) + np.array(mouse)
    assert ranked(view, tuple(at), matrices, lengths, free, order=order)[0][1] == taken


def test_the_pole_of_another_limb_in_front_of_a_foot_comes_after_it() -> None:
    rig = BUILT["Quaternius"].make()
    select(rig, [])
    view, _ = make_view()
    foot, pole = rig.pose.bones["Foot.R"], rig.pose.bones["PoleTarget.L"]
    middle = foot.center + (foot.head - foot.tail) * 0.1
    pole.matrix = Matrix.Translation(middle)
    bpy.context.view_layer.update()
    mouse = tuple(view.pixels(np.array(rig.matrix_world @ middle)))
    found = [grab.bone for grab in picks(bpy.context, view, mouse)]
    assert found.index("Foot.R") < found.index("PoleTarget.L")
    away = pole.matrix.translation + Vector((0.0, -0.9, 0.0))
    pole.matrix = Matrix.Translation(away)
    bpy.context.view_layer.update()
    grab = pick(bpy.context, view, tuple(view.pixels(np.array(rig.matrix_world @ away))))
    assert grab is not None
    assert grab.bone == "PoleTarget.L"


def test_bones_of_no_length_or_seen_end_on_do_no_harm() -> None:
    view, _ = make_view("ORTHO")
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[:, 2, 3] = 1.0
    matrices[1, :3, :3] = np.stack([view.turn[0], view.turn[2], -view.turn[1]], axis=-1)  # Y towards the viewer
    at = view.pixels(matrices[0, :3, 3])
    assert ranked(view, tuple(at), matrices, np.array([0.0, 0.5]), np.array([True, True]))[0] == (0.0, 0, 0.0)
    assert ranked(view, tuple(at + 300.0), matrices, np.array([0.0, 0.5]), np.array([True, True])) == []
    assert ranked(view, tuple(at), matrices[:0], np.zeros(0), np.zeros(0, bool)) == []


def test_the_next_of_the_bones_under_the_mouse_is_grabbed_until_the_mouse_is_elsewhere(rig: Any) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, np.pi / 2.0))
    x, y = (round(number) for number in view.pixels(world(rig, "hand.L")).tolist())
    every = [grab.bone for grab in picks(bpy.context, view, (x, y))]
    assert every[:2] == ["hand.L", "hand.R"]
    assert len(every) == len({*every})
    for bone in (*every, every[0]):
        found = pick(bpy.context, view, (x + 1, y))
        assert found is not None
        assert found.bone == bone
        step(bpy.context, (x, y))
    elsewhere = view.pixels(world(rig, "shin.L"))
    found = pick(bpy.context, view, tuple(elsewhere))
    assert found is not None
    assert found.bone == "shin.L"


VIEWS = ((1.3, 0.1, 0.4), (1.5, 0.0, 0.0), (1.5, 0.0, 1.57), (1.2, 0.0, 2.4), (1.4, 0.0, -0.8))  # turns of the view
BESIDE = ((0, 0), (5, 0), (-5, 0), (0, 5), (0, -5))  # pixels


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("control", ["front_foot_ik.L", "foot_ik.L"])
def test_at_a_paw_its_control_is_grabbed_before_tweaks_and_toes(control: str) -> None:
    wolf = next(
        rig for rig in load(SHARED / "rigs" / "scripted" / "rigify_generated_wolf.blend") if rig.name != "metarig"
    )
    select(wolf, [])
    taken = list[str]()
    for turn in VIEWS:
        view, _ = make_view("ORTHO", turn)
        at = np.array(view.pixels(world(wolf, control)))
        found = (pick(bpy.context, view, tuple(at + np.array(away))) for away in BESIDE)
        taken += ["" if grab is None else grab.bone for grab in found]
    assert taken.count(control) >= 22
    assert {*taken} <= {f"{end}.{side}" for end in ("front_foot_ik", "foot_ik") for side in "LR"}


@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
def test_on_the_skin_of_the_hips_their_control_is_grabbed_before_tweaks(human: Any) -> None:
    view, _ = make_view("ORTHO", (np.pi / 2.0, 0.0, 0.0))
    head, tail = world(human, "DEF-spine"), world(human, "DEF-spine", tail=True)
    at = tuple(view.pixels(0.15 * head + 0.85 * tail))
    bare = [grab.bone for grab in picks(bpy.context, view, at)]
    assert bare == ["tweak_spine.001", "spine_fk"]
    make_skin(human, ["DEF-spine"])
    assert [grab.bone for grab in picks(bpy.context, view, at)] == ["torso", *bare]
