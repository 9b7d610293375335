import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core import rotation

finite = st.floats(-1.0, 1.0)
quaternions = arrays(float, (4,), elements=finite).filter(lambda q: np.linalg.norm(q) > 0.1).map(rotation.normalize)
vectors = arrays(float, (3,), elements=st.floats(-3.0, 3.0))
orders = st.sampled_from(rotation.EULER_ORDERS)


def angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(rotation.angle_between(a, b), initial=0.0))


@given(quaternions, quaternions, vectors)
def test_a_product_turns_by_the_right_factor_first(a: np.ndarray, b: np.ndarray, v: np.ndarray) -> None:
    one_after_the_other = rotation.rotate(a, rotation.rotate(b, v))
    np.testing.assert_allclose(rotation.rotate(rotation.mul(a, b), v), one_after_the_other, atol=1e-12)


@given(quaternions)
def test_matrix_and_log_lead_back(q: np.ndarray) -> None:
    for there, back in ((rotation.to_matrix, rotation.from_matrix), (rotation.log, rotation.exp)):
        assert angle(back(there(q)), q) < 1e-7


@given(quaternions, orders)
def test_euler_angles_lead_back_and_both_triples_are_the_same_rotation(q: np.ndarray, order: str) -> None:
    euler = rotation.to_euler(q, order)
    bound = 4e-6  # Blender's threshold for gimbal lock, 16 float32 epsilons, drops as much there
    assert angle(rotation.from_euler(euler, order), q) < bound
    assert angle(rotation.from_euler(rotation.other_euler(euler, order), order), q) < bound


@pytest.mark.parametrize("order", rotation.EULER_ORDERS)
def test_euler_order_is_the_order_of_the_turns(order: str) -> None:
    angles = np.array([0.3, -0.8, 1.1])
    matrix = np.eye(3)
    for letter in order:
        axis = "XYZ".index(letter)
        c, s = np.cos(angles[axis]), np.sin(angles[axis])
        turn = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
        matrix = turn @ matrix
    np.testing.assert_allclose(rotation.to_matrix(rotation.from_euler(angles, order)), matrix, atol=1e-14)


@given(quaternions, orders, arrays(float, (3,), elements=st.floats(-20.0, 20.0)))
def test_near_euler_is_the_same_rotation_and_no_further_than_half_turns(
    q: np.ndarray, order: str, near: np.ndarray
) -> None:
    euler = rotation.near_euler(rotation.to_euler(q, order), near, order)
    assert angle(rotation.from_euler(euler, order), q) < 4e-6
    assert np.max(np.abs(euler - near)) <= np.pi + 1e-9


def test_unwrapped_euler_angles_have_no_jumps() -> None:
    t = np.linspace(0.0, 4.0 * np.pi, 400)
    true = np.stack([t, 0.5 * np.sin(t), -2.0 * t], axis=-1)
    found = rotation.unwrap_euler(rotation.wrap(true), "XYZ", true[0])
    np.testing.assert_allclose(found, true, atol=1e-9)


@pytest.mark.parametrize("order", rotation.EULER_ORDERS)
def test_a_free_angle_goes_round_while_the_others_are_locked(order: str) -> None:
    true = np.zeros((400, 3))
    true[:, 1] = np.linspace(0.0, 4.0 * np.pi, 400) * np.linspace(1.0, -1.0, 400)  # a frame may be half a turn on
    steps = true[::40]
    locks = np.array([True, False, True])
    found = rotation.unwrap_euler(rotation.to_euler(rotation.from_euler(steps, order), order), order, steps[0], locks)
    assert not found[:, ::2].any()
    assert np.max(rotation.angle_between(rotation.from_euler(found, order), rotation.from_euler(steps, order))) < 4e-6


