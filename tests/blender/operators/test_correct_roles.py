"""The user says which bone plays which part: it is saved, shared, undone, and all that asks for parts heeds it."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from core.formats.job import read
from edits.info import find_parts
from edits.job import perform_job
from operators.roles import POISE_OT_set_role
from panels.rig import POISE_PT_driven, POISE_PT_parts
from tests.blender.rigs import BODY, contents, drawn_by, load, make_armature, select, world
from tests.paths import DATA, SHARED

pytestmark = pytest.mark.usefixtures("empty_file")


def body_with_two_hands() -> Any:
    """On the left a second bone of the hand's length hangs on the forearm."""
    return make_armature(bones={**BODY, "claw": ("forearm.L", (0.67, 0, 1.36), (0.8, 0, 1.35))})


def states() -> dict[str, str]:
    return {row.name: row.state for row in bpy.context.window_manager.poise_survey.findings if row.kind == "ROLE"}


def test_without_a_part_a_popup_asks_for_it() -> None:
    asked: list[Any] = []
    place: Any = SimpleNamespace(window_manager=SimpleNamespace(invoke_search_popup=asked.append))
    tool: Any = SimpleNamespace(properties=SimpleNamespace(is_property_set=lambda name: False))
    assert POISE_OT_set_role.invoke(tool, place, None) == {"RUNNING_MODAL"}
    assert asked == [tool]
    listed = bpy.ops.poise.set_role.get_rna_type().properties[POISE_OT_set_role.bl_property]
    assert {"hips", "hand.L", "none"} <= {*listed.enum_items.keys()}


def test_a_picked_bone_plays_the_part_until_that_is_taken_back() -> None:
    rig = body_with_two_hands()
    select(rig, ["claw"])
    assert find_parts(rig)["roles"]["hand.L"] == "hand.L"
    assert bpy.ops.poise.set_role(role="hand.L") == {"FINISHED"}
    found = find_parts(rig)
    assert (found["roles"]["hand.L"], found["confidence"]["hand.L"]) == ("claw", 1.0)
    assert found["facing"] == "-Y"
    assert (states()["hand.L"], states()["hand.R"], states()["toe.L"]) == ("SAID", "FOUND", "MISSING")
    assert bpy.ops.poise.clear_roles(role="hand.L") == {"FINISHED"}
    assert find_parts(rig)["roles"]["hand.L"] == "hand.L"
    assert states()["hand.L"] == "FOUND"


def test_a_bone_that_plays_no_part_leaves_its_part_open() -> None:
    rig = make_armature()
    select(rig, ["foot.L"])
    bpy.ops.poise.set_role(role="none")
    found = find_parts(rig)
    assert "foot.L" not in found["roles"]
    assert "foot.L" in found["missing"]


def test_of_a_part_that_is_one_bone_there_is_one() -> None:
    rig = body_with_two_hands()
    select(rig, ["claw", "hand.L"])
    before = contents()
    with pytest.raises(RuntimeError, match=r"hand.L is a single bone"):
        bpy.ops.poise.set_role(role="hand.L")
    assert contents() == before
    select(rig, ["spine", "chest"])
    bpy.ops.poise.set_role(role="spine")
    assert find_parts(rig)["roles"]["spine"] == ["spine", "chest"]


@pytest.mark.parametrize(
    ("bone", "role", "sentence"),
    [
        ("hand.L", "hand.R", '"hand.L" cannot be "hand.R": it is parented to "upper_arm.L", which is "upper_arm.L"'),
        ("thigh.R", "thigh.L", '"thigh.R" cannot be "thigh.L": "shin.R", which is "shin.R", is parented to it'),
        ("foot.L", "hand.L", '"foot.L" cannot be "hand.L": it is parented to "thigh.L", which is "thigh.L"'),
        ("hips", "head", '"hips" cannot be "head": "upper_arm.L", which is "upper_arm.L", is parented to it'),
        (
            "upper_arm.L",
            "hand.L",
            '"upper_arm.L" cannot be "hand.L": "forearm.L", which is "forearm.L", is parented to it',
        ),
    ],
)
def test_a_part_that_was_picked_by_mistake_is_refused(bone: str, role: str, sentence: str) -> None:
    """It was believed, and the body torn apart: a left hand that plays the right one went two metres off."""
    rig = make_armature()
    select(rig, [bone])
    before = contents()
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.set_role(role=role)
    assert contents() == before
    assert not any(bone.poise_role for bone in rig.pose.bones)


def test_a_limb_that_plays_no_part_may_be_given_to_the_other_side() -> None:
    rig = make_armature()
    arms = [f"{part}.{side}" for part in ("upper_arm", "forearm", "hand") for side in "LR"]
    select(rig, arms)
    bpy.ops.poise.set_role(role="none")
    for arm in arms:
        select(rig, [arm])
        other = arm[:-1] + ("R" if arm[-1] == "L" else "L")
        assert bpy.ops.poise.set_role(role=other) == {"FINISHED"}
        assert find_parts(rig)["roles"][other] == arm


