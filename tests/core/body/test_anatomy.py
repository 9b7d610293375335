"""Anatomy is the body's: the same for every rest pose, roll, unit and heading of the same figure."""

import numpy as np
import pytest

from core import EulerBox, Goal, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.body import find_roles
from core.body.anatomy import anatomy, pose_from_angles, with_anatomy
from core.body.masses import masses_of
from core.body.roles import Roles
from core.limits import clamp_rotations, excess
from core.solvers.pins import numbers
from tests.core.body.rigs import FORWARD, LEFT, NAMES, STRAIGHT, UP, VARIANTS, Figure, figure, relaxed_heads, turn_of
from tests.core.rigs import FIGURE, skeleton_of


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_relaxed_pose_is_the_same_from_every_rest_pose(variant: dict) -> None:
    fig = figure(**variant)
    assert find_roles(fig.skeleton).humanoid
    assert np.allclose(relaxed_heads(fig), relaxed_heads(figure("T")), atol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_axes_are_the_bodys_and_deviations_by_them_the_same(variant: dict) -> None:
    fig, plain = figure(**variant), figure("T")
    frames = forward(fig.skeleton, fig.anatomy.reference)[1]
    axes = fig.heading.T @ rotation.to_matrix(rotation.mul(frames, fig.anatomy.axes))
    wanted = rotation.to_matrix(rotation.mul(forward(plain.skeleton, plain.anatomy.reference)[1], plain.anatomy.axes))
    assert np.allclose(axes, wanted, atol=1e-6)
    assert np.allclose(fig.anatomy.deviations, plain.anatomy.deviations)
    assert np.allclose(fig.anatomy.masses, plain.anatomy.masses)
    bends = rotation.rotate(rotation.inv(fig.anatomy.axes), fig.anatomy.bends)
    assert np.allclose(bends, rotation.rotate(rotation.inv(plain.anatomy.axes), plain.anatomy.bends), atol=1e-6)


@pytest.mark.parametrize("seed", [5, 6])
def test_the_relaxed_pose_of_a_figure_with_limbs_bent_a_little_is_the_same_within_degrees(seed: int) -> None:
    plain = relaxed_heads(figure("T", FIGURE))
    for rest in ("A", "bent"):
        assert np.linalg.norm(relaxed_heads(figure(rest, FIGURE, seed)) - plain, axis=1).max() < 0.03


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_relaxed_elbows_and_knees_bend_as_elbows_and_knees_do(variant: dict) -> None:
    heads = relaxed_heads(figure(**variant))
    for side, x in (("L", 1.0), ("R", -1.0)):
        shoulder, elbow, wrist, hip, knee, ankle = (
            heads[NAMES.index(f"{part}.{side}")] for part in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
        )
        upper, lower = elbow - shoulder, wrist - elbow
        assert np.allclose(upper / np.linalg.norm(upper), [0.5 * x, 0.0, -np.sqrt(0.75)], atol=1e-6)
        assert np.isclose(lower @ FORWARD, 0.5 * np.linalg.norm(lower))  # 30 degrees forwards
        assert (knee - 0.5 * (hip + ankle)) @ FORWARD > 0.05
        assert np.isclose(np.degrees(np.arcsin((ankle - knee) @ -FORWARD / np.linalg.norm(ankle - knee))), 10.0)


def hinge_pose(fig: Figure, part: str, side: str, degrees: float) -> Pose:
    """The rest pose with an elbow or a knee at so many degrees from straight, by the figure's geometry alone."""
    skeleton, name = fig.skeleton, f"{part}.{side}"
    axis = LEFT if part == "shin" else -UP if side == "L" else UP
    above = {"shin": "thigh", "forearm": "upper_arm"}[part]
    axis = fig.turned[f"{above}.{side}"] @ fig.heading @ axis
    straight = fig.turned[f"{above}.{side}"] @ fig.turned[name].T
    bone = skeleton.index(name)
    frame = skeleton.rest_matrices[bone, :, :3]
    own = frame.T @ turn_of(axis, degrees) @ straight @ frame
    rotations = np.array(Pose.rest(skeleton).rotations)
    rotations[bone] = rotation.from_matrix(own)
    return Pose(rotations, np.zeros((len(skeleton), 3)))


def outside(skeleton: Skeleton, limits: tuple, pose: Pose, bone: str) -> np.ndarray:
    """Degrees (3,) outside the limits."""
    index = skeleton.index(bone)
    for group in limits:
        if index in group.bones:
            values = group.coordinates(rotation.to_matrix(pose.rotations[group.bones]))
            return np.degrees(excess(group, values)[group.bones.tolist().index(index)])
    raise AssertionError(f"no limits for {bone}")


@pytest.mark.parametrize("variant", [{"rest": "T"}, *VARIANTS.values()], ids=["T", *VARIANTS])
def test_elbows_and_knees_are_outside_past_straight_and_too_far_bent_only(variant: dict) -> None:
    fig = figure(**variant)
    assert sorted(b for group in fig.anatomy.limits for b in group.bones) == sorted(
        fig.skeleton.index(f"{part}.{side}") for part in ("forearm", "shin") for side in "LR"
    )
    for part, most in (("forearm", 160.0), ("shin", 155.0)):
        for side in "LR":
            sign = -1.0 if part == "forearm" and side == "L" else 1.0
            for degrees, wanted in ((-7.0, -7.0), (0.5, 0.0), (90.0, 0.0), (most - 1.0, 0.0), (most + 5.0, 5.0)):
                out = outside(fig.skeleton, fig.anatomy.limits, hinge_pose(fig, part, side, degrees), f"{part}.{side}")
                assert np.allclose(np.sort(np.abs(out)), [0.0, 0.0, abs(wanted)], atol=1e-4)
                assert np.isclose(out.sum(), sign * wanted, atol=1e-4)


# Turns about the axes of the T-pose that everybody can do, and that nobody can.
PEOPLE = {
    "sitting": {"thigh": (-90, 0, 0), "shin": (90, 0, 0)},
    "crouching": {"thigh": (-120, 0, 0), "shin": (140, 0, 0), "foot": (-30, 0, 0)},
    "arms up": {"upper_arm": (0, 0, 85)},
    "arms down, palms back": {"upper_arm": (30, 0, -85)},
    "arms crossed": {"upper_arm": (0, -110, -30), "forearm": (0, -110, 0)},
    "a split": {"thigh.L": (-80, 0, 0), "thigh.R": (30, 0, 0)},
    "looking over the shoulder": {"neck": (0, 30, 0), "head": (0, 50, 0)},
    "touching the toes": {"spine": (90, 0, 0), "neck": (30, 0, 0), "thigh": (-70, 0, 0)},
    "on tiptoe": {"foot": (40, 0, 0), "toe": (-40, 0, 0)},
    "leaning on a hand": {"hand": (0, 0, 80)},
}
NOBODY = {
    "a head looking back": ("head", (0, 120, 0)),
    "a trunk bent back": ("spine", (-150, 0, 0)),
    "an arm through the back": ("upper_arm", (0, 100, 0)),
    "a leg lifted back": ("thigh", (70, 0, 0)),
    "a leg aside over the head": ("thigh", (0, 0, 110)),
    "a foot on the shin": ("foot", (-100, 0, 0)),
    "a hand on its forearm": ("hand", (0, 0, -120)),
}


def beyond(fig: Figure, pose: Pose) -> set[str]:
    """Bones that are outside of anatomical limits."""
    groups = (*fig.anatomy.limits, *fig.anatomy.ranges)
    return {fig.skeleton.names[bone] for bone in np.flatnonzero(clamp_rotations(groups, pose.rotations)[1])}


@pytest.mark.parametrize("variant", [{"rest": "T"}, *VARIANTS.values()], ids=["T", *VARIANTS])
def test_what_people_can_do_is_inside_and_what_nobody_can_is_outside_on_both_sides(variant: dict) -> None:
    fig = figure(**variant)
    roles = find_roles(fig.skeleton)
    for name, angles in PEOPLE.items():
        assert beyond(fig, pose_from_angles(fig.skeleton, roles, angles)) == set(), name
    for name, (part, angles) in NOBODY.items():
        bones = beyond(fig, pose_from_angles(fig.skeleton, roles, {part: angles}))
        assert {bone.partition(".")[0] for bone in bones} == ({"spine", "chest"} if part == "spine" else {part}), name
        assert len(bones) == (1 if part == "head" else 2), name


def test_a_pose_beyond_the_ranges_of_people_stays_until_a_goal_moves_it() -> None:
    skeleton = skeleton_of(STRAIGHT)
    roles = find_roles(skeleton)
    pose = pose_from_angles(skeleton, roles, {"head": (0, 150, 0), "thigh": (80, 0, 0), "shin": (-20, 0, 0)})
    free = with_anatomy(skeleton, PinAndDrag(reference=pose))[0]
    ranged, method = with_anatomy(skeleton, PinAndDrag(reference=pose), ranges=True)
    assert len(ranged.limits) > len(free.limits)
    heads = forward(skeleton, pose)[0]
    still = solve(ranged, pose, [Goal("hand.L", heads[skeleton.index("hand.L")])], method)
    assert np.allclose(still.pose.rotations, pose.rotations, atol=1e-9)
    moved = solve(ranged, pose, [Goal("hand.L", heads[skeleton.index("hand.L")] + [-0.1, -0.2, -0.1])], method)
    assert moved.converged
    assert (
        np.degrees(np.max(rotation.angle_between(moved.pose.rotations, pose.rotations)[skeleton.index("head")])) < 1.0
    )


@pytest.mark.parametrize("variant", [{"rest": "T"}, *VARIANTS.values()], ids=["T", *VARIANTS])
def test_a_straight_elbow_or_knee_bends_into_its_limits(variant: dict) -> None:
    fig = figure(**variant)
    for part in ("forearm", "shin"):
        for side in "LR":
            bone = fig.skeleton.index(f"{part}.{side}")
            bend = rotation.exp(fig.anatomy.bends[bone])
            want = hinge_pose(fig, part, side, np.degrees(0.1)).rotations[bone]
            got = rotation.mul(hinge_pose(fig, part, side, 0.0).rotations[bone], bend)
            assert rotation.angle_between(got, want) < 1e-6
    joints = {fig.skeleton.index(f"{part}.{side}") for part in ("forearm", "shin") for side in "LR"}
    assert set(np.flatnonzero(fig.anatomy.bends.any(axis=1)).tolist()) == joints


def test_a_rest_pose_that_is_bent_aside_says_where_the_elbow_bends() -> None:
    # the elbow points down and the hand up: the arm as it is turned in this rest pose is bent about the forward axis
    rows = [row for row in STRAIGHT if row[0] not in ("forearm.L", "hand.L")]
    rows += [
        ("forearm.L", "upper_arm.L", (0.46, 0, 1.44), (0.585, 0, 1.657)),
        ("hand.L", "forearm.L", (0.585, 0, 1.657), (0.63, 0, 1.73)),
    ]
    skeleton = skeleton_of(rows, np.random.default_rng(7))
    found = anatomy(skeleton)
    assert np.allclose(outside(skeleton, found.limits, Pose.rest(skeleton), "forearm.L"), 0.0)
    heads = forward(skeleton, found.reference)[0]
    arm = {name: heads[skeleton.index(name)] for name in ("upper_arm.L", "forearm.L", "hand.L")}
    lower = arm["hand.L"] - arm["forearm.L"]
    assert np.isclose(lower @ FORWARD, 0.5 * np.linalg.norm(lower), rtol=1e-3)


def test_a_body_with_one_arm_has_the_same_anatomy_in_what_it_has() -> None:
    rows = [row for row in STRAIGHT if not (row[0].endswith("arm.R") or row[0] in ("hand.R", "clavicle.R"))]
    skeleton = skeleton_of(rows, np.random.default_rng(8))
    assert find_roles(skeleton).humanoid
    found, whole = anatomy(skeleton), figure("T")
    heads = forward(skeleton, found.reference)[0]
    kept = [NAMES.index(row[0]) for row in rows]
    assert np.allclose(heads, relaxed_heads(whole)[kept], atol=1e-6)
    assert np.allclose(found.deviations, whole.anatomy.deviations[kept])
    assert np.isclose(found.masses.sum(), 1.0)


def test_the_masses_are_one_in_all_half_in_the_trunk_and_the_same_on_both_sides() -> None:
    fig = figure("A", seed=9)
    masses = dict(zip(NAMES, fig.anatomy.masses, strict=True))
    assert np.isclose(sum(masses.values()), 1.0)
    assert abs(masses["hips"] + masses["spine"] + masses["chest"] - 0.5) < 0.01
    assert all(np.isclose(masses[name], masses[f"{name[:-1]}R"]) for name in NAMES if name.endswith(".L"))
    assert masses["thigh.L"] > masses["shin.L"] > masses["upper_arm.L"] > masses["forearm.L"] > masses["hand.L"] > 0.0
    assert np.array_equal(masses_of(fig.skeleton), fig.anatomy.masses)


def test_a_creature_weighs_as_it_is_long() -> None:
    skeleton = skeleton_of([("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 4))])
    assert np.allclose(masses_of(skeleton), [0.25, 0.75])


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_spine_of_any_count_strays_as_far_in_all(count: int) -> None:
    joints = np.linspace(1.06, 1.48, count + 1)
    rows = [STRAIGHT[0]]
    for n in range(count):
        above = f"spine{n}" if n else "hips"
        rows.append((f"spine{n + 1}", above, (0, 0, joints[n]), (0, 0, joints[n + 1])))
    last = f"spine{count}"
    rows += [(name, last if parent == "chest" else parent, head, tail) for name, parent, head, tail in STRAIGHT[3:]]
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    assert roles.bones["spine"] == tuple(range(1, count + 1))
    found = anatomy(skeleton, roles)
    assert np.allclose(np.square(found.deviations[1 : count + 1]).sum(axis=0), 3.0 * np.radians(8.0) ** 2)
    assert np.isclose(found.masses[1 : count + 1].sum(), 0.355)


def test_bones_without_a_role_have_the_solvers_own_deviations_and_the_root_turns_rather_than_leans() -> None:
    rows = [("root", None, (0, 0, 0), (0, 0.2, 0)), ("hips", "root", *STRAIGHT[0][2:]), *STRAIGHT[1:]]
    rows.append(("prop", "hand.R", (-0.8, 0, 1.44), (-0.9, 0, 1.6)))
    skeleton = skeleton_of(rows)
    found = anatomy(skeleton)
    assert np.allclose(rotation.rotate(found.axes[0], np.eye(3)[1]), (0.0, 0.0, 1.0) @ skeleton.rest_matrices[0, :, :3])
    assert np.isclose(found.deviations[0, 1], numbers.ROOT_TURN_DEVIATION)
    assert np.all(found.deviations[0, [0, 2]] < 0.5 * numbers.ROOT_TURN_DEVIATION)
    for name in ("hips", "prop"):
        assert np.allclose(found.deviations[skeleton.index(name)], numbers.JOINT_DEVIATION)
    assert np.array_equal(found.reference.rotations[skeleton.index("prop")], rotation.IDENTITY)


def test_a_bone_between_two_parts_of_the_body_is_stiff() -> None:
    rows = [(name, "half.L" if name == "thigh.L" else parent, head, tail) for name, parent, head, tail in STRAIGHT]
    rows.insert(1, ("half.L", "hips", (0, 0, 0.95), (0.1, 0, 0.92)))
    skeleton = skeleton_of(rows)
    found = anatomy(skeleton)
    assert np.allclose(found.deviations[1], np.radians(5.0))
    assert np.allclose(forward(skeleton, found.reference)[0][2:], relaxed_heads(figure("T"))[1:], atol=1e-6)


def twisted(seed: int) -> Skeleton:
    """Forearms and upper arms with an in-line bone in their second half, the shoulders lowered."""
    rows = [row for row in STRAIGHT if row[0][:-2] not in ("forearm", "hand")]
    for side, x in (("L", 1.0), ("R", -1.0)):
        rows += [
            (f"upper_arm_twist.{side}", f"upper_arm.{side}", (0.32 * x, 0, 1.44), (0.46 * x, 0, 1.44)),
            (f"forearm.{side}", f"upper_arm_twist.{side}", (0.46 * x, 0, 1.44), (0.58 * x, 0, 1.44)),
            (f"forearm_twist.{side}", f"forearm.{side}", (0.58 * x, 0, 1.44), (0.71 * x, 0, 1.44)),
            (f"hand.{side}", f"forearm_twist.{side}", (0.71 * x, 0, 1.44), (0.8 * x, 0, 1.44)),
        ]
    return skeleton_of(rows, np.random.default_rng(seed))


def test_bones_in_line_share_the_twist_and_never_bend_a_limb_in_the_middle() -> None:
    skeleton = twisted(10)
    roles = find_roles(skeleton)
    assert {role: [skeleton.names[b] for b in bones] for role, bones in roles.twist.items()} == {
        f"{part}.{side}": [f"{part}_twist.{side}"] for part in ("upper_arm", "forearm") for side in "LR"
    }
    found = anatomy(skeleton, roles)
    for part in ("upper_arm", "forearm"):
        first, second = (skeleton.index(f"{part}{kind}.L") for kind in ("", "_twist"))
        along = np.abs(rotation.rotate(found.axes[second], np.eye(3)) * found.deviations[second][:, None])
        assert np.allclose(along.sum(axis=0), [0.0, found.deviations[first][0], 0.0], atol=1e-9)  # about its length

    bodied, method = with_anatomy(skeleton, PinAndDrag(root="fixed"), roles)
    heads, frames = forward(skeleton, found.reference)
    hand = skeleton.index("hand.L")
    turn = rotation.exp(np.radians(70.0) * rotation.rotate(frames[skeleton.index("forearm.L")], [0.0, 1.0, 0.0]))
    goal = Goal("hand.L", heads[hand] + [0.05, -0.1, 0.15], rotation.mul(turn, frames[hand]))
    solution = solve(bodied, found.reference, [goal], method)
    assert solution.converged
    heads, frames = forward(skeleton, solution.pose)
    for part, end in (("upper_arm", "forearm"), ("forearm", "hand")):
        first, second, last = (heads[skeleton.index(f"{name}.L")] for name in (part, f"{part}_twist", end))
        one, other = second - first, last - second
        assert np.linalg.norm(np.cross(one, other)) < np.radians(0.01) * np.linalg.norm(one) * np.linalg.norm(other)
    both = [skeleton.index(name) for name in ("forearm.L", "forearm_twist.L")]
    turned = rotation.mul(rotation.inv(found.reference.rotations[both]), solution.pose.rotations[both])
    shares = rotation.swing_twist(turned, np.array([0.0, 1.0, 0.0]))[1]
    twists = np.degrees(rotation.log(shares)[:, 1])
    assert np.all(np.abs(twists) > 5.0)
    assert np.isclose(*twists, rtol=0.5)


def test_only_bones_without_limits_of_their_own_get_some() -> None:
    plain = skeleton_of(STRAIGHT)
    own = EulerBox([plain.index("forearm.L")], ["XYZ"], [[-1.0] * 3], [[1.0] * 3])
    skeleton, method = with_anatomy(skeleton_of(STRAIGHT, limits=(own,)), PinAndDrag())
    assert skeleton.limits[0] is own
    limited = [bone for group in skeleton.limits for bone in group.bones.tolist()]
    assert len(limited) == len(set(limited)) == 4
    skeleton, _ = with_anatomy(skeleton_of(STRAIGHT, limits=(own,)), PinAndDrag(), ranges=True)
    limited = [bone for group in skeleton.limits for bone in group.bones.tolist()]
    assert sorted(limited) == [bone for bone in range(len(skeleton)) if skeleton.names[bone] != "hips"]
    assert method.reference is not None
    assert method.deviations is not None
    assert method.axes is not None


def test_a_reference_that_the_method_names_is_kept() -> None:
    skeleton = skeleton_of(STRAIGHT)
    reference = Pose.rest(skeleton)
    method = with_anatomy(skeleton, PinAndDrag(reference=reference, root="fixed"))[1]
    assert method.reference is reference
    assert method.root == "fixed"


def test_a_creatures_leg_bends_as_it_is_bent_at_rest_and_a_straight_one_as_it_likes() -> None:
    rows = [
        ("body", None, (0, 0, 1), (0, 1, 1)),
        ("a", "body", (0, 0, 1), (0, 0.1, 0.7)),
        ("b", "a", (0, 0.1, 0.7), (0, -0.1, 0.4)),
        ("c", "b", (0, -0.1, 0.4), (0, -0.3, 0.1)),  # in line with b
        ("d", "c", (0, -0.3, 0.1), (0, -0.4, 0)),
    ]
    skeleton = skeleton_of(rows, np.random.default_rng(11))
    roles = Roles(False, {}, {}, {"leg.L": (1, 2, 3, 4)}, {}, (), "-Y", "+Z", "other")
    found = anatomy(skeleton, roles)
    assert np.array_equal(np.flatnonzero(found.bends.any(axis=1)), [2])
    assert not found.limits
    assert np.array_equal(found.reference.rotations, Pose.rest(skeleton).rotations)
    straight = np.array(Pose.rest(skeleton).rotations)
    straight[2] = rotation.mul(straight[2], rotation.exp(found.bends[2]))
    heads, rest = forward(skeleton, Pose(straight, np.zeros((5, 3))))[0], forward(skeleton, Pose.rest(skeleton))[0]

    def reach(points: np.ndarray) -> float:
        return float(np.linalg.norm(points[3] - points[1]))

    assert reach(heads) < reach(rest)


@pytest.mark.parametrize("seed", range(4))
def test_a_bent_limb_that_is_pulled_in_keeps_bending_its_way(seed: int) -> None:
    fig = figure(("T", "A", "I", "bent")[seed], FIGURE, seed)
    skeleton, method = with_anatomy(fig.skeleton, PinAndDrag(root="fixed"))
    heads = forward(skeleton, Pose.rest(skeleton))[0]
    for first, part, last in (("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")):
        ends = heads[skeleton.index(f"{first}.L")], heads[skeleton.index(f"{last}.L")]
        for share in (0.1, 0.35):
            goal = Goal(f"{last}.L", ends[1] + share * (ends[0] - ends[1]))
            solution = solve(skeleton, Pose.rest(skeleton), [goal], method)
            assert solution.converged
            assert np.allclose(outside(skeleton, fig.anatomy.limits, solution.pose, f"{part}.L"), 0.0, atol=1e-4)


def test_a_body_that_has_walked_away_is_not_drawn_back(figure: Skeleton) -> None:
    there = np.array([5.0, 0.0, 0.0])
    rest = Pose.rest(figure)
    away = rest.translations.copy()
    away[0] = rotation.rotate(rotation.inv(figure.rest_rotations[0]), there)
    pose = Pose(rest.rotations, away)
    heads, _ = forward(figure, pose)
    hand = figure.index("hand.L")
    skeleton, method = with_anatomy(figure, PinAndDrag(), pose=pose)
    solution = solve(skeleton, pose, [Goal("hand.L", heads[hand] + [0.0, -0.05, 0.0])], method)
    hips = forward(figure, solution.pose)[0][0]
    assert solution.converged
    # the arm comes down to its relaxed pose, and the hips up: far less than the way home
    assert np.linalg.norm(hips - heads[0]) < 0.5


def test_hips_that_hang_on_a_bone_at_the_feet_are_the_root() -> None:
    ground = [("root", None, (0, 0, 0), (0, 0.2, 0)), ("weapon", "root", (0.5, 0, 0), (0.5, 0.2, 0))]
    rows = [*ground, *((name, parent or "root", head, tail) for name, parent, head, tail in FIGURE)]
    skeleton = skeleton_of(rows, translatable=np.ones((len(rows), 3), bool))
    roles = find_roles(skeleton)
    rest = Pose.rest(skeleton)
    heads = forward(skeleton, rest)[0]
    limited, method = with_anatomy(skeleton, PinAndDrag(root="pull", reference=rest), roles)
    assert method.root_bone == skeleton.index("hips")
    goal = Goal("hand.L", heads[skeleton.index("hand.L")] + [-0.3, -0.5, -0.3])
    after = solve(limited, rest, [goal], method)
    assert after.converged
    moved = forward(skeleton, after.pose)[0]
    feet = [skeleton.index("foot.L"), skeleton.index("foot.R")]
    assert np.linalg.norm(moved - heads, axis=-1)[feet].max() < 0.1  # it was 0.6: the pelvis turned over
    assert np.array_equal(after.pose.rotations[:2], rest.rotations[:2])
    # a goal on what is not below the hips moves the whole
    goals = [Goal("weapon", heads[1] + [0.0, 0.0, 0.3])]
    assert solve(limited, rest, goals, method).converged


def test_of_a_spine_that_legs_hang_on_only_what_is_above_bends() -> None:
    rows = [(n, "spine" if n.startswith("thigh") else parent, head, tail) for n, parent, head, tail in FIGURE]
    order = sorted(rows, key=lambda row: row[0].startswith(("thigh", "shin", "foot")))
    found = anatomy(skeleton := skeleton_of(order))
    spine, chest = skeleton.index("spine"), skeleton.index("chest")
    assert np.degrees(found.deviations[spine]).max() <= 5.0
    assert np.allclose(np.degrees(found.deviations[chest]), 8.0 * np.sqrt(3.0))


def test_a_body_whose_places_alone_are_wanted_does_not_turn_round(figure: Skeleton) -> None:
    places = {
        "head": (0.048, 0.04, 1.566),
        "hand.L": (0.418, -0.219, 1.041),
        "hand.R": (0.186, 0.358, 1.261),
        "foot.L": (0.009, 0.385, 0.181),
        "foot.R": (0.154, 0.184, 0.369),
    }
    goals, rest = [Goal(bone, np.array(position)) for bone, position in places.items()], Pose.rest(figure)
    skeleton, method = with_anatomy(figure, PinAndDrag(), pose=rest)
    assert method.reference is not None
    poses = [solve(skeleton, start, goals, method).pose for start in (rest, method.reference)]
    assert np.degrees(rotation.angle_between(poses[0].rotations[0], rest.rotations[0])) < 20.0  # it was 107
    assert np.degrees(rotation.angle_between(poses[0].rotations, poses[1].rotations)).max() < 0.1
