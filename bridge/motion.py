"""Read motions: many frames at once from F-curves if these alone determine the pose, else frame by frame.

Changes that Python handlers of other add-ons make on a frame change are visible only frame by frame.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, Final

import bpy
import numpy as np
from numpy.typing import ArrayLike

from ..core import Motion, Pose
from ..core.formats.table import FRAME_LIMIT
from ..core.motion import BLOCK, blocks
from ..core.pose import PoseBuffer
from ..core.rotation import Array, Floats
from ..core.steps import run_steps
from .armature import Rig, channels_to_pose, check, read_matrices, read_rig
from .channels import (
    CHANNELS,
    ArmatureObject,
    channel_path,
    channelbag_of,
    channels_to_rotations,
    read_channels,
    write_channels,
)
from .driven import animated_curves, split_path, unmuted_strips
from .errors import BridgeError
from .interrupt import check_stopped
from .turns import in_main_thread, update
from .worlds import world_matrix

SAME_FRAME: Final = 0.01  # frames: Blender treats nearer keys as one (BEZT_BINARYSEARCH_THRESH)
_MOST: Final = 10_000_000  # frames times bones that are read at once: less than a gigabyte
_FEW: Final = 16  # keys that can be read in the time of one evaluation
_POISE: Final = "poise_"  # prefix of curves of settings, which do not move bones
_OBJECT_TRANSFORM: Final = {name for channel in CHANNELS for name in (channel, f"delta_{channel}")}


def read_motion(
    armature: ArmatureObject, rig: Rig, frames: ArrayLike, note: Callable[[], object] | None = None
) -> tuple[Motion, Array]:
    """Return the poses at increasing frame numbers `frames` (F,), and the object's world matrices (F, 4, 4).

    The scene's frame and all channels of the object, unkeyed ones included, are restored. `note` is called at each
    frame that has to be evaluated. Raises BridgeError if `check` does, or for an empty range.
    """
    return run_steps(reading_motion(armature, rig, frames, note))


def reading_motion(
    armature: ArmatureObject, rig: Rig, frames: ArrayLike, note: Callable[[], object] | None = None
) -> Generator[float, None, tuple[Motion, Array]]:
    """Do what `read_motion` does and yield the share that is done after each frame that has to be evaluated.

    Closing the generator early restores the scene.
    """
    check(armature)
    context: Any = bpy.context
    render = context.scene.render
    numbers = np.atleast_1d(np.asarray(frames, float))
    if not numbers.size:
        raise BridgeError("The frame range is empty.")
    if not (np.abs(numbers) <= FRAME_LIMIT).all():
        raise BridgeError(
            f"Frames must be between {-FRAME_LIMIT} and {FRAME_LIMIT}, not {numbers[0]:.10g} to {numbers[-1]:.10g}."
        )
    if numbers.size * len(rig.skeleton) > _MOST:
        raise BridgeError(
            f"{numbers.size} frames of {len(rig.skeleton)} bones are too many at once; the maximum is "
            f"{_MOST // len(rig.skeleton)}."
        )
    if only_curves_decide(armature, rig):
        sampled, buffer = _Sampled(armature, rig, numbers), PoseBuffer(len(numbers), len(rig.skeleton))
        for part in blocks(len(numbers)):
            buffer.put(part, channels_to_pose(rig, sampled.channels(part), None))
        pose = buffer.pose()
        worlds = np.repeat(world_matrix(armature)[None], len(numbers), axis=0)
    else:
        pose, worlds = yield from _step(armature, rig, numbers, note)
    return Motion(pose, numbers, render.fps / render.fps_base), worlds


def reading_turns(
    armature: ArmatureObject, rig: Rig, frames: ArrayLike, bones: Sequence[int]
) -> Generator[float, None, Array]:
    """Return own rotations (F, k, 4) of undriven `bones` at increasing frame numbers `frames` (F,).

    They are read from the curves of the action if these alone turn the bones, even if other bones are driven: to
    evaluate a frame of a driven rig takes up to 20 ms. Otherwise frames are evaluated as in `reading_motion`, and the
    share that is done is yielded.
    """
    check(armature)
    numbers = np.atleast_1d(np.asarray(frames, float))
    clamped = {bone for clamp in rig.clamps for bone in clamp.bones.tolist()}
    if clamped.intersection(bones) or not _one_action(armature):
        motion, _ = yield from reading_motion(armature, rig, numbers)
        return motion.pose.rotations[:, bones]
    modes = np.array([rig.skeleton.rotation_modes[bone] for bone in bones])
    places = {str(mode): np.flatnonzero(modes == mode) for mode in np.unique(modes)}
    return channels_to_rotations(_Sampled(armature, rig, numbers, bones).channels(slice(None)), places)


def check_not_tweaked(armature: ArmatureObject) -> None:
    """Raise BridgeError in the NLA editor's tweak mode, where a strip's action replaces the object's own."""
    if armature.animation_data is not None and armature.animation_data.use_tweak_mode:
        raise BridgeError(f'"{armature.name}" is in the NLA editor\'s tweak mode. Exit tweak mode first.')