def test_corrections_are_saved_and_follow_renamed_bones(tmp_path: Path) -> None:
    rig = body_with_two_hands()
    select(rig, ["claw"])
    bpy.ops.poise.set_role(role="hand.L")
    rig.data.bones["claw"].name = "paw"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "said.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "said.blend"))
    assert find_parts(bpy.data.objects["rig"])["roles"]["hand.L"] == "paw"


def test_a_library_override_keeps_its_own_corrections(tmp_path: Path) -> None:
    body_with_two_hands()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["rig"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    select(override, ["claw"])
    bpy.ops.poise.set_role(role="hand.L")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = next(o for o in bpy.data.objects if o.override_library)
    assert find_parts(rig)["roles"]["hand.L"] == "claw"


def test_swapped_sides_look_the_other_way() -> None:
    rig = make_armature()
    select(rig, [])
    bpy.ops.poise.swap_sides()
    found = find_parts(rig)
    assert (found["roles"]["hand.L"], found["facing"]) == ("hand.R", "+Y")
    bpy.ops.poise.swap_sides()
    assert find_parts(rig)["facing"] == "-Y"


def test_the_facing_is_said_kept_shared_and_taken_back(tmp_path: Path) -> None:
    rig = make_armature()
    select(rig, [])
    assert bpy.ops.poise.set_facing(facing="+Y") == {"FINISHED"}
    found = find_parts(rig)
    assert (found["facing"], found["roles"]["hand.L"]) == ("+Y", "hand.R")
    before = contents()
    with pytest.raises(RuntimeError, match='cannot look along "-Z"'):
        bpy.ops.poise.set_facing(facing="-Z")
    assert contents() == before
    file = tmp_path / "mapping.json"
    bpy.ops.poise.export_roles(filepath=str(file))
    assert json.loads(file.read_text(encoding="utf-8"))["facing"] == "+Y"
    assert bpy.ops.poise.clear_roles(role="") == {"FINISHED"}
    assert find_parts(rig)["facing"] == "-Y"
    bpy.ops.poise.import_roles(filepath=str(file))
    assert (find_parts(rig)["facing"], rig.poise_facing) == ("+Y", "+Y")
    bpy.ops.poise.swap_sides()
    assert find_parts(rig)["facing"] == "-Y"
    assert bpy.ops.poise.set_facing(facing="FOUND") == {"FINISHED"}


@pytest.mark.parametrize("way", ["job", "file"])
def test_a_job_says_which_way_the_body_looks(tmp_path: Path, way: str) -> None:
    rig = make_armature()
    (tmp_path / "map.json").write_text(json.dumps({"version": 1, "facing": "+Y"}), encoding="utf-8")
    place = (world(rig, "hand.R") + np.array([0.1, -0.1, 0.0])).tolist()
    said = {"facing": "+Y"} if way == "job" else {"roles": "map.json"}
    job = {"version": 1, "goals": [{"role": "hand.L", "position": place}], **said}
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    report = perform_job(bpy.context, rig, read(tmp_path / "job.json"))
    assert (report.goals[0].bone, report.met) == ("hand.R", True)
    assert rig.poise_facing == ""  # a job says it for itself


def test_a_mapping_goes_to_a_file_and_to_another_armature(tmp_path: Path) -> None:
    rig = body_with_two_hands()
    select(rig, ["claw"])
    bpy.ops.poise.set_role(role="hand.L")
    file = tmp_path / "mapping.json"
    assert bpy.ops.poise.export_roles(filepath=str(file)) == {"FINISHED"}
    said = json.loads(file.read_text(encoding="utf-8"))
    assert (said["roles"]["hand.L"], said["roles"]["toe.L"]) == ("claw", None)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    other = body_with_two_hands()
    select(other, [])
    assert bpy.ops.poise.import_roles(filepath=str(file)) == {"FINISHED"}
    assert find_parts(other)["roles"] == {role: bones for role, bones in said["roles"].items() if bones is not None}


def test_a_mapping_fits_bones_of_another_name_space(tmp_path: Path) -> None:
    """As of two downloads of one rig; "mixamorig:" was refused where "mixamorig1:" was."""
    rig = body_with_two_hands()
    select(rig, ["claw"])
    bpy.ops.poise.set_role(role="hand.L")
    assert bpy.ops.poise.export_roles(filepath=str(tmp_path / "mapping")) == {"FINISHED"}  # it is called .json then
    said = find_parts(rig)["roles"]
    for bone in rig.data.bones:
        bone.name = f"me:{bone.name}"
    bpy.ops.poise.clear_roles(role="")
    assert bpy.ops.poise.import_roles(filepath=str(tmp_path / "mapping.json")) == {"FINISHED"}
    found = find_parts(rig)["roles"]
    assert found["hand.L"] == "me:claw"
    assert found.keys() == said.keys()
    rig.data.bones["me:hand.L"].name = "you:claw"  # now there are two
    with pytest.raises(RuntimeError, match='has no bone "claw"'):
        bpy.ops.poise.import_roles(filepath=str(tmp_path / "mapping.json"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ('{"version": 2}', "version"),
        ('{"version": 1, "roles": {"hnad.L": "hand.L"}}', r'roles.hnad.L: unknown field; did you mean "hand.L"'),
        ('{"version": 1, "roles": {"hand.L": "claw"}}', 'has no bone "claw"'),
        ('{"version": 1, "roles": {"hand.L": "hand.R", "hand.R": "hand.R"}}', "already"),
        ('{"version": 1, "roles": {"spine": "spine"}}', "needs a list"),
        ("[]", 'mapping.json": The file: needs an object in braces'),
        ('{"version": 1, "roles": {}}', "assigns no body part"),
        (
            '{"version": 1, "roles": {"hips": "hand.L", "hand.L": "hips"}}',
            'cannot be "hips": it is parented to "hips", which',
        ),
        (
            '{"version": 1, "roles": {"upper_arm.L": "forearm.L", "forearm.L": "upper_arm.L"}}',
            '"forearm.L" cannot be "upper_arm.L": it is parented to "upper_arm.L"',
        ),
    ],
)
def test_a_mapping_that_is_none_is_refused_and_nothing_changes(tmp_path: Path, text: str, sentence: str) -> None:
    rig = make_armature()
    select(rig, ["hand.L"])
    bpy.ops.poise.set_role(role="hand.L")
    file = tmp_path / "mapping.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.poise.import_roles(filepath=str(file))
    assert rig.pose.bones["hand.L"].poise_role == "hand.L"


def test_a_job_may_name_a_mapping(tmp_path: Path) -> None:
    rig = body_with_two_hands()
    target = np.add(world(rig, "claw"), (-0.1, -0.2, 0.1)).tolist()
    goal = {"bone": "claw", "position": target}
    (tmp_path / "mapping.json").write_text('{"version": 1, "roles": {"hand.L": "claw"}}', encoding="utf-8")
    (tmp_path / "job.json").write_text(
        json.dumps({"version": 1, "method": {"name": "humanoid"}, "roles": "mapping.json", "goals": [goal]})
    )
    report = perform_job(bpy.context, rig, read(tmp_path / "job.json"))
    assert report.met
    np.testing.assert_allclose(world(rig, "claw"), target, atol=1e-3)
    assert not any(bone.poise_role for bone in rig.pose.bones)


def test_the_figure_shows_every_part_of_the_body() -> None:
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    select(rig, [])
    seen = drawn_by(POISE_PT_parts)
    shown = [value.removeprefix("role=") for kind, value in seen if kind == "set" and value.startswith("role=")]
    assert {"head", "hips", "toe.R", "hand.L", "thumb.L"} <= {*shown}
    assert shown.index("head") < shown.index("hand.R") < shown.index("hand.L") < shown.index("toe.L")
    bpy.ops.poise.show_part(role="hand.L")
    assert "hand.L: LeftHand" in [text for kind, text in drawn_by(POISE_PT_parts) if kind == "label"]


def test_a_click_in_the_figure_selects_the_bone() -> None:
    """It showed but a name, of a bone that may be hidden."""
    rig = make_armature()
    select(rig, ["head"])
    bpy.ops.poise.show_part(role="hand.L")
    assert ([bone.name for bone in bpy.context.selected_pose_bones], bpy.context.active_pose_bone.name) == (
        ["hand.L"],
        "hand.L",
    )
    bpy.ops.poise.show_part(role="spine")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["spine", "chest"]
    bpy.ops.poise.show_part(role="toe.L")  # it has none: what is selected stays
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["spine", "chest"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.poise.show_part(role="hips") == {"FINISHED"}


def test_a_click_in_the_figure_selects_the_control_of_a_hidden_bone() -> None:
    rig = next(rig for rig in load(SHARED / "rigs" / "scripted" / "rigify_generated_human.blend") if rig.name == "rig")
    select(rig, [])
    bpy.ops.poise.show_part(role="hand.L")
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["hand_ik.L"]
    parts = [value for kind, value in drawn_by(POISE_PT_parts) if kind == "set"]
    assert parts.index("role=thumb.R") < parts.index("role=thumb.L")
    driven = [text for kind, text in drawn_by(POISE_PT_driven) if kind == "label"]
    assert len(driven) < 15  # a line for each constraint before
    assert "394 of 706 bones are driven by:" in " ".join(driven)
