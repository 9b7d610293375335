"""Fingers that close round surfaces whose distances are known in closed form."""

import numpy as np
import pytest

from core import Pose, forward, rotation
from core.body.closing import TOUCH, Surface, close_fingers, hand_reach
from core.body.skin import Skin, capsule_distances, rest_skin, round_bones, with_round_fingers
from core.pose import forward_matrices
from core.rotation import Array
from tests.core.body.rigs import HANDS, STRAIGHT, THUMBS, body

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
BARE = Skin(np.zeros((0, 3)), np.zeros((0, 1), int), np.zeros((0, 1)))


def ball(centre: Array, radius: float) -> Surface:
    def distances(points: Array) -> tuple[Array, Array]:
        away = points - centre
        far = np.linalg.norm(away, axis=-1)
        return far - radius, away / far[:, None]

    return distances


def rod(centre: Array, radius: float) -> Surface:
    """Along Y, as a handle across the palm of a figure in T-pose."""
    flat = ball(centre * (1.0, 0.0, 1.0), radius)
    return lambda points: flat(points * (1.0, 0.0, 1.0))


def hand() -> tuple:
    skeleton, roles = body([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(10))
    knuckles = [skeleton.index(f"{finger}1.L") for finger in FINGERS[1:]]
    return skeleton, roles, Pose.rest(skeleton), skeleton.rest_matrices[knuckles, :, 3].mean(axis=0)


def round_skin(skeleton, roles) -> Skin:
    return with_round_fingers(skeleton, [roles.chain(f"{finger}.L") for finger in FINGERS], BARE)


def skin_places(skeleton, pose: Pose, skin: Skin) -> Array:
    """The points by linear blend skinning, of a skin with one bone for each point."""
    rest, posed = skeleton.rest_matrices, forward_matrices(skeleton, pose)
    bones = skin.bones[:, 0]
    local = np.linalg.solve(rest[bones, :, :3], (skin.places - rest[bones, :, 3])[..., None])
    return (posed[bones, :, :3] @ local)[..., 0] + posed[bones, :, 3]


@pytest.mark.parametrize(
    ("make", "radius", "below"), [(rod, 0.02, 0.012), (rod, 0.004, 0.02), (ball, 0.03, 0.02), (rod, 0.06, 0.012)]
)
def test_all_fingers_touch_what_is_in_the_hand_and_none_is_inside(make, radius: float, below: float) -> None:
    skeleton, roles, pose, knuckles = hand()
    surface = make(knuckles - (0.0, 0.0, radius + below), radius)
    grip = close_fingers(skeleton, roles, pose, "L", BARE, surface)
    skin = round_skin(skeleton, roles)
    far, _ = surface(skin_places(skeleton, grip.pose, skin))
    assert far.min() > -TOUCH * skeleton.size
    for finger in grip.touching:
        assert far[np.isin(skin.bones[:, 0], roles.chain(f"{finger}.L"))].min() <= TOUCH * skeleton.size
    assert {*grip.touching} >= {*FINGERS[1:]}
    assert grip.depth <= TOUCH * skeleton.size
    moved = {*np.flatnonzero(rotation.angle_between(grip.pose.rotations, pose.rotations) > 1e-6).tolist()}
    assert moved <= {bone for finger in FINGERS for bone in roles.chain(f"{finger}.L")}


def test_fingers_spread_round_a_ball_more_than_round_a_rod() -> None:
    skeleton, roles, pose, knuckles = hand()
    wide = []
    for make in (rod, ball):
        surface = make(knuckles - (-0.02, 0.0, 0.05), 0.035)
        heads, _ = forward(skeleton, close_fingers(skeleton, roles, pose, "L", BARE, surface).pose)
        wide.append(np.linalg.norm(heads[skeleton.index("index3.L")] - heads[skeleton.index("pinky3.L")]))
    assert wide[1] > wide[0]


def test_fingers_that_reach_nothing_make_a_fist_and_say_so() -> None:
    skeleton, roles, pose, knuckles = hand()
    grip = close_fingers(skeleton, roles, pose, "L", BARE, ball(knuckles + np.array((0.0, 0.0, 1.0)), 0.05))
    assert grip.touching == ()
    turned = np.degrees(rotation.angle_between(grip.pose.rotations, pose.rotations))
    assert turned[list(roles.chain("middle.L"))] == pytest.approx([80.0, 100.0, 65.0])


def test_no_finger_goes_through_a_sheet_that_has_no_inside() -> None:
    skeleton, roles, pose, knuckles = hand()

    def sheet(points: Array) -> tuple[Array, Array]:
        away = points[:, 2] - (knuckles[2] - 0.03)
        return np.abs(away), np.sign(away)[:, None] * (0.0, 0.0, 1.0)

    grip = close_fingers(skeleton, roles, pose, "L", BARE, sheet)
    places = skin_places(skeleton, grip.pose, round_skin(skeleton, roles))
    assert places[:, 2].min() > knuckles[2] - 0.03 - TOUCH * skeleton.size
    assert {*grip.touching} >= {*FINGERS[1:]}


def test_the_same_hand_at_another_size_closes_alike() -> None:
    turns = []
    for scale in (1.0, 100.0):
        rows = [(name, parent, np.multiply(scale, head), np.multiply(scale, tail))
                for name, parent, head, tail in [*STRAIGHT, *HANDS, *THUMBS]]  # fmt: skip
        skeleton, roles = body(rows, np.random.default_rng(10))
        knuckle = skeleton.rest_matrices[skeleton.index("middle1.L"), :, 3]
        surface = rod(knuckle - (0.0, 0.0, 0.035 * scale), 0.022 * scale)
        turns.append(close_fingers(skeleton, roles, Pose.rest(skeleton), "L", BARE, surface).pose.rotations)
    np.testing.assert_allclose(turns[0], turns[1], atol=1e-6)


def test_a_skin_at_rest_is_where_it_was_posed() -> None:
    skeleton = hand()[0]
    rng = np.random.default_rng(3)
    pose = Pose(rotation.exp(0.3 * rng.normal(size=(len(skeleton), 3))), np.zeros((len(skeleton), 3)))
    bones = rng.integers(0, len(skeleton), (50, 3))
    weights = rng.dirichlet(np.ones(3), 50)
    places = rng.normal(size=(50, 3))
    matrices, rest = forward_matrices(skeleton, pose), skeleton.rest_matrices
    local = np.linalg.solve(rest[bones][..., :3], (places[:, None] - rest[bones][..., 3])[..., None])
    moved = (matrices[bones][..., :3] @ local)[..., 0] + matrices[bones][..., 3]
    shown = (weights[..., None] * moved).sum(axis=1)
    corners = np.array([(0, 1, 2), (2, 3, 4)])
    skin = rest_skin(skeleton, matrices, shown, bones, weights, corners)
    np.testing.assert_allclose(skin.places, places, atol=1e-9)
    inside, others, shares = skin.filled(skeleton, 0.5)  # its triangles stay flat in another pose
    assert len(inside) > 60
    turned = forward_matrices(skeleton, Pose(pose.rotations[::-1], pose.translations))
    filled, kept = (
        (part[..., None] * ((turned[bone][..., :3] @ local[..., None])[..., 0] + turned[bone][..., 3])).sum(axis=1)
        for local, bone, part in ((inside, others, shares), (local[..., 0], bones, weights))
    )
    np.testing.assert_allclose(filled[:50], kept, atol=1e-9)
    normals = np.cross(kept[corners[:, 1]] - kept[corners[:, 0]], kept[corners[:, 2]] - kept[corners[:, 0]])
    off = np.abs(((filled[50:, None] - kept[corners[:, 0]]) * normals).sum(axis=-1)).min(axis=1)
    np.testing.assert_allclose(off, 0.0, atol=1e-9)


def test_capsules_are_as_thick_as_the_skin_round_them() -> None:
    heads = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    ring = 0.1 * np.stack([np.zeros(8), np.cos(angles), np.sin(angles)], axis=1)
    places = np.concatenate([ring + np.array((along, 0.0, 0.0)) for along in (0.2, 0.8, 1.1, 1.6)])
    starts, ends, radii = round_bones(heads, places, np.repeat([0, 0, 1, 1], 8))
    np.testing.assert_allclose(radii, 0.1)
    np.testing.assert_allclose(ends, [(1.0, 0.0, 0.0), (1.5, 0.0, 0.0)])
    far, away = capsule_distances(np.array([(0.5, 0.3, 0.0), (2.0, 0.0, 0.0)]), starts, ends, radii)
    np.testing.assert_allclose(far, [0.2, 0.4])
    np.testing.assert_allclose(away, [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)])


def test_the_reach_of_a_hand_has_all_its_fingers() -> None:
    skeleton, roles, pose, _ = hand()
    centre, radius = hand_reach(skeleton, roles, pose, "L")
    tips = forward(skeleton, pose)[0][[skeleton.index(f"{finger}3.L") for finger in FINGERS]]
    assert np.linalg.norm(tips - centre, axis=1).max() <= radius
