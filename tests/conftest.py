"""What all tests share: the same random examples in every run, a sample for CI, and an end that Blender cannot hang."""

import os
import sys
import zlib
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
    left_out = {item for item in items if zlib.crc32(item.nodeid.encode()) % _one_of(item)}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def _one_of(item: pytest.Item) -> int:
    """Of how many tests like this one CI runs one; by its name, so that a new test does not change which others run."""
    if item.get_closest_marker("long") is not None:
        return _ONE_OF_LONG
    older = sys.version_info < _NEWEST and item.nodeid.startswith(("tests/blender/", "tests/core/"))
    return _ONE_OF_OLDER if older else 1
