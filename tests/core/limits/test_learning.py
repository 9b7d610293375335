"""Limits learned from a motion hold all of it, little else, and are kept by the solvers."""

import numpy as np
import pytest

from core import CoreError, Goal, PinAndDrag, Pose, SwingPolygon, forward, rotation, solve
from core.limits import excess, learn_polygon
from tests.core.rigs import skeleton_of


def swings(rng: np.random.Generator, frames: int = 400) -> np.ndarray:
    """A joint that goes far forward and a little aside, and twists more the further it is out."""
    forward_, aside = rng.uniform(-0.3, 1.6, frames), rng.uniform(-0.4, 0.2, frames)
    twist = rng.uniform(-0.2, 0.1, frames) + 0.5 * forward_
    swing = rotation.exp(np.stack([forward_, np.zeros(frames), aside], axis=-1))
    return rotation.mul(swing, rotation.exp(np.stack([0 * twist, twist, 0 * twist], axis=-1)))


def outside(polygon: object, rotations: np.ndarray) -> np.ndarray:
    group = SwingPolygon([0], [polygon])
    values = group.coordinates(rotation.to_matrix(rotations)[:, None])
    return np.abs(excess(group, values)).max(axis=(1, 2))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.0, 5.0])
def test_every_frame_is_inside_and_what_is_far_off_is_not(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    seen = swings(rng)
    polygon = learn_polygon(seen, np.radians(margin))
    assert outside(polygon, seen).max() < 1e-9
    beyond = rotation.mul(rotation.exp(np.radians([[margin + 12.0, 0, 0]])), seen[[np.argmax(seen[:, 1])]])
    assert outside(polygon, beyond).min() > 0.0
    twisted = rotation.mul(seen, rotation.exp([0.0, np.radians(margin) + 1.2, 0.0]))
    assert outside(polygon, twisted).min() > 0.0


def test_a_margin_is_as_wide_as_it_says() -> None:
    still = np.tile(rotation.IDENTITY, (3, 1))
    polygon = learn_polygon(still, np.radians(10.0))
    for axis in np.eye(3):
        assert outside(polygon, rotation.exp(np.radians([9.9]) * axis[None])).max() == 0.0
        assert outside(polygon, rotation.exp(np.radians([11.5]) * axis[None])).min() > 0.0


def test_a_twist_about_the_half_turn_is_one_range() -> None:
    turns = rotation.exp(np.linspace(2.9, 3.4, 20)[:, None] * np.array([0.0, 1.0, 0.0]))
    polygon = learn_polygon(turns, 0.01)
    assert outside(polygon, turns).max() < 1e-9
    assert outside(polygon, rotation.IDENTITY[None]).min() > 1.0


def test_solvers_keep_what_was_learned() -> None:
    polygon = learn_polygon(swings(np.random.default_rng(9)), 0.0)
    rows = [("a", None, (0, 0, 0), (0, 0, 1)), ("b", "a", (0, 0, 1), (0, 0, 2))]
    skeleton = skeleton_of(rows, limits=(SwingPolygon([1], [polygon]),))
    for target in ((0.9, 0.2, 1.2), (0.0, 0.9, 1.0), (0.0, -0.9, 1.2)):
        goal = Goal("b", np.array(target), point=(0.0, 1.0, 0.0))
        pose = solve(skeleton, Pose.rest(skeleton), [goal], PinAndDrag(root="fixed")).pose
        assert outside(polygon, pose.rotations[[1]]).max() < 1e-6
        assert np.isfinite(forward(skeleton, pose)[0]).all()


def test_no_frames_and_margins_below_zero_are_refused() -> None:
    with pytest.raises(CoreError, match="no frames"):
        learn_polygon(np.zeros((0, 4)), 0.1)
    with pytest.raises(CoreError, match="at least 0"):
        learn_polygon(rotation.IDENTITY[None], -0.1)
