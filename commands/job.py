"""The job: what `solve` is asked to do, read from JOB.json and checked before anything is touched.

`parse` takes what `json.loads` gives; every mistake is a CoreError that names the field: 'goals[2].positon: unknown
field; did you mean "position"?'. Objects, bones and actions are looked up by `solve.perform`.

What JOB.json leaves open, as decided here:
- a goal's `ease` lies inside its `frames` (the job's, if it has none): the goal is off before the first and after the
  last of them, blends over the first and the last `ease` frames, and is fully on, and measured, between;
- `write.bones` is "changed" or a list of bones. Keyed are always the bones that changed, in every frame; with a list no
  other bone may move, so that the goals are solved with these bones alone;
- quaternions are normalised; a weight must be positive (a goal that is off is left out);
- the default name "<old action> poise" ("<armature> poise" where there is none) gets Blender's number if it is taken;
- numbers are JSON numbers: no strings, no true or false, no NaN or Infinity.
"""

import difflib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Final, Literal

from ..core import CoreError

VERSION: Final = 1
FRAME_LIMIT: Final = 1048574  # Blender's MAXFRAME
NAME_BYTES: Final = 63  # of an action, in Blender 4.5 (MAX_ID_NAME without its two letters and the end)
LARGEST: Final = 1e9  # metres; beyond it single precision, and so Blender, has no millimetres to speak of

Space = Literal["world", "armature"]
Wins = Literal["pins", "drag"]
Root = Literal["hold", "free", "translate", "fixed"]  # hold: fixed if all goals are met so, else free
Point = Literal["head", "tail"] | tuple[float, ...]

_SHOWN: Final = 40  # characters of a wrong value in a message

_METHODS: Final = ("pins", "ccd", "humanoid")
_JOB: Final = ("version", "armature", "frames", "space", "method", "goals", "tolerance", "write")
_JOB_LATER: Final = ("root", "balance", "stiffness", "limits", "joint_targets")
_GOAL: Final = ("bone", "pin", "at", "position", "rotation", "point", "frames", "ease", "weight", "priority")
_GOAL_LATER: Final = ("role", "look_at", "relative_to", "distance")


@dataclass(frozen=True)
class Held:
    """Where the motion has the bone: at each frame, or always where it is at frame `at`."""

    at: int | None = None


@dataclass(frozen=True)
class Fixed:
    """A point (3,) or a unit quaternion (4,)."""

    value: tuple[float, ...]


@dataclass(frozen=True)
class Followed:
    """The origin, or the orientation, of an object."""

    object: str


@dataclass(frozen=True)
class Path:
    """Points at frames: linear between, held outside."""

    frames: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]


Target = Held | Fixed | Followed | Path


@dataclass(frozen=True)
class JobGoal:
    """One bone's wish. `frames` None: as long as the job; `priority` None: what `wins` says."""

    bone: str
    position: Target | None = None
    rotation: Target | None = None
    point: Point = "head"
    space: Space = "world"
    frames: tuple[int, int] | None = None
    ease: int = 0
    weight: float = 1.0
    priority: int | None = None

    @property
    def kind(self) -> Literal["pin", "drag"]:
        """Whether the bone is held or led somewhere else."""
        wanted = [target for target in (self.position, self.rotation) if target is not None]
        return "pin" if all(isinstance(target, Held) for target in wanted) else "drag"


@dataclass(frozen=True)
class Tolerance:
    """Metres and degrees, in the goal's own space."""

    position: float = 0.001
    rotation: float = 0.5


@dataclass(frozen=True)
class Write:
    """`new`: into a new action of the name `action` (None: the default name); else into the present one. `key`: a job
    without frames keys the current frame."""

    new: bool = True
    action: str | None = None
    bones: tuple[str, ...] | None = None
    key: bool = False


