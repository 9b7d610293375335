"""The humanoid method in JOB.json: `{"name": "humanoid", "pull", "resist", "reach", "swivel",
"finish"}`.

What JOB.json leaves open, as decided here:
- `pull` is a number for all ends or an object by role ("hand.L", "foot.R", "head", "chest"), `resist` an object by part
  of the trunk ("hips", "spine", "neck", "shoulder"), all 0 to 1; `reach` is a share of a limb's length;
- `swivel` is an object by limb ("arm.L", "leg.R"), degrees; a limb that is not named keeps its own;
- goals are positions and rotations, and pins of them, of hips, chest, head, hands, feet, elbows or knees, and with
  `finish` all others; the weight of a place or rotation says how far the way to it is gone; priorities count where
  `finish` has to choose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .. import CoreError, Humanoid
from ..body import Roles
from .fields import read_between, read_fields, read_flag, shown

_METHOD: Final = ("name", "pull", "resist", "reach", "swivel", "finish")
_DEFAULTS: Final = Humanoid()
_TURN: Final = 360.0


@dataclass(frozen=True)
class HumanoidSettings:
    """The method of a job; see `Humanoid`."""

    pull: float | Mapping[str, float] = 1.0
    resist: Mapping[str, float] = field(default_factory=dict[str, float])
    reach: float = _DEFAULTS.reach
    swivel: Mapping[str, float] = field(default_factory=dict[str, float])
    finish: bool = _DEFAULTS.finish

    def method(self, roles: Roles, limits: bool, **tolerances: Any) -> Humanoid:
        """For core."""
        return Humanoid(roles, **vars(self), limits=limits, **tolerances)


def read_humanoid(data: object, where: str) -> HumanoidSettings:
    """The method of a job; raises CoreError naming the field that is wrong."""
    fields = read_fields(data, where, _METHOD)
    changes: dict[str, Any] = {}
    if "pull" in fields:
        pull = fields["pull"]
        by_role = isinstance(pull, dict)
        changes["pull"] = _numbers(pull, f"{where}.pull") if by_role else read_between(pull, f"{where}.pull", 0.0, 1.0)
    if "resist" in fields:
        changes["resist"] = _numbers(fields["resist"], f"{where}.resist")
    if "reach" in fields:
        changes["reach"] = read_between(fields["reach"], f"{where}.reach", 0.0, 1.0)
    if "swivel" in fields:
        angles = _numbers(fields["swivel"], f"{where}.swivel", -_TURN, _TURN)
        changes["swivel"] = {name: float(np.radians(angle)) for name, angle in angles.items()}
    if "finish" in fields:
        changes["finish"] = read_flag(fields["finish"], f"{where}.finish")
    return HumanoidSettings(**changes)


def _numbers(data: object, where: str, least: float = 0.0, most: float = 1.0) -> dict[str, float]:
    if not isinstance(data, dict):
        raise CoreError(f"{where}: needs an object of names and numbers, not {shown(data)}.")
    named: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
    return {name: read_between(value, f"{where}.{name}", least, most) for name, value in named.items()}
