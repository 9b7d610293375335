"""What Blender makes of bones that something else turns, and of what controls do not decide, taken over into poses."""

from dataclasses import replace
from typing import Final

import numpy as np

from ..bridge import ControlledBody, ControlledFrames
from ..core import Pose, rotation
from ..core.skeleton import Flags, Indices

_ALONG: Final = np.array([0.0, 1.0, 0.0])  # a bone


def take_over(pose: Pose, seen: Pose, turned: Indices, placed: Indices) -> Pose:
    """Return poses (...) with the channels that `seen` (...) has of `turned` bones, and locations of `placed` ones."""
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    rotations[..., turned, :] = seen.rotations[..., turned, :]
    translations[..., placed, :] = seen.translations[..., placed, :]
    scales = pose.scales
    if scales is not None or seen.scales is not None:
        scales = np.ones_like(translations) if scales is None else np.array(scales)
        scales[..., turned, :] = 1.0 if seen.scales is None else seen.scales[..., turned, :]
    return Pose.trusted(rotations, translations, scales, pose.driven_matrices)


def take_undecided(controlled: ControlledFrames, pose: Pose, wanted: Pose, seen: Pose) -> Pose:
    """Return poses (F) with what controls do not decide as Blender shows it for `wanted` (F).

    That is the lengths of limbs that IK stretches, how those without a pole or a start that may move bend, how carried
    bones are at their parents, and twists. `seen` (F): the
    body as it is shown.
    """
    rotations, translations = np.array(pose.rotations), np.array(pose.translations)
    for number, body in enumerate(controlled.bodies):
        on, carried = controlled.which == number, np.flatnonzero(body.carried)
        there = undecided_of(body, pose[on], wanted[on], seen[on], carried, body.unsteered_but(), body.stretched)
        rotations[on], translations[on] = there.rotations, there.translations
    return replace(pose, rotations=rotations, translations=translations)


def undecided_of(
    body: ControlledBody, pose: Pose, wanted: Pose, seen: Pose, carried: Indices, unsteered: Indices, places: Flags
) -> Pose:
    """Return poses (...), see `take_undecided`, with these `carried` and `unsteered` bones, and the `places` (N,)."""
    untwisted, rotations = np.array(body.untwisted, int), np.array(pose.rotations)
    change = rotation.mul(rotation.inv(wanted.rotations[..., untwisted, :]), seen.rotations[..., untwisted, :])
    twists = rotation.swing_twist(change, _ALONG)[1]
    rotations[..., untwisted, :] = rotation.mul(rotations[..., untwisted, :], twists)
    placed = np.union1d(carried, np.flatnonzero(places))
    twisted = Pose.trusted(rotations, pose.translations, pose.scales, pose.driven_matrices)
    return take_over(twisted, seen, np.union1d(carried, unsteered), placed)


def with_idle(before: Pose, after: Pose, idle: Flags) -> Pose:
    """Return the poses after, but those before in `idle` frames (F,), which have no goal: neighbours affect them."""
    if not idle.any():
        return after
    rotations, translations = (
        np.where(idle[:, None, None], old, new)
        for old, new in ((before.rotations, after.rotations), (before.translations, after.translations))
    )
    scales = after.scales
    if scales is not None:
        scales = np.where(idle[:, None, None], 1.0 if before.scales is None else before.scales, scales)
    return Pose(rotations, translations, scales, after.driven_matrices)
