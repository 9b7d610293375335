"""Animals: their parts, postures, mirror images, legs on the ground, and motions from one to another."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.robust import beasts
from benchmarks.robust.roles import skeleton_of
from core import CoreError, Goal, Motion, PinAndDrag, Pose, Skeleton, forward, rotation, solve
from core.body import Roles, find_roles
from core.body.anatomy import with_anatomy
from core.body.ground import Plane, ground_at_rest, plant_legs
from core.body.mirror import mirror_pose
from core.body.posture import take_posture
from core.editing.contacts import foot_points, point_positions
from core.editing.retarget import MovingBody, retarget


def animal(kind: str, flavour: str) -> tuple[Skeleton, Roles, dict[str, list[list[str]]]]:
    """An animal that a script made, whose answer it knows."""
    rows, answer = beasts.make(kind, flavour)
    skeleton = skeleton_of(rows)
    return skeleton, find_roles(skeleton), answer


def bent(skeleton: Skeleton, roles: Roles, seed: int, degrees: float = 8.0) -> Pose:
    """A pose whose parts, but for the hips, are turned a little."""
    turns = np.zeros((len(skeleton), 3))
    parts = sorted({bone for role, chain in roles.parts.items() if role != "hips" for bone in chain})
    turns[parts] = np.radians(np.random.default_rng(seed).normal(0.0, degrees, (len(parts), 3)))
    return replace(Pose.rest(skeleton), rotations=rotation.exp(turns))


@pytest.mark.parametrize("use_names", [True, False])
@pytest.mark.parametrize(
    ("kind", "flavour"),
    [("dog", "hub"), ("horse", "stepping"), ("cow", "meshes"), ("deer", "numbers"), ("raptor", "unreal"),
     ("crocodile", "nothing"), ("elephant", "biped"), ("dragon", "plain")],
)  # fmt: skip
def test_animals_of_all_kinds_are_found_however_they_are_built(kind: str, flavour: str, use_names: bool) -> None:
    rows, answer = beasts.make(kind, flavour)
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton, use_names=use_names)
    assert not roles.humanoid
    for role, right in answer.items():
        found = [skeleton.names[bone] for bone in roles.limbs.get(role, ())]
        assert any(found in (one, [*one, *(f"{name}_end" for name in one[-1:])]) for one in right), (role, found, right)


def test_at_rest_an_animal_stands_where_it_stood_and_heads_where_it_headed() -> None:
    skeleton, roles, _ = animal("dog", "pack")
    hips = roles.chain("hips")[0]
    pose = bent(skeleton, roles, 1)
    turned = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.float64(0.7))
    frame = rotation.from_matrix(skeleton.rest_matrices[hips, :, :3])
    rotations = np.array(pose.rotations)
    rotations[hips] = rotation.mul(rotation.inv(frame), rotation.mul(turned, frame))
    moved = replace(pose, rotations=rotations)
    heads, _ = forward(skeleton, take_posture(skeleton, roles, moved, "RELAXED"))
    rest = skeleton.rest_matrices[:, :, 3]
    wanted = rotation.rotate(turned, rest - rest[hips]) + rest[hips]
    carried = [bone for bone in range(len(skeleton)) if hips in skeleton.ancestors(bone)]
    np.testing.assert_allclose(heads[carried], wanted[carried], atol=1e-9)


def test_an_animal_has_no_t_pose_and_no_hands() -> None:
    skeleton, roles, _ = animal("cat", "pack")
    with pytest.raises(CoreError, match="An animal has no T-pose"):
        take_posture(skeleton, roles, Pose.rest(skeleton), "T")
    with pytest.raises(CoreError, match=r"An animal has no hand\.L"):
        roles.require("hand.L")


@pytest.mark.parametrize("flavour", ["unreal", "numbers"])
def test_the_mirror_image_of_an_animal_is_that_of_its_joints(flavour: str) -> None:
    skeleton, roles, answer = animal("dog", flavour)
    pose = bent(skeleton, roles, 2)
    poses = pose, mirror_pose(skeleton, roles, pose)  # the point between its feet stays, so that it moves aside
    before, after = (heads - heads[roles.chain("hips")[0]] for heads, _ in (forward(skeleton, one) for one in poses))
    across = np.array([0.0, 1.0, 0.0]) if roles.facing == "+X" else np.array([1.0, 0.0, 0.0])
    for name in ("leg.front", "leg.hind", "ear"):
        for side, other in (("L", "R"), ("R", "L")):
            one, two = ([skeleton.index(bone) for bone in answer[f"{name}.{s}"][-1]] for s in (side, other))
            np.testing.assert_allclose(after[one], before[two] * (1.0 - 2.0 * across), atol=2e-3 * skeleton.size)


def test_legs_stand_on_a_slope_as_at_rest() -> None:
    skeleton, roles, _ = animal("horse", "unreal")
    normal = np.array([0.1, 0.15, 1.0]) / np.linalg.norm([0.1, 0.15, 1.0])
    plane = Plane(np.array([0.0, 0.0, 0.03]), normal)
    pose = bent(skeleton, roles, 3, 4.0)
    goals = plant_legs(skeleton, roles, pose, dict.fromkeys(roles.legs, plane))
    bound, method = with_anatomy(skeleton, PinAndDrag(reference=pose), roles)
    solution = solve(bound, pose, goals, method)
    tips = point_positions(skeleton, solution.pose, foot_points(skeleton, roles))
    at_rest = point_positions(skeleton, Pose.rest(skeleton), foot_points(skeleton, roles))
    heights = at_rest[:, 2] - ground_at_rest(skeleton, roles)
    np.testing.assert_allclose((tips - plane.point) @ normal, heights, atol=1e-6)


@pytest.mark.parametrize(("kind", "flavour"), [("dog", "unreal"), ("cat", "numbers"), ("horse", "maya")])
def test_a_motion_goes_to_another_animal_with_its_turns_and_its_way(kind: str, flavour: str) -> None:
    """The other animal has other proportions, names, numbers of bones, axes and size."""
    source, roles, _ = animal("dog", "pack")
    poses = [bent(source, roles, seed) for seed in range(3)]
    pose = Pose(np.stack([one.rotations for one in poses]), np.zeros((3, len(source), 3)))
    body = MovingBody(source, roles)
    pose = body.move_hips(pose, np.array([[0.0, 0.0, 0.0], [0.0, -0.5, 0.1], [0.2, -1.0, 0.0]]))
    target, others, _ = animal(kind, flavour)
    moved = retarget(source, Motion(pose, np.arange(3.0), 24.0), roles, target, others)
    there = MovingBody(target, others)
    both = (body, pose), (there, moved.pose)
    ways = [(one.hips(some) - one.hips(some)[0]) @ one.axes.T / one.leg for one, some in both]
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-6)
    turns = [
        rotation.mul(forward(one, some)[1][:, bone], rotation.inv(rotation.from_matrix(one.rest_matrices[bone, :, :3])))
        for one, some, bone in (
            (source, pose, roles.chain("head")[0]),
            (target, moved.pose, others.chain("head")[0]),
        )
    ]
    angles = [np.degrees(2.0 * np.arccos(np.clip(np.abs(some[:, 0]), 0.0, 1.0))) for some in turns]
    np.testing.assert_allclose(angles[0], angles[1], atol=1e-4)


def test_no_motion_goes_from_an_animal_to_a_human() -> None:
    skeleton, roles, _ = animal("dog", "pack")
    motion = Motion(Pose.rest(skeleton)[None], np.arange(1.0), 24.0)
    human = replace(roles, humanoid=True, bones={"hips": 0}, limbs={})
    with pytest.raises(CoreError, match=r"This motion is that of an animal and this body is that of a human"):
        retarget(skeleton, motion, roles, skeleton, human)


@pytest.mark.parametrize(("kind", "flavour"), [("dog", "pack"), ("horse", "unreal")])
def test_legs_fold_where_the_chest_is_brought_down_and_scapula_and_spine_go_along_a_little(
    kind: str, flavour: str
) -> None:
    """As a horse or a dog does: the elbows bend most, the spine hardly, and no foot moves."""
    skeleton, roles, _ = animal(kind, flavour)
    pose = Pose.rest(skeleton)
    heads, frames = forward(skeleton, pose)
    chest = roles.chain("spine")[-1]
    goals = [Goal(leg[-1], heads[leg[-1]], frames[leg[-1]]) for leg in roles.legs.values()]
    goals.append(Goal(chest, heads[chest] - np.array([0.0, 0.0, 0.12]), priority=1))
    bound, method = with_anatomy(skeleton, PinAndDrag(reference=pose), roles, pose)
    solution = solve(bound, pose, goals, method)
    assert solution.position_error.max() < 1e-4 * skeleton.size
    turned = np.degrees(np.linalg.norm(rotation.log(solution.pose.rotations), axis=-1))
    front = roles.legs["leg.front.L"]
    girdle = front[0] if flavour == "unreal" else None
    elbow = front[2] if flavour == "unreal" else front[1]
    spine = turned[list(roles.chain("spine"))]
    assert turned[elbow] > 25.0
    assert 0.0 < spine.max() < 0.3 * turned[elbow]
    if girdle is not None:
        assert 0.0 < turned[girdle] < 0.2 * turned[elbow]
