"""What animation has beside the frames that are keyed: the other frames stay as they are.

A first key changes a curve in all frames, and so does a key beyond the ends of a curve, or where a curve repeats. So
each curve that is keyed also gets keys at the neighbouring key frames, with what it had there, or it is not keyed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from ..core.causes import Cause
from ..core.rotation import Array
from .bars import Bar
from .channels import CHANNELS, ArmatureObject, channelbag_of
from .driven import split_path
from .keys import Channel, write_channel
from .motion import SAME_FRAME
from .points import HANDLES, KEY, Keys, read_keys, write_keys_of

_ALWAYS: Final = "HOLD"  # how a strip goes on beyond its ends

Place = tuple[str, int]  # the path of a property from the object, the index in it


def curves_in_force(armature: ArmatureObject, frame: float | None) -> Iterator[tuple[Any, Any]]:
    """Yield the F-curves that Blender evaluates at a frame, each with its NLA strip, or None if the object's own.

    Without a frame those that it evaluates at any.
    """
    data = armature.animation_data
    if data is None:
        return
    tracks = [*data.nla_tracks] if data.use_nla and not data.use_tweak_mode else []
    solo = any(track.is_solo for track in tracks)
    owners: list[tuple[Any, Any]] = [] if solo or not data.action_influence else [(data, None)]
    for track in tracks:
        if track.is_solo if solo else not track.mute:
            owners += [(strip, strip) for strip in _strips(track.strips)]
    for owner, strip in owners:
        if strip is None or frame is None or _acts(strip, frame):
            bag = action_get_channelbag_for_slot(owner.action, owner.action_slot)
            yield from ((curve, strip) for curve in (bag.fcurves if bag else ()))


def is_layer(armature: ArmatureObject) -> bool:
    """Return whether Blender mixes the action of the object with NLA strips, which it does not with muted tracks."""
    data = armature.animation_data
    if data is None or not data.use_nla or data.use_tweak_mode:
        return False
    return any(track.is_solo or (len(track.strips) and not track.mute) for track in data.nla_tracks)


def why_no_layer(armature: ArmatureObject, frame: float) -> Cause | None:
    """Return what an NLA layer has for which keys at a frame would not show, or show in more frames; else None."""
    data = armature.animation_data
    if not is_layer(armature):
        return None
    if not data.action_influence or any(track.is_solo for track in data.nla_tracks):
        return Cause(Bar.UNUSED)
    if data.action is not None and data.action_extrapolation != _ALWAYS:
        first, last = data.action.frame_range
        return None if first <= frame <= last else Cause(Bar.UNUSED_HERE)
    return None


def why_no_key(curve: Any, frame: float, cycle_aware: bool) -> Cause | None:
    """Return what a curve of the action has for which a key at a frame would not show, or change others; else None."""
    modifiers = [one for one in curve.modifiers if not one.mute]
    if any(one.type != "CYCLES" for one in modifiers):
        return Cause(Bar.MODIFIED)
    if modifiers and not cycle_aware:
        return Cause(Bar.REPEATED)
    if modifiers and not _repeats_as_a_whole(modifiers[0]):
        return Cause(Bar.REPEATED_IN_PART)
    if not len(curve.keyframe_points):
        return Cause(Bar.SAMPLED)
    if curve.extrapolation == "LINEAR" and not modifiers:
        times = read_keys(curve.keyframe_points, ("co",))["co"][:, 0]
        if len(times[times < frame - SAME_FRAME]) < 2 or len(times[times > frame + SAME_FRAME]) < 2:
            return Cause(Bar.EXTRAPOLATED)
    return None


def key_times(armature: ArmatureObject, frame: float, strips: bool = False) -> dict[str, Array]:
    """Return the frames of the keys of each bone, those of NLA strips too if wanted.

    Of keys that repeat, those of the repetitions about a frame are included.
    """
    found: dict[str, list[Array]] = {}
    for curve, strip in curves_in_force(armature, frame):
        place = split_path(curve.data_path)
        if place is None or place[1] not in CHANNELS or not len(curve.keyframe_points) or (strip and not strips):
            continue
        times = read_keys(curve.keyframe_points, ("co",))["co"][:, 0].astype(float)
        if strip is not None:
            times = _in_scene(strip, times)
        elif any(one.type == "CYCLES" and not one.mute for one in curve.modifiers) and times[-1] > times[0]:
            period = times[-1] - times[0]
            turn = np.floor((frame - times[0]) / period) + np.array([-1.0, 0.0, 1.0])
            times = (times + period * turn[:, None]).ravel()
        found.setdefault(place[0], []).append(times)
    return {bone: np.unique(np.concatenate(times)) for bone, times in found.items()}


class Neighbours:
    """What the curves of some bones have before they are keyed.

    before: the channels (J, n) of all bones before they were changed, for curves that get their first key
    """

    def __init__(
        self, armature: ArmatureObject, bones: Iterable[str], frame: float, before: Mapping[str, Array]
    ) -> None:
        self._armature, self._before, self._frame = armature, before, frame
        self._bones, own = set(bones), key_times(armature, frame)
        every = key_times(armature, frame, strips=True)
        changed = _merged(times for bone, times in every.items() if bone in self._bones)
        self._times = {bone: (own.get(bone, np.zeros(0)), changed) for bone in self._bones}
        self._every = _merged(every.values())
        self._old: dict[Place, Keys] = {}
        bag = channelbag_of(armature)
        for curve in bag.fcurves if bag is not None else ():
            if (split_path(curve.data_path) or ("",))[0] in self._bones and len(curve.keyframe_points):
                self._old[curve.data_path, curve.array_index] = read_keys(curve.keyframe_points, KEY)

    def keep(self, keyed: Iterable[str], first: float, last: float) -> None:
        """Give curves what they had beside their new keys: those of these paths, with keys from `first` to `last`."""
        fcurves: Any = channelbag_of(self._armature).fcurves
        for path in dict.fromkeys(keyed):
            bone, channel = split_path(path) or ("", "")
            if channel not in self._before or bone not in self._bones:
                continue
            ends = self._ends(bone, first, last)
            if any((path, index) not in self._old for index in range(CHANNELS[channel])):
                self._keep_first(fcurves, path, bone, channel, ends)
            for index in range(CHANNELS[channel]):
                curve, old = fcurves.find(path, index=index), self._old.get((path, index))
                if curve is not None and old is not None and not any(not one.mute for one in curve.modifiers):
                    _keep_old(curve, old, ends, first, last)

    def _ends(self, bone: str, first: float, last: float) -> tuple[Array, Array]:
        """Return the frames before and after of the bone's keys, else of those of all that changed, else of all."""
        for times in (*self._times[bone], self._every):
            before, after = times[times < first - SAME_FRAME][-1:], times[times > last + SAME_FRAME][:1]
            if len(before) and len(after):
                break
        return before, after

    def _keep_first(self, fcurves: Any, path: str, bone: str, channel: str, ends: tuple[Array, Array]) -> None:
        """Give first keys beside them the value that Blender keys for the channel before; in a layer it differs."""
        owner, number = self._armature.pose.bones[bone], self._armature.pose.bones.find(bone)
        found = {index: fcurves.find(path, index=index) for index in range(CHANNELS[channel])}
        fresh = [index for index, curve in found.items() if (path, index) not in self._old]
        if not is_layer(self._armature):
            for index in fresh:
                if found[index] is not None:
                    _insert(found[index], float(self._before[channel][number, index]), ends)
            return
        shown, here = tuple(getattr(owner, channel)), self._frame
        was = {index: key_at(curve, here) for index, curve in found.items() if curve is not None}
        setattr(owner, channel, self._before[channel][number].tolist())
        self._armature.keyframe_insert(path, frame=here, group=bone)
        setattr(owner, channel, shown)
        for index in range(CHANNELS[channel]):
            curve = fcurves.find(path, index=index)
            if curve is None:
                continue
            key = next(key for key in curve.keyframe_points if abs(key.co.x - here) <= SAME_FRAME)
            value = key.co.y
            if was.get(index) is not None:
                key.co_ui = key.co.x, was[index]
            elif index in was:
                curve.keyframe_points.remove(key)
            if index in fresh:
                _insert(curve, value, ends)
            else:
                curve.update()


