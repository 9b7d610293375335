"""Auto-keying as Blender does it after a transform (source/blender/animrig/intern/keyframing_auto.cc)."""

from typing import Any

from bpy_extras.anim_utils import action_get_channelbag_for_slot

from ..bridge.channels import rotation_channel


def check(context: Any, object: Any) -> str | None:
    """Why the armature cannot be keyed although auto-keying is on, or None."""
    data = object.animation_data
    if context.scene.tool_settings.use_keyframe_insert_auto and data and data.action and not data.action.is_editable:
        return f'Auto-keying is on, but the action "{data.action.name}" is linked from another file.'
    return None


def key(context: Any, object: Any, rotated: tuple[str, ...], moved: tuple[str, ...]) -> set[str] | None:
    """Key these bones at the present frame; returns the names of those that got keys, or None with auto-keying off.

    With an active keying set in use what it has of these bones is keyed; else rotations of the rotated and locations of
    the moved ones, as the preferences say.
    """
    settings = context.scene.tool_settings
    if not settings.use_keyframe_insert_auto:
        return None
    bones = [object.pose.bones[name] for name in dict.fromkeys((*rotated, *moved))]
    context.view_layer.update()  # visual keying reads the evaluated bones
    keying_set = context.scene.keying_sets_all.active
    if settings.use_keyframe_insert_keyingset and keying_set is not None:
        paths = _paths(context, keying_set, bones)
    else:
        paths = [(bone, rotation_channel(bone.rotation_mode), bone.name) for bone in bones if bone.name in rotated]
        paths += [(bone, "location", bone.name) for bone in bones if bone.name in moved]
    options = _options(context, keying_set if settings.use_keyframe_insert_keyingset else None)
    keyed: set[str] = set()
    for bone, channel, group in paths:
        for index in _free(bone, channel):
            if "INSERTKEY_AVAILABLE" in options and not _has_curve(object, bone.path_from_id(channel), index):
                continue  # Blender would leave it out, too, but with a warning for each
            if bone.keyframe_insert(channel, index=index, group=group, options=options, keytype=settings.keyframe_type):
                keyed.add(bone.name)
    return keyed


def _paths(context: Any, keying_set: Any, bones: list[Any]) -> list[tuple[Any, str, str]]:
    """Bone, channel and group of what a keying set has of these bones."""
    try:
        with context.temp_override(selected_pose_bones=bones):
            keying_set.refresh()
    except RuntimeError:  # the keying set does not work here, e.g. because it wants an editor
        return []
    found = {path.data_path: path for path in keying_set.paths}
    result: list[tuple[Any, str, str]] = []
    for bone in bones:
        for channel in ("location", rotation_channel(bone.rotation_mode), "scale"):
            path = found.get(bone.path_from_id(channel))
            if path is not None:
                named = {"NAMED": path.group, "KEYINGSET": keying_set.bl_label}
                result.append((bone, channel, named.get(path.group_method, bone.name)))
    return result


def _options(context: Any, keying_set: Any) -> set[str]:
    edit, settings = context.preferences.edit, context.scene.tool_settings
    chosen = {
        "INSERTKEY_VISUAL": keying_set.use_insertkey_visual if keying_set else edit.use_visual_keying,
        "INSERTKEY_NEEDED": edit.use_auto_keyframe_insert_needed or (keying_set and keying_set.use_insertkey_needed),
        "INSERTKEY_AVAILABLE": edit.use_keyframe_insert_available and not keying_set,
        "INSERTKEY_REPLACE": settings.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_CYCLE_AWARE": settings.use_keyframe_cycle_aware,
    }
    return {name for name, on in chosen.items() if on}


def _free(bone: Any, channel: str) -> list[int]:
    """Indices of the channel that are not locked."""
    if channel in ("rotation_quaternion", "rotation_axis_angle"):
        locks = [bone.lock_rotation_w, *bone.lock_rotation] if bone.lock_rotations_4d else [all(bone.lock_rotation)] * 4
    else:
        locks = list({"location": bone.lock_location, "scale": bone.lock_scale}.get(channel, bone.lock_rotation))
    return [index for index, lock in enumerate(locks) if not lock]


def _has_curve(object: Any, path: str, index: int) -> bool:
    data = object.animation_data
    bag = action_get_channelbag_for_slot(data.action, data.action_slot) if data else None
    return bag is not None and bag.fcurves.find(path, index=index) is not None
