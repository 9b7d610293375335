"""Edits of long motions hold few motions at once, and do in blocks of frames what they do in one."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.motion.clips import Clip, read_clip
from core import Motion, motion
from core.body import Roles, find_roles
from core.editing.path import edit_path
from core.editing.retarget import overlaid, retarget
from core.editing.root_motion import find_travel, set_carrier
from core.editing.smoothing import smooth_motion
from core.editing.timed_pins import TimedPin, pin_errors
from tests.paths import DATA

MOST = 4.0  # motions at once, of rotations and locations: the result, and what it is made of
FRAMES = 3000, 6000


@pytest.fixture(scope="module")
def walk() -> Clip:
    return read_clip(DATA / "motion" / "cmu_07_12.bvh")


def _retargeted(walk: Clip, roles: Roles, moves: Motion) -> Motion:
    return retarget(walk.skeleton, moves, roles, walk.skeleton, roles)


def _overlaid(walk: Clip, roles: Roles, moves: Motion) -> Motion:
    bones = list(roles.chain("spine")) + list(roles.chain("hips"))
    return overlaid(walk.skeleton, roles, moves, moves, bones, np.ones(len(moves)))


def _in_place(walk: Clip, roles: Roles, moves: Motion) -> Motion:
    travel = find_travel(walk.skeleton, moves, roles.bone("hips"))
    return set_carrier(walk.skeleton, moves, travel, None, "nobody")


def _smooth(walk: Clip, roles: Roles, moves: Motion) -> Motion:
    return smooth_motion(walk.skeleton, moves, np.arange(len(walk.skeleton)))


def _bent(walk: Clip, roles: Roles, moves: Motion) -> Motion:
    return edit_path(walk.skeleton, moves, roles.bone("hips"), bend=1.0)


EDITS = [_retargeted, _overlaid, _in_place, _smooth, _bent]


@pytest.mark.long
@pytest.mark.parametrize("edit", EDITS)
def test_a_longer_motion_takes_the_memory_of_a_few_motions(
    walk: Clip, edit: Callable[[Clip, Roles, Motion], Motion]
) -> None:
    roles = find_roles(walk.skeleton)
    assert _motions_at_once(walk, lambda moves: edit(walk, roles, moves)) < MOST


def test_errors_of_a_pin_take_less_memory_than_the_motion(walk: Clip) -> None:
    def errors(moves: Motion) -> None:
        pin_errors(walk.skeleton, moves, TimedPin(0, 0.0, FRAMES[1], np.zeros(3)))

    assert _motions_at_once(walk, errors) < 1.0


def _motions_at_once(walk: Clip, act: Callable[[Motion], object]) -> float:
    """Return by how many times its own arrays the memory that an act takes grows with a motion."""
    act(walk.motion)  # what is found once
    peaks, sizes = list[int](), list[int]()
    for count in FRAMES:
        pose = walk.motion.pose[np.arange(count) % len(walk.motion)]
        long = replace(walk.motion, pose=pose, frames=np.arange(count))
        tracemalloc.start()
        act(long)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(pose.rotations.nbytes + pose.translations.nbytes)
    return (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])


@pytest.mark.parametrize("edit", EDITS)
def test_blocks_of_frames_are_as_one(
    walk: Clip, monkeypatch: pytest.MonkeyPatch, edit: Callable[[Clip, Roles, Motion], Motion]
) -> None:
    roles = find_roles(walk.skeleton)
    whole = edit(walk, roles, walk.motion)
    monkeypatch.setattr(motion, "BLOCK", 7)
    parts = edit(walk, roles, walk.motion)
    for name in ("rotations", "translations"):
        np.testing.assert_allclose(getattr(parts.pose, name), getattr(whole.pose, name), atol=1e-12)
