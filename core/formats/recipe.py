"""The recipe: a motion from two key poses as JSON, for any body; read and checked before anything is changed.

Angles of a pose are degrees by role or part on top of the relaxed pose (`body.anatomy.pose_from_angles`). Samples are
offsets at equal times over the `seconds`, or pairs of a time and an offset: 0 is the min pose, 1 the max pose.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import CoreError
from ..body import SIDES, Roles
from ..generate import Flight, RootPath, Track
from ..generate.curves import GAMMA
from ..generate.recipe import ALL
from ..solvers.chain.actuations import AXES
from .files import read_json
from .table import (
    BLENDER_NAME,
    FLAG,
    FRAME,
    NAME,
    THE_VERSION,
    VERSION,
    Field,
    Table,
    any_of,
    by_type,
    check_range,
    choice,
    list_of,
    number,
    object_of,
    or_word,
    unread,
    vector,
)

LONGEST: Final = 600.0  # seconds of a motion; also leg lengths of its path and offsets of its tracks
SAMPLES: Final = 2000  # of a track or a path, at most: its curve takes memory with their square
_TURN: Final = 360.0  # degrees
PRESETS: Final = Path(__file__).parent / "recipes"
_LIMBS: Final = {
    "arm": ("shoulder", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "pinky"),
    "leg": ("thigh", "shin", "foot", "toe"),
}  # fmt: skip
_TRUNK: Final = ("spine", "neck", "head")


@dataclass(frozen=True)
class Angles:
    """A pose by degrees of the joints of a human body."""

    degrees: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Moment:
    """The pose of the armature at a frame of an action, by default of its own motion; without both the current pose."""

    frame: int | None = None
    action: str | None = None


@dataclass(frozen=True)
class Samples:
    """The samples of a track or a path, without bones: `track_of` and `path_of` make `Track` and `RootPath` of them."""

    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Support:
    """A part of the body that stands from second `start` to `end`, where the motion has it at second `at`."""

    role: str
    start: float
    end: float
    at: float


class Named(tuple[str, ...]):
    """Bones of a track by name, or by a role that they have: about their own axes."""


@dataclass(frozen=True)
class RecipeFile:
    """A recipe as it is in a file; each of the `tracks` with its parts of the body or its `Named` bones."""

    seconds: float
    low: Angles | Moment
    high: Angles | Moment
    tracks: tuple[tuple[tuple[str, ...] | str, Samples], ...]
    name: str = "motion"
    path: Samples | None = None
    supports: tuple[Support, ...] = ()
    flights: tuple[Flight, ...] = ()
    stay: bool = True

    def with_times(self, moved: Callable[[float], float]) -> "RecipeFile":
        """Return the recipe with each of its times moved; of samples that come to one time the last one is kept."""

        def samples(one: Samples) -> Samples:
            kept = {moved(time): row for row, time in enumerate(one.times)}
            weights = one.more.get("weights")
            more = {} if weights is None else {"weights": tuple(weights[row] for row in kept.values())}
            return replace(
                one,
                times=tuple(kept),
                values=tuple(one.values[row] for row in kept.values()),
                more={**one.more, **more},
            )

        return replace(
            self,
            seconds=moved(self.seconds),
            tracks=tuple((parts, samples(track)) for parts, track in self.tracks),
            path=None if self.path is None else samples(self.path),
            supports=tuple(
                replace(support, start=moved(support.start), end=moved(support.end), at=moved(support.at))
                for support in self.supports
            ),
            flights=tuple(
                Flight(moved(flight.start), moved(flight.end))
                for flight in self.flights
                if moved(flight.start) < moved(flight.end)
            ),
        )

    def at_frames(self, fps: float) -> "RecipeFile":
        """Return the recipe with all times at whole frames, so that a foot leaves the ground when the body does."""
        return self.with_times(lambda seconds: round(seconds * fps) / fps)


def read_recipe(path: Path) -> RecipeFile:
    """Return the recipe in a file, or the preset of that name where there is no such file ("jump.json", "jump")."""
    preset = PRESETS / f"{path.stem}.json"
    if not path.exists() and path.parent == Path() and path.suffix in ("", ".json") and preset.exists():
        path = preset
    return read_json(path, "recipe", parse_recipe)


def preset_names() -> list[str]:
    """Return the names of the recipes that come with Poise."""
    return sorted(file.stem for file in PRESETS.glob("*.json"))


def parse_recipe(data: object) -> RecipeFile:
    """Return the recipe of JSON data; raises CoreError naming the field that is wrong."""
    values = RECIPE.read(data, "")
    _check_spans(values["seconds"], values.get("flights", ()), values.get("supports", ()))
    seconds = values["seconds"]
    tracks = tuple(
        (of, _timed(samples, seconds, f"tracks[{number}]"))
        for number, (of, samples) in enumerate(values.pop("tracks", ()))
    )
    if values.get("path") is not None:
        _timed(values["path"], seconds, "path")
    return RecipeFile(**values.pop("poses"), tracks=tracks, **values)


def contradict(one: Flight | Support, other: Flight | Support) -> bool:
    """Return whether two of them are at once, but for supports of different parts."""
    apart = isinstance(one, Support) and isinstance(other, Support) and one.role != other.role
    return not apart and one.start < other.end and other.start < one.end


def _check_spans(seconds: float, flights: Sequence[Flight], supports: Sequence[Support]) -> None:
    """Raise CoreError for a flight or a support outside the motion, or at once with another that it contradicts."""
    before: list[tuple[str, Flight | Support]] = []
    spans = [(f"flights[{i}]", span) for i, span in enumerate(flights)]
    spans += [(f"supports[{i}].seconds", span) for i, span in enumerate(supports)]
    for where, span in spans:
        if not 0.0 <= span.start <= span.end <= seconds:
            raise CoreError(f"{where}: {span.start:g} to {span.end:g} is not within the {seconds:g} seconds.")
        for other, taken in before:
            if contradict(span, taken):
                raise CoreError(f"{where}: {span.start:g} to {span.end:g} overlaps with {other}.")
        before.append((where, span))


def _timed(samples: Samples, seconds: float, where: str) -> Samples:
    """Return the samples with times for those that have none: equal parts of all seconds. Raises CoreError."""
    last = max(len(samples.times) - 1, 1)
    times = tuple(seconds * i / last if np.isnan(time) else time for i, time in enumerate(samples.times))
    if any(later <= time for time, later in pairwise(times)):
        raise CoreError(f"{where}.samples: the times of the samples must increase.")
    return replace(samples, times=times)


# -- tables -----------------------------------------------------------------------------------------------------------


def _read_pose(data: Any, where: str) -> Angles | Moment:
    if data == "present":
        return Moment()
    if not isinstance(data, dict):
        raise CoreError(f'{where}: needs angles by role, {{"frame": ...}}, {{"action": ...}} or "present".')
    return (MOMENT.into() if "frame" in data or "action" in data else _ANGLES).read(data, where)


def _samples(values: dict[str, Any], where: str) -> Samples:
    rows = values.pop("samples")
    if "weights" in values:
        values["weights"] = vector(len(rows), number(0.0, 1e6)).read(values["weights"], f"{where}.weights")
    return Samples(tuple(row[0] for row in rows), tuple(row[1:] for row in rows), {"gamma": GAMMA, **values})


def _read_track(data: Any, where: str) -> tuple[tuple[str, ...] | str, Samples]:
    of, table = ("bones", BONE_TRACK) if isinstance(data, dict) and "bones" in data else ("parts", PART_TRACK)
    values = table.read(data, where)  # pyright: ignore[reportUnknownArgumentType]
    parts = values.pop(of, ALL)
    return Named(parts) if of == "bones" and parts != ALL else parts, _samples(values, where)


def _support(values: dict[str, Any], where: str) -> Support:
    start, end = check_range(values["seconds"], f"{where}.seconds")
    at = number(start, end).read(values.get("at", start), f"{where}.at")
    return Support(values["role"], start, end, at)


_OFFSET: Final = number(-LONGEST, LONGEST)
_SMOOTHING: Final = (
    Field("gamma", number(0.0, 1e6, above=True), "use the curve that is closer to its samples", default=GAMMA),
    Field(
        "width", number(0.001, LONGEST), "width of the kernel in seconds; by default from the spacing of the samples"
    ),
    Field("weights", unread(list_of(number(0.0, 1e6))), "weights of the samples, a number each"),
    Field("straight", FLAG, "interpolate linearly between samples instead of fitting a curve"),
)
_AXIS: Final = Field(
    "axis", choice(AXES), "use only the part of the rotation about this axis: for a body part left, up or forward in "
    "a T-pose, for bones their own; the other axes are left to other tracks",
)  # fmt: skip
_OFFSETS: Final = (
    Field("samples",
          list_of(by_type({list: vector(2, _OFFSET)}, _OFFSET.into(lambda offset: (np.nan, offset))), most=SAMPLES),
          "offsets at equal times, or pairs of time and offset", needed="null"),
    *_SMOOTHING,
)  # fmt: skip
_PARTS: Final = or_word(ALL, list_of(NAME))
PART_TRACK: Final = Table(
    (
        Field("parts", _PARTS, 'roles, "arm.L", "leg.R", "spine", or all that no other track moves', default=ALL),
        _AXIS,
        *_OFFSETS,
    )
)
BONE_TRACK: Final = Table((Field("bones", _PARTS, "bones by name, or by role", needed="null"), _AXIS, *_OFFSETS))
PATH: Final = Table(
    (
        Field(
            "samples",
            list_of(
                by_type({list: vector(4, number(-LONGEST, LONGEST))}, "a time and a location of three numbers"),
                most=SAMPLES,
            ),
            "a time, and a location in leg lengths",
            needed="null",
        ),
        *_SMOOTHING,
    )
)
SUPPORT: Final = Table(
    (
        Field("seconds", vector(2), "when the part supports the body, from and to", needed="null"),
        Field("at", unread(number()), "the second from which its location is taken; by default the first one"),
        Field("role", NAME, "the body part", needed="null"),
    )
)
MOMENT: Final = Table(
    (
        Field("frame", FRAME, "frame of the armature's motion, or of the action"),
        Field("action", NAME, "by default the motion of the armature"),
    ),
    Moment,
    more={"minProperties": 1},
)
_ANGLES: Final = object_of(vector(3, number(-_TURN, _TURN)), "angles by role").into(Angles)
_NO_MOMENT: Final = {"propertyNames": {"not": {"enum": [one.name for one in MOMENT.fields]}}}
_POSE: Final = any_of(_read_pose, {"const": "present"}, MOMENT.schema, {**_ANGLES.schema, **_NO_MOMENT})
POSES: Final = Table(
    (
        Field("min", _POSE, "the pose of offset 0", needed="missing.", attribute="low"),
        Field("max", _POSE, "the pose of offset 1", needed="missing.", attribute="high"),
    )
)
RECIPE: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed="missing."),
        Field("name", BLENDER_NAME, "name of the motion"),
        Field("seconds", number(0.0, LONGEST, above=True), "duration of the motion", needed="missing.",
              example='"seconds": 1.2'),
        Field("poses", POSES.kind(),
              'degrees by body part on top of a relaxed pose, about left, up and forward in a T-pose (of '
              'the left side; the right one mirrors it); a frame; `{"action": "crouch"}`; or `"present"`',
              needed="missing.", example='"poses": {"min": {"thigh": [-75, 0, 0]}, "max": {"frame": 12}}'),
        Field("tracks", list_of(any_of(_read_track, PART_TRACK.schema, BONE_TRACK.schema)),
              'offsets at equal times, or pairs of time and offset; `parts` are roles, `"arm.L"`, '
              '`"leg.R"`, `"spine"` or all that no other track moves, or `"bones"` by name; also `axis`, '
              '`straight`, `weights`, `width` and `gamma`',
              example='"tracks": [{"parts": "all", "samples": [0.5, 0, 1]}]'),
        Field("path", PATH.kind().then(_samples),
              "times with the location of the root to the left, forward and up in leg lengths",
              example='"path": {"samples": [[0, 0, 0, 0], [0.6, 0, 0, 0.3]]}'),
        Field("supports", list_of(SUPPORT.kind().then(_support)),
              "keep the foot where it is at that second; the rest of the body adapts",
              example='"supports": [{"role": "foot.L", "seconds": [0, 0.4], "at": 0.4}]'),
        Field("flights", list_of(vector(2).into(lambda ends: Flight(*ends))),
              "the root follows a ballistic arc", example='"flights": [[0.4, 0.9]]'),
        Field("stay", FLAG,
              "stay between samples: no pose goes beyond the key poses, and nothing moves between equal "
              "samples; without it curves are smoother and may overshoot", default=True),
    ),
    RecipeFile,
)  # fmt: skip


def track_of(samples: Samples, bones: str | tuple[int, ...], stay: bool) -> Track:
    """Return the track of these bones; `stay` as of the recipe."""
    return Track(bones, samples.times, [value[0] for value in samples.values], stay=stay, **samples.more)  # pyright: ignore


def path_of(samples: Samples, unit: Any, stay: bool) -> RootPath:
    """Return the path of the root; `unit` (3, 3): the directions left, forward and up, as rows, in armature units."""
    return RootPath(samples.times, samples.values @ unit, stay=stay, **samples.more)  # pyright: ignore


def recipe_data(recipe: RecipeFile, names: Container[str]) -> dict[str, Any]:
    """Return a recipe as JSON data; `names` are those of bones, of which tracks are by bones."""

    def samples(one: Samples) -> dict[str, Any]:
        rows = [
            [round(number, 6) for number in (time, *values)] for time, values in zip(one.times, one.values, strict=True)
        ]
        weights = {"weights": list(one.more["weights"])} if "weights" in one.more else {}
        return {"samples": rows, **{name: value for name, value in one.more.items() if value}, **weights}

    def pose(one: Angles | Moment) -> Any:
        if isinstance(one, Angles):
            return {role: list(degrees) for role, degrees in one.degrees.items()}
        return {name: value for name, value in vars(one).items() if value is not None} or "present"

    def track(parts: Sequence[str] | str, one: Samples) -> dict[str, Any]:
        by_name = isinstance(parts, Named) or (not isinstance(parts, str) and all(part in names for part in parts))
        return {"bones" if by_name else "parts": parts if isinstance(parts, str) else list(parts), **samples(one)}

    optional = {
        "path": None if recipe.path is None else samples(recipe.path),
        "supports": [{"role": one.role, "seconds": [one.start, one.end], "at": one.at} for one in recipe.supports],
        "flights": [[one.start, one.end] for one in recipe.flights],
    }
    return {
        "version": VERSION,
        "name": recipe.name,
        "seconds": recipe.seconds,
        "poses": {"min": pose(recipe.low), "max": pose(recipe.high)},
        "tracks": [track(parts, one) for parts, one in recipe.tracks],
        **{name: value for name, value in optional.items() if value},
        "stay": recipe.stay,
    }


def by_role(roles: Roles, names: Sequence[str], bones: Sequence[str]) -> Named:
    """Return bones by the roles of which they are all bones, so that other bodies have them, and the rest by name."""
    left, found = dict.fromkeys(bones), list[str]()
    for role in roles.bones:
        chain = [names[bone] for bone in roles.chain(role)]
        if role not in names and chain and all(bone in left for bone in chain):
            found.append(role)
            left = {bone: None for bone in left if bone not in chain}
    return Named((*found, *left))


def bones_named(roles: Roles, names: Sequence[str], bones: Named) -> tuple[str, ...]:
    """Return the names of bones by name or by role. Raises CoreError if the body does not have them."""
    found = (
        [bone] if bone in names else [names[i] for i in roles.chain(bone) or bones_of(roles, bone)] for bone in bones
    )
    return tuple(name for part in found for name in part)


def bones_of(roles: Roles, part: str) -> list[int]:
    """Return the bones of a role, of a limb with what hangs on it, or of the spine up to the head.

    Raises CoreError if the body does not have them.
    """
    name, _, side = part.partition(".")
    wanted = [part]
    if name in _LIMBS and side in SIDES:
        wanted = [f"{role}.{side}" for role in _LIMBS[name]]
    elif part == "spine":
        wanted = list(_TRUNK)
    found: list[int] = []
    for role in wanted:
        bones = roles.bones.get(role, roles.limbs.get(role, ()))
        found += [bones] if isinstance(bones, int) else bones
        found += roles.twist.get(role, ())
    if not found:
        raise CoreError(f'The body has no "{part}".')
    return found
