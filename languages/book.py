"""Translations of texts, and of sentences that have names and numbers in them; no Blender needed.

The keys of a language's file are the texts of the source, without a final full stop. What an f-string puts in is `{0}`,
`{1}` ...: "{0} has no pins" translates "Rig has no pins."; "(s)" is the end of a plural. What is put in is kept, but
for phrases of the file that are in it, such as reasons; what is in quotation marks is always a name. A text that is
not in the file stays English. `{0:part}` in a translation says that parts of the body are put in: their names, such as
"hand.L", are translated, those of bones never. "part hand" is the key of such a name without its side.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = ("ja_JP", "zh_HANS")  # as Blender names them
_PLACE: Final = re.compile(r"\{(\d+)(:part)?\}")
_PART: Final = re.compile(r"([a-z]+(?:_[a-z]+)*(?:\.[a-z]+)*)(?:\.(\d+))?(?:\.([LR]))?")  # name, number, side
_PART_KEY: Final = "part "
_SIDES: Final = {"L": "左", "R": "右"}  # in both languages
_QUOTED: Final = r'([^"]*)'
_PUT_IN: Final = r'((?:"[^"]*"|(?![.;] )[^"])*?)'  # part of one sentence
_JOINT: Final = re.compile(r"[.;:,] ")
_END: Final = re.compile(r"[.;] ")  # of what may itself have clauses
_AFTER: Final = re.compile(r"^(?:\{0\}; |[.;:,] )")
_COUNT: Final = r"(\d+)"
_COUNTED: Final = re.compile(r" [a-z ]+\(s\)")
_CLAUSE: Final = re.compile(r"[,:]( |$)| (is|are) ")
# What is between sentences and phrases in a row.
_MARKS: Final = {
    "ja_JP": {". ": "。", ", ": "、", " and ": "、", " or ": "、"},
    "zh_HANS": {". ": "。", ", ": "，", "; ": "；", ": ": "：", " and ": "和", " or ": "和"},
}
_LISTED: Final = re.compile(r"(, | and )")
_LISTED_PARTS: Final = re.compile(", | and | or ")
_LIST: Final = re.compile(r"[\w.:-]+(, [\w.:-]+)*( (and|or) (\d+ others?|[\w.:-]+))?")
_FULL_STOP: Final = re.compile(r"(?<!\.)\.$")
_SMALL: Final = {"a", "and", "are", "at", "in", "is", "of", "on", "s", "the", "to"}  # words that any sentence has


@dataclass(frozen=True)
class Sentence:
    """A text with places: its longest part, pattern and places, how many letters of its own it has, its translation.

    places: the number of each, and whether it is in quotation marks; parts: the numbers of those for parts of the body;
    common: only the phrases in it tell it from others
    """

    part: str
    pattern: re.Pattern[str]
    places: tuple[tuple[str, bool], ...]
    parts: frozenset[str]
    letters: int
    common: bool
    translation: str


@dataclass(frozen=True)
class Book:
    """The translations of one language: of whole texts, and sentences, those with most letters of their own first."""

    marks: dict[str, str]
    texts: dict[str, str]
    sentences: tuple[Sentence, ...]


def entries(language: str) -> dict[str, str]:
    """Return the file of a language: English text -> translation."""
    return json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))


@cache
def book(language: str) -> Book:
    """Return the translations of one of LANGUAGES."""
    texts = entries(language)
    # what is put after another sentence is found alone, too, but for single words, which may be names
    after = {_AFTER.sub("", text): said for text, said in texts.items() if _AFTER.match(text)}
    texts |= {text: said.removeprefix("{0}").lstrip("、。，；：: ") for text, said in after.items() if " " in text}
    sentences = [_sentence(text, translation) for text, translation in texts.items() if _PLACE.search(text)]
    return Book(_MARKS[language], texts, tuple(sorted(sentences, key=lambda sentence: -sentence.letters)))


def without_full_stop(text: str) -> str:
    """Return a text without the full stop at its end; an ellipsis stays."""
    return _FULL_STOP.sub("", text)


@lru_cache(maxsize=1000)
def translate(text: str, language: str) -> str:
    """Return a text of the interface in a language of Blender's; what has no translation stays as it is."""
    return _in_parts(text, book(language)) if language in LANGUAGES else text


def translate_parts(text: str, language: str) -> str:
    """Return a text with its names of parts of the body in a language of Blender's; other words stay."""
    return _parts(text, book(language)) if language in LANGUAGES else text


