"""Mirrored poses and counterparts."""

import numpy as np
import pytest

from core import Pose, Skeleton, forward, rotation
from core.body import find_roles
from core.body.mirror import counterparts, mirror_pose
from tests.core.body.rigs import EYES, HANDS, STRAIGHT, body
from tests.core.rigs import random_pose, skeleton_of

ACROSS = np.array([-1.0, 1.0, 1.0])


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
