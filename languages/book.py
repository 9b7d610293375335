"""Translations of texts and of sentences that have names and numbers in them; no Blender needed.

The keys of a language's file are the texts of the source, without a final full stop. What an f-string puts in is `{0}`,
`{1}` ...: "{0} has no pins" translates '"Rig" has no pins.'. What is put in is kept, but for sentences and phrases of
the file that are in it, such as reasons. A text that is not in the file stays English.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("ja_JP", "zh_HANS")  # as Blender names them
_PLACE: Final = re.compile(r"\{(\d+)\}")
_NAME: Final = r"((?:(?![.;] ).)*?)"  # what is put in is part of one sentence
_JOINT: Final = re.compile(r"(?:[.;:]|(?<=[^,]),) ")
_LISTED: Final = re.compile(r"(, | and )")
_FULL_STOP: Final = re.compile(r"(?<!\.)\.$")
_GENERAL: Final = 9  # letters: a sentence with fewer of its own is recognised only if a phrase is put into it


@dataclass(frozen=True)
class Sentence:
    """A text with places: its longest part, its pattern, the numbers of the places, its translation, its letters."""

    part: str
    pattern: re.Pattern[str]
    places: tuple[str, ...]
    translation: str
    letters: int


@dataclass(frozen=True)
class Book:
    """The translations of one language: of whole texts, and sentences, those with most letters of their own first."""

    texts: dict[str, str]
    sentences: tuple[Sentence, ...]


def entries(language: str) -> dict[str, str]:
    """Return the file of a language: English text -> translation."""
    return json.loads(Path(__file__).with_name(f"{language}.json").read_text(encoding="utf-8"))


@cache
def book(language: str) -> Book:
    """Return the translations of one of LANGUAGES."""
    texts = entries(language)
    sentences = [_sentence(text, translation) for text, translation in texts.items() if _PLACE.search(text)]
    return Book(texts, tuple(sorted(sentences, key=lambda sentence: -sentence.letters)))


def without_full_stop(text: str) -> str:
    """Return a text without the full stop at its end; an ellipsis stays."""
    return _FULL_STOP.sub("", text)


@lru_cache(maxsize=1000)
def translate(text: str, language: str) -> str:
    """Return a text of the interface in a language of Blender's; what has no translation stays as it is."""
    return _in_parts(text, book(language)) if language in LANGUAGES else text


def _sentence(text: str, translation: str) -> Sentence:
    parts = _PLACE.split(text)
    pattern = "".join(_NAME if number % 2 else re.escape(part) for number, part in enumerate(parts))
    fixed = parts[::2]
    return Sentence(max(fixed, key=len), re.compile(pattern), tuple(parts[1::2]), translation, sum(map(len, fixed)))


def _in_parts(text: str, book: Book) -> str:
    """Return the translation of a text that may be several sentences or phrases in a row."""
    if (whole := _whole(text, book)) is not None:
        return whole
    for joint in reversed(list(_JOINT.finditer(text))):
        end = joint.end() - 1 if joint.group()[0] == "." else joint.start()
        if (first := _whole(text[:end], book)) is not None:
            return first + text[end : joint.end()].replace(". ", "") + _in_parts(text[joint.end() :], book)
    if (joint := _JOINT.search(text)) is not None:
        return text[: joint.end()] + _in_parts(text[joint.end() :], book)
    return text


def _whole(text: str, book: Book) -> str | None:
    """Return the translation of one text of the file, or None."""
    bare = without_full_stop(text.strip())
    found = book.texts.get(bare)
    if found is None:
        found = next(_filled_in(bare, book), None)
    if found is None:
        return None
    return found + ("。" if text.rstrip() != bare and text.rstrip().endswith(".") else "")


def _filled_in(text: str, book: Book) -> Iterator[str]:
    """Yield the translations of the sentences that a text can be."""
    for sentence in book.sentences:
        if sentence.part not in text or (match := sentence.pattern.fullmatch(text)) is None:
            continue
        put_in = [_put_in(part, book) for part in match.groups()]
        if sentence.letters >= _GENERAL or any(new != old for new, old in zip(put_in, match.groups(), strict=True)):
            yield _PLACE.sub(lambda place: put_in[sentence.places.index(place[1])], sentence.translation)  # noqa: B023


def _put_in(text: str, book: Book) -> str:
    """Return what is put into a sentence: a phrase translated, a name as it is."""
    if not (" " in text.strip() or text.islower()):
        return text
    if (whole := _whole(text, book)) is not None:
        return whole
    parts = _LISTED.split(text)
    return "".join(book.texts.get(part.strip(), part) if number % 2 else _put_in(part, book) for number, part in enumerate(parts)) if len(parts) > 1 else text
