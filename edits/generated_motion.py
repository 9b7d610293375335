"""A generated motion that is edited further: key poses in an action, samples as keys, phases as a list of frames.

The samples are curves beside the motion's own, see `sample_curves`: `offset` has them as keys, `fit` is the smooth
curve through them, and `weight` has their weights where the user sets some. Phases are supports and flights.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import bpy
import numpy as np

from .. import bridge
from ..bridge.motion import preserve_channels
from ..bridge.turns import update
from ..core import CoreError
from ..core.formats.recipe import (
    Angles,
    Moment,
    RecipeFile,
    Samples,
    Support,
    bones_of,
    by_role,
    contradict,
    parse_recipe,
    recipe_data,
    track_of,
)
from ..core.formats.report import Report
from ..core.generate import Flight, angles_of
from ..properties.generate import label_of
from ..properties.overrides import linked_count, new_key
from . import sample_curves
from .generate import Generated
from .motion_edit import temporary_value, unused_name
from .renames import follow_renames, note_bones
from .stored import read_recipe_of

MIN, MAX = 0, 1  # frames of the action of the key poses
CHANGED: Final = 1e-5  # difference of an offset from its curve from which on the user changed it
PLAIN: Final = {"version": 1, "poses": {"min": {}, "max": {}}, "tracks": [{"parts": "all", "samples": [0, 1, 0]}]}


def store_pose(armature: Any, number: int) -> None:
    """Store what the bones have now in the action of the key poses, as the one with this frame `number`: MIN or MAX."""
    bridge.check(armature)
    follow_renames(armature)
    note_bones(armature)
    action = armature.poise_key_poses or bpy.data.actions.new(f"{armature.name} key poses")
    with bridge.using_action(armature, action):
        bridge.write_snapshot(armature, action, number)
    armature.poise_key_poses = action


def recipe_with_own_poses(armature: Any, data: dict[str, Any], name: str) -> RecipeFile:
    """Return a recipe with the armature's own key poses; raises CoreError if one is missing."""
    follow_renames(armature)
    recipe = parse_recipe(data)
    action = armature.poise_key_poses
    if action is None or action.frame_range[1] < MAX or action.frame_range[0] > MIN:
        raise CoreError("Store a min and a max pose first.")
    return replace(recipe, name=name, low=Moment(MIN, action.name), high=Moment(MAX, action.name))


def write_generated(armature: Any, edit: Generated, data: dict[str, Any], start: int) -> Report:
    """Write a new motion with the key poses, samples and phases by which it is edited further."""
    recipe = edit.recipe
    report = edit.write(armature, unused_name(f"{armature.name} {recipe.name}"))
    if not isinstance(recipe.low, Moment):  # else the recipe's poses are the stored ones
        if armature.poise_key_poses is not None:
            armature.poise_key_poses.use_fake_user = True  # keep poses that the user stored
            armature.poise_key_poses = None
        for number, pose in ((MIN, edit.low), (MAX, edit.high)):
            with preserve_channels(bpy.context, armature):
                edit.show_pose(armature, pose)
                store_pose(armature, number)
    armature.poise_recipe, armature.poise_generated_start = json.dumps(data), start
    armature.poise_generated = armature.animation_data.action
    with temporary_value(armature, "poise_generated", None):  # else each change would show a pose
        armature.poise_stay = recipe.stay
        armature.poise_tracks.clear()
        for parts, samples in recipe.tracks:
            track = armature.poise_tracks.add()
            track.axis, track.straight = samples.more.get("axis", "ALL"), samples.more.get("straight", False)
            _name_track(track, () if isinstance(parts, str) else parts)
            track.width, track.gamma = samples.more.get("width", 0.0), samples.more["gamma"]
    before = [*sample_curves.path_curves(armature), sample_curves.weight_curve(armature, None)]  # of another motion
    for curve in filter(None, before):
        sample_curves.object_curves(armature).remove(curve)
    for number, samples in _all_samples(recipe):
        sample_curves.draw_samples(armature, number, samples, start, edit.before.fps)
    _list_phases(armature, recipe, start, edit.before.fps)
    draw_fits(armature, recipe, edit)
    return report


