"""JOB.json: what is read from it, and that every mistake is refused with the name of the field."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core import CoreError
from core.formats.goals import DistanceGoal, Fixed, Followed, Held, JobBalance, JobGoal, LookAtGoal, Waypoints
from core.formats.job import Job, Tolerance, Write, parse, read
from tests.paths import ROOT

GOAL = {"bone": "hand.L", "position": [0.0, 0.0, 1.0]}


def job(**fields: Any) -> dict[str, Any]:
    return {"version": 1, "frames": [1, 120], "goals": [GOAL], **fields}


def goal(**fields: Any) -> dict[str, Any]:
    return job(goals=[{"bone": "hand.L", **fields}])


def test_the_example_of_the_format_is_read_in_full() -> None:
    example = {
        "version": 1,
        "armature": "rig",
        "frames": [1, 120],
        "space": "world",
        "method": {"name": "pins", "wins": "pins"},
        "goals": [
            {"bone": "foot.L", "pin": ["position", "rotation"]},
            {"bone": "hand.R", "position": [0.3, -0.4, 1.2], "weight": 1.0, "priority": 0},
            {"bone": "hand.L", "position": {"object": "Cup"}, "frames": [20, 60], "ease": 8},
            {"bone": "head", "rotation": [1, 0, 0, 0]},
            {"bone": "hand.R", "position": {"path": [[1, 0.3, -0.4, 1.2], [40, 0.1, -0.5, 1.4]]}, "point": "tail"},
        ],
        "tolerance": {"position": 0.001, "rotation": 0.5},
        "write": {"action": "rig solved", "bones": "changed"},
    }
    assert parse(example) == Job(
        armature="rig",
        frames=(1, 120),
        goals=(
            JobGoal("foot.L", position=Held(), rotation=Held()),
            JobGoal("hand.R", position=Fixed((0.3, -0.4, 1.2)), priority=0),
            JobGoal("hand.L", position=Followed("Cup"), frames=(20, 60), ease=8),
            JobGoal("head", rotation=Fixed((1.0, 0.0, 0.0, 0.0))),
            JobGoal("hand.R", position=Waypoints((1.0, 40.0), ((0.3, -0.4, 1.2), (0.1, -0.5, 1.4))), point="tail"),
        ),
        write=Write(action="rig solved", key=True),
    )


def test_defaults_are_those_of_the_format() -> None:
    read_job = parse({"version": 1, "goals": [GOAL]})
    assert (read_job.armature, read_job.frames, read_job.wins) == (None, None, "pins")
    assert read_job.tolerance == Tolerance(0.001, 0.5)
    assert read_job.write == Write(new=True, action=None, bones=None, key=False)
    assert read_job.goals[0].space == "world"
    assert read_job.goals[0].weight == 1.0
    assert read_job.goals[0].priority is None


def test_null_edits_the_present_action() -> None:
    assert not parse(job(write={"action": None})).write.new
    assert parse(job(write={})).write.new


def test_a_pin_at_a_frame_keeps_the_frame() -> None:
    assert parse(goal(pin=["rotation"], at=12)).goals[0].rotation == Held(12)


def test_a_bone_may_be_pinned_in_rotation_and_led_in_position() -> None:
    mixed = parse(goal(pin=["rotation"], position=[0, 0, 1])).goals[0]
    assert (mixed.rotation, mixed.position, mixed.kind) == (Held(), Fixed((0.0, 0.0, 1.0)), "drag")


def test_quaternions_are_normalised() -> None:
    assert parse(goal(rotation=[2, 0, 0, 0])).goals[0].rotation == Fixed((1.0, 0.0, 0.0, 0.0))


def test_a_look_is_read_with_its_axis_and_what_carries_its_target() -> None:
    look = parse(goal(look_at=[1, 2, 3])).goals[0]
    assert look == LookAtGoal("hand.L", Fixed((1.0, 2.0, 3.0)), axis=(0.0, 1.0, 0.0))
    assert look.kind == "look_at"
    for given, axis in (("X", (1, 0, 0)), ("-Z", (0, 0, -1)), ([0, 2, 0.5], (0, 2, 0.5))):
        assert parse(goal(look_at={"object": "Cup"}, axis=given)).goals[0] == LookAtGoal(
            "hand.L", Followed("Cup"), axis=axis
        )
    carried = parse(goal(look_at={"path": [[1, 0, 0, 0]]}, relative_to="head", point=[0, 0, 1], priority=2)).goals[0]
    assert carried == LookAtGoal(
        "hand.L", Waypoints((1.0,), ((0.0, 0.0, 0.0),)), relative_to="head", point=(0.0, 0.0, 1.0), priority=2
    )


def test_a_distance_is_read_to_a_bone_a_point_or_an_object() -> None:
    for to, read_to in (
        ("hand.R", "hand.R"),
        ([1, 2, 3], Fixed((1.0, 2.0, 3.0))),
        ({"object": "Cup"}, Followed("Cup")),
    ):
        kept = parse(goal(distance=0.3, to=to)).goals[0]
        assert kept == DistanceGoal("hand.L", 0.3, read_to)
        assert (kept.kind, kept.bound) == ("distance", "exactly")
    rope = parse(goal(distance=0, to="hand.R", bound="at most", point="tail", to_point=[0, 1, 0], weight=2)).goals[0]
    assert rope == DistanceGoal(
        "hand.L", 0.0, "hand.R", bound="at most", point="tail", to_point=(0.0, 1.0, 0.0), weight=2.0
    )


def test_places_and_stands_may_be_relative_and_weighted_by_axis() -> None:
    held = parse(goal(pin=["position", "rotation"], relative_to="hand.R", at=3)).goals[0]
    assert held == JobGoal("hand.L", position=Held(3), rotation=Held(3), relative_to="hand.R")
    led = parse(goal(position=[0, 0, 1], rotation=[1, 0, 0, 0], axes=[1, 0.5, 0], rotation_axes=[0, 0, 1])).goals[0]
    assert (led.axes, led.rotation_axes) == ((1.0, 0.5, 0.0), (0.0, 0.0, 1.0))


def test_settings_of_the_whole_body_are_read() -> None:
    settings = parse(
        job(root="pull", limits="soft", stiffness={"spine": 0.5, "hips": [1, 0, 0.25]}, joint_targets="rest",
            stretch=True, balance={"supports": ["foot.L"], "priority": 0, "radius": 0.1, "masses": {"hips": 30}})
    )  # fmt: skip
    assert (settings.root, settings.limits, settings.joint_targets, settings.stretch) == ("pull", "soft", "rest", True)
    assert settings.stiffness == {"spine": (0.5, 0.5, 0.5), "hips": (1.0, 0.0, 0.25)}
    assert settings.balance == JobBalance(("foot.L",), 0.1, {"hips": 30.0}, 0)
    assert parse(job(balance=True)).balance == JobBalance()
    plain = parse(job(balance=False))
    assert (plain.root, plain.limits, plain.joint_targets, plain.stretch) == ("free", True, "present", False)
    assert (plain.stiffness, plain.balance) == ({}, None)


def test_every_field_that_the_page_shows_is_read() -> None:
    text = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\{[^`]*\})` \|", text, re.MULTILINE)
    fields = re.findall(r"^\| `(\"[^`]*)` \|", text, re.MULTILINE)
    assert len(rows) >= 8
    assert len(fields) >= 6
    for row in rows:
        parse(job(goals=[json.loads(row)]))
    for field in fields:
        parse(job(**json.loads(f"{{{field}}}")))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (goal(look_at=[0, 0]), r"goals\[0\].look_at: needs 3 numbers, not 2"),
        (goal(look_at=[0, 0, 1], axis="W"), r'goals\[0\].axis: needs "X" or "-X" or .* or \[x, y, z\], not "W"'),
        (goal(look_at=[0, 0, 1], axis=[0, 0, 0]), r"goals\[0\].axis: 0, 0, 0 is not a direction"),
        (goal(look_at=[0, 0, 1], position=[0, 0, 1]), r"goals\[0\].position: only in a goal of its own"),
        (goal(look_at=[0, 0, 1], distance=1), r"goals\[0\].distance: only in a goal of its own"),
        (goal(look_at=[0, 0, 1], pin=["rotation"]), r"goals\[0\].pin: only in a goal of its own"),
        (
            goal(look_at=[0, 0, 1], relative_to="hand.L"),
            r'goals\[0\].relative_to: "hand.L" cannot be a target for itself',
        ),
        (goal(look_at={"object": "Cup"}, relative_to="head"), r"goals\[0\].look_at: an object has its own position"),
        (goal(look_at=[0, 0, 1], axis_="X"), r'goals\[0\].axis_: unknown field; did you mean "axis"'),
        (goal(position=[0, 0, 1], axis="X"), r'goals\[0\].axis: only with "look_at"'),
        (goal(position=[0, 0, 1], to="head"), r'goals\[0\].to: only with "distance"'),
        (goal(position=[0, 0, 1], bound="at most"), r'goals\[0\].bound: only with "distance"'),
        (goal(distance=1), r"goals\[0\].to: missing"),
        (goal(distance=-1, to="head"), r"goals\[0\].distance: must be between 0 and 1000000, not -1"),
        (goal(distance="1", to="head"), r'goals\[0\].distance: needs a number, not "1"'),
        (goal(distance=1, to=5), r"goals\[0\].to: needs a bone's name or \[x, y, z\] or"),
        (goal(distance=1, to=""), r'goals\[0\].to: needs a name, not ""'),
        (goal(distance=1, to="hand.L"), r'goals\[0\].to: "hand.L" cannot be a target for itself'),
        (goal(distance=1, to={"path": []}), r"goals\[0\].to.path: unknown field"),
        (goal(distance=1, to=[0, 0, 1], to_point="tail"), r'goals\[0\].to_point: only where "to" is a bone'),
        (goal(distance=1, to="head", bound="less"), r'goals\[0\].bound: needs "exactly" or "at most" or "at least"'),
        (goal(distance=1, to="head", axes=[1, 0, 0]), r'goals\[0\].axes: only with "pin", "position" or "rotation"'),
        (goal(distance=1, to="head", relative_to="x"), r'goals\[0\].relative_to: only with "pin"'),
        (goal(position=[0, 0, 1], axes=[0, 0, 0]), r"goals\[0\].axes: at least one axis must have a weight above 0"),
        (goal(position=[0, 0, 1], axes=[1, -1, 0]), r"goals\[0\].axes\[1\]: must be at least 0, not -1"),
        (goal(position=[0, 0, 1], axes=[1, 1]), r"goals\[0\].axes: needs 3 numbers, not 2"),
        (goal(rotation=[1, 0, 0, 0], axes=[1, 1, 0]), r"goals\[0\].axes: only where the position is"),
        (goal(pin=["position"], rotation_axes=[1, 1, 0]), r"goals\[0\].rotation_axes: only where the rotation is"),
        (goal(position=[0, 0, 1], relative_to=3), r"goals\[0\].relative_to: needs a name, not 3"),
        (goal(position={"object": "Cup"}, relative_to="head"), r"goals\[0\].position: an object has its own position"),
        (goal(rotation={"object": "Cup"}, relative_to="head"), r"goals\[0\].rotation: an object has its own position"),
        (job(limits="hard"), 'limits: needs true, false or "soft", not "hard"'),
        (job(limits=1), 'limits: needs true, false or "soft", not 1'),
        (job(limits=[]), "limits: needs true"),
        (job(stretch="yes"), 'stretch: needs true or false, not "yes"'),
        (job(joint_targets="relax"), 'joint_targets: needs "present" or "rest" or "relaxed", not "relax"'),
        (job(stiffness={"hips": 2}), "stiffness.hips: must be between 0 and 1, not 2"),
        (job(stiffness={"hips": [0, 0]}), "stiffness.hips: needs 3 numbers, not 2"),
        (job(stiffness={"hips": True}), "stiffness.hips: needs a number, not true"),
        (job(stiffness={"": 1}), 'stiffness: needs a name, not ""'),
        (job(balance=1), "balance: needs true, false or an object in braces, not 1"),
        (job(balance={"support": ["foot.L"]}), 'balance.support: unknown field; did you mean "supports"'),
        (job(balance={"supports": []}), "balance.supports: needs at least one bone"),
        (job(balance={"supports": "foot.L"}), 'balance.supports: needs a list, not "foot.L"'),
        (job(balance={"radius": -1}), "balance.radius: must be at least 0"),
        (job(balance={"priority": 0.5}), "balance.priority: needs a whole number"),
        (job(balance={"masses": {"hips": -1}}), "balance.masses.hips: must be at least 0"),
        (job(balance={"masses": {"hips": 0}}), "balance.masses: at least one bone must have a mass above 0"),
        (job(balance={"masses": {}}), "balance.masses: at least one bone must have a mass above 0"),
        (job(balance={"masses": []}), "balance.masses: needs an object in braces with bones"),
        ([], r"The file: needs an object in braces, not \[\]"),
        ({"goals": [GOAL]}, "version: missing"),
        (job(version=2), "version: this Poise reads version 1, not 2"),
        (job(version=True), "version: .* not true"),
        (job(version="1"), 'version: .* not "1"'),
        (job(frame=[1, 2]), 'frame: unknown field; did you mean "frames"?'),
        (job(colour=1), r"colour: unknown field\."),
        (job(root="held"), "root: needs .* not .held."),
        (job(stiffness=[]), "stiffness: needs an object in braces with bones"),
        (job(armature=3), "armature: needs a name, not 3"),
        (job(armature=None), "armature: needs a name, not null"),
        (job(space="bone"), 'space: needs "world" or "armature", not "bone"'),
        (job(frames=[120, 1]), "frames: the range runs backwards, from 120 to 1"),
        (job(frames=[1]), "frames: needs first and last frame"),
        (job(frames=5), "frames: needs a list of 2 numbers, not 5"),
        (job(frames=[1, 2.5]), r"frames\[1\]: needs a whole number, not 2.5"),
        (job(frames=[1, "2"]), r'frames\[1\]: needs a number, not "2"'),
        (job(frames=[1, True]), r"frames\[1\]: needs a number, not true"),
        (job(frames=[1, 10**400]), r"frames\[1\]: must be between -1048574 and 1048574, not a huge number"),
        (job(frames=[1, 2000000]), r"frames\[1\]: must be between"),
        (job(method="pins"), 'method: needs an object in braces, not "pins"'),
        (job(method={"name": "humanoid", "pul": 1}), 'method.pul: unknown field; did you mean "pull"'),
        (job(method={"name": "humanoid", "pull": 2}), "method.pull: "),
        (job(method={"name": "humanoid", "resist": 1}), "method.resist: needs an object"),
        (job(method={"name": "humanoid"}, root="fixed"), 'root: only with the method "pins"'),
        (job(method={"name": "ccd"}, stretch=True), 'stretch: only with the method "pins"'),
        (job(method={"name": "magic"}), 'method.name: needs "pins" or "ccd" or "humanoid", not "magic"'),
        (job(method={"win": "drag"}), 'method.win: unknown field; did you mean "wins"?'),
        (job(method={"wins": "draw"}), 'method.wins: needs "pins" or "drag", not "draw"'),
        (job(goals=[]), "goals: there must be at least one goal"),
        (job(goals={}), "goals: needs a list"),
        ({"version": 1}, "goals: there must be at least one goal"),
        (job(goals=[GOAL, 5]), r"goals\[1\]: needs an object in braces, not 5"),
        (job(goals=[{"position": [0, 0, 0]}]), r"goals\[0\].bone: missing"),
        (goal(), r'goals\[0\]: needs "pin", "position", "rotation", "look_at" or "distance"'),
        (goal(positon=[0, 0, 0]), r'goals\[0\].positon: unknown field; did you mean "position"?'),
        (job(goals=[{**GOAL, "role": "hand.L"}]), r"goals\[0\].role: the bone is already named"),
        (job(goals=[{"role": 5, "position": [0, 0, 0]}]), r"goals\[0\].role: needs a name, not 5"),
        (goal(look_at="Cup"), r"goals\[0\].look_at: needs \[x, y, z\] or"),
        (goal(position=[0, 0]), r"goals\[0\].position: needs 3 numbers, not 2"),
        (goal(position=[0, 0, float("nan")]), r"goals\[0\].position\[2\]: NaN is not a finite number"),
        (goal(position=[0, float("inf"), 0]), r"goals\[0\].position\[1\]: Infinity is not a finite number"),
        (
            goal(position=[0, 1.1e6, 0]),
            r"goals\[0\].position\[1\]: must be between -1000000 and 1000000, not 1100000",
        ),
        (goal(position={"path": [[2e6, 0, 1e6, -1.1e6]]}), r"goals\[0\].position.path\[0\]\[3\]: must be between"),
        (goal(distance=1.1e6, to="hand.R"), r"goals\[0\].distance: must be between 0 and 1000000"),
        (goal(position="Cup"), r"goals\[0\].position: needs \[x, y, z\] or"),
        (goal(position={}), r"goals\[0\].position: needs one of object, path"),
        (goal(position={"object": ""}), r'goals\[0\].position.object: needs a name, not ""'),
        (goal(position={"objekt": "Cup"}), r'goals\[0\].position.objekt: unknown field; did you mean "object"?'),
        (goal(position={"path": []}), r"goals\[0\].position.path: needs at least one"),
        (goal(position={"path": [[1, 2, 3]]}), r"goals\[0\].position.path\[0\]: needs 4 numbers"),
        (goal(position={"path": [[2, 0, 0, 0], [2, 0, 0, 1]]}), r"goals\[0\].position.path\[1\]: the frames of a path"),
        (goal(rotation=[0, 0, 0, 0]), r"goals\[0\].rotation: the quaternion 0, 0, 0, 0 is not a rotation"),
        (goal(rotation={"path": []}), r"goals\[0\].rotation.path: unknown field"),
        (goal(rotation=[1, 0, 0]), r"goals\[0\].rotation: needs 4 numbers"),
        (goal(pin="position"), r'goals\[0\].pin: needs a list, not "position"'),
        (goal(pin=[]), r'goals\[0\].pin: needs "position", "rotation" or both'),
        (goal(pin=["scale"]), r'goals\[0\].pin\[0\]: needs "position" or "rotation", not "scale"'),
        (goal(pin=["position"], position=[0, 0, 0]), r"goals\[0\].position: already pinned"),
        (goal(pin=["position"], at=1.5), r"goals\[0\].at: needs a whole number"),
        (goal(position=[0, 0, 0], at=1), r'goals\[0\].at: only with "pin"'),
        (goal(pin=["position"], point="middle"), r'goals\[0\].point: needs "head" or "tail" or \[x, y, z\]'),
        (goal(pin=["position"], weight=0), r"goals\[0\].weight: must be more than 0"),
        (goal(pin=["position"], weight=-1), r"goals\[0\].weight: must be more than 0"),
        (goal(pin=["position"], priority=-1), r"goals\[0\].priority: must be between 0 and"),
        (goal(pin=["position"], priority=0.5), r"goals\[0\].priority: needs a whole number"),
        (goal(pin=["position"], frames=[60, 20]), r"goals\[0\].frames: the range runs backwards, from 60 to 20"),
        (goal(pin=["position"], frames=[200, 220]), r"goals\[0\].frames: 200 to 220 are never fully active"),
        (goal(pin=["position"], frames=[20, 30], ease=6), r"goals\[0\].ease: 6 frames in and out do not fit"),
        (goal(pin=["position"], ease=-1), r"goals\[0\].ease: must be between 0 and"),
        (
            {"version": 1, "goals": [{**GOAL, "frames": [1, 2]}]},
            r'goals\[0\].frames: only in a job with "frames"',
        ),
        (job(tolerance={"position": 0}), "tolerance.position: must be more than 0"),
        (job(tolerance={"angle": 1}), "tolerance.angle: unknown field"),
        (job(tolerance=0.1), "tolerance: needs an object in braces"),
        (job(write={"action": ""}), 'write.action: needs a name, not ""'),
        (job(write={"action": "x" * 64}), "write.action: a name has at most 63 bytes"),
        (job(write={"bones": "all"}), 'write.bones: needs a list, not "all"'),
        (job(write={"bones": [1]}), r"write.bones\[0\]: needs a name, not 1"),
        (job(write={"key": 1}), "write.key: needs true or false, not 1"),
        (job(write={"key": False}), 'write.key: a job with "frames" is always keyed'),
        ({"version": 1, "goals": [GOAL], "write": {"action": "x"}}, "write.action: nothing is keyed without"),
    ],
)
def test_a_mistake_is_refused_with_the_name_of_its_field(data: object, message: str) -> None:
    with pytest.raises(CoreError, match=message) as error:
        parse(data)
    text = str(error.value)
    assert text[-1] in ".?"
    assert "\n" not in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON: .* in line 1"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b'{"version": 1, "version": 1}', "version: given twice"),
        (b"[" * 100000, "nested too deeply"),
        (b'{"version": ' + b"1" * 5000 + b"}", "is not JSON that Poise can read"),
        (b'{"version": 1, "goals": [{"bone": "b", "position": [NaN, 0, 0]}]}', r"goals\[0\].position\[0\]: NaN"),
        (b'{"version": 1, "goals": [{"bone": "b", "position": [1e999, 0, 0]}]}', r"goals\[0\].position\[0\]: Infinity"),
    ],
)
def test_a_file_that_is_no_job_is_refused_with_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_bytes(content)
    with pytest.raises(CoreError, match=message) as error:
        read(file)
    assert "wrong.json" in str(error.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none.json", "cannot be read"), (tmp_path, "is a folder, a device or a pipe")):
        with pytest.raises(CoreError, match=said):
            read(path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps(job()), encoding="utf-8-sig")
    assert read(file) == parse(job())


def test_the_same_pin_twice_is_refused_and_another_one_of_the_bone_is_not() -> None:
    pin: dict[str, Any] = {"bone": "foot.L", "pin": ["position"]}
    for again in (pin, {**pin, "weight": 2}):
        with pytest.raises(CoreError, match=r"^goals\[2\]: same as goals\[0\]"):
            parse({"version": 1, "goals": [pin, {**pin, "bone": "foot.R"}, again]})
    others = [pin, {**pin, "point": "tail"}, {**pin, "pin": ["rotation"]}]
    assert len(parse({"version": 1, "goals": others}).goals) == 3
