"""Write motions as keys into a range of frames of an action; everything outside the range stays as it is."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

import bpy
import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot
from numpy.typing import NDArray

from ..core import Motion, Pose, rotation
from ..core.channels import rotations_to_curves, to_rotations
from ..core.editing.bone_keys import BoneKeys
from ..core.motion import blocks
from ..core.rotation import Array, Floats
from .armature import Rig, check, read_pose, scale_channels
from .channels import CHANNELS, ArmatureObject, channel_path, channelbag_of, read_channels, rotation_channel
from .driven import animated_curves, split_path
from .errors import BridgeError
from .freed import freed_rig
from .motion import SAME_FRAME, active_curves, check_not_tweaked, keyed_range, what_places
from .points import (
    HANDLES,
    KEY,
    SEGMENT,
    Keys,
    blank_keys,
    item,
    join,
    merge_flat,
    read_keys,
    read_segments,
    write_keys_of,
)
from .worlds import world_matrix

_MOVED: Final = 1e-6  # radians, and of the skeleton's size, or of the largest location
_GROWN: Final = 1e-6  # of the scale

_CHANGED: Final = 1e-6  # of a channel: less is rounding
_BENT: Final = 1e-4  # channel units per frame: handles whose slopes differ by more are not aligned
_SEAM: Final = 0.1  # radians, or parts of a quaternion
_OURS: Final = re.compile(r"( poise)+(\.\d+)?$")  # suffix of an action that Poise made from another one
_OBJECT_GROUP: Final = "Object Transforms"  # as Blender calls it
_HARMLESS_MODIFIERS: Final = {"CYCLES"}  # they repeat the keys outside their range and change nothing between keys


@dataclass(frozen=True)
class Channel:
    """A channel to be keyed: values (K,) of the property name[index] at frames (K,), of a bone, or, if "", the object.

    handles (2, K, 2): frames and values of the left and the right handles; None: Blender places them.
    """

    bone: str
    name: str
    index: int
    frames: Array
    values: NDArray[Any]
    handles: Array | None = None

    @cached_property
    def data_path(self) -> str:
        return channel_path(self.bone, self.name) if self.bone else self.name


def changed_bones(
    before: Pose, after: Pose, size: float, least: float = _MOVED
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return indices of the bones whose rotation, location and scale differ anywhere in the batch, three arrays.

    size: of the skeleton. `least`: radians, or share of the size or of the largest location; less is rounding.
    """
    parts = _differences(before.reshape((-1,)), after.reshape((-1,)), size, least)
    changes = np.any([[np.any(one, axis=(0, -1)) for one in each] for each in parts], axis=0)
    turned, moved, grown = (np.flatnonzero(change) for change in changes)
    return turned, moved, grown


def changed_frames(before: Pose, after: Pose, size: float) -> NDArray[np.bool_]:
    """Return in which of the poses (F) bones differ, (F,), as in `changed_bones`."""
    parts = _differences(before, after, size, _MOVED)
    return np.concatenate([np.any([np.any(one, axis=(1, -1)) for one in each], axis=0) for each in parts])


def _differences(old: Pose, new: Pose, size: float, least: float) -> Iterator[tuple[NDArray[np.bool_], ...]]:
    """Yield whether rotations (n, J, 1), locations and scales (n, J, 3) differ, for a block of the poses (F) each."""
    largest = max(size, *(abs(float(end(p.translations, initial=0.0))) for p in (old, new) for end in (np.min, np.max)))
    for part in blocks(len(old.rotations)):
        scales = [np.ones(3) if p.scales is None else p.scales[part] for p in (old, new)]
        yield (
            rotation.angle_between(old.rotations[part], new.rotations[part])[..., None] > least,
            np.abs(new.translations[part] - old.translations[part]) > least * largest,
            np.broadcast_to(np.abs(scales[1] - scales[0]) > _GROWN * np.abs(scales[0]), old.translations[part].shape),
        )


