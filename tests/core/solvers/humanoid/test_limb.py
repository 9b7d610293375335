"""Limbs in closed form: exact, at their swivel, without pops; chains that turn about one axis."""

import numpy as np
import pytest

from core import rotation
from core.solvers.humanoid.limb import bend_limb, measure_limb, reference_field, swivel_of, swivel_towards
from tests.core.solvers.humanoid.rigs import units

UPPER, LOWER = 0.3, 0.26
STEP = 1e-3  # metres between targets of a curve


def bent(targets: np.ndarray, swivel: float | np.ndarray = 0.4, field: np.ndarray | None = None):
    shape = targets.shape[:-1]
    frame = np.broadcast_to(np.eye(3) if field is None else field, (*shape, 3, 3))
    lengths = (np.full(shape, UPPER), np.full(shape, LOWER))
    return bend_limb(frame, np.zeros_like(targets), targets, *lengths, np.broadcast_to(swivel, shape))


def test_the_field_is_y_turned_the_shortest_way_from_x() -> None:
    ways = units(np.random.default_rng(0), 500)
    axes = np.cross([1.0, 0.0, 0.0], ways)
    turns = rotation.from_axis_angle(axes, np.arctan2(np.linalg.norm(axes, axis=1), ways[:, 0]))
    np.testing.assert_allclose(reference_field(ways), rotation.rotate(turns, [0.0, 1.0, 0.0]), atol=1e-12)
    np.testing.assert_array_equal(reference_field(np.array([-1.0, 0.0, 0.0])), [0.0, 1.0, 0.0])


def test_a_limb_reaches_what_it_can_and_keeps_its_lengths() -> None:
    rng = np.random.default_rng(1)
    targets = units(rng, 2000) * rng.uniform(UPPER - LOWER, UPPER + LOWER, (2000, 1))
    limb = bent(targets, rng.uniform(-3.0, 3.0, 2000))
    np.testing.assert_allclose(limb.end, targets, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(limb.middle, axis=1), UPPER, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(limb.end - limb.middle, axis=1), LOWER, atol=1e-9)


@pytest.mark.parametrize("far", [0.0, 0.01, 0.6, 50.0])
def test_out_of_reach_it_comes_as_near_as_its_lengths_let_it(far: float) -> None:
    way = np.array([0.6, -0.8, 0.0])
    limb = bent(far * way)
    assert np.linalg.norm(limb.end - far * way) == pytest.approx(max(far - UPPER - LOWER, UPPER - LOWER - far))
    if far:
        np.testing.assert_allclose(np.cross(limb.end, way), 0.0, atol=1e-12)


def test_the_swivel_that_is_set_is_the_one_that_is_measured() -> None:
    rng = np.random.default_rng(2)
    targets = units(rng, 500) * rng.uniform(0.1, 0.5, (500, 1))
    field = rotation.to_matrix(rotation.normalize(rng.normal(size=(500, 4))))
    swivels = rng.uniform(-np.pi, np.pi, 500)
    limb = bent(targets, swivels, field)
    seen = measure_limb(limb.root, limb.middle, limb.end, limb.normal)
    np.testing.assert_allclose(rotation.wrap(swivel_of(seen, field) - swivels), 0.0, atol=1e-9)
    # its joint bends about the normal, the positive way
    bend = np.sum(np.cross(seen.middle, seen.end - seen.middle) * seen.normal, axis=1)
    assert (bend > 0.0).all()
    np.testing.assert_allclose(
        rotation.wrap(
            swivel_towards(field, limb.root, limb.end, np.full(500, UPPER), np.full(500, LOWER), limb.middle) - swivels
        ),
        0.0,
        atol=1e-9,
    )


@pytest.mark.parametrize("bend", [0.0, -0.02, -0.5], ids=["straight", "a hair backwards", "backwards"])
def test_a_limb_that_does_not_show_its_plane_bends_about_its_hinge(bend: float) -> None:
    hinge = np.array([0.0, 0.0, 1.0])
    middle = np.array([UPPER, 0.0, 0.0])
    end = middle + LOWER * np.array([np.cos(bend), np.sin(bend), 0.0])
    np.testing.assert_allclose(measure_limb(np.zeros(3), middle, end, hinge).normal, hinge, atol=1e-12)


def test_the_zero_goes_over_from_the_field_to_the_plane_of_the_hinge_as_the_limb_bends() -> None:
    way = np.array([-0.5, -0.3, 0.6]) / np.linalg.norm([-0.5, -0.3, 0.6])
    field, hinge = reference_field(way), np.array([0.0, 1.0, 0.0]) - way[1] * way
    bends = np.radians([0.0, 30.0, 60.0, 90.0, 120.0, 150.0])
    far = np.sqrt(UPPER**2 + LOWER**2 + 2.0 * UPPER * LOWER * np.cos(bends))
    normals = bent(far[:, None] * way, 0.0).normal
    off = [np.arccos(np.clip(normals @ (to / np.linalg.norm(to)), -1.0, 1.0)) for to in (field, hinge)]
    np.testing.assert_allclose([off[0][0], *off[1][-2:]], 0.0, atol=1e-6)
    assert (np.diff(off[0][:-1]) > 0.0).all()
    np.testing.assert_allclose(off[0] + off[1], off[0][-1], atol=1e-6)  # the short way


def closed_curve(seed: int, nearest: float) -> np.ndarray:
    """Targets 1 mm apart along a closed curve through the whole reach, no nearer than that to the field's -x."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0 * np.pi, 40_000)[:, None]
    wave = sum(rng.normal(size=3) * np.sin(k * t + rng.uniform(0.0, 6.0, 3)) / k for k in (1, 2, 3))
    radius = np.clip(np.linalg.norm(wave, axis=1, keepdims=True), 0.1, 0.58)
    ways = wave / np.linalg.norm(wave, axis=1, keepdims=True)
    off = np.arccos(np.clip(-ways[:, 0], -1.0, 1.0))
    across = np.hypot(ways[:, 1], ways[:, 2])
    pushed = np.maximum(off, nearest)  # the angle from -x
    ways = np.stack([-np.cos(pushed), *(ways[:, 1:] * (np.sin(pushed) / across)[:, None]).T], axis=1)
    path = radius * ways
    far = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    places = np.arange(0.0, far[-1], STEP)
    return np.stack([np.interp(places, far, path[:, axis]) for axis in range(3)], axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_along_a_closed_curve_the_elbow_never_pops(seed: int) -> None:
    middles = bent(closed_curve(seed, np.radians(20.0))).middle
    # within 20 degrees of -x the field turns 1 / tan(10) as fast as the end; near the root a step is a large angle
    assert np.linalg.norm(np.diff(middles, axis=0), axis=1).max() < 25.0 * STEP


def test_the_only_place_where_the_elbow_hurries_is_the_singular_direction() -> None:
    angles = np.arange(-0.5, 0.5, STEP) + 0.5 * STEP
    aside = 2e-3  # radians by which the way misses -x
    ways = np.stack([-np.cos(angles), np.sin(angles), np.full_like(angles, aside)], axis=1)
    steps = np.linalg.norm(np.diff(bent(0.4 * ways).middle, axis=0), axis=1)
    fastest = angles[np.argmax(steps)]
    assert abs(fastest) < 2.0 * STEP
    assert steps.max() > 50.0 * STEP
    assert steps[np.abs(angles[1:]) > 0.2].max() < STEP


# -- columns -------------------------------------------------------------------------------------------------------
