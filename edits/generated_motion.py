"""A generated motion that goes on being edited: its key poses are an action, its samples keys of curves beside the
motion's own.

The curves are in the slot of the motion, on the armature object's own `poise_tracks`: Blender's Graph Editor shows
no other. `offset` has the samples as keys, `fit` the smooth curve through them, and `weight`, where the user wants to
have a say in it, the weights of the samples. Supports and flights are a list of frames.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import bpy
import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from .. import bridge
from ..core import CoreError, Motion, Pose
from ..core.formats.recipe import Moment, RecipeFile, Samples, Support, parse_recipe, track_of
from ..core.formats.report import Report
from ..core.generate import Flight
from ..core.generate.curves import default_weights
from ..core.rotation import Array
from ..properties.generate import label_of
from ..properties.overrides import linked_count, new_key
from .evaluation import preserve_channels
from .generate import Generated
from .motion_edit import temporary_value, unused_name
from .renames import follow_renames, note_bones

MIN, MAX = 0, 1  # frames of the action of the key poses
GROUP: Final = "Poise"
PATH: Final = "poise_path"
PATH_WEIGHT: Final = "poise_path_weight"
SAME: Final = 1e-3  # frames
CHANGED: Final = 1e-5  # an offset that differs by less is that of its curve
PLAIN: Final = {"version": 1, "poses": {"min": {}, "max": {}}, "tracks": [{"parts": "all", "samples": [0, 1, 0]}]}


def store_pose(armature: Any, rig: bridge.Rig, pose: Pose, number: int) -> None:
    """Keep a pose as the min or the max pose."""
    follow_renames(armature)
    note_bones(armature)
    action = armature.poise_key_poses or bpy.data.actions.new(f"{armature.name} key poses")
    motion = Motion(pose[None], np.array([number]), 1.0)
    every = range(len(rig.skeleton))
    with bridge.using_action(armature, action):
        bridge.write_keys(armature, rig, motion, every, every, new=False)
    armature.poise_key_poses = action


def recipe_with_own_poses(armature: Any, data: dict[str, Any] | str, name: str) -> RecipeFile:
    """A recipe with the armature's own key poses; raises CoreError if it lacks one."""
    follow_renames(armature)
    recipe = parse_recipe(json.loads(data) if isinstance(data, str) else data)
    action = armature.poise_key_poses
    if action is None or action.frame_range[1] < MAX or action.frame_range[0] > MIN:
        raise CoreError("Store a min and a max pose first.")
    return replace(recipe, name=name, low=Moment(MIN, action.name), high=Moment(MAX, action.name))


def write_generated(armature: Any, edit: Generated, recipe: RecipeFile, data: dict[str, Any], start: int) -> Report:
    """Write a new motion, and what it can be changed by."""
    report = edit.write(armature, unused_name(f"{armature.name} {recipe.name}"))
    if not isinstance(recipe.low, Moment):  # else it has just been made of the stored ones
        if armature.poise_key_poses is not None:
            armature.poise_key_poses.use_fake_user = True  # poses that the user stored are not lost
            armature.poise_key_poses = None
        for number, pose in ((MIN, edit.low), (MAX, edit.high)):
            store_pose(armature, edit.rig, _channels_of(armature, edit, pose), number)
    armature.poise_recipe, armature.poise_generated_start = json.dumps(data), start
    armature.poise_generated = armature.animation_data.action
    with temporary_value(armature, "poise_generated", None):  # tracks that change are not to be shown at once
        armature.poise_tracks.clear()
        for parts, samples in recipe.tracks:
            track = armature.poise_tracks.add()
            _name_track(track, () if isinstance(parts, str) else parts)
            track.width, track.gamma = samples.more.get("width", 0.0), samples.more["gamma"]
    for number, (_, samples) in enumerate(recipe.tracks):
        frames = start + np.array(samples.times) * edit.before.fps
        _draw_keys(armature, f"poise_tracks[{number}].offset", frames, np.array(samples.values)[:, 0])
        _draw_weights(armature, f"poise_tracks[{number}].weight", frames, samples)
    _draw_path(armature, recipe.path, start, edit.before.fps)
    _list_phases(armature, recipe, start, edit.before.fps)
    draw_fits(armature, recipe, edit)
    return report