def test_unrolled_quaternions_keep_their_sign_and_start_with_the_given_one() -> None:
    rng = np.random.default_rng(1)
    turns = rotation.exp(np.linspace(0.0, 6.0, 50)[:, None] * np.array([0.6, 0.0, 0.8]))
    flipped = turns * rng.choice([-1.0, 1.0], (50, 1))
    unrolled = rotation.unroll(flipped, -turns[0])
    np.testing.assert_allclose(unrolled, -turns, atol=1e-12)


@given(quaternions, arrays(float, (3,), elements=finite).filter(lambda v: np.linalg.norm(v) > 0.1))
def test_swing_and_twist_make_the_whole_and_swing_has_no_twist(q: np.ndarray, axis: np.ndarray) -> None:
    axis = axis / np.linalg.norm(axis)
    swing, twist = rotation.swing_twist(q, axis)
    assert angle(rotation.mul(swing, twist), q) < 1e-7
    assert abs(swing[1:] @ axis) < 1e-7
    assert np.linalg.norm(np.cross(twist[1:], axis)) < 1e-7


@given(vectors)
def test_right_jacobian_is_the_derivative_of_the_exponential(x: np.ndarray) -> None:
    turn, rate = rotation.exp_and_jacobian(x)
    np.testing.assert_allclose(turn, rotation.to_matrix(rotation.exp(x)), atol=1e-12)
    step = 1e-5
    for axis in range(3):
        d = step * np.eye(3)[axis]
        ahead = rotation.log(rotation.mul(rotation.inv(rotation.exp(x)), rotation.exp(x + d)))
        behind = rotation.log(rotation.mul(rotation.inv(rotation.exp(x)), rotation.exp(x - d)))
        np.testing.assert_allclose((ahead - behind) / (2.0 * step), rate[:, axis], atol=1e-7)


def test_many_vectors_take_another_way_to_the_same_matrices() -> None:
    x = np.random.default_rng(5).normal(size=(1000, 3)) * np.linspace(0.0, 3.0, 1000)[:, None]
    x[1] *= 1e-6
    x[2] = 0.0
    turns, rates = rotation.exp_and_jacobian(x)
    for number in range(0, 1000, 100):
        part = slice(number, number + 100)
        turn, rate = rotation.exp_and_jacobian(x[part])
        np.testing.assert_allclose(turns[part], turn, atol=1e-14)
        np.testing.assert_allclose(rates[part], rate, atol=1e-14)


@given(vectors, vectors)
def test_the_bend_of_the_right_jacobian_is_its_derivative(x: np.ndarray, slope: np.ndarray) -> None:
    step = 1e-5
    pulls = [rotation.exp_and_jacobian(x + sign * step * np.eye(3))[1] for sign in (1.0, -1.0)]
    ahead, behind = (np.swapaxes(rates, -1, -2) @ slope for rates in pulls)  # (3 axes, 3)
    expected = (ahead - behind).T / (2.0 * step)
    np.testing.assert_allclose(rotation.right_jacobian_bend(x, slope), expected, atol=1e-5)


def test_right_jacobian_of_tiny_vectors_is_smooth() -> None:
    for size in (0.0, 1e-12, 1e-7, 9e-5, 1.1e-4):
        turn, rate = rotation.exp_and_jacobian(np.array([size, 0.0, 0.0]))
        np.testing.assert_allclose(turn, rotation.to_matrix(rotation.exp([size, 0.0, 0.0])), atol=1e-12)
        np.testing.assert_allclose(rate, np.eye(3) - 0.5 * rotation.skew([size, 0.0, 0.0]), atol=1e-8)


def test_nearest_rotation_drops_scale_and_shear_and_reads_a_mirror_as_blender_does() -> None:
    rng = np.random.default_rng(2)
    turn = rotation.to_matrix(rotation.normalize(rng.normal(size=4)))
    stretch = rng.normal(size=(3, 3))
    stretch = stretch @ stretch.T + np.eye(3)
    np.testing.assert_allclose(rotation.nearest_rotation(turn @ stretch), turn, atol=1e-10)
    mirrored = rotation.nearest_rotation(np.diag([-1.0, 1.0, 1.0]))
    np.testing.assert_allclose(mirrored, np.diag([1.0, -1.0, -1.0]), atol=1e-12)


