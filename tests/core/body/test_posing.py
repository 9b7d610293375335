"""What is done to a body by its parts: postures, mirroring, feet on the ground, hands on a surface, fingers, looks."""

import numpy as np
import pytest

from core import CoreError, Humanoid, Pose, Skeleton, Solution, forward, rotation, solve
from core.body import find_roles
from core.body.corrections import correct_roles
from core.body.gaze import gaze_at, look_at
from core.body.grip import pose_fingers
from core.body.ground import Plane, find_palm, find_sole, lay_hands, plant_feet
from core.body.mirror import counterparts, mirror_pose
from core.body.posture import take_posture
from core.body.roles import Roles
from tests.core.body.rigs import HANDS, STRAIGHT, THUMBS, VARIANTS, figure
from tests.core.rigs import random_pose, skeleton_of

LEFT, UP, FORWARD = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0])
ACROSS = np.array([-1.0, 1.0, 1.0])
EYES = [(f"eye.{s}", "head", (0.03 * x, -0.08, 1.65), (0.03 * x, -0.1, 1.65)) for s, x in (("L", 1.0), ("R", -1.0))]


def body(rows: list = STRAIGHT, rng: np.random.Generator | None = None) -> tuple[Skeleton, Roles]:
    skeleton = skeleton_of(rows, rng)
    return skeleton, find_roles(skeleton)


def way(skeleton: Skeleton, pose: Pose, first: str, last: str) -> np.ndarray:
    heads, _ = forward(skeleton, pose)
    line = heads[skeleton.index(last)] - heads[skeleton.index(first)]
    return line / np.linalg.norm(line)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_a_t_pose_is_one_whatever_the_rest_pose_and_the_present_one_are(variant: dict) -> None:
    rng = np.random.default_rng(1)
    fig = figure(**variant)
    skeleton, roles = fig.skeleton, find_roles(fig.skeleton)
    out, down = fig.heading @ LEFT, fig.heading @ -UP
    for _ in range(3):
        pose = random_pose(skeleton, rng)
        pose = Pose(np.where(skeleton.parents[:, None] < 0, rotation.IDENTITY, pose.rotations), pose.translations)
        pose = take_posture(skeleton, roles, pose, "T")
        for first, last, wanted in (
            ("upper_arm.L", "forearm.L", out), ("forearm.L", "hand.L", out), ("upper_arm.R", "forearm.R", -out),
            ("thigh.L", "shin.L", down), ("shin.R", "foot.R", down),
        ):  # fmt: skip
            np.testing.assert_allclose(way(skeleton, pose, first, last), wanted, atol=1e-6)
        lowered = take_posture(skeleton, roles, pose, "A", np.radians(30.0))
        arm = np.cos(np.radians(30.0)) * -out + np.sin(np.radians(30.0)) * down
        np.testing.assert_allclose(way(skeleton, lowered, "upper_arm.R", "hand.R"), arm, atol=1e-6)


def test_a_posture_keeps_place_and_heading_and_bones_of_no_part() -> None:
    rows = [*STRAIGHT, ("tail", "hips", (0, 0.1, 0.95), (0, 0.3, 0.95))]
    skeleton, roles = body(rows, np.random.default_rng(2))
    hips, tail = skeleton.index("hips"), skeleton.index("tail")
    pose = random_pose(skeleton, np.random.default_rng(3))
    rest = rotation.from_matrix(skeleton.rest_matrices[hips, :, :3])
    turned = rotation.mul(rotation.exp(0.7 * UP), rotation.exp(0.4 * LEFT))
    rotations = np.array(pose.rotations)
    rotations[hips] = rotation.mul(rotation.inv(rest), rotation.mul(turned, rest))
    pose = Pose(rotations, pose.translations)
    after = take_posture(skeleton, roles, pose, "REST")
    heads, turns = forward(skeleton, after)
    np.testing.assert_allclose(heads[hips], forward(skeleton, pose)[0][hips], atol=1e-12)
    change = rotation.mul(turns[hips], rotation.inv(rest))
    np.testing.assert_allclose(rotation.log(rotation.positive(change)), 0.7 * UP, atol=0.05)
    assert np.array_equal(after.rotations[tail], pose.rotations[tail])
    np.testing.assert_array_equal(after.rotations[skeleton.index("shin.L")], rotation.IDENTITY)


