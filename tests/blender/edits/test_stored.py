"""A stranger's file: JSON that Poise keeps in properties is spoiled, and nothing but a sentence comes of it."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

import bridge
from core import CoreError
from edits.generated_motion import edited_recipe
from edits.pinned_motion import PinnedMotion
from edits.renames import follow_renames
from tests.blender.edits.rigs import hold
from tests.blender.rigs import context, load, select
from tests.paths import DATA

pytestmark = pytest.mark.usefixtures("empty_file")

SPOILED = (
    "{", "null", "5", '"x"', "[]", "{}", "[" * 100_000, "[NaN]", '{"tracks": 5}', '{"tracks": [5, {"parts": 7}]}',
    '{"action": "walk", "bones": {"Hips": 3}}', '{"action": "walk", "bones": {"Hips": {"size": [1, 2]}}}',
    '{"made_of": 1, "pins": [1]}', '{"made_of": "", "pins": [["a", [0, 0, 0], 1, 2, 3, "x", 5]]}',
)  # fmt: skip


@pytest.mark.long
def test_what_can_be_computed_again_is() -> None:
    (rig,) = load(DATA / "motion" / "cmu_07_12.bvh")
    select(rig, ["LeftHand"])
    hold(rig, "LeftHand", 10, 20)
    assert bpy.ops.poise.solve_motion() == {"FINISHED"}
    read = bridge.read_rig(rig)
    before, _ = bridge.read_motion(rig, read, np.arange(5, 30))
    for text in SPOILED:
        rig.poise_bones = rig.poise_still = rig.poise_result_pins = text
        assert follow_renames(rig) == {}, text[:50]
        assert bpy.ops.poise.solve_motion() == {"FINISHED"}, text[:50]
        after, _ = bridge.read_motion(rig, read, np.arange(5, 30))
        np.testing.assert_allclose(after.pose.rotations, before.pose.rotations, atol=1e-6, err_msg=text[:50])
        assert PinnedMotion(context, rig).pins, text[:50]


def test_a_spoiled_recipe_is_refused_with_a_sentence_also_when_the_file_is_opened(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rig: Any = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    select(rig, [])
    assert bpy.ops.poise.generate(recipe="wave", start=0) == {"FINISHED"}
    for text in SPOILED:
        rig = context.active_object
        rig.poise_recipe = text
        with pytest.raises(CoreError, match=r"is damaged\. Generate its motion again"):
            edited_recipe(rig, 30.0)
        with pytest.raises(RuntimeError, match=r"Error: .*is damaged. Generate its motion again"):
            bpy.ops.poise.regenerate()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "spoiled.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "spoiled.blend"))
        assert "Traceback" not in "".join(capfd.readouterr()), text[:50]


def numbers_of(owner: Any) -> list[Any]:
    """The numeric properties of Poise that an owner has."""
    own = owner.bl_rna.identifier.startswith("POISE_PG_")
    properties = [one for one in owner.bl_rna.properties if own or one.identifier.startswith("poise_")]
    return [one for one in properties if one.type in ("FLOAT", "INT")]


def store(owner: Any, prop: Any, value: float) -> None:
    """Store a number as a file may have it, whatever range the property has."""
    group = owner.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0) else owner
    group[prop.identifier] = [value] * prop.array_length if prop.array_length else value


@pytest.mark.long
@pytest.mark.parametrize("owner", ["poise_pins", "poise_timed_pins", "object", "bone"])
def test_numbers_beyond_their_range_do_no_more_than_a_sentence(
    owner: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rig: Any = load(DATA / "rigs" / "named_mixamo_cm.blend")[0]
    select(rig, ["mixamorig:LeftHand"])
    context.scene.render.fps = 8  # few frames to solve
    assert bpy.ops.poise.generate(recipe="wave", start=0) == {"FINISHED"}
    assert bpy.ops.poise.pin() == {"FINISHED"}
    hold(rig, "mixamorig:LeftHand", 5, 10)
    path = str(tmp_path / "whole.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)

    def owned() -> Any:
        rig = bpy.data.objects["Armature"]
        bone = rig.pose.bones["mixamorig:LeftArm"]
        return {"object": rig, "bone": bone}.get(owner) or getattr(rig, owner)[0]

    stored = [prop.identifier for prop in numbers_of(owned())]
    assert len(stored) > 1
    for name in stored:
        whole = owned().bl_rna.properties[name].type == "INT"
        for value in (2**31 - 1, -(2**31)) if whole else (1e30, float("nan")):
            bpy.ops.wm.open_mainfile(filepath=path)
            store(owned(), owned().bl_rna.properties[name], value)
            said: list[str] = []
            for operator in ("solve", "solve_motion", "regenerate", "mirror_pins"):
                try:
                    getattr(bpy.ops.poise, operator)()
                except RuntimeError as refusal:
                    said.append(str(refusal))
            assert "Traceback" not in "".join((*said, *capfd.readouterr())), (name, value)
