"""The goals of a job: their types, and how they are read from JOB.json.

A goal is one of three kinds: a position and a rotation for a bone (`pin`, `position`, `rotation`), a direction
(`look_at`) or a distance. Lengths and errors are in the job's space; a point "in the bone's frame", and everything with
`relative_to`, is in the units of the armature.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, get_args

from .. import CoreError
from ..body import Roles
from ..keypoints.recordings import COORDINATE_LIMIT
from .table import (
    FLAG,
    FRAME,
    FRAMES,
    NAME,
    POSITIVE,
    UNIT,
    Field,
    Table,
    any_of,
    by_type,
    choice,
    list_of,
    number,
    object_of,
    one_of,
    vector,
    whole,
)

Space = Literal["world", "armature"]
Point = Literal["head", "tail"] | tuple[float, ...]
Bound = Literal["exactly", "at most", "at least"]
GoalKind = Literal["pin", "drag", "look_at", "distance", "balance"]

_AXES: Final[Mapping[str, tuple[float, ...]]] = MappingProxyType(
    {
        sign + letter: tuple((-1.0 if sign else 1.0) * (letter == axis) for axis in "XYZ")
        for letter in "XYZ"
        for sign in ("", "-")
    }
)


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
    """The origin, or the orientation, of an object; or what is at an offset in the object's frame."""

    object: str
    offset: tuple[float, ...] = ()
    library: str | None = None  # the file that it is linked from, of a saved pin: one here may have the same name

    @property
    def who(self) -> tuple[str, str | None]:
        """The object's name and library."""
        return self.object, self.library


@dataclass(frozen=True)
class Waypoints:
    """Points at frames: linear between them, constant outside."""

    frames: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Moving:
    """On from where the motion has the bone in the goal's first frame, at a constant velocity.

    rate: (3,) lengths, or radians about the axes of the goal's space, each second
    """

    rate: tuple[float, ...]


Target = Held | Fixed | Followed | Waypoints | Moving


@dataclass(frozen=True)
class _Wish:
    """What all goals have. `frames` None: as long as the job; `priority` None: what `wins` says.

    A goal that names a `role` has no `bone` until `on_bone` finds it.
    """

    bone: str
    _: KW_ONLY
    role: str | None = None
    point: Point = "head"
    space: Space = "world"
    frames: tuple[int, int] | None = None
    ease: int = 0
    weight: float = 1.0
    priority: int | None = None

    def level(self, pins_first: bool, held: bool = False) -> int:
        """Return the priority for the solver; `held`: of a pin."""
        return int(held != pins_first) if self.priority is None else self.priority


@dataclass(frozen=True)
class JobGoal(_Wish):
    """A position for a point of a bone, a rotation for its frame, or both; in the frame of `relative_to`, if any.

    axes, rotation_axes: further weights (3,) by axis of the goal's space, or of the frame of `relative_to`
    """

    position: Target | None = None
    rotation: Target | None = None
    relative_to: str | None = None
    axes: tuple[float, ...] | None = None
    rotation_axes: tuple[float, ...] | None = None

    @property
    def targets(self) -> list[Target]:
        """The targets that it has."""
        return [target for target in (self.position, self.rotation) if target is not None]

    @property
    def kind(self) -> GoalKind:
        """Whether the bone is held or moved."""
        return "pin" if all(isinstance(target, Held) for target in self.targets) else "drag"

    @property
    def others(self) -> dict[str, str]:
        """The other bones that it names, by field."""
        return {} if self.relative_to is None else {"relative_to": self.relative_to}


@dataclass(frozen=True)
class LookAtGoal(_Wish):
    """An axis (3,) of a bone's frame aims from `point` at the target, which the bone `relative_to` may carry."""

    target: Target
    axis: tuple[float, ...] = _AXES["Y"]
    relative_to: str | None = None
    kind: ClassVar[GoalKind] = "look_at"

    @property
    def targets(self) -> list[Target]:
        return [self.target]

    @property
    def others(self) -> dict[str, str]:
        return {} if self.relative_to is None else {"relative_to": self.relative_to}


@dataclass(frozen=True)
class DistanceGoal(_Wish):
    """`point` keeps a distance to another bone's `to_point` (`to` is its name), to a place or to an object."""

    length: float
    to: str | Target
    to_point: Point = "head"
    bound: Bound = "exactly"
    kind: ClassVar[GoalKind] = "distance"

    @property
    def targets(self) -> list[Target]:
        return [] if isinstance(self.to, str) else [self.to]

    @property
    def others(self) -> dict[str, str]:
        return {"to": self.to} if isinstance(self.to, str) else {}