def write_keys(
    armature: ArmatureObject,
    rig: Rig,
    motion: Motion,
    bones: Iterable[int],
    translated: Iterable[int],
    action: str | None = None,
    new: bool = True,
    scaled: Iterable[int] = (),
    sizes: bool = False,
) -> bpy.types.Action:
    """Key rotations of `bones`, locations of `translated` and lengths of `scaled` (indices) at every frame of a motion.

    Rotations are keyed in the bones' own modes, without jumps, beginning at the key before the range. Keys in the range
    are replaced; keys outside it and all other curves stay as they are. A curve that changes at an end of the motion is
    keyed one frame beyond it, too, with its old value, where the action goes on: so the other frames stay as they were,
    but those of a segment with an easing, such as Bounce, that the range cuts.
    A new key has the interpolation of the segment that it replaces, or linear. Locked channels, driven bones, locations
    of connected bones and lengths of bones without stretch get no keys. With `sizes` all scales of `scaled` are keyed.

    With `new` the action is copied to a new one called `action`, which is assigned; else the current action is edited,
    or one called `action` is made if there is none. Returns the action. Raises BridgeError, with nothing changed, for a
    name that exists and for curves whose keys would not determine the evaluated pose.
    """
    check_target(armature, action, new)
    channels = channels_of(armature, rig, motion, list(bones), list(translated), scale_channels(rig, scaled, sizes))
    return _write_all(armature, _kept_beside(armature, channels), action, new)


def write_motion(
    armature: ArmatureObject, rig: Rig, motion: Motion, bones: Iterable[int], action: str | None = None
) -> bpy.types.Action:
    """Key a motion into a new action that holds nothing of the current one, which is kept; return it.

    The rotations of `bones` (indices) are keyed at every frame, and all channels in which the motion differs from the
    current pose, or that are animated where there are NLA tracks, whose strips would move them. Raises BridgeError,
    with nothing changed, as `write_keys`.
    """
    check_target(armature, action, new=True)
    here, count = read_pose(armature, rig), len(motion)
    rotations, translations = (np.broadcast_to(p, (count, *p.shape)) for p in (here.rotations, here.translations))
    scales = None if here.scales is None else np.broadcast_to(here.scales, (count, *here.scales.shape))
    now = Pose.trusted(rotations, translations, scales, None)
    names, changed = rig.skeleton.names, changed_bones(now, motion.pose, rig.skeleton.size)
    turned, moved, grown = (np.union1d(*both) for both in zip(changed, _in_strips(armature, names), strict=True))
    channels = channels_of(armature, rig, motion, sorted({*bones, *turned.tolist()}), moved.tolist())
    scales = np.ones_like(motion.pose.translations) if motion.pose.scales is None else motion.pose.scales
    channels += [
        Channel(names[bone], "scale", axis, motion.frames, scales[:, bone, axis])
        for bone in grown.tolist() if rig.skeleton.movable[bone] for axis in range(CHANNELS["scale"])
    ]  # fmt: skip
    return _write_into(armature, target_action(armature, action, new=True, empty=True), channels)


