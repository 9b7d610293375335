"""The job: what `solve` is asked to do, read from JOB.json and checked before anything is touched.

`parse` takes what `json.loads` gives; every mistake is a CoreError that names the field: 'goals[2].positon: unknown
field; did you mean "position"?'. Objects, bones and actions are looked up by `solve.perform`.

What JOB.json leaves open, as decided here:
- a goal's `ease` lies inside its `frames` (the job's, if it has none): the goal is off before the first and after the
  last of them, blends over the first and the last `ease` frames, and is fully on, and measured, between;
- `write.bones` is "changed" or a list of bones. Keyed are always the bones that changed, in every frame; with a list no
  other bone may move, so that the goals are solved with these bones alone;
- numbers relative to a bone are in its frame without its scale, in armature units, like a `point`; errors are in the
  job's space all the same. A goal that blends in comes from where the present motion has it in that frame;
- `look_at` goes by what is seen: the axis and the way as the armature object shows them. `axes`, `distance` and
  `balance` in the world need an armature object that is scaled evenly;
- `balance` knows gravity as the world's -Z. Without `supports` the body stands on what is pinned in position in all
  frames of the job. With `masses` bones that are not named weigh nothing; it is their shares that count;
- `joint_targets` "rest" and "relaxed" are about joints: bones without parent, and all locations, stay near the motion,
  in the relaxed pose the hips and what carries them, too;
- `roles` is a mapping as `core/formats/mapping.py` has it, or the name of a file with one, beside the job's;
- quaternions are normalised; a weight must be positive (a goal that is off is left out);
- the default name "<old action> poise" ("<armature> poise" where there is none) gets Blender's number if it is taken;
- numbers are JSON numbers: no strings, no true or false, no NaN or Infinity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from .. import CoreError
from ..body import Roles
from .chain_list import Ccd, read_ccd
from .fields import (
    FRAME_LIMIT,
    check_range,
    read_choice,
    read_fields,
    read_flag,
    read_json,
    read_list,
    read_name,
    read_positive,
    read_range,
    shown,
)
from .goals import JobBalance, JobGoal, Wish, on_bone, read_balance, read_by_bone, read_goal, read_stiffness
from .humanoid import HumanoidSettings, read_humanoid
from .mapping import RoleMapping, parse_mapping, read_mapping

__all__ = ["FRAME_LIMIT", "Job", "Tolerance", "Write", "on_bones", "parse", "read"]

VERSION: Final = 1
NAME_BYTES: Final = 63  # of an action, in Blender 4.5 (MAX_ID_NAME without its two letters and the end)

Wins = Literal["pins", "drag"]
# hold: fixed if all goals are met so, else pull, and over frames free
Root = Literal["hold", "free", "translate", "fixed", "pull"]
Limits = bool | Literal["soft"]
JointTargets = Literal["present", "rest", "relaxed"]

_METHODS: Final = ("pins", "ccd", "humanoid")
_TARGETS: Final = ("present", "rest", "relaxed")
_ROOTS: Final = ("hold", "free", "translate", "fixed", "pull")
_JOB: Final = (
    "version", "armature", "frames", "space", "method", "goals", "balance", "root", "limits", "anatomical_limits",
    "stiffness", "joint_targets", "roles", "stretch", "tolerance", "write",
)  # fmt: skip


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
    """A whole job.

    frames         None: the current frame
    limits         keep them; "soft": they give way where a goal needs it
    anatomical_limits  joints of a human body go no further than those of people; elbows and knees bend their way anyhow
    root           what bones without parent may do; "pull": only what the body cannot reach otherwise
    stiffness      (3,) about the bone's own axes, 0 free to 1 stiff, in place of what the bones have themselves
    joint_targets  what joints stay near, as far as the goals let them
    stretch        bones may grow by their own IK Stretch
    ccd            contribution CCD in place of pins and drag; it takes one goal, and of these settings the limits
    humanoid       the humanoid method in their place; of the settings it takes the limits
    chosen         whether the job names its method
    roles          the parts of the body, where they are neither as found nor as the file has them corrected
    """

    goals: tuple[Wish, ...]
    armature: str | None = None
    frames: tuple[int, int] | None = None
    wins: Wins = "pins"
    tolerance: Tolerance = field(default_factory=Tolerance)
    write: Write = field(default_factory=Write)
    limits: Limits = True
    anatomical_limits: bool = True
    root: Root = "free"
    balance: JobBalance | None = None
    stiffness: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    joint_targets: JointTargets = "present"
    stretch: bool = False
    ccd: Ccd | None = None
    humanoid: HumanoidSettings | None = None
    chosen: bool = field(default=False, compare=False)  # how a job is put is no part of what it says
    roles: RoleMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.goals:
            raise CoreError("goals: there has to be at least one goal.")
        if self.frames is not None:
            check_range(self.frames, "frames")
            if not self.write.key:
                raise CoreError('write.key: a job with "frames" is keyed; without "frames" the current frame is posed.')
        for number, goal in enumerate(self.goals):
            self._check_times(goal, f"goals[{number}]")
        if self.method != "pins":
            self._check_method()

    @property
    def method(self) -> Literal["pins", "ccd", "humanoid"]:
        """Its name."""
        return "ccd" if self.ccd is not None else "humanoid" if self.humanoid is not None else "pins"

    def _check_method(self) -> None:
        """Raises CoreError for what only pins and drag can do."""
        first = self.goals[0]
        places = isinstance(first, JobGoal) and first.position is not None and first.rotation is None
        if self.ccd is not None and not (places and len(self.goals) == 1):
            raise CoreError(
                'goals: "ccd" leads one bone of one chain: give it one goal with a "position" or a pin of it.'
            )
        for number, goal in enumerate(self.goals):
            if self.humanoid is not None and self.humanoid.finish:
                break  # which takes all kinds
            if not isinstance(goal, JobGoal):
                raise CoreError(f"goals[{number}]: looks, distances and the like only with {self._kinds()}.")
            for name, wanted in (("axes", goal.axes), ("relative_to", goal.relative_to)):
                if wanted is not None:
                    raise CoreError(f"goals[{number}].{name}: only with {self._kinds()}.")
        for name in ("root", "anatomical_limits", "balance", "stiffness", "joint_targets", "stretch"):
            if getattr(self, name) != getattr(Job, name, {}):
                raise CoreError(f'{name}: only with the method "pins".')
        if self.limits == "soft":
            raise CoreError('limits: "soft" only with the method "pins".')

    def _kinds(self) -> str:
        """What takes goals of all kinds."""
        return 'the method "pins"' if self.humanoid is None else '"finish", or with the method "pins"'

    def _check_times(self, goal: Wish, where: str) -> None:
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


def read(path: Path) -> Job:
    """The job in a file; raises CoreError, beginning with the file's name, if it cannot be read or makes no job."""
    return read_json(path, "job", lambda data: parse(data, path.parent))