Wish = JobGoal | LookAtGoal | DistanceGoal


@dataclass(frozen=True)
class JobBalance:
    """The centre of mass stays over the bones that the body stands on.

    supports  None: the bones whose position is pinned in all frames of the job
    radius    how far beside them, in the job's space; None: half the width of a foot
    masses    of all bones that weigh something, in any unit; None: a human's
    feet      only over those of them that are feet of a human body, and only if both feet are, as far as other goals
              let it: it is not said where it is missed
    keeps     a pose in which it is further beside them may stay so
    """

    supports: tuple[str, ...] | None = None
    radius: float | None = None
    masses: Mapping[str, float] | None = None
    priority: int = 1
    space: Space = "world"
    feet: bool = False
    keeps: bool = False


# -- values -----------------------------------------------------------------------------------------------------------


def _increasing(points: tuple[tuple[float, ...], ...], where: str) -> Waypoints:
    for i in range(1, len(points)):
        if points[i][0] <= points[i - 1][0]:
            raise CoreError(f"{where}[{i}]: the frames of a path must increase.")
    for i, point in enumerate(points):
        for j, value in enumerate(point[1:], start=1):
            _COORDINATE.read(value, f"{where}[{i}][{j}]")
    return Waypoints(tuple(p[0] for p in points), tuple(p[1:] for p in points))


def _normalised(values: tuple[float, ...], where: str) -> Fixed:
    length = math.hypot(*values)
    if length == 0.0:
        raise CoreError(f"{where}: the quaternion 0, 0, 0, 0 is not a rotation.")
    return Fixed(tuple(value / length for value in values))


def _direction(values: tuple[float, ...], where: str) -> tuple[float, ...]:
    if not any(values):
        raise CoreError(f"{where}: 0, 0, 0 is not a direction.")
    return values


def _shares(values: tuple[float, ...], where: str) -> tuple[float, ...]:
    shares = tuple(number(0.0).read(value, f"{where}[{i}]") for i, value in enumerate(values))
    if not any(shares):
        raise CoreError(f"{where}: at least one axis must have a weight above 0.")
    return shares


def _heavy(masses: Mapping[str, float], where: str) -> Mapping[str, float]:
    if not any(masses.values()):
        raise CoreError(f"{where}: at least one bone must have a mass above 0.")
    return masses


def _stiffness(data: object, where: str) -> tuple[float, ...]:
    values = vector(3).read(data if isinstance(data, list) else [number().read(data, where)] * 3, where)
    return tuple(UNIT.read(value, where) for value in values)


_COORDINATE: Final = number(-COORDINATE_LIMIT, COORDINATE_LIMIT)
_XYZ: Final = vector(3, _COORDINATE)
_POINT: Final = by_type({list: _XYZ}, choice(("head", "tail"), "[x, y, z]"))
_OBJECT: Final = NAME.into(Followed)
_PATH: Final = list_of(vector(4), "needs at least one [frame, x, y, z].").then(_increasing)
_VELOCITY: Final = _XYZ.into(Moving)
_TURNING: Final = _XYZ.into(lambda rate: Moving(tuple(math.radians(angle) for angle in rate)))
_AIM: Final = by_type({list: _XYZ.into(Fixed)}, one_of("[x, y, z]", object=_OBJECT, path=_PATH))
_POSITION: Final = by_type(
    {list: _XYZ.into(Fixed)}, one_of("[x, y, z]", object=_OBJECT, path=_PATH, velocity=_VELOCITY)
)
_ROTATION: Final = by_type(
    {list: vector(4).then(_normalised)}, one_of("[w, x, y, z]", object=_OBJECT, velocity=_TURNING)
)
_TO: Final = by_type({str: NAME, list: _XYZ.into(Fixed)}, one_of("a bone's name or [x, y, z]", object=_OBJECT))
_AXIS: Final = by_type({list: _XYZ.then(_direction)}, choice(_AXES, "[x, y, z]").into(_AXES.__getitem__))
_SHARES: Final = vector(3).then(_shares, items=number(0.0).schema)
_BY_BONE: Final = "an object in braces with bones"
STIFFNESS: Final = object_of(any_of(_stiffness, UNIT.schema, vector(3, UNIT).schema), _BY_BONE, NAME)

# -- tables -----------------------------------------------------------------------------------------------------------

