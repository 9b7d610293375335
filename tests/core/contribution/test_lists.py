"""Presets for contribution CCD, and lists learned from motions."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import Actuation, ContributionCCD, CoreError, EulerBox, Goal, Pose, Skeleton, forward, rotation, solve
from core.body.anatomy import anatomy
from core.body.detection import find_roles
from core.contribution import PRESETS, learn, preset, preset_for, with_hinges
from core.contribution.learned_list import Replay, uniform_list
from core.limits import excess
from tests.core.body.rigs import HANDS, STRAIGHT, THUMBS
from tests.core.rigs import skeleton_of
from tests.paths import ROOT

CHAINS = {  # preset -> base and effector in the figure
    "arm": ("clavicle.R", "hand.R"),
    "leg": ("thigh.L", "foot.L"),
    "spine": ("hips", "neck"),
    "neck": ("neck", "head"),
}


def row(count: int, names: tuple[str, ...] = (), **more: object) -> Skeleton:
    """Bones of 0.1 m in a row along Y, a little bent."""
    offsets = [(0.0, 0.1, 0.0)] * count
    turns = rotation.exp([[0.05, 0.0, 0.1]] * count)
    return Skeleton(
        names or [f"b{i}" for i in range(count)], range(-1, count - 1), offsets, turns, [0.1] * count, **more
    )


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_gives_a_list_for_every_chain(name: str, figure: Skeleton) -> None:
    for skeleton, base, effector in (
        *((figure, *ends) for ends in CHAINS.values()),
        (figure, "hand.R", "hips"),
        *((row(count), None, f"b{count - 1}") for count in (2, 3, 4, 6, 12)),
    ):
        entries = preset(name, skeleton, base, effector)
        assert all(0.0 <= one.fraction <= 1.0 for one in entries)
        heads, _ = forward(skeleton, Pose.rest(skeleton))
        place = heads[skeleton.index(effector)]
        goal = Goal(effector, place + np.array([0.02, -0.03, 0.02]))
        solution = solve(skeleton, Pose.rest(skeleton), [goal], ContributionCCD(entries, base=base))
        assert np.isfinite(solution.position_error).all()
        assert solution.position_error[0] <= np.linalg.norm(place - goal.position) + 1e-9


@pytest.mark.parametrize(("name", "ends"), CHAINS.items())
def test_roles_tell_which_preset_suits_a_chain(name: str, ends: tuple[str, str], figure: Skeleton) -> None:
    assert preset_for(figure, *ends) == name


def test_the_shape_tells_where_there_are_no_roles() -> None:
    assert preset_for(row(7), None, "b6") == "tail"
    assert preset_for(row(12), None, "b11") == "tentacle"
    reach = np.radians([[0.1, 0.1, 80.0]])
    hinges = EulerBox([1, 2], ["XYZ"] * 2, -np.repeat(reach, 2, axis=0), np.repeat(reach, 2, axis=0))
    assert preset_for(row(4, limits=(hinges,)), None, "b3") == "finger"
    assert {one.axis for one in preset("finger", row(4, limits=(hinges,)), None, "b3") if one.bone != "b0"} == {"Z"}


def test_an_elbow_comes_first_and_turns_about_its_hinge(figure: Skeleton) -> None:
    entries = preset("arm", figure, "clavicle.R", "hand.R")
    first = entries[0]
    assert first.bone == "forearm.R"
    # arms of the figure lie along X and bend forwards: about the world's Z
    bone = figure.index("forearm.R")
    axes = rotation.to_matrix(forward(figure, Pose.rest(figure))[1][bone])
    assert abs(axes[2, "XYZ".index(first.axis)]) > 0.9
    assert list(dict.fromkeys(one.bone for one in entries)) == ["forearm.R", "upper_arm.R", "clavicle.R"]


# Angles of the three joints of a finger that closes, degrees: its last joint goes two thirds as far as the one before.
CLOSED = [(knuckle, middle, 2.0 / 3.0 * middle) for knuckle in (0.0, 20.0, 45.0) for middle in (15.0, 45.0, 75.0)]


@pytest.mark.parametrize("finger", ["index", "pinky"])
@pytest.mark.parametrize("side", ["L", "R"])
def test_a_finger_curls_forward_and_its_last_joint_about_two_thirds_as_far(finger: str, side: str) -> None:
    bare = skeleton_of([*STRAIGHT, *HANDS, *THUMBS])
    roles = find_roles(bare)
    skeleton, bends = with_hinges(bare, roles)
    first, middle, last = (f"{finger}{joint}.{side}" for joint in (1, 2, 3))
    entries = preset("finger", bare, first, last, roles, with_effector=True)
    assert [one.bone for one in entries] == [first, first, middle, last]
    out = 1.0 if side == "L" else -1.0
    # fingers of 3 x 0.03 m lie along X with the palm down: a finger that closes turns down and back, about Y
    heads, turns = forward(bare, Pose.rest(bare))
    angles = np.radians(CLOSED).cumsum(axis=1)
    reach = 0.03 * np.stack([out * np.cos(angles), np.zeros_like(angles), -np.sin(angles)], axis=-1).sum(axis=1)
    rest = Pose.rest(skeleton, (len(CLOSED),))
    goal = Goal(last, heads[bare.index(first)] + reach, point=(0.0, 0.03, 0.0))
    solution = solve(skeleton, rest, [goal], ContributionCCD(entries, base=first, sweeps=0, bends=bends))
    assert np.mean(solution.converged) > 0.8
    after = forward(skeleton, solution.pose)[1]
    bones = [bare.index(bone) for bone in (f"hand.{side}", first, middle, last)]
    ways = rotation.rotate(rotation.mul(after[:, bones], rotation.inv(turns[bones])), [out, 0.0, 0.0])
    falls = np.degrees(np.arctan2(-ways[..., 2], out * ways[..., 0]))
    bent = np.diff(falls, axis=1)
    assert bent[:, 1:].min() > -10.5  # as far back as joints of fingers go
    assert np.abs(bent - CLOSED).mean() < 9.0
    assert 0.5 < np.median(bent[:, 2] / bent[:, 1]) < 0.85


@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("part", [0.1, 0.2, 0.3])
def test_a_straight_finger_that_is_pulled_in_bends_towards_the_palm(side: str, part: float) -> None:
    bare = skeleton_of([*STRAIGHT, *HANDS, *THUMBS], np.random.default_rng(4))  # of any roll
    roles = find_roles(bare)
    skeleton, bends = with_hinges(bare, roles)
    first, last = f"ring1.{side}", f"ring3.{side}"
    entries = preset("finger", bare, first, last, roles)
    heads, _ = forward(bare, Pose.rest(bare))
    place = heads[bare.index(last)] + part * (heads[bare.index(first)] - heads[bare.index(last)])
    method = ContributionCCD(entries, base=first, sweeps=0, bends=bends)
    solution = solve(skeleton, Pose.rest(skeleton), [Goal(last, place)], method)
    assert solution.position_error[0] < 0.003
    knuckles = forward(skeleton, solution.pose)[0][[bare.index(f"ring{joint}.{side}") for joint in (1, 2, 3)], 2]
    assert knuckles[1] > knuckles[0] + 0.003  # the middle joint goes up, so that the finger bends down
    assert abs(knuckles[2] - knuckles[0]) < 0.003


@pytest.mark.parametrize("base", ["clavicle.L", "upper_arm.L"])
def test_clavicle_and_shoulder_go_no_further_than_those_of_people(base: str, figure: Skeleton) -> None:
    """Hands of 60 arms all around the shoulder, each from the rest pose, all in one call."""
    rng, rest = np.random.default_rng(0), Pose.rest(figure, (60,))
    ways = rng.normal(size=(60, 3))
    ways *= rng.uniform(0.2, 0.5, (60, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    shoulder = forward(figure, Pose.rest(figure))[0][figure.index("upper_arm.L")]
    roles = find_roles(figure)
    ranges = anatomy(figure, roles).ranges
    method = ContributionCCD(preset("arm", figure, base, "hand.L", roles), base=base)
    degrees: dict[bool, np.ndarray] = {}
    for kept in (True, False):
        skeleton, bends = with_hinges(figure, roles, rest, ranges=kept)
        turns = solve(skeleton, rest, [Goal("hand.L", shoulder + ways)], replace(method, bends=bends)).pose.rotations
        out = [excess(group, group.coordinates(rotation.to_matrix(turns[:, group.bones]))) for group in ranges]
        degrees[kept] = np.degrees(np.max([np.abs(one).max(axis=(-1, -2)) for one in out], axis=0))
    assert degrees[True].max() < 1e-5
    assert np.sum(degrees[False] > 1.0) > 15


def test_an_arm_that_is_further_than_people_go_stays_where_it_is(figure: Skeleton) -> None:
    roles, bone = find_roles(figure), figure.index("clavicle.L")
    turns = Pose.rest(figure).rotations.copy()
    turns[bone] = rotation.mul(turns[bone], rotation.exp(np.array([0.0, 0.0, np.radians(80.0)])))
    pose = replace(Pose.rest(figure), rotations=turns)
    skeleton, bends = with_hinges(figure, roles, pose, ranges=True)
    hand = forward(figure, pose)[0][figure.index("hand.L")]
    method = ContributionCCD(preset("arm", figure, "clavicle.L", "hand.L", roles), base="clavicle.L", bends=bends)
    found = solve(skeleton, pose, [Goal("hand.L", hand)], method).pose
    np.testing.assert_allclose(found.rotations, pose.rotations, atol=1e-12)
    beyond = solve(with_hinges(figure, roles, ranges=True)[0], pose, [Goal("hand.L", hand)], method)
    assert beyond.brought_in[bone]


def test_locked_axes_are_left_out() -> None:
    locks = np.zeros((4, 3), bool)
    locks[1] = True, True, False
    assert [one.axis for one in preset("tail", row(4, rotation_locks=locks), None, "b3") if one.bone == "b1"] == ["Z"]


@pytest.mark.parametrize(
    ("names", "suited"),
    [
        (("upper_arm_fk.L", "MCH-forearm_fk.L", "forearm_fk.L", "hand_fk.L"), "arm"),  # controls have no roles
        (("thigh_fk.L", "shin_fk.L", "foot_fk.L"), "leg"),
        (("hand.L", "f_index.01.L", "f_index.02.L", "f_index.03.L"), "finger"),
        (("shoulder", "arm_l0", "arm_l1", "arm_l2", "wrist"), "arm"),
        (("neck", "hair1", "hair2", "hair3", "hair4", "hair5", "hair6"), "tail"),
        (("jaw", "chin", "chin.001"), "tail"),  # too short for an arm
    ],
)
def test_names_tell_what_has_no_role(names: tuple[str, ...], suited: str) -> None:
    body = row(len(names) + 20, names=("root", *(f"rest{i}" for i in range(19)), *names))
    assert preset_for(body, names[0], names[-1], with_effector=True) == suited


def test_the_effector_turns_where_another_point_of_it_is_led(figure: Skeleton) -> None:
    assert "head" not in {one.bone for one in preset("neck", figure, "neck", "head")}
    assert "head" in {one.bone for one in preset("neck", figure, "neck", "head", with_effector=True)}


def test_what_has_no_preset_is_refused(figure: Skeleton) -> None:
    with pytest.raises(CoreError, match='no preset "wing"; there are arm, leg'):
        preset("wing", figure, "clavicle.R", "hand.R")
    with pytest.raises(CoreError, match="No bone between the base and"):
        preset("arm", replace(figure, movable=np.zeros(len(figure), bool)), "clavicle.R", "hand.R")


# -- learning -------------------------------------------------------------------------------------------------------


def swing(count: int = 24) -> tuple[Skeleton, Pose, tuple[Actuation, ...]]:
    """An arm that was led along a path by a list of its own, on a body that turns."""
    skeleton = skeleton_of(
        [
            ("body", None, (0, 0, 0), (0, 0, 1)),
            ("upper", "body", (0, 0, 1), (0.3, 0.05, 1)),
            ("lower", "upper", (0.3, 0.05, 1), (0.6, 0, 1)),
            ("end", "lower", (0.6, 0, 1), (0.7, 0, 1)),
        ]
    )
    time = np.linspace(0.0, 1.0, count)[:, None]
    turns = np.zeros((count, 4, 3))
    turns[:, 0, 2] = 0.5 * time[:, 0]
    shifts = np.zeros((count, 4, 3))
    shifts[:, 0, 0] = time[:, 0]
    body = Pose(rotation.exp(turns), shifts)
    path = np.array([0.58, 0.02, 1.0]) + np.sin(2.0 * time) * [-0.15, 0.2, 0.1]
    heads, frames = forward(skeleton, body)
    path = heads[:, 0] + rotation.rotate(frames[:, 0], rotation.rotate(rotation.inv(skeleton.rest_rotations[0]), path))
    entries = (
        Actuation("lower", "X", 0.2),
        Actuation("upper", "Z", 0.9),
        Actuation("upper", "X", 0.4),
        Actuation("lower", "Z", 0.1),
    )
    method = ContributionCCD(entries, base="upper", successive=True)
    return skeleton, solve(skeleton, body, [Goal("end", path)], method).pose, entries


def test_a_list_is_learned_from_the_motion_that_it_made() -> None:
    skeleton, motion, entries = swing()
    # the path is that of the motion, up to the tolerance off the one that the motion was made for
    assert np.degrees(Replay(skeleton, motion, "end", "upper").errors(entries).max()) < 0.05
    learned = learn(skeleton, motion, "end", "upper")
    assert np.degrees(learned.error) < 1.0
    assert learned.error < 0.1 * learned.uniform_error
    assert set(learned.joint_errors) == {"upper", "lower"}
    assert {one.bone for one in learned.actuations} == {"upper", "lower"}


def test_a_list_is_learned_from_a_chain_that_is_held_at_its_end() -> None:
    skeleton, motion, _ = swing(12)
    learned = learn(skeleton, motion, "body", "end")
    replay = Replay(skeleton, motion, "body", "end")
    assert learned.error < replay.errors(uniform_list(skeleton, replay.joints)).mean()
    held = solve(
        skeleton, replay.given, [replay.goal], ContributionCCD(learned.actuations, base="end", successive=True)
    )
    heads, _ = forward(skeleton, motion)
    np.testing.assert_allclose(forward(skeleton, held.pose)[0][:, 3], heads[:, 3], atol=1e-9)


def test_motions_that_teach_nothing_are_refused() -> None:
    skeleton, motion, _ = swing(4)
    with pytest.raises(CoreError, match="at least 3 frames"):
        learn(skeleton, motion[:2], "end", "upper")
    with pytest.raises(CoreError, match='None of the parents of "end" rotates'):
        learn(skeleton, Pose.rest(skeleton, (5,)), "end", "upper")


@pytest.mark.parametrize(
    ("limb", "count", "name"),
    [("leg.1.L", 5, "leg"), ("wing.L", 5, "arm"), ("arm.lower.R", 5, "arm"), ("leg.2.R", 12, "tentacle")],
)
def test_limbs_of_creatures_are_known_by_their_roles(limb: str, count: int, name: str) -> None:
    skeleton = row(count)
    roles = replace(find_roles(skeleton), limbs={limb: tuple(range(count))})
    assert preset_for(skeleton, "b0", f"b{count - 1}", roles, with_effector=True) == name
    listed = preset(name, skeleton, "b0", f"b{count - 1}", roles)
    assert {one.bone for one in listed} == {*skeleton.names[:-1]}


def test_the_example_of_the_documentation_runs_and_reaches() -> None:
    text = (ROOT / "docs" / "contribution.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)  # type: ignore[index]
    assert names["solution"].converged
    assert len(names["suited"]) > 0