def parts(language: str) -> dict[str, str]:
    """Return the translations of the names of parts, with and without sides: "hand", "hand.L", "hand.R" ..."""
    names = [key.removeprefix(_PART_KEY) for key in entries(language) if key.startswith(_PART_KEY)]
    named = [name + side for name in names for side in ("", *(f".{side}" for side in _SIDES))]
    return {name: translate_parts(name, language) for name in named}


def _parts(text: str, book: Book) -> str:
    def said(found: re.Match[str]) -> str:
        part, number, side = found.groups()
        known = book.texts.get(_PART_KEY + part)
        return _SIDES.get(side, "") + known + (f" {number}" if number else "") if known else found[0]

    return _LISTED_PARTS.sub(lambda mark: book.marks[mark[0]], _PART.sub(said, text))


def _sentence(text: str, translation: str) -> Sentence:
    """Return a text of the file that has places."""
    parts = _PLACE.split(text)
    fixed = parts[::3]
    quoted = [before.endswith('"') and after.startswith('"') for before, after in pairwise(fixed)]
    regex = re.escape(fixed[0])
    for after, name in zip(fixed[1:], quoted, strict=True):
        regex += (_QUOTED if name else _COUNT if _COUNTED.match(after) else _PUT_IN) + re.escape(after)
    longest = max((part for one in fixed for part in one.split("(s)")), key=len)
    places = tuple(zip(parts[1::3], quoted, strict=True))
    common = {*re.findall("[a-z]+", " ".join(fixed).lower())} <= _SMALL
    pattern = re.compile(regex.replace(r"\(s\)", "s?"))
    named = frozenset(number for number, part in _PLACE.findall(translation) if part)
    return Sentence(longest, pattern, places, named, sum(map(len, fixed)), common, translation)


def _in_parts(text: str, book: Book) -> str:
    """Return the translation of a text that may be several sentences or phrases in a row."""
    found = _known(text, book)
    if found is not None:
        return found
    joint = _END.search(text) or _JOINT.search(text)
    if joint is None:
        return text
    first = text[: joint.start()]
    said = _in_parts(first, book)
    mark = joint[0] if said == first else book.marks.get(joint[0], joint[0])
    return said + mark + _in_parts(text[joint.end() :], book)


def _known(text: str, book: Book) -> str | None:
    """Return the translation of a text that is in the file, in a row of such texts or with several put into it."""
    found = _row(text, book)
    return _whole(text, book, lists=True) if found is None else found


def _row(text: str, book: Book) -> str | None:
    """Return the translation of sentences and phrases in a row, each of which is in the file, or None."""
    whole = _whole(text, book, lists=False)
    if whole is not None:
        return whole
    for joint in reversed(list(_JOINT.finditer(text))):
        first = _whole(text[: joint.start()], book, lists=False)
        rest = None if first is None else _row(text[joint.end() :], book)
        if rest is not None:
            return f"{first}{book.marks.get(joint[0], joint[0])}{rest}"
    return None


def _whole(text: str, book: Book, lists: bool) -> str | None:
    """Return the translation of one text of the file, or None; if `lists`, what is put into it may be several."""
    stripped = text.strip()
    bare = without_full_stop(stripped)
    found = book.texts.get(bare)
    if found is None:
        found = _filled_in(bare, book, lists)
    if found is None:
        found = _filled_in(bare[:1].lower() + bare[1:], book, lists)
    return found + "。" if found is not None and bare != stripped else found


def _filled_in(text: str, book: Book, lists: bool) -> str | None:
    """Return the translation of a sentence with names, numbers and phrases in it, or None."""
    for sentence in book.sentences:
        match = sentence.pattern.fullmatch(text) if sentence.part in text else None
        if match is None:
            continue
        given = dict(zip(sentence.places, match.groups(), strict=True))
        listed = {one for (number, _), one in given.items() if number in sentence.parts and _LIST.fullmatch(one)}
        if not lists and any(map(_CLAUSE.search, {*given.values()} - listed)):
            continue
        said = {number: one if quoted else _put_in(one, book) for (number, quoted), one in given.items()}
        if not sentence.common or [*said.values()] != [*given.values()]:
            return _PLACE.sub(partial(_look_up, said, book), sentence.translation)
    return None


def _put_in(text: str, book: Book) -> str:
    """Return what is put into a sentence: phrases translated, one by one if they are listed, and names as they are."""
    if " " not in text.strip():
        return text
    found = _known(text, book)
    if found is not None:
        return found
    listed = _LISTED.split(text)
    return text if len(listed) == 1 else "".join(_put_in(one, book) for one in listed)


def _look_up(said: dict[str, str], book: Book, place: re.Match[str]) -> str:
    return _parts(said[place[1]], book) if place[2] else said[place[1]]
