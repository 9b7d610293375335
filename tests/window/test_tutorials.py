"""Each tutorial of docs/tutorials is carried out with mouse and keys in a real window."""

from typing import Any

import numpy as np
import pytest

from tests.paths import DATA
from tests.window import tutorial_acts as act
from tests.window import tutorial_more_acts as more

pytestmark = pytest.mark.long
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
WALK = DATA.parent.parent / "docs" / "examples" / "cmu_35_01.bvh"
HELD = 0.002  # metres
SLID = 0.05  # metres
ELBOW = 0.05  # of a unit vector: elbows of Rigify on IK are up to 9 mm beside (docs/measured/controls.md)


def test_pose_a_mixamo_character(person: Any) -> None:
    seen = person(act.pose_mixamo, str(RIG), limit=420)
    assert seen["pins"] == ["mixamorig:LeftFoot", "mixamorig:RightFoot"]
    assert seen["hips"] < -0.1
    assert seen["hand"] > 0.25
    np.testing.assert_allclose(*seen["feet"], atol=HELD)
    left, right = seen["mirrored"]
    np.testing.assert_allclose(left, right, atol=0.02)


def test_fix_sliding_feet(person: Any) -> None:
    seen = person(act.fix_sliding_feet, limit=420)
    assert seen["pins"] == 19  # rows of a body with a mesh, as the tutorial says
    assert seen["before"] > SLID
    assert seen["after"] < HELD
    assert len(seen["actions"]) == 3  # the walk as captured, the one whose feet slide, and the one whose feet stay


def test_a_walk_onto_rigify(person: Any) -> None:
    seen = person(act.walk_onto_rigify, str(WALK), limit=420)
    assert seen["selected"] == ["rig"]
    assert seen["done"]
    np.testing.assert_allclose(*seen["arms"], atol=ELBOW)  # legs go where planted feet let them


def test_a_jump_from_two_poses(person: Any) -> None:
    seen = person(more.jump_from_two_poses, str(RIG), limit=420)
    assert seen["stretch"] > seen["crouch"] + 0.1
    assert seen["frames"] == [1, 49]
    held = [[first, first + 12] for first in (1, 13, 25, 37)]
    assert seen["phases"] == [held[0], held[0], held[1], held[2], held[2], held[3], held[3]]
    standing, flying, *landed = np.array(seen["feet"])
    assert (flying > standing + 0.1).all()
    np.testing.assert_allclose(landed, [standing, standing], atol=0.02)


def test_a_tail_by_fractions(person: Any) -> None:
    seen = person(more.tail_by_fractions, limit=420)
    assert seen["selected"] == ["tail.001", "tail.004"]
    assert set(seen["list"]) == {"tail.001", "tail.002", "tail.003", "tail.004"}
    turned = {name for name, was in seen["before"].items() if seen["dragged"][name] != was}
    assert turned <= set(seen["list"])
    assert len(turned) > 2
    assert seen["less"] < seen["fraction"]
    assert seen["tuned"] != seen["dragged"]


def test_mocap_from_a_phone(person: Any) -> None:
    seen = person(more.mocap_from_a_phone, str(RIG), limit=420)
    assert seen["settings"] == ["vmc", True]
    assert seen["received"] > 0.9 * seen["sent"]
    right, left = np.array(seen["arms"]).T
    assert np.ptp(right) > 0.05  # it waves
    assert (left < -0.1).all()  # it hangs


def test_a_click_on_the_figure_of_parts_selects_the_bone(person: Any) -> None:
    assert person(more.show_parts, str(RIG), limit=420)["selected"] == ["mixamorig:Hips"]
