"""Words of sentences to the user."""

from collections.abc import Sequence
from typing import Final

_NAMED: Final = 3  # bones named in one sentence


def listed(names: Sequence[str]) -> str:
    """Return e.g. 'A, B, C and 3 more' of at least one name."""
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    *first, last = [*names[:_NAMED], *more]
    return f"{', '.join(first)} and {last}" if first else last
