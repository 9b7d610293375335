"""A real Blender with a window, mouse and keyboard. POISE_BLENDER names the program; without it they are skipped.

A test hands `person` a generator function of an `..._acts.py`. It runs inside Blender with a `Hand` (inside.py), yields
the seconds to wait, and what it returns comes back through JSON. Such a file imports bpy only inside functions, and no
pytest: Blender has none.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

import standalone

HERE = Path(__file__).resolve().parent
SIZE = (1600, 1000)
SMALL = (900, 700)  # software OpenGL draws it twice as fast
FILM = bool(os.environ.get("POISE_FILM"))  # pictures for people
PREPARE = f"""
import bpy
bpy.ops.preferences.addon_enable(module={standalone.MODULE!r})
bpy.context.preferences.view.show_splash = False  # it swallows the first click
bpy.context.preferences.view.smooth_view = 0  # a view is where it is put
bpy.context.preferences.use_preferences_save = False  # one test is none of the next one's business
bpy.ops.wm.save_userpref()
"""
QUICK = "import bpy; bpy.context.preferences.system.viewport_aa = 'OFF'"  # a third of the work under software OpenGL

Person = Callable[..., Any]


def start(*arguments: str, resources: Path, limit: float) -> str:
    """Run the real Blender, with a virtual screen where its launcher offers one; returns what it printed."""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(resources), "XVFB": "1"}
    # A group of its own, so that a Blender that hangs goes together with its virtual screen.
    process = subprocess.Popen(
        [os.environ["POISE_BLENDER"], *arguments],
        cwd=standalone.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail(f"Blender did not finish within {limit:.0f} s:\n{process.communicate()[0]}")


@pytest.fixture(scope="session")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Preferences of their own, with this checkout enabled as an extension."""
    if "POISE_BLENDER" not in os.environ:
        pytest.skip("POISE_BLENDER does not name a Blender program")
    folder = tmp_path_factory.mktemp("resources")
    standalone.link_extension(folder)
    printed = start("--background", "--python-exit-code", "1", "--python-expr", PREPARE, resources=folder, limit=120)
    assert (folder / "config" / "userpref.blend").is_file(), printed
    return folder


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """build/screenshots, for people to look at."""
    folder = standalone.ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def person(resources: Path, screenshots: Path, tmp_path_factory: pytest.TempPathFactory) -> Person:
    """person(act, *arguments, blend=None, small=False, limit=60): let `act` work in Blender's window; what it returned.

    A small window is for acts that drag a lot; only pictures for people have anti-aliasing. Blender has printed so many
    `faults`, and no more: those of panels and drawings reach nobody else.
    """

    def person(
        act: Callable[..., Generator[float, None, Any]],
        *arguments: str,
        blend: Path | None = None,
        small: bool = False,
        limit: float = 60,
        faults: int = 0,
    ) -> Any:
        result = tmp_path_factory.mktemp(act.__name__) / "result.json"
        printed = start(
            "--enable-event-simulate",
            "--window-geometry",
            *("0", "0", *(str(side) for side in (SMALL if small else SIZE))),
            *([str(blend)] if blend else []),
            *(["--python-expr", QUICK] if small or not FILM else []),
            "--python",
            str(HERE / "inside.py"),
            "--",
            *(act.__module__, act.__name__, str(result), str(screenshots), *arguments),
            resources=resources,
            limit=limit,
        )
        assert result.is_file(), f"Blender ended early:\n{printed}"
        outcome = json.loads(result.read_text(encoding="utf-8"))
        assert "error" not in outcome, f"{outcome['error']}\n{printed}"
        assert sum(line.startswith("Traceback") for line in printed.splitlines()) == faults, printed
        return outcome["returned"]

    return person
