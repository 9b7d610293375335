"""Tools that change a part of a captured walk leave the rest as Blender showed it, whatever has keys there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import commands
from bridge.motion import all_curves
from edits.fix_ground import FixedGround
from edits.foot_lock import LockedFeet
from edits.loop import LoopEdit
from edits.path import PathEdit
from edits.root_motion import RootMotion
from edits.smoothing import SmoothEdit
from tests.blender.rigs import context, load
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")
FRAMES = (2, 66)
PART = (20, 44)
SAME = 1e-4  # of the height of the body
TOOLS: dict[str, Callable[[Any, tuple[int, int]], Any]] = {
    "root": lambda rig, part: RootMotion(context, rig, part, "root"),
    "object": lambda rig, part: RootMotion(context, rig, part, "object"),
    "nobody": lambda rig, part: RootMotion(context, rig, part, "nobody"),
    "loop": lambda rig, part: LoopEdit(context, rig, part),
    "smooth": lambda rig, part: SmoothEdit(context, rig, part, cutoff=1.0, plant=False),
    "path": lambda rig, part: PathEdit(context, rig, part, (0.0, 0.1 * rig.dimensions.z, 0.0), ease=0.1, plant=False),
    "feet": lambda rig, part: LockedFeet(context, rig, (part[1], part[1])),
    "ground": lambda rig, part: FixedGround(context, rig, part, 0.06 * rig.dimensions.z),
}


def walker(step: int) -> Any:
    """A captured walk below a root bone, with keys in each frame or in few."""
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    bpy.ops.object.mode_set(mode="EDIT")
    root = rig.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 5.0, 0.0)
    top = next(bone for bone in rig.data.edit_bones if bone.parent is None and bone.name != "root")
    top.parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    for curve in all_curves(rig.animation_data.action):
        for key in reversed(curve.keyframe_points):
            if (round(key.co.x) - FRAMES[0]) % step:
                curve.keyframe_points.remove(key, fast=True)
            else:
                key.interpolation = "BEZIER"
                key.handle_left_type = key.handle_right_type = "AUTO_CLAMPED"
        curve.update()
    return rig


def seen(rig: Any) -> np.ndarray:
    """Heads and tails (F, n, 3) of the bones but the root in the world, as Blender evaluates them."""
    found = []
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        context.scene.frame_set(frame)
        bones = [bone for bone in rig.pose.bones if bone.name != "root"]
        found.append([rig.matrix_world @ end for bone in bones for end in (bone.head, bone.tail)])
    return np.array(found)


def keyed(rig: Any) -> np.ndarray:
    """The frames of all keys of bones but the root."""
    curves = [curve for curve in all_curves(rig.animation_data.action) if '"' in curve.data_path]
    return np.unique([key.co.x for curve in curves if '"root"' not in curve.data_path for key in curve.keyframe_points])


@pytest.mark.parametrize("step", [1, 6])
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_leaves_frames_beside_its_range_as_they_were(name: str, step: int) -> None:
    rig = walker(step)
    before, frames, keys = seen(rig), np.arange(FRAMES[0], FRAMES[1] + 1), keyed(rig)
    edit = TOOLS[name](rig, PART)
    edit.solve()
    first, *_, last = edit.before.frames[edit.control_frames()]  # contacts reach beyond the part
    beside = (frames < first) | (frames > last)
    edit.write(rig)
    added = np.setdiff1d(keyed(rig), keys)
    assert ((added >= first - 1) & (added <= last + 1)).all()
    assert beside.sum() > len(frames) / 3
    after, height = seen(rig), np.ptp(before[0, :, 2])
    np.testing.assert_allclose(after[beside], before[beside], rtol=0.0, atol=SAME * height)
    changes = np.abs(after - before)[~beside].max() > 0.01 * height
    assert changes == (name not in ("root", "object"))  # the body stays where it is


def test_in_place_on_a_part_says_how_far_the_body_jumps(tmp_path: Path) -> None:
    rig = walker(1)
    edit = RootMotion(context, rig, PART, "nobody")
    edit.solve()
    (told,) = edit.advice()
    way = np.linalg.norm(edit.worlds[0, :3, :3] @ edit.travel.shifts[-1])
    assert told == f"the body jumps by {way:.2f} m after frame 44. Set End to the last frame"
    place = tmp_path / "report.json"
    frames = [str(frame) for frame in PART]
    assert commands.run(["root-motion", "--to", "nobody", "--frames", *frames, "--report", str(place)]) == 0
    assert json.loads(place.read_text(encoding="utf-8"))["warnings"] == [told]
    rig = walker(1)
    edit.write(rig)
    hips = [seen(rig)[frame - FRAMES[0], 0] for frame in (PART[1], PART[1] + 1)]
    assert np.linalg.norm((hips[1] - hips[0])[:2]) == pytest.approx(way, rel=0.1)
    whole = RootMotion(context, walker(1), FRAMES, "nobody")
    whole.solve()
    assert not whole.advice()