@dataclass(frozen=True)
class Job:
    """A whole job. `frames` None: the current frame. `limits` and `root` are not in JOB.json yet, but on the panel."""

    goals: tuple[JobGoal, ...]
    armature: str | None = None
    frames: tuple[int, int] | None = None
    wins: Wins = "pins"
    tolerance: Tolerance = field(default_factory=Tolerance)
    write: Write = field(default_factory=Write)
    limits: bool = True
    root: Root = "free"

    def __post_init__(self) -> None:
        if not self.goals:
            raise CoreError("goals: there has to be at least one goal.")
        if self.frames is not None:
            check_range(self.frames, "frames")
            if not self.write.key:
                raise CoreError('write.key: a job with "frames" is keyed; without "frames" the current frame is posed.')
        for number, goal in enumerate(self.goals):
            self._check_times(goal, f"goals[{number}]")

    def _check_times(self, goal: JobGoal, where: str) -> None:
        if self.frames is None:
            if goal.frames is not None or goal.ease:
                name = "ease" if goal.frames is None else "frames"
                raise CoreError(f'{where}.{name}: only in a job that has "frames" itself.')
            return
        first, last = goal.frames or self.frames
        check_range((first, last), f"{where}.frames")
        if 2 * goal.ease > last - first:
            raise CoreError(f"{where}.ease: {goal.ease} frames in and out do not fit into {first} to {last}.")
        if first + goal.ease > self.frames[1] or last - goal.ease < self.frames[0]:
            raise CoreError(
                f"{where}.frames: {first} to {last} are never fully on within the job's frames "
                f"{self.frames[0]} to {self.frames[1]}."
            )


