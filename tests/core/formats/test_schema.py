"""What is made of the tables of the formats is up to date, and says what the readers say."""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from core import CoreError
from core.formats import schema
from core.formats.chain_list import THE_FILE, Ccd, list_text, read_list_file
from core.formats.job import parse
from core.formats.mapping import MAPPING
from core.formats.markers import parse_marker_mapping
from core.formats.pose import PART_POSE
from core.formats.recipe import PRESETS, parse_recipe
from core.formats.report import FloorReport, GoalReport, Report

ROOT = Path(__file__).resolve().parents[3]
GOAL: dict[str, Any] = {"bone": "hand.L", "position": [0.0, 0.0, 1.0]}
LIST = [{"bone": "a", "axis": "X", "fraction": 0.4, "angle": 10}, {"bone": "b", "axis": "Z"}]
READERS: dict[str, Callable[[Any], object]] = {
    "job": parse,
    "recipe": parse_recipe,
    "list": lambda data: THE_FILE.read(data, ""),
    "mapping": lambda data: MAPPING.read(data, ""),
    "pose": lambda data: PART_POSE.read(data, ""),
    "markers": lambda data: parse_marker_mapping("markers", data),
}
VALIDATORS = {name: Draft202012Validator(json.loads(schema.schema_text(name))) for name in schema.FORMATS}


def job(**fields: Any) -> dict[str, Any]:
    return {"version": 1, "frames": [1, 120], "goals": [GOAL], **fields}


DOCUMENTS: list[tuple[str, Any]] = [
    ("job", job()),
    ("job", {"version": 1, "goals": [{**GOAL, "point": [0, 1, 2]}], "roles": {"hips": "Hips"}}),
    ("job", job(method={"name": "ccd", "list": LIST, "base": "a", "mode": "mixed", "share": 0.5, "sweeps": 3})),
    ("job", job(method={"name": "ccd", "chain": "arm"})),
    ("job", job(method={"name": "humanoid", "pull": {"hand.L": 0.5}, "swivel": {"arm.L": 30}, "finish": True})),
    ("job", job(method={"wins": "drag"}, write={"action": None, "bones": "changed"}, tolerance={"rotation": 1})),
    ("job", job(goals=[{"role": "head", "rotation": {"object": "Cup"}, "axes": [0, 0, 1], "position": [1, 2, 3]}])),
    ("job", job(goals=[{"bone": "a", "look_at": {"path": [[1, 0, 0, 0]]}, "axis": [0, 1, 0], "relative_to": "b"}])),
    ("job", job(goals=[{"bone": "a", "distance": 1, "to": {"object": "Cup"}}], balance={"masses": {"a": 1}})),
    ("job", job(goals=[{"bone": "a", "pin": ["position"], "at": 3, "frames": [2, 50], "ease": 3, "priority": 2}])),
    ("list", LIST),
    ("markers", {"marks": {"hip.L": ["LASI", "LPSI"], "nose": ["NOSE"]}, "unit": "mm", "up": "+Z"}),
    ("mapping", {"version": 1, "roles": {"hips": "Hips", "spine": ["a", "b"], "head": None}}),
    ("pose", {"version": 1, "turns": {"hips": [[1, 0, 0, 0]], "spine": [[0, 0, 0, 1]] * 2}, "posed": ["hips"]}),
    (
        "pose",
        {
            "version": 1,
            "turns": {"hips": [[1, 0, 0, 0]], "leg.front.L": [[1, 0, 0, 0]]},
            "posed": ["leg.front.L"],
            "legs": {"leg.front.L": [0.5]},
        },
    ),
]
REFUSED: list[tuple[str, Any, str]] = [
    ("job", {"version": 1}, "goals: there must be at least one goal."),
    ("job", job(goals=[]), "goals: there must be at least one goal."),
    ("job", job(method={"name": "ccd", "chain": "arm", "passes": 3}), "method.passes: the saved chain has its own"),
    ("job", job(stiffness={"": 0.5}), "stiffness: needs a name"),
    ("job", job(balance={"masses": {"": 1}}), "balance.masses: needs a name"),
    ("job", job(balance={"masses": {}}), "balance.masses: at least one bone must have a mass above 0"),
    ("job", job(write={"action": "a" * 64}), "write.action: a name has at most 63 bytes"),
    ("job", job(roles=""), "roles: needs a name"),
    ("pose", {"version": 1, "turns": {"head": [[1, 0, 0, 0]]}, "posed": []}, "turns.hips: missing."),
    ("pose", {"version": 1, "turns": {"hips": []}, "posed": []}, "turns.hips: needs a quaternion."),
    ("pose", {"version": 1, "turns": {"hips": [1]}, "posed": []}, "turns.hips[0]: needs a list of 4 numbers, not 1."),
    ("pose", {"version": 1, "turns": {"hips": [[1, 0, 0]]}, "posed": []}, "turns.hips[0]: needs 4 numbers, not 3."),
    ("pose", {"version": 1, "turns": {"hips": [[1, 0, 0, 0]], "wing": []}, "posed": []}, 'turns: "wing" is not a part'),
    *(
        ("recipe", {"version": 1, "seconds": 1, "poses": {"min": {name: [1, 2, 3]}, "max": {}}}, f"poses.min.{name}: ")
        for name in ("frame", "action")
    ),
]
DOCUMENTS += [("recipe", json.loads(file.read_text(encoding="utf-8"))) for file in sorted(PRESETS.glob("*.json"))]


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of README.md and the pages of docs/."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        yield page.name, page.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(schema.texts(ROOT)), ids=lambda path: path.name)
def test_a_file_that_is_made_of_the_tables_is_up_to_date(path: Path) -> None:
    made = schema.texts(ROOT)[path]
    assert path.read_text(encoding="utf-8") == made, "run: python -m core.formats.schema"


