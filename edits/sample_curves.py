"""The curves whose keys are the samples of a generated motion: read, drawn and edited as tables.

They are in the slot of the motion, on the armature object's own `poise_tracks` and `poise_path`: Blender's Graph Editor
shows no other. Below, a track is given by its number, and None stands for the path of the root.
"""

from typing import Any, Final

import numpy as np
from bpy_extras.anim_utils import action_get_channelbag_for_slot

from ..core import CoreError
from ..core.formats.recipe import Samples
from ..core.generate.curves import default_weights
from ..core.rotation import Array
from ..properties.generate import label_of

GROUP: Final = "Poise"
SAME: Final = 1e-3  # frames up to which two keys are at the same frame


def offset_path(number: int | None) -> str:
    """Return the data path of the samples' values."""
    return "poise_path" if number is None else f"poise_tracks[{number}].offset"


def weight_path(number: int | None) -> str:
    """Return the data path of the samples' weights."""
    return "poise_path_weight" if number is None else f"poise_tracks[{number}].weight"


def has_generated(armature: Any) -> bool:
    """Return whether the armature has its generated motion now."""
    data = armature.animation_data
    return data is not None and data.action is not None and data.action == armature.poise_generated


def check_generated(armature: Any) -> None:
    """Raise CoreError if the armature has no generated motion now."""
    if armature.poise_generated is None or not armature.poise_recipe:
        raise CoreError(f'"{armature.name}" has no generated motion. Generate one first.')
    if not has_generated(armature):
        raise CoreError(f'"{armature.name}" has another action now. Assign "{armature.poise_generated.name}" again.')


def active_track(armature: Any) -> int:
    """Return the number of the active track."""
    return min(max(armature.poise_active_track, 0), len(armature.poise_tracks) - 1)


def object_curves(armature: Any) -> Any:
    """Return the curves in the slot of the armature object."""
    return _channelbag(armature).fcurves


def _channelbag(armature: Any) -> Any:
    data = armature.animation_data
    return action_get_channelbag_for_slot(data.action, data.action_slot)


def sample_curve(armature: Any, number: int) -> Any:
    """Return the curve of a track's samples, or None."""
    bag = _channelbag(armature) if has_generated(armature) else None
    return bag.fcurves.find(offset_path(number)) if bag else None


def weight_curve(armature: Any, number: int | None) -> Any:
    """Return the curve of the samples' weights, or None."""
    return object_curves(armature).find(weight_path(number))


def path_curves(armature: Any) -> list[Any]:
    """Return the three curves of the path's samples, None for one that is missing."""
    return [object_curves(armature).find(offset_path(None), index=index) for index in range(3)]


def path_values(armature: Any, frame: float) -> list[float]:
    """Return the path's values at a frame; 0 for a missing curve."""
    return [0.0 if curve is None else curve.evaluate(frame) for curve in path_curves(armature)]


def keys_of(curve: Any) -> Array:
    """Return frames and values (n, 2) of a curve's keys."""
    return np.array([key.co for key in curve.keyframe_points], float).reshape(-1, 2)


def read_table(armature: Any, number: int | None) -> tuple[Array, Array]:
    """Return frames (n,) and values (n, 1), or (n, 3) of the path, of samples; raises CoreError for a track without."""
    if number is None:
        curves = filter(None, path_curves(armature))
        frames = sorted({float(key.co[0]) for curve in curves for key in curve.keyframe_points})
        return np.array(frames), np.array([path_values(armature, frame) for frame in frames]).reshape(-1, 3)
    curve = sample_curve(armature, number)
    if curve is None or not len(curve.keyframe_points):
        raise CoreError(f'The track "{label_of(armature.poise_tracks[number])}" has no samples. Key its offset first.')
    keys = keys_of(curve)
    return keys[:, 0], keys[:, 1:]


def read_weights(armature: Any, number: int | None, frames: Array, values: Array) -> Array | None:
    """Return the weights (n,) of a table's samples, None where these have none of their own.

    As many keys as samples belong to them in this order, wherever they were moved. Else a sample has the weight of the
    key at its frame, or the default one.
    """
    curve = weight_curve(armature, number)
    if curve is None or not len(curve.keyframe_points):
        return None
    keys = keys_of(curve)
    if len(keys) == len(frames):
        return keys[:, 1]
    gaps = np.abs(keys[:, :1] - frames)  # (keys, samples)
    return np.where(gaps.min(axis=0) < SAME, keys[gaps.argmin(axis=0), 1], default_weights(values))


def read_samples(armature: Any, number: int | None, fps: float, settings: dict[str, Any]) -> Samples | None:
    """Return samples with their `settings` and weights, in seconds of the motion; None for a path without keys."""
    frames, values = read_table(armature, number)
    if not len(frames):
        return None
    weights = read_weights(armature, number, frames, values)
    more = settings if weights is None else settings | {"weights": tuple(weights.tolist())}
    times = (frames - armature.poise_generated_start) / fps
    return Samples(tuple(times.tolist()), tuple(map(tuple, values.tolist())), more)


