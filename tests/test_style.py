"""House style that can be read from the code: docstrings of core, words, names."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

SHIPPED = ("core", "bridge", "edits", "commands", "operators", "panels", "overlay", "properties", "languages")
FILES = sorted(path for room in SHIPPED for path in (ROOT / room).rglob("*.py"))
CORE = [path for path in FILES if path.is_relative_to(ROOT / "core")]
NO_VERB = {
    "A",
    "All",
    "An",
    "Any",
    "Each",
    "Every",
    "How",
    "It",
    "Its",
    "That",
    "The",
    "This",
    "What",
    "Where",
    "Whether",
    "Which",
}
WORDS = re.compile(r"\b(anew|heed(s|ed|ing)?|S[1-5])\b")


def names(paths: list) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The public functions of a module."""
    yield from (node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"))


def comments_and_docstrings(source: str) -> str:
    """What is written for readers of the code, without texts that users see."""
    docs = [
        ast.get_docstring(node) or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.FunctionDef)
        or (isinstance(node, ast.ClassDef) and not any("bpy" in ast.unparse(base) for base in node.bases))
    ]
    return "\n".join([*docs, *re.findall(r"(?:^|\s)# (.*)", source)])


@pytest.mark.parametrize("path", CORE, ids=names(CORE))
def test_public_functions_of_core_say_what_they_return_or_do(path) -> None:
    for function in functions(ast.parse(path.read_text(encoding="utf-8"))):
        words = (ast.get_docstring(function) or "").split()
        assert words, f"{function.name} has no docstring"
        assert words[0] not in NO_VERB, f"{function.name}: begin with a verb, as in 'Return the heads of all bones.'"
        assert "." in " ".join(words), f"{function.name}: a docstring is a sentence"


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_words_for_readers_are_plain(path) -> None:
    assert WORDS.findall(comments_and_docstrings(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_no_parameter_hides_a_name_of_pythons_own(path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg == "object"] == []
