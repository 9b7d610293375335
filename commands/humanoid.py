"""The humanoid method in JOB.json: `{"name": "humanoid", "pull", "resist", "reach", "finish"}`.

What JOB.json leaves open, as decided here:
- `pull` is a number for all ends or an object by role ("hand.L", "foot.R", "head", "chest"), `resist` an object by part
  of the trunk ("hips", "spine", "neck", "shoulder"), all 0 to 1; `reach` is a share of a limb's length;
- goals are positions and rotations, and pins of them, of hips, chest, head, hands, feet, elbows or knees; a goal's
  weight says how far the way to it is gone; priorities are not this method's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..core import CoreError, Humanoid
from ..core.humanoid import Roles
from .fields import read_between, read_fields, read_flag, shown

_METHOD: Final = ("name", "pull", "resist", "reach", "finish")
_DEFAULTS: Final = Humanoid()


@dataclass(frozen=True)
class Body:
    """The method of a job; see `Humanoid`."""

    pull: float | Mapping[str, float] = 1.0
    resist: Mapping[str, float] = field(default_factory=dict[str, float])
    reach: float = _DEFAULTS.reach
    finish: bool = _DEFAULTS.finish

    def method(self, roles: Roles, limits: bool, position_tolerance: float, rotation_tolerance: float) -> Humanoid:
        """For core."""
        return Humanoid(
            roles, **vars(self), limits=limits, position_tolerance=position_tolerance,
            rotation_tolerance=rotation_tolerance,
        )  # fmt: skip


def read_humanoid(data: object, where: str) -> Body:
    """The method of a job; raises CoreError naming the field that is wrong."""
    fields = read_fields(data, where, _METHOD)
    changes: dict[str, Any] = {}
    if "pull" in fields:
        pull = fields["pull"]
        by_role = isinstance(pull, dict)
        changes["pull"] = _shares(pull, f"{where}.pull") if by_role else read_between(pull, f"{where}.pull", 0.0, 1.0)
    if "resist" in fields:
        changes["resist"] = _shares(fields["resist"], f"{where}.resist")
    if "reach" in fields:
        changes["reach"] = read_between(fields["reach"], f"{where}.reach", 0.0, 1.0)
    if "finish" in fields:
        changes["finish"] = read_flag(fields["finish"], f"{where}.finish")
    return Body(**changes)


def _shares(data: object, where: str) -> dict[str, float]:
    if not isinstance(data, dict):
        raise CoreError(f"{where}: needs an object of names and numbers, not {shown(data)}.")
    named: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
    return {name: read_between(value, f"{where}.{name}", 0.0, 1.0) for name, value in named.items()}
