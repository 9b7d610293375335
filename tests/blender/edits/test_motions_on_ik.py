"""A motion on limbs that are on IK: Blender shows the body where it was solved, in every frame.

Ground truth is Blender's own evaluation of the keys. Where it stretches limbs, or makes them shorter, the solved pose
has their lengths.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import forward, rotation
from core.formats.recipe import parse_recipe
from core.pose import frame_rotations
from edits.body_motion import BodyMotion
from edits.controls import frames_of_body
from edits.evaluation import evaluate
from edits.foot_lock import LockedFeet
from edits.generate import Generated
from edits.retarget import Retargeted, imported
from tests.blender.control_drags import NEAR, RIGS, TURNED
from tests.blender.rigs import FULL
from tests.paths import DATA, ROOT

context: Any = bpy.context
CLIP = DATA / "motion" / "cmu_07_12.bvh"
IN_CI = ("Auto-Rig Pro on IK", "CloudRig on IK", "legs on IK with poles", "reverse feet with poles", "Rigify on IK")
MORE = ("Rigify on IK with poles", "Rigify on FK")
FRAMES = (8, 40)


def brought(rig: Any, plant: bool = True) -> BodyMotion:
    """A captured walk, whose upper arms are turned about themselves by 38 degrees beside the way elbows bend."""
    with imported(context, CLIP) as (source, _):
        return Retargeted(context, rig, source, FRAMES, plant=plant)


def generated(recipe: str) -> Callable[[Any], BodyMotion]:
    path = ROOT / "core" / "formats" / "recipes" / f"{recipe}.json"
    return lambda rig: Generated(context, rig, parse_recipe(json.loads(Path(path).read_text(encoding="utf-8"))), 1)


MADE: dict[str, Callable[[Any], BodyMotion]] = {"walk": brought, "jump": generated("jump"), "wave": generated("wave")}


def assert_shown_as_solved(rig: Any, edit: BodyMotion) -> None:
    """Blender shows all parts within 1 mm, of a human, and 0.5 degrees of where they were solved."""
    assert edit.controlled is not None
    body = bridge.repeated(edit.controlled.now, len(edit.before)) if edit.makes_motion else edit.controlled
    parts = [bone for role in edit.roles.bones for bone in edit.roles.chain(role)]
    assert {
        f"{part}.{side}" for part in ("forearm", "hand", "shin", "foot") for side in "LR"
    } <= edit.roles.bones.keys()
    seen = frames_of_body(body, evaluate(context, rig, edit.before.frames)).matrices[:, parts]
    heads, turns = (some[:, parts] for some in forward(edit.skeleton, edit.after.pose))
    np.testing.assert_allclose(seen[..., 3], heads, atol=NEAR * edit.skeleton.size)
    assert np.degrees(rotation.angle_between(frame_rotations(seen[..., :3]), turns)).max() < TURNED


@pytest.mark.parametrize(
    "made", ["jump", *(pytest.param(made, marks=pytest.mark.long) for made in MADE if made != "jump")]
)
@pytest.mark.parametrize("name", [*IN_CI, *(MORE if FULL else ())])
def test_a_new_motion_is_shown_as_it_was_solved(name: str, made: str) -> None:
    rig, _ = RIGS[name]()
    edit = MADE[made](rig)
    edit.solve()
    elbows = [edit.roles.bone(f"forearm.{side}") for side in "LR"]
    wanted = forward(edit.skeleton, edit.after.pose)[0][:, elbows]
    report = edit.write(rig)
    assert report.pose is not None
    assert report.pose.met.all(), report.explanations
    assert_shown_as_solved(rig, edit)
    solved = forward(edit.skeleton, edit.after.pose)[0][:, elbows]
    np.testing.assert_allclose(solved, wanted, atol=0.012 * edit.skeleton.size)  # IK has other lengths


@pytest.mark.long
@pytest.mark.parametrize("name", ["CloudRig on IK", "Rigify on IK"])
def test_legs_are_shown_as_they_were_solved_where_feet_are_locked(name: str) -> None:
    rig, _ = RIGS[name]()
    edit = brought(rig, plant=False)
    edit.solve()
    edit.write(rig)
    locked = LockedFeet(context, rig, FRAMES)
    locked.solve()
    locked.write(rig)
    assert locked.pins
    assert_shown_as_solved(rig, locked)
