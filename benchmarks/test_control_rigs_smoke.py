"""That the table of control rigs is measured and printed."""

from importlib.util import find_spec

import pytest

from benchmarks.smoke import printed_by

pytestmark = pytest.mark.skipif(find_spec("bpy") is None, reason="control rigs need PyPI's bpy")


def test_a_rig_is_measured_and_is_a_row_of_the_table() -> None:
    printed = printed_by("benchmarks.control_rigs", "--rig", "Quaternius", "--feature", "spine on Spline IK")
    lines = [line for line in printed.splitlines() if line[:1] == "|"]
    assert lines[0].startswith("| rig | drag: shown off mm |")
    row = next(line for line in lines if line.startswith("| Quaternius |"))
    assert len(row.split("|")) == len(lines[0].split("|"))
    assert "**" not in row
    assert lines[-1].startswith("| spine on Spline IK | leaves it")
    assert len(lines[-1].split("|")) == len(lines[-3].split("|"))
