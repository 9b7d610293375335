"""Chains that turn about one axis: orientation, direction and length of their ends."""

import numpy as np

from core import rotation
from core.solvers.humanoid.spine import direct_column, orient_column, straight_column


def spines(count: int) -> np.ndarray:
    """Joints (count, 6, 3) of crooked chains along Z."""
    rng = np.random.default_rng(3)
    return np.cumsum(rng.uniform(-0.05, 0.05, (count, 6, 3)) + np.array([0.0, 0.0, 0.12]), axis=1)


def test_the_end_gets_its_orientation_by_turns_about_one_axis_shared_as_asked() -> None:
    chain = straight_column(spines(200))
    wanted = rotation.exp(0.6 * np.random.default_rng(4).normal(size=(200, 3)))
    shares = np.array([0.1, 0.1, 0.2, 0.3, 0.3])
    turned = orient_column(chain, wanted, shares)
    np.testing.assert_allclose(rotation.angle_between(turned.turns[:, -1], wanted), 0.0, atol=1e-9)
    whole = rotation.log(wanted)
    for joint, share in enumerate(np.cumsum(shares)):
        np.testing.assert_allclose(rotation.log(turned.turns[:, joint]), share * whole, atol=1e-9)


def test_the_end_comes_into_the_wanted_direction_and_looks_where_it_looked() -> None:
    joints = spines(200)
    rng = np.random.default_rng(5)
    shares = np.arange(1.0, 6.0) / 15.0
    chain = orient_column(straight_column(joints), rotation.exp(0.3 * rng.normal(size=(200, 3))), shares)
    target = chain.base + rotation.rotate(rotation.exp(0.3 * rng.normal(size=(200, 3))), chain.end() - chain.base)
    found = direct_column(chain, target, shares[::-1] - shares)
    way, wanted = found.end() - found.base, target - found.base
    np.testing.assert_allclose(np.cross(way, wanted), 0.0, atol=1e-9)
    assert (np.sum(way * wanted, axis=1) > 0.0).all()
    np.testing.assert_allclose(rotation.angle_between(found.turns[:, -1], chain.turns[:, -1]), 0.0, atol=1e-9)
    np.testing.assert_array_equal(found.base, joints[:, 0])
    steps = np.linalg.norm(np.diff(found.joints(), axis=1), axis=-1)
    np.testing.assert_allclose(steps, np.linalg.norm(np.diff(joints, axis=1), axis=-1), atol=1e-12)


def test_a_direction_that_a_chain_cannot_take_never_makes_it_worse() -> None:
    joints = spines(100)
    chain = straight_column(joints)
    shares = np.arange(1.0, 6.0) / 15.0
    target = chain.base - 2.0 * (chain.end() - chain.base)  # behind: the orientation must stay
    found = direct_column(chain, target, shares[::-1] - shares)

    def off(ends: np.ndarray) -> np.ndarray:
        way, wanted = ends - chain.base, target - chain.base
        return np.arctan2(np.linalg.norm(np.cross(way, wanted), axis=1), np.sum(way * wanted, axis=1))

    assert np.isfinite(found.turns).all()
    assert (off(found.end()) <= off(chain.end()) + 1e-12).all()
