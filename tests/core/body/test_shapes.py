"""Parts that are found by shape alone where a limb begins or ends with more joints than it has parts."""

from core.body import find_roles
from tests.core.rigs import FIGURE, skeleton_of

REPTILE = [  # a tyrannosaur: its trunk is level, its arms are tiny
    ("hips", None, (0.0, 0.0, 1.0), (0.0, -0.25, 1.0)),
    ("spine", "hips", (0.0, -0.25, 1.0), (0.0, -0.5, 1.0)),
    ("chest", "spine", (0.0, -0.5, 1.0), (0.0, -0.75, 1.0)),
    ("neck", "chest", (0.0, -0.75, 1.0), (0.0, -1.0, 1.05)),
    ("head", "neck", (0.0, -1.0, 1.05), (0.0, -1.3, 1.05)),
    *((f"tail{n}", f"tail{n - 1}" if n else "hips", (0.0, 0.2 * n, 1.0), (0.0, 0.2 * n + 0.2, 1.0)) for n in range(6)),
]
for _side, _x in (("L", 1.0), ("R", -1.0)):
    for _parent, _points in (
        ("hips", {"thigh": (0, 0.98), "shin": (-0.15, 0.55), "foot": (0.15, 0.2), "toe": (0, 0.03), "": (-0.15, 0)}),
        ("chest", {"upper_arm": (-0.5, 0.95), "forearm": (-0.48, 0.8), "hand": (-0.6, 0.7), "": (-0.68, 0.65)}),
    ):
        for _name, _end in zip(_points, [*_points.values()][1:], strict=False):
            REPTILE.append((f"{_name}.{_side}", _parent, (0.15 * _x, *_points[_name]), (0.15 * _x, *_end)))
            _parent = f"{_name}.{_side}"


def test_a_short_joint_beside_the_hips_is_no_thigh() -> None:
    rows = [row for row in FIGURE if not row[0].startswith("thigh")]
    for side, x in (("L", 1.0), ("R", -1.0)):
        rows.append((f"joint.{side}", "hips", (0.08 * x, 0.0, 0.97), (0.09 * x, 0.0, 0.92)))
        rows.append((f"thigh.{side}", f"joint.{side}", (0.09 * x, 0.0, 0.92), (0.1 * x, -0.02, 0.5)))
    order = {name: place for place, name in enumerate(["hips", "joint.L", "joint.R", "thigh.L", "thigh.R"])}
    rows.sort(key=lambda row: order.get(row[0], len(order)))
    skeleton = skeleton_of(rows)
    roles = find_roles(skeleton, use_names=False)
    assert [skeleton.names[roles.bone(f"thigh.{side}")] for side in "LR"] == ["thigh.L", "thigh.R"]


def test_joints_at_the_fingertips_are_no_phalanges_and_bones_of_the_palm_are_none() -> None:
    for first in (0.80, 0.73):  # where fingers begin: at the knuckles, or near the wrist with a bone in the palm
        rows, palm = list(FIGURE), first < 0.75
        for side, x in (("L", 1.0), ("R", -1.0)):
            for finger, y in (("thumb", -0.05), ("index", -0.03), ("middle", -0.01), ("ring", 0.01), ("pinky", 0.03)):
                start = 0.73 if finger == "thumb" else first
                steps = [0.07 if palm and finger != "thumb" else 0.03, 0.03, 0.025, 0.02]
                places = [start * x + x * sum(steps[:number]) for number in range(5)]
                aside = 0.04 if finger == "thumb" else 0.0
                parent = f"hand.{side}"
                for number in range(3 if palm and finger == "thumb" else 4):
                    ends = [(places[n], y - aside * n, 1.44) for n in (number, number + 1)]
                    rows.append((f"{finger}{number}.{side}", parent, *ends))
                    parent = f"{finger}{number}.{side}"
        skeleton = skeleton_of(rows)
        roles = find_roles(skeleton, use_names=False)
        found = [
            [skeleton.names[bone] for bone in roles.chain(f"{finger}.R")] for finger in ("thumb", "index", "pinky")
        ]
        start = 1 if palm else 0
        assert found == [
            [f"thumb{number}.R" for number in range(3)],
            [f"index{number}.R" for number in range(start, start + 3)],
            [f"pinky{number}.R" for number in range(start, start + 3)],
        ]
        assert (roles.bone("palm.index.R") >= 0) == palm


def test_arms_with_names_are_arms_however_short_they_are() -> None:
    skeleton = skeleton_of(REPTILE)
    roles = find_roles(skeleton)
    assert not roles.humanoid
    limbs = {limb: [skeleton.names[bone] for bone in bones] for limb, bones in roles.limbs.items()}
    assert limbs["arm.L"] == ["upper_arm.L", "forearm.L", "hand.L"]
    assert limbs["leg.R"] == ["thigh.R", "shin.R", "foot.R", "toe.R"]
    assert limbs["tail"] == [f"tail{number}" for number in range(6)]
