"""Change a motion where it has keys, and nowhere else."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

import bpy
import numpy as np

from ..core import Motion
from ..core.channels import rotations_to_channel
from ..core.rotation import Array
from .armature import Rig
from .channels import CHANNELS, ArmatureObject, read_channels
from .keys import Channel, channels_of, check_curves, check_target, curves_of, ensure_curve, target_action
from .motion import SAME_FRAME
from .points import HANDLES, read_keys

_PLACED_BY_BLENDER: Final = {"AUTO", "AUTO_CLAMPED"}
_CHANGED: Final = 1e-7  # of a channel: less is rounding


def change_keys(
    armature: ArmatureObject, rig: Rig, motion: Motion, turned: Iterable[int], moved: Iterable[int],
    at: Sequence[float], edges: tuple[float, float], action: str | None = None, new: bool = False,
    outer: tuple[float, ...] = (),
) -> bpy.types.Action:  # fmt: skip
    """Give the keys between two frames the values that a motion has there; return the action.

    Rotations of `turned` and locations of `moved` bones (indices) are changed; the motion has all frames in which these
    have keys between the `edges`, and is not changed in others. Handles go along with their keys. A changed channel
    gets a key at each frame of `at` where it has none, and at an edge beyond which it has none, so that the change ends
    there. One with keys beyond both gets keys at the frames of `outer`, at and beyond the edges, where other channels
    have theirs, so that it stays beyond these.

    `action` and `new` are as in `write_keys`, which raises the same BridgeErrors, with nothing changed.
    """
    check_target(armature, action, new)
    changes = _changes(armature, rig, motion, list(turned), list(moved))
    check_curves(armature, [channel for channel, _ in changes])
    target = target_action(armature, action, new)
    for channel, added in changes:
        _change(ensure_curve(armature, target, channel), channel, added, at, edges, outer)
    target.update_tag()
    return target


def _changes(
    armature: ArmatureObject, rig: Rig, motion: Motion, turned: list[int], moved: list[int]
) -> list[tuple[Channel, Array]]:
    """Return the channels that a motion changes, as they are now, and what is added to them (F,)."""
    skeleton, curves, frames = rig.skeleton, curves_of(armature), motion.frames
    present, found = read_channels(armature, CHANNELS), list[tuple[Channel, Array]]()
    channels = channels_of(armature, rig, motion, turned, moved)
    for (name, kind), some in groupby(channels, lambda one: (one.bone, one.name)):
        group, bone = list(some), skeleton.index(name)
        old = np.tile(present[kind][bone], (len(frames), 1))
        for index in range(CHANNELS[kind]):
            curve = curves.get((group[0].data_path, index))
            if curve is not None and not curve.is_empty:
                old[:, index] = [curve.evaluate(frame) for frame in frames.tolist()]
        if kind == "location":
            new = motion.pose.translations[:, bone]
        else:
            new = rotations_to_channel(motion.pose.rotations[:, bone], skeleton.rotation_modes[bone], old)
        if np.abs(new - old).max() > _CHANGED:
            found += [
                (Channel(name, kind, one.index, frames, old[:, one.index]), (new - old)[:, one.index]) for one in group
            ]
    return found


def _change(
    curve: Any, channel: Channel, added: Array, at: Sequence[float], edges: tuple[float, float],
    outer: tuple[float, ...],
) -> None:  # fmt: skip
    """Add values (F,) to the keys of a channel's curve between the edges; the curve beyond the nearest keys stays."""
    points, frames = curve.keyframe_points, channel.frames
    times = read_keys(points, ("co",))["co"][:, 0]
    begun, ended = np.any(times <= edges[0] + SAME_FRAME), np.any(times >= edges[1] - SAME_FRAME)
    wanted = {*at, *(outer if begun and ended else ())}
    wanted = {one for one in wanted if not np.any(np.abs(times - one) <= SAME_FRAME)}
    wanted |= (set() if begun else {edges[0]}) | (set() if ended else {edges[1]})
    for frame in sorted(wanted):  # at the old value, so that Blender divides the handles beside it
        points.insert(frame, np.interp(frame, frames, channel.values), options={"FAST"})
    curve.update()
    keys = read_keys(points, HANDLES)
    times = keys["co"][:, 0]
    before, after = times <= edges[0] + SAME_FRAME, times >= edges[1] - SAME_FRAME
    for place in (*np.flatnonzero(before)[-1:], *np.flatnonzero(after)[:1]):
        key = points[int(place)]
        if key.handle_left_type in _PLACED_BY_BLENDER:  # by the keys that change
            key.handle_left_type = key.handle_right_type = "ALIGNED"
    inside = (times > edges[0] - SAME_FRAME) & (times < edges[1] + SAME_FRAME)
    for name, places in keys.items():
        places[:, 1] += np.where(inside, np.interp(times, frames, added, 0.0, 0.0), 0.0)
        points.foreach_set(name, places.ravel())
    curve.update()
