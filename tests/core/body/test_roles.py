"""Roles: names of many conventions, shape without names, and what is no human body."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import CoreError, Skeleton, rotation
from core.body import BODY, Roles, find_roles
from core.body.axes import axis_vector
from core.body.detection.names import read_names
from tests.core.body.conventions import CONVENTIONS, HUMAN, Row, answer, named, renamed
from tests.core.rigs import skeleton_of
from tests.paths import ROOT


def numbered(rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """The rows with names that say nothing, and old name -> new."""
    names = {row[0]: f"b{place}" for place, row in enumerate(rows)}
    return [(names[name], parent and names[parent], head, tail) for name, parent, head, tail in rows], names


def moved(rows: list[Row], change: Callable[[np.ndarray], np.ndarray]) -> list[Row]:
    return [
        (name, parent, change(np.array(head, float)), change(np.array(tail, float)))
        for name, parent, head, tail in rows
    ]


def limbs_of(skeleton: Skeleton, roles: Roles) -> dict[str, list[str]]:
    return {limb: [skeleton.names[bone] for bone in bones] for limb, bones in roles.limbs.items()}


# ---- names


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_names_of_all_conventions_are_understood(convention: str) -> None:
    names = renamed(convention)
    skeleton = skeleton_of([(names[n], p and names[p], head, tail) for n, p, head, tail in HUMAN])
    roles = find_roles(skeleton)
    assert roles.humanoid
    assert named(skeleton, roles) == answer(names)
    assert roles.missing == ()
    # as sure as this it is only where names and shape agree
    assert min(roles.confidence.values()) > 0.9


@pytest.mark.parametrize(
    ("name", "part", "side"),
    [
        ("Lefthand", "hand", "L"),
        ("LeftHandRing1", "ring", "L"),
        ("LeftFootThumb1", "toe", "L"),
        ("R_thumb_metacarpal", "thumb", "R"),
        ("index_metacarpal_l", "palm", "L"),
        ("forehead.L", "", "L"),
        ("swing.R", "", "R"),
        ("左腕捩", "arm", "L"),
        ("upper_arm.R.001", "upperarm", "R"),
        ("Bone.003", "", ""),
    ],
)
def test_one_name_is_read(name: str, part: str, side: str) -> None:
    (reading,) = read_names((name,))
    assert (reading.part, reading.side) == (part, side)


@pytest.mark.parametrize(
    "name", ["ik_hand_l", "PoleTarget.L", "ORG-shin.L", "hand_ik_ctrl.R", "左足ＩＫ", "handslot.l"]
)
def test_controls_and_helpers_are_known_by_their_names(name: str) -> None:
    assert read_names((name,))[0].helper


def test_helpers_twist_bones_beside_the_chain_and_end_bones_are_no_roles() -> None:
    extra: list[Row] = []
    for side, x in (("L", 1.0), ("R", -1.0)):
        extra += [
            (f"ik_hand.{side}", None, (0.71 * x, 0, 1.44), (0.8 * x, 0, 1.44)),
            (f"upper_arm_twist.{side}", f"upper_arm.{side}", (0.18 * x, 0, 1.44), (0.3 * x, 0.01, 1.44)),
            (f"toe_end.{side}", f"toe.{side}", (0.11 * x, -0.2, 0.02), (0.11 * x, -0.25, 0.02)),
        ]
    skeleton = skeleton_of([*HUMAN, *extra, ("head_end", "head", (0, 0, 1.75), (0, 0, 1.9))])
    roles = find_roles(skeleton)
    assert named(skeleton, roles) == answer()
    assert roles.twist == {}


def test_fingers_and_palms_are_told_by_names() -> None:
    rows = list(HUMAN)
    for side, x in (("L", 1.0), ("R", -1.0)):
        rows.append((f"palm.01.{side}", f"hand.{side}", (0.73 * x, -0.02, 1.44), (0.8 * x, -0.03, 1.44)))
        for finger, y in (("thumb", -0.06), ("f_index", -0.03), ("f_pinky", 0.03)):
            parent = f"palm.01.{side}" if finger == "f_index" else f"hand.{side}"
            for number in range(3):
                start = 0.8 + 0.03 * number
                name = f"{finger}.{number + 1:02}.{side}"
                rows.append((name, parent, (start * x, y, 1.44), ((start + 0.03) * x, y, 1.44)))
                parent = name
    skeleton = skeleton_of(rows)
    found = named(skeleton, find_roles(skeleton))
    assert found["thumb.R"] == ["thumb.01.R", "thumb.02.R", "thumb.03.R"]
    assert found["index.L"] == ["f_index.01.L", "f_index.02.L", "f_index.03.L"]
    assert found["palm.index.L"] == "palm.01.L"
    assert "middle.L" not in found


# ---- shape


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_without_names_the_shape_says_the_same(scale: float) -> None:
    rows, names = numbered(moved(HUMAN, lambda point: scale * np.add(point, (3.0, -2.0, 1.0))))
    skeleton = skeleton_of(rows, np.random.default_rng(4))
    for use_names in (True, False):
        roles = find_roles(skeleton, use_names=use_names)
        assert named(skeleton, roles) == answer(names)
        assert (roles.facing, roles.up, roles.rest) == ("-Y", "+Z", "T")
        assert 0.5 < min(roles.confidence.values()) < 0.9


def test_names_dealt_out_anew_do_not_mislead() -> None:
    rng = np.random.default_rng(5)
    for _ in range(10):
        deal = dict(zip([row[0] for row in HUMAN], rng.permutation([row[0] for row in HUMAN]).tolist(), strict=True))
        skeleton = skeleton_of([(deal[n], p and deal[p], head, tail) for n, p, head, tail in HUMAN])
        assert named(skeleton, find_roles(skeleton)) == answer(deal)


def test_left_and_right_are_the_characters_own_whatever_bones_are_called() -> None:
    other = {row[0]: row[0].translate(str.maketrans("LR", "RL")) if "." in row[0] else row[0] for row in HUMAN}
    skeleton = skeleton_of([(other[n], p and other[p], head, tail) for n, p, head, tail in HUMAN])
    roles = find_roles(skeleton)
    assert named(skeleton, roles) == answer(other)
    assert roles.facing == "-Y"
    assert max(roles.confidence[f"hand.{side}"] for side in "LR") < 0.7


def test_where_nothing_tells_front_from_back_the_sides_are_a_guess() -> None:
    flat = moved([row for row in HUMAN if "toe" not in row[0]], lambda point: point * [1.0, 0.0, 1.0])
    rows, _ = numbered([(n, p, head, head - [0, 0, 0.07] if "foot" in n else tail) for n, p, head, tail in flat])
    roles = find_roles(skeleton_of(rows))
    assert roles.humanoid
    assert roles.confidence["hand.L"] < 0.5 < roles.confidence["hips"]
    assert roles.missing == ("toe.L", "toe.R")


@pytest.mark.parametrize(("facing", "up"), [("+Z", "+Y"), ("-X", "+Y"), ("+X", "+Z"), ("+Y", "-Z"), ("+X", "-Y")])
def test_facing_and_up_turn_with_the_figure(facing: str, up: str) -> None:
    forward, upward = axis_vector(facing), axis_vector(up)
    turn = np.stack([np.cross(upward, forward), -forward, upward], axis=1)  # of the figure's left, back and up
    skeleton = skeleton_of(moved(HUMAN, lambda point: turn @ point))
    for use_names in (True, False):
        roles = find_roles(skeleton, use_names=use_names)
        assert named(skeleton, roles) == answer()
        assert (roles.facing, roles.up) == (facing, up)


@pytest.mark.parametrize(("degrees", "kind"), [(0, "T"), (15, "T"), (35, "A"), (60, "A"), (75, "I"), (-60, "other")])
def test_the_rest_pose_is_told_from_the_upper_arms(degrees: float, kind: str) -> None:
    def lowered(name: str, point: Any) -> np.ndarray:
        point = np.array(point, float)
        if not name.startswith(("upper_arm", "forearm", "hand")):
            return point
        sign = 1.0 if name.endswith("L") else -1.0
        shoulder = np.array([0.18 * sign, 0.0, 1.44])
        down = rotation.from_axis_angle([0.0, sign, 0.0], np.radians(degrees))
        return shoulder + rotation.rotate(down, point - shoulder)

    rows = [(name, parent, lowered(name, head), lowered(name, tail)) for name, parent, head, tail in HUMAN]
    skeleton = skeleton_of(rows)
    for use_names in (True, False):
        roles = find_roles(skeleton, use_names=use_names)
        assert named(skeleton, roles) == answer()
        assert roles.rest == kind


def test_a_rest_pose_with_one_arm_down_or_sitting_is_none() -> None:
    def seated(name: str, point: Any) -> np.ndarray:
        point = np.array(point, float)
        return np.add(point, (0.0, -0.42, 0.42)) if name.startswith(("shin", "foot", "toe")) else point

    rows = [(n, p, seated(n, head), seated("shin" if n.startswith("thigh") else n, tail)) for n, p, head, tail in HUMAN]
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    assert named(skeleton, roles) == answer()
    assert roles.rest == "other"


@pytest.mark.parametrize("use_names", [True, False])
def test_twist_bones_in_line_belong_to_the_first_of_the_segment(use_names: bool) -> None:
    rows: list[Row] = []
    for name, parent, head, tail in HUMAN:
        part, _, side = name.partition(".")
        above = (parent or "").partition(".")[0]
        inserted = (
            f"{parent.partition('.')[0]}_twist.{side}"
            if parent and above in SPLIT and part in SPLIT.values()
            else parent
        )
        middle = 0.5 * (np.array(head) + np.array(tail))
        rows.append((name, inserted, head, middle if part in SPLIT else tail))
        if part in SPLIT:
            rows.append((f"{part}_twist.{side}", name, middle, tail))
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton, use_names=use_names)
    assert named(skeleton, roles) == answer()
    twists = {role: [skeleton.names[bone] for bone in bones] for role, bones in roles.twist.items()}
    assert twists == {f"{part}.{side}": [f"{part}_twist.{side}"] for part in SPLIT for side in "LR"}


SPLIT = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}


@pytest.mark.parametrize("use_names", [True, False])
def test_feet_on_the_root_and_parts_without_parents_belong_where_they_begin(use_names: bool) -> None:
    loose = {"foot.L", "foot.R"}
    orphans = {"head", "hand.L", "hand.R", "thigh.L", "thigh.R"}
    rows: list[Row] = [("root", None, (0, 0, 0), (0, 0.2, 0))]
    rows += [(n, "root" if p is None or n in loose else None if n in orphans else p, h, t) for n, p, h, t in HUMAN]
    skeleton = skeleton_of(rows)
    assert named(skeleton, find_roles(skeleton, use_names=use_names)) == answer()


@pytest.mark.parametrize("use_names", [True, False])
def test_long_hair_and_a_skirt_hide_nothing(use_names: bool) -> None:
    rows = list(HUMAN)
    for strand in range(40):
        around = 2.0 * np.pi * (strand + 0.5) / 40
        parent, top = ("head", 1.7) if strand % 2 else ("hips", 0.93)
        for number in range(8):
            radius = 0.12 + 0.01 * number
            points = [(radius * np.cos(around), radius * np.sin(around), top - 0.08 * n) for n in (number, number + 1)]
            rows.append((f"strand{strand}_{number}", f"strand{strand}_{number - 1}" if number else parent, *points))
    skeleton = skeleton_of(rows)
    assert named(skeleton, find_roles(skeleton, use_names=use_names)) == answer()


def test_only_deforming_bones_play_roles_where_controls_lie_in_the_same_place() -> None:
    rows: list[Row] = [(f"ctl {n}", p and f"ctl {p}", h, t) for n, p, h, t in HUMAN]
    rows += [(n, f"ctl {p}" if p else None, h, t) for n, p, h, t in HUMAN]
    skeleton = skeleton_of(rows)
    deform = np.arange(len(rows)) >= len(HUMAN)
    for use_names in (True, False):
        assert named(skeleton, find_roles(skeleton, deform, use_names)) == answer()


# ---- other bodies

QUADRUPED: list[Row] = [
    ("pelvis", None, (0, 0.5, 0.8), (0, 0.3, 0.8)),
    ("spine1", "pelvis", (0, 0.3, 0.8), (0, 0.0, 0.8)),
    ("spine2", "spine1", (0, 0.0, 0.8), (0, -0.3, 0.82)),
    ("neck", "spine2", (0, -0.3, 0.82), (0, -0.45, 1.0)),
    ("head", "neck", (0, -0.45, 1.0), (0, -0.65, 1.0)),
    ("tail1", "pelvis", (0, 0.5, 0.8), (0, 0.65, 0.78)),
    ("tail2", "tail1", (0, 0.65, 0.78), (0, 0.8, 0.75)),
    ("tail3", "tail2", (0, 0.8, 0.75), (0, 0.95, 0.7)),
]
for _side, _x in (("L", 0.1), ("R", -0.1)):
    for _place, _trunk, _y in (("front", "spine2", -0.25), ("hind", "pelvis", 0.4)):
        QUADRUPED += [
            (f"{_place}_thigh.{_side}", _trunk, (_x, _y, 0.75), (_x, _y + 0.05, 0.45)),
            (f"{_place}_shin.{_side}", f"{_place}_thigh.{_side}", (_x, _y + 0.05, 0.45), (_x, _y + 0.02, 0.1)),
            (f"{_place}_foot.{_side}", f"{_place}_shin.{_side}", (_x, _y + 0.02, 0.1), (_x, _y - 0.08, 0.0)),
        ]


@pytest.mark.parametrize("use_names", [True, False])
def test_a_quadruped_has_limbs_and_no_human_roles(use_names: bool) -> None:
    skeleton = skeleton_of(QUADRUPED)
    roles = find_roles(skeleton, use_names=use_names)
    assert not roles.humanoid
    assert (roles.bones, roles.missing) == ({}, ())
    assert (roles.facing, roles.up, roles.rest) == ("-Y", "+Z", "other")
    legs = {f"leg.{place}.{side}": [f"{place}_{part}.{side}" for part in ("thigh", "shin", "foot")]
            for place in ("front", "hind") for side in "LR"}  # fmt: skip
    trunk = {"hips": ["pelvis"], "spine": ["spine1", "spine2"], "neck": ["neck"], "head": ["head"]}
    trunk |= {"tail": ["tail1", "tail2", "tail3"]}
    assert limbs_of(skeleton, roles) == legs | trunk
    assert roles.confidence.keys() == roles.limbs.keys()


def test_a_lying_body_with_human_names_is_an_animals() -> None:
    human = {"front_thigh": "upper_arm", "front_shin": "forearm", "front_foot": "hand",
             "hind_thigh": "thigh", "hind_shin": "shin", "hind_foot": "foot"}  # fmt: skip

    def name(bone: str) -> str:
        part, dot, side = bone.partition(".")
        return human.get(part, part) + dot + side

    skeleton = skeleton_of([(name(n), p and name(p), h, t) for n, p, h, t in QUADRUPED])
    roles = find_roles(skeleton)
    assert not roles.humanoid
    assert {"leg.front.L", "leg.hind.R"} <= roles.limbs.keys()


@pytest.mark.parametrize("degrees", [70.0, 90.0, 110.0])
def test_named_limbs_without_a_tail_are_a_humans_whose_rest_pose_bends_down(degrees: float) -> None:
    hips = next(np.array(head, float) for name, _, head, _ in HUMAN if name == "hips")
    bend = rotation.exp((np.radians(degrees), 0.0, 0.0))

    def bent(name: str, point: Any) -> np.ndarray:
        below = name == "hips" or name.startswith(("thigh", "shin", "foot", "toe"))
        return np.array(point, float) if below else hips + rotation.rotate(bend, np.array(point, float) - hips)

    rows = [(name, parent, bent(name, head), bent(name, tail)) for name, parent, head, tail in HUMAN]
    roles = find_roles(skeleton_of(rows))
    assert roles.humanoid
    assert named(skeleton_of(rows), roles) == answer()
    assert (roles.facing, roles.up) == ("-Y", "+Z")
    assert min(roles.confidence.values()) >= 0.8  # sure enough to go on without asking
    assert not find_roles(skeleton_of(rows), use_names=False).humanoid


def test_arms_are_in_front_of_legs_that_hang_on_a_tail_parented_by_its_tip() -> None:
    """Rigify's cat has such a tail, and no bone that is called a head."""
    human = {"front_thigh": "upper_arm", "front_shin": "forearm", "front_foot": "hand", "head": "neck.001",
             "hind_thigh": "thigh", "hind_shin": "shin", "hind_foot": "foot"}  # fmt: skip
    parents = {"tail3": "pelvis", "tail2": "tail3", "tail1": "tail2", "hind_thigh.L": "tail1", "hind_thigh.R": "tail1"}

    def name(bone: str) -> str:
        part, dot, side = bone.partition(".")
        return human.get(part, part) + dot + side

    rows = [(n, parents.get(n, p), h, t) for n, p, h, t in QUADRUPED]
    tail = [(n, p, t, h) for n, p, h, t in rows if n.startswith("tail")]
    hind = [row for row in rows if row[0].startswith("hind")]
    rows = [row for row in rows if not row[0].startswith(("tail", "hind"))] + tail[::-1] + hind
    skeleton = skeleton_of([(name(n), p and name(p), h, t) for n, p, h, t in rows])
    roles = find_roles(skeleton)
    assert roles.facing == "-Y"
    found = limbs_of(skeleton, roles)
    assert found["leg.front.L"] == ["upper_arm.L", "forearm.L", "hand.L"]
    assert found["leg.hind.R"] == ["thigh.R", "shin.R", "foot.R"]
    assert found["spine"] == ["spine1", "spine2"]
    assert found["tail"] == ["tail1", "tail2", "tail3"]