_ALONE, _PINNED, _LOOKING, _APART = "in a goal of its own", 'with "pin"', 'with "look_at"', 'with "distance"'
_PLACING: Final = 'with "pin", "position" or "rotation"'
_CARRIED: Final = Field(
    "relative_to", NAME,
    "keep the current relation to another bone, such as two hands on one object; numbers of "
    "`position` or `look_at` are in its frame",
    place='with "pin", "position", "rotation" or "look_at"',
    example='{"bone": "hand.L", "pin": ["position", "rotation"], "relative_to": "hand.R"}',
)  # fmt: skip
_COMMON: Final = (
    Field("bone", NAME, "the bone of the goal"),
    Field("role", NAME, "body part instead of a bone; of several bones the last one",
          example='{"role": "hand.L", "position": [0.3, -0.4, 1.2]}'),
    Field("point", _POINT, "point of the bone: an end, or x, y, z in the bone's frame"),
    Field("frames", FRAMES, "first and last frame in which it is active; by default those of the job"),
    Field("ease", whole(0), "frames over which it blends in and out"),
    Field("weight", POSITIVE,
        "influence among goals of the same priority; below the first priority, also how hard it "
        "pulls: 4 pulls twice as hard as 1"),
    Field("priority", whole(0), "0 is solved first; by default according to `wins`"),
)  # fmt: skip
_PLACED_FIELDS: Final = (
    *_COMMON,
    Field("at", FRAME, "with `pin`: hold the location and rotation that the motion has at this frame", place=_PINNED,
          example='{"bone": "foot.L", "pin": ["position"], "at": 12}'),
    Field("pin", list_of(choice(("position", "rotation")), 'needs "position", "rotation" or both.'),
          'hold what the motion has, or with `"at": 12` what it has at frame 12', place=_ALONE,
          example='{"bone": "foot.L", "pin": ["position", "rotation"]}'),
    Field("position", _POSITION,
          'move to a point, to `{"object": "Cup"}`, along `{"path": [[frame, x, y, z], ...]}`, or '
          'from the place in the first frame with `{"velocity": [x, y, z]}`, in lengths per second', place=_ALONE,
          example='{"bone": "hand.R", "position": [0.3, -0.4, 1.2]}'),
    Field("rotation", _ROTATION,
          'rotate the bone to a quaternion w, x, y, z, like `{"object": "Cup"}`, or from the rotation '
          'in the first frame with `{"velocity": [x, y, z]}`, in degrees per second about these axes', place=_ALONE,
          example='{"bone": "head", "rotation": [1, 0, 0, 0]}'),
    _CARRIED,
    Field("axes", _SHARES, "weights of the position by axis: 0, 0, 1 is the height only", place=_PLACING,
          example='{"bone": "foot.L", "position": [0, 0, 0.1], "axes": [0, 0, 1]}'),
    Field("rotation_axes", _SHARES, "weights of the rotation by axis", place=_PLACING),
)  # fmt: skip
_LOOKING_FIELDS: Final = (
    *_COMMON,
    Field("look_at", _AIM,
          "aim an axis of the bone (by default Y, along the bone) at a point, an object or a path", place=_ALONE,
          attribute="target", example='{"bone": "head", "look_at": {"object": "Cup"}, "axis": "Z"}'),
    _CARRIED,
    Field("axis", _AXIS, "the axis to aim", default="Y", place=_LOOKING),
)  # fmt: skip
_APART_FIELDS: Final = (
    *_COMMON,
    Field("to", _TO, "the bone, point or object to keep the distance to", place=_APART,
          needed="missing; name a bone, a point or an object for the distance."),
    Field("distance", number(0.0, COORDINATE_LIMIT),
          'a distance to a bone, a point or an object: `"exactly"`, `"at most"` or `"at least"`',
          place=_ALONE, attribute="length",
          example='{"bone": "hand.L", "distance": 0.3, "to": "hand.R", "bound": "at most"}'),
    Field("to_point", _POINT, "the point of the bone `to`", place=_APART),
    Field("bound", choice(get_args(Bound)), "whether it can be less, or more", place=_APART),
)  # fmt: skip
_PLACES: Final = {one.name: one.place for one in (*_PLACED_FIELDS, *_LOOKING_FIELDS, *_APART_FIELDS) if one.place}


def _named(given: Mapping[str, Any], where: str) -> None:
    if "bone" not in given and "role" not in given:
        raise CoreError(f'{where}.bone: missing; name a bone, or its "role".')
    if "bone" in given and "role" in given:
        raise CoreError(f"{where}.role: the bone is already named; remove one of them.")
    if "at" in given and "pin" not in given:
        raise CoreError(f'{where}.at: only with "pin".')