def write_visual(
    armature: ArmatureObject,
    rig: Rig,
    motion: Motion,
    bones: Iterable[int],
    freed: Iterable[int],
    action: str | None = None,
    new: bool = True,
) -> bpy.types.Action:
    """Key rotations and locations of `bones`; of those that are `freed`, see `freed_rig`, all that the motion has.

    If the whole motion is keyed into a new action, the modifiers of its curves are removed, because the keys contain
    their effect. Otherwise as `write_keys`.
    """
    check_target(armature, action, new)
    chosen, free, curves = list(bones), set(freed), curves_of(armature)
    present, names = read_channels(armature, ("scale",))["scale"], rig.skeleton.names
    placed = [bone for bone in chosen if bone in free or np.any(motion.pose.translations[:, bone])]
    channels = channels_of(
        armature, freed_rig(armature, rig, free), motion, chosen, placed, scale_channels(rig, chosen)
    )
    scales = np.ones_like(motion.pose.translations) if motion.pose.scales is None else motion.pose.scales
    for bone in sorted(free):
        grown = max(np.abs(values - 1.0).max() for values in (scales[:, bone], present[bone])) > _GROWN
        if grown or (channel_path(names[bone], "scale"), 0) in curves:
            channels += [Channel(names[bone], "scale", axis, motion.frames, scales[:, bone, axis]) for axis in range(3)]
    first, last = keyed_range(armature)
    flat = new and motion.frames[0] <= first and motion.frames[-1] >= last
    check_curves(armature, channels, flat)
    channels = _kept_beside(armature, channels)
    return _write_into(armature, target_action(armature, action, new), channels, flat)


def write_snapshot(armature: ArmatureObject, action: bpy.types.Action, frame: float) -> None:
    """Key what all bones have now, with locked and driven channels and custom numbers, in one frame of an action."""
    present, at = read_channels(armature, CHANNELS), np.array([frame])
    for place, bone in enumerate(armature.pose.bones):
        names = ("location", rotation_channel(bone.rotation_mode), "scale")
        values = [(name, index, value) for name in names for index, value in enumerate(present[name][place].tolist())]
        own = ((key, value) for key, value in bone.items() if key not in bone.bl_rna.properties)
        numbers = [(key, value) for key, value in own if isinstance(value, int | float)]  # such as switches
        values += [(f'["{bpy.utils.escape_identifier(key)}"]', 0, value) for key, value in numbers]
        for name, index, value in values:
            curve = ensure_curve(armature, action, Channel(bone.name, name, index, at, np.array([value], float)))
            curve.keyframe_points.insert(frame, value, options={"FAST"})


def prepare_keys(armature: ArmatureObject, rig: Rig, motions: Mapping[int, Motion]) -> Callable[[], bpy.types.Action]:
    """Return a function that keys each bone by its own motion in the current action, only channels that have curves.

    Raises BridgeError for all that `write_keys` refuses; the returned function raises nothing.
    """
    check_target(armature, None, new=False)
    keyed = {path for path, _ in curves_of(armature)}
    channels = [
        channel
        for bone, motion in motions.items()
        for channel in channels_of(armature, rig, motion, [bone], [bone])
        if channel.data_path in keyed
    ]
    check_curves(armature, channels)
    return partial(_write_all, armature, channels, None, new=False)


def prepare_object_keys(armature: ArmatureObject, frames: Array, worlds: Array) -> Callable[[], bpy.types.Action]:
    """Return a function that keys location and rotation of the object in its action: `worlds` (F, 4, 4) at `frames`.

    These have the scale of the present one; the other frames stay, as in `write_keys`. Raises BridgeError if something
    else decides where the object is, if it is locked, and as `write_keys` does; the returned function raises nothing.
    """
    why = what_places(armature)
    if why is not None:
        raise BridgeError(f'Keys cannot move the object "{armature.name}", since {why} determine where it is.')
    if any((*armature.lock_location, *armature.lock_rotation)):
        raise BridgeError(f'The object "{armature.name}" is locked. Unlock its location and rotation first.')
    mode = armature.rotation_mode
    name = rotation_channel(mode)
    present = np.array(getattr(armature, name), float)
    moves = worlds @ np.linalg.inv(world_matrix(armature))  # rigid, also where the scale mirrors
    own = rotation.mul(rotation.from_matrix(rotation.nearest_rotation(moves[:, :3, :3])), to_rotations(present, mode))
    turns, places = rotations_to_curves(own[:, None], mode, present[None])[:, 0], worlds[:, :3, 3]
    rows = [("location", i, places[:, i]) for i in range(3)] + [(name, i, turns[:, i]) for i in range(len(present))]
    channels = [Channel("", channel, index, frames, values) for channel, index, values in rows]
    check_curves(armature, channels)
    return partial(_write_all, armature, _kept_beside(armature, channels), None, new=False)


