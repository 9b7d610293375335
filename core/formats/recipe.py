"""The recipe: a motion from two key poses as JSON, for any body; read and checked before anything is touched.

    {"version": 1, "name": "wave", "seconds": 2.0,
     "poses": {"min": POSE, "max": POSE},
     "tracks": [{"parts": "all", "samples": [0.5, 0, 1]}, {"bones": ["hat"], "samples": [[0.0, 0.5], [0.7, 1.0]]}],
     "path": {"samples": [[0.0, left, forward, up], ...]},
     "supports": [{"role": "foot.L", "seconds": [0.0, 0.4], "at": 0.4}],
     "flights": [[0.4, 0.9]]}

POSE: angles in degrees by role or part on top of the relaxed pose (`body.anatomy.pose_from_angles`), {"frame": 12} of
the armature's motion, {"action": "NAME"} with or without a frame, or "present". Samples are offsets at equal times over
the `seconds`, or pairs of a time and an offset: 0 is the min pose, 1 the max pose. `parts` are roles, "arm.L", "leg.R",
"spine", or "all" that no other track has. Places of the path are in leg lengths. A track and the path may have
`weights` of their samples, the `width` of the kernel in seconds, and `gamma`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .. import CoreError
from ..body import SIDES, Roles
from ..generate import Flight, RootPath, Track
from ..generate.curves import GAMMA
from ..generate.recipe import ALL
from .fields import (
    FRAME_LIMIT,
    check_range,
    read_between,
    read_fields,
    read_json,
    read_list,
    read_name,
    read_number,
    read_numbers,
    read_positive,
    read_whole,
    shown,
)
from .job import VERSION

PRESETS: Final = Path(__file__).parent / "recipes"
LIMBS: Final = {
    "arm": ("shoulder", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "pinky"),
    "leg": ("thigh", "shin", "foot", "toe"),
}  # fmt: skip
TRUNK: Final = ("spine", "neck", "head")


@dataclass(frozen=True)
class Angles:
    """A pose by degrees of the joints of a human body."""

    degrees: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Moment:
    """The pose that the armature has in an action, or in the motion that it has now; None: as it stands now."""

    frame: int | None = None
    action: str | None = None


@dataclass(frozen=True)
class Samples:
    """A track or a path before it has bones: what `Track` and `RootPath` take but those."""

    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Support:
    """A part of the body bears from one second to another, where it is at `at`."""

    role: str
    start: float
    end: float
    at: float


@dataclass(frozen=True)
class RecipeFile:
    """A recipe as it is in a file; `tracks` by the parts or bones that they are of."""

    name: str
    seconds: float
    low: Angles | Moment
    high: Angles | Moment
    tracks: tuple[tuple[tuple[str, ...] | str, Samples], ...]
    path: Samples | None = None
    supports: tuple[Support, ...] = ()
    flights: tuple[Flight, ...] = ()


def read_recipe(path: Path) -> RecipeFile:
    """The recipe in a file, or of the presets where there is no such file ("jump.json", "jump")."""
    preset = PRESETS / f"{path.stem}.json"
    if not path.exists() and path.parent == Path() and path.suffix in ("", ".json") and preset.exists():
        path = preset
    return read_json(path, "recipe", parse_recipe)


def preset_names() -> list[str]:
    return sorted(file.stem for file in PRESETS.glob("*.json"))


def parse_recipe(data: object) -> RecipeFile:
    """A recipe from JSON data; raises CoreError naming the field that is wrong."""
    known = ("version", "name", "seconds", "poses", "tracks", "path", "supports", "flights")
    fields = read_fields(data, "", known)
    for name in ("version", "seconds", "poses"):
        if name not in fields:
            raise CoreError(f"{name}: missing.")
    if fields["version"] != VERSION or isinstance(fields["version"], bool):
        raise CoreError(f"version: this Poise reads version {VERSION}, not {shown(fields['version'])}.")
    seconds = read_positive(fields["seconds"], "seconds")
    poses = read_fields(fields["poses"], "poses", ("min", "max"))
    for name in ("min", "max"):
        if name not in poses:
            raise CoreError(f"poses.{name}: missing.")
    return RecipeFile(
        name=read_name(fields.get("name", "motion"), "name"),
        seconds=seconds,
        low=_pose(poses["min"], "poses.min"),
        high=_pose(poses["max"], "poses.max"),
        tracks=tuple(
            _track(track, f"tracks[{i}]", seconds)
            for i, track in enumerate(read_list(fields.get("tracks", []), "tracks"))
        ),
        path=_samples(fields["path"], "path", seconds, 3) if "path" in fields else None,
        supports=tuple(
            _support(support, f"supports[{i}]")
            for i, support in enumerate(read_list(fields.get("supports", []), "supports"))
        ),
        flights=tuple(
            Flight(*read_numbers(flight, f"flights[{i}]", 2))
            for i, flight in enumerate(read_list(fields.get("flights", []), "flights"))
        ),
    )


def _pose(data: object, where: str) -> Angles | Moment:
    if data == "present":
        return Moment()
    if isinstance(data, dict) and {"frame", "action"} & set(data):
        fields = read_fields(data, where, ("frame", "action"))
        frame = read_whole(fields["frame"], f"{where}.frame", -FRAME_LIMIT) if "frame" in fields else None
        return Moment(frame, read_name(fields["action"], f"{where}.action") if "action" in fields else None)
    if not isinstance(data, dict):
        raise CoreError(f'{where}: needs angles by role, {{"frame": ...}}, {{"action": ...}} or "present".')
    return Angles({str(role): read_numbers(angles, f"{where}.{role}", 3) for role, angles in data.items()})


def _track(data: object, where: str, seconds: float) -> tuple[tuple[str, ...] | str, Samples]:
    of = "bones" if isinstance(data, dict) and "bones" in data else "parts"
    known = (of, "samples", "weights", "width", "gamma")
    parts = read_fields(data, where, known).get(of, ALL)
    if parts != ALL:
        parts = tuple(read_name(part, f"{where}.{of}[{i}]") for i, part in enumerate(read_list(parts, f"{where}.{of}")))
    rest = {name: value for name, value in data.items() if name != of} if isinstance(data, dict) else data
    return parts, _samples(rest, where, seconds, 1)


def _samples(data: object, where: str, seconds: float, width: int) -> Samples:
    fields = read_fields(data, where, ("samples", "weights", "width", "gamma"))
    given = read_list(fields.get("samples"), f"{where}.samples")
    rows: list[tuple[float, ...]] = []
    for number, sample in enumerate(given):
        place = f"{where}.samples[{number}]"
        if isinstance(sample, list):
            rows.append(read_numbers(sample, place, width + 1))
        elif width == 1:
            time = seconds * number / max(len(given) - 1, 1)
            rows.append((time, read_number(sample, place)))
        else:
            raise CoreError(f"{place}: needs a time and a place of three numbers, not {shown(sample)}.")
    more: dict[str, Any] = {"gamma": read_positive(fields.get("gamma", GAMMA), f"{where}.gamma")}
    if "width" in fields:
        more["width"] = read_positive(fields["width"], f"{where}.width")
    if "weights" in fields:
        more["weights"] = read_numbers(fields["weights"], f"{where}.weights", len(rows))
    return Samples(tuple(row[0] for row in rows), tuple(row[1:] for row in rows), more)


def _support(data: object, where: str) -> Support:
    fields = read_fields(data, where, ("role", "seconds", "at"))
    start, end = read_numbers(fields.get("seconds"), f"{where}.seconds", 2)
    check_range((start, end), f"{where}.seconds")  # pyright: ignore[reportArgumentType]
    at = read_between(fields.get("at", start), f"{where}.at", start, end)
    return Support(read_name(fields.get("role"), f"{where}.role"), start, end, at)


def track_of(samples: Samples, bones: str | tuple[int, ...]) -> Track:
    return Track(bones, samples.times, [value[0] for value in samples.values], **samples.more)  # pyright: ignore


def path_of(samples: Samples, unit: Any) -> RootPath:
    """`unit` (3, 3): what the rows of left, forward and up are in armature units."""
    return RootPath(samples.times, samples.values @ unit, **samples.more)  # pyright: ignore


def bones_of(roles: Roles, part: str) -> list[int]:
    """The bones of a role, of a limb with all that is on it, or of the spine up to the head."""
    name, _, side = part.partition(".")
    wanted = [part]
    if name in LIMBS and side in SIDES:
        wanted = [f"{role}.{side}" for role in LIMBS[name]]
    elif part == "spine":
        wanted = list(TRUNK)
    found: list[int] = []
    for role in wanted:
        bones = roles.bones.get(role, roles.limbs.get(role, ()))
        found += [bones] if isinstance(bones, int) else bones
        found += roles.twist.get(role, ())
    if not found:
        raise CoreError(f'The body has no "{part}".')
    return found
