"""What all tests share: the same random examples in every run, and an end that Blender cannot hang."""

import sys

import pytest
from hypothesis import settings

import standalone

settings.register_profile("poise", derandomize=True, deadline=None)
settings.load_profile("poise")


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