def write_reduced(
    armature: ArmatureObject, rig: Rig, bones: Sequence[BoneKeys], still: Iterable[int], span: tuple[float, float],
    action: str | None = None, new: bool = True,
) -> bpy.types.Action:  # fmt: skip
    """Replace the keys of bones from the first to the last frame by reduced keys with handles.

    Curves of the bones `still` (indices) that are flat, and have no keys outside the `span`, get one key. Otherwise as
    `write_keys`.
    """
    check_target(armature, action, new)
    channels: list[Channel] = []
    for one in bones:
        bone, name = rig.skeleton.names[one.bone], rotation_channel(one.mode)
        width = CHANNELS[name]
        locks = rig.skeleton.rotation_locks[one.bone] if width == CHANNELS["rotation_euler"] else np.zeros(width, bool)
        free = [(name, i, i) for i in np.flatnonzero(~locks).tolist()] if rig.skeleton.movable[one.bone] else []
        if one.located:
            free += [("location", i, width + i) for i in np.flatnonzero(rig.skeleton.translatable[one.bone]).tolist()]
        keys = one.keys
        for channel, index, column in free:
            handles = np.stack([keys.left[:, column], keys.right[:, column]])
            channels.append(Channel(bone, channel, index, keys.frames, keys.values[:, column], handles))
    written = _write_all(armature, channels, action, new)
    names = {rig.skeleton.names[bone] for bone in still}
    for bone, curve in _curves_of_bones(armature):
        if bone in names and not (curve.lock or curve.is_empty or len(curve.sampled_points)):
            merge_flat(curve, *span)
    return written


def check_target(armature: ArmatureObject, action: str | None = None, new: bool = True) -> None:
    """Raise BridgeError if no keys can be written to this action."""
    check(armature)
    if new and action is not None and action in bpy.data.actions:
        raise BridgeError(f'The action "{action}" already exists. Choose another name.')
    check_not_tweaked(armature)
    data = armature.animation_data
    if data is not None and not _is_on_top(data):
        raise BridgeError(
            f'The NLA editor mixes the action of "{armature.name}" with other strips, so that a pose '
            "keyed in it would not be the one that is shown. First set it to Replace with influence 1, and turn solo "
            "off."
        )
    old = data.action if data is not None else None
    if old is not None and not new and not old.is_editable:
        raise BridgeError(f'The action "{old.name}" is linked from another file. Make it local, or write to a new one.')


def _write_all(armature: ArmatureObject, channels: Sequence[Channel], name: str | None, new: bool) -> bpy.types.Action:
    check_curves(armature, channels)
    return _write_into(armature, target_action(armature, name, new), channels)


def _kept_beside(armature: ArmatureObject, channels: Sequence[Channel]) -> list[Channel]:
    """Return channels that keep the animation as it is in the frames before and after theirs."""
    ranges, curves = [curve.range() for curve in active_curves(armature)], curves_of(armature)
    span = min((first for first, _ in ranges), default=np.inf), max((last for _, last in ranges), default=-np.inf)
    return [_with_beside(armature, one, curves.get((one.data_path, one.index)), span) for one in channels]


