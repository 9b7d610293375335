"""What users read has the words of the glossary in CONTRIBUTING.md, and none that it lists as not to be used."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.long  # text is the same for both

ROOMS = ("operators", "panels", "properties", "overlay", "edits", "bridge", "commands", "core")
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def unwanted() -> list[str]:
    """The words of the glossary's last column."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Words\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[3] for line in text.splitlines() if line.startswith("| ")]
    return sorted({word.strip() for row in rows[2:] for word in row.split(",")})


WORDS = re.compile(rf"\b(?:{'|'.join(unwanted())})\b", re.IGNORECASE)


def shown(source: str) -> Iterator[str]:
    """The texts of a module that may be shown, and of docstrings the tooltips."""
    tree = ast.parse(source)
    hidden = {
        id(node.body[0].value)  # pyright: ignore
        for node in ast.walk(tree)
        if isinstance(node, DEFINITIONS)
        and ast.get_docstring(node) is not None
        and not getattr(node, "name", "").startswith("POISE_")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.value


MODULES = sorted(str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("path", MODULES)
def test_no_text_has_a_word_that_is_not_to_be_used(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    assert [(words.group(), line) for line in shown(text) if (words := WORDS.search(line))] == []


PAGES = sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_a_word_that_is_not_to_be_used(path: str) -> None:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    assert [(words.group(), line) for line in lines if (words := WORDS.search(line))] == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('class POISE_OT_x:\n    """Let the bone be led"""', 1),
        ('class Led:\n    """What is led anew"""', 0),
        ('raise CoreError(f"{name} was heeded, or not.")', 1),
        ('x = ("cm", "Centimetres")', 1),
        ('x = "the body is dragged"', 0),
    ],
)
def test_the_search_finds_what_users_read(source: str, count: int) -> None:
    assert sum(WORDS.search(text) is not None for text in shown(source)) == count