def _all_samples(recipe: RecipeFile) -> list[tuple[int | None, Samples]]:
    """Return the samples of the tracks with their numbers, and those of the path, if it has some, with None."""
    path = [] if recipe.path is None else [(None, recipe.path)]
    return [*enumerate(samples for _, samples in recipe.tracks), *path]


def _name_track(track: Any, parts: Sequence[str]) -> None:
    """Set the parts of the body, or the bones, of a track, and its name."""
    for part in parts:
        track.parts.add().part = part
    track.name = new_key(label_of(track))


def check_not_linked(armature: Any) -> None:
    """Raise CoreError if tracks or phases are of a linked file, so that they cannot be removed."""
    for collection, what in (("poise_tracks", "tracks"), ("poise_phases", "supports and flights")):
        if linked_count(armature, collection):
            raise CoreError(
                f'The {what} of "{armature.name}" belong to the linked file. Generate another motion there.'
            )


def _list_phases(armature: Any, recipe: RecipeFile, start: int, fps: float) -> None:
    """Fill the list of phases with the supports and flights of a recipe."""
    armature.poise_phases.clear()
    with temporary_value(armature, "poise_generated", None):  # else each change would show a pose
        for support in recipe.supports:
            frames = (start + round(fps * seconds) for seconds in (support.start, support.end, support.at))
            add_phase(armature, support.role, *frames)
        for flight in recipe.flights:
            add_phase(armature, "", *(start + round(fps * seconds) for seconds in (flight.start, flight.end)))


def add_phase(armature: Any, part: str, start: int, end: int, frame: int | None = None) -> None:
    """Add a support of a part from a frame to a frame, placed as in `frame`, or without a part a flight."""
    phase = armature.poise_phases.add()
    phase.part, phase.kind = (part, "SUPPORT") if part else ("flight", "FLIGHT")
    phase.start, phase.end, phase.frame = start, end, start if frame is None else frame
    armature.poise_active_phase = len(armature.poise_phases) - 1


def _edited_phases(armature: Any, fps: float, last: float) -> tuple[tuple[Support, ...], tuple[Flight, ...]]:
    """Return the supports and flights of the list, in seconds; `last`: that of the motion.

    Raises CoreError for one that ends before it starts, flights that end after the motion, and two that contradict.
    """

    def seconds(frame: int) -> float:
        return (frame - armature.poise_generated_start) / fps

    supports: list[Support] = []
    flights: list[Flight] = []
    for phase in sorted(armature.poise_phases, key=lambda phase: phase.start):
        if phase.kind == "FLIGHT":
            if phase.end <= phase.start:
                raise CoreError(
                    f"A flight must start before it ends. It starts at {phase.start} and ends at {phase.end}."
                )
            flights.append(Flight(seconds(phase.start), seconds(phase.end)))
            if phase.end > armature.poise_generated_start + fps * last + sample_curves.SAME:
                raise CoreError(f"The flight from frame {phase.start} to {phase.end} ends after the motion.")
            continue
        if not phase.start <= phase.frame <= phase.end:
            raise CoreError(
                f'The support "{phase.part}" needs a reference frame between {phase.start} and {phase.end}, '
                f"not {phase.frame}."
            )
        supports.append(Support(phase.part, seconds(phase.start), seconds(phase.end), seconds(phase.frame)))
    for one, other in combinations((*supports, *flights), 2):
        if contradict(one, other):
            names = [one.role if isinstance(one, Support) else "flight" for one in (one, other)]
            frame = armature.poise_generated_start + round(fps * max(one.start, other.start))
            raise CoreError(f'"{names[0]}" and "{names[1]}" overlap at frame {frame} in Supports and Flights.')
    return tuple(supports), tuple(flights)


def draw_fits(armature: Any, recipe: RecipeFile, edit: Generated) -> None:
    """Draw the smooth curves through the samples of the tracks."""
    frames = edit.before.frames
    for number, (_, samples) in enumerate(recipe.tracks):
        fit = track_of(samples, "all", recipe.stay).curve()((frames - frames[0]) / edit.before.fps)[:, 0]
        sample_curves.draw_keys(armature, f"poise_tracks[{number}].fit", frames, fit)