def _name_track(track: Any, parts: Sequence[str]) -> None:
    """The parts of the body, or the bones, that a track is of."""
    for part in parts:
        track.parts.add().part = part
    track.name = new_key(label_of(track))


def check_not_linked(armature: Any) -> None:
    """Raises CoreError where the armature has tracks or phases of a linked file, which cannot be taken out."""
    for collection, what in (("poise_tracks", "tracks"), ("poise_phases", "supports and flights")):
        if linked_count(armature, collection):
            raise CoreError(f'The {what} of "{armature.name}" are of the linked file; generate another motion there.')


def _channels_of(armature: Any, edit: Generated, pose: Pose) -> Pose:
    """The pose of the armature's own bones that brings its body to a pose."""
    if edit.controlled is None:
        return pose
    with preserve_channels(bpy.context, armature):
        return bridge.pose_controls(armature, edit.rig, edit.controlled, pose).pose


def _draw_path(armature: Any, path: Samples | None, start: int, fps: float) -> None:
    """The samples of the root's path as keys; without one, those of a motion before are gone."""
    for curve in filter(None, [*path_curves(armature), weight_curve(armature, None)]):
        _bag(armature).fcurves.remove(curve)
    if path is not None:
        frames = start + np.array(path.times) * fps
        for index, values in enumerate(np.transpose(path.values)):
            _draw_keys(armature, PATH, frames, values, index)
        _draw_weights(armature, PATH_WEIGHT, frames, path)


def _draw_weights(armature: Any, path: str, frames: Array, samples: Samples) -> None:
    """The weights of samples as keys, where they have some of their own."""
    if "weights" in samples.more:
        _draw_keys(armature, path, frames, np.array(samples.more["weights"]))


def _list_phases(armature: Any, recipe: RecipeFile, start: int, fps: float) -> None:
    """The supports and flights of a recipe, in frames."""
    armature.poise_phases.clear()
    with temporary_value(armature, "poise_generated", None):  # what changes is not to be shown at once
        for support in recipe.supports:
            frames = (start + round(fps * seconds) for seconds in (support.start, support.end, support.at))
            add_phase(armature, support.role, *frames)
        for flight in recipe.flights:
            add_phase(armature, "", *(start + round(fps * seconds) for seconds in (flight.start, flight.end)))


def add_phase(armature: Any, part: str, start: int, end: int, frame: int | None = None) -> None:
    """A part of the body bears from frame to frame, standing as in `frame`; "": nothing does."""
    phase = armature.poise_phases.add()
    phase.part, phase.kind = (part, "SUPPORT") if part else ("flight", "FLIGHT")
    phase.start, phase.end, phase.frame = start, end, start if frame is None else frame
    armature.poise_active_phase = len(armature.poise_phases) - 1


def _edited_phases(armature: Any, fps: float) -> tuple[tuple[Support, ...], tuple[Flight, ...]]:
    """The supports and flights of the list, in seconds; raises CoreError for one that runs backwards."""

    def seconds(frame: int) -> float:
        return (frame - armature.poise_generated_start) / fps

    supports: list[Support] = []
    flights: list[Flight] = []
    for phase in sorted(armature.poise_phases, key=lambda phase: phase.start):
        if phase.kind == "FLIGHT":
            if phase.end <= phase.start:
                raise CoreError(f"A flight ends after it starts, not from frame {phase.start} to {phase.end}.")
            flights.append(Flight(seconds(phase.start), seconds(phase.end)))
            continue
        if not phase.start <= phase.frame <= phase.end:
            raise CoreError(
                f'The support "{phase.part}" from frame {phase.start} to {phase.end} needs a frame between them '
                f"that has it where it stands, not {phase.frame}."
            )
        supports.append(Support(phase.part, seconds(phase.start), seconds(phase.end), seconds(phase.frame)))
    return tuple(supports), tuple(flights)


