"""House style that can be read from the code: docstrings of core, words, names."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.newest  # text is the same for both

SHIPPED = ("core", "bridge", "edits", "commands", "operators", "panels", "overlay", "properties", "languages")
FILES = sorted(path for room in SHIPPED for path in (ROOT / room).rglob("*.py"))
CORE = [path for path in FILES if path.is_relative_to(ROOT / "core")]
SMALL = [path for path in FILES if {"pins", "drag"} & {*path.relative_to(ROOT).parts[:-1]}]
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
# What only POSIX has
POSIX_MODULES = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
POSIX_NAMES = re.compile(
    r"^(os\.(fork\w*|kill\w*|get(e?[ug]id|pgid|sid)|set\w*id|chown|mkfifo|wait\w*|uname|O_NO\w+)"
    r"|signal\.(SIG(ALRM|CHLD|HUP|KILL|QUIT|USR[12])|alarm|pthread\w*|setitimer)|socket\.AF_UNIX)$"
)
OPENS = ("open", "read_text", "write_text")
BINARY = {"rb", "wb", "xb", "ab", "r+b"}
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


@pytest.mark.parametrize("path", SMALL, ids=names(SMALL))
def test_files_and_classes_of_the_solver_and_the_drag_are_small(path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 500
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            assert sum(isinstance(part, ast.FunctionDef) for part in node.body) <= 15, node.name


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_words_for_readers_are_plain(path) -> None:
    assert WORDS.findall(comments_and_docstrings(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_no_parameter_hides_a_name_of_pythons_own(path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg == "object"] == []


def posix(source: str) -> list[str]:
    """What a module needs of POSIX, and texts that are read or written in the encoding of the user's system."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            found += sorted(({module} if module else {name.name for name in node.names}) & POSIX_MODULES)
        elif isinstance(node, ast.Attribute) and POSIX_NAMES.match(ast.unparse(node)):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Constant) and re.match("/(dev|proc|tmp)/", str(node.value)):
            found.append(str(node.value))
        elif isinstance(node, ast.Call) and (name := ast.unparse(node.func)).rpartition(".")[2] in OPENS:
            binary = {getattr(one, "value", None) for one in node.args} & BINARY
            if (
                not binary
                and name not in ("os.open", "archive.open")
                and "encoding" not in {k.arg for k in node.keywords}
            ):
                found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", FILES, ids=names(FILES))
def test_nothing_assumes_posix_or_an_encoding(path) -> None:
    assert posix(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line", ["import fcntl", "from pwd import getpwuid", "os.fork()", "open('/dev/null', 'rb')", "signal.SIGKILL",
             "open(path)", "path.read_text()", "open(path, 'w')"],
)  # fmt: skip
def test_what_assumes_posix_or_an_encoding_is_found(line: str) -> None:
    assert posix(line)
