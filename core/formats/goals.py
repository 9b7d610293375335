"""The goals of a job: what they are, and how they are read from JOB.json.

A goal is one of three kinds: a place and a stand for a bone (`pin`, `position`, `rotation`), a direction (`look_at`) or
a distance. Lengths and errors are in the job's space; a point "in the bone's frame", and everything with `relative_to`,
is in the units of the armature.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

from .. import CoreError
from ..body import Roles
from .fields import (
    FRAME_LIMIT,
    read_between,
    read_choice,
    read_fields,
    read_list,
    read_name,
    read_number,
    read_numbers,
    read_one_of,
    read_positive,
    read_range,
    read_whole,
    shown,
)

Space = Literal["world", "armature"]
Point = Literal["head", "tail"] | tuple[float, ...]
Bound = Literal["exactly", "at most", "at least"]
Kind = Literal["pin", "drag", "look_at", "distance", "balance"]

_ALWAYS: Final = ("bone", "role", "frames", "ease", "weight", "priority", "point")
_PLACED: Final = (*_ALWAYS, "pin", "at", "position", "rotation", "relative_to", "axes", "rotation_axes")
_LOOKING: Final = (*_ALWAYS, "look_at", "axis", "relative_to")
_APART: Final = (*_ALWAYS, "distance", "to", "to_point", "bound")
_ELSEWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        field: place
        for place, fields in (
            ("in a goal of its own", ("pin", "position", "rotation", "look_at", "distance")),
            ('with "pin"', ("at",)),
            ('with "pin", "position" or "rotation"', ("axes", "rotation_axes")),
            ('with "pin", "position", "rotation" or "look_at"', ("relative_to",)),
            ('with "look_at"', ("axis",)),
            ('with "distance"', ("to", "to_point", "bound")),
        )
        for field in fields
    }
)
_BOUNDS: Final = ("exactly", "at most", "at least")
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
        """Its names."""
        return self.object, self.library


@dataclass(frozen=True)
class Waypoints:
    """Points at frames: linear between, held outside."""

    frames: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]


Target = Held | Fixed | Followed | Waypoints


@dataclass(frozen=True)
class _Wish:
    """What all goals have. `frames` None: as long as the job; `priority` None: what `wins` says.

    One that names a `role` has no `bone` until `on_bone` says which that is.
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
        """The priority for the solver of what it holds or leads."""
        return int(held != pins_first) if self.priority is None else self.priority


@dataclass(frozen=True)
class JobGoal(_Wish):
    """A place for a point of a bone, a stand for its frame, or both; in the frame of the bone `relative_to`, if any.

    axes, rotation_axes: further weights (3,) by axis of the goal's space, or of the frame of `relative_to`
    """

    position: Target | None = None
    rotation: Target | None = None
    relative_to: str | None = None
    axes: tuple[float, ...] | None = None
    rotation_axes: tuple[float, ...] | None = None

    @property
    def targets(self) -> list[Target]:
        """All that it wants."""
        return [target for target in (self.position, self.rotation) if target is not None]

    @property
    def kind(self) -> Kind:
        """Whether the bone is held or led somewhere else."""
        return "pin" if all(isinstance(target, Held) for target in self.targets) else "drag"

    @property
    def others(self) -> dict[str, str]:
        """Further bones that it names, by field."""
        return {} if self.relative_to is None else {"relative_to": self.relative_to}


