"""Contribution CCD in JOB.json and in files of its own: the list of joints, and the numbers of the method.

A job by "ccd" has one goal: a "position", or a pin of it, of the chain's effector. Where it is off, frames stay as they
are. The list of a job may be left out where `contribute` has one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from .. import Actuation, ContributionCCD, CoreError
from ..solvers.chain.actuations import AXES, checked_list
from ..solvers.chain.method import MODES
from .files import read_json
from .table import FLAG, NAME, UNIT, Field, Table, any_of, choice, list_of, number, tag, whole

NUMBERS: Final = ("mode", "share", "passes", "sweeps", "finish", "successive")  # of the method, saved with a list
_DEFAULTS: Final = ContributionCCD((Actuation("any", "X"),))
_MOST: Final = 1000  # passes or sweeps


@dataclass(frozen=True)
class Ccd:
    """The method of a job, or of a list's file; see `ContributionCCD`.

    chain   the name of a saved chain, which has all the rest
    said    the fields that were given; the others have their defaults
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
        """Return the method for core; raises CoreError if there is no list."""
        if not self.actuations:
            raise CoreError("method.list: missing; name the joints that turn.")
        own = {name: value for name, value in vars(self).items() if name not in ("chain", "said")}
        return ContributionCCD(**own, limits=limits, position_tolerance=position_tolerance)

    def over(self, other: "Ccd") -> "Ccd":
        """Return this method with the fields of `other` in place of those that were not given."""
        return replace(other, **{name: getattr(self, name) for name in self.said}, said=self.said | other.said)

    @property
    def bones(self) -> dict[str, str]:
        """The names of its bones, by field."""
        named = {f"method.list[{number}].bone": str(one.bone) for number, one in enumerate(self.actuations)}
        return named if self.base is None else named | {"method.base": self.base}


def _checked(entries: Sequence[Actuation], where: str) -> tuple[Actuation, ...]:
    try:
        return checked_list(entries)
    except CoreError as error:
        raise CoreError(f"{where}: {error}") from error


ENTRY: Final = Table(
    (
        Field("bone", NAME, "the bone that turns", needed="missing."),
        Field("axis", choice(AXES), "about which axis of its rest frame", needed="missing."),
        Field("fraction", UNIT, "of the rotation that this joint alone would need"),
        Field("angle", number(0.0).into(np.radians).into(float), "degrees that it turns in any case"),
    ),
    Actuation,
)
ACTUATIONS: Final = list_of(ENTRY.into()).then(_checked, minItems=1)
_LIST_FIELD: Final = Field(
    "list", ACTUATIONS, "the joints that turn, in their order", attribute="actuations",
    example='"list": [{"bone": "forearm.R", "axis": "X", "fraction": 0.3, "angle": 20}]',
)  # fmt: skip
_NUMBER_FIELDS: Final = (
    Field("mode", choice(MODES), "take the larger or the smaller of fraction and angle; mixed: the larger first"),
    Field("share", UNIT, 'of the passes, rounded up, that take the larger in "mixed"'),
    Field("passes", whole(0, _MOST), "how often the list is gone through"),
    Field("sweeps", whole(0, _MOST), "of plain CCD after the list, at most"),
    Field("finish", FLAG, "go the rest of the way by least squares where plain CCD stalls"),
    Field("successive", FLAG, "each frame goes on from the one before"),
)  # fmt: skip


def _alone(given: Mapping[str, Any], where: str) -> None:
    other = next((name for name in given if name not in ("name", "chain")), None)
    if "chain" in given and other is not None:
        raise CoreError(f"{where}.{other}: the saved chain has its own; leave it out.")


CCD: Final = Table(
    (
        Field("name", tag("ccd"), "the method", needed="null"),
        Field("chain", NAME, "a chain that is saved with the armature, with its list and its numbers"),
        _LIST_FIELD,
        Field("base", NAME, "the first bone of the chain; by default the effector's root"),
        *_NUMBER_FIELDS,
    ),
    Ccd,
    check=_alone,
    more={"dependentSchemas": {"chain": {"maxProperties": 2}}},  # its name and that of the method
)
FILE: Final = Table((replace(_LIST_FIELD, needed="missing; name the joints that turn."), *_NUMBER_FIELDS), Ccd)


def _said(values: dict[str, Any]) -> Ccd:
    return Ccd(**values, said=frozenset(values))


THE_CCD: Final = CCD.kind().into(_said)


def _read_file(data: object, where: str) -> Ccd:
    if isinstance(data, list):
        return _said({"actuations": ACTUATIONS.read(data, "list")})
    return _said(FILE.read(data, "file"))


THE_FILE: Final = any_of(_read_file, FILE.schema, ACTUATIONS.schema)


def actuations_data(actuations: Sequence[Actuation]) -> list[dict[str, Any]]:
    """Return a list as JSON data, angles in degrees to a thousandth."""
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
    """Return the list in a file, with the numbers that it says; a file of an older Poise is the list alone.

    Raises CoreError, beginning with the file's name, if it cannot be read.
    """
    return read_json(path, "list", lambda data: THE_FILE.read(data, ""))


def list_text(ccd: Ccd) -> str:
    """Return a list with its numbers as the text of its file, an entry a line."""
    numbers = "".join(f' "{name}": {json.dumps(getattr(ccd, name))},\n' for name in NUMBERS)
    entries = ",\n".join(f"  {json.dumps(entry)}" for entry in actuations_data(ccd.actuations))
    return f'{{\n{numbers} "list": [\n{entries}\n ]\n}}\n'