def draw_fits(armature: Any, recipe: RecipeFile, edit: Generated) -> None:
    """The smooth curves of the tracks, beside their samples."""
    frames = edit.before.frames
    for number, (_, samples) in enumerate(recipe.tracks):
        fit = track_of(samples, "all").curve()((frames - frames[0]) / edit.before.fps)[:, 0]
        _draw_keys(armature, f"poise_tracks[{number}].fit", frames, fit)


def add_track(armature: Any, parts: Sequence[str], bones: bool) -> None:
    """Parts of the body, or `bones` of these names, get samples of their own, those of the chosen track at first."""
    recipe = json.loads(armature.poise_recipe)
    chosen = _active_track(armature)
    keys, old = _samples_of(armature, chosen), armature.poise_tracks[chosen]
    recipe["tracks"].append(
        {"bones" if bones else "parts": list(parts), "samples": recipe["tracks"][chosen]["samples"]}
    )
    armature.poise_recipe = json.dumps(recipe)
    width, gamma = old.width, old.gamma
    with temporary_value(armature, "poise_generated", None):  # tracks that change are not to be shown at once
        track = armature.poise_tracks.add()
        _name_track(track, parts)
        track.width, track.gamma = width, gamma
    armature.poise_active_track = len(armature.poise_tracks) - 1
    _draw_keys(armature, f"poise_tracks[{armature.poise_active_track}].offset", *keys.T)
    weights = weight_curve(armature, chosen)
    if weights is not None:
        _draw_keys(armature, f"poise_tracks[{armature.poise_active_track}].weight", *_keys_of(weights).T)


def remove_track(armature: Any) -> str:
    """The parts of the chosen track, which is named, are those of no track again; raises CoreError for the last one."""
    number, count = _active_track(armature), len(armature.poise_tracks)
    if number < linked_count(armature, "poise_tracks"):
        raise CoreError(f'This track of "{armature.name}" is of the linked file; take it away there.')
    if count == 1:
        raise CoreError("A motion needs at least one track.")
    recipe = json.loads(armature.poise_recipe)
    del recipe["tracks"][number]
    armature.poise_recipe = json.dumps(recipe)
    curves = _bag(armature).fcurves
    for place in range(number, count):
        for channel in ("offset", "fit", "weight"):
            curve = curves.find(f"poise_tracks[{place}].{channel}")
            if curve is not None and place == number:
                curves.remove(curve)
            elif curve is not None:
                curve.data_path = f"poise_tracks[{place - 1}].{channel}"
    name = label_of(armature.poise_tracks[number])
    armature.poise_tracks.remove(number)
    armature.poise_active_track = min(number, count - 2)
    return name


def _active_track(armature: Any) -> int:
    """The number of the chosen track."""
    return min(max(armature.poise_active_track, 0), len(armature.poise_tracks) - 1)


def _samples_of(armature: Any, number: int) -> Array:
    """Frames and offsets (n, 2) of a track; raises CoreError if it has none."""
    curve = sample_curve(armature, number)
    if curve is None or not len(curve.keyframe_points):
        raise CoreError(
            f'The track "{label_of(armature.poise_tracks[number])}" has no samples; set keys of its offset.'
        )
    return _keys_of(curve)


def _keys_of(curve: Any) -> Array:
    """Frames and values (n, 2) of a curve."""
    return np.array([key.co for key in curve.keyframe_points], float).reshape(-1, 2)


def _draw_keys(armature: Any, path: str, frames: Array, values: Array, index: int = 0) -> None:
    """Keys on a curve of the object's, in place of those that it has."""
    curve = armature.animation_data.action.fcurve_ensure_for_datablock(armature, path, index=index)
    bag = _bag(armature)
    if curve.group is None:
        curve.group = bag.groups.get(GROUP) or bag.groups.new(GROUP)
    points = curve.keyframe_points
    points.clear()
    points.add(len(frames))
    points.foreach_set("co", np.stack([frames, values], axis=-1).astype(np.float32).ravel())
    curve.update()
    curve.lock = path.endswith(".fit")  # it is to be seen, the samples to be moved


