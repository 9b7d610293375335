"""Auto-keying as Blender does it after a transform (source/blender/animrig/intern/keyframing_auto.cc)."""

from collections.abc import Iterator
from typing import Any, Final

from .channels import CHANNELS, channelbag_of, rotation_channel
from .driven import split_path
from .errors import BridgeError

_ONE: Final = -1  # index of a property that is no array

Channel = tuple[Any, str, int, str]  # the data block, its property's path, the index in it, the group for the curve


def check(context: Any, armature: Any) -> None:
    """Raise BridgeError if auto-keying is on but the armature cannot be keyed."""
    data = armature.animation_data
    if context.scene.tool_settings.use_keyframe_insert_auto and data and data.action and not data.action.is_editable:
        raise BridgeError(f'Auto-keying is on, but the action "{data.action.name}" is linked from another file.')


def key(
    context: Any, armature: Any, rotated: tuple[str, ...], moved: tuple[str, ...], grown: tuple[str, ...] = ()
) -> set[str] | None:
    """Key these bones at the present frame; return the names of those that got keys, or None with auto-keying off.

    With an active keying set in use what it has of these bones is keyed, or all of it if it names its properties
    itself; else the rotations of the rotated, locations of the moved and scales of the grown ones, or all three of all
    of them, as the preferences say. Locked channels are keyed like others, with the values they have.
    """
    settings = context.scene.tool_settings
    if not settings.use_keyframe_insert_auto:
        return None
    names = tuple(dict.fromkeys((*rotated, *moved, *grown)))
    bones = [armature.pose.bones[name] for name in names]
    context.view_layer.update()  # visual keying reads the evaluated bones
    keying_set = context.scene.keying_sets_all.active if settings.use_keyframe_insert_keyingset else None
    if keying_set is not None:
        channels = _channels_of_set(context, keying_set, armature, bones)
    else:
        needed = context.preferences.edit.use_auto_keyframe_insert_needed
        rotated, moved, grown = (rotated, moved, grown) if needed else (names, names, names)
        channels = _transforms(armature, rotated, moved, grown)
    options = _options(context, keying_set)
    keyed: set[str] = set()
    for owner, path, index, group in channels:
        if "INSERTKEY_AVAILABLE" in options and not _has_curve(owner, path, index):
            continue  # Blender leaves it out, too, with a warning for each
        if owner.keyframe_insert(path, index=index, group=group, options=options, keytype=settings.keyframe_type):
            bone = split_path(path) if owner == armature else None
            keyed |= {bone[0]} if bone is not None else set()
    return keyed


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


def _has_curve(owner: Any, path: str, index: int) -> bool:
    bag = channelbag_of(owner)
    return bag is not None and bag.fcurves.find(path, index=max(index, 0)) is not None
