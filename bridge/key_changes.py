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
from .points import HANDLES, KEY, Keys, divide, item, read_keys, write_keys_of

_CHANGED: Final = 1e-7  # of a channel: less is rounding


def change_keys(
    armature: ArmatureObject, rig: Rig, motion: Motion, turned: Iterable[int], moved: Iterable[int],
    at: Sequence[float], edges: tuple[float, float], action: str | None = None, new: bool = False,
) -> bpy.types.Action:  # fmt: skip
    """Give the keys between two frames the values that a motion has there; return the action.

    Rotations of `turned` and locations of `moved` bones (indices) are changed; the motion has all frames in which these
    have keys between the `edges`, and is not changed in others. Handles go along with their keys. A changed channel
    gets a key at each frame of `at` and at the edges where it has none, so that it stays beyond these; one without keys
    between the edges gets keys in all frames of the motion.

    `action` and `new` are as in `write_keys`, which raises the same BridgeErrors, with nothing changed.
    """
    check_target(armature, action, new)
    changes = _changes(armature, rig, motion, list(turned), list(moved))
    check_curves(armature, [channel for channel, _ in changes])
    target = target_action(armature, action, new)
    for channel, added in changes:
        _change(ensure_curve(armature, target, channel), channel, added, at, edges)
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
            turns, locks = motion.pose.rotations[:, bone], skeleton.rotation_locks[bone]
            new = rotations_to_channel(turns, skeleton.rotation_modes[bone], old, locks)
        if np.abs(new - old).max() > _CHANGED:
            found += [
                (Channel(name, kind, one.index, frames, old[:, one.index]), (new - old)[:, one.index]) for one in group
            ]
    return found


def _change(curve: Any, channel: Channel, added: Array, at: Sequence[float], edges: tuple[float, float]) -> None:
    """Add values (F,) to the keys of a channel's curve between the edges; beyond these the curve stays."""
    keys, level = read_keys(curve.keyframe_points, KEY), float(channel.values[0])
    evaluate = curve.evaluate if len(keys["co"]) else lambda _: level
    times = keys["co"][:, 0]
    none = not np.any((times > edges[0] + SAME_FRAME) & (times < edges[1] - SAME_FRAME))
    for frame in sorted({*at, *edges, *(channel.frames.tolist() if none else ())}):
        times = keys["co"][:, 0]
        if not np.any(np.abs(times - frame) <= SAME_FRAME) and (frame in at or not _is_eased(keys, frame)):
            keys = divide(keys, frame, evaluate)
    times = keys["co"][:, 0]
    before, after = times <= edges[0] + SAME_FRAME, times >= edges[1] - SAME_FRAME
    placed = [item("handle_left_type", kind) for kind in ("AUTO", "AUTO_CLAMPED")]
    for place in (*np.flatnonzero(before)[-1:], *np.flatnonzero(after)[:1]):
        if keys["handle_left_type"][place, 0] in placed:  # by the keys that change
            for name in ("handle_left_type", "handle_right_type"):
                keys[name][place] = item(name, "ALIGNED")
    inside = (times > edges[0] - SAME_FRAME) & (times < edges[1] + SAME_FRAME)
    for name in HANDLES:
        keys[name][:, 1] += np.where(inside, np.interp(times, channel.frames, added, 0.0, 0.0), 0.0)
    write_keys_of(curve, keys, {})


def _is_eased(keys: Keys, frame: float) -> bool:
    """Return whether a frame is between keys with an easing, such as Bounce."""
    place = int(np.searchsorted(keys["co"][:, 0], frame))
    if not 0 < place < len(keys["co"]):
        return False
    return keys["interpolation"][place - 1, 0] > item("interpolation", "BEZIER")
