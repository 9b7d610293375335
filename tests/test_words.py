"""What users read has the words of the glossary in CONTRIBUTING.md, and none that it lists as not to be used."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.newest  # text is the same for both

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


# Buttons that name what a tool is set to, in place of the tool.
CHOICES = {
    "poise.apply_pose": {"Paste", "Apply from Selected"},
    "poise.blend_pose": {"Blend from Selected"},
    "poise.clear_roles": {"Reset All"},
    "poise.mirror_pose": {"Flip"},
    "poise.retarget": {"From File..."},
    "poise.take_posture": {"Relaxed"},
}


def labels(room: str) -> dict[str, str]:
    """The names of operators, by what calls them."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / room).rglob("*.py"))
    found: dict[str, str] = {}
    for node in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        own = {
            ast.unparse(line.targets[0]): line.value.value
            for line in node.body
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        }
        found |= {own["bl_idname"]: own["bl_label"]} if {"bl_idname", "bl_label"} <= own.keys() else {}
    return found


def buttons(room: str) -> Iterator[tuple[str, str]]:
    """The operators that are drawn, with the texts of their buttons."""
    for tree in (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].startswith("operator"):
                text = next((keyword.value for keyword in node.keywords if keyword.arg == "text"), None)
                if isinstance(text, ast.Constant) and text.value and isinstance(node.args[0], ast.Constant):
                    yield node.args[0].value, text.value


def is_short_for(text: str, label: str) -> bool:
    """Whether all words of a text are in a label, in their order, without dots and what the search finds it by."""
    rest = iter(label.casefold().split())
    return all(word in rest for word in re.sub(r"\.\.\.$|\(.*\)$", "", text).casefold().split())


def test_a_tool_has_one_name() -> None:
    names = labels("operators")
    drawn = [(of, text, names[of]) for of, text in buttons("panels") if of in names]
    assert len(drawn) > 20
    assert [
        (text, name) for of, text, name in drawn
        if text not in CHOICES.get(of, ()) and not is_short_for(text, name) and not is_short_for(name, text)
    ] == []  # fmt: skip
    assert [text for of, text, name in drawn if text == name] == []  # Blender knows it


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
