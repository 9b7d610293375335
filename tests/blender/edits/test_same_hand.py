"""The same drag of a hand on one rig on IK and on FK: the body goes with it alike."""

import bpy
import numpy as np
import pytest

from tests.blender.control_drags import RIGS, pin_feet, size_of
from tests.blender.rigs import world
from tests.paths import SHARED


@pytest.mark.long
@pytest.mark.skipif(not SHARED.exists(), reason="without the rigs of the shared data")
@pytest.mark.parametrize("way", [(-0.15, 0.0, 0.0), (-0.086, -0.034, 0.118), (0.0, -0.2, 0.1)])
def test_a_hand_on_ik_takes_the_body_as_far_as_one_on_fk(way: tuple[float, float, float]) -> None:
    """On IK the body went twice to four times as far, since elbows were as stiff as sideways."""
    gone: list[float] = []
    for name in ("Rigify on IK", "Rigify on FK"):
        rig, parts = RIGS[name]()
        pin_feet(rig, parts, "hand.L")
        before = world(rig, "DEF-spine.006")
        control = "hand_ik.L" if name.endswith("IK") else "hand_fk.L"
        assert bpy.ops.poise.drag(bone=control, shift=tuple(size_of(rig) * np.array(way))) == {"FINISHED"}
        gone.append(float(np.linalg.norm(world(rig, "DEF-spine.006") - before)))
    assert gone[0] < 1.2 * gone[1]
