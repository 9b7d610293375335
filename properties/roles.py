"""Which part of the body a bone plays, where the user says so."""

from typing import Any, Final

from bpy.props import StringProperty

from .overrides import OPEN

# On every pose bone, where a renamed bone takes it along and a library override keeps it.
ROLES: Final[dict[str, Any]] = {
    "role": StringProperty(
        name="Part", description="The part of the body that the bone plays, where it is not as found", override=OPEN
    )
}
