"""The job: what `solve` does, read from JOB.json and checked before anything is changed.

Every mistake is a CoreError that names the field: 'goals[2].positon: unknown field; did you mean "position"?'. Objects,
bones and actions are looked up when the job is done. Where the tables do not say it:

- a goal's `ease` lies inside its `frames`: the goal is off before the first and after the last of them, blends over the
  first and the last `ease` frames from where the motion has it, and is fully on, and measured, between;
- with a list of `write.bones` no other bone may move: the goals are solved with these bones alone;
- numbers relative to a bone are in its frame without its scale, in armature units, like a `point`; errors are in the
  job's space all the same;
- `look_at` goes by what is seen: the axis and the direction as the armature object shows them. `axes`, `distance` and
  `balance` in the world need an armature object that is scaled evenly;
- gravity for `balance` is the world's -Z. With `masses` bones that are not named weigh nothing; only shares count;
- `joint_targets` "rest" and "relaxed" are about joints: bones without parent, and all locations, stay near the motion,
  in the relaxed pose the hips and what carries them, too; joints that no goal moves go to their targets;
- quaternions are normalised;
- the default name "<old action> poise" ("<armature> poise" where there is none) gets Blender's number if it is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np

from .. import CoreError
from ..body import Roles
from ..rotation import Array
from ..solvers.pins import Root
from .chain_list import CCD, THE_CCD, Ccd
from .files import read_json
from .goals import GOAL, STIFFNESS, THE_BALANCE, Held, JobBalance, JobGoal, Moving, Space, Wish, on_bone
from .humanoid import HUMANOID, HumanoidSettings
from .mapping import FACING, ROLE_MAPPING, BodyMapping, RoleMapping, read_mapping
from .table import (
    BLENDER_NAME,
    FLAG,
    FRAME,
    FRAMES,
    NAME,
    NULL,
    POSITIVE,
    THE_VERSION,
    UNIT,
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
    shown,
    tag,
    vector,
)

_NO_GOAL: Final = "there must be at least one goal."

Wins = Literal["pins", "drag"]
Limits = bool | Literal["soft"]
JointTargets = Literal["present", "rest", "relaxed"]


@dataclass(frozen=True)
class PoseTargets:
    """Joint targets of an action, or of the motion at a frame.

    action  its name, a pose asset is one; None: the motion that the armature has
    frame   of the pose; None: each frame's own
    bones   how far from the motion, 0, to that pose, 1, the target of each bone is; without any all have 1
    """

    action: str | None = None
    frame: int | None = None
    bones: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Tolerance:
    """Metres of the world, and degrees."""

    position: float = 0.001
    rotation: float = 0.5


@dataclass(frozen=True)
class Write:
    """`new`: into a new action called `action` (None: the default name), else into the present one."""

    new: bool = True
    action: str | None = None
    bones: tuple[str, ...] | None = None
    key: bool = False


@dataclass(frozen=True)
class Job:
    """A whole job; the tables below say what its fields are.

    stiffness  (3,) about the bone's own axes, 0 free to 1 stiff
    ranges     lower and upper bounds (3,) of order-free angles, radians
    ccd        contribution CCD in place of pins and drag: its chains lead a goal each; it takes limits
    humanoid   the humanoid method in their place; it takes of these settings the limits
    chosen     the job names its method
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
    stiffness: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, Any])
    ranges: Mapping[str, tuple[Array, Array]] = field(default_factory=dict[str, Any])
    joint_targets: JointTargets | PoseTargets = "present"
    stretch: bool = False
    strength: float | None = None
    ccd: Ccd | None = None
    humanoid: HumanoidSettings | None = None
    chosen: bool = field(default=False, compare=False)
    roles: RoleMapping = field(default_factory=dict[str, Any])
    facing: str | None = None

    def __post_init__(self) -> None:
        if not self.goals:
            raise CoreError(f"goals: {_NO_GOAL}")
        if self.frames is not None:
            check_range(self.frames, "frames")
            if not self.write.key:
                raise CoreError(
                    'write.key: a job with "frames" is always keyed; it is for jobs that pose the current frame.'
                )
        for place, goal in enumerate(self.goals):
            self._check_times(goal, f"goals[{place}]")
        if self.method != "pins":
            self._check_method()

    @property
    def method(self) -> Literal["pins", "ccd", "humanoid"]:
        """The name of the method."""
        return "ccd" if self.ccd is not None else "humanoid" if self.humanoid is not None else "pins"

    def _check_method(self) -> None:
        """Raise CoreError for what only pins and drag can do."""
        if self.ccd is not None and not self.ccd.chains and self.ccd.bone is None:
            self.led_by(None)
        for place, goal in enumerate(self.goals):
            if len(self.goals) > 1 if self.humanoid is None else self.humanoid.finish:
                break  # pins, which take all kinds, serve what is left
            if not isinstance(goal, JobGoal):
                raise CoreError(f"goals[{place}]: looks, distances and the like only with {self._kinds()}.")
            for name, wanted in (("axes", goal.axes), ("relative_to", goal.relative_to)):
                if wanted is not None:
                    raise CoreError(f"goals[{place}].{name}: only with {self._kinds()}.")
        for name in ("root", "stiffness", "joint_targets", "stretch"):
            if getattr(self, name) != getattr(Job, name, {}):
                raise CoreError(f'{name}: only with the method "pins".')
        for name in ("balance", "strength"):
            if getattr(self, name) is not None and (self.humanoid is None or not self.humanoid.finish):
                raise CoreError(f"{name}: only with {self._kinds()}.")
        if self.limits == "soft":
            raise CoreError('limits: "soft" only with the method "pins".')

    def named_bones(self) -> dict[str, str]:
        """Return field -> the bone that it names; goals of parts of the body name none yet."""
        named = {f"goals[{number}].bone": goal.bone for number, goal in enumerate(self.goals) if goal.bone}
        named |= {
            f"goals[{number}].{field}": bone
            for number, goal in enumerate(self.goals)
            for field, bone in goal.others.items()
        }
        named |= {f"write.bones[{number}]": bone for number, bone in enumerate(self.write.bones or ())}
        named |= {f"{field}.{bone}": bone for field in ("stiffness", "ranges") for bone in getattr(self, field)}
        if isinstance(self.joint_targets, PoseTargets):
            named |= {f"joint_targets.bones.{bone}": bone for bone in self.joint_targets.bones}
        named |= {} if self.ccd is None else self.ccd.bones
        if self.balance is not None:
            named |= {f"balance.supports[{number}]": bone for number, bone in enumerate(self.balance.supports or ())}
            named |= {f"balance.masses.{bone}": bone for bone in self.balance.masses or ()}
        return named

    def led_by(self, effector: str | None) -> int:
        """Return the place of the goal that a chain leads: that of its effector, or the only one that is no pin.

        Raises CoreError if that is not one goal, a position.
        """
        placed = [
            place
            for place, goal in enumerate(self.goals)
            if isinstance(goal, JobGoal) and goal.position is not None and goal.rotation is None
        ]
        if effector is not None:
            found = [place for place in placed if self.goals[place].bone == effector]
        else:
            held = [isinstance(goal, JobGoal) and isinstance(goal.position, Held) for goal in self.goals]
            found = [place for place in placed if len(self.goals) == 1 or not held[place]]
        if len(found) != 1:
            bone = "one bone" if effector is None else f'"{effector}"'
            raise CoreError(
                f'goals: the chain ends at {bone}: give it one goal with a "position", or a pin of it; '
                'several chains are in "chains", each with its "bone".'
            )
        return found[0]

    def _kinds(self) -> str:
        """Return the words for what takes goals of all kinds."""
        return 'the method "pins"' if self.humanoid is None else '"finish", or with the method "pins"'

    def _check_times(self, goal: Wish, where: str) -> None:
        if self.frames is None:
            if any(isinstance(target, Moving) for target in goal.targets):
                raise CoreError(f'{where}: a velocity needs a job with "frames".')
            if goal.frames is not None or goal.ease:
                name = "ease" if goal.frames is None else "frames"
                raise CoreError(f'{where}.{name}: only in a job with "frames".')
            return
        first, last = goal.frames or self.frames
        check_range((first, last), f"{where}.frames")
        if 2 * goal.ease > last - first:
            raise CoreError(f"{where}.ease: {goal.ease} frames in and out do not fit into {first} to {last}.")
        if first + goal.ease > self.frames[1] or last - goal.ease < self.frames[0]:
            raise CoreError(
                f"{where}.frames: {first} to {last} are never fully active within the frames "
                f"{self.frames[0]} to {self.frames[1]} of the job."
            )


