"""Tests in the bpy module with Poise enabled; `from core import ...` and the like give the extension's own modules."""

import pytest

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)


@pytest.fixture
def empty_file() -> None:
    """A new .blend file without objects; preferences and enabled extensions stay."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
