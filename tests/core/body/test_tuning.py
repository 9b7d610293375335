"""What a body's joints do is learned from its own motion, about anatomical axes, for both sides alike."""

from dataclasses import replace

import numpy as np
import pytest

from core import CoreError, Goal, PinAndDrag, Pose, forward, rotation, solve
from core.body import find_roles
from core.body.anatomy import anatomy, with_anatomy
from core.body.roles import ARM, LEG
from core.body.tuning import learn_tuning, turns_of
from tests.core.body.rigs import NAMES, VARIANTS, Figure, figure
from tests.core.rigs import skeleton_of

# Degrees: usual turns of the left side's parts, and how far they stray.
USUAL = {
    "upper_arm": (10, -30, -50),
    "forearm": (0, -40, 10),
    "thigh": (-20, 5, 0),
    "shin": (35, 0, 0),
    "chest": (6, 0, 0),
}
SPREAD = {
    "upper_arm": (20, 35, 12),
    "forearm": (5, 30, 15),
    "thigh": (25, 6, 9),
    "shin": (20, 4, 4),
    "chest": (8, 5, 12),
}
SIDES = {"L": 1.0, "R": -1.0}


def moving(fig: Figure, frames: int, seed: int = 0, sides: str = "LR") -> Pose:
    """Poses that stray by chance about the usual ones; what is not named above stands as in the T-pose."""
    rng = np.random.default_rng(seed)
    known = fig.anatomy
    rotations = np.tile(known.canonical, (frames, 1, 1))
    for part, usual in USUAL.items():
        for name in (part, *(f"{part}.{side}" for side in sides)):
            if name not in NAMES:
                continue
            bone, mirror = NAMES.index(name), np.array([1.0, 1.0, 1.0] if name[-2:] != ".R" else [1.0, -1.0, -1.0])
            away = rng.normal(size=(frames, 3)) * np.radians(SPREAD[part])
            turns = rotation.mul(rotation.exp(np.radians(usual)), rotation.exp(away))
            vectors = rotation.rotate(known.axes[bone], rotation.log(turns) * mirror)
            rotations[:, bone] = rotation.mul(known.canonical[bone], rotation.exp(vectors))
    return Pose(rotations, np.zeros((frames, len(NAMES), 3)))


def learned(fig: Figure, pose: Pose):
    roles = find_roles(fig.skeleton)
    return learn_tuning(fig.skeleton, roles, turns_of(fig.skeleton, roles, pose))


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_usual_turns_and_deviations_are_found_whatever_the_rest_pose_is(variant: dict) -> None:
    fig = figure(**variant)
    tuning, scales = learned(fig, moving(fig, 1500)), []
    for part, usual in USUAL.items():
        for side, sign in SIDES.items():
            name = part if part in NAMES else f"{part}.{side}"
            bone, mirror = NAMES.index(name), np.array([1.0, sign, sign] if name != part else [1.0, 1.0, 1.0])
            assert tuning.learned[bone]
            off = rotation.angle_between(tuning.turns[bone], rotation.exp(np.radians(usual) * mirror))
            assert np.degrees(off) < 3.0, name
            shares = tuning.deviations[bone] / np.radians(SPREAD[part])  # all joints are as stiff together as people's
            scales.append(shares)
    assert np.allclose(scales, np.mean(scales), rtol=0.15)
    told = tuning.learned
    together = np.log(tuning.deviations[told] / fig.anatomy.deviations[told]).mean()
    assert abs(together) < 1e-9


def test_what_one_arm_does_the_other_may_do_mirrored() -> None:
    fig = figure("A", seed=5)
    tuning = learned(fig, moving(fig, 300, sides="L"))
    for part in ("upper_arm", "forearm", "thigh", "shin"):
        left, right = (NAMES.index(f"{part}.{side}") for side in "LR")
        assert np.allclose(tuning.deviations[left], tuning.deviations[right])
        assert np.allclose(tuning.turns[left], tuning.turns[right] * [1.0, 1.0, -1.0, -1.0])
    chest = NAMES.index("chest")
    assert np.allclose(tuning.turns[chest, 2:], 0.0, atol=2e-3)  # what is in the middle leans to neither side


