"""Channels that show given frames when nothing drives the bones: heads and tails are exact, shear aside."""

import numpy as np

from core import Pose, Skeleton, forward_matrices
from core.freed import freed_pose
from tests.core.rigs import FIGURE, random_pose, skeleton_of


def tails(skeleton: Skeleton, matrices: np.ndarray) -> np.ndarray:
    return matrices[..., 3] + skeleton.lengths[:, None] * matrices[..., 1]


def test_driven_bones_show_their_frames_without_what_drove_them(figure: Skeleton) -> None:
    rng = np.random.default_rng(2)
    pose, wanted = (random_pose(figure, rng, (4,)) for _ in range(2))
    matrices = forward_matrices(figure, wanted)
    every = np.ones(len(figure), bool)
    found, changed, _ = freed_pose(figure, pose, matrices, every, every)
    assert changed.all()
    assert found.scales is None or np.allclose(found.scales, 1.0)
    np.testing.assert_allclose(forward_matrices(figure, found), matrices, atol=1e-9)


def test_bones_that_nothing_drives_keep_their_channels_and_others_their_drivers(figure: Skeleton) -> None:
    rng = np.random.default_rng(3)
    pose, wanted = (random_pose(figure, rng, (4,)) for _ in range(2))
    driven = np.isin(figure.names, ["forearm.L", "shin.R"])
    matrices = np.array(forward_matrices(figure, pose))
    for bone in np.flatnonzero(driven):
        matrices[:, bone] = forward_matrices(figure, wanted)[:, bone]
    free = np.isin(figure.names, ["forearm.L"])
    found, changed, _ = freed_pose(figure, pose, matrices, driven, free)
    assert [figure.names[bone] for bone in np.flatnonzero(changed)] == ["forearm.L"]
    np.testing.assert_array_equal(found.rotations[:, ~changed], pose.rotations[:, ~changed])


def test_heads_and_tails_are_exact_where_scale_shears_what_is_below_it() -> None:
    rng = np.random.default_rng(4)
    count = len(FIGURE)
    modes = rng.choice(["FULL", "NONE", "AVERAGE"], count).tolist()
    skeleton = skeleton_of(FIGURE, inherit_scale=modes, local_location=rng.random(count) < 0.5)
    plain = Pose(*(getattr(random_pose(skeleton, rng, (4,)), name) for name in ("rotations", "translations")))
    matrices = np.array(forward_matrices(skeleton, plain))
    matrices[..., :3] *= rng.uniform(0.8, 1.3, (4, count, 1, 3))  # each bone stretched, and sheared by none
    every = np.ones(count, bool)
    found, _, made = freed_pose(skeleton, plain, matrices, every, every)
    shown = forward_matrices(skeleton, found)
    np.testing.assert_allclose(made, shown, atol=1e-9)
    np.testing.assert_allclose(shown[..., 3], matrices[..., 3], atol=1e-9)
    np.testing.assert_allclose(tails(skeleton, shown), tails(skeleton, matrices), atol=1e-9)