def read(path: FilePath) -> Job:
    """The job in a file; raises CoreError, beginning with the file's name, if it cannot be read or makes no job."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_without_twins))
    except OSError as error:
        raise CoreError(f'The job file "{path}" cannot be read: {error.strerror or error}.') from error
    except UnicodeDecodeError as error:
        raise CoreError(f'The job file "{path}" is not UTF-8 text.') from error
    except json.JSONDecodeError as error:
        raise CoreError(f'The job file "{path}" is not JSON: {error.msg} in line {error.lineno}.') from error
    except RecursionError as error:  # Python's JSON reader calls itself
        raise CoreError(f'The job file "{path}" is nested too deeply.') from error
    except CoreError as error:
        raise CoreError(f'The job file "{path}": {error}') from error
    except ValueError as error:  # e.g. an integer of thousands of digits
        raise CoreError(f'The job file "{path}" is not JSON that Poise can read: {error}.') from error


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise CoreError(f"{twice[:_SHOWN]}: given twice.")
    return fields


def parse(data: object) -> Job:
    """A job from JSON data; raises CoreError naming the field that is wrong."""
    fields = _fields(data, "", _JOB, _JOB_LATER)
    if "version" not in fields:
        raise CoreError(f"version: missing; this is version {VERSION}.")
    version = fields["version"]
    if version != VERSION or isinstance(version, bool):
        raise CoreError(f"version: this Poise reads version {VERSION}, not {_shown(version)}.")
    space = _choice(fields.get("space", "world"), "space", ("world", "armature"))
    goals = _list(fields.get("goals", []), "goals")
    return Job(
        goals=tuple(_goal(goal, f"goals[{number}]", space) for number, goal in enumerate(goals)),
        armature=_name(fields["armature"], "armature") if "armature" in fields else None,
        frames=_range(fields["frames"], "frames") if "frames" in fields else None,
        wins=_method(fields.get("method", {})),
        tolerance=_tolerance(fields.get("tolerance", {})),
        write=_write(fields.get("write", {}), "frames" in fields),
    )


def _method(data: object) -> Any:
    fields = _fields(data, "method", ("name", "wins"))
    name = _choice(fields.get("name", "pins"), "method.name", _METHODS)
    if name != "pins":
        raise CoreError(f'method.name: "{name}" comes with a later version of Poise; there is "pins".')
    return _choice(fields.get("wins", "pins"), "method.wins", ("pins", "drag"))


def _tolerance(data: object) -> Tolerance:
    fields = _fields(data, "tolerance", ("position", "rotation"))
    return Tolerance(**{name: _positive(value, f"tolerance.{name}") for name, value in fields.items()})


def _write(data: object, framed: bool) -> Write:
    fields = _fields(data, "write", ("action", "bones", "key"))
    key = fields.get("key", framed)
    if not isinstance(key, bool):
        raise CoreError(f"write.key: needs true or false, not {_shown(key)}.")
    bones = fields.get("bones", "changed")
    if bones != "changed":
        bones = tuple(_name(bone, f"write.bones[{i}]") for i, bone in enumerate(_list(bones, "write.bones")))
    action = fields.get("action")
    if "action" in fields and not key and not framed:
        raise CoreError('write.action: nothing is keyed without "frames" or "key": true.')
    if action is not None and len(_name(action, "write.action").encode()) > NAME_BYTES:
        raise CoreError(f"write.action: a name has at most {NAME_BYTES} bytes.")
    return Write(
        new="action" not in fields or action is not None,
        action=action,
        bones=None if bones == "changed" else bones,
        key=key,
    )


def _goal(data: object, where: str, space: Any) -> JobGoal:
    fields = _fields(data, where, _GOAL, _GOAL_LATER)
    if "bone" not in fields:
        raise CoreError(f"{where}.bone: missing.")
    targets = _pinned(fields, where)
    for name, read_target in (("position", _position), ("rotation", _rotation)):
        if name not in fields:
            continue
        if name in targets:
            raise CoreError(f"{where}.{name}: the bone cannot be pinned and led in {name}; leave one of them out.")
        targets[name] = read_target(fields[name], f"{where}.{name}")
    if not targets:
        raise CoreError(f'{where}: needs "pin", "position" or "rotation".')
    return JobGoal(
        bone=_name(fields["bone"], f"{where}.bone"),
        **targets,
        point=_point(fields.get("point", "head"), f"{where}.point"),
        space=space,
        frames=_range(fields["frames"], f"{where}.frames") if "frames" in fields else None,
        ease=_whole(fields.get("ease", 0), f"{where}.ease", 0),
        weight=_positive(fields.get("weight", 1.0), f"{where}.weight"),
        priority=_whole(fields["priority"], f"{where}.priority", 0) if "priority" in fields else None,
    )


def _pinned(fields: dict[str, Any], where: str) -> dict[str, Any]:
    if "pin" not in fields:
        if "at" in fields:
            raise CoreError(f'{where}.at: only with "pin".')
        return {}
    at = _whole(fields["at"], f"{where}.at", -FRAME_LIMIT) if "at" in fields else None
    pins = _list(fields["pin"], f"{where}.pin")
    if not pins:
        raise CoreError(f'{where}.pin: needs "position", "rotation" or both.')
    return {_choice(pin, f"{where}.pin[{i}]", ("position", "rotation")): Held(at) for i, pin in enumerate(pins)}


def _position(data: object, where: str) -> Target:
    if isinstance(data, list):
        return Fixed(_numbers(data, where, 3))
    fields = _one_of(data, where, ("object", "path"), "[x, y, z]")
    if "object" in fields:
        return Followed(_name(fields["object"], f"{where}.object"))
    rows = _list(fields["path"], f"{where}.path")
    if not rows:
        raise CoreError(f"{where}.path: needs at least one [frame, x, y, z].")
    points = [_numbers(row, f"{where}.path[{i}]", 4) for i, row in enumerate(rows)]
    for i in range(1, len(points)):
        if points[i][0] <= points[i - 1][0]:
            raise CoreError(f"{where}.path[{i}]: the frames of a path must increase.")
    return Path(tuple(p[0] for p in points), tuple(p[1:] for p in points))


def _rotation(data: object, where: str) -> Target:
    if not isinstance(data, list):
        fields = _one_of(data, where, ("object",), "[w, x, y, z]")
        return Followed(_name(fields["object"], f"{where}.object"))
    values = _numbers(data, where, 4)
    length = math.hypot(*values)
    if length == 0.0:
        raise CoreError(f"{where}: the quaternion 0, 0, 0, 0 is no rotation.")
    return Fixed(tuple(value / length for value in values))


def _point(data: object, where: str) -> Any:
    if isinstance(data, list):
        return _numbers(data, where, 3)
    return _choice(data, where, ("head", "tail"), "[x, y, z]")


def _fields(data: object, where: str, known: Sequence[str], later: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of a JSON object, all of them known."""
    if not isinstance(data, dict):
        raise CoreError(f"{where or 'The job'}: needs an object in braces, not {_shown(data)}.")
    for name in data:
        path = f"{where}.{name}" if where else str(name)
        if name in later:
            raise CoreError(f"{path}: comes with a later version of Poise.")
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            raise CoreError(f"{path}: unknown field" + (f'; did you mean "{near[0]}"?' if near else "."))
    return data


