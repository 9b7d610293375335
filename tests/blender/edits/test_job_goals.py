"""Goals of all kinds in a job: look-at, relative, distance, single axes, balance. Measured by Blender's evaluation."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from bridge import read_rig
from core import CoreError
from core.formats.job import parse
from core.goals import SUPPORT_RADIUS
from edits.job import perform_job
from tests.blender.rigs import contents, load, make_armature, make_empty, make_walk, world
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

POSITION = 0.001  # metres, and
ANGLE = 0.5  # degrees: the default tolerances
CORNERS = 0.0005  # metres that a sampled support polygon may be off by
FEET = [{"bone": f"foot.{side}", "pin": ["position", "rotation"]} for side in "LR"]
HAND = {"bone": "hand.R", "position": {"path": [[1, -0.4, -0.3, 1.2], [20, -0.2, -0.4, 1.5]]}}
PLACES = pytest.mark.parametrize(
    "place",
    [
        {},
        {"location": (1.0, -2.0, 0.3), "rotation_euler": (0.0, 0.0, 1.1), "scale": (0.7, 0.7, 0.7)},
        {"rotation_euler": (0.0, 0.0, -0.4), "scale": (-2.0, 2.0, 2.0)},
    ],
)


def walker(**place: Any) -> Any:
    """The walking body, its object placed somewhere."""
    rig = make_armature()
    make_walk(rig)
    for name, value in place.items():
        setattr(rig, name, value)
    bpy.context.view_layer.update()
    return rig


def done(rig: Any, goals: list[dict[str, Any]], **fields: Any) -> Any:
    """The report of a job on frames 1 to 20, in the armature's space unless said otherwise."""
    return perform_job(bpy.context, rig, parse({"version": 1, "frames": [1, 20], "goals": goals, **fields}))


def by_frame(measure: Callable[[], Any], first: int = 1, last: int = 20) -> np.ndarray:
    """What Blender shows at each frame."""
    found = []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append(measure())
    return np.array(found)


def matrix(rig: Any, bone: str) -> Any:
    return rig.pose.bones[bone].matrix


def seen_angle(rig: Any, bone: str, axis: Any, target: Any) -> float:
    """Degrees between an axis of a bone, as it is seen in the world, and the way from its head to a point there."""
    here = np.array(rig.matrix_world.to_3x3() @ matrix(rig, bone).to_3x3() @ Vector(axis))
    there = np.array(Vector(target) - rig.matrix_world @ matrix(rig, bone).translation)
    # single precision, as `Vector.angle` has it, makes 0 of a hundredth of a degree
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(here, there)), here @ there)))


# --- look at


@pytest.mark.long
@PLACES
@pytest.mark.parametrize(("given", "axis"), [("Z", (0, 0, 1)), ("-X", (-1, 0, 0)), ([0, 1, 1], (0, 1, 1))])
def test_an_axis_aims_at_an_animated_object(place: dict[str, Any], given: Any, axis: Any) -> None:
    rig = walker(**place)
    ball = make_empty("Ball")
    for frame, x in ((1, -2.0), (20, 2.0)):
        ball.location = (x, -3.0, 1.0)
        ball.keyframe_insert("location", frame=frame)
    report = done(rig, [*FEET, {"bone": "head", "look_at": {"object": "Ball"}, "axis": given}]).data()
    errors = by_frame(lambda: seen_angle(rig, "head", axis, ball.matrix_world.translation))
    assert errors.max() < ANGLE
    look = report["goals"][2]
    assert (look["kind"], look["met"], look["position_error"]) == ("look_at", True, None)
    assert look["rotation_error"]["max"] == pytest.approx(errors.max(), abs=2e-3)


def test_a_look_at_without_axis_points_the_bone_itself_from_a_point_of_it() -> None:
    rig = walker()
    done(rig, [{"bone": "forearm.L", "look_at": [1.0, -1.0, 1.0]}])
    assert by_frame(lambda: seen_angle(rig, "forearm.L", (0, 1, 0), (1, -1, 1))).max() < ANGLE
    done(rig, [{"bone": "head", "look_at": [1.0, -1.0, 1.0], "axis": "Z", "point": "tail"}])

    def angle() -> float:
        bone = matrix(rig, "head")
        return np.degrees((bone.to_3x3() @ Vector((0, 0, 1))).angle(Vector((1, -1, 1)) - rig.pose.bones["head"].tail))

    assert by_frame(angle).max() < ANGLE


