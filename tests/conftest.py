"""What all tests share: the same random examples in every run, a sample for CI, and an end that Blender cannot hang."""

import os
import sys
from typing import Final

import pytest
from hypothesis import settings

import standalone

settings.register_profile("poise", derandomize=True, deadline=None)
settings.load_profile("poise")

# under CI, which has 39 minutes on a slow machine
_ONE_OF_LONG: Final = 6
_ONE_OF_OLDER: Final = 2  # with the Python of an older Blender, of the tests of Blender and of the core
_NEWEST: Final = (3, 13)


class _Leave:
    """Ends the process itself where bpy was loaded: see `standalone.leave`."""

    code = 0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.code = int(exitstatus)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        if "bpy" in sys.modules:
            standalone.leave(self.code)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Leave(), "poise-leave")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under CI run a share of the tests that are long, and of those with an older Blender; elsewhere all of them."""
    if os.environ.get("CI") != "true":
        return
    long = [item for item in items if item.get_closest_marker("long") is not None]
    left_out = {*long} - {*long[::_ONE_OF_LONG]}
    if sys.version_info < _NEWEST:
        older = [item for item in items if item.nodeid.startswith(("tests/blender/", "tests/core/"))]
        left_out |= {*older} - {*older[::_ONE_OF_OLDER]}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