def read(path: Path) -> Job:
    """Return the job in a file; raises CoreError, beginning with the file's name, if it cannot be read."""
    return read_json(path, "job", lambda data: parse(data, path.parent))


def _check_twins(goals: Sequence[Wish]) -> None:
    """Raise CoreError for a goal that wants what another one wants already."""
    known: dict[Wish, int] = {}
    for place, goal in enumerate(goals):
        twin = known.setdefault(replace(goal, weight=1.0, priority=None, ease=0), place)
        if twin != place:
            raise CoreError(f"goals[{place}]: same as goals[{twin}]; remove one of them.")


def parse(data: object, folder: Path | None = None) -> Job:
    """Return the job of JSON data; raises CoreError naming the field that is wrong.

    Files that it names are looked for in `folder`, by default the present one.
    """
    values = JOB.read(data, "")
    space, roles, balance = values.pop("space", JobBalance.space), values.pop("roles", {}), values.pop("balance", None)
    mapping = _read_roles(folder or Path(), roles) if isinstance(roles, str) else BodyMapping(roles)
    values.setdefault("facing", mapping.facing)
    job = Job(
        roles=mapping.roles,
        goals=tuple(replace(goal, space=space) for goal in values.pop("goals", ())),
        write=_write(values.pop("write", {}), "frames" in values),
        balance=None if balance is None else replace(balance, space=space),
        **values.pop("method", {}),
        **values,
    )
    _check_twins(job.goals)
    return job


