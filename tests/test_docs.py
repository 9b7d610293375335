"""The pages for newcomers name files, functions and operators that exist."""

import ast
import re
import runpy
from pathlib import Path

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.newest  # text is the same for both

ROOMS = (
    "core",
    "bridge",
    "edits",
    "commands",
    "operators",
    "panels",
    "overlay",
    "properties",
    "tests",
    "benchmarks",
    "docs",
)
NAMED = re.compile(r"`([\w/]+\.py)`:\s+((?:`[\w.]+`(?:,\s+| and )?)+)")


def defined(path: str) -> set[str]:
    """Names that a module defines or imports, and `Class.method`."""
    found: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
    return found


def named(page: str) -> list[tuple[str, str]]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [(path, name) for path, names in NAMED.findall(text) for name in re.findall(r"`([\w.]+)`", names)]


@pytest.mark.parametrize(("path", "name"), named("architecture.md"))
def test_what_the_walks_name_is_there(path: str, name: str) -> None:
    assert name in defined(path)


def test_the_walks_go_through_all_rooms() -> None:
    rooms = {path.partition("/")[0] for path, _ in named("architecture.md")}
    assert rooms >= {"operators", "commands", "edits", "bridge", "core", "overlay"}


def test_the_page_of_methods_names_files_and_operators_that_exist() -> None:
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:core|benchmarks)/[\w/.]+)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    classes = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "operators").glob("*.py"))
    operators = re.findall(r"`poise\.(\w+)`", text)
    assert operators
    assert [name for name in operators if f"class POISE_OT_{name}(" not in classes] == []


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")))
def test_a_page_names_python_files_that_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    files |= {path.name for path in ROOT.glob("*.py")}
    named_files = re.findall(r"`([\w/]+\.py)`", text)
    assert [name for name in named_files if not any(f"/{file}".endswith(f"/{name}") for file in files)] == []


def test_the_site_shows_every_page() -> None:
    contents = runpy.run_path(str(ROOT / "docs" / "conf.py"))["CONTENTS"]
    shown = [page for pages in contents.values() for page in pages]
    assert [page for page in shown if not (ROOT / f"{page}.md").is_file()] == []
    pages = [path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(page for page in shown if page.startswith("docs/")) == sorted(
        page for page in pages if not page.startswith("docs/listing/")
    )


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_lead_to_headings_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    missing = [f"{path}#{name}" for path, name in links if name not in anchors(page.parent / path if path else page)]
    assert missing == []