def sample_curve(armature: Any, number: int) -> Any:
    """The curve whose keys are the samples of a track, or None."""
    bag = _bag(armature) if has_generated(armature) else None
    return bag.fcurves.find(f"poise_tracks[{number}].offset") if bag else None


def weight_curve(armature: Any, number: int | None) -> Any:
    """The curve whose keys are the weights of a track's samples, or of the path's; None where it has none."""
    path = PATH_WEIGHT if number is None else f"poise_tracks[{number}].weight"
    return _bag(armature).fcurves.find(path)


def weigh_samples(armature: Any, path: bool) -> bool:
    """Weights for the samples of the chosen track, or the path, as they are without; or none where there are some.

    Whether there are some now. Raises CoreError where there are no samples.
    """
    number = None if path else _active_track(armature)
    curve = weight_curve(armature, number)
    if curve is not None:
        _bag(armature).fcurves.remove(curve)
        return False
    if number is None:
        frames, values = _path_samples(armature)
        if not len(frames):
            raise CoreError("The path has no samples; set keys of it.")
        _draw_keys(armature, PATH_WEIGHT, frames, default_weights(values))
    else:
        keys = _samples_of(armature, number)
        _draw_keys(armature, f"poise_tracks[{number}].weight", keys[:, 0], default_weights(keys[:, 1:]))
    return True


def add_sample(armature: Any, path: bool, frame: int) -> None:
    """A sample of the chosen track, or of the path, at a frame: the offset, or the way, that it has now."""
    number = None if path else _active_track(armature)
    frames, values = _table(armature, number)
    now = np.array(armature.poise_path if path else (armature.poise_tracks[number].offset,), float)
    _draw_table(armature, number, np.append(frames, frame), np.vstack([values, now]), _own_weights(armature, number))


def remove_sample(armature: Any, path: bool, row: int) -> float:
    """Take a sample of the chosen track, or of the path, away; its frame. Raises CoreError for a track's last one."""
    number = None if path else _active_track(armature)
    frames, values = _table(armature, number)
    if not 0 <= row < len(frames):
        raise CoreError(f"There is no sample {row + 1}; there are {len(frames)}.")
    if len(frames) == 1 and not path:
        raise CoreError("A track needs at least one sample; take the track away.")
    stays, weights = np.arange(len(frames)) != row, _own_weights(armature, number)
    _draw_table(armature, number, frames[stays], values[stays], None if weights is None else weights[stays])
    return float(frames[row])


def _table(armature: Any, number: int | None) -> tuple[Array, Array]:
    """Frames (n,) and values (n, 1 or 3) of the samples of a track, or of the path."""
    if number is None:
        return _path_samples(armature)
    keys = _samples_of(armature, number)
    return keys[:, 0], keys[:, 1:]


def _own_weights(armature: Any, number: int | None) -> Array | None:
    """The weights (n,) of samples, None where they have none of their own."""
    weights = _weights_of(armature, number, *_table(armature, number))
    return np.array(weights["weights"]) if weights else None


def _draw_table(armature: Any, number: int | None, frames: Array, values: Array, weights: Array | None) -> None:
    """Samples as keys with their weights: the last one of a frame for those before it; new ones weigh as by default."""
    frames, places = np.unique(frames[::-1], return_index=True)
    places = len(values) - 1 - places
    values = values[places]
    if weights is not None:
        by_default = default_weights(values)
        weights = np.array([weights[p] if p < len(weights) else by_default[k] for k, p in enumerate(places.tolist())])
    for index, column in enumerate(values.T):
        _draw_keys(armature, PATH if number is None else f"poise_tracks[{number}].offset", frames, column, index)
    if weights is not None:
        _draw_keys(armature, PATH_WEIGHT if number is None else f"poise_tracks[{number}].weight", frames, weights)