def draw_keys(armature: Any, path: str, frames: Array, values: Array, index: int = 0) -> None:
    """Replace the keys of one of the object's curves."""
    curve = armature.animation_data.action.fcurve_ensure_for_datablock(armature, path, index=index)
    if curve.group is None:
        groups = _channelbag(armature).groups
        curve.group = groups.get(GROUP) or groups.new(GROUP)
    points = curve.keyframe_points
    points.clear()
    points.add(len(frames))
    points.foreach_set("co", np.stack([frames, values], axis=-1).astype(np.float32).ravel())
    curve.update()
    curve.lock = path.endswith(".fit")  # users move samples, not the curve through them


def draw_samples(armature: Any, number: int | None, samples: Samples, start: float, fps: float) -> None:
    """Draw samples, given in seconds from the frame `start` on, as keys, and the weights that they have."""
    for index, column in enumerate(np.transpose(samples.values)):
        draw_keys(armature, offset_path(number), start + np.array(samples.times) * fps, column, index)
    draw_weights(armature, number, samples, start, fps)


def draw_weights(armature: Any, number: int | None, samples: Samples, start: float, fps: float) -> None:
    """Draw the weights of samples as keys, where they have some of their own."""
    if "weights" in samples.more:
        frames = start + np.array(samples.times) * fps
        draw_keys(armature, weight_path(number), frames, np.array(samples.more["weights"]))


def toggle_weights(armature: Any, path: bool) -> bool:
    """Give the samples of the active track, or of the path, their default weights as keys, or remove these keys.

    Returns whether there are some now. Raises CoreError where there are no samples.
    """
    number = None if path else active_track(armature)
    curve = weight_curve(armature, number)
    if curve is not None:
        object_curves(armature).remove(curve)
        return False
    frames, values = read_table(armature, number)
    if not len(frames):
        raise CoreError("The path has no samples. Key it first.")
    draw_keys(armature, weight_path(number), frames, default_weights(values))
    return True


def add_sample(armature: Any, path: bool, frame: int) -> None:
    """Add a sample of the active track, or of the path, at a frame, with the value that it has now."""
    number = None if path else active_track(armature)
    frames, values = read_table(armature, number)
    now = np.array(armature.poise_path if path else (armature.poise_tracks[number].offset,), float)
    weights = read_weights(armature, number, frames, values)
    _draw_merged(armature, number, np.append(frames, frame), np.vstack([values, now]), weights)


def equal_samples(armature: Any, path: bool, count: int) -> int:
    """Give the active track, or the path, up to so many samples on the curve through those it has; return how many.

    They are at equal distances, each at the nearest whole frame, and one a frame where there are not as many frames.
    Raises CoreError where there are fewer than two samples.
    """
    number = None if path else active_track(armature)
    frames, values = read_table(armature, number)
    if len(frames) < 2:
        raise CoreError("At least two samples are needed: the first and the last one.")
    wanted = np.unique(np.round(np.linspace(frames[0], frames[-1], count)))
    fit = None if path else object_curves(armature).find(f"poise_tracks[{number}].fit")
    if path:
        values = np.array([path_values(armature, frame) for frame in wanted])
    elif fit is not None:
        values = np.array([[fit.evaluate(frame)] for frame in wanted])
    else:
        values = np.interp(wanted, frames, values[:, 0])[:, None]
    curve = weight_curve(armature, number)
    if curve is not None:  # of other samples
        object_curves(armature).remove(curve)
    for index, column in enumerate(values.T):
        draw_keys(armature, offset_path(number), wanted, column, index)
    return len(wanted)


def remove_sample(armature: Any, path: bool, row: int) -> float:
    """Remove a sample of the active track, or of the path, and return its frame; CoreError for a track's last one."""
    number = None if path else active_track(armature)
    frames, values = _table_with(armature, number, row)
    if len(frames) == 1 and not path:
        raise CoreError("A track needs at least one sample. Remove the track instead.")
    stays, weights = np.arange(len(frames)) != row, read_weights(armature, number, frames, values)
    _draw_merged(armature, number, frames[stays], values[stays], None if weights is None else weights[stays])
    return float(frames[row])


def move_sample(armature: Any, path: bool, row: int, frame: int) -> None:
    """Move a sample of the active track, or of the path, to a frame; CoreError if there is another one."""
    number = None if path else active_track(armature)
    frames, values = _table_with(armature, number, row)
    moved, weights = frames.copy(), read_weights(armature, number, frames, values)
    moved[row] = frame
    if np.count_nonzero(np.abs(moved - frame) < SAME) > 1:
        raise CoreError(f"There is a sample at frame {frame} already.")
    _draw_merged(armature, number, moved, values, weights)


def _table_with(armature: Any, number: int | None, row: int) -> tuple[Array, Array]:
    """Return frames and values of samples; raises CoreError if they have no such row."""
    frames, values = read_table(armature, number)
    if not 0 <= row < len(frames):
        raise CoreError(f"There is no sample {row + 1}; there are {len(frames)}.")
    return frames, values


def _draw_merged(armature: Any, number: int | None, frames: Array, values: Array, weights: Array | None) -> None:
    """Draw samples in order of frames, the last one of each; samples without a weight get their default."""
    frames, places = np.unique(frames[::-1], return_index=True)
    places = len(values) - 1 - places
    values = values[places]
    for index, column in enumerate(values.T):
        draw_keys(armature, offset_path(number), frames, column, index)
    if weights is not None:
        by_default = default_weights(values)
        weights = np.array([weights[p] if p < len(weights) else by_default[k] for k, p in enumerate(places.tolist())])
        draw_keys(armature, weight_path(number), frames, weights)
