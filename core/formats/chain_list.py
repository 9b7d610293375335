"""Contribution CCD in JOB.json and in files of its own: the list of joints, and the numbers of the method.

A chain leads one goal of the job: a "position", or a pin of it, of its effector. Where it is off, frames stay as they
are; other goals are served by pins and drag afterwards. The list of a job may be left out where `contribute` has one.
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
_OF_JOBS: Final = ("chains", "chain", "bone", "said")  # fields that the method of core does not have


@dataclass(frozen=True)
class Ccd:
    """The method of a job, or of a list's file; see `ContributionCCD`.

    chains  of a job with several; else there is one, which is this
    chain   the name of a saved chain, which has all the rest
    bone    the effector; by default that of the only goal, or of the only one that is no pin
    said    the fields that were given; the others have their defaults
    """

    chains: tuple["Ccd", ...] = ()
    chain: str | None = None
    bone: str | None = None
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
            raise CoreError("method.list: missing; name the joints that rotate.")
        own = {name: value for name, value in vars(self).items() if name not in _OF_JOBS}
        return ContributionCCD(**own, limits=limits, position_tolerance=position_tolerance)

    def over(self, other: "Ccd") -> "Ccd":
        """Return this method with the fields of `other` in place of those that were not given."""
        return replace(other, **{name: getattr(self, name) for name in self.said}, said=self.said | other.said)

    @property
    def parts(self) -> dict[str, "Ccd"]:
        """The chains, by their places in the job."""
        return {f"method.chains[{n}]": one for n, one in enumerate(self.chains)} if self.chains else {"method": self}

    @property
    def bones(self) -> dict[str, str]:
        """The names of all bones, by field."""
        named: dict[str, str] = {}
        for where, part in self.parts.items():
            named |= {f"{where}.list[{number}].bone": str(one.bone) for number, one in enumerate(part.actuations)}
            named |= {f"{where}.{name}": bone for name in ("base", "bone") if (bone := getattr(part, name)) is not None}
        return named


def _checked(entries: Sequence[Actuation], where: str) -> tuple[Actuation, ...]:
    try:
        return checked_list(entries)
    except CoreError as error:
        raise CoreError(f"{where}: {error}") from error


ENTRY: Final = Table(
    (
        Field("bone", NAME, "the bone that rotates", needed="missing."),
        Field("axis", choice(AXES), "axis of its rest frame about which it rotates", needed="missing."),
        Field("fraction", UNIT, "share of the rotation that this joint alone would need"),
        Field("angle", number(0.0).into(np.radians).into(float), "degrees that it rotates in any case"),
    ),
    Actuation,
)
ACTUATIONS: Final = list_of(ENTRY.into()).then(_checked, minItems=1)
_LIST_FIELD: Final = Field(
    "list", ACTUATIONS, "the joints that rotate, in their order", attribute="actuations",
    example='"list": [{"bone": "forearm.R", "axis": "X", "fraction": 0.3, "angle": 20}]',
)  # fmt: skip
_NUMBER_FIELDS: Final = (
    Field("mode", choice(MODES), "use the larger or the smaller of fraction and angle; mixed: first the larger"),
    Field("share", UNIT, 'share of the passes, rounded up, that use the larger value in "mixed"'),
    Field("passes", whole(0, _MOST), "how often the list is applied"),
    Field("sweeps", whole(0, _MOST), "maximum number of passes of plain CCD after the list"),
    Field("finish", FLAG, "bring the effector the rest of the way by least squares where plain CCD stalls"),
    Field("successive", FLAG, "each frame starts from the solution of the previous one"),
)  # fmt: skip


def _alone(given: Mapping[str, Any], where: str) -> None:
    for sole, why in (("chain", "the saved chain has its own"), ("chains", "each chain has its own")):
        other = next((name for name in given if name not in ("name", sole)), None)
        if sole in given and other is not None:
            raise CoreError(f"{where}.{other}: {why}; remove it.")


def _one_of_several(given: Mapping[str, Any], where: str) -> None:
    _alone(given, where)
    missing = next((name for name in ("bone", "list") if name not in given), None)
    if "chain" not in given and missing is not None:
        raise CoreError(f'{where}.{missing}: missing; or name a saved chain in "chain".')


_CHAIN_FIELDS: Final = (
    Field("chain", NAME, "a chain saved with the armature, with its list and settings"),
    _LIST_FIELD,
    Field("base", NAME, "the first bone of the chain; by default the root of the effector"),
    *_NUMBER_FIELDS,
)
_BONE_FIELD: Final = Field(
    "bone", NAME, "the bone at the end of the chain, which has a goal; a saved chain has its own"
)


def _said(values: dict[str, Any]) -> Ccd:
    return Ccd(**values, said=frozenset(values))


CHAIN: Final = Table(
    (_BONE_FIELD, *_CHAIN_FIELDS), Ccd, check=_one_of_several,
    more={"dependentSchemas": {"chain": {"maxProperties": 1}},
          "anyOf": [{"required": names} for names in (["bone", "list"], ["chain"])]},
)  # fmt: skip
CCD: Final = Table(
    (
        Field("name", tag("ccd"), "the method", needed="null"),
        Field("chains", list_of(CHAIN.kind().into(_said), "needs at least one chain.").into(tuple),
              "several chains, each for one of the goals; they are solved in this order, followed by "
              "goals without a chain, such as pins",
              example='"chains": [{"bone": "hand.L", "list": [{"bone": "forearm.L", "axis": "X"}]}, {"chain": "t"}]'),
        *_CHAIN_FIELDS,
    ),
    Ccd,
    check=_alone,
    more={"dependentSchemas": {one: {"maxProperties": 2} for one in ("chain", "chains")}},  # and the method's name
)  # fmt: skip
FILE: Final = Table((replace(_LIST_FIELD, needed="missing; name the joints that rotate."), *_NUMBER_FIELDS), Ccd)

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
