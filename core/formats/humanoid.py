"""The humanoid method in JOB.json: `{"name": "humanoid", "pull", "resist", "shares", "reach", "swivel", "finish"}`.

Goals are positions and rotations, and pins of them, of hips, chest, head, hands, feet, elbows or knees, and with
`finish` all others. The weight of a position or rotation is the share of the difference that is taken; priorities count
where `finish` has to choose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .. import Humanoid
from ..body import Roles
from .table import FLAG, NAME, UNIT, Field, Table, by_type, number, object_of, tag

_DEFAULTS: Final = Humanoid()
_TURN: Final = 360.0  # degrees
_MOST: Final = 100.0  # of a share
_NAMED: Final = "an object of names and numbers"


@dataclass(frozen=True)
class HumanoidSettings:
    """The method of a job; see `Humanoid`. `swivel` in radians."""

    pull: float | Mapping[str, float] = 1.0
    resist: Mapping[str, float] = field(default_factory=dict[str, float])
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    reach: float = _DEFAULTS.reach
    swivel: Mapping[str, float] = field(default_factory=dict[str, float])
    finish: bool = _DEFAULTS.finish

    def method(self, roles: Roles, limits: bool, **tolerances: Any) -> Humanoid:
        """Return the method for core."""
        return Humanoid(roles, **vars(self), limits=limits, **tolerances)


def _radians(angles: Mapping[str, float]) -> dict[str, float]:
    return {name: float(np.radians(angle)) for name, angle in angles.items()}


HUMANOID: Final = Table(
    (
        Field("name", tag("humanoid"), "the method", needed="null"),
        Field("pull", by_type({dict: object_of(UNIT, _NAMED)}, UNIT),
              "how much each of chest, head, hands and feet, or one number for all, pulls the body "
              "along if its target is out of reach; at 0 the limb only stretches out, and the report "
              "says by how much it misses",
              example='"pull": {"hand.L": 0.5}'),
        Field("resist", object_of(UNIT, _NAMED),
              "how much hips, spine, neck and shoulders resist being pulled along; at 1 they stay in place",
              example='"resist": {"hips": 1}'),
        Field("shares", object_of(number(0.0, _MOST), _NAMED, NAME),
              "how much a bone of the spine or neck rotates relative to the others: 1 is the default, at 0 "
              "it does not rotate",
              example='"shares": {"spine": 0.5, "chest": 2}'),
        Field("reach", UNIT,
              "how far a limb stretches, as a share of its length, before it pulls; one that is "
              "stretched further already pulls from there", example='"reach": 0.9'),
        Field("swivel", object_of(number(-_TURN, _TURN), _NAMED).into(_radians),
              "how far an elbow or a knee is rotated about the line from the root of the limb to its end, "
              "in degrees; by default as in the pose", example='"swivel": {"arm.L": 30}'),
        Field("finish", FLAG, "solve what the closed forms miss or cannot do with the method `pins`"),
    ),
    HumanoidSettings,
)  # fmt: skip