def test_a_bone_carries_what_is_looked_at() -> None:
    rig = walker()
    done(rig, [HAND, {"bone": "head", "look_at": [0, 0.1, 0], "relative_to": "hand.R", "axis": "Z", "priority": 1}])
    target = lambda: matrix(rig, "hand.R") @ Vector((0, 0.1, 0))  # noqa: E731
    assert by_frame(lambda: seen_angle(rig, "head", (0, 0, 1), target())).max() < ANGLE


def test_a_look_blends_in_and_out_and_is_measured_where_it_is_fully_on() -> None:
    rig = walker()
    angle = lambda: seen_angle(rig, "head", (0, 0, 1), (2.0, 1.0, 1.5))  # noqa: E731
    before = by_frame(angle)
    goal = {"bone": "head", "look_at": [2.0, 1.0, 1.5], "axis": "Z", "frames": [5, 16], "ease": 4}
    report = done(rig, [goal]).data()
    after = by_frame(angle)
    assert report["goals"][0]["frames"] == [9, 12]
    assert after[8:12].max() < ANGLE
    off = [0, 1, 2, 3, 4, 15, 16, 17]
    np.testing.assert_allclose(after[off], before[off], atol=1e-3)
    assert np.all(np.diff(after[4:9]) < 0.0)


def test_a_head_that_cannot_turn_far_enough_says_so() -> None:
    rig = walker()
    for bone in ("head", "chest", "spine", "hips"):
        limit = rig.pose.bones[bone].constraints.new("LIMIT_ROTATION")
        limit.owner_space = "LOCAL"
        for axis in "xyz":
            setattr(limit, f"use_limit_{axis}", True)
            setattr(limit, f"min_{axis}", -0.1)
            setattr(limit, f"max_{axis}", 0.1)
    front = matrix(rig, "head").to_3x3() @ Vector((0, 0, 1))
    target = matrix(rig, "head").translation - 5.0 * front
    report = done(rig, [{"bone": "head", "look_at": list(target), "axis": "Z"}], frames=[1, 2], root="fixed")
    assert not report.met
    assert report.explanations[0].startswith("head is looking ")
    assert "degrees past its target at frame" in report.explanations[0]
    assert "limit" in report.explanations[0]


# --- relative


@pytest.mark.long
@PLACES
def test_numbers_relative_to_a_bone_are_in_its_frame(place: dict[str, Any]) -> None:
    rig = walker(**place)
    turned = Vector((0.4, 1.0, 0.2)).to_track_quat("Z", "Y")
    wish = {"bone": "hand.L", "relative_to": "hand.R", "position": [0.05, 0.1, 0.2], "rotation": list(turned)}
    report = done(rig, [*FEET, {**HAND, "priority": 0}, wish], space="armature")
    assert report.met, report.explanations

    def relation() -> Any:
        return matrix(rig, "hand.R").inverted() @ matrix(rig, "hand.L")

    places = by_frame(lambda: relation().translation)
    assert np.linalg.norm(places - (0.05, 0.1, 0.2), axis=1).max() < POSITION
    assert np.degrees(by_frame(lambda: relation().to_quaternion().rotation_difference(turned).angle)).max() < ANGLE


@pytest.mark.parametrize("at", [None, 7])
def test_a_relative_pin_keeps_how_two_hands_hold_one_thing(at: int | None) -> None:
    rig = walker()
    relation = lambda: np.array(matrix(rig, "hand.R").inverted() @ matrix(rig, "hand.L"))  # noqa: E731
    before = by_frame(relation)
    wanted = before if at is None else np.broadcast_to(before[at - 1], before.shape)
    pin = {"bone": "hand.L", "pin": ["position", "rotation"], "relative_to": "hand.R"}
    pin |= {} if at is None else {"at": at}
    lead = {"bone": "hand.R", "position": [-0.55, -0.2, 1.5]}
    report = done(rig, [pin, lead], root="fixed")
    assert report.met, report.explanations
    after = by_frame(relation)
    assert np.linalg.norm(after[:, :3, 3] - wanted[:, :3, 3], axis=1).max() < POSITION
    assert np.abs(after[:, :3, :3] - wanted[:, :3, :3]).max() < np.radians(ANGLE)
    assert np.linalg.norm(by_frame(lambda: world(rig, "hand.R")) - lead["position"], axis=1).max() < POSITION
    assert report.data()["goals"][0]["kind"] == "pin"