@pytest.mark.parametrize("named", [True, False])
def test_a_mirrored_pose_is_the_mirror_image_and_twice_is_none(named: bool) -> None:
    rng = np.random.default_rng(4)
    rows = [*STRAIGHT, ("horn.L", "head", (0.05, 0, 1.75), (0.1, 0, 1.85)), ("horn.R", "head", (-0.05, 0, 1.75),
            (-0.1, 0, 1.85))]  # fmt: skip
    skeleton = skeleton_of(rows, rng)
    roles = find_roles(skeleton)
    if not named:
        skeleton = Skeleton(
            [f"b{i}" for i in range(len(rows))], skeleton.parents, skeleton.offsets, skeleton.rest_rotations,
            skeleton.lengths,
        )  # fmt: skip
    rotations = np.array(random_pose(skeleton, rng).rotations)
    rotations[0] = rotation.IDENTITY
    pose = Pose(rotations, np.zeros((len(skeleton), 3)))
    before, after = (forward(skeleton, p)[0] for p in (pose, mirror_pose(skeleton, roles, pose)))
    names = [row[0] for row in rows]
    for bone, name in enumerate(names):
        other = names.index(name.translate(str.maketrans("LR", "RL")) if name[-2:] in (".L", ".R") else name)
        away = (after[other] - after[0]) - ACROSS * (before[bone] - before[0])
        assert np.abs(away).max() < 1e-9, name
    feet = [names.index("foot.L"), names.index("foot.R")]
    np.testing.assert_allclose(before[feet].mean(axis=0)[:2], after[feet].mean(axis=0)[:2], atol=1e-9)
    again = mirror_pose(skeleton, roles, mirror_pose(skeleton, roles, pose))
    assert rotation.angle_between(again.rotations, pose.rotations).max() < 1e-7


@pytest.mark.parametrize("rolled", [False, True])
def test_sizes_of_bones_are_mirrored_with_the_pose(rolled: bool) -> None:
    rng = np.random.default_rng(16)
    skeleton, roles = body(rng=rng if rolled else None)
    pose = random_pose(skeleton, rng, spread=0.2)
    scales, index = np.ones((len(skeleton), 3)), skeleton.index
    scales[index("upper_arm.L")] = (1.0, 1.5, 1.0) if rolled else (1.2, 1.5, 0.8)  # across an arm no roll is said
    scales[index("shin.R")], scales[index("head")] = 0.7, 1.3
    pose = Pose(pose.rotations, pose.translations, scales)
    mirrored = mirror_pose(skeleton, roles, pose)
    np.testing.assert_allclose(mirrored.scales[index("upper_arm.R")], scales[index("upper_arm.L")], atol=1e-9)
    np.testing.assert_allclose(mirrored.scales[index("shin.L")], 0.7, atol=1e-9)
    np.testing.assert_allclose(mirrored.scales[index("head")], 1.3, atol=1e-9)
    for bone in ("upper_arm.L", "shin.R"):
        np.testing.assert_allclose(mirrored.scales[index(bone)], 1.0, atol=1e-9)
    assert np.array_equal(mirror_pose(skeleton, roles, pose, "R").scales[index("shin.R")], scales[index("shin.R")])
    again = mirror_pose(skeleton, roles, mirrored)
    np.testing.assert_allclose(again.scales, scales, atol=1e-9)
    assert mirror_pose(skeleton, roles, Pose(pose.rotations, pose.translations)).scales is None