def parse(data: object, folder: Path | None = None) -> Job:
    """A job from JSON data; raises CoreError naming the field that is wrong.

    Files that it names are looked for in `folder`, by default the present one.
    """
    fields = read_fields(data, "", _JOB)
    if "version" not in fields:
        raise CoreError(f"version: missing; this is version {VERSION}.")
    version = fields["version"]
    if version != VERSION or isinstance(version, bool):
        raise CoreError(f"version: this Poise reads version {VERSION}, not {shown(version)}.")
    space = read_choice(fields.get("space", "world"), "space", ("world", "armature"))
    goals = read_list(fields.get("goals", []), "goals")
    return Job(
        goals=tuple(read_goal(goal, f"goals[{number}]", space) for number, goal in enumerate(goals)),
        armature=read_name(fields["armature"], "armature") if "armature" in fields else None,
        frames=read_range(fields["frames"], "frames") if "frames" in fields else None,
        **_method(fields.get("method", {})),
        chosen=bool(fields.get("method")),
        tolerance=_tolerance(fields.get("tolerance", {})),
        write=_write(fields.get("write", {}), "frames" in fields),
        limits=_limits(fields.get("limits", True)),
        anatomical_limits=read_flag(fields.get("anatomical_limits", True), "anatomical_limits"),
        root=read_choice(fields.get("root", "free"), "root", _ROOTS),
        balance=read_balance(fields.get("balance", False), space),
        stiffness=read_by_bone(fields.get("stiffness", {}), "stiffness", read_stiffness),
        joint_targets=read_choice(fields.get("joint_targets", "present"), "joint_targets", _TARGETS),
        stretch=read_flag(fields.get("stretch", False), "stretch"),
        roles=_roles(fields.get("roles", {}), folder or Path()),
    )


def on_bones(job: Job, roles: Roles, names: tuple[str, ...]) -> Job:
    """The job for one armature: goals of parts of the body are goals of its bones."""
    goals = (on_bone(goal, f"goals[{number}]", roles, names) for number, goal in enumerate(job.goals))
    return replace(job, goals=tuple(goals))


def _roles(data: object, folder: Path) -> RoleMapping:
    return read_mapping(folder / data) if isinstance(data, str) else parse_mapping(data, "roles")


def _limits(data: object) -> Limits:
    if data is True or data is False or data == "soft":
        return data  # pyright: ignore
    raise CoreError(f'limits: needs true, false or "soft", not {shown(data)}.')


def _method(data: object) -> dict[str, Any]:
    """`wins`, `ccd` or `humanoid`."""
    readers: dict[object, Any] = {"ccd": read_ccd, "humanoid": read_humanoid}
    name: object = data.get("name") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType]
    if isinstance(name, str) and name in readers:
        return {name: readers[name](data, "method")}
    if isinstance(data, dict) and "name" in data:
        read_choice(name, "method.name", _METHODS)  # before the fields, which are those of one method
    fields = read_fields(data, "method", ("name", "wins"))
    return {"wins": read_choice(fields.get("wins", "pins"), "method.wins", ("pins", "drag"))}


def _tolerance(data: object) -> Tolerance:
    fields = read_fields(data, "tolerance", ("position", "rotation"))
    return Tolerance(**{name: read_positive(value, f"tolerance.{name}") for name, value in fields.items()})


def _write(data: object, framed: bool) -> Write:
    fields = read_fields(data, "write", ("action", "bones", "key"))
    key = read_flag(fields.get("key", framed), "write.key")
    bones = fields.get("bones", "changed")
    if bones != "changed":
        bones = tuple(read_name(bone, f"write.bones[{i}]") for i, bone in enumerate(read_list(bones, "write.bones")))
    action = fields.get("action")
    if "action" in fields and not key and not framed:
        raise CoreError('write.action: nothing is keyed without "frames" or "key": true.')
    if action is not None and len(read_name(action, "write.action").encode()) > NAME_BYTES:
        raise CoreError(f"write.action: a name has at most {NAME_BYTES} bytes.")
    return Write(
        new="action" not in fields or action is not None,
        action=action,
        bones=None if bones == "changed" else bones,
        key=key,
    )