def test_errors_of_a_relation_are_measured_in_the_world() -> None:
    rig = walker(scale=(3.0, 3.0, 3.0))
    wish = {"bone": "hand.L", "relative_to": "hand.R", "position": [0.0, 3.0, 0.0]}
    report = done(rig, [wish], frames=[1, 2])
    assert not report.met

    def gap() -> float:
        target = matrix(rig, "hand.R") @ Vector((0.0, 3.0, 0.0))
        return (rig.matrix_world @ target - rig.matrix_world @ matrix(rig, "hand.L").translation).length

    assert report.data()["goals"][0]["position_error"]["max"] == pytest.approx(by_frame(gap, 1, 2).max(), abs=1e-4)


def test_a_relation_blends_from_the_one_that_was() -> None:
    rig = walker()
    relation = lambda: (matrix(rig, "hand.R").inverted() @ matrix(rig, "hand.L")).translation  # noqa: E731
    before = by_frame(relation)
    wanted = before[9] + np.array([0.0, 0.2, 0.1])
    wish = {"bone": "hand.L", "relative_to": "hand.R", "position": wanted.tolist(), "frames": [4, 17], "ease": 5}
    report = done(rig, [wish]).data()
    after = by_frame(relation)
    assert report["goals"][0]["frames"] == [9, 12]
    assert np.linalg.norm(after - wanted, axis=1)[8:12].max() < POSITION
    np.testing.assert_allclose(after[[0, 1, 2, 17, 18, 19]], before[[0, 1, 2, 17, 18, 19]], atol=1e-4)
    assert np.all(np.diff(np.linalg.norm(after - wanted, axis=1)[3:9]) < 0.0)


def test_two_looks_of_one_bone_share_by_weight() -> None:
    rig = make_armature()
    left, right = (2.0, -2.0, 1.6), (-2.0, -2.0, 1.6)
    goals = [
        {"bone": "head", "look_at": list(left), "axis": "Z", "weight": 9.0},
        {"bone": "head", "look_at": list(right), "axis": "Z"},
    ]
    report = perform_job(bpy.context, rig, parse({"version": 1, "goals": goals, "root": "fixed"}))
    assert [goal["met"] for goal in report.data()["goals"]] == [False, False]
    near, far = (seen_angle(rig, "head", (0, 0, 1), target) for target in (left, right))
    assert far / near == pytest.approx(9.0, rel=0.02)


def test_a_rig_in_centimetres_is_asked_in_metres_and_by_its_own_numbers() -> None:
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    left, right, head = (f"mixamorig:{name}" for name in ("LeftHand", "RightHand", "Head"))
    assert rig.scale[0] == pytest.approx(0.01)
    start = Vector(world(rig, right))
    goals = [
        {"bone": right, "position": list(start + Vector((0.2, -0.2, 0.1)))},
        {"bone": left, "position": [0, 30, 10], "relative_to": right},
        {"bone": left, "distance": 1.2, "to": head, "bound": "at most", "to_point": "tail"},
        {"bone": head, "look_at": list(start + Vector((0.0, -1.0, 0.0))), "axis": "Z"},
    ]
    report = perform_job(bpy.context, rig, parse({"version": 1, "goals": goals}))
    assert report.met, report.explanations
    bpy.context.view_layer.update()
    relation = (matrix(rig, right).inverted() @ matrix(rig, left)).translation
    assert np.linalg.norm(np.array(relation) - (0, 30, 10)) < 100.0 * POSITION
    assert np.linalg.norm(world(rig, left) - world(rig, head, tail=True)) < 1.2 + POSITION
    assert seen_angle(rig, head, (0, 0, 1), start + Vector((0.0, -1.0, 0.0))) < ANGLE


# --- distance


