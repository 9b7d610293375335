"""The table of parts runs, and finds all of a shipped rig."""

import importlib.util

import pytest

from benchmarks.smoke import printed_by


def test_the_table_of_one_rig() -> None:
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("there is no bpy module here")
    printed = printed_by("benchmarks.detection", "odd_inherit_flags.blend")
    assert "| odd_inherit_flags | human | 20 of 20 | 20 of 20 |" in printed
