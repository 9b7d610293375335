"""Recipes: those that come with Poise, and mistakes in them."""

import json
from typing import Any

import pytest

from core import CoreError
from core.formats.recipe import PRESETS, Angles, Moment, parse_recipe, preset_names


def test_the_samples_of_the_source_ship_as_presets() -> None:
    wave, jump = (parse_recipe(json.loads((PRESETS / f"{name}.json").read_text())) for name in ("wave", "jump"))
    assert [len(samples.times) for parts, samples in wave.tracks if parts == "all"] == [11]
    assert [len(samples.times) for parts, samples in jump.tracks if parts == "all"] == [12]
    assert jump.path is not None
    assert len(jump.path.times) == 12


def recipe(**fields: Any) -> dict[str, Any]:
    return {"version": 1, "seconds": 2, "poses": {"min": {"hips": [0, 0, 0]}, "max": "present"}, **fields}


def test_every_preset_is_read() -> None:
    for name in preset_names():
        assert parse_recipe(json.loads((PRESETS / f"{name}.json").read_text(encoding="utf-8"))).name == name


def test_poses_are_angles_frames_actions_or_what_is_there() -> None:
    found = parse_recipe(recipe())
    assert (found.low, found.high) == (Angles({"hips": (0.0, 0.0, 0.0)}), Moment())
    poses = {"min": {"frame": 3}, "max": {"action": "wave", "frame": 4}}
    found = parse_recipe(recipe(poses=poses))
    assert (found.low, found.high) == (Moment(3), Moment(4, "wave"))


def test_samples_without_times_are_at_equal_parts_of_the_seconds() -> None:
    ((parts, samples),) = parse_recipe(recipe(tracks=[{"samples": [0, [0.5, 1], 1], "width": 0.2}])).tracks
    assert parts == "all"
    assert (samples.times, samples.values) == ((0.0, 0.5, 2.0), ((0.0,), (1.0,), (1.0,)))
    assert samples.more == {"gamma": 1.0, "width": 0.2} | {"gamma": samples.more["gamma"]}


def test_all_times_of_a_recipe_come_to_whole_frames() -> None:
    tracks = [{"samples": [[0, 0], [0.31, 0.2], [0.33, 0.4], [2, 1]], "weights": [1, 2, 3, 4]}]
    supports = [{"role": "foot.L", "seconds": [0, 0.42], "at": 0.38}]
    found = parse_recipe(recipe(tracks=tracks, supports=supports, flights=[[0.42, 0.9], [1.0, 1.01]])).at_frames(10.0)
    ((_, samples),) = found.tracks
    assert samples.times == (0.0, 0.3, 2.0)
    assert samples.values == ((0.0,), (0.4,), (1.0,))  # of two in one frame the last
    assert samples.more["weights"] == (1.0, 3.0, 4.0)
    assert (found.supports[0].start, found.supports[0].end, found.supports[0].at) == (0.0, 0.4, 0.4)
    assert [(flight.start, flight.end) for flight in found.flights] == [(0.4, 0.9)]  # of no frame: none


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"version": 1}, "^seconds: missing.$"),
        (recipe(version=2), "^version: this Poise reads version 1, not 2.$"),
        (recipe(seconds=0), "^seconds: must be more than 0, not 0.$"),
        (recipe(poses={"min": {}}), "^poses.max: missing.$"),
        (recipe(poses={"min": 3, "max": {}}), "^poses.min: needs angles by role, "),
        (recipe(poses={"min": {"hips": [0, 0]}, "max": {}}), "^poses.min.hips: needs 3 numbers, not 2.$"),
        (recipe(poses={"min": {"frame": 0.5}, "max": {}}), "^poses.min.frame: needs a whole number, not 0.5.$"),
        (recipe(tracks=[{"parts": "arm.L", "samples": [0]}]), r'^tracks\[0\].parts: needs a list, not "arm.L".$'),
        (recipe(tracks=[{}]), r"^tracks\[0\].samples: needs a list, not null.$"),
        (recipe(tracks=[{"samples": [0, 1], "weights": [1]}]), r"^tracks\[0\].weights: needs 2 numbers, not 1.$"),
        (
            recipe(path={"samples": [0.5]}),
            r"^path.samples\[0\]: needs a time and a location of three numbers, not 0.5.$",
        ),
        (
            recipe(supports=[{"role": "foot.L", "seconds": [0, 1], "at": 2}]),
            r"^supports\[0\].at: must be between 0 and 1",
        ),
        (recipe(supports=[{"seconds": [0, 1]}]), r"^supports\[0\].role: needs a name, not null.$"),
        (recipe(tracks=[{"samples": [[0.5, 0], [0.5, 1]]}]), r"^tracks\[0\].samples: the times of the samples must"),
        (recipe(path={"samples": [[1, 0, 0, 0], [0.5, 0, 0, 0]]}), r"^path.samples: the times of the samples must"),
        (recipe(flights=[[1, 0]]), "^A flight must start before it ends. It starts at 1.0 and ends at 0.0.$"),
    ],
)
def test_a_mistake_is_refused_with_the_name_of_its_field(data: object, message: str) -> None:
    with pytest.raises(CoreError, match=message):
        parse_recipe(data)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"seconds": 1e5}, "^seconds: must be at most 600, not 100000"),
        ({"name": "a" * 100}, "^name: a name has at most 63 bytes.$"),
        ({"tracks": [{"samples": [0, 1], "width": 1e-300}]}, r"^tracks\[0\].width: must be between 0.001 and 600"),
        ({"tracks": [{"samples": [0, 1e9]}]}, r"^tracks\[0\].samples\[1\]: must be between -600 and 600"),
        ({"tracks": [{"samples": [0, 1], "weights": [-1, 1]}]}, r"^tracks\[0\].weights\[0\]: must be between 0"),
        ({"poses": {"min": {"hips": [1e9, 0, 0]}, "max": "present"}}, r"^poses.min.hips\[0\]: must be between -360"),
        ({"path": {"samples": [[0, 0, 0, 1e9]]}}, r"^path.samples\[0\]\[3\]: must be between -600 and 600"),
        ({"flights": [[1, 3]]}, r"^flights\[0\]: 1 to 3 is not within the 2 seconds"),
        ({"flights": [[-1, 1]]}, r"^flights\[0\]: -1 to 1 is not within"),
        ({"flights": [[0, 1], [0.5, 2]]}, r"^flights\[1\]: 0.5 to 2 overlaps with flights\[0\]"),
        ({"supports": [{"role": "foot.L", "seconds": [0, 9]}]}, r"^supports\[0\].seconds: 0 to 9 is not within"),
        (
            {"supports": [{"role": "foot.L", "seconds": [0, 1]}, {"role": "foot.L", "seconds": [0.9, 2]}]},
            r"^supports\[1\].seconds: 0.9 to 2 overlaps with supports\[0\].seconds",
        ),
        (
            {"flights": [[0.5, 1]], "supports": [{"role": "foot.L", "seconds": [0, 1]}]},
            r"^supports\[0\].seconds: 0 to 1 overlaps with flights\[0\]",
        ),
    ],
)
def test_numbers_that_no_motion_has_are_refused_by_the_field(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CoreError, match=sentence):
        parse_recipe(recipe(**fields))


def test_both_feet_stand_at_once_and_a_flight_begins_where_they_leave() -> None:
    feet = [{"role": f"foot.{side}", "seconds": [0, 0.5]} for side in "LR"]
    assert len(parse_recipe(recipe(flights=[[0.5, 1], [1, 2]], supports=feet)).supports) == 2