def test_frames_with_a_joint_the_wrong_way_round_count_little() -> None:
    fig = figure("T")
    pose = moving(fig, 1000)
    bone = NAMES.index("thigh.L")
    glitched = np.array(pose.rotations)
    glitched[::25, bone] = rotation.mul(glitched[::25, bone], rotation.exp([0.0, 3.0, 0.0]))
    clean, dirty = (learned(fig, each) for each in (pose, replace(pose, rotations=glitched)))
    assert np.degrees(rotation.angle_between(clean.turns[bone], dirty.turns[bone])) < 1.0
    assert np.allclose(dirty.deviations[bone], clean.deviations[bone], rtol=0.3, atol=np.radians(1.0))


def test_bones_that_do_not_move_and_few_poses_leave_what_is_known_of_people() -> None:
    fig = figure("bent", seed=2)
    known = anatomy(fig.skeleton)
    many = learned(fig, moving(fig, 500))
    still = [NAMES.index(name) for name in ("hips", "head", "hand.L", "toe.R")]
    assert not many.learned[still].any()
    found = anatomy(fig.skeleton, tuning=many)
    assert np.array_equal(found.deviations[still], known.deviations[still])
    assert np.array_equal(found.reference.rotations[still], known.reference.rotations[still])
    # one pose says little, and the same pose held for long no more
    held = moving(fig, 1).rotations
    few = anatomy(fig.skeleton, tuning=learned(fig, Pose(np.repeat(held, 90, axis=0), np.zeros((90, len(NAMES), 3)))))
    assert np.array_equal(few.deviations, known.deviations)
    drifting = moving(fig, 2, seed=4).rotations
    slow = rotation.slerp(drifting[0], drifting[1], np.linspace(0.0, 1.0, 90)[:, None])
    once = anatomy(fig.skeleton, tuning=learned(fig, Pose(slow, np.zeros((90, len(NAMES), 3)))))
    arm = NAMES.index("forearm.L")
    far, near = (np.abs(np.log(other.deviations[arm] / known.deviations[arm])).max() for other in (found, once))
    assert near < 0.4 * far
    with pytest.raises(CoreError, match="no frames"):
        learned(fig, moving(fig, 0))


def test_solvers_turn_by_what_was_learned() -> None:
    fig = figure("T")
    pose = moving(fig, 400)
    stiff = np.array(pose.rotations)
    for side in "LR":  # an arm that moves from the elbow alone
        bone = NAMES.index(f"upper_arm.{side}")
        small = 0.05 * rotation.log(rotation.mul(rotation.inv(stiff[0, bone]), stiff[:, bone]))
        stiff[:, bone] = rotation.mul(stiff[0, bone], rotation.exp(small))
    tuning = learned(fig, replace(pose, rotations=stiff))
    start = fig.anatomy.reference
    target = forward(fig.skeleton, start)[0][NAMES.index("hand.L")] + [0.05, -0.1, 0.15]
    turned = []
    for known in (None, tuning):
        skeleton, method = with_anatomy(fig.skeleton, PinAndDrag(root="fixed", reference=start), tuning=known)
        solution = solve(skeleton, start, [Goal("hand.L", position=target)], method)
        assert solution.converged.all()
        bone = NAMES.index("upper_arm.L")
        turned.append(rotation.angle_between(start.rotations[bone], solution.pose.rotations[bone]))
    assert turned[1] < 0.6 * turned[0]


def together(fig: Figure, frames: int = 1000) -> Pose:
    """Poses in which hands turn about Z as forearms turn about Y, both sides alike; legs turn as the arms do."""
    pose, known = moving(fig, frames), fig.anatomy
    rotations, bent = np.array(pose.rotations), np.random.default_rng(7).normal(size=(frames, 1))
    for side, sign in SIDES.items():
        for part, axis in (("forearm", (0.0, 0.4, 0.0)), ("hand", (0.0, 0.0, 0.3)), ("shin", (0.3 * sign, 0.0, 0.0))):
            bone = NAMES.index(f"{part}.{side}")
            vectors = rotation.rotate(known.axes[bone], sign * bent * np.array(axis))
            rotations[:, bone] = rotation.mul(known.canonical[bone], rotation.exp(vectors))
    return replace(pose, rotations=rotations)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_turns_that_go_together_are_found_inside_arms_and_legs_only(variant: dict) -> None:
    fig = figure(**variant)
    tuning = learned(fig, together(fig))
    found = {entry[:4]: entry[4] for entry in anatomy(fig.skeleton, tuning=tuning).correlations}
    index = NAMES.index
    for side, other in ("LR", "RL"):  # as much as a motion's share says
        for hand, mirrored in ((f"hand.{side}", 1.0), (f"hand.{other}", -1.0)):
            pair = sorted([(index(f"forearm.{side}"), 1), (index(hand), 2)])
            assert found[(*pair[0], *pair[1])] == pytest.approx(0.4 * mirrored * tuning.share, abs=0.05)
    names = ({f"{part}.{side}" for part in parts for side in "LR"} for parts in (ARM, LEG))
    arms, legs = ({bone for bone, name in enumerate(NAMES) if name in group} for group in names)
    assert not any({bone, other} & arms and {bone, other} & legs for bone, _, other, _ in found)
    # of hips and knees people say the most
    pair = sorted([(index("thigh.L"), 0), (index("shin.L"), 0)])
    assert found[(*pair[0], *pair[1])] == pytest.approx(-0.7 * (1.0 - 0.4 * tuning.share), abs=0.05)


