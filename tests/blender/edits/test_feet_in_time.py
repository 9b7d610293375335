"""Feet and toes of motions that are brought to a floor do not turn in a moment, as Blender evaluates them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
import standalone
from edits.fix_ground import FixedGround
from edits.retarget import Retargeted, imported
from tests.blender.rigs import context, load
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")

WALK = standalone.ROOT / "docs" / "examples" / "cmu_35_01.bvh"
RIG = DATA / "rigs" / "named_mixamo_cm.blend"
BENT = SHARED / "rigs" / "scripted" / "mpfb_mixamo.blend"  # whose toes bend at a joint near the ground
DANCE = SHARED / "motion" / "bvh30" / "cmu_05_13.bvh"  # on the tips of toes that point back
RUN = SHARED / "motion" / "bvh30" / "cmu_35_17.bvh"
LIFTED = SHARED / "motion" / "bvh30" / "cmu_08_05.bvh"  # whose toes go straight down where they leave the ground
MORE = 5.0  # degrees a frame, over the turn before and half of it
LAST = 75  # frame
DEEP = 0.001  # metres


def needs(path: Path) -> Any:
    return pytest.param(path, marks=pytest.mark.skipif(not path.exists(), reason="needs the shared data"))


def turns(armature: Any, frames: range) -> dict[str, np.ndarray]:
    """The turns of feet and toes from frame to frame (F,), in degrees, by role."""
    read = bridge.read_rig(armature)
    roles = bridge.read_roles(armature, read.skeleton)
    parts = [f"{part}.{side}" for part in ("foot", "toe") for side in "LR"]
    bones = {part: armature.pose.bones[roles.bone(part)] for part in parts}
    seen: dict[str, list[Any]] = {part: [] for part in parts}
    for frame in frames:
        context.scene.frame_set(frame)
        for part, bone in bones.items():
            seen[part].append((armature.matrix_world @ bone.matrix).to_quaternion())
    values = {part: np.array([tuple(turn) for turn in some]) for part, some in seen.items()}
    return {
        part: np.degrees(2.0 * np.arccos(np.minimum(np.abs((some[1:] * some[:-1]).sum(axis=1)), 1.0)))
        for part, some in values.items()
    }


def most(before: np.ndarray) -> np.ndarray:
    """The largest of each frame and of those beside it."""
    ends = np.pad(before, 1, mode="edge")
    return np.max([ends[:-2], ends[1:-1], ends[2:]], axis=0)


@pytest.mark.long
@pytest.mark.parametrize("rig", [RIG, needs(BENT)], ids=lambda path: path.stem)
@pytest.mark.parametrize("clip", [WALK, needs(DANCE), needs(RUN), needs(LIFTED)], ids=lambda path: path.stem)
def test_planted_feet_of_another_body_turn_as_slowly_as_those_of_the_first(rig: Path, clip: Path) -> None:
    armature = load(rig)[0]
    context.view_layer.objects.active = armature
    with imported(context, clip) as (source, _):
        frames = range(2, min(LAST, bridge.keyed_range(source)[1]) + 1)
        before = turns(source, frames)
        edit = Retargeted(context, armature, source, (frames[0], frames[-1]))
    edit.solve()
    edit.write(armature)
    for part, after in turns(armature, frames).items():
        assert (after - 1.5 * most(before[part])).max() < MORE, part


@pytest.mark.long
@pytest.mark.parametrize("height", [0.0, 0.03, 0.05])
def test_raised_feet_turn_as_slowly_as_before_and_no_side_of_their_toes_is_below(height: float) -> None:
    armature = load(RIG)[0]
    context.view_layer.objects.active = armature
    with imported(context, WALK) as (source, _):
        frames = range(2, LAST + 1)
        edit = Retargeted(context, armature, source, (frames[0], frames[-1]), plant=False)
    edit.solve()
    edit.write(armature)
    before = turns(armature, frames)
    fixed = FixedGround(context, armature, (frames[0], frames[-1]), height)
    fixed.solve()
    fixed.write(armature)
    for part, after in turns(armature, frames).items():
        assert (after - 1.5 * most(before[part])).max() < MORE, part
    toes = [bone for bone in armature.pose.bones if "ToeBase" in bone.name]
    for frame in frames:
        context.scene.frame_set(frame)
        assert min((armature.matrix_world @ toe.tail).z for toe in toes) > height - DEEP