def _with_beside(armature: ArmatureObject, channel: Channel, curve: Any, span: tuple[float, float]) -> Channel:
    """Return a channel that keeps a curve, or what has none, as it is from the frames beside it on, where keys are.

    `span`: the frames of the action's first and last key. Nothing is added where the channel begins or ends with the
    value that is there, and where there is a key.
    """
    level, keyed = armature.path_resolve(channel.data_path)[channel.index], np.zeros(0)
    evaluate: Callable[[float], float] = lambda _: level  # noqa: E731
    if curve is not None and not curve.is_empty:
        evaluate, keyed = curve.evaluate, _times(curve)
    frames, values = channel.frames, channel.values
    beyond = ((0, frames[0] - 1.0, frames[0] > span[0]), (-1, frames[-1] + 1.0, frames[-1] < span[1]))
    for end, frame, goes_on in beyond:
        was, there = (evaluate(at) for at in (channel.frames[end], frame))
        fresh = np.abs(keyed - frame).min(initial=1.0) > SAME_FRAME
        if goes_on and fresh and abs(was - channel.values[end]) > _CHANGED * max(1.0, abs(was)):
            place = len(frames) if end else 0
            frames, values = np.insert(frames, place, frame), np.insert(values, place, there)
    return replace(channel, frames=frames, values=values)


def _write_into(
    armature: ArmatureObject, target: bpy.types.Action, channels: Sequence[Channel], flat: bool = False
) -> bpy.types.Action:
    """Write channels into an action; `flat`: the keys contain the effect of modifiers, which are removed."""
    for channel in channels:
        curve = ensure_curve(armature, target, channel)
        for modifier in _changing(curve) if flat else ():
            curve.modifiers.remove(modifier)
        write_channel(curve, channel)
    target.update_tag()
    return target


def meets_curves(armature: ArmatureObject, rig: Rig, motion: Motion, bones: Iterable[int]) -> bool:
    """Return whether the rotation keys of a motion end at the values of the existing curves in its last frame.

    If not, the channels differ by whole turns or in sign although the rotation is the same, and the curve would jump.
    """
    curves, names = curves_of(armature), rig.skeleton.names
    for bone, values in rotation_curves(armature, rig, motion, bones).items():
        path = channel_path(names[bone], rotation_channel(rig.skeleton.rotation_modes[bone]))
        for index, value in enumerate(values[-1].tolist()):
            curve = curves.get((path, index))
            if curve is not None and abs(curve.evaluate(motion.frames[-1]) - value) > _SEAM:
                return False
    return True


def repeating_bones(armature: ArmatureObject, names: Iterable[str], first: float, last: float) -> list[str]:
    """Return those of the bones whose curves go on beyond their keys by those from `first` to `last`.

    They have Cycles modifiers, or linear extrapolation of the two keys at an end.
    """
    wanted, found = set(names), set[str]()
    for bone, curve in _curves_of_bones(armature):
        if bone not in wanted or curve.is_empty:
            continue
        if any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers):
            found.add(bone)
        elif curve.extrapolation == "LINEAR":  # keys are read for these alone
            times = _times(curve)
            if any(first <= time <= last for time in (*times[:2], *times[-2:])):
                found.add(bone)
    return sorted(found)


def stepped_bones(armature: ArmatureObject, first: float, last: float) -> set[str]:
    """Return the bones whose curves have constant interpolation between two frames."""
    constant = item("interpolation", "CONSTANT")
    found = set[str]()
    for bone, curve in _curves_of_bones(armature):
        if len(curve.keyframe_points) > 1:
            keys = read_keys(curve.keyframe_points, ("co", "interpolation"))
            ends = np.append(keys["co"][1:, 0], -np.inf)  # nothing follows the last key
            within = (keys["co"][:, 0] < last) & (ends > first)
            if np.any(within & (keys["interpolation"][:, 0] == constant)):
                found.add(bone)
    return found


def key_frames(armature: ArmatureObject, first: float, last: float) -> dict[str, Array]:
    """Return the frames from `first` to `last` at which each bone has a key."""
    frames: dict[str, list[Array]] = {}
    for bone, curve in _curves_of_bones(armature):
        at = _times(curve)
        frames.setdefault(bone, []).append(at[(at >= first - SAME_FRAME) & (at <= last + SAME_FRAME)])
    return {bone: np.unique(np.concatenate(at).round(2)) for bone, at in frames.items()}


