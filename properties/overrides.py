"""Options that allow library overrides of properties, and unique names that keep entries of collections on them."""

from collections.abc import Callable
from secrets import token_hex
from typing import Any, Final

from bpy.props import CollectionProperty, StringProperty

_OPEN: Final[Any] = {"LIBRARY_OVERRIDABLE"}
_OPEN_LIST: Final[Any] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


def saved(kind: Callable[..., Any], name: str, description: str, **options: Any) -> Any:
    """Return a property of a kind of `bpy.props` that library overrides may change, a collection's entries too."""
    override = _OPEN_LIST if kind is CollectionProperty else _OPEN
    return kind(name=name, description=description, override=override, **options)


def stored(name: str, description: str) -> Any:
    """Return the property of a text that is not shown."""
    return saved(StringProperty, name, description, options={"HIDDEN"})


def key() -> Any:
    """Return the property `name` of collection entries: library overrides lose entries with equal names."""
    return stored("Name", "Identifier of the entry in the list")


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
