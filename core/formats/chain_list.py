"""Contribution CCD in JOB.json and in files of its own: the list of joints, and the numbers of the method.

A list is `[{"bone", "axis": "X|Y|Z", "fraction", "angle" in degrees}]` in the order in which the joints are turned.
The method is `{"name": "ccd", "list": [...], "base", "mode", "share", "passes", "sweeps", "finish", "successive"}`;
all but the name have defaults, those of `ContributionCCD`. Or it is `{"name": "ccd", "chain": NAME}`: a chain that is
saved with the armature, with its list and its numbers.

What JOB.json leaves open, as decided here:
- the job has one goal: a "position", or a pin of it, of the chain's effector. Where it is off, frames stay as they are;
- "fraction" and "angle" of an entry may be left out: 1 and 0, the full rotation;
- the list may be left out where `contribute` brings one.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import Actuation, ContributionCCD, CoreError
from ..solvers.chain.actuations import AXES, checked_list
from ..solvers.chain.method import MODES
from .fields import read_between, read_choice, read_fields, read_flag, read_json, read_list, read_name, read_whole

_ENTRY: Final = ("bone", "axis", "fraction", "angle")
NUMBERS: Final = ("mode", "share", "passes", "sweeps", "finish", "successive")  # that go with a list
_METHOD: Final = ("name", "chain", "list", "base", *NUMBERS)
_DEFAULTS: Final = ContributionCCD((Actuation("any", "X"),))
_MOST: Final = 1000  # passes or sweeps


@dataclass(frozen=True)
class Ccd:
    """The method of a job, or of a list's file; see `ContributionCCD`.

    chain   the name of a saved one, which has all the rest
    said    the fields that were given; the others are the defaults
    """

    chain: str | None = None
    actuations: tuple[Actuation, ...] = ()
    base: str | None = None
    mode: Any = _DEFAULTS.mode
    share: float = _DEFAULTS.share
    passes: int = _DEFAULTS.passes
    sweeps: int = _DEFAULTS.sweeps
    finish: bool = _DEFAULTS.finish
    successive: bool = _DEFAULTS.successive
    said: frozenset[str] = frozenset()

    def method(self, limits: bool, position_tolerance: float) -> ContributionCCD:
        """For core; raises CoreError if there is no list."""
        if not self.actuations:
            raise CoreError("method.list: missing; name the joints that turn.")
        own = {name: value for name, value in vars(self).items() if name not in ("chain", "said")}
        return ContributionCCD(**own, limits=limits, position_tolerance=position_tolerance)

    def over(self, other: "Ccd") -> "Ccd":
        """What this one says, and for the rest another one."""
        return replace(other, **{name: getattr(self, name) for name in self.said}, said=self.said | other.said)

    @property
    def bones(self) -> dict[str, str]:
        """Bones that it names, by field."""
        named = {f"method.list[{number}].bone": str(one.bone) for number, one in enumerate(self.actuations)}
        return named if self.base is None else named | {"method.base": self.base}


def read_ccd(data: object, where: str) -> Ccd:
    """The method of a job; raises CoreError naming the field that is wrong."""
    fields = read_fields(data, where, _METHOD)
    changes: dict[str, Any] = {}
    if "chain" in fields:
        changes["chain"] = read_name(fields["chain"], f"{where}.chain")
        other = next((name for name in fields if name not in ("name", "chain")), None)
        if other is not None:
            raise CoreError(f"{where}.{other}: the saved chain has its own; leave it out.")
    if "list" in fields:
        changes["actuations"] = read_actuations(fields["list"], f"{where}.list")
    if "base" in fields:
        changes["base"] = read_name(fields["base"], f"{where}.base")
    if "mode" in fields:
        changes["mode"] = read_choice(fields["mode"], f"{where}.mode", MODES)
    if "share" in fields:
        changes["share"] = read_between(fields["share"], f"{where}.share", 0.0, 1.0)
    for name in ("passes", "sweeps"):
        if name in fields:
            changes[name] = read_whole(fields[name], f"{where}.{name}", 0, _MOST)
    for name in ("finish", "successive"):
        if name in fields:
            changes[name] = read_flag(fields[name], f"{where}.{name}")
    return Ccd(**changes, said=frozenset(changes))


def read_actuations(data: object, where: str) -> tuple[Actuation, ...]:
    """A list from JSON data."""
    entries = [_entry(entry, f"{where}[{number}]") for number, entry in enumerate(read_list(data, where))]
    try:
        return checked_list(entries)
    except CoreError as error:
        raise CoreError(f"{where}: {error}") from error


def _entry(data: object, where: str) -> Actuation:
    fields = read_fields(data, where, _ENTRY)
    for name in ("bone", "axis"):
        if name not in fields:
            raise CoreError(f"{where}.{name}: missing.")
    angle = read_between(fields.get("angle", 0.0), f"{where}.angle", 0.0)
    return Actuation(
        read_name(fields["bone"], f"{where}.bone"),
        read_choice(fields["axis"], f"{where}.axis", AXES),
        read_between(fields.get("fraction", 1.0), f"{where}.fraction", 0.0, 1.0),
        float(np.radians(angle)),
    )


def actuations_data(actuations: Sequence[Actuation]) -> list[dict[str, Any]]:
    """A list as JSON data: the inverse of `read_actuations`, angles to a thousandth of a degree."""
    return [
        {
            "bone": one.bone,
            "axis": one.axis,
            "fraction": round(one.fraction, 4),
            "angle": round(float(np.degrees(one.angle)), 3),
        }
        for one in actuations
    ]


def read_list_file(path: Path) -> Ccd:
    """The list in a file, with the numbers that it says; raises CoreError, beginning with the file's name, if it is no
    good. A file of old is the list alone.
    """
    return read_json(path, "list", _listing)


def _listing(data: object) -> Ccd:
    if isinstance(data, list):
        return Ccd(actuations=read_actuations(data, "list"), said=frozenset(["actuations"]))
    if "list" not in read_fields(data, "file", ("list", *NUMBERS)):
        raise CoreError("file.list: missing; name the joints that turn.")
    return read_ccd(data, "file")


def list_text(ccd: Ccd) -> str:
    """A list with its numbers as the text of its file, an entry a line."""
    numbers = "".join(f' "{name}": {json.dumps(getattr(ccd, name))},\n' for name in NUMBERS)
    entries = ",\n".join(f"  {json.dumps(entry)}" for entry in actuations_data(ccd.actuations))
    return f'{{\n{numbers} "list": [\n{entries}\n ]\n}}\n'
