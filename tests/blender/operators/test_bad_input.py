"""Bad input: a sentence each, and nothing changed. All tools and the job behind them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from core import CoreError
from core.formats.job import Job, parse
from edits.job import perform_job
from tests.blender.rigs import contents, make_armature, make_chain, make_empty, make_walk, select, world

pytestmark = pytest.mark.usefixtures("empty_file")


def job(bone: str = "b0", **fields: Any) -> Job:
    return parse({"version": 1, "goals": [{"bone": bone, "position": [0.2, 0.1, 0.3]}], **fields})


def refused(act: Callable[[], object], message: str) -> None:
    """`act` fails with one sentence that matches, and the file is what it was."""
    before = contents()
    with pytest.raises((CoreError, RuntimeError), match=message) as error:
        act()
    sentence = str(error.value).removeprefix("Error: ").removeprefix("Operator bpy.ops.poise.").strip()
    assert "Traceback" not in sentence
    assert "\n" not in sentence
    assert contents() == before


def everything(object: bpy.types.Object | None, message: str, bone: str = "b0") -> None:
    """All tools and the job refuse this object."""
    bpy.context.view_layer.objects.active = object
    for tool in ("pin", "unpin", "clear_pins", "solve", "bake"):
        refused(getattr(bpy.ops.poise, tool), message)
    refused(lambda: perform_job(bpy.context, object, job(bone)), message)


def test_an_armature_without_bones() -> None:
    everything(make_armature("bare", {}), 'The armature "bare" has no bones')


def test_an_object_that_is_no_armature() -> None:
    everything(make_empty("Cup"), '"Cup" is not an armature')


def test_an_armature_in_edit_mode() -> None:
    chain = make_chain(2)
    bpy.context.view_layer.objects.active = chain
    bpy.ops.object.mode_set(mode="EDIT")
    everything(chain, 'The armature "chain" is in Edit Mode')


def test_a_linked_armature_without_override(tmp_path: Path) -> None:
    make_chain(2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["chain"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    everything(wanted.objects[0], "is linked from another file. Make a library override")


def test_an_armature_in_rest_position() -> None:
    chain = make_chain(2)
    chain.data.pose_position = "REST"
    everything(chain, "in rest position")


def test_an_armature_that_blender_does_not_evaluate() -> None:
    chain = make_chain(2)
    chain.hide_viewport = True
    bpy.context.view_layer.update()
    refused(lambda: perform_job(bpy.context, chain, job()), "disabled in the viewport or not in the view layer")


def test_an_armature_outside_the_scene() -> None:
    chain = make_chain(2)
    bpy.context.scene.collection.objects.unlink(chain)
    refused(lambda: perform_job(bpy.context, chain, job()), "is not in the scene")


def test_one_bone_is_posed_like_any_other() -> None:
    bone = make_chain(1)
    select(bone, ["b0"])
    bpy.ops.poise.pin(kind="BOTH")
    bone.poise_pins[0].position = (1.0, 2.0, 3.0)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(bone, "b0"), (1.0, 2.0, 3.0), atol=1e-3)


def test_bones_of_almost_no_length_are_posed_like_any_other() -> None:
    # Blender itself removes bones of no length at all when edit mode is left
    bones = {
        "b0": (None, (0, 0, 0), (0, 0, 1e-5)),
        "b1": ("b0", (0, 0, 1e-5), (0, 0, 0.5)),
        "b2": ("b1", (0, 0, 0.5), (0, 0, 0.5 + 1e-5)),
        "b3": ("b2", (0, 0, 0.5 + 1e-5), (0, 0, 1.0)),
        "b4": ("b3", (0, 0, 1.0), (0, 0, 1.5)),
    }
    chain = make_armature("chain", bones)
    assert len(chain.data.bones) == 5
    chain.poise_root = "FIXED"
    select(chain, ["b4"])
    bpy.ops.poise.pin(kind="POSITION")
    chain.poise_pins[0].position = (0.5, 0.0, 0.5)
    assert bpy.ops.poise.solve() == {"FINISHED"}
    np.testing.assert_allclose(world(chain, "b4"), (0.5, 0.0, 0.5), atol=1e-3)


@pytest.fixture
def pinned() -> bpy.types.Object:
    rig = make_armature()
    make_walk(rig)
    select(rig, ["foot.L"])
    bpy.ops.poise.pin(space="WORLD")
    return rig


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_pin_at_no_number(pinned: bpy.types.Object, value: float) -> None:
    pinned.poise_pins[0].position = (0.0, value, 0.0)
    for tool in (bpy.ops.poise.solve, bpy.ops.poise.bake):
        before = contents_without_pins()
        with pytest.raises(RuntimeError, match=r'The pin of "foot.L" has a value that is not a finite number') as error:
            tool()
        assert "Traceback" not in str(error.value)
        assert contents_without_pins() == before


def contents_without_pins() -> dict[str, Any]:
    """NaN is not equal to itself."""
    seen = contents()
    for object in seen["objects"].values():
        del object["pins"]
    return seen


def test_a_pin_with_no_rotation(pinned: bpy.types.Object) -> None:
    pinned.poise_pins[0].rotation = (0.0, 0.0, 0.0, 0.0)
    refused(bpy.ops.poise.solve, r'The pin of "foot.L" .* no rotation')


def test_a_pin_on_a_deleted_bone(pinned: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    pinned.data.edit_bones.remove(pinned.data.edit_bones["foot.L"])
    bpy.ops.object.mode_set(mode="POSE")
    for tool in (bpy.ops.poise.solve, bpy.ops.poise.bake):
        refused(tool, '"rig" no longer has a bone "foot.L". Remove its pin')


@pytest.mark.parametrize(
    ("tool", "fields", "message"),
    [
        ("edit_path", {}, "The path stays as it is. Give it an offset, a scale or a bend"),
        ("edit_path", {"scale": 0.0}, "The scale of a path must be between 0.01 and 100"),
        ("edit_path", {"offset": (1e9, 0.0, 0.0)}, "The offset of a path must be between -10000 and 10000"),
        ("bake_motion", {"step": 10**9}, "A step of 1000000000 is more than the number of frames from"),
        ("drag_frame", {"bone": "hand.L", "frame": 5, "shift": (0.0, -1e9, 0.0)}, "The move of a bone must be between"),
    ],
)
def test_numbers_that_make_no_sense(pinned: bpy.types.Object, tool: str, fields: dict[str, Any], message: str) -> None:
    refused(lambda: getattr(bpy.ops.poise, tool)(**fields), message)


def test_a_frame_range_backwards(pinned: bpy.types.Object) -> None:
    refused(lambda: bpy.ops.poise.bake(frame_start=20, frame_end=1), "the range runs backwards, from 20 to 1")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"goals": [{"bone": "hnad.L", "pin": ["position"]}]},
            r'goals\[0\].bone: No bone "hnad.L"; did you mean "hand.L"',
        ),
        ({"goals": [{"bone": "hand.L", "position": {"object": "Cup"}}]}, 'No object "Cup" in the scene'),
        ({"goals": [{"bone": "hand.L", "rotation": {"object": "Cup"}}]}, 'No object "Cup" in the scene'),
        ({"write": {"action": "walk"}}, 'write.action: the action "walk" already exists'),
        ({"write": {"bones": ["hand.X"]}}, r'write.bones\[0\]: No bone "hand.X"'),
    ],
)
def test_a_job_that_does_not_fit_the_file(pinned: bpy.types.Object, fields: dict[str, Any], message: str) -> None:
    data = {"version": 1, "frames": [1, 5], "goals": [{"bone": "hand.L", "pin": ["position"]}], **fields}
    refused(lambda: perform_job(bpy.context, pinned, parse(data)), message)


def test_a_followed_object_that_blender_does_not_evaluate(pinned: bpy.types.Object) -> None:
    make_empty("Cup").hide_viewport = True
    data = {"version": 1, "frames": [1, 5], "goals": [{"bone": "hand.L", "position": {"object": "Cup"}}]}
    refused(lambda: perform_job(bpy.context, pinned, parse(data)), '"Cup" is disabled in the viewport')


def test_an_armature_object_scaled_to_nothing(pinned: bpy.types.Object) -> None:
    pinned.scale = (1.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    refused(bpy.ops.poise.solve, "scale of zero")


def test_a_present_action_that_is_linked(pinned: bpy.types.Object, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"), copy=True)
    pinned.animation_data.action = None
    bpy.data.actions.remove(bpy.data.actions["walk"])
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.actions = ["walk"]
    pinned.animation_data.action = wanted.actions[0]
    pinned.animation_data.action_slot = wanted.actions[0].slots[0]
    refused(lambda: bpy.ops.poise.bake(action="PRESENT"), 'The action "walk" is linked from another file')
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    refused(bpy.ops.poise.solve, 'Auto-keying is on, but the action "walk" is linked')
    assert bpy.ops.poise.bake(action="NEW") == {"FINISHED"}