@pytest.mark.parametrize("model", ["L", "R"])
def test_one_side_is_the_model_of_the_other_and_stays(model: str) -> None:
    skeleton, roles = body(rng=np.random.default_rng(5))
    pose = random_pose(skeleton, np.random.default_rng(6))
    after = mirror_pose(skeleton, roles, pose, model)  # type: ignore[arg-type]
    changed = np.flatnonzero(np.any(after.rotations != pose.rotations, axis=-1))
    other = "R" if model == "L" else "L"
    assert {skeleton.names[bone][-1] for bone in changed} == {other}
    both = forward(skeleton, after)[0]
    chest = skeleton.index("chest")
    turns = forward(skeleton, after)[1]
    back = rotation.mul(turns[chest], rotation.inv(rotation.from_matrix(skeleton.rest_matrices[chest, :, :3])))
    left, right = (rotation.rotate(rotation.inv(back), both[skeleton.index(f"hand.{s}")] - both[chest]) for s in "LR")
    np.testing.assert_allclose(left, ACROSS * right, atol=0.02)  # the clavicles' roots are not quite mirrored


def test_every_bone_of_the_body_has_its_counterpart() -> None:
    skeleton, roles = body([*STRAIGHT, *HANDS, *EYES])
    partners = counterparts(skeleton, roles)
    for bone, name in enumerate(skeleton.names):
        other = name.translate(str.maketrans("LR", "RL")) if name[-2:] in (".L", ".R") else name
        assert skeleton.names[partners[bone]] == other


def test_a_sole_has_the_height_that_the_body_was_made_with() -> None:
    skeleton, roles = body(rng=np.random.default_rng(7))
    sole = find_sole(skeleton, roles, "L")
    frame = skeleton.rest_matrices[sole.foot]
    for contact in (sole.heel, sole.ball, sole.tip):
        assert abs((frame[:, :3] @ contact + frame[:, 3])[2]) < 1e-9
    heel, ball, tip = (float(FORWARD @ (frame[:, :3] @ at + frame[:, 3])) for at in (sole.heel, sole.ball, sole.tip))
    assert heel < 0.0 < ball < tip


@pytest.mark.parametrize(
    ("variant", "roll"),
    [*((variant, 25.0) for variant in VARIANTS.values()), *((VARIANTS["rolls"], roll) for roll in (-20.0, 0.0, 60.0))],
)
def test_feet_stand_on_a_slope_with_the_contact_that_the_roll_says(variant: dict, roll: float) -> None:
    fig = figure(**variant)
    skeleton, roles = fig.skeleton, find_roles(fig.skeleton)
    unit = skeleton.size
    up = fig.heading @ UP
    normal = up + 0.2 * fig.heading @ LEFT
    normal = normal / np.linalg.norm(normal)
    heads, _ = forward(skeleton, Pose.rest(skeleton))
    plane = Plane(heads[skeleton.index("foot.L")] - 0.06 * unit * up, normal)
    pose = take_posture(skeleton, roles, Pose.rest(skeleton), "RELAXED")
    pose, goals = plant_feet(skeleton, roles, pose, dict.fromkeys("LR", plane), np.radians(roll), np.radians(40.0))
    solution = solve(skeleton, pose, goals, Humanoid(roles))
    assert solution.converged
    heads, turns = forward(skeleton, solution.pose)
    for side in "LR":
        sole = find_sole(skeleton, roles, side)
        heights = {
            name: float((heads[sole.foot] + rotation.rotate(turns[sole.foot], at) - plane.point) @ normal) / unit
            for name, at in (("heel", sole.heel), ("ball", sole.ball), ("tip", sole.tip))
        }
        down = {-20.0: ["heel"], 0.0: ["heel", "ball", "tip"], 25.0: ["ball"], 60.0: []}[roll]
        assert all(abs(heights[name]) < 1e-4 for name in down), heights
        if roll == 25.0:
            assert heights["heel"] > 0.05
            tail = heads[sole.toe] + skeleton.lengths[sole.toe] * rotation.rotate(turns[sole.toe], [0.0, 1.0, 0.0])
            assert abs((tail - heads[sole.toe]) @ normal) < 0.25 * skeleton.lengths[sole.toe]  # the toes lie flat
        if roll == -20.0:
            assert heights["tip"] > 0.05