def add_track(armature: Any, parts: Sequence[str], bones: bool, axis: str = "ALL") -> None:
    """Add a track of parts of the body, or of `bones`, or of an axis of them, with the samples of the active track.

    Raises CoreError if another track has one of the bones so.
    """
    _check_free(armature, parts, axis)
    recipe = read_recipe_of(armature)
    chosen = sample_curves.active_track(armature)
    (frames, values), old = sample_curves.read_table(armature, chosen), armature.poise_tracks[chosen]
    recipe["tracks"].append(
        {"bones" if bones else "parts": list(parts), "samples": recipe["tracks"][chosen]["samples"]}
    )
    armature.poise_recipe = json.dumps(recipe)
    width, gamma, straight = old.width, old.gamma, old.straight
    with temporary_value(armature, "poise_generated", None):  # else each change would show a pose
        track = armature.poise_tracks.add()
        track.axis = axis
        _name_track(track, parts)
        track.width, track.gamma, track.straight = width, gamma, straight
    armature.poise_active_track = number = len(armature.poise_tracks) - 1
    sample_curves.draw_keys(armature, sample_curves.offset_path(number), frames, values[:, 0])
    weights = sample_curves.weight_curve(armature, chosen)
    if weights is not None:
        sample_curves.draw_keys(armature, sample_curves.weight_path(number), *sample_curves.keys_of(weights).T)


def _check_free(armature: Any, parts: Sequence[str], axis: str) -> None:
    """Raise CoreError if a track has one of the bones of these parts about the axis already."""
    skeleton = bridge.read_rig(armature).skeleton
    roles, names = bridge.read_roles(armature, skeleton), skeleton.names

    def bones(some: Iterable[str]) -> set[int]:
        return {bone for part in some for bone in ([names.index(part)] if part in names else bones_of(roles, part))}

    for track in armature.poise_tracks:
        if track.axis == axis:
            rest = range(0 if axis == "ALL" else len(names))  # a track of all parts has those that are left
            shared = bones(parts) & (bones(part.part for part in track.parts) or set(rest))
            if shared:
                about = "" if axis == "ALL" else f" about {axis}"
                raise CoreError(f'Another track already moves the bone "{names[min(shared)]}"{about}.')


def remove_track(armature: Any) -> str:
    """Remove the active track and return its label; raises CoreError for the last one."""
    number, count = sample_curves.active_track(armature), len(armature.poise_tracks)
    if number < linked_count(armature, "poise_tracks"):
        raise CoreError(f'This track of "{armature.name}" belongs to the linked file. Remove it there.')
    if count == 1:
        raise CoreError("A motion needs at least one track.")
    recipe = read_recipe_of(armature)
    del recipe["tracks"][number]
    armature.poise_recipe = json.dumps(recipe)
    curves = sample_curves.object_curves(armature)
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


def edited_recipe(armature: Any, fps: float) -> tuple[RecipeFile, int]:
    """Return the recipe of the generated motion with the present samples and phases, and its first frame.

    The motion begins earlier than before where samples do. Raises CoreError if there is no generated motion now, or if
    a track has no samples.
    """
    sample_curves.check_generated(armature)
    recipe = recipe_with_own_poses(armature, read_recipe_of(armature), "")
    tracks: list[Any] = []
    for number, (given, _) in enumerate(recipe.tracks):
        track = armature.poise_tracks[number]
        settings: dict[str, Any] = {"gamma": track.gamma, "straight": track.straight}
        settings |= {"width": track.width} if track.width > 0.0 else {}
        settings |= {} if track.axis == "ALL" else {"axis": track.axis}
        parts = tuple(part.part for part in track.parts) or given
        tracks.append((parts, sample_curves.read_samples(armature, number, fps, settings)))
    settings = {} if recipe.path is None else {k: v for k, v in recipe.path.more.items() if k != "weights"}
    path = sample_curves.read_samples(armature, None, fps, settings)
    last = max((samples.times[-1] for _, samples in tracks), default=recipe.seconds)
    supports, flights = _edited_phases(armature, fps, last)
    more = {"path": path, "supports": supports, "flights": flights, "stay": armature.poise_stay}
    edited = replace(recipe, tracks=tuple(tracks), seconds=max(last, 1.0 / fps), **more)
    first = min(samples.times[0] for samples in (*(samples for _, samples in tracks), *filter(None, [path])))
    earlier = max(0, int(np.ceil(-first * fps - sample_curves.SAME)))
    return edited.with_times(lambda seconds: seconds + earlier / fps), armature.poise_generated_start - earlier