@pytest.mark.parametrize("use_names", [True, False])
def test_wings_and_a_tail_are_limbs_of_a_human_body(use_names: bool) -> None:
    rows = list(HUMAN)
    for side, x in (("L", 1.0), ("R", -1.0)):
        for number in range(4):
            points = [np.array([(0.05 + 0.25 * n) * x, 0.05 + 0.1 * n, 1.4 + 0.1 * n]) for n in (number, number + 1)]
            rows.append((f"wing{number}.{side}", f"wing{number - 1}.{side}" if number else "chest", *points))
    for number in range(5):
        points = [(0, 0.06 + 0.1 * n, 0.95 - 0.05 * n) for n in (number, number + 1)]
        rows.append((f"tail{number}", f"tail{number - 1}" if number else "hips", *points))
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton, use_names=use_names)
    assert named(skeleton, roles) == answer()
    wings = {f"wing.{side}": [f"wing{number}.{side}" for number in range(4)] for side in "LR"}
    assert limbs_of(skeleton, roles) == wings | {"tail": [f"tail{number}" for number in range(5)]}


def test_a_hand_alone_has_its_roles_by_name_and_is_no_body() -> None:
    rows: list[Row] = [("hand.R", None, (0, 0, 0), (0.1, 0, 0))]
    for finger, y in (("thumb", -0.06), ("index", -0.03), ("middle", 0.0)):
        rows.append((f"{finger}1.R", "hand.R", (0.1, y, 0), (0.13, y, 0)))
        rows.append((f"{finger}2.R", f"{finger}1.R", (0.13, y, 0), (0.16, y, 0)))
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    assert not roles.humanoid
    assert named(skeleton, roles) == {
        "hand.R": "hand.R", "thumb.R": ["thumb1.R", "thumb2.R"],
        "index.R": ["index1.R", "index2.R"], "middle.R": ["middle1.R", "middle2.R"],
    }  # fmt: skip


