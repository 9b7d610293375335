"""Blender looks the labels of Poise up in the translations: all that it can show of them is there."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from languages import LANGUAGES
from languages.interface import CONTEXT, messages, translated
from panels import CLASSES as PANELS
from properties import CLASSES, OWNERS
from tests.blender.rigs import make_chain

NAMES = {"Poise", "COCO", "VMC"}
BASE = {"rna_type", "bl_idname", "name"}  # of all classes
BLENDERS = {"File Path", "Filepath used for exporting the file", "Name of the preset, used to make the path name"} | {
    definition.description for definition in bpy.types.PropertyGroup.bl_rna.properties
}


def operators() -> list[Any]:
    """The operators as they are registered now: other tests disable Poise and enable it again."""
    return [getattr(bpy.ops.poise, name).get_rna_type() for name in dir(bpy.ops.poise)]


def labels(definition: Any) -> Iterator[str]:
    """Labels and tooltips of a property that is shown."""
    if definition.is_hidden or definition.identifier in BASE - {"name"}:
        return
    yield from (definition.name, definition.description)
    for item in definition.enum_items if definition.type == "ENUM" else ():
        yield from (item.name, item.description)


def shown() -> Iterator[str]:
    for rna in operators():
        yield from (rna.name, rna.description)
    for rna in (*operators(), *(group.bl_rna for group in CLASSES)):
        for definition in rna.properties:
            yield from labels(definition)
    for owner, names in OWNERS:
        for name in names:
            yield from labels(owner.bl_rna.properties[f"poise_{name}"])
    for panel in PANELS:
        yield getattr(panel, "bl_label", "")


def test_labels_are_not_mixed_up_with_those_of_blender() -> None:
    """Feet are none of length, and an arm is no armature."""
    rnas = [*operators(), *(group.bl_rna for group in CLASSES)]
    definitions = [definition for rna in rnas for definition in rna.properties if definition.identifier not in BASE]
    definitions += [owner.bl_rna.properties[f"poise_{name}"] for owner, names in OWNERS for name in names]
    own = [one for one in definitions if not {one.name, one.description} & BLENDERS and not one.is_hidden]
    assert len(own) > 300
    assert {one.translation_context for one in own} == {CONTEXT}
    assert {rna.translation_context for rna in operators()} == {CONTEXT}


def words(text: str) -> bool:
    return any(len(word) > 1 and word.isalpha() for word in text.split()) and text not in NAMES | BLENDERS


@pytest.mark.parametrize("language", LANGUAGES)
def test_blender_finds_a_translation_of_every_label_and_tooltip(language: str) -> None:
    known = {text for _, text in messages()[language]}
    assert messages()[language][CONTEXT, "head"] in ("頭", "头")  # of the menu of parts, not of a file
    missing = sorted({text for text in shown() if words(text)} - known)
    assert not missing, "\n".join(missing)


def test_names_of_bones_lose_the_prefix_of_their_rig_and_nothing_else_does(empty_file: None) -> None:
    rig = make_chain(2)
    rig.data.bones[0].name, rig.data.bones[1].name = "mixamorig:Hips", "A:b:c.L"
    said = 'mixamorig:Hips is 3 cm short: "A:b:c.L" is locked, unlike other:Hips in C:/walk.bvh. See mixamorig:Hips.'
    wanted = 'Hips is 3 cm short: "c.L" is locked, unlike other:Hips in C:/walk.bvh. See Hips.'
    assert translated(said) == translated(said, "reports") == wanted
    typed = 'No bone "Hips"; did you mean "mixamorig:Hips"?'
    assert translated(typed, "reports") == typed
