"""Clips whose bones all lie along one axis at rest: their motion shows the body, and is changed as any other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.editing.timed_pins import pin_errors
from edits.dragged_frame import DraggedFrame, Falloff
from edits.loop import LoopEdit
from edits.motion_edit import MotionEdit
from edits.pinned_motion import PinnedMotion
from edits.root_motion import RootMotion
from edits.smoothing import SmoothEdit
from edits.timed_pins import add_timed_pin
from tests.blender.edits.rigs import heads_over
from tests.blender.rigs import context, load
from tests.paths import SHARED

CLIP = SHARED / "motion" / "bvh30" / "cmu_03_01_cc.bvh"
HIPS, HAND, FEET = 0, "CC_Base_L_Hand", ("CC_Base_L_Foot", "CC_Base_R_Foot")
NEAR = 1e-5
pytestmark = [
    pytest.mark.usefixtures("empty_file"),
    pytest.mark.skipif(not SHARED.is_dir(), reason="the larger test data (../shared/data) is not here"),
]


@pytest.fixture
def clip() -> tuple[Any, tuple[int, int]]:
    rig = load(CLIP)[0]
    context.view_layer.objects.active = rig
    first, last = rig.animation_data.action.frame_range
    return rig, (int(first) + 1, int(last))


def changed_by(edit: MotionEdit, rig: Any, frames: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Heads (F, J, 3) of all bones before and after an edit is written, in sizes of the body."""
    before = heads_over(rig, *frames)
    edit.solve()
    report = edit.write(rig)
    assert report.pose is None or report.pose.met.all()
    return before / edit.skeleton.size, heads_over(rig, *frames) / edit.skeleton.size


def test_in_place_the_hips_stay_over_the_ground_and_the_body_is_the_same(clip: Any) -> None:
    rig, frames = clip
    before, after = changed_by(RootMotion(context, rig, frames, "nobody", smooth=0.0, axes=("x", "y")), rig, frames)
    assert np.ptp(before[:, HIPS, :2], axis=0).max() > 1.0
    assert np.ptp(after[:, HIPS, :2], axis=0).max() < 10.0 * NEAR
    np.testing.assert_allclose(after - after[:, :1], before - before[:, :1], atol=10.0 * NEAR)
    np.testing.assert_allclose(after[..., 2], before[..., 2], atol=10.0 * NEAR)


def test_a_hand_is_dragged_at_one_frame_and_feet_and_other_frames_stay(clip: Any) -> None:
    rig, frames = clip
    edit = DraggedFrame(context, rig, HAND, (0.0, 0.0, 0.0), 30, Falloff(30.0, 30.0, 8.0, 8.0))
    edit.shift(np.array([0.0, 0.0, 0.1 * edit.skeleton.size]))
    before, after = changed_by(edit, rig, frames)
    names = [bone.name for bone in rig.pose.bones]
    at, hand = 30 - frames[0], names.index(HAND)
    np.testing.assert_allclose(after[at, hand] - before[at, hand], [0.0, 0.0, 0.1], atol=1e-3)
    assert np.abs(after - before)[:, [names.index(foot) for foot in FEET]].max() < 1e-3
    beside = np.abs(np.arange(len(before)) - at) >= 8
    np.testing.assert_allclose(after[beside], before[beside], atol=NEAR)


@pytest.mark.parametrize("make", [LoopEdit, SmoothEdit])
def test_feet_are_found_and_held(clip: Any, make: Callable[..., MotionEdit]) -> None:
    rig, frames = clip
    edit = make(context, rig, frames)
    changed_by(edit, rig, frames)
    assert {edit.skeleton.names[edit.skeleton.index(pin.bone)] for pin in edit.pins} & set(FEET)
    shown, _ = edit.read_frames(rig, slice(None))
    for pin in edit.pins:
        gaps, _ = pin_errors(edit.skeleton, shown, pin)
        assert np.abs(gaps).max() < NEAR * edit.skeleton.size


def test_a_timed_pin_holds(clip: Any) -> None:
    rig, frames = clip
    pin = add_timed_pin(rig, HAND, 30, 40)
    pin.ease_in = pin.ease_out = 4
    edit = PinnedMotion(context, rig)
    before, after = changed_by(edit, rig, frames)
    at = slice(30 - frames[0], 41 - frames[0])
    hand = [bone.name for bone in rig.pose.bones].index(HAND)
    assert np.ptp(before[at, hand], axis=0).max() > 0.05
    assert np.ptp(after[at, hand], axis=0).max() < 1e-3
    np.testing.assert_allclose(after[:20], before[:20], atol=NEAR)