@contextmanager
def using_action(armature: ArmatureObject, action: bpy.types.Action | None) -> Iterator[None]:
    """Assign another action to the object within the context; restore action, slot and channels afterwards."""
    data = armature.animation_data or armature.animation_data_create()
    check_not_tweaked(armature)
    before, old, slot = read_channels(armature), data.action, data.action_slot
    try:
        assign(armature, action)
        yield
    finally:
        data.action = old
        if slot is not None:
            data.action_slot = slot
        write_channels(armature, before)


@contextmanager
def posed_by(
    context: Any, armature: ArmatureObject, action: bpy.types.Action, frame: float, slot: Any = None
) -> Iterator[None]:
    """Give an armature the pose of an action at a frame inside, and all its channels back afterwards.

    Without a slot the action has one that suits the armature.

    Nothing animates it meanwhile, and the scene's frame stays, so that all other objects do.
    """
    data, before = armature.animation_data or armature.animation_data_create(), read_channels(armature, CHANNELS)
    with_nla, kept, wanted = data.use_nla, dict[tuple[Any, str], Any](), dict[tuple[Any, str], Any]()
    try:
        with using_action(armature, action):
            if slot is not None:
                data.action_slot = slot
            channels = {name: np.array(values) for name, values in before.items()}
            place = {name: number for number, name in enumerate(armature.pose.bones.keys())}
            for curve in active_curves(armature):
                bone, name = split_path(curve.data_path) or ("", "")
                if bone in place and name in CHANNELS:
                    channels[name][place[bone], curve.array_index] = curve.evaluate(frame)
                elif bone in place and name.startswith('["'):
                    owner, key = armature.pose.bones[bone], bpy.utils.unescape_identifier(name[2:-2])
                    if isinstance(owner.get(key), int | float):  # such as a switch from IK to FK
                        kept[owner, key] = owner[key]
                        wanted[owner, key] = type(owner[key])(curve.evaluate(frame))
            data.action, data.use_nla = None, False
            context.view_layer.update()
            _set(wanted)
            write_channels(armature, channels)
            context.view_layer.update()
            yield
    finally:
        data.use_nla = with_nla
        _set(kept)
        context.view_layer.update()  # animates the armature, so that what has no key is given back after it
        write_channels(armature, before)
        context.view_layer.update()


def _set(values: Mapping[tuple[Any, str], Any]) -> None:
    """Set custom properties of bones."""
    for (bone, key), value in values.items():
        bone[key] = value


def assign(armature: ArmatureObject, action: bpy.types.Action | None) -> None:
    """Assign an action to the object, with a suitable slot."""
    data = armature.animation_data or armature.animation_data_create()
    data.action = action
    if action is not None and data.action_slot is None and len(data.action_suitable_slots):
        data.action_slot = data.action_suitable_slots[0]