def _one_of(data: object, where: str, names: Sequence[str], plain: str) -> dict[str, Any]:
    """An object with exactly one of these fields."""
    if not isinstance(data, dict):
        forms = " or ".join([plain, *(f'{{"{name}": ...}}' for name in names)])
        raise CoreError(f"{where}: needs {forms}, not {_shown(data)}.")
    fields = _fields(data, where, names)
    if len(fields) != 1:
        raise CoreError(f"{where}: needs one of {', '.join(names)}.")
    return fields


def _list(data: object, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise CoreError(f"{where}: needs a list, not {_shown(data)}.")
    return data


def _name(data: object, where: str) -> str:
    if not isinstance(data, str) or not data:
        raise CoreError(f"{where}: needs a name, not {_shown(data)}.")
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in data):
        raise CoreError(f"{where}: has a character that no name in Blender can have.")
    return data


def _choice(data: object, where: str, names: Sequence[str], *forms: str) -> Any:
    if not isinstance(data, str) or data not in names:
        wanted = " or ".join([*(f'"{name}"' for name in names), *forms])
        raise CoreError(f"{where}: needs {wanted}, not {_shown(data)}.")
    return data


def _number(data: object, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        raise CoreError(f"{where}: needs a number, not {_shown(data)}.")
    if not abs(data) <= LARGEST:  # false for NaN, too
        raise CoreError(f"{where}: {_shown(data)} is not a finite number of a sensible size.")
    return float(data)


def _numbers(data: object, where: str, count: int) -> tuple[float, ...]:
    values = _list(data, where)
    if len(values) != count:
        raise CoreError(f"{where}: needs {count} numbers, not {len(values)}.")
    return tuple(_number(value, f"{where}[{i}]") for i, value in enumerate(values))


def _positive(data: object, where: str) -> float:
    value = _number(data, where)
    if value <= 0.0:
        raise CoreError(f"{where}: must be more than 0, not {_shown(data)}.")
    return value


def _whole(data: object, where: str, least: int) -> int:
    value = _number(data, where)
    if not value.is_integer():
        raise CoreError(f"{where}: needs a whole number, not {_shown(data)}.")
    if not least <= value <= FRAME_LIMIT:
        raise CoreError(f"{where}: must be between {least} and {FRAME_LIMIT}, not {_shown(data)}.")
    return int(value)


def _range(data: object, where: str) -> tuple[int, int]:
    values = _list(data, where)
    if len(values) != 2:
        raise CoreError(f"{where}: needs the first and the last frame, not {len(values)} numbers.")
    first, last = (_whole(value, f"{where}[{i}]", -FRAME_LIMIT) for i, value in enumerate(values))
    return check_range((first, last), where)


def check_range(frames: tuple[int, int], where: str) -> tuple[int, int]:
    """The same frames; raises CoreError if the last comes before the first."""
    if frames[1] < frames[0]:
        raise CoreError(f"{where}: the range runs backwards, from {frames[0]} to {frames[1]}.")
    return frames


def _shown(data: object) -> str:
    """A wrong value as the user wrote it, short."""
    huge = isinstance(data, int) and abs(data) > LARGEST  # Python refuses to print integers of thousands of digits
    text = "a huge number" if huge else json.dumps(data, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