def _read_roles(folder: Path, name: str) -> BodyMapping:
    """Return the mapping in a file beside the job, or below; of others, which strangers may name, nothing is read."""
    path = (folder / name).resolve()
    if not (path.is_relative_to(folder.resolve()) and path.suffix == ".json"):
        raise CoreError('roles: the file must end in ".json" and be in the folder of the job, or below it.')
    if not path.is_file():
        raise CoreError(f'roles: there is no file "{name}" beside the job.')
    return read_mapping(path)


def on_bones(job: Job, roles: Roles, names: tuple[str, ...]) -> Job:
    """Return the job for one armature: goals of parts of the body become goals of its bones."""
    goals = (on_bone(goal, f"goals[{place}]", roles, names) for place, goal in enumerate(job.goals))
    return replace(job, goals=tuple(goals))


def _write(given: Mapping[str, Any], framed: bool) -> Write:
    key = given.get("key", framed)
    if "action" in given and not key and not framed:
        raise CoreError('write.action: nothing is keyed without "frames" or "key": true.')
    new = "action" not in given or given["action"] is not None
    return replace(Write(**{**given, "key": key}), new=new)


# -- tables -----------------------------------------------------------------------------------------------------------


def _read_method(data: Any, where: str) -> dict[str, Any]:
    """Return `wins`, `ccd` or `humanoid`."""
    read: dict[str, Any] = {"pins": PINS.read, "ccd": THE_CCD.read, "humanoid": HUMANOID.into().read}
    name = "pins"
    if isinstance(data, dict) and "name" in data:
        name = choice(read).read(data["name"], f"{where}.name")  # before the fields, which are those of one method
    made = read[name](data, where)  # pyright: ignore[reportUnknownArgumentType]
    return {**(made if name == "pins" else {name: made}), "chosen": bool(data)}  # pyright: ignore


def _range(values: Mapping[str, Any], where: str) -> tuple[Array, Array]:
    low, high = np.radians(values["min"]), np.radians(values["max"])
    axis = next((axis for axis, ends in zip("XYZ", high - low, strict=True) if ends < 0.0), None)
    if axis is not None:
        raise CoreError(f"{where}: the range about {axis} ends before it begins.")
    return low, high


def _posed(targets: PoseTargets, where: str) -> PoseTargets:
    if targets.action is None and targets.frame is None:
        raise CoreError(f'{where}: needs "action" or "frame".')
    return targets


def _read_limits(data: object, where: str) -> Limits:
    if data is True or data is False or data == "soft":
        return data  # pyright: ignore
    raise CoreError(f'{where}: needs true, false or "soft", not {shown(data)}.')


