import numpy as np
import pytest

from core import CoreError, Motion, Pose, Skeleton, forward, forward_matrices, rotation
from core.pose import stack
from tests.core.rigs import FIGURE, random_pose, skeleton_of


def test_the_rest_pose_stands_where_it_was_drawn(figure: Skeleton) -> None:
    heads, turns = forward(figure, Pose.rest(figure))
    np.testing.assert_allclose(heads, [row[2] for row in FIGURE], atol=1e-12)
    tails = heads + rotation.rotate(turns, np.array([0.0, 1.0, 0.0])) * figure.lengths[:, None]
    np.testing.assert_allclose(tails, [row[3] for row in FIGURE], atol=1e-12)


def test_forward_is_the_product_of_the_chain(figure: Skeleton) -> None:
    rng = np.random.default_rng(0)
    pose = random_pose(figure, rng, (3, 2))
    matrices = forward_matrices(figure, pose)
    assert matrices.shape == (3, 2, len(figure), 3, 4)
    hand = figure.index("hand.L")
    for frame in np.ndindex(3, 2):
        whole = np.eye(4)
        for bone in reversed(figure.ancestors(hand)):
            own = np.eye(4)
            own[:3, :3] = rotation.to_matrix(pose.rotations[frame][bone])
            own[:3, 3] = pose.translations[frame][bone]
            rest = np.eye(4)
            rest[:3, :3], rest[:3, 3] = rotation.to_matrix(figure.rest_rotations[bone]), figure.offsets[bone]
            whole = whole @ rest @ own
        np.testing.assert_allclose(matrices[frame][hand], whole[:3], atol=1e-12)


def test_bones_taken_alone_stand_where_they_do_among_the_others() -> None:
    rng = np.random.default_rng(3)
    count = len(FIGURE)
    flags = {name: rng.random(count) < 0.7 for name in ("connected", "local_location", "inherit_rotation")}
    modes = rng.choice(["FULL", "ALIGNED", "NONE"], count).tolist()
    skeleton = skeleton_of(FIGURE, **flags, inherit_scale=modes)
    bones = sorted({*skeleton.ancestors(skeleton.index("hand.L")), *skeleton.ancestors(skeleton.index("foot.R"))})
    pose = random_pose(skeleton, rng, (2,))
    pose = Pose(pose.rotations, pose.translations, rng.uniform(0.5, 1.5, (2, count, 3)))
    assert pose.scales is not None
    alone = Pose(pose.rotations[:, bones], pose.translations[:, bones], pose.scales[:, bones])
    found = forward_matrices(skeleton.taken(bones), alone)
    np.testing.assert_allclose(found, forward_matrices(skeleton, pose)[:, bones], atol=1e-12)


def test_scale_is_inherited_with_shear_and_forward_gives_pure_rotations(figure: Skeleton) -> None:
    pose = random_pose(figure, np.random.default_rng(1))
    scales = np.ones((len(figure), 3))
    scales[figure.index("chest")] = [1.5, 0.7, 1.2]
    scaled = Pose(pose.rotations, pose.translations, scales)
    matrix = forward_matrices(figure, scaled)[figure.index("hand.L")][:, :3]
    assert np.max(np.abs(matrix.T @ matrix - np.diag(np.diag(matrix.T @ matrix)))) > 0.05  # sheared
    _, turns = forward(figure, scaled)
    np.testing.assert_allclose(np.linalg.norm(turns, axis=-1), 1.0)


def test_a_connected_bone_ignores_its_location() -> None:
    rows = [("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2))]
    moved = [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
    for connected, z in ((True, 1.0), (False, 3.0)):
        skeleton = skeleton_of(rows, connected=[False, connected])
        heads, _ = forward(skeleton, Pose(np.tile(rotation.IDENTITY, (2, 1)), moved))
        assert heads[1, 2] == pytest.approx(z)


def test_children_of_a_driven_bone_take_its_matrix_as_given(figure: Skeleton) -> None:
    driven = np.zeros(len(figure), bool)
    driven[figure.index("forearm.L")] = True
    skeleton = skeleton_of(FIGURE, driven=driven)
    matrices = np.array(np.broadcast_to(skeleton.rest_matrices, (len(figure), 3, 4)))
    matrices[figure.index("forearm.L"), :, 3] = [5.0, 6.0, 7.0]
    pose = random_pose(skeleton, np.random.default_rng(2))
    heads, _ = forward(skeleton, Pose(pose.rotations, pose.translations, None, matrices))
    np.testing.assert_allclose(heads[skeleton.index("forearm.L")], [5.0, 6.0, 7.0])
    offset = heads[skeleton.index("hand.L")] - heads[skeleton.index("forearm.L")]
    assert np.linalg.norm(offset) == pytest.approx(figure.lengths[figure.index("forearm.L")])


def test_stacked_poses_are_their_batch(figure: Skeleton) -> None:
    rng = np.random.default_rng(3)
    poses = [random_pose(figure, rng) for _ in range(3)]
    batch = stack(poses)
    np.testing.assert_array_equal(batch[1].rotations, poses[1].rotations)
    assert Motion(batch, [1.0, 2.0, 3.0], 24.0).frames.tolist() == [1.0, 2.0, 3.0]


def test_arrays_cannot_be_changed_afterwards(figure: Skeleton) -> None:
    with pytest.raises(ValueError, match="read-only"):
        figure.offsets[0] = 1.0
    given = np.zeros((len(figure), 3))
    pose = Pose(np.tile(rotation.IDENTITY, (len(figure), 1)), given)
    given[0] = 9.0
    assert pose.translations[0, 0] == 0.0


@pytest.mark.parametrize(
    ("rotations", "translations", "text"),
    [
        ([[1, 0, 0, 0], [0, 0, 0, 0]], np.zeros((2, 3)), "unit quaternion"),
        ([[1, 0, 0, 0], [np.nan, 0, 0, 0]], np.zeros((2, 3)), "unit quaternion"),
        ([[1, 0, 0, 0]] * 2, np.zeros((3, 3)), "shape"),
        ([[1, 0, 0, 0]] * 2, [[0, 0, np.inf]] * 2, "finite"),
    ],
)
def test_a_malformed_pose_is_refused(rotations: list, translations: np.ndarray, text: str) -> None:
    with pytest.raises(CoreError, match=text):
        Pose(rotations, translations)
