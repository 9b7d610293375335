"""The mapping of parts of a body to bones, in a file and in a job."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import CoreError
from core.formats.job import parse
from core.formats.mapping import read_mapping

JOB: dict[str, Any] = {"version": 1, "goals": [{"bone": "b", "position": [0, 0, 0]}]}
ROLES = {"spine": ["Spine", "Chest"], "hips": "Hips", "head": None}


def test_a_file_and_a_job_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "roles.json"
    file.write_text(json.dumps({"version": 1, "roles": ROLES, "facing": "+X"}), encoding="utf-8")
    expected = {"spine": ("Spine", "Chest"), "hips": "Hips", "head": None}
    assert list(read_mapping(file).roles.items()) == list(expected.items())
    assert parse({**JOB, "roles": ROLES}).roles == expected
    told = parse({**JOB, "roles": "roles.json"}, tmp_path)
    assert (told.roles, told.facing) == (expected, "+X")
    assert parse({**JOB, "roles": "roles.json", "facing": "-Y"}, tmp_path).facing == "-Y"
    assert parse(JOB).facing is None
    with pytest.raises(CoreError, match=r'^facing: needs "\+X" or .* not "Y"'):
        parse({**JOB, "facing": "Y"})


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"hnad.L": "Hand"}, '^roles.hnad.L: unknown field; did you mean "hand.L"?'),
        ({"hips": ["Hips"]}, r'^roles.hips: needs a name, not \["Hips"\].$'),
        ({"spine": "Spine"}, '^roles.spine: needs a list, not "Spine".$'),
        ({"spine": [""]}, r'^roles.spine\[0\]: needs a name, not "".$'),
        ([], r"^roles: needs an object in braces, not \[\].$"),
    ],
)
def test_a_mistake_is_refused_with_the_name_of_its_field(roles: object, message: str) -> None:
    with pytest.raises(CoreError, match=message):
        parse({**JOB, "roles": roles})


def test_a_file_of_another_version_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "roles.json"
    for data, said in (({}, "null"), ({"version": True}, "true"), ({"version": 2}, "2")):
        file.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(CoreError, match=f'roles.json": version: this Poise reads version 1, not {said}.'):
            read_mapping(file)
