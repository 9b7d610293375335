"""Presets of the solver's settings: made, used and removed as Blender's own are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

from operators.presets import FOLDER
from panels.solver import POISE_PT_presets
from properties.pins import SOLVER
from tests.blender.rigs import make_armature, make_empty

pytestmark = pytest.mark.usefixtures("empty_file")


def values(object: Any) -> dict[str, Any]:
    return {name: getattr(object, f"poise_{name}") for name in SOLVER}


def files() -> list[Path]:
    return sorted(Path(bpy.utils.user_resource("SCRIPTS")).joinpath("presets", FOLDER).glob("*.py"))


@pytest.fixture(autouse=True)
def label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blender shows the last preset as the label of the list: other tests find the label as it was."""
    monkeypatch.setattr(POISE_PT_presets, "bl_label", POISE_PT_presets.bl_label)


@pytest.fixture
def rig() -> Any:
    """An armature none of whose settings is as it was made."""
    object = make_armature()
    for name in SOLVER:
        change(object, name)
    return object


def change(object: Any, name: str) -> None:
    """Another value than the default."""
    definition = object.bl_rna.properties[f"poise_{name}"]
    other = definition.enum_items[-1].identifier if definition.type == "ENUM" else not definition.default
    setattr(object, f"poise_{name}", other)


@pytest.fixture
def preset(rig: Any) -> Iterator[Path]:
    assert not files()  # the profile is new
    bpy.ops.poise.add_preset(name="Heavy Steps")
    (file,) = files()
    yield file
    file.unlink(missing_ok=True)


def test_a_preset_has_every_setting_and_gives_it_to_another_armature(rig: Any, preset: Path) -> None:
    other = make_armature("other")
    plain = values(other)
    assert all(value != plain[name] for name, value in values(rig).items())
    assert POISE_PT_presets.preset_operator == "poise.use_preset"
    # Blender's list gives its own operator the name of the list, and others the file alone
    assert bpy.ops.poise.use_preset(filepath=str(preset)) == {"FINISHED"}
    assert values(other) == values(rig)
    assert POISE_PT_presets.bl_label == "Heavy Steps"
    make_armature("third")
    assert values(bpy.context.active_object) == plain


def test_using_a_preset_is_one_undo_step(rig: Any, preset: Path) -> None:
    plain = values(make_armature("other"))
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.poise.use_preset("EXEC_DEFAULT", True, filepath=str(preset))
    assert values(bpy.data.objects["other"]) != plain
    bpy.ops.ed.undo()
    assert values(bpy.data.objects["other"]) == plain


def test_a_preset_is_removed_by_its_name(rig: Any, preset: Path) -> None:
    bpy.ops.poise.add_preset(name="Heavy Steps", remove_name=True)
    assert not files()


def test_a_preset_of_a_name_that_is_there_is_refused(rig: Any, preset: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = preset.read_text(encoding="utf-8")
    rig.poise_root = "HOLD"
    bpy.ops.poise.add_preset(name="Heavy Steps")
    assert "already exists" in "".join(capfd.readouterr())
    assert files() == [preset]
    assert preset.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("name", ["Default", "Drag_First", "Keep_Balance"])
def test_a_preset_that_ships_has_every_setting(rig: Any, name: str) -> None:
    (folder,) = (path for path in bpy.utils.preset_paths(FOLDER) if "panels" in path)
    file, before = Path(folder, f"{name}.py"), values(rig)
    assert set(re.findall(r"object\.poise_(\w+) = ", file.read_text(encoding="utf-8"))) == set(SOLVER)
    assert bpy.ops.poise.use_preset(filepath=str(file)) == {"FINISHED"}
    assert values(rig) != before
    if name == "Default":
        assert values(rig) == values(make_armature("other"))


@pytest.mark.parametrize("tool", ["add_preset", "use_preset"])
def test_presets_need_an_armature(tool: str) -> None:
    bpy.context.view_layer.objects.active = make_empty("Cup")
    with pytest.raises(RuntimeError, match="Select an armature"):
        getattr(bpy.ops.poise, tool)()