def _in_strips(armature: ArmatureObject, names: Sequence[str]) -> tuple[NDArray[np.intp], ...]:
    """Return which of the named bones are rotated, moved and scaled by animation; none without NLA tracks."""
    data, kinds = armature.animation_data, ("rotation", "location", "scale")
    curves = animated_curves(armature) if data is not None and len(data.nla_tracks) else ()
    paths = [path for curve in curves if (path := split_path(curve.data_path)) is not None]
    found = {(kind, bone) for bone, name in paths for kind in kinds if name.startswith(kind)}
    return tuple(np.array([n for n, name in enumerate(names) if (kind, name) in found], int) for kind in kinds)


def _is_on_top(data: bpy.types.AnimData) -> bool:
    """Return whether the action alone determines the channels that it keys, whatever NLA tracks are below it."""
    if not data.use_nla or not len(data.nla_tracks):
        return True
    if any(track.is_solo for track in data.nla_tracks):
        return False
    return data.action_influence == 1.0 and data.action_blend_type == "REPLACE"


def curves_of(armature: ArmatureObject) -> dict[tuple[str, int], Any]:
    """Return the F-curves of the object's slot by data path and index."""
    bag = channelbag_of(armature)
    fcurves: Any = bag.fcurves if bag is not None else ()
    return {(curve.data_path, curve.array_index): curve for curve in fcurves}


def _curves_of_bones(armature: ArmatureObject) -> Iterator[tuple[str, Any]]:
    """Yield the F-curves of bones with the bones' names."""
    for (data_path, _), curve in curves_of(armature).items():
        place = split_path(data_path)
        if place is not None:
            yield place[0], curve


def _times(curve: Any) -> NDArray[Any]:
    """Return the frames (n,) of the keys of a curve."""
    return read_keys(curve.keyframe_points, ("co",))["co"][:, 0]


def channels_of(
    armature: ArmatureObject, rig: Rig, motion: Motion, bones: list[int], translated: list[int],
    scaled: NDArray[np.int64] | None = None,
) -> list[Channel]:  # fmt: skip
    """Return the channels to be keyed, sorted by bone."""
    skeleton, pose = rig.skeleton, motion.pose
    rows: list[tuple[int, str, int, NDArray[Any]]] = []  # bone, property, index, values
    for bone, values in rotation_curves(armature, rig, motion, bones).items():
        mode = skeleton.rotation_modes[bone]
        locks = skeleton.rotation_locks[bone] if mode in rotation.EULER_ORDERS else np.zeros(4, bool)
        rows += [(bone, rotation_channel(mode), i, values[:, i]) for i in np.flatnonzero(~locks).tolist()]
    for bone in translated:
        free = np.flatnonzero(skeleton.translatable[bone]).tolist()
        rows += [(bone, "location", i, pose.translations[:, bone, i]) for i in free]
    if pose.scales is not None and scaled is not None:
        rows += [(bone, "scale", i, pose.scales[:, bone, i]) for bone, i in scaled.tolist()]
    kinds = list(CHANNELS)
    rows.sort(key=lambda row: (row[0], kinds.index(row[1]), row[2]))
    return [Channel(skeleton.names[bone], name, i, motion.frames, values) for bone, name, i, values in rows]


def rotation_curves(armature: ArmatureObject, rig: Rig, motion: Motion, bones: Iterable[int]) -> dict[int, Floats]:
    """Return rotations (F, n) of movable bones in their own modes, without jumps after the key before the motion."""
    curves, present, wanted = curves_of(armature), read_channels(armature, rig.channels), set(bones)
    found: dict[int, Floats] = {}
    locks = rig.skeleton.rotation_locks
    for mode, group in rig.modes.items():
        chosen = [bone for bone in group[rig.skeleton.movable[group]].tolist() if bone in wanted]
        if not chosen:
            continue
        name = rotation_channel(mode)
        start = np.stack([
            _start(curves, channel_path(rig.skeleton.names[bone], name), present[name][bone], motion.frames[0])
            for bone in chosen
        ])  # fmt: skip
        values = np.empty((len(motion), len(chosen), CHANNELS[name]), np.float32)
        for part in blocks(len(motion)):
            own = rotations_to_curves(motion.pose.rotations[part][:, chosen], mode, start, locks[chosen])
            values[part], start = own, own[-1]
        found |= {bone: values[:, k] for k, bone in enumerate(chosen)}
    return found


