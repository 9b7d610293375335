"""Settings of single bones: the role that the user assigned, learnt limits and stiffness."""

from typing import Any, Final

from bpy.props import StringProperty

from .overrides import OPEN

# On every pose bone, where a renamed bone takes it along and a library override keeps it.
ROLES: Final[dict[str, Any]] = {
    "role": StringProperty(
        name="Part", description="The part of the body that the bone plays, where it is not as found", override=OPEN
    ),
    "learned": StringProperty(
        name="Learnt Limits",
        description="How far the bone turns and twists in the action that it learnt from",
        options={"HIDDEN"},
        override=OPEN,
    ),
    "tuning": StringProperty(
        name="Learnt Stiffness",
        description="How the bone usually is turned, and how easily it turns, in the action that it learnt from",
        options={"HIDDEN"},
        override=OPEN,
    ),
}
