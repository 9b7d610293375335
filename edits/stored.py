"""JSON that Poise keeps in properties of an armature, which a stranger's file may have spoiled.

What can be computed again is then taken as not there; what the user made is refused with a sentence.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..core import CoreError
from ..core.formats.recipe import parse_recipe
from ..core.sources import parse_json

Kept = TypeVar("Kept")

_SPOILED: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError)


def read_kept(armature: Any, name: str, read: Callable[[Any], Kept]) -> Kept | None:
    """Return what `read` makes of the JSON in a property; None where there is none, or `read` fails."""
    text = getattr(armature, name)
    try:
        return read(parse_json(text)) if text else None
    except _SPOILED:
        return None


def read_recipe_of(armature: Any) -> dict[str, Any]:
    """Return the recipe of the generated motion as JSON data, checked. Raises CoreError for a damaged one."""
    try:
        data = parse_json(armature.poise_recipe)
        parse_recipe(data)
    except ValueError as error:
        raise CoreError(f'The stored recipe of "{armature.name}" is damaged. Generate its motion again.') from error
    return data
