"""What Blender shows of Poise in words: names, tooltips, reasons of disabled buttons, the menu that F3 goes through."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from panels.pins import POISE_MT_pose
from properties import CLASSES, OWNERS
from tests.blender.rigs import drawn_by, make_armature, make_empty, select

OPERATORS = dir(bpy.ops.poise)
# of the list of presets, of the figure of parts, of a click on a bone, a ghost or a trail, and of a drag of a dot
UNLISTED = {"add_preset", "use_preset", "show_part", "goto_frame", "drag_frame", "next_bone", "select", "move_sample"}


def described(definition: Any) -> Iterator[str]:
    """What has no name or no tooltip of a property, among what is shown."""
    if definition.is_hidden or definition.identifier == "rna_type":
        return
    if not definition.name or not definition.description or definition.description.endswith("."):
        yield definition.identifier
    for item in definition.enum_items if definition.type == "ENUM" else ():
        if not item.name or not item.description or item.description.endswith("."):
            yield f"{definition.identifier}: {item.identifier}"


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_and_all_its_properties_have_names_and_tooltips(name: str) -> None:
    rna = getattr(bpy.ops.poise, name).get_rna_type()
    assert rna.description
    assert not rna.description.endswith(".")
    assert rna.name != rna.identifier
    assert [lack for definition in rna.properties for lack in described(definition)] == []


@pytest.mark.parametrize(
    ("name", "told"),
    [("store_pose", "pose"), ("take_posture", "posture"), ("mirror_pose", "model"), ("pose_fingers", "side")],
)
def test_buttons_of_one_operator_tell_what_each_of_them_chooses(name: str, told: str) -> None:
    kind = getattr(bpy.types, f"POISE_OT_{name}")
    items = getattr(bpy.ops.poise, name).get_rna_type().properties[told].enum_items
    chosen = bpy.context.window_manager.operator_properties_last(f"poise.{name}")
    said = []
    for item in items:
        setattr(chosen, told, item.identifier)
        said.append(kind.description(bpy.context, chosen))
    assert said == [item.description for item in items]
    assert len({*said}) == len(items)


@pytest.mark.parametrize("group", CLASSES)
def test_all_properties_of_groups_have_names_and_tooltips(group: Any) -> None:
    assert [lack for definition in group.bl_rna.properties for lack in described(definition)] == []


def test_all_properties_on_blenders_own_types_have_names_and_tooltips() -> None:
    for owner, names in OWNERS:
        for name in names:
            assert list(described(owner.bl_rna.properties[f"poise_{name}"])) == []


def searched() -> list[tuple[str, ...]]:
    """What is in the Pose menu, through which F3 goes, and in all menus below it."""
    seen = drawn_by(POISE_MT_pose)
    for kind, name in seen:  # which grows by what the menus show
        seen += drawn_by(getattr(bpy.types, name)) if kind == "menu" else []
    return seen


def test_search_finds_every_tool_through_the_pose_menu(empty_file: None) -> None:
    make_armature()
    listed = {name.removeprefix("poise.") for kind, name in searched() if kind == "operator"}
    assert listed == set(OPERATORS) - UNLISTED


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("lock feet", "solve_motion"),
        ("foot", "find_contacts"),
        ("foot", "plant_feet"),
        ("ground", "plant_feet"),
        ("floor", "fix_ground"),
        ("ragdoll", "drag"),
        (" ik", "drag"),  # at the start of a word: Blender does not look behind a parenthesis for two letters
        ("mocap", "import_keypoints"),
        ("retarget", "retarget_files"),
    ],
)
def test_search_finds_a_tool_by_the_words_of_animators(empty_file: None, words: str, tool: str) -> None:
    make_armature()
    text, found = "", set[str]()
    for kind, name in searched():
        if kind == "operator":
            label = text or getattr(bpy.ops.poise, name.removeprefix("poise.")).get_rna_type().name
            found |= {name} if words in label.lower() else set()
        text = name if kind == "text" else ""
    assert f"poise.{tool}" in found


def linked(folder: Path) -> None:
    make_armature()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(folder / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["rig"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.objects.active = wanted.objects[0]


def nothing(folder: Path) -> None:
    pass


def another_object(folder: Path) -> None:
    bpy.context.view_layer.objects.active = make_empty("Cup")


def object_mode(folder: Path) -> None:
    make_armature()


def edit_mode(folder: Path) -> None:
    make_armature()
    bpy.ops.object.mode_set(mode="EDIT")


def nothing_selected(folder: Path) -> None:
    select(make_armature(), [])


def no_pins(folder: Path) -> None:
    select(make_armature(), ["head"])


def rest_position(folder: Path) -> None:
    select(make_armature(), ["head"])
    bpy.context.active_object.data.pose_position = "REST"


@pytest.mark.parametrize(
    "spoil",
    [nothing, another_object, object_mode, edit_mode, nothing_selected, no_pins, rest_position, linked],
)
def test_every_disabled_button_says_why(empty_file: None, tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path)
    disabled = [name for name in OPERATORS if not getattr(bpy.ops.poise, name).poll()]
    assert disabled
    for name in disabled:
        with pytest.raises(RuntimeError) as refusal:
            getattr(bpy.ops.poise, name)()
        reason = str(refusal.value).partition("poll() ")[2].strip()
        assert reason, name
        assert "context is incorrect" not in reason, name
        assert not reason.endswith("."), name  # Blender sets one of its own