def _weights_of(armature: Any, number: int | None, frames: Array, values: Array) -> dict[str, Any]:
    """The weights of samples, as `Samples` takes them; nothing where they have none of their own.

    As many keys as samples are theirs in this order, wherever they were moved; else each is that of the sample at its
    frame, and samples without one have what they have by themselves.
    """
    curve = weight_curve(armature, number)
    if curve is None or not len(curve.keyframe_points):
        return {}
    keys = _keys_of(curve)
    if len(keys) == len(frames):
        return {"weights": tuple(keys[:, 1].tolist())}
    gaps = np.abs(keys[:, :1] - frames)  # (keys, samples)
    own = np.where(gaps.min(axis=0) < SAME, keys[gaps.argmin(axis=0), 1], default_weights(values))
    return {"weights": tuple(own.tolist())}


def path_curves(armature: Any) -> list[Any]:
    """The three curves whose keys are the samples of the root's path, None for one that is not there."""
    return [_bag(armature).fcurves.find(PATH, index=index) for index in range(3)]


def _bag(armature: Any) -> Any:
    """The curves of the object's slot."""
    data = armature.animation_data
    return action_get_channelbag_for_slot(data.action, data.action_slot)


def has_generated(armature: Any) -> bool:
    """Whether the armature has its generated motion now."""
    data = armature.animation_data
    return data is not None and data.action is not None and data.action == armature.poise_generated


def check_generated(armature: Any) -> None:
    """Raises CoreError if the armature has no generated motion now."""
    if armature.poise_generated is None or not armature.poise_recipe:
        raise CoreError(f'"{armature.name}" has no generated motion; generate one first.')
    if armature.animation_data is None or armature.animation_data.action != armature.poise_generated:
        raise CoreError(f'"{armature.name}" has another action now; give it "{armature.poise_generated.name}" again.')


def edited_recipe(armature: Any, fps: float) -> tuple[RecipeFile, int]:
    """The recipe of the generated motion with its samples as the curves have them now, and its first frame.

    Samples before the first frame that it had make it begin earlier.
    """
    check_generated(armature)
    recipe = recipe_with_own_poses(armature, armature.poise_recipe, "")
    tracks: list[Any] = []
    for number, (given, _) in enumerate(recipe.tracks):
        track, points = armature.poise_tracks[number], _samples_of(armature, number)
        parts = tuple(part.part for part in track.parts) or given
        more: dict[str, Any] = {"gamma": track.gamma} | ({"width": track.width} if track.width > 0.0 else {})
        more |= _weights_of(armature, number, points[:, 0], points[:, 1:])
        times = (points[:, 0] - armature.poise_generated_start) / fps
        tracks.append((parts, Samples(tuple(times.tolist()), tuple((value,) for value in points[:, 1].tolist()), more)))
    path = _edited_path(armature, recipe.path, fps)
    last = max((samples.times[-1] for _, samples in tracks), default=recipe.seconds)
    supports, flights = _edited_phases(armature, fps)
    edited = replace(
        recipe, tracks=tuple(tracks), path=path, seconds=max(last, 1.0 / fps), supports=supports, flights=flights
    )
    first = min(samples.times[0] for samples in (*(samples for _, samples in tracks), *filter(None, [path])))
    lead = max(0, int(np.ceil(-first * fps - SAME)))
    return _later(edited, lead / fps), armature.poise_generated_start - lead


def _later(recipe: RecipeFile, by: float) -> RecipeFile:
    """A recipe in which all comes so many seconds later."""
    if not by:
        return recipe
    return replace(
        recipe,
        seconds=recipe.seconds + by,
        tracks=tuple((parts, _shifted(samples, by)) for parts, samples in recipe.tracks),
        path=None if recipe.path is None else _shifted(recipe.path, by),
        supports=tuple(replace(s, start=s.start + by, end=s.end + by, at=s.at + by) for s in recipe.supports),
        flights=tuple(replace(flight, start=flight.start + by, end=flight.end + by) for flight in recipe.flights),
    )


