"""Names of properties and of methods, which are in one class, and of files that tools propose."""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from operators import CLASSES
from operators.tool import ReadsFile


@pytest.mark.parametrize("tool", CLASSES, ids=lambda tool: tool.__name__)
def test_no_property_of_a_tool_has_the_name_of_a_method(tool: Any) -> None:
    own = [base for base in tool.__mro__ if not base.__module__.startswith(("bpy", "builtins"))]
    notes: list[tuple[str, Any]] = [item for base in own for item in inspect.get_annotations(base).items()]
    properties = {name for name, value in notes if type(value).__name__ == "_PropertyDeferred"}
    methods = {name for base in own for name, value in vars(base).items() if inspect.isfunction(value)}
    assert not properties & methods


@pytest.mark.parametrize(
    "tool", [tool for tool in CLASSES if issubclass(tool, ReadsFile)], ids=lambda tool: tool.__name__
)
def test_a_file_is_chosen_in_the_folder_of_the_blend_file_and_none_is_proposed(tool: Any, tmp_path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    place = SimpleNamespace(window_manager=SimpleNamespace(fileselect_add=lambda tool: None))
    chooser = SimpleNamespace(filepath="")
    assert tool.invoke(chooser, place, None) == {"RUNNING_MODAL"}
    assert Path(chooser.filepath) == tmp_path
    assert chooser.filepath.endswith(("/", "\\"))  # a folder: the field of the name is empty
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