@given(quaternions)
def test_order_free_angles_lead_back(q: np.ndarray) -> None:
    if abs(q[0]) > 1e-3:
        assert angle(rotation.from_order_free(rotation.to_order_free(q)), q) < 1e-6
    tangent = np.tan(0.5 * rotation.to_order_free(q))
    np.testing.assert_allclose(tangent * q[0], q[1:], atol=1e-6 * (1.0 + np.max(np.abs(tangent))))


def test_a_million_rotations_have_order_free_angles_in_one_call() -> None:
    q = rotation.normalize(np.random.default_rng(3).normal(size=(1_000_000, 4)))
    angles = rotation.to_order_free(q)
    assert angles.shape == (1_000_000, 3)
    assert -np.pi <= angles.min()
    assert angles.max() < np.pi
    assert angle(rotation.from_order_free(angles), q) < 1e-6  # worst where w is 1e-6


def test_an_order_free_angle_is_the_turn_about_its_axis_that_leaves_least() -> None:
    """The definition: the minimum over theta of the angles of q q_theta^-1 and q_theta^-1 q."""
    grid = np.linspace(-np.pi, np.pi, 20_001)
    for q in rotation.normalize(np.random.default_rng(4).normal(size=(20, 4))):
        for axis in range(3):
            back = rotation.exp(-grid[:, None] * np.eye(3)[axis])
            left, right = (2.0 * np.arccos(np.abs(r[:, 0])) for r in (rotation.mul(q, back), rotation.mul(back, q)))
            best = grid[np.argmin(np.minimum(left, right))]
            assert abs(rotation.wrap(rotation.to_order_free(q)[axis] - best)) < 4e-4  # the grid is that fine


def test_a_half_turn_has_order_free_angles_of_half_a_turn_about_its_own_axes_only() -> None:
    for sign in (1.0, -1.0):
        half = sign * np.array([[0.0, 0.6, 0.0, -0.8], [0.0, 0.0, 1.0, 0.0], [-0.0, 0.0, 0.0, 1.0]])
        wanted = -np.pi * np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        np.testing.assert_array_equal(rotation.to_order_free(half), wanted)
        assert angle(rotation.from_order_free(wanted[1:]), half[1:]) < 1e-9


def test_slerp_takes_the_shorter_arc() -> None:
    a, b = rotation.exp([0.0, 0.0, 0.1]), -rotation.exp([0.0, 0.0, 0.5])
    assert angle(rotation.slerp(a, b, 0.5), rotation.exp([0.0, 0.0, 0.3])) < 1e-9


def test_the_shortest_rotation_brings_directions_together_whatever_they_are() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.normal(size=(2, 50, 3))
    before[:3] = [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 0.0)]
    after[:3] = [(-3.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]  # opposite, the same, and none
    turn = rotation.shortest(before, after)
    np.testing.assert_allclose(turn[1:3], np.tile(rotation.IDENTITY, (2, 1)), atol=1e-15)
    there = rotation.rotate(turn, before) * np.linalg.norm(after, axis=1, keepdims=True)
    wanted = after * np.linalg.norm(before, axis=1, keepdims=True)
    np.testing.assert_allclose(there[[0, 1, *range(3, 50)]], wanted[[0, 1, *range(3, 50)]], atol=1e-12)
    angle = np.arccos(
        np.sum(before * after, axis=1)[3:] / np.linalg.norm(before, axis=1)[3:] / np.linalg.norm(after, axis=1)[3:]
    )
    np.testing.assert_allclose(rotation.angle_between(turn[3:], rotation.IDENTITY), angle, atol=1e-12)
    short = rotation.shortest(before[3:], after[3:], slack=0.5)
    np.testing.assert_allclose(
        rotation.angle_between(short, rotation.IDENTITY), np.maximum(angle - 0.5, 0.0), atol=1e-12
    )