def test_palms_lie_flat_on_a_table() -> None:
    skeleton, roles = body([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(9))
    pose = take_posture(skeleton, roles, Pose.rest(skeleton), "RELAXED")
    plane = Plane(np.array([0.0, 0.0, 1.0]), UP)
    solution = solve(skeleton, pose, lay_hands(skeleton, roles, pose, dict.fromkeys("LR", plane)), Humanoid(roles))
    assert solution.converged
    heads, turns = forward(skeleton, solution.pose)
    for side in "LR":
        hand, palm, _, place = find_palm(skeleton, roles, side)
        assert rotation.rotate(turns[hand], palm) @ UP < -0.9999
        assert abs((heads[hand] + rotation.rotate(turns[hand], place))[2] - 1.0) < 1e-3


def test_a_fist_brings_finger_tips_to_the_palm_and_spread_fingers_part() -> None:
    skeleton, roles = body([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(10))
    rest = Pose.rest(skeleton)
    flat, _ = forward(skeleton, rest)
    for side in "LR":
        hand = skeleton.index(f"hand.{side}")
        closed, _ = forward(skeleton, pose_fingers(skeleton, roles, rest, side, 1.0, 0.0))
        for finger in ("index", "middle", "ring", "pinky"):
            first, last = (skeleton.index(f"{finger}{joint}.{side}") for joint in (1, 3))
            assert closed[last, 2] < flat[last, 2] - 0.02  # below, where the palm looks
            assert abs(closed[last, 0] - flat[hand, 0]) < abs(flat[last, 0] - flat[hand, 0])
            assert np.array_equal(closed[first], flat[first])
        thumb = skeleton.index(f"thumb3.{side}")
        assert closed[thumb, 1] > flat[thumb, 1]  # backwards, to the fingers
        spread, _ = forward(skeleton, pose_fingers(skeleton, roles, rest, side, 0.0, 1.0))
        index, pinky = (skeleton.index(f"{finger}3.{side}") for finger in ("index", "pinky"))
        assert np.linalg.norm(spread[index] - spread[pinky]) > np.linalg.norm(flat[index] - flat[pinky]) + 0.015
        assert np.array_equal(closed[skeleton.index(f"index3.{'R' if side == 'L' else 'L'}")],
                              flat[skeleton.index(f"index3.{'R' if side == 'L' else 'L'}")])  # fmt: skip


@pytest.mark.parametrize("target", [(0.5, -1.0, 1.4), (-0.8, -0.6, 1.9), (0.0, -2.0, 1.6)])
def test_the_head_looks_at_a_place_upright(target: tuple[float, float, float]) -> None:
    skeleton, roles = body(rng=np.random.default_rng(11))
    pose = look_at(skeleton, roles, random_pose(skeleton, np.random.default_rng(12), spread=0.05), np.array(target))
    heads, turns = forward(skeleton, pose)
    head = skeleton.index("head")
    change = rotation.mul(turns[head], rotation.inv(rotation.from_matrix(skeleton.rest_matrices[head, :, :3])))
    ahead = rotation.rotate(change, FORWARD)
    wanted = np.array(target) - heads[head]
    assert ahead @ wanted / np.linalg.norm(wanted) > np.cos(np.radians(1.0))
    assert abs(rotation.rotate(change, LEFT)[2]) < 0.25


def test_a_neck_turns_no_further_than_it_can_and_eyes_go_on() -> None:
    skeleton, roles = body([*STRAIGHT, *EYES], np.random.default_rng(13))
    behind = np.array([3.0, 2.0, 1.65])
    pose = look_at(skeleton, roles, Pose.rest(skeleton), behind)
    turns = forward(skeleton, pose)[1]
    angles = {}
    for name in ("head", "eye.L"):
        bone = skeleton.index(name)
        rest = rotation.from_matrix(skeleton.rest_matrices[bone, :, :3])
        ahead = rotation.rotate(rotation.mul(turns[bone], rotation.inv(rest)), FORWARD)
        angles[name] = np.degrees(np.arccos(ahead @ FORWARD))
    assert angles["head"] == pytest.approx(80.0, abs=0.5)
    assert 100.0 < angles["eye.L"] <= 115.5
    still = look_at(skeleton, roles, Pose.rest(skeleton), behind, head=0.0, eyes=0.0)
    np.testing.assert_array_equal(still.rotations, Pose.rest(skeleton).rotations)


def test_what_a_body_lacks_is_named() -> None:
    skeleton, roles = body([row for row in STRAIGHT if not row[0].startswith(("head", "neck"))])
    with pytest.raises(CoreError, match="No head is found"):
        look_at(skeleton, roles, Pose.rest(skeleton), np.zeros(3))
    with pytest.raises(CoreError, match=r"No fingers of hand.L are found"):
        pose_fingers(skeleton, roles, Pose.rest(skeleton), "L", 1.0, 0.0)
    chain = skeleton_of([("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2))])
    with pytest.raises(CoreError, match="No humanoid body"):
        take_posture(chain, find_roles(chain), Pose.rest(chain), "T")


def test_a_look_that_neck_and_eyes_do_not_reach_is_a_goal_that_is_missed() -> None:
    for rows, bone in ((STRAIGHT, "head"), ([*STRAIGHT, *EYES], "eye.L")):
        skeleton, roles = body(rows, np.random.default_rng(15))
        seen, unseen = (
            gaze_at(skeleton, roles, Pose.rest(skeleton), np.array(target))
            for target in ((0.8, -1.0, 1.4), (0.3, 2.0, 1.65))
        )
        assert isinstance(seen, Solution)
        assert isinstance(unseen, Solution)
        assert seen.converged
        assert seen.explain() == []
        assert np.array_equal(
            seen.pose.rotations,
            look_at(skeleton, roles, Pose.rest(skeleton), np.array((0.8, -1.0, 1.4))).rotations,
        )
        (sentence, *_) = unseen.explain()
        assert sentence.startswith(f"{bone} is turned ")
        assert "neck and head go no further than 80 degrees aside" in sentence
    assert isinstance(gaze_at(skeleton, roles, Pose.rest(skeleton), np.ones(3), 0.5, 0.5), Pose)


@pytest.mark.parametrize("chest", ["said", "found"])
def test_arms_and_legs_that_are_swapped_in_a_mapping_are_refused(chest: str) -> None:
    skeleton, roles = body()
    other = dict(zip(("thigh", "shin", "foot", "upper_arm", "forearm", "hand"),
                     ("upper_arm", "forearm", "hand", "thigh", "shin", "foot"), strict=True))  # fmt: skip
    limbs = {skeleton.index(f"{part}.{side}"): f"{role}.{side}" for part, role in other.items() for side in "LR"}
    trunk = {skeleton.index(name): "spine" for name in ("spine", "chest")} if chest == "said" else {}
    with pytest.raises(CoreError, match=r'"upper_arm.L" cannot be "thigh.L": it hangs on "chest".* swapped'):
        correct_roles(skeleton, roles, {skeleton.index("hips"): "hips", **trunk, **limbs})
    right = {bone: skeleton.names[bone] for bone in limbs}
    assert correct_roles(skeleton, roles, right).bones == roles.bones


def test_odd_trees_that_are_whole_may_be_mapped() -> None:
    # legs that hang on what hangs on the chest, the root: hips come last
    rows = [("chest", None, (0, 0, 1.25), (0, 0, 1.06)), ("spine", "chest", (0, 0, 1.06), (0, 0, 0.95)),
            ("hips", "spine", (0, 0, 0.95), (0, 0, 0.9))]  # fmt: skip
    rows += [row for row in STRAIGHT if row[0] not in ("chest", "spine", "hips")]
    skeleton = skeleton_of(rows)
    said = {bone: name.replace("clavicle", "shoulder") for bone, name in enumerate(skeleton.names)}
    said[skeleton.index("chest")] = "spine"
    assert correct_roles(skeleton, find_roles(skeleton), said).bone("thigh.L") == skeleton.index("thigh.L")


def test_said_parts_make_a_body_where_none_was_found() -> None:
    _, roles = body()
    lost = skeleton_of(STRAIGHT)
    nothing = find_roles(skeleton_of([("a", None, (0, 0, 0), (0, 0, 1))]))
    said = {lost.index(name): name.replace("clavicle", "shoulder") for name in lost.names if name != "chest"}
    said[lost.index("chest")] = "spine"
    found = correct_roles(lost, nothing, said)
    assert (found.humanoid, found.facing, found.up, found.rest) == (True, "-Y", "+Z", "T")
    assert found.bones == roles.bones
    assert found.missing == roles.missing
