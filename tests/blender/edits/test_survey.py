"""What the panel says about an armature: noted once, when it is entered or asked for, and only drawn after that."""

from typing import Any

import bpy
import pytest

from bridge import Grab, read_roles, roles
from bridge.pick_order import read_pick_order
from core.body import find_roles
from edits import survey
from edits.drag.session import DragSession
from panels.rig import POISE_PT_driven, POISE_PT_parts, POISE_PT_rig
from tests.blender.rigs import BODY, contents, drawn_by, labels, load, make_armature, make_chain, make_empty, select
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")


def said(panel: Any = POISE_PT_rig) -> str:
    return " ".join(labels(panel))


def test_entering_pose_mode_is_enough_to_read_what_is_there() -> None:
    rig = make_armature()
    assert ("operator", "poise.survey") in drawn_by(POISE_PT_rig)
    before = contents()
    select(rig, [])
    text = said()
    assert "A human body facing -Y, rest pose T" in text
    assert "All parts were detected with certainty" in text
    assert "16 of 16 bones can be posed" in text
    assert "Not found:" in text  # it has no neck, shoulders and toes
    assert contents()["objects"]["rig"]["bones"] == before["objects"]["rig"]["bones"]
    parts = [text for kind, text in drawn_by(POISE_PT_parts) if kind in ("text", "label")]
    assert parts[parts.index("hand.L") + 1] == "hand.L"
    assert parts[parts.index("toe.L") + 1] == "-"
    assert POISE_PT_parts.poll(bpy.context)


def test_changes_without_a_screen_as_by_timers_of_other_extensions_are_no_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rig = make_armature()
    select(rig, [])
    context: Any = bpy.context
    with context.temp_override(screen=None):
        assert not hasattr(context, "active_object")
        rig.location.x = 1.0
        context.view_layer.update()
    assert "Traceback" not in "".join(capfd.readouterr())


def test_the_parts_of_bones_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To enter Pose Mode, to drag and to show what is under the mouse take the same parts."""
    found: list[object] = []
    monkeypatch.setattr(roles, "find_roles", lambda *given: found.append(given) or find_roles(*given))
    rig = make_armature(bones={**BODY, "mark": ("head", (0, 0, 1.75), (0, 0, 1.8))})
    rig.pose.bones["head"].constraints.new("COPY_ROTATION").target = make_empty("Cup")
    bpy.context.view_layer.objects.active = rig
    select(rig, [])
    read_roles(rig)
    read_pick_order(rig)
    DragSession(bpy.context, rig, [Grab(rig.name, "hand.L", (0.0, 0.0, 0.0))])
    assert len(found) == 1


def test_panels_look_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    select(make_armature(), [])
    said()

    def fail(*_: object) -> None:
        raise AssertionError("a panel has no business here")

    for name in ("look", "survey", "find_parts"):
        monkeypatch.setattr(survey, name, fail)
    assert "human body" in said()
    said(POISE_PT_parts)
    bpy.context.view_layer.update()  # Blender calls the handler, which has seen this armature


def test_what_decides_bones_is_said_with_its_bones() -> None:
    rig = make_armature()
    cup = make_empty("Cup")
    bpy.context.view_layer.objects.active = rig
    ik = rig.pose.bones["forearm.L"].constraints.new("IK")
    ik.target, ik.chain_count = cup, 2
    select(rig, [])
    assert "14 of 16 bones can be posed 2 bones are driven" in said()
    assert 'Constraint "IK" on "forearm.L" (Inverse Kinematics) forearm.L, upper_arm.L' in said(POISE_PT_driven)
    ik.mute = True
    bpy.ops.poise.survey()
    assert "16 of 16 bones can be posed" in said()
    assert not POISE_PT_driven.poll(bpy.context)


def test_of_hundreds_of_constraints_the_first_are_shown() -> None:
    rig = make_chain(50)
    cup = make_empty("Cup")
    bpy.context.view_layer.objects.active = rig
    for bone in rig.pose.bones:
        bone.constraints.new("COPY_ROTATION").target = cup
    select(rig, [])
    assert "0 of 50 bones can be posed 50 bones are driven" in said()
    rows = [finding for finding in bpy.context.window_manager.poise_survey.findings if finding.kind == "DRIVEN"]
    assert len(rows) == 31
    assert rows[-1].text == "And 20 more reasons"


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda rig: setattr(rig, "scale", (1.0, 2.0, 1.0)), "scaled unevenly"),
        (lambda rig: setattr(rig, "scale", (0.0, 1.0, 1.0)), "a scale of zero"),
        (lambda rig: setattr(rig.data, "pose_position", "REST"), "shown in rest position"),
        (lambda rig: setattr(rig, "hide_viewport", True), "disabled in the viewport"),
    ],
)
def test_hindrances_are_said_with_what_to_do(spoil: Any, sentence: str, capfd: pytest.CaptureFixture[str]) -> None:
    rig = make_armature()
    select(rig, [])
    bpy.ops.poise.survey()
    assert sentence not in said()
    spoil(rig)
    bpy.context.view_layer.update()
    bpy.ops.poise.survey()
    assert sentence in said()
    assert sentence in "".join(capfd.readouterr())


def test_a_mirrored_or_evenly_scaled_object_is_no_hindrance() -> None:
    rig = make_armature()
    rig.scale, rig.rotation_euler = (-0.01, 0.01, 0.01), (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    select(rig, [])
    assert "scaled" not in said()


def test_a_linked_armature_is_read_and_what_it_lacks_is_said(tmp_path: Any) -> None:
    make_armature()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["rig"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.objects.active = wanted.objects[0]
    bpy.ops.poise.survey()
    assert "A human body" in said()
    assert "Make a library override of it first" in said()


def test_another_armature_another_survey_and_what_is_no_body_is_said_not_to_be_one() -> None:
    rig = make_armature()
    select(rig, [])
    bpy.ops.object.mode_set(mode="OBJECT")
    chain = make_chain(3)
    assert ("operator", "poise.survey") in drawn_by(POISE_PT_rig)  # not yet looked at
    select(chain, [])
    assert "No human body" in said()
    assert "3 of 3 bones" in said()


def test_bones_added_in_edit_mode_are_seen_on_return() -> None:
    rig = make_armature()
    select(rig, [])
    bpy.ops.object.mode_set(mode="EDIT")
    tail = rig.data.edit_bones.new("tail")
    tail.head, tail.tail, tail.parent = (0, 0.1, 1.0), (0, 0.4, 1.0), rig.data.edit_bones["hips"]
    bpy.ops.object.mode_set(mode="POSE")
    assert "17 of 17 bones" in said()


def test_confidence_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    load(DATA / "rigs" / "named_mixamo_cm.blend")
    rig = next(object for object in bpy.data.objects if object.type == "ARMATURE")
    select(rig, [])
    assert "10 of 30 parts detected, but not certain: see the yellow triangles below" in said()  # the fingers
    states = {finding.name: finding.state for finding in bpy.context.window_manager.poise_survey.findings}
    assert (states["thumb.L"], states["hand.L"]) == ("GUESSED", "FOUND")
    monkeypatch.setattr(survey, "UNSURE", 0.95)
    bpy.ops.poise.survey()
    assert "Unsure of" in said()
