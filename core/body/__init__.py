"""The body in a skeleton: which bones are its parts, how its joints move, and poses made with that knowledge.

`detection` finds the parts, `roles` names them, `corrections` applies a user's corrections, `axes` has directions.
`anatomy` gives the relaxed pose, deviations and limits of the joints (`joint_limits`, `masses`); `tuning` learns them
from motion. `posture`, `mirror`, `gaze`, `grip` and `ground` (feet and hands on surfaces) pose the body.
"""

from .detection import find_roles
from .roles import BODY, SIDES, Roles

__all__ = ["BODY", "SIDES", "Roles", "find_roles"]