def _schema(*names: str, **more: Any) -> Mapping[str, Any]:
    return {"oneOf": [{"required": ["bone"]}, {"required": ["role"]}],
            "anyOf": [{"required": [name]} for name in names], **more}  # fmt: skip


PLACED: Final = Table(
    _PLACED_FIELDS, JobGoal, _PLACES, _named,
    _schema("pin", "position", "rotation", dependentRequired={"at": ["pin"]}),
)  # fmt: skip
LOOKING: Final = Table(_LOOKING_FIELDS, LookAtGoal, _PLACES, _named, _schema("look_at"))
APART: Final = Table(_APART_FIELDS, DistanceGoal, _PLACES, _named, _schema("distance"))
BALANCE: Final = Table(
    (
        Field("supports", list_of(NAME, "needs at least one bone; leave it out to use the pinned bones."),
              "bones that support the body; by default those whose position is pinned in all frames of the job"),
        Field("feet", FLAG, "only above those that are feet of a human body, and only if both feet are"),
        Field("masses", object_of(number(0.0), _BY_BONE, NAME).then(_heavy, minProperties=1),
              "masses of bones, in any unit; by default those of a human"),
        Field("radius", number(0.0), "distance that it can be outside of the supports; by default half a foot width"),
        Field("priority", whole(0), "0 is solved first, 1 is the default of goals, 2 comes after, as in the panel"),
    ),
    JobBalance,
)  # fmt: skip


def _read_goal(data: Any, where: str) -> Wish:
    looks, apart = (isinstance(data, dict) and name in data for name in ("look_at", "distance"))
    table = LOOKING if looks else APART if apart else PLACED
    values: dict[str, Any] = {"bone": "", **table.read(data, where)}  # pyright: ignore[reportUnknownArgumentType]
    if table is PLACED:
        _pin(values, where)
    for name in ("position", "rotation", "target") if "relative_to" in values else ():
        if isinstance(values.get(name), Followed):
            field = "look_at" if name == "target" else name
            raise CoreError(f'{where}.{field}: an object has its own position; with "relative_to" give numbers.')
    for name, wants in (("axes", "position"), ("rotation_axes", "rotation")):
        if name in values and wants not in values:
            raise CoreError(f"{where}.{name}: only where the {wants} is pinned or has a target.")
    if "to_point" in values and not isinstance(values["to"], str):
        raise CoreError(f'{where}.to_point: only where "to" is a bone.')
    return _checked(table.makes(**values), where)


def _pin(values: dict[str, Any], where: str) -> None:
    """Make targets of what is pinned; raises CoreError if there is no target."""
    held = dict.fromkeys(values.pop("pin", ()), Held(values.pop("at", None)))
    for name in ("position", "rotation"):
        if name in values and name in held:
            raise CoreError(f"{where}.{name}: already pinned; remove one of the two.")
    values |= held
    if "position" not in values and "rotation" not in values:
        raise CoreError(f'{where}: needs "pin", "position", "rotation", "look_at" or "distance".')


GOAL: Final = any_of(_read_goal, PLACED.schema, LOOKING.schema, APART.schema)
THE_BALANCE: Final = by_type(
    {bool: FLAG.into(lambda on: JobBalance() if on else None), dict: BALANCE.into()},
    "true, false or an object in braces",
)


def on_bone(goal: Wish, where: str, roles: Roles, names: tuple[str, ...]) -> Wish:
    """Return the goal of a part of the body as a goal of its bone; of several bones (spine, finger) the last one.

    Raises CoreError if the part is not found.
    """
    if goal.role is None:
        return goal
    known = {**roles.limbs, **{role: roles.chain(role) for role in roles.bones}}
    if not known.get(goal.role):
        near = get_close_matches(goal.role, [role for role, chain in known.items() if chain], 1)
        what = f'no "{goal.role}" was found in this armature'
        raise CoreError(
            f"{where}.role: {what}" + (f'; did you mean "{near[0]}"?' if near else ', and "roles" does not define it.')
        )
    return _checked(replace(goal, bone=names[known[goal.role][-1]]), where)


def _checked(goal: Wish, where: str) -> Wish:
    for field, other in goal.others.items():
        if other == goal.bone:
            raise CoreError(f'{where}.{field}: "{other}" cannot be a target for itself; name another bone.')
    return goal