def keyed_range(armature: ArmatureObject) -> tuple[int, int]:
    """Return the first and last frame of the object's own curves in its action, or of its strips.

    A manual frame range of the action takes precedence. Raises BridgeError if there is neither an action nor a strip
    with keys.
    """
    data = armature.animation_data
    action = data.action if data is not None else None
    spans = [curve.range() for curve in active_curves(armature) if not curve.data_path.startswith(_POISE)]
    if action is not None and action.use_frame_range:
        spans = [action.frame_range]
    elif action is None and data is not None:
        spans = [(strip.frame_start, strip.frame_end) for strip in unmuted_strips(data)]
    if not spans:
        check(armature)  # nothing at all that could be keyed is said first
        raise BridgeError(f'"{armature.name}" has no action with keys of its own. Key its motion first.')
    first, last = min(first for first, _ in spans), max(last for _, last in spans)
    if not -FRAME_LIMIT <= first <= last <= FRAME_LIMIT:  # which importers write
        raise BridgeError(
            f'"{armature.name}" is keyed from {first:g} to {last:g}, but the last frame in Blender is {FRAME_LIMIT}.'
        )
    return round(first), round(last)


def only_curves_decide(armature: ArmatureObject, rig: Rig) -> bool:
    """Return whether only F-curves of the object's action change its bones over time, and the object does not move."""
    data = armature.animation_data
    if rig.evaluated or armature.parent is not None:
        return False
    if any(not c.mute for c in armature.constraints) or armature.data.animation_data is not None:
        return False
    if data is not None and len(data.drivers):
        return False
    return _one_action(armature) and all(_stands_still(armature, curve) for curve in active_curves(armature))


def is_moved_by_keys(armature: ArmatureObject) -> bool:
    """Return whether the keys of the object's own action are all that moves its bones."""
    return any(True for _ in active_curves(armature)) and only_curves_decide(armature, read_rig(armature))


def _one_action(armature: ArmatureObject) -> bool:
    """Return whether the curves of the object's action alone determine the channels of bones that are not driven."""
    data = armature.animation_data
    context: Any = bpy.context
    render = context.scene.render
    if render.frame_map_old != render.frame_map_new:
        return False
    if data is None:
        return True
    if data.use_tweak_mode or (data.use_nla and len(data.nla_tracks)):
        return False
    action = data.action
    if action is None:
        return True
    if data.action_influence != 1.0 or data.action_blend_type != "REPLACE":
        return False
    return len(action.layers) <= 1 and all(len(layer.strips) <= 1 for layer in action.layers)


def is_animated(armature: ArmatureObject, rig: Rig, bone: int) -> bool:
    """Return whether keys move a bone: its own, those of bones above it, or, if something drives it, those of any."""
    found = (split_path(curve.data_path) for curve in animated_curves(armature))
    keyed = {path[0] for path in found if path is not None and path[1] in CHANNELS}
    above = rig.skeleton.ancestors(bone)
    names = {rig.skeleton.names[other] for other in above}
    return bool(keyed & names) or (bool(keyed) and any(rig.decided[other] for other in above))


def object_moves(armature: ArmatureObject) -> bool:
    """Return whether animation moves the armature object: its own, or that of its parents and constraint targets."""
    around, seen = _that_move(armature), [armature]
    while around:
        other = around.pop()
        if other not in seen:
            seen.append(other)
            around += _that_move(other)
    own = (one for one in animated_curves(armature) if split_path(one.data_path) is None)
    if any(one.data_path.startswith("constraints[") or not _stands_still(armature, one) for one in own):
        return True
    return any(_has_curves(other) or _has_curves(other.data) for other in seen[1:])