def test_anything_else_is_no_body_and_no_error() -> None:
    rng = np.random.default_rng(6)
    words = ["hand", "Left", "twist", "leg", "spine", "end", "IK", "head", ".R", "tail", "wing", "palm", "finger", "首"]
    for count in [1, 2, 3] + 60 * [0]:
        size = count or int(rng.integers(4, 40))
        parents = [int(rng.integers(-1, bone)) if bone else -1 for bone in range(size)]
        names = [f"{''.join(rng.choice(words, 3))}{bone}" for bone in range(size)]
        offsets = rng.normal(size=(size, 3)) * rng.integers(0, 2, (size, 1))
        rests = rotation.exp(rng.normal(size=(size, 3)))
        skeleton = Skeleton(names, parents, offsets, rests, rng.uniform(0.0, 1.0, size) * rng.integers(0, 2, size))
        for use_names in (True, False):
            roles = find_roles(skeleton, rng.uniform(size=size) < 0.8, use_names)
            assert roles.confidence.keys() == roles.bones.keys() | roles.limbs.keys()
            assert all(0.0 <= value <= 1.0 for value in roles.confidence.values())
            assert set(roles.missing) <= set(BODY)


def test_flags_of_another_skeleton_are_refused() -> None:
    with pytest.raises(CoreError, match="one flag for each of the 21 bones"):
        find_roles(skeleton_of(HUMAN), np.ones(3, bool))


