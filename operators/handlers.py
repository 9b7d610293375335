"""Functions that Blender calls: they may be gone before Poise takes them off, since any script may clear the lists."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any


def remove_handler(handlers: list[Callable[..., Any]], handler: Callable[..., Any]) -> None:
    """Take `handler` off one of the lists of `bpy.app.handlers`, unless another script did."""
    with suppress(ValueError):
        handlers.remove(handler)
