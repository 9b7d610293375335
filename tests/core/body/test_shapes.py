"""Parts that are found by shape alone where a limb begins or ends with more joints than it has parts."""

from core.body import find_roles
from tests.core.rigs import FIGURE, skeleton_of


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
