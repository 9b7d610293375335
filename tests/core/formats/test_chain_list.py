"""Contribution CCD as JSON: the method "ccd" of a job, and lists in files of their own."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Actuation, CoreError
from core.formats.chain_list import THE_CCD, Ccd, actuations_data, list_text, read_list_file
from core.formats.job import parse

LIST = [
    {"bone": "forearm.R", "axis": "X", "fraction": 0.4, "angle": 10},
    {"bone": "upper_arm.R", "axis": "X", "fraction": 0.6, "angle": 5},
    {"bone": "upper_arm.R", "axis": "Z", "fraction": 0.6},
    {"bone": "forearm.R", "axis": "Z", "fraction": 0.2},
]


def test_a_list_brings_its_numbers_and_a_job_may_say_others(tmp_path: Path) -> None:
    actuations = (Actuation("forearm.R", "X"),)
    file = tmp_path / "list.json"
    file.write_text(list_text(Ccd(actuations=actuations, mode="mixed", passes=3, successive=True)), encoding="utf-8")
    method = THE_CCD.read({"name": "ccd", "successive": False, "passes": 1}, "method").over(read_list_file(file))
    assert (method.actuations, method.mode, method.passes, method.successive) == (actuations, "mixed", 1, False)
    file.write_text(json.dumps(LIST), encoding="utf-8")  # as it was once
    assert actuations_data(read_list_file(file).actuations)[0] == LIST[0]
    for text, sentence in (('{"mode": "mixed"}', "file.list: missing"), ('{"list": [], "base": "hips"}', "base")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(CoreError, match=sentence):
            read_list_file(file)


def test_the_method_of_a_job_is_read_in_full_and_refused_by_name() -> None:
    goals = [{"bone": "hand.R", "position": [0, 0, 1]}]

    def job(method: object = None, **fields: Any) -> dict[str, Any]:
        return {"version": 1, "goals": goals, "method": method or {"name": "ccd", "list": LIST}, **fields}

    full = {"name": "ccd", "list": LIST, "base": "upper_arm.R", "mode": "mixed", "share": 0.25, "passes": 4,
            "sweeps": 0, "finish": False, "successive": True}  # fmt: skip
    read = parse(job(full)).ccd
    assert read is not None
    assert read.actuations[0] == Actuation("forearm.R", "X", 0.4, float(np.radians(10.0)))
    assert vars(read.method(True, 0.01)) == vars(read.method(True, 0.01)) | {
        "base": "upper_arm.R", "mode": "mixed", "share": 0.25, "passes": 4, "sweeps": 0, "finish": False,
        "successive": True, "limits": True, "position_tolerance": 0.01,
    }  # fmt: skip
    for data, message in (
        (job({"name": "ccd", "lst": []}), 'method.lst: unknown field; did you mean "list"?'),
        (job({"name": "ccd", "list": []}), "method.list: The list has no actuations"),
        (job({"name": "ccd", "list": {}}), "method.list: needs a list"),
        (job({"name": "ccd", "list": [{"bone": "a"}]}), "method.list[0].axis: missing"),
        (job({"name": "ccd", "list": [{"bone": "a", "axis": "W"}]}), 'method.list[0].axis: needs "X" or "Y" or "Z"'),
        (
            job({"name": "ccd", "list": [{"bone": "a", "axis": "X", "fraction": 2}]}),
            "fraction: must be between 0 and 1",
        ),
        (job({"name": "ccd", "list": [{"bone": "a", "axis": "X", "angle": -1}]}), "angle: must be at least 0"),
        (job({"name": "ccd", "mode": "all"}), 'method.mode: needs "larger" or "smaller" or "mixed"'),
        (job({"name": "ccd", "passes": 1.5}), "method.passes: needs a whole number"),
        (job({"name": "ccd", "wins": "pins"}), "method.wins: unknown field"),
        (job({"name": "ccd", "chain": "arm", "list": LIST}), "method.list: the saved chain has its own; remove it"),
        (job(goals=goals * 2), "goals: "),
        (job(goals=[{"bone": "a", "rotation": [1, 0, 0, 0]}]), "goals: the chain ends at one bone: give it one goal"),
        (job({"name": "ccd", "chains": []}), "method.chains: needs at least one chain"),
        (
            job({"name": "ccd", "chains": [{"bone": "a", "list": LIST}], "list": LIST}),
            "method.list: each chain has its own",
        ),
        (job({"name": "ccd", "chains": [{"list": LIST}]}), "method.chains[0].bone: missing; or name a saved chain"),
        (job({"name": "ccd", "chains": [{"bone": "a"}]}), "method.chains[0].list: missing; or name a saved chain"),
        (
            job({"name": "ccd", "chains": [{"chain": "a", "bone": "b"}]}),
            "method.chains[0].bone: the saved chain has its",
        ),
        (job(goals=[{**goals[0], "relative_to": "hips"}]), "goals[0].relative_to: only with"),
        (job(method={"name": "CCD", "list": []}), 'method.name: needs "pins" or "ccd" or "humanoid", not "CCD"'),
        (job(stretch=True), 'stretch: only with the method "pins"'),
        (job(stiffness={"hips": 1}), 'stiffness: only with the method "pins"'),
        (job(limits="soft"), 'limits: "soft" only with'),
    ):
        with pytest.raises(CoreError, match=re.escape(message)):
            parse(data)
