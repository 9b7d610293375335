"""Runs inside the real Blender: takes a test's generator by the hand and writes down what it returns.

`blender ... --python inside.py -- TEST_FILE FUNCTION RESULT.json SCREENSHOT_FOLDER`
"""

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy

FIRST_WAIT = 1.0  # seconds until Blender has drawn its window and takes events


class Hand:
    """A person at mouse and keyboard in front of the first window. Window coordinates: pixels from the lower left."""

    def __init__(self, screenshots: Path) -> None:
        self.screenshots = screenshots
        self.x, self.y = 0, 0

    @property
    def window(self) -> bpy.types.Window:
        return bpy.context.window_manager.windows[0]

    @property
    def viewport(self) -> bpy.types.Area:
        """The first 3D viewport."""
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    def region(self, kind: str = "WINDOW") -> bpy.types.Region:
        """A region of the viewport: WINDOW (the scene), UI (the N-panel), TOOLS, HEADER."""
        return next(region for region in self.viewport.regions if region.type == kind)

    def pixel(self, world: tuple[float, float, float]) -> tuple[int, int]:
        """Where the viewport shows a point of the scene, in window coordinates."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d
        from mathutils import Vector

        region = self.region()
        space = self.viewport.spaces.active
        assert isinstance(space, bpy.types.SpaceView3D)
        assert space.region_3d is not None
        seen = location_3d_to_region_2d(region, space.region_3d, Vector(world))
        assert seen is not None, f"{world} is behind the viewer"
        return round(region.x + seen.x), round(region.y + seen.y)

    def move(self, x: int, y: int) -> None:
        """Move the mouse there."""
        self.x, self.y = x, y
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)

    def rest(self) -> None:
        """Move the mouse to the middle of the scene, twice: keys go to the region the mouse was seen in."""
        region = self.region()
        for step in (0, 1):
            self.move(region.x + region.width // 2 + step, region.y + region.height // 2)

    def hold(self, key: str, **modifiers: bool) -> None:
        """Press a key or mouse button (Blender's event type, with ctrl=, shift=, alt=) and keep it down."""
        self.window.event_simulate(type=key, value="PRESS", x=self.x, y=self.y, **modifiers)

    def let_go(self, key: str, **modifiers: bool) -> None:
        """Release it."""
        self.window.event_simulate(type=key, value="RELEASE", x=self.x, y=self.y, **modifiers)

    def press(self, key: str, **modifiers: bool) -> None:
        """Press and release."""
        self.hold(key, **modifiers)
        self.let_go(key, **modifiers)

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], steps: int = 10, **modifiers: bool
    ) -> Generator[float, None, None]:
        """Drag with the left button along a straight line: `yield from hand.drag(...)`."""
        self.move(*start)
        yield 0.05
        self.hold("LEFTMOUSE", **modifiers)
        for step in range(1, steps + 1):
            yield 0.03
            self.move(*(round(a + (b - a) * step / steps) for a, b in zip(start, end, strict=True)))
        yield 0.05
        self.let_go("LEFTMOUSE", **modifiers)
        yield 0.1

    def screenshot(self, name: str) -> str:
        """Take a picture of the screen; returns the path of the PNG file."""
        file = self.screenshots / f"{name}.png"
        # Blender's own screenshot is black under software OpenGL; `import` is ImageMagick's.
        if os.system(f"import -window root '{file}'") != 0:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(file))
        return str(file)


def load(file: str, function: str) -> Any:
    """The generator function of that name in the test file."""
    spec = importlib.util.spec_from_file_location("window_test", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


def main(file: str, function: str, result: str, screenshots: str) -> None:
    """Drive one test from a timer and quit; the result file holds {"returned": ...} or {"error": traceback}."""

    def act() -> Generator[float, None, object]:
        return (yield from load(file, function)(Hand(Path(screenshots))))

    def end(**outcome: object) -> None:
        Path(result).write_text(json.dumps(outcome), encoding="utf-8")
        bpy.ops.wm.quit_blender()

    def tick() -> float | None:
        try:
            return next(running)
        except StopIteration as stop:
            end(returned=stop.value)
        except Exception:
            end(error=traceback.format_exc())
        return None

    running = act()
    # persistent: opening a file must not end the test
    bpy.app.timers.register(tick, first_interval=FIRST_WAIT, persistent=True)


main(*sys.argv[sys.argv.index("--") + 1 :])