@PLACES
@pytest.mark.parametrize("to", ["bone", "point", "object"])
def test_a_distance_is_kept_in_metres_of_the_world(place: dict[str, Any], to: str) -> None:
    rig = walker(**place)
    scale = abs(rig.scale[0])
    post = rig.matrix_world @ Vector((0.5, -0.3, 1.3))
    make_empty("Post", post)
    target = {"bone": "hand.R", "point": list(post), "object": {"object": "Post"}}[to]
    goal = {"bone": "hand.L", "distance": 0.3 * scale, "to": target, "point": "tail"}
    report = done(rig, [*FEET, goal | ({"to_point": [0, 0.05, 0]} if to == "bone" else {})])
    assert report.met, report.explanations

    def distance() -> float:
        there = rig.matrix_world @ matrix(rig, "hand.R") @ Vector((0, 0.05, 0)) if to == "bone" else post
        return (Vector(world(rig, "hand.L", tail=True)) - there).length

    found = by_frame(distance)
    assert np.abs(found - 0.3 * scale).max() < POSITION
    error = report.data()["goals"][2]
    assert error["kind"] == "distance"
    assert error["rotation_error"] is None
    assert error["position_error"]["max"] == pytest.approx(np.abs(found - 0.3 * scale).max(), abs=1e-5)


@pytest.mark.parametrize(("bound", "kept", "wanted"), [("at most", 1.6, 1.2), ("at least", 1.1, 1.5)])
def test_a_bound_that_holds_changes_nothing(bound: str, kept: float, wanted: float) -> None:
    rig = walker()
    apart = lambda: np.linalg.norm(world(rig, "hand.L") - world(rig, "foot.L"))  # noqa: E731
    before = by_frame(apart)
    assert ((before > 1.21) & (before < 1.49)).any()
    goal = {"bone": "hand.L", "to": "foot.L", "bound": bound}
    assert not done(rig, [goal | {"distance": kept}]).rotated
    assert done(rig, [goal | {"distance": wanted}]).met
    after = by_frame(apart)
    assert (after.max() < wanted + POSITION) if bound == "at most" else (after.min() > wanted - POSITION)


def test_a_rope_that_blends_in_does_not_pull_before_it_is_taut() -> None:
    rig = walker()
    goal = {"bone": "hand.L", "to": "hand.R", "distance": 1.45, "bound": "at most", "frames": [3, 18], "ease": 5}
    assert not done(rig, [goal]).rotated


def test_a_distance_out_of_reach_is_told_as_one() -> None:
    rig = walker()
    report = done(rig, [{"bone": "hand.L", "distance": 4.0, "to": "hand.R"}], frames=[1, 2])
    error = 4.0 - by_frame(lambda: np.linalg.norm(world(rig, "hand.L") - world(rig, "hand.R")), 1, 2)
    assert report.data()["goals"][0]["position_error"]["max"] == pytest.approx(error.max(), abs=1e-4)
    assert report.explanations[0].startswith(f"hand.L is {error.max():.2f} m off the requested distance")


# --- axes


@PLACES
def test_a_position_by_axis_leaves_the_others_free(place: dict[str, Any]) -> None:
    rig = walker(**place)
    height = float(world(rig, "foot.L")[2]) + 0.1 * abs(rig.scale[2])
    report = done(rig, [{"bone": "foot.L", "position": [77.0, -77.0, height], "axes": [0, 0, 1]}])
    assert report.met, report.explanations
    places = by_frame(lambda: world(rig, "foot.L"))
    assert np.abs(places[:, 2] - height).max() < POSITION
    assert np.abs(places[:, :2]).max() < 5.0
    error = report.data()["goals"][0]["position_error"]["max"]
    assert error == pytest.approx(np.abs(places[:, 2] - height).max(), abs=1e-5)


@pytest.mark.long
@PLACES
def test_a_rotation_by_axis_may_turn_about_the_others(place: dict[str, Any]) -> None:
    rig = walker(**place)
    linear = np.array(rig.matrix_world)[:3, :3]
    stand = lambda: linear @ np.array(matrix(rig, "head"))[:3, :3] / np.cbrt(np.linalg.det(linear))  # noqa: E731
    before = by_frame(stand)
    goals = [
        {"bone": "head", "pin": ["rotation"], "rotation_axes": [1, 1, 0]},
        {"bone": "head", "look_at": list(rig.matrix_world @ Vector((3.0, -1.0, 1.6))), "axis": "Z"},
    ]
    report = done(rig, goals, root="fixed")
    assert report.data()["goals"][0]["met"], report.explanations
    turns = [
        Matrix(old @ new.T).to_quaternion().to_exponential_map()
        for old, new in zip(before, by_frame(stand), strict=True)
    ]
    assert np.degrees(np.hypot(*np.array(turns).T[:2])).max() < ANGLE
    assert np.degrees(np.abs(np.array(turns)[:, 2])).min() > 20.0


