"""Words of sentences to the user."""

from collections.abc import Sequence
from typing import Any, Final

import bpy

_NAMED: Final = 3  # bones named in one sentence
_LEAST: Final = 1e-4  # metres: shorter lengths are only said to be less


def listed(names: Sequence[str]) -> str:
    """Return e.g. 'A, B, C and 3 more' of at least one name."""
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    *first, last = [*names[:_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last


def as_text(sentences: Sequence[str]) -> str:
    """Return sentences without their full stops as one text."""
    return " ".join(f"{sentence}." for sentence in sentences)


def say_length(scene: Any, length: float) -> str:
    """Return a world length as text with three digits and the unit of the scene."""
    units, digits = scene.unit_settings, 3
    metres = units.scale_length * length
    said = bpy.utils.units.to_string(units.system, "LENGTH", max(metres, _LEAST), precision=digits).strip()
    return said if metres >= _LEAST else f"less than {said}"