# ---- parts of bodies


def bodies_without(*parts: str) -> list[Row]:
    """HUMAN without these bones and all that hangs on them."""
    gone: set[str] = set()
    for name, parent, *_ in HUMAN:
        if name.split(".")[0] in parts or parent in gone:
            gone.add(name)
    return [row for row in HUMAN if row[0] not in gone]


@pytest.mark.parametrize("convention", ["Mixamo", "Unreal", "SMPL", "Maya"])
@pytest.mark.parametrize("end", ["hand", "foot"])
def test_named_limbs_whose_last_bone_is_missing_are_not_shifted_by_one(convention: str, end: str) -> None:
    names = renamed(convention)
    rows = [(names[name], parent and names[parent], head, tail) for name, parent, head, tail in bodies_without(end)]
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    gone = {row[0] for row in HUMAN} - {row[0] for row in bodies_without(end)}
    assert named(skeleton, roles) == {role: bone for role, bone in answer(names).items() if role not in gone}
    assert {f"{end}.L", f"{end}.R"} <= set(roles.missing)
    assert (roles.facing, roles.up) == ("-Y", "+Z")


def test_named_legs_under_a_head_are_a_body_without_arms_and_a_bird_is_none() -> None:
    rows = bodies_without("shoulder")
    gone = {row[0] for row in HUMAN} - {row[0] for row in rows}
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton)
    assert named(skeleton, roles) == {role: bone for role, bone in answer().items() if role not in gone}
    assert (roles.facing, roles.up) == ("-Y", "+Z")
    wings = [(f"wing.{side}", "chest", (0.1 * x, 0.0, 1.4), (0.5 * x, 0.0, 1.4)) for side, x in (("L", 1), ("R", -1))]
    assert not find_roles(skeleton_of(rows + wings)).humanoid


def test_roles_are_the_same_in_every_process_in_order_too() -> None:
    """Python's hashes of texts differ from process to process."""
    script = (
        "from core.body import find_roles; from tests.core.body.rigs import figure; import sys;"
        "found = find_roles(figure('T').skeleton); print([*found.bones], [*found.confidence])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(told) == 1
    assert "hips" in told.pop()