def _constant(offset: float, samples: Samples) -> Samples:
    """Return one sample, which is a constant, of the same axis."""
    return Samples((0.0,), ((offset,),), {name: axis for name, axis in samples.more.items() if name == "axis"})


def saved_recipe(context: Any, armature: Any, name: str) -> dict[str, Any]:
    """Return the recipe of the generated motion as JSON data, with samples, phases and settings as they are now.

    Key poses of a human body are angles by its parts, and bones of its tracks have roles, so that it does for others.
    Raises CoreError as `edited_recipe`.
    """
    render = context.scene.render
    recipe, start = edited_recipe(armature, render.fps / render.fps_base)
    edit = Generated(context, armature, recipe, start)
    if edit.roles.humanoid:
        low, high = (Angles(angles_of(edit.skeleton, edit.roles, pose)) for pose in (edit.low, edit.high))
        tracks = tuple((_by_role(edit, parts), samples) for parts, samples in recipe.tracks)
        recipe = replace(recipe, low=low, high=high, tracks=tracks)
    return recipe_data(replace(recipe, name=name), edit.skeleton.names)


def _by_role(edit: Generated, parts: tuple[str, ...] | str) -> tuple[str, ...] | str:
    """Return the bones of a track by their roles; what is said by part stays as it is."""
    names = edit.skeleton.names
    by_name = not isinstance(parts, str) and all(part in names for part in parts)
    return by_role(edit.roles, names, parts) if by_name else parts


def show_generated_frame(context: Any, armature: Any) -> None:
    """Give the armature the pose that the generated motion has in the present frame, without keys.

    Tracks whose offset was changed there take that, the others the value of their samples; so does the path.
    """
    render, frame = context.scene.render, context.scene.frame_current
    recipe, start = edited_recipe(armature, render.fps / render.fps_base)
    changed = {
        number: track.offset
        for number, track in enumerate(armature.poise_tracks)
        if abs(track.offset - sample_curves.sample_curve(armature, number).evaluate(frame)) > CHANGED
    }
    tracks = [
        (parts, _constant(changed[number], samples) if number in changed else samples)
        for number, (parts, samples) in enumerate(recipe.tracks)
    ]
    path, present = recipe.path, tuple(armature.poise_path)
    moved = float(np.abs(np.subtract(present, sample_curves.path_values(armature, frame))).max()) > CHANGED
    if moved:
        path = Samples((0.0,), (present,))
    edit = Generated(context, armature, replace(recipe, tracks=tuple(tracks), path=path), start)
    pose = edit.pose_of_frame(frame)
    update(context)  # evaluates the restored action before changed properties and the pose are set
    with temporary_value(armature, "poise_generated", None):  # else each change would show a pose
        for number, offset in changed.items():
            armature.poise_tracks[number].offset = offset
        if moved:
            armature.poise_path = present
    edit.show_pose(armature, pose)


def rewrite_generated(armature: Any, edit: Generated) -> Report:
    """Write the generated motion again into its action, and remove its keys outside of its present frames."""
    recipe, fit = edit.recipe, sample_curves.object_curves(armature).find("poise_tracks[0].fit")
    first, last = edit.before.frames[[0, -1]].tolist()
    was = (first, last) if fit is None else fit.range()
    report = edit.write(armature, new=False)
    for begin, end in ((was[0], first - 1.0), (last + 1.0, was[1])):
        bridge.remove_keys(armature, edit.rig, np.flatnonzero(edit.always_keyed), begin, end)
    if first != armature.poise_generated_start:
        armature.poise_generated_start = round(first)
    for number, samples in _all_samples(recipe):  # weights move to the frames of their samples
        sample_curves.draw_weights(armature, number, samples, first, edit.before.fps)
    draw_fits(armature, recipe, edit)
    return report
