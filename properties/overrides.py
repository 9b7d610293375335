"""What makes a property open to library overrides, and entries of collections last on them."""

from secrets import token_hex
from typing import Any, Final

from bpy.props import StringProperty

OPEN: Final[Any] = {"LIBRARY_OVERRIDABLE"}
OPEN_LIST: Final[Any] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}  # a collection


def key() -> Any:
    """The `name` of entries that may be of one bone or part: library overrides lose entries whose names are alike."""
    return StringProperty(
        name="Name", description="What tells it from others in the list", options={"HIDDEN"}, override=OPEN
    )


def new_key(what: str) -> str:
    """A name that no other entry has, in no file that this one may be linked to."""
    return f"{what} {token_hex(4)}"


def keying(field: str) -> Any:
    """What a field that is set first in a new entry does: give the entry a name that no other has, in no file."""

    def update(group: Any, context: Any) -> None:
        if not group.name:
            group.name = new_key(getattr(group, field))

    return update


def linked_count(armature: Any, collection: str) -> int:
    """How many entries of a collection are of the linked file; they come first, and stay in it.

    They cannot be taken out, and `clear` leaves them in.
    """
    override = armature.override_library
    return len(getattr(override.reference, collection)) if override is not None and override.reference else 0
