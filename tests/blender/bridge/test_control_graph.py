"""Which controls lead which parts of a driven body."""

from typing import Any

import bpy
import pytest

from bridge.pick_order import FIRST, LAST, read_pick_order
from edits.info import describe
from tests.blender.control_rigs import BUILT
from tests.blender.rigs import put_on_fk, select


@pytest.mark.parametrize("fk", [0.0, 1.0])
def test_the_controls_are_those_that_an_animator_keys(human: Any, fk: float) -> None:
    put_on_fk(human, fk)
    controls = describe(human)["controls"]
    assert controls["hips"] == "torso"
    assert controls["head"] == "head"
    for side in "LR":
        for part in ("upper_arm", "hand", "thigh", "foot", "toe"):
            assert controls[f"{part}.{side}"] == f"{part}_{'fk' if fk else 'ik'}.{side}"
        for part in ("forearm", "shin"):
            assert controls.get(f"{part}.{side}") == (f"{part}_fk.{side}" if fk else None)
        assert controls[f"shoulder.{side}"] == f"shoulder.{side}"
        assert controls[f"index.{side}"] == [f"f_index.0{joint}.{side}" for joint in (1, 2, 3)]


def test_the_mouse_takes_the_control_that_is_shown(empty_file: None) -> None:
    rig = BUILT["Auto-Rig Pro on IK"].make()
    select(rig, [])
    assert read_pick_order(rig)["c_root_master.x"] == FIRST
    bone = rig.pose.bones["c_root_master.x"]
    (bone if hasattr(bpy.types.PoseBone, "hide") else bone.bone).hide = True
    hidden = read_pick_order(rig)
    assert hidden.get("c_root_master.x", LAST) == LAST
    assert hidden["c_traj"] == FIRST