def _keep_old(curve: Any, old: Keys, ends: tuple[Array, Array], first: float, last: float) -> None:
    """Put what a curve had at the ends beside the keys that it got, where it had no keys; outside it is as it was."""
    times = old["co"][:, 0]
    before, after = ([time for time in end if np.abs(times - time).min() > SAME_FRAME] for end in ends)
    if not before and not after:
        return
    now = read_keys(curve.keyframe_points, ("co", "type"))
    new = (now["co"][:, 0] > first - SAME_FRAME) & (now["co"][:, 0] < last + SAME_FRAME)
    if not new.any():
        return
    write_keys_of(curve, old, dict.fromkeys(HANDLES, np.ones(len(times), bool)))
    values = [[curve.evaluate(time) for time in end] for end in (before, after)]
    frames, kinds = now["co"][new, 0], dict(zip(now["co"][new, 0].tolist(), now["type"][new, 0].tolist(), strict=True))
    write_channel(
        curve,
        Channel("", "", curve.array_index, np.concatenate([before, frames, after]),
                np.concatenate([values[0], now["co"][new, 1], values[1]])),
    )  # fmt: skip
    every = read_keys(curve.keyframe_points, ("co", "type"))
    types = [kinds.get(time, kind) for time, kind in zip(every["co"][:, 0].tolist(), every["type"][:, 0], strict=True)]
    curve.keyframe_points.foreach_set("type", np.array(types, np.intc))


