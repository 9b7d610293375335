"""How Sphinx makes a site of the pages: `make docs` writes build/site, and fails on a link that leads nowhere."""

import shutil
from pathlib import Path
from typing import Any, Final

project = "Poise"
copyright = "The Poise developers"
extensions = ["myst_parser"]
root_doc = "README"  # the pages lie where they lie in the repository, so that links hold in both
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md", "tests/data/*/LICENSES.md"]
exclude_patterns = [".*", "build", "dist", "docs/listing"]
myst_heading_anchors = 4  # levels of headings that links can go to, by the names that GitHub gives them
html_theme = "furo"
html_title = "Poise"
html_favicon = "listing/icon.png"
html_theme_options = {"sidebar_hide_name": False}
html_copy_source = False
html_show_sphinx = False

CONTENTS: Final = {
    "Start": ["README"],
    "Tools": [
        "docs/pins",
        "docs/controls",
        "docs/humanoid",
        "docs/limits",
        "docs/poses",
        "docs/grip",
        "docs/contribution",
        "docs/motion",
        "docs/generate",
        "docs/retarget",
        "docs/animation",
        "docs/keypoints",
    ],
    "Tutorials": [
        "docs/tutorials/mixamo",
        "docs/tutorials/feet",
        "docs/tutorials/rigify",
        "docs/tutorials/jump",
        "docs/tutorials/tail",
        "docs/tutorials/phone",
    ],
    "Without a window": ["docs/jobs", "docs/formats", "docs/batch", "docs/python"],
    "Measured": [
        "docs/measured/index",
        "docs/measured/performance",
        "docs/measured/quality",
        "docs/measured/naturalness",
        "docs/measured/drag",
        "docs/measured/robust",
        "docs/measured/detection",
        "docs/measured/motion",
        "docs/measured/retarget",
        "docs/measured/keypoints",
        "docs/measured/controls",
    ],
    "How it works": ["docs/methods", "docs/solver", "docs/architecture", "CONTRIBUTING", "CHANGELOG"],
    "Licenses": ["docs/examples/LICENSES", "tests/data/motion/LICENSES", "tests/data/rigs/LICENSES"],
}


def setup(app: Any) -> None:
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_front_page)


def add_contents(app: Any, name: str, source: list[str]) -> None:
    """Add the list of pages to the front page; on GitHub its own links are enough."""
    if name == root_doc:
        for caption, pages in CONTENTS.items():
            inside = "\n".join(page.replace(root_doc, "self") for page in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{inside}\n```\n"


def add_front_page(app: Any, error: Exception | None) -> None:
    """Let a web server find the front page."""
    if error is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
