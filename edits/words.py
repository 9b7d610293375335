"""Words of sentences to the user."""

import re
from collections.abc import Iterable, Mapping


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 bone", "3 bones"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def renamed(sentences: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Return sentences in which bones have other names, such as those of the controls that the user sees."""
    old = "|".join(map(re.escape, names))
    named = re.compile(rf"(?<![\w.-])(?:{old})(?![\w-])")
    return [named.sub(lambda found: names[found[0]], sentence) for sentence in sentences] if old else [*sentences]
