"""Options that allow library overrides of properties, and unique names that keep entries of collections on them."""

from secrets import token_hex
from typing import Any, Final

from bpy.props import StringProperty

OPEN: Final[Any] = {"LIBRARY_OVERRIDABLE"}
OPEN_LIST: Final[Any] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}  # a collection


def key() -> Any:
    """Return the property `name` of collection entries: library overrides lose entries with equal names."""
    return StringProperty(
        name="Name", description="What tells it from others in the list", options={"HIDDEN"}, override=OPEN
    )


def new_key(what: str) -> str:
    """Return a name that no other entry has in any file."""
    return f"{what} {token_hex(4)}"


def keying(field: str) -> Any:
    """Return the update callback of the first field of a new entry, which gives the entry a unique name."""

    def update(group: Any, context: Any) -> None:
        if not group.name:
            group.name = new_key(getattr(group, field))

    return update


def linked_count(armature: Any, collection: str) -> int:
    """Return how many entries of a collection belong to the linked file. They come first and cannot be removed."""
    override = armature.override_library
    return len(getattr(override.reference, collection)) if override is not None and override.reference else 0