def test_what_goes_together_on_one_side_alone_goes_together_on_both() -> None:
    fig = figure("A", seed=5)
    rotations = np.array(together(fig).rotations)
    still = [NAMES.index(name) for name in NAMES if name.endswith(".R")]
    rotations[:, still] = rotations[0, still]
    tuning = learned(fig, Pose(rotations, np.zeros((len(rotations), len(NAMES), 3))))
    found = {entry[:4]: entry[4] for entry in anatomy(fig.skeleton, tuning=tuning).correlations}
    for side, other in ("LR", "RL"):
        for hand, value in ((f"hand.{side}", 0.4), (f"hand.{other}", 0.0)):
            pair = sorted([(NAMES.index(f"forearm.{side}"), 1), (NAMES.index(hand), 2)])
            assert found.get((*pair[0], *pair[1]), 0.0) == pytest.approx(value * tuning.share, abs=0.03)


def test_a_hand_that_turns_with_the_elbow_does_so_in_a_solve() -> None:
    fig = figure("T")
    tuning, start = learned(fig, together(fig)), fig.anatomy.reference
    hand, target = NAMES.index("hand.L"), forward(fig.skeleton, start)[0][NAMES.index("hand.L")]
    turned = []
    for known in (replace(tuning, ties=None), tuning):
        skeleton, method = with_anatomy(fig.skeleton, PinAndDrag(root="fixed", reference=start), tuning=known)
        solution = solve(skeleton, start, [Goal("hand.L", position=target + np.array([0.05, 0.05, 0.1]))], method)
        assert solution.converged.all()
        both = (rotation.log(rotation.mul(rotation.inv(start.rotations[bone]), solution.pose.rotations[bone]))
                for bone in (NAMES.index("forearm.L"), hand))  # fmt: skip
        forearm, own = (rotation.rotate(rotation.inv(fig.anatomy.axes[bone]), vector)
                        for bone, vector in zip((NAMES.index("forearm.L"), hand), both, strict=True))  # fmt: skip
        turned.append(own[2] / forearm[1])
    assert abs(turned[0]) < 1e-3
    assert turned[1] > 0.1


def test_correlations_of_some_bones_do_not_contradict_those_of_the_others() -> None:
    fig = figure("T")
    tuning, known = learned(fig, together(fig)), fig.anatomy.correlations
    rng = np.random.default_rng(2)
    for _ in range(20):
        some = replace(tuning, learned=tuning.learned & (rng.random(len(NAMES)) < 0.5))
        found = anatomy(fig.skeleton, tuning=some)
        matrix = found.correlation_matrix
        assert np.linalg.eigvalsh(matrix).min() > 0.05
        kept = {entry for entry in known if not (some.learned[entry[0]] or some.learned[entry[2]])}
        assert kept <= set(found.correlations)


def test_a_tail_learns_too() -> None:
    rows = [(f"b{i}", f"b{i - 1}" if i else None, (0, 0.2 * i, 1), (0, 0.2 * i + 0.2, 1)) for i in range(6)]
    skeleton = skeleton_of(rows)
    away = np.random.default_rng(7).normal(size=(200, 6, 3)) * np.radians((12.0, 5.0, 25.0))
    tuning = learn_tuning(skeleton, find_roles(skeleton), rotation.exp(away))
    assert tuning.learned.tolist() == [False] + 5 * [True]
    shares = tuning.deviations[1:] / np.radians((12.0, 5.0, 25.0))
    assert np.allclose(shares, shares.mean(), rtol=0.3)
