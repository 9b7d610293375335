"""What makes a property open to library overrides."""

from typing import Any, Final

OPEN: Final[Any] = {"LIBRARY_OVERRIDABLE"}
OPEN_LIST: Final[Any] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}  # a collection