def _shifted(samples: Samples, by: float) -> Samples:
    return replace(samples, times=tuple(time + by for time in samples.times))


def _edited_path(armature: Any, before: Samples | None, fps: float) -> Samples | None:
    """The samples of the root's path where any of its curves has a key; None without keys."""
    frames, values = _path_samples(armature)
    if not len(frames):
        return None
    more = {} if before is None else {name: value for name, value in before.more.items() if name != "weights"}
    more |= _weights_of(armature, None, frames, values)
    times = (frames - armature.poise_generated_start) / fps
    return Samples(tuple(times.tolist()), tuple(map(tuple, values.tolist())), more)


def _path_samples(armature: Any) -> tuple[Array, Array]:
    """Frames (n,) and places (n, 3) where any of the path's curves has a key."""
    curves = path_curves(armature)
    frames = sorted({float(key.co[0]) for curve in filter(None, curves) for key in curve.keyframe_points})
    values = [[0.0 if curve is None else curve.evaluate(frame) for curve in curves] for frame in frames]
    return np.array(frames), np.array(values).reshape(-1, 3)


def show_generated_frame(context: Any, armature: Any) -> None:
    """Give the armature the pose that the generated motion has in the present frame, without keys.

    A track whose offset was changed there has that one, the others what their samples make of it; so has the path.
    """
    render, frame = context.scene.render, context.scene.frame_current
    recipe, start = edited_recipe(armature, render.fps / render.fps_base)
    changed = {
        number: track.offset
        for number, track in enumerate(armature.poise_tracks)
        if abs(track.offset - sample_curve(armature, number).evaluate(frame)) > CHANGED
    }
    tracks = [
        (parts, Samples((0.0,), ((changed[number],),)) if number in changed else samples)  # one is for all times
        for number, (parts, samples) in enumerate(recipe.tracks)
    ]
    path, way = recipe.path, tuple(armature.poise_path)
    keyed = [0.0 if curve is None else curve.evaluate(frame) for curve in path_curves(armature)]
    moved = float(np.abs(np.subtract(way, keyed)).max()) > CHANGED
    if moved:
        path = Samples((0.0,), (way,))
    edit = Generated(context, armature, replace(recipe, tracks=tuple(tracks), path=path), start)
    pose = edit.pose_of_frame(frame)
    context.view_layer.update()  # the action that was looked at for the key poses is over, and what it has is set again
    with temporary_value(armature, "poise_generated", None):  # tracks that change are not to be shown at once
        for number, offset in changed.items():
            armature.poise_tracks[number].offset = offset
        if moved:
            armature.poise_path = way
    edit.show_pose(armature, pose)


def rewrite_generated(armature: Any, edit: Generated, recipe: RecipeFile) -> Report:
    """Write the generated motion anew into its action; nothing is left of it where it was before and is no more."""
    fit = _bag(armature).fcurves.find("poise_tracks[0].fit")
    first, last = edit.before.frames[[0, -1]].tolist()
    was = (first, last) if fit is None else fit.range()
    report = edit.write(armature, new=False)
    for begin, end in ((was[0], first - 1.0), (last + 1.0, was[1])):
        bridge.remove_keys(armature, edit.rig, np.flatnonzero(edit.always_keyed), begin, end)
    if first != armature.poise_generated_start:
        armature.poise_generated_start = round(first)
    samples = [*enumerate(samples for _, samples in recipe.tracks), *([(None, recipe.path)] if recipe.path else [])]
    for number, some in samples:  # at the frames that their samples have now
        path = PATH_WEIGHT if number is None else f"poise_tracks[{number}].weight"
        _draw_weights(armature, path, first + np.array(some.times) * edit.before.fps, some)
    draw_fits(armature, recipe, edit)
    return report
