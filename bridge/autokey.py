"""Auto-keying as Blender does it after a transform (source/blender/animrig/intern/keyframing_auto.cc).

Blender's own transform changes what the user has chosen; Poise changes a whole body. So curves also get keys beside the
present one, with what they had there (see `neighbours`): other frames stay as they are.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from ..core.causes import Cause, Explanation
from ..core.rotation import Array
from .bars import Lost
from .channels import CHANNELS, channelbag_of, read_channels, rotation_channel, write_channels
from .driven import split_path
from .errors import BridgeError
from .motion import SAME_FRAME
from .neighbours import Neighbours, is_layer, key_at, key_times, why_no_key
from .words import listed

_ULPS: Final = 32  # steps of single precision within which Blender takes two values for the same
_ROUNDING: Final = 1e-5  # of a value, or of 1: of what a key shows, in single precision
_ONE: Final = -1  # index of a property that is no array

Channel = tuple[Any, str, int, str]  # the data block, its property's path, the index in it, the group for the curve


def check(context: Any, armature: Any) -> None:
    """Raise BridgeError if auto-keying is on but the armature cannot be keyed."""
    data = armature.animation_data
    if not context.scene.tool_settings.use_keyframe_insert_auto or data is None:
        return
    if data.action and not data.action.is_editable:
        raise BridgeError(
            f'Auto-keying is on, but the action "{data.action.name}" is linked from another file. Make it local, '
            "or turn auto-keying off."
        )
    if data.use_tweak_mode:
        raise BridgeError(
            f'Auto-keying is on, but "{armature.name}" is in the NLA editor\'s tweak mode, where a key '
            "may affect several frames. Exit tweak mode, or turn auto-keying off."
        )


def key(
    context: Any, armature: Any, rotated: tuple[str, ...], moved: tuple[str, ...], grown: tuple[str, ...] = (),
    before: Mapping[str, Array] | None = None, frames: Iterable[object] | None = None,
) -> set[str] | None:  # fmt: skip
    """Key these bones; return the names of those that got keys, or None with auto-keying off.

    At the present frame, or at each of those at which the scene is while it goes through `frames`.

    With an active keying set in use what it has of these bones is keyed, or all of it if it names its properties
    itself; else the rotations of the rotated, locations of the moved and scales of the grown ones, or all three of all
    of them, as the preferences say. Locked channels are keyed like others, with the values they have.

    before: the channels (J, n) of all bones before they were changed, as `read_channels` returns them. Curves have then
    what they had, a first key these values, at the nearest keys before and after: those of the same bone, or where it
    has none on a side, of the bones that changed, or of the armature.
    """
    settings = context.scene.tool_settings
    if not settings.use_keyframe_insert_auto:
        return None
    if before is not None and frames is None:
        _give_back(armature, before, {"location": moved, "scale": grown}, rotated)
    names = tuple(dict.fromkeys((*rotated, *moved, *grown)))
    bones = [armature.pose.bones[name] for name in names]
    keying_set = context.scene.keying_sets_all.active if settings.use_keyframe_insert_keyingset else None
    if keying_set is not None:
        channels = _channels_of_set(context, keying_set, armature, bones)
    else:
        needed = context.preferences.edit.use_auto_keyframe_insert_needed
        rotated, moved, grown = (rotated, moved, grown) if needed else (names, names, names)
        channels = _transforms(armature, rotated, moved, grown)
    options, channels = _options(context, keying_set), [*channels]
    if "INSERTKEY_AVAILABLE" in options:  # Blender leaves the others out, too, with a warning for each
        channels = [one for one in channels if _curve_of(*one[:3]) is not None]
    if frames is not None:  # what a frame needs depends on the keys of the next ones
        options.discard("INSERTKEY_NEEDED")
    keyed, paths, times = set[str](), dict[str, None](), set[float]()
    present = context.scene.frame_current_final
    beside = None if before is None else Neighbours(armature, names, present, before)
    kept = frames is None and keying_set is not None and "INSERTKEY_VISUAL" not in options
    set_to = read_channels(armature) if kept else None
    for _ in (None,) if frames is None else frames:
        context.view_layer.update()  # visual keying reads the evaluated bones
        here = context.scene.frame_current_final  # between frames, too, where Blender would key the whole frame before
        times.add(here)
        for owner, path, index, group in channels:
            if not _is_refused(owner, path, index, here, options) and owner.keyframe_insert(
                path, index=index, frame=here, group=group, options=options, keytype=settings.keyframe_type
            ):
                bone = split_path(path) if owner == armature else None
                if bone is not None:
                    keyed.add(bone[0])
                    paths[path] = None
    if beside is not None and paths:
        beside.keep(paths, min(times), max(times))
    if set_to is not None and paths:  # new curves let Blender evaluate all, also what the set leaves out
        context.view_layer.update()
        write_channels(armature, set_to)
    return keyed


def _is_refused(owner: Any, path: str, index: int, here: float, options: Collection[str]) -> bool:
    """Return whether Blender would not key a property of bones, for which it would warn the user.

    It compares values as Blender does (`new_key_needed` in source/blender/animrig/intern/fcurve.cc).
    """
    curve = _curve_of(owner, path, index)
    if curve is None:
        return "INSERTKEY_REPLACE" in options
    if curve.lock or (curve.group is not None and curve.group.lock):
        return True
    if is_layer(owner):  # which changes the values
        return False
    if "INSERTKEY_REPLACE" in options and key_at(curve, here) is None:
        return True
    if "INSERTKEY_NEEDED" not in options or "INSERTKEY_VISUAL" in options or curve.is_empty:
        return False
    value = owner.path_resolve(path)
    shown = np.float32(value if index < 0 else value[index])
    near = max(np.finfo(np.float32).eps, _ULPS * np.spacing(abs(shown)))
    return bool(abs(shown - np.float32(curve.evaluate(here))) <= near)


def why_no_step(context: Any, armature: Any, path: str) -> str | None:
    """Return why `key_step` may not key a property of a bone at the present frame, or None if it may.

    With auto-keying off it may be set for all frames, if the armature has no keys.
    """
    settings, here = context.scene.tool_settings, context.scene.frame_current_final
    curve, data = _curve_of(armature, path), armature.animation_data
    if data is not None and data.use_tweak_mode:
        return "the NLA editor is in tweak mode"
    if not settings.use_keyframe_insert_auto:
        keyed = curve is not None or len(key_times(armature, here, strips=True)) > 0
        return "it would also change other frames, since auto-keying is off" if keyed else None
    keying_set = context.scene.keying_sets_all.active if settings.use_keyframe_insert_keyingset else None
    if keying_set is not None:
        bone = (split_path(path) or ("",))[0]
        channels = _channels_of_set(context, keying_set, armature, [armature.pose.bones[bone]])
        if not any(owner == armature and one == path for owner, one, *_ in channels):
            return f'the keying set "{keying_set.bl_label}" does not contain its switch'
    options = _options(context, keying_set)
    if "INSERTKEY_AVAILABLE" in options and curve is None:
        return "its switch has no keys, and Only Insert Available is on"
    if "INSERTKEY_REPLACE" in options:
        return "auto-keying only replaces keys"
    if is_layer(armature):
        return "its switch would need keys in a layer above NLA strips"
    bars = None if curve is None else why_no_key(curve, here, cycle_aware=False)
    if bars is not None:
        return f"its switch has {bars}"
    if curve is not None and not (_is_held(curve, here, -1) and _is_held(curve, here, 1)):
        return "its switch is animated at this frame"
    return None


def key_step(context: Any, armature: Any, path: str, before: float) -> None:
    """Key a property at the present frame, and in the frames beside it as it was: no other frame changes.

    It does nothing with auto-keying off. `before`: its value where it has no curve yet.
    """
    if not context.scene.tool_settings.use_keyframe_insert_auto:
        return
    here = context.scene.frame_current_final
    curve = _curve_of(armature, path)
    beside = {time: before if curve is None else curve.evaluate(time) for time in (here - 1.0, here + 1.0)}
    onward = "CONSTANT" if curve is None else _segment(curve, here)[0].interpolation
    group = (split_path(path) or ("",))[0]
    armature.keyframe_insert(path, frame=here, group=group, keytype=context.scene.tool_settings.keyframe_type)
    curve = _curve_of(armature, path)
    for time, value in beside.items():
        if key_at(curve, time) is None:
            curve.keyframe_points.insert(time, value).interpolation = onward
    for key in curve.keyframe_points:
        if here - 1.0 - SAME_FRAME <= key.co.x <= here + SAME_FRAME:
            key.interpolation = "CONSTANT"
    curve.update()


def why_no_first_key(context: Any, armature: Any) -> tuple[str, set[tuple[str, int]] | None]:
    """Return why channels without keys may get none, in words, and those that may nevertheless: None for all."""
    settings = context.scene.tool_settings
    if not settings.use_keyframe_insert_auto:
        return "auto-keying is off", set()
    keying_set = context.scene.keying_sets_all.active if settings.use_keyframe_insert_keyingset else None
    options = _options(context, keying_set)
    if "INSERTKEY_REPLACE" in options:
        return "auto-keying only replaces keys", set()
    if "INSERTKEY_AVAILABLE" in options:
        return "Only Insert Available is on", set()
    action = armature.animation_data.action if armature.animation_data is not None else None
    if "INSERTKEY_CYCLE_AWARE" in options and action is not None and action.use_frame_range and action.use_cyclic:
        return "Cycle-Aware Keying would also key the other end of the cycle", set()
    if keying_set is None:
        return "", None
    channels = _channels_of_set(context, keying_set, armature, list(armature.pose.bones))
    allowed = {(path, max(index, 0)) for owner, path, index, _ in channels if owner == armature}
    return f'the keying set "{keying_set.bl_label}" does not add any', allowed


def explain_lost(
    context: Any, armature: Any, rotated: Iterable[str], moved: Iterable[str], grown: Iterable[str] = ()
) -> list[str]:
    """Return a sentence about changed bones whose keys show another value here, in a list: it is lost with the frame.

    None with visual keying, whose keys differ from channels.
    """
    settings = context.scene.tool_settings
    keying_set = context.scene.keying_sets_all.active if settings.use_keyframe_insert_keyingset else None
    options = _options(context, keying_set)
    keying: bool = settings.use_keyframe_insert_auto
    if keying and "INSERTKEY_VISUAL" in options:
        return []
    here, lost, kept, layer = context.scene.frame_current_final, dict[str, str](), set[str](), is_layer(armature)
    for owner, path, index, bone in _transforms(armature, tuple(rotated), tuple(moved), tuple(grown)):
        curve = _curve_of(owner, path, index)
        if curve is None or curve.is_empty or curve.mute:
            continue
        value = owner.path_resolve(path)[index]
        if layer:  # its keys have what is added, or the like; of what changed some value is keyed
            lost[path] = bone
            kept |= {path} if keying and key_at(curve, here) is not None else set()
            continue
        values = curve.evaluate(here), key_at(curve, here)  # which may be a hair beside the frame
        if min(abs(one - value) for one in values if one is not None) > _ROUNDING * max(1.0, abs(value)):
            lost[path] = bone
    bones = [*dict.fromkeys(bone for path, bone in lost.items() if path not in kept)]
    if not bones:
        return []
    why = (
        Cause(Lost.NOT_KEYED) if not keying
        else Cause(Lost.REPLACED) if "INSERTKEY_REPLACE" in options
        else Cause(Lost.BARRED) if keying_set is None
        else Cause(Lost.NOT_IN_SET, "", keying_set.bl_label)
    )  # fmt: skip
    return [Explanation(f"{listed(bones)} got no key and will reset when the frame changes", [why])]


def _give_back(
    armature: Any, before: Mapping[str, Array], changed: Mapping[str, tuple[str, ...]], rotated: tuple[str, ...]
) -> None:
    """Give channels that were changed by rounding alone, and get no keys, their values from before."""
    now, places = read_channels(armature, before), armature.pose.bones
    for name, values in now.items():
        chosen = [places.find(bone) for bone in changed.get(name, rotated)]
        values[:] = np.where(np.isin(np.arange(len(values)), chosen)[:, None], values, before[name])
    write_channels(armature, now)


def _transforms(
    armature: Any, rotated: tuple[str, ...], moved: tuple[str, ...], grown: tuple[str, ...]
) -> Iterator[Channel]:
    """Yield the channels of bones that were rotated, moved and scaled."""
    for name in dict.fromkeys((*rotated, *moved, *grown)):
        bone = armature.pose.bones[name]
        for channel, changed in (
            ("location", moved),
            (rotation_channel(bone.rotation_mode), rotated),
            ("scale", grown),
        ):
            if name in changed:
                for index in range(CHANNELS[channel]):
                    yield armature, bone.path_from_id(channel), index, name


def _channels_of_set(context: Any, keying_set: Any, armature: Any, bones: list[Any]) -> Iterator[Channel]:
    """Yield the channels that a keying set has of these bones."""
    try:
        with context.temp_override(selected_pose_bones=bones):
            keying_set.refresh()
    except RuntimeError:  # the keying set needs another editor
        return
    names = {bone.name for bone in bones}
    for path in keying_set.paths:
        bone = split_path(path.data_path)
        if not keying_set.is_path_absolute and (path.id != armature or bone is None or bone[0] not in names):
            continue
        group = {"NAMED": path.group, "KEYINGSET": keying_set.bl_label}.get(path.group_method, "")
        try:
            value = path.id.path_resolve(path.data_path)
        except (AttributeError, ValueError):  # its property is gone
            continue
        several = hasattr(value, "__len__") and not isinstance(value, str)
        every = range(len(value)) if several and path.use_entire_array else (path.array_index if several else _ONE,)
        for index in every:
            yield path.id, path.data_path, index, group


def _options(context: Any, keying_set: Any) -> set[str]:
    edit, settings = context.preferences.edit, context.scene.tool_settings
    visual, needed = edit.use_visual_keying, edit.use_auto_keyframe_insert_needed
    if keying_set is not None:
        needed = edit.use_keyframe_insert_needed  # Blender uses the preference of manual keys for keying sets
        visual = keying_set.use_insertkey_visual if keying_set.use_insertkey_override_visual else visual
        needed = keying_set.use_insertkey_needed if keying_set.use_insertkey_override_needed else needed
    chosen = {
        "INSERTKEY_VISUAL": visual,
        "INSERTKEY_NEEDED": needed,
        "INSERTKEY_AVAILABLE": edit.use_keyframe_insert_available and not keying_set,
        "INSERTKEY_REPLACE": settings.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_CYCLE_AWARE": settings.use_keyframe_cycle_aware,
    }
    return {name for name, on in chosen.items() if on}


def _curve_of(owner: Any, path: str, index: int = 0) -> Any:
    """Return the F-curve of a property, or None."""
    bag = channelbag_of(owner)
    return None if bag is None else bag.fcurves.find(path, index=max(index, 0))


def _segment(curve: Any, time: float) -> tuple[Any, Any]:
    """Return the keys of a curve at or before, and after, a time; at an end the same one twice."""
    keys = list(curve.keyframe_points)
    place = sum(key.co.x <= time + SAME_FRAME for key in keys)
    return keys[max(place - 1, 0)], keys[min(place, len(keys) - 1)]


def _is_held(curve: Any, here: float, side: int) -> bool:
    """Return whether a curve goes on unchanged if it gets a key in the frame before (-1) or after (1)."""
    time = here + side
    first, last = _segment(curve, time)
    there = first.interpolation == "CONSTANT" or abs(first.co.x - time) <= SAME_FRAME
    return there or (first if side < 0 else last).co.y == curve.evaluate(time)