def test_every_table_is_shown_somewhere() -> None:
    shown = {name for _, text in pages() for name in re.findall(r"<!-- (?:fields|examples) of (.+?) -->", text)}
    assert shown == set(schema.TABLES)


def test_help_says_range_default_and_meaning() -> None:
    lines = schema.help_text(schema.CCD).splitlines()
    assert "  passes      whole number from 0 to 1000 (default 1): how often the list is applied" in lines
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", sorted(schema.FORMATS))
def test_a_schema_is_a_json_schema(name: str) -> None:
    Draft202012Validator.check_schema(VALIDATORS[name].schema)


@pytest.mark.parametrize(("name", "data"), DOCUMENTS)
def test_what_is_read_is_valid(name: str, data: Any) -> None:
    READERS[name](data)
    VALIDATORS[name].validate(data)


@pytest.mark.parametrize(("name", "data", "sentence"), REFUSED)
def test_what_is_refused_is_not_valid(name: str, data: Any, sentence: str) -> None:
    assert refusal(name, data).startswith(sentence)
    assert not VALIDATORS[name].is_valid(data)


def test_the_jobs_of_the_documentation_are_read_and_valid() -> None:
    demo = json.loads((ROOT / "docs/examples/demo_job.json").read_text(encoding="utf-8"))
    blocks = [json.loads(block) for _, text in pages() for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    jobs = [demo, *(block for block in blocks if "goals" in block)]
    assert len(jobs) > 1
    for data in jobs:
        parse(data)
        VALIDATORS["job"].validate(data)


def test_the_examples_of_the_tables_are_read_and_valid() -> None:
    rows = [row for _, text in pages() for row in re.findall(r"^\| `([{\"][^`]*)` \|", text, re.MULTILINE)]
    assert len(rows) > 20
    recipe = {"version": 1, "seconds": 1.0, "poses": {"min": {}, "max": {}}}
    for row in rows:
        if row.startswith("{"):
            name, data = "job", job(goals=[json.loads(row)])
        else:
            fields = json.loads(f"{{{row}}}")
            (field,) = fields
            own = {one.name for one in schema.HUMANOID.fields}
            name, data = (
                ("recipe", recipe | fields)
                if field in {one.name for one in schema.RECIPE.fields}
                else ("job", job(method={"name": "humanoid", **fields} if field in own else {}))
                if field in own
                else ("job", job(**fields))
            )
        READERS[name](data)
        VALIDATORS[name].validate(data)


def test_a_list_that_poise_writes_is_read_and_valid(tmp_path: Path) -> None:
    ccd = THE_FILE.read({"list": LIST, "mode": "smaller", "passes": 3}, "")
    file = tmp_path / "list.json"
    file.write_text(list_text(ccd), encoding="utf-8")
    found = read_list_file(file)
    assert (found.actuations, found.mode, found.passes) == (ccd.actuations, "smaller", 3)
    assert isinstance(found, Ccd)
    VALIDATORS["list"].validate(json.loads(file.read_text(encoding="utf-8")))


def test_a_report_is_valid() -> None:
    goal = GoalReport("hand.L", "pin", np.array([1.0, 2.5]), np.array([0.0, 0.2]), None, 0.001, 0.5)
    seconds = {"read": 0.1, "solve": 0.2, "write": 0.1}
    floor = FloorReport("toe.L", 2.0, depth=0.03, before=0.0, leg=0.9, tolerance=0.003)
    report = Report(
        "rig", np.array([1.0, 2.0, 2.5]), "pins", seconds, (goal,), ("hand.L is short",), None, (), (), floor=floor
    )
    data = json.loads(json.dumps(report.data()))
    VALIDATORS["report"].validate(data)
    VALIDATORS["report"].validate(data | {"skating": {"before": 0.1, "after": 0.0}})  # verbs add what they found
    assert not VALIDATORS["report"].is_valid(data | {"skated": {}})
    assert not report.shown
    assert floor.sentence().startswith("the tip of the toes of foot.L is 30 mm below the floor at frame 2.")
    assert replace(report, floor=replace(floor, before=0.028)).shown  # as deep as it was
    assert replace(report, floor=replace(floor, depth=0.017)).shown
    assert not VALIDATORS["report"].is_valid({name: value for name, value in data.items() if name != "goals"})


JUNK = [None, True, 0, -1, 2.5, 1e30, "", "x", [], [1], [1, 2, 3], {}, {"a": 1}, {"object": ""}, {"path": []}]
# What no schema says: numbers in relation to others, and what Blender's names may not have.
UNSAID = re.compile(
    "increase|backwards|not a rotation|not a direction|weight above|mass above|twice|fit into|fully active|"
    "only in a job|keyed|only where|already pinned|"
    'with "relative_to"|for itself|Flight|flight|only with|ends at one|looks, dist|'
    "needs \\d+ numbers|must be between [\\d.]+ and [\\d.]+, not|cannot be read|unit quat|not a part of a body"
)


def changed(data: Any, rng: np.random.Generator) -> Any:
    """The document with one value replaced, left out, or added."""
    data = deepcopy(data)
    places = list(walk(data))
    holder, key = places[rng.integers(len(places))]
    match rng.integers(3):
        case 0:
            holder[key] = JUNK[rng.integers(len(JUNK))]
        case 1 if isinstance(holder, dict):
            del holder[key]
        case _ if isinstance(holder, dict):
            holder[f"{key}x"] = holder[key]
        case _:
            holder.append(JUNK[rng.integers(len(JUNK))])
    return data


def walk(data: Any) -> Iterator[tuple[Any, Any]]:
    for key in data if isinstance(data, dict) else range(len(data)):
        yield data, key
        if isinstance(data[key], (dict, list)):
            yield from walk(data[key])


def test_a_schema_refuses_what_the_reader_refuses_and_nothing_else() -> None:
    rng = np.random.default_rng(19)
    refused = 0
    for _ in range(1500):
        name, data = DOCUMENTS[rng.integers(len(DOCUMENTS))]
        data = changed(data, rng)
        sentence, valid = refusal(name, data), VALIDATORS[name].is_valid(data)
        assert valid == (not sentence) or (valid and UNSAID.search(sentence)), (sentence, data)
        refused += not valid
    assert refused > 500


def refusal(name: str, data: Any) -> str:
    """The sentence that refuses a document; empty for one that is read."""
    try:
        READERS[name](data)
    except CoreError as error:
        return str(error)
    return ""