PINS: Final = Table(
    (
        Field("name", tag("pins"), "the method"),
        Field("wins", choice(get_args(Wins)), "what takes precedence where not all goals can be met", default=Job.wins),
    )
)
TOLERANCE: Final = Table(
    (
        Field("position", POSITIVE, "meters, in the world"),
        Field("rotation", POSITIVE, "degrees"),
    ),
    Tolerance,
)
WRITE: Final = Table(
    (
        Field("key", FLAG, "key the current frame in a job without frames"),
        Field("bones", or_word("changed", list_of(NAME)).into(lambda bones: None if bones == "changed" else bones),
              "the only bones that can move"),
        Field("action", by_type({type(None): NULL}, BLENDER_NAME),
              "name of the new action; null: key into the current one"),
    ),
    Write,
)  # fmt: skip
RANGE: Final = Table(
    (
        Field("min", vector(3, number(-180.0, 180.0)), "smallest angles about X, Y and Z", needed="missing."),
        Field("max", vector(3, number(-180.0, 180.0)), "largest angles", needed="missing."),
    )
)
POSE_TARGETS: Final = Table(
    (
        Field("action", NAME, "the action or pose asset; by default the motion of the armature"),
        Field("frame", FRAME, "frame of the pose; by default each frame of the job has its own"),
        Field("bones", object_of(UNIT, "an object of bones and shares", NAME),
              "the only bones that are used, from 0 (near the motion) to 1 (near that pose)"),
    ),
    PoseTargets,
)  # fmt: skip
JOB: Final = Table(
    (
        Field("version", THE_VERSION, "of the format", needed=f"missing; this is version {VERSION}."),
        Field("space", choice(get_args(Space)), "units of lengths: meters of the world, or units of the armature",
              default=JobBalance.space),
        Field("goals", list_of(GOAL, _NO_GOAL), "the goals; at least one", needed=_NO_GOAL),
        Field("armature", NAME, "which armature to pose, if the file has several"),
        Field("frames", FRAMES, "first and last frame; without them the current one is posed"),
        Field("method", any_of(_read_method, PINS.schema, CCD.schema, HUMANOID.schema),
              '`"pins"` (by default), `"ccd"`, or `"humanoid"`: limbs in closed form whose elbows and '
              'knees never pop, a spine that bends as a whole, and a body that is pulled along; goals of '
              'all kinds, for any part (without its `"finish"` positions and rotations of hips, chest, '
              'head, hands, feet, elbows, knees)',
              example='"method": {"name": "humanoid"}'),
        Field("tolerance", TOLERANCE.into(), "how far off a goal can be"),
        Field("write", WRITE.kind(), "where the keys are written"),
        Field("limits", any_of(_read_limits, {"enum": [True, False, "soft"]}),
              'keep joints within their limits; `"soft"` exceeds them where a goal needs it; also `true` '
              '(by default) and `false`',
              example='"limits": "soft"'),
        Field("anatomical_limits", FLAG,
              "limit joints of a human body to the human range, as in the panel; knees and elbows "
              "always bend the right way",
              example='"anatomical_limits": false'),
        Field("ranges", object_of(RANGE.kind().then(_range), "an object of bones in braces", NAME),
              "ranges of the order-free angles of single bones in degrees, instead of their limits: of "
              "body parts about left, up and forward in a T-pose from the middle of the human range, as "
              "in the panel Active Bone, of other bones about their own axes; 180 is no limit",
              example='"ranges": {"upper_arm.L": {"min": [-40, -30, -60], "max": [90, 60, 80]}}'),
        Field("root", choice(get_args(Root)),
              'what bones without parents can do: with `"pull"` they follow, but joints bend first; '
              'with `"hold"` they follow half as readily; also `"free"` (by default), `"translate"`, `"fixed"`',
              example='"root": "pull"'),
        Field("balance", THE_BALANCE,
              "keep the center of mass above the pinned bones (`true`), or above these bones and a "
              "distance around them, with these masses", default=False,
              example='"balance": {"supports": ["foot.L"], "radius": 0.05, "masses": {"hips": 30, "chest": 25}, '
                      '"priority": 1}'),
        Field("stiffness", STIFFNESS,
              "from 0 (free) to 1 (stiff), for the bone or about its own axes, instead of Blender's IK Stiffness",
              example='"stiffness": {"spine": 0.8, "chest": [1, 0, 1]}'),
        Field("joint_targets", by_type({dict: POSE_TARGETS.into().then(_posed)}, choice(get_args(JointTargets))),
              'pose that joints stay near, as far as the goals allow: the motion, their rest pose, with '
              '`"relaxed"` the relaxed pose of a body or the usual pose of what it learned from, or the '
              'pose of `{"action": "Sit", "frame": 12, "bones": {"spine": 0.5}}`',
              example='"joint_targets": "rest"'),
        Field("stretch", FLAG, "bones can get longer, each by its own IK Stretch", example='"stretch": true'),
        Field("strength", by_type({type(None): NULL}, number(0.01, 1e6)),
              "how hard goals below the first priority pull, 1 is the pull of a hand: where the body "
              "resists more, they are missed and it does not topple; `null`: they are met at any price",
              example='"strength": 1.0'),
        Field("roles", by_type({str: NAME}, ROLE_MAPPING),
              "which bones are which parts of the body, if they differ from the detected ones; or the "
              "name of a file",
              example='"roles": {"hand.L": "Hand_L"}'),
        FACING,
    ),
    Job,
)  # fmt: skip
