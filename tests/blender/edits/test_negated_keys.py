"""Keys with negated quaternions show the same poses, so tools that change a motion make the same of it."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pytest

import standalone
from edits.dragged_frame import DraggedFrame, falloff_at
from edits.fix_ground import FixedGround
from edits.in_between import InBetweenEdit
from edits.loop import LoopEdit
from edits.motion_edit import MotionEdit
from edits.retarget import Retargeted, imported
from edits.root_motion import RootMotion
from edits.smoothing import SmoothEdit
from edits.trails import read_trail
from tests.blender.edits.rigs import heads_over
from tests.blender.edits.test_in_between import leave
from tests.blender.rigs import context, curves, load
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
WALK = standalone.ROOT / "docs" / "examples" / "cmu_35_01.bvh"
FRAMES = (2, 50)
HAND = "mixamorig:LeftHand"


def drag(rig: Any) -> MotionEdit:
    edit = DraggedFrame(context, rig, HAND, (0.0, 0.0, 0.0), 30, falloff_at(read_trail(context, rig, HAND), 30, 8))
    edit.shift(np.array([0.0, 0.0, 0.1]))
    return edit


TOOLS: dict[str, tuple[Collection[int], Callable[[Any], MotionEdit]]] = {
    "smooth": ((), lambda rig: SmoothEdit(context, rig, FRAMES, cutoff=3.0)),
    "loop": ((), lambda rig: LoopEdit(context, rig, (10, 40))),
    "root motion": ((), lambda rig: RootMotion(context, rig, FRAMES, "nobody")),
    "ground": ((), lambda rig: FixedGround(context, rig, FRAMES, 0.04)),
    "dot": ((), drag),
    "in-betweens": (range(2, 51, 8), lambda rig: InBetweenEdit(context, rig, FRAMES)),
}


def walk(keys: Collection[int], negated: bool) -> Any:
    """A walk on quaternions, with the keys of these frames or all; many of them negated."""
    rig = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    context.view_layer.objects.active = rig
    with imported(context, WALK) as (source, _):
        edit = Retargeted(context, rig, source, FRAMES)
    edit.solve()
    edit.write(rig)
    if keys:
        leave(rig, keys)
    chances = np.random.default_rng(5).random((len(rig.pose.bones), FRAMES[1] + 1)) < 0.4 * negated
    for (path, _), curve in curves(rig.animation_data.action, rig).items():
        if path.endswith("rotation_quaternion"):
            for point in curve.keyframe_points:
                if chances[rig.pose.bones.find(path.split('"')[1]), round(point.co.x)]:
                    for place in (point.co, point.handle_left, point.handle_right):
                        place.y = -place.y
            curve.update()
    return rig


@pytest.mark.parametrize("tool", ["smooth", *(pytest.param(tool, marks=pytest.mark.long) for tool in [*TOOLS][1:])])
def test_negated_keys_change_nothing(tool: str) -> None:
    keys, make = TOOLS[tool]
    shown: list[np.ndarray] = []
    for negated in (False, True):
        rig = walk(keys, negated)
        edit = make(rig)
        edit.solve()
        edit.write(rig)
        shown.append(heads_over(rig, *FRAMES))
    np.testing.assert_allclose(shown[1], shown[0], atol=1e-4 * max(rig.dimensions))
