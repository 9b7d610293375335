"""What the extensions platform is given beside the zip: a text, an icon and a picture, of the sizes it asks for."""

import re
import struct
import tomllib
from pathlib import Path

import pytest

from tests.paths import ROOT

LISTING = ROOT / "docs" / "listing"
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
TAGLINE = 64  # characters, of Blender's rules for a manifest
LARGEST = 3_000_000  # bytes
RGBA = 6  # kind of colour in a PNG file, with transparency


def header(path: Path) -> tuple[int, int, int]:
    """Width, height and kind of colour of a PNG file."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    return width, height, kind


@pytest.mark.parametrize(("name", "size"), [("icon.png", (256, 256)), ("featured.png", (1920, 1080))])
def test_a_picture_has_the_size_that_the_platform_asks_for(name: str, size: tuple[int, int]) -> None:
    assert header(LISTING / name)[:2] == size
    assert (LISTING / name).stat().st_size < LARGEST


def test_the_icon_has_no_background() -> None:
    assert header(LISTING / "icon.png")[2] == RGBA


def test_the_text_says_what_the_manifest_says() -> None:
    title, tagline, *_ = (line for line in (LISTING / "listing.md").read_text(encoding="utf-8").splitlines() if line)
    assert title == f"# {MANIFEST['name']}"
    assert tagline == MANIFEST["tagline"]
    assert len(tagline) <= TAGLINE
    assert tagline[-1].isalnum()  # no full stop


def test_the_text_names_each_permission() -> None:
    text = (LISTING / "listing.md").read_text(encoding="utf-8")
    permissions = re.search(r"^## Permissions\n\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert permissions is not None
    for name in MANIFEST["permissions"]:
        assert f"{name.capitalize()}: " in permissions[1]