def _start(curves: dict[tuple[str, int], Any], data_path: str, present: Array, first: float) -> Array:
    """Return the channel values (n,) of the last key before the first new one, else the current values."""
    own = [curves.get((data_path, i)) for i in range(len(present))]
    begun = [curve for curve in own if curve is not None and not curve.is_empty and curve.range()[0] < first]
    before = [at[at < first - SAME_FRAME] for at in map(_times, begun)]
    frame = max((float(at[-1]) for at in before if len(at)), default=float(first))
    return np.array(
        [value if c is None or c.is_empty else c.evaluate(frame) for c, value in zip(own, present, strict=True)]
    )


def _changing(curve: Any) -> list[Any]:
    """Return the modifiers of a curve that change values between its keys."""
    return [one for one in curve.modifiers if not one.mute and one.type not in _HARMLESS_MODIFIERS]


def check_curves(armature: ArmatureObject, channels: Iterable[Channel], flat: bool = False) -> None:
    """Raise BridgeError if keys of the channels would not determine the pose; `flat`: modifiers will be removed."""
    curves = curves_of(armature)
    for channel in channels:
        curve = curves.get((channel.data_path, channel.index))
        if curve is not None:
            _check_curve(channel, curve, flat)


def _check_curve(channel: Channel, curve: Any, flat: bool) -> None:
    what = f'The curve {channel.name}[{channel.index}] of "{channel.bone or _OBJECT_GROUP}"'
    if curve.lock or (curve.group is not None and curve.group.lock):
        raise BridgeError(f"{what} is locked. Unlock it in the Graph Editor first.")
    if curve.mute:
        raise BridgeError(f"{what} is muted. Unmute or delete it first.")
    if len(curve.sampled_points):
        raise BridgeError(f"{what} is baked to samples. Use Samples to Keys in the Graph Editor first.")
    for modifier in () if flat else _changing(curve):
        kind = modifier.type.replace("FNGENERATOR", "FUNCTION").replace("_", " ").title()
        raise BridgeError(
            f"{what} has a {kind} modifier, which would change the keys. Mute it first, or bake the "
            "entire motion with Visual into a new action."
        )


def target_action(armature: ArmatureObject, name: str | None, new: bool, empty: bool = False) -> bpy.types.Action:
    """Return the action to write into, assigned with a slot: the current one, a copy of it, or an empty one."""
    data = armature.animation_data or armature.animation_data_create()
    old, slot = data.action, data.action_slot
    if old is not None and not new:
        return old
    if old is None or empty:
        data.action = target = bpy.data.actions.new(name or f"{armature.name} poise")
        if old is None and len(data.nla_tracks):
            data.action_extrapolation = "NOTHING"  # outside its keys the strips below stay visible
    else:
        target = old.copy()
        target.name = name or f"{_OURS.sub('', old.name)} poise"
        data.action = target
        if slot is not None:
            data.action_slot = next(s for s in target.slots if s.handle == slot.handle)
    if old is not None and not old.users and old.is_editable:
        old.use_fake_user = True  # Blender does not save data without users
    return target


