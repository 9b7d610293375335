"""The texts of the interface, collected from the source: labels, tooltips, and the sentences that f-strings make."""

import ast
import re
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Final

from languages.book import without_full_stop
from tests.paths import ROOT

# Rooms with labels: there a word that begins with a capital letter is one.
LABELS: Final = ("operators", "panels", "properties", "preferences.py", "edits/body_tools.py")
_LABEL: Final = re.compile(r"[A-Z0-9][\w-]*[a-z][\w-]*(\.\.\.|:)?")
_LETTERS: Final = re.compile(r"[A-Za-z]{2}")
_PLACE: Final = re.compile(r"\{\d+\}")
_CODE: Final = re.compile(
    r"\w_\w|\}[A-Z]|\b[RL][A-Z][a-z]|\(\\|^[^\s.]*[.{]\S*[^\s.]$|;\n|^#|^slice|\|"
)  # names, patterns, shaders
_TOOLTIPS: Final = ("POISE_OT_", "POISE_PT_", "POISE_MT_", "POISE_TOOL_")
_DEFINITIONS: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_HIDDEN: Final = {"stored", "key", "new_key", "Field", "always"}  # calls whose texts are not shown, or in documents

Part = ast.expr | str | None  # an expression that is put in, a fixed text


def texts(path: Path) -> set[str]:
    """Return the texts of a module that the interface may show, with places `{0}` and without the final full stop."""
    name = path.relative_to(ROOT).as_posix()
    source = ast.parse(path.read_text(encoding="utf-8"))
    found = {without_full_stop(text.strip()) for text in _shown(source, name.startswith(LABELS))}
    return {text for text in found if _LETTERS.search(_PLACE.sub("", text)) and not _CODE.search(text)}


def _shown(node: ast.AST, labels: bool) -> Iterator[str]:
    """Yield the texts in a piece of source."""
    if isinstance(node, ast.Call) and _is_hidden(node):
        return
    if isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call) and (ways := list(_ways(node))) and _is_text(ways):
        for way in ways:
            yield _numbered(way)
            for part in way:
                if isinstance(part, ast.expr):
                    yield from _shown(part, labels)
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and (" " in node.value.strip() or (labels and _LABEL.fullmatch(node.value))):
            places = count()
            yield re.sub(r"\{(:[^}]*)?\}", lambda _: f"{{{next(places)}}}", node.value)
        return
    skipped = _docstring(node)
    for child in ast.iter_child_nodes(node):
        if child is not skipped and not (
            isinstance(node, ast.arg | ast.AnnAssign) and child is node.annotation and _is_type(child)
        ):
            yield from _shown(child, labels)


def _is_type(node: ast.AST) -> bool:
    return not isinstance(node, ast.Call)


def _docstring(node: ast.AST) -> ast.AST | None:
    """Return the docstring of a definition, unless it is a tooltip."""
    if not isinstance(node, _DEFINITIONS) or ast.get_docstring(node) is None:
        return None
    return None if getattr(node, "name", "").startswith(_TOOLTIPS) else node.body[0]


def _is_hidden(node: ast.Call) -> bool:
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return called in _HIDDEN or any(
        word.arg == "options" and "HIDDEN" in ast.unparse(word.value) for word in node.keywords
    )


def _is_text(ways: list[tuple[Part, ...]]) -> bool:
    return any(isinstance(part, str) for way in ways for part in way)


def _has_text(node: ast.expr) -> bool:
    return _is_text(list(_ways(node)))


def _numbered(parts: tuple[Part, ...]) -> str:
    """Return the text of a way, with a number for each expression."""
    places = count()
    return "".join(part if isinstance(part, str) else f"{{{next(places)}}}" for part in parts)


def _ways(node: ast.expr) -> Iterator[tuple[Part, ...]]:
    """Yield the texts that an expression can make: one for each choice between texts in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield (node.value,)
    elif isinstance(node, ast.JoinedStr):
        for ways in product(*(list(_ways(part)) for part in node.values)):
            yield tuple(part for way in ways for part in way)
    elif isinstance(node, ast.FormattedValue):
        yield from _ways(node.value)
    elif (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and (_has_text(node.left) or _has_text(node.right))
    ):
        for ways in product(list(_ways(node.left)), list(_ways(node.right))):
            yield tuple(part for way in ways for part in way)
    elif isinstance(node, ast.IfExp) and _has_text(node.body) and _has_text(node.orelse):
        yield from _ways(node.body)
        yield from _ways(node.orelse)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "counted":
        number, noun = node.args
        for way in _ways(noun):
            yield (number, " ", *way, "(s)")
    else:
        yield (node,)
