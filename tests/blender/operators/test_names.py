"""Names of properties and of methods, which are in one class."""

import inspect
from typing import Any

import pytest

from operators import CLASSES


@pytest.mark.parametrize("tool", CLASSES, ids=lambda tool: tool.__name__)
def test_no_property_of_a_tool_has_the_name_of_a_method(tool: Any) -> None:
    own = [base for base in tool.__mro__ if not base.__module__.startswith(("bpy", "builtins"))]
    notes: list[tuple[str, Any]] = [item for base in own for item in inspect.get_annotations(base).items()]
    properties = {name for name, value in notes if type(value).__name__ == "_PropertyDeferred"}
    methods = {name for base in own for name, value in vars(base).items() if inspect.isfunction(value)}
    assert not properties & methods