def remove_keys(armature: ArmatureObject, rig: Rig, bones: Iterable[int], first: float, last: float) -> None:
    """Remove the keys of bones (indices) from frame `first` to `last`, both included."""
    paths = {channel_path(rig.skeleton.names[bone], name) for bone in bones for name in CHANNELS}
    for curve in (curve for (path, _), curve in curves_of(armature).items() if path in paths):
        keys = read_keys(curve.keyframe_points, KEY)
        at = keys["co"][:, 0]
        stays = (at < first - SAME_FRAME) | (at > last + SAME_FRAME)
        if not stays.all():
            kept = {name: values[stays] for name, values in keys.items()}
            write_keys_of(curve, kept, dict.fromkeys(HANDLES, np.ones(stays.sum(), bool)))


def ensure_curve(armature: ArmatureObject, action: bpy.types.Action, channel: Channel) -> Any:
    """Return the F-curve of a channel; a new one is put into the group of its bone."""
    curve = action.fcurve_ensure_for_datablock(armature, channel.data_path, index=channel.index)
    if curve.is_empty and curve.group is None:
        bag = action_get_channelbag_for_slot(action, armature.animation_data.action_slot)
        assert bag is not None
        group = channel.bone or _OBJECT_GROUP
        curve.group = bag.groups.get(group) or bag.groups.new(group)
    return curve


def write_channel(curve: Any, channel: Channel) -> None:
    """Replace the keys of a curve between the first and the last frame of the channel; outside it stays as it is."""
    points, frames = curve.keyframe_points, channel.frames
    first_inside, last_inside = frames[0] - SAME_FRAME, frames[-1] + SAME_FRAME
    start, end = curve.range()
    outside = not curve.is_empty and (start < first_inside or end > last_inside)
    old = read_keys(points, KEY) if outside else read_segments(points)
    merged = _fresh_keys(old, channel)
    held: dict[str, NDArray[np.bool_]] = {}
    if outside or channel.handles is not None:
        held = {name: np.full(len(frames), channel.handles is not None) for name in HANDLES}
    if outside:
        times = old["co"][:, 0]
        before, after = times < first_inside, times > last_inside
        fresh = blank_keys(merged["co"]) | merged
        first, last = join(old, fresh, before, after)
        held["handle_left"][0] |= first
        held["handle_right"][-1] |= last
        merged = {name: np.concatenate([old[name][before], fresh[name], old[name][after]]) for name in fresh}
        held = {name: np.concatenate([before[before], mask, after[after]]) for name, mask in held.items()}
    write_keys_of(curve, merged, held)


def _fresh_keys(old: Keys, channel: Channel) -> Keys:
    """Return the properties of new keys: with the channel's handles, else with the old keys' interpolation."""
    frames = channel.frames
    places = np.empty((len(frames), 2), np.float32)
    places[:, 0], places[:, 1] = frames, channel.values
    fresh: Keys = {"co": places}
    if channel.handles is not None:
        fresh |= dict(zip(("handle_left", "handle_right"), channel.handles.astype(np.float32), strict=True))
        left, right = channel.handles - fresh["co"]
        corner = np.abs(left[:, 0] * right[:, 1] - left[:, 1] * right[:, 0]) > _BENT * np.abs(left[:, 0] * right[:, 0])
        kind = np.where(corner, item("handle_left_type", "FREE"), item("handle_left_type", "ALIGNED")).astype(np.intc)
        bezier = np.full(len(frames), item("interpolation", "BEZIER"), np.intc)
        types = {"handle_left_type": kind, "handle_right_type": kind, "interpolation": bezier}
        return fresh | {name: values[:, None].copy() for name, values in types.items()}
    ways = old["interpolation"]
    if not len(ways) or "co" not in old:  # no segment, or all of them have the same interpolation
        way = ways[0] if len(ways) else item("interpolation", "LINEAR")
        return fresh | {"interpolation": np.full((len(frames), 1), way, np.intc)}
    segment = np.maximum(np.searchsorted(old["co"][:, 0], frames + SAME_FRAME, side="right") - 1, 0)
    return fresh | {name: old[name][segment] for name in SEGMENT}