def _insert(curve: Any, value: float, ends: tuple[Array, Array]) -> None:
    for time in np.concatenate(ends).tolist():
        curve.keyframe_points.insert(time, value)
    curve.update()


def key_at(curve: Any, frame: float) -> float | None:
    """Return the value of a curve's key at a frame, None if it has none there."""
    return next((key.co.y for key in curve.keyframe_points if abs(key.co.x - frame) <= SAME_FRAME), None)


def _merged(times: Iterable[Array]) -> Array:
    return np.unique(np.concatenate([np.zeros(0), *times]))


def _strips(strips: Any) -> Iterator[Any]:
    """Yield strips of actions that are not muted, those of meta strips too."""
    for strip in strips:
        if not strip.mute:
            yield from _strips(strip.strips) if strip.type == "META" else [strip] if strip.action else []


def _acts(strip: Any, frame: float) -> bool:
    """Return whether a strip decides what is shown at a frame."""
    begun, over = frame >= strip.frame_start, frame > strip.frame_end
    beyond = strip.extrapolation == _ALWAYS or (begun and strip.extrapolation == "HOLD_FORWARD")
    return beyond or (begun and not over)


def _in_scene(strip: Any, times: Array) -> Array:
    """Return the frames of the scene at which a strip shows frames of its action."""
    first, length = strip.action_frame_start, strip.action_frame_end - strip.action_frame_start
    inside = times[(times >= first - SAME_FRAME) & (times <= strip.action_frame_end + SAME_FRAME)] - first
    turns = length * np.arange(np.ceil(strip.repeat))
    own = (turns[:, None] + (length - inside if strip.use_reverse else inside)).ravel()
    found = strip.frame_start + strip.scale * own
    return found[found <= strip.frame_end + SAME_FRAME]


def _repeats_as_a_whole(cycles: Any) -> bool:
    """Return whether Blender's cycle-aware keying knows a Cycles modifier (BKE_fcurve_get_cycle_type)."""
    alike = cycles.mode_before == cycles.mode_after and cycles.mode_before in ("REPEAT", "REPEAT_OFFSET")
    limited = cycles.use_restricted_range or cycles.use_influence or cycles.cycles_before or cycles.cycles_after
    return alike and not limited