def _that_move(owner: Any) -> list[Any]:
    """Return the objects that an object hangs on."""
    acting = [one for one in owner.constraints if not one.mute]
    targets = [one.target for one in acting if getattr(one, "target", None) is not None]
    return targets + ([owner.parent] if owner.parent is not None else [])


def _has_curves(owner: Any) -> bool:
    return any(True for _ in animated_curves(owner)) if getattr(owner, "animation_data", None) else False


def muted_bones(armature: ArmatureObject) -> list[str]:
    """Return the bones that have muted curves with keys in the object's action, in its order."""
    bag = channelbag_of(armature)
    curves = () if bag is None else bag.fcurves
    paths = (split_path(curve.data_path) for curve in curves if curve.mute and not curve.is_empty)
    return [*dict.fromkeys(path[0] for path in paths if path is not None)]


def active_curves(armature: ArmatureObject) -> Iterator[Any]:
    """Yield the F-curves of the object's action that Blender evaluates; Blender 4.5 and 5.2 ignore a group's mute."""
    bag = channelbag_of(armature)
    for curve in bag.fcurves if bag else ():
        if curve.is_valid and not curve.mute and not curve.is_empty:
            yield curve


def all_curves(action: bpy.types.Action) -> Iterator[Any]:
    """Yield the F-curves of all slots of an action."""
    layers: Any = action.layers
    for bag in (bag for layer in layers for strip in layer.strips for bag in strip.channelbags):
        yield from bag.fcurves


def what_places(armature: ArmatureObject) -> str | None:
    """Return what decides where the object is beside its location, rotation and scale, in words, or None."""
    data = armature.animation_data
    deltas = (*armature.delta_location, *armature.delta_rotation_euler, *armature.delta_rotation_quaternion[1:])
    reasons = {
        "its parents": armature.parent is not None,
        "constraints": any(not one.mute for one in armature.constraints),
        "drivers": data is not None and any(one.data_path in _OBJECT_TRANSFORM for one in data.drivers),
        "delta transforms": any(deltas) or any(scale != 1.0 for scale in armature.delta_scale),
    }
    return next((reason for reason, acts in reasons.items() if acts), None)


def _stands_still(armature: ArmatureObject, curve: Any) -> bool:
    """Return False for a curve that moves the object: any but a flat one without modifiers at the current value."""
    if curve.data_path not in _OBJECT_TRANSFORM:
        return True
    points = curve.keyframe_points
    if len(curve.modifiers) or not len(points):
        return False
    values = np.empty((3, 2 * len(points)), np.float32)
    for row, name in zip(values, ("co", "handle_left", "handle_right"), strict=True):
        points.foreach_get(name, row)
    present = np.float32(getattr(armature, curve.data_path)[curve.array_index])
    return bool(np.all(values[:, 1::2] == present))


class _Sampled:
    """Channels from the F-curves at frames (F,), of `bones` if given; those without a curve keep their value."""

    def __init__(self, armature: ArmatureObject, rig: Rig, frames: Array, bones: Sequence[int] | None = None) -> None:
        chosen = range(len(rig.skeleton)) if bones is None else bones
        self._frames = frames
        self._present = {name: one[list(chosen)] for name, one in read_channels(armature, rig.channels).items()}
        targets = {
            channel_path(rig.skeleton.names[bone], name): (name, i)
            for i, bone in enumerate(chosen)
            for name in self._present
        }
        self._curves = [
            (*targets[curve.data_path], curve.array_index, _evaluate(curve, frames))
            for curve in active_curves(armature)
            if curve.data_path in targets and curve.array_index < CHANNELS[targets[curve.data_path][0]]
        ]

    def channels(self, part: slice) -> dict[str, Array]:
        """Return the channels (F, J, n) of a part of the frames."""
        count = len(self._frames[part])
        result = {name: np.repeat(values[None], count, axis=0) for name, values in self._present.items()}
        for name, bone, index, values in self._curves:
            result[name][:, bone, index] = values[part]
        return result


