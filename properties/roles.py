"""Settings of single bones: the role that the user assigned, learnt limits and stiffness."""

from typing import Any, Final

from bpy.props import StringProperty

from .overrides import saved, stored

# On every pose bone, where a renamed bone takes it along and a library override keeps it.
SETTINGS: Final[dict[str, Any]] = {
    "role": saved(StringProperty, "Part", "The part of the body that the bone plays, where it is not as found"),
    "learned": stored("Learnt Limits", "How far the bone turns and twists in the action that it learnt from"),
    "tuning": stored(
        "Learnt Stiffness", "How the bone usually is turned, and how easily it turns, in the action that it learnt from"
    ),
}