@dataclass(frozen=True)
class LookAtGoal(_Wish):
    """An axis (3,) of a bone's frame aims from `point` at the target, which the bone `relative_to` may carry."""

    target: Target
    axis: tuple[float, ...] = _AXES["Y"]
    relative_to: str | None = None
    kind: ClassVar[Kind] = "look_at"

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
    kind: ClassVar[Kind] = "distance"

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
    """

    supports: tuple[str, ...] | None = None
    radius: float | None = None
    masses: Mapping[str, float] | None = None
    priority: int = 1
    space: Space = "world"


def read_goal(data: object, where: str, space: Space) -> Wish:
    """A goal from JSON data."""
    looks, apart = (isinstance(data, dict) and name in data for name in ("look_at", "distance"))
    known = _LOOKING if looks else _APART if apart else _PLACED
    fields = read_fields(data, where, known, elsewhere=_ELSEWHERE)
    if "bone" not in fields and "role" not in fields:
        raise CoreError(f'{where}.bone: missing; name a bone, or its "role".')
    if "bone" in fields and "role" in fields:
        raise CoreError(f"{where}.role: the bone is named already; leave one of them out.")
    bone = read_name(fields["bone"], f"{where}.bone") if "bone" in fields else ""
    common = {
        "role": read_name(fields["role"], f"{where}.role") if "role" in fields else None,
        "point": _point(fields.get("point", "head"), f"{where}.point"),
        "space": space,
        "frames": read_range(fields["frames"], f"{where}.frames") if "frames" in fields else None,
        "ease": read_whole(fields.get("ease", 0), f"{where}.ease", 0),
        "weight": read_positive(fields.get("weight", 1.0), f"{where}.weight"),
        "priority": read_whole(fields["priority"], f"{where}.priority", 0) if "priority" in fields else None,
    }
    own = (_look_at if looks else _distance if apart else _placed)(fields, where)
    goal = (LookAtGoal if looks else DistanceGoal if apart else JobGoal)(bone, **own, **common)
    return _led_by_others(goal, where)


def on_bone(goal: Wish, where: str, roles: Roles, names: tuple[str, ...]) -> Wish:
    """The goal of a part of the body as one of its bone, of several (spine, tail, finger) of the last."""
    if goal.role is None:
        return goal
    known = {**roles.limbs, **{role: roles.chain(role) for role in roles.bones}}
    if not known.get(goal.role):
        near = get_close_matches(goal.role, [role for role, chain in known.items() if chain], 1)
        what = f'no "{goal.role}" is found in this armature'
        raise CoreError(
            f"{where}.role: {what}" + (f'; did you mean "{near[0]}"?' if near else ', and "roles" does not say it.')
        )
    return _led_by_others(replace(goal, bone=names[known[goal.role][-1]]), where)


def _led_by_others(goal: Wish, where: str) -> Wish:
    for field, other in goal.others.items():
        if other == goal.bone:
            raise CoreError(f'{where}.{field}: "{other}" cannot be led by itself; name another bone.')
    return goal


def read_balance(data: object, space: Space) -> JobBalance | None:
    """A job's balance from JSON data: true, false or an object."""
    if isinstance(data, bool):
        return JobBalance(space=space) if data else None
    if not isinstance(data, dict):
        raise CoreError(f"balance: needs true, false or an object in braces, not {shown(data)}.")
    fields = read_fields(data, "balance", ("supports", "priority", "radius", "masses"))
    supports = masses = None
    if "supports" in fields:
        rows = read_list(fields["supports"], "balance.supports")
        if not rows:
            raise CoreError("balance.supports: needs at least one bone; without it those that are pinned are meant.")
        supports = tuple(read_name(row, f"balance.supports[{i}]") for i, row in enumerate(rows))
    if "masses" in fields:
        masses = read_by_bone(fields["masses"], "balance.masses", read_between)
        if not any(masses.values()):
            raise CoreError("balance.masses: no bone weighs anything.")
    return JobBalance(
        supports=supports,
        radius=read_between(fields["radius"], "balance.radius") if "radius" in fields else None,
        masses=masses,
        priority=read_whole(fields.get("priority", 1), "balance.priority", 0),
        space=space,
    )


def read_by_bone(data: object, where: str, read: Any) -> dict[str, Any]:
    """An object of bones; `read` takes the values."""
    if not isinstance(data, dict):
        raise CoreError(f"{where}: needs an object of bones in braces, not {shown(data)}.")
    return {read_name(bone, where): read(value, f"{where}.{bone}") for bone, value in data.items()}


def _placed(fields: dict[str, Any], where: str) -> dict[str, Any]:
    targets: dict[str, Any] = _pinned(fields, where)
    for name, read_target in (("position", _position), ("rotation", _rotation)):
        if name not in fields:
            continue
        if name in targets:
            raise CoreError(f"{where}.{name}: the bone cannot be pinned and led in {name}; leave one of them out.")
        targets[name] = read_target(fields[name], f"{where}.{name}")
    if not targets:
        raise CoreError(f'{where}: needs "pin", "position", "rotation", "look_at" or "distance".')
    carrier = _carrier(fields, where, targets)
    for name, wants in (("axes", "position"), ("rotation_axes", "rotation")):
        if name in fields and wants not in targets:
            raise CoreError(f"{where}.{name}: only where the {wants} is pinned or led.")
    shares = {name: _shares(fields[name], f"{where}.{name}") for name in ("axes", "rotation_axes") if name in fields}
    return {**targets, "relative_to": carrier, **shares}


def _look_at(fields: dict[str, Any], where: str) -> dict[str, Any]:
    target = _position(fields["look_at"], f"{where}.look_at")
    carrier = _carrier(fields, where, {"look_at": target})
    return {"target": target, "axis": _axis(fields.get("axis", "Y"), f"{where}.axis"), "relative_to": carrier}