def test_axes_of_a_relation_are_those_of_the_other_bone() -> None:
    rig = walker()
    wish = {"bone": "hand.L", "relative_to": "hand.R", "position": [0.2, -1.1, 0.2], "axes": [0, 0, 1]}
    report = done(rig, [{**HAND, "priority": 0}, {**wish, "priority": 0}])
    assert report.met, report.explanations
    along = by_frame(lambda: (matrix(rig, "hand.R").inverted() @ matrix(rig, "hand.L")).translation[2])
    assert np.abs(along - 0.2).max() < POSITION


# --- balance


def hull_distance(point: np.ndarray, points: np.ndarray) -> float:
    """How far a point is outside of the convex hull of points of the plane: 0 in one of their triangles."""

    def cross(a: np.ndarray, b: np.ndarray) -> float:
        return float(a[0] * b[1] - a[1] * b[0])

    for a, b, c in combinations(points, 3):
        signs = [cross(q - p, point - p) for p, q in ((a, b), (b, c), (c, a))]
        if abs(cross(b - a, c - a)) > 1e-12 and (min(signs) >= 0.0 or max(signs) <= 0.0):
            return 0.0
    gaps = []
    for a, b in combinations(points, 2):
        share = np.clip((point - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0.0, 1.0)
        gaps.append(np.linalg.norm(a + share * (b - a) - point))
    return float(min(gaps))


def off_balance(rig: Any, masses: dict[str, float], feet: tuple[str, ...]) -> float:
    """How far the center of mass is outside of the feet's polygon, which ends 8 cm before their tips, in metres."""
    bones = [rig.pose.bones[name] for name in masses]
    middles = np.array([rig.matrix_world @ (0.5 * (bone.head + bone.tail)) for bone in bones])
    centre = np.average(middles, axis=0, weights=list(masses.values()))
    ends: list[Vector] = []
    for foot in (rig.pose.bones[name] for name in feet):
        way = foot.tail - foot.head
        tips = 2.0 * SUPPORT_RADIUS * read_rig(rig).skeleton.size
        ends += [rig.matrix_world @ (foot.head + share * way) for share in (0.0, max(0.0, 1.0 - tips / way.length))]
    return hull_distance(centre[:2], np.array(ends)[:, :2])


MASSES = {"hips": 12.0, "chest": 25.0, "head": 5.0, "hand.L": 8.0, "thigh.L": 8.0, "thigh.R": 8.0}


@PLACES
@pytest.mark.parametrize("named", [True, False])
def test_the_centre_of_mass_stays_over_the_pinned_feet(place: dict[str, Any], named: bool) -> None:
    rig = walker(**place)
    scale = abs(rig.scale[0])
    reach = list(rig.matrix_world @ Vector((0.3, -0.75, 1.1)))
    goals = [*FEET, {"bone": "hand.L", "position": reach}]
    radius = 0.02 * scale
    balance = {"masses": MASSES, "radius": radius} | ({"supports": ["foot.L", "foot.R"]} if named else {})
    measure = lambda: off_balance(rig, MASSES, ("foot.L", "foot.R"))  # noqa: E731
    walk = rig.animation_data.action
    assert done(rig, goals).met
    assert by_frame(measure).max() > radius + 3.0 * CORNERS * scale
    rig.animation_data.action = walk
    report = done(rig, goals, balance=balance, tolerance={"position": 2.0 * CORNERS * scale})
    assert report.met, report.explanations
    found = np.maximum(by_frame(measure) - radius, 0.0)
    assert found.max() < 2.0 * CORNERS * scale
    entry = report.data()["goals"][-1]
    assert (entry["bone"], entry["kind"], entry["rotation_error"]) == ("hips", "balance", None)
    assert entry["position_error"]["max"] == pytest.approx(found.max(), abs=1e-5)


def test_what_cannot_be_balanced_is_told_with_the_distance() -> None:
    rig = walker()
    goals = [*FEET, {"bone": "hips", "position": [0.0, -0.6, 0.8], "priority": 0}]
    balance = {"masses": {"hips": 1.0}, "radius": 0.0}
    report = done(rig, goals, balance=balance, frames=[1, 2])
    assert not report.met
    off = by_frame(lambda: off_balance(rig, {"hips": 1.0}, ("foot.L", "foot.R")), 1, 2)
    assert report.data()["goals"][-1]["position_error"]["max"] == pytest.approx(off.max(), abs=1e-4)
    assert any(text.startswith("the center of mass is ") for text in report.explanations)


def test_balance_with_the_masses_of_a_human_needs_no_numbers() -> None:
    rig = walker()
    report = done(
        rig, [*FEET, {"bone": "hand.L", "position": [0.3, -0.5, 1.1]}], balance=True, tolerance={"position": CORNERS}
    )
    assert report.met, report.explanations


# --- what is refused, with nothing changed


@pytest.mark.parametrize(
    ("goals", "fields", "message"),
    [
        (
            [{"bone": "head", "look_at": [0, 0, 0], "relative_to": "hnd.R"}],
            {},
            r'goals\[0\].relative_to: No bone "hnd.R"',
        ),
        ([{"bone": "hand.L", "distance": 1, "to": "hnd.R"}], {}, r'goals\[0\].to: No bone "hnd.R"; did you mean'),
        ([{"bone": "hand.L", "distance": 1, "to": {"object": "Cup"}}], {}, 'No object "Cup"'),
        ([{"bone": "head", "look_at": {"object": "Cup"}}], {}, 'No object "Cup"'),
        (FEET, {"stiffness": {"spin": 1}}, 'stiffness.spin: No bone "spin"; did you mean "spine"'),
        (FEET, {"balance": {"supports": ["foto.L"]}}, r'balance.supports\[0\]: No bone "foto.L"'),
        (FEET, {"balance": {"masses": {"hip": 1}}}, 'balance.masses.hip: No bone "hip"'),
        ([{"bone": "hand.L", "position": [0, 0, 1]}], {"balance": True}, "balance: no bone has its position pinned"),
        (
            [{**FEET[0], "frames": [1, 10]}, {"bone": "foot.R", "pin": ["rotation"]}],
            {"balance": True},
            "balance: no bone has its position pinned",
        ),
    ],
)
def test_names_that_are_not_there_are_refused_by_field(
    goals: list[dict[str, Any]], fields: dict[str, Any], message: str
) -> None:
    rig = walker()
    before = contents()
    with pytest.raises(CoreError, match=message):
        done(rig, goals, **fields)
    assert contents() == before


@pytest.mark.parametrize(
    ("goals", "fields", "field"),
    [
        ([{"bone": "hand.L", "distance": 1, "to": "hand.R"}], {}, r"goals\[0\].distance"),
        ([*FEET, {"bone": "head", "position": [0, 0, 1], "axes": [0, 0, 1]}], {}, r"goals\[2\].axes"),
        ([{"bone": "head", "rotation": [1, 0, 0, 0], "rotation_axes": [0, 0, 1]}], {}, r"goals\[0\].rotation_axes"),
        (FEET, {"balance": True}, "balance"),
    ],
)
def test_an_uneven_scale_is_refused_where_it_has_no_meaning(
    goals: list[dict[str, Any]], fields: dict[str, Any], field: str
) -> None:
    rig = walker(scale=(1.0, 1.0, 1.5))
    with pytest.raises(CoreError, match=f"^{field}: the armature object is scaled unevenly"):
        done(rig, goals, **fields)
    done(rig, goals, **fields, space="armature")


def test_an_uneven_scale_does_no_harm_to_a_look() -> None:
    rig = walker(scale=(1.0, 2.0, 0.5), rotation_euler=(0.0, 0.0, 0.4))
    report = done(rig, [{"bone": "head", "look_at": [3.0, -2.0, 1.0], "axis": "Z"}])
    assert report.met, report.explanations
    assert by_frame(lambda: seen_angle(rig, "head", (0, 0, 1), (3.0, -2.0, 1.0))).max() < ANGLE


def test_a_body_on_tilting_ground_is_not_balanced() -> None:
    rig = walker()
    for frame, angle in ((1, 0.0), (20, 0.5)):
        rig.rotation_euler[0] = angle
        rig.keyframe_insert("rotation_euler", frame=frame)
    with pytest.raises(CoreError, match="balance: the armature object must not tilt"):
        done(rig, FEET, balance=True)