def _evaluate(curve: Any, frames: Array) -> Floats:
    """Return values (F,) of an F-curve: in bulk at its keys, else by Blender, with modifiers, easing and cycles."""
    points = curve.keyframe_points
    if len(frames) * _FEW < len(points):
        return _evaluated(curve, frames)
    keys = np.empty((len(points), 2), np.float32)
    points.foreach_get("co", keys.ravel())
    times = keys[:, 0]
    if not len(curve.modifiers) and np.array_equal(times, frames):
        return keys[:, 1].copy()
    if len(curve.modifiers) or not len(times) or np.any(np.diff(times) <= SAME_FRAME):
        return _evaluated(curve, frames)
    at = np.minimum(np.searchsorted(times, frames), len(times) - 1)
    values, between = keys[at, 1], times[at] != frames
    values[between] = _evaluated(curve, frames[between])
    return values


def _evaluated(curve: Any, frames: Array) -> Floats:
    return np.fromiter(map(curve.evaluate, frames.tolist()), np.float32, len(frames))


def _step(
    armature: ArmatureObject, rig: Rig, frames: Array, also: Callable[[], object] | None
) -> Generator[float, None, tuple[Pose, Array]]:
    buffer, worlds = PoseBuffer(len(frames), len(rig.skeleton)), np.empty((len(frames), 4, 4))
    noted: list[tuple[dict[str, Array], Array]] = []  # channels and matrices of the frames of one block
    done = 0

    def note() -> None:
        noted.append((read_channels(armature, rig.channels), read_matrices(armature)))
        worlds[done + len(noted) - 1] = world_matrix(armature)
        if also is not None:
            also()

    with closing(_going_through(armature, frames, note)) as shares:
        for share in shares:
            if len(noted) == BLOCK or done + len(noted) == len(frames):
                channels, matrices = zip(*noted, strict=True)
                stacked = {name: np.stack([one[name] for one in channels]) for name in channels[0]}
                seen = np.stack(matrices) if rig.evaluated else None
                buffer.put(slice(done, done + len(noted)), channels_to_pose(rig, stacked, seen))
                done += len(noted)
                noted.clear()
            yield share
    return buffer.pose(), worlds


def _going_through(armature: ArmatureObject, frames: Array, note: Callable[[], None]) -> Generator[float, None, None]:
    """Call `note` at each frame and yield the share that is done; restore the scene's frame and the object's channels.

    Closing the generator restores them, too.
    """
    context: Any = bpy.context
    with preserve_channels(context, armature), closing(iterate_frames(context, frames)) as places:
        for place in places:
            note()
            yield (place + 1) / len(frames)


def iterate_frames(context: Any, frames: Array | None, count: int = 1) -> Generator[int, None, None]:
    """Go to each frame in turn and yield its place; without `frames` yield `count` places at the present one.

    The scene's present frame is restored at the end, and when the generator is closed. Ctrl-C is looked at in each.
    """
    if frames is None:
        yield from range(count)
        return
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        for place, number in enumerate(frames.tolist()):
            check_stopped(place / len(frames))
            whole = int(np.floor(number))
            in_main_thread(partial(scene.frame_set, whole, subframe=number - whole))
            yield place
    finally:
        in_main_thread(partial(scene.frame_set, frame, subframe=subframe))


@contextmanager
def preserve_channels(context: Any, armature: Any, but: Sequence[int] = ()) -> Iterator[None]:
    """Restore the armature's channels, keyed or not, after frame changes inside, except those of the bones `but`."""
    update(context)  # keys that were just written are not in the channels before
    before = read_channels(armature, CHANNELS)
    try:
        yield
    finally:
        if len(but):
            now = read_channels(armature, CHANNELS)
            for name, values in before.items():
                values[list(but)] = now[name][list(but)]
        write_channels(armature, before)
        update(context)