def _distance(fields: dict[str, Any], where: str) -> dict[str, Any]:
    if "to" not in fields:
        raise CoreError(f"{where}.to: missing; a distance is kept to a bone, a point or an object.")
    if isinstance(fields["to"], str):
        to: Any = read_name(fields["to"], f"{where}.to")
    elif isinstance(fields["to"], list):
        to = Fixed(read_numbers(fields["to"], f"{where}.to", 3))
    else:
        named = read_one_of(fields["to"], f"{where}.to", ("object",), "a bone's name or [x, y, z]")
        to = Followed(read_name(named["object"], f"{where}.to.object"))
    if "to_point" in fields and not isinstance(to, str):
        raise CoreError(f'{where}.to_point: only where "to" is a bone.')
    return {
        "length": read_between(fields["distance"], f"{where}.distance"),
        "to": to,
        "to_point": _point(fields.get("to_point", "head"), f"{where}.to_point"),
        "bound": read_choice(fields.get("bound", "exactly"), f"{where}.bound", _BOUNDS),
    }


def _carrier(fields: dict[str, Any], where: str, targets: Mapping[str, Target]) -> str | None:
    if "relative_to" not in fields:
        return None
    for name, target in targets.items():
        if isinstance(target, Followed):
            raise CoreError(f'{where}.{name}: an object is where it is; with "relative_to" give numbers.')
    return read_name(fields["relative_to"], f"{where}.relative_to")


def _pinned(fields: dict[str, Any], where: str) -> dict[str, Any]:
    if "pin" not in fields:
        if "at" in fields:
            raise CoreError(f'{where}.at: only with "pin".')
        return {}
    at = read_whole(fields["at"], f"{where}.at", -FRAME_LIMIT) if "at" in fields else None
    pins = read_list(fields["pin"], f"{where}.pin")
    if not pins:
        raise CoreError(f'{where}.pin: needs "position", "rotation" or both.')
    return {read_choice(pin, f"{where}.pin[{i}]", ("position", "rotation")): Held(at) for i, pin in enumerate(pins)}


def _position(data: object, where: str) -> Target:
    if isinstance(data, list):
        return Fixed(read_numbers(data, where, 3))
    fields = read_one_of(data, where, ("object", "path"), "[x, y, z]")
    if "object" in fields:
        return Followed(read_name(fields["object"], f"{where}.object"))
    rows = read_list(fields["path"], f"{where}.path")
    if not rows:
        raise CoreError(f"{where}.path: needs at least one [frame, x, y, z].")
    points = [read_numbers(row, f"{where}.path[{i}]", 4) for i, row in enumerate(rows)]
    for i in range(1, len(points)):
        if points[i][0] <= points[i - 1][0]:
            raise CoreError(f"{where}.path[{i}]: the frames of a path must increase.")
    return Waypoints(tuple(p[0] for p in points), tuple(p[1:] for p in points))


def _rotation(data: object, where: str) -> Target:
    if not isinstance(data, list):
        fields = read_one_of(data, where, ("object",), "[w, x, y, z]")
        return Followed(read_name(fields["object"], f"{where}.object"))
    values = read_numbers(data, where, 4)
    length = math.hypot(*values)
    if length == 0.0:
        raise CoreError(f"{where}: the quaternion 0, 0, 0, 0 is no rotation.")
    return Fixed(tuple(value / length for value in values))


def _axis(data: object, where: str) -> tuple[float, ...]:
    if not isinstance(data, list):
        return _AXES[read_choice(data, where, tuple(_AXES), "[x, y, z]")]
    values = read_numbers(data, where, 3)
    if not any(values):
        raise CoreError(f"{where}: 0, 0, 0 is no direction.")
    return values


def _point(data: object, where: str) -> Any:
    if isinstance(data, list):
        return read_numbers(data, where, 3)
    return read_choice(data, where, ("head", "tail"), "[x, y, z]")


def _shares(data: object, where: str) -> tuple[float, ...]:
    values = read_numbers(data, where, 3)
    shares = tuple(read_between(value, f"{where}[{i}]") for i, value in enumerate(values))
    if not any(shares):
        raise CoreError(f"{where}: with 0 for every axis nothing is wanted.")
    return shares


def read_stiffness(data: object, where: str) -> tuple[float, ...]:
    """A bone's stiffness, 0 to 1: one number, or one for each of its own axes."""
    values = data if isinstance(data, list) else [read_number(data, where)] * 3
    numbers = read_numbers(values, where, 3)
    return tuple(read_between(number, where, 0.0, 1.0) for number in numbers)
