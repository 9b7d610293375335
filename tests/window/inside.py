"""Runs inside the real Blender: takes a test's generator by the hand and writes down what it returns.

`blender ... --python inside.py -- MODULE FUNCTION RESULT.json SCREENSHOT_FOLDER ARGUMENTS...`
"""

import contextlib
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]  # so that acts can import each other, as under pytest
FIRST_WAIT = 1.0  # seconds until Blender has drawn its window and takes events
TAB_STEP = 20  # pixels; no tab of the sidebar is smaller
LARGEST_GAP = 300  # pixels down between two buttons; an empty list is one, a panel of text another
GRID = (38, 16)  # pixels across and down; no button of the panels is smaller, the icons of a list apart
STILL = 10  # pictures at most until one is like the one before
KEYS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "PERIOD")


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

    def pixel(self, world: tuple[float, float, float], region: Any = None, data: Any = None) -> tuple[int, int]:
        """Where the viewport, or one of its views, shows a point of the scene, in window coordinates."""
        from bpy_extras.view3d_utils import location_3d_to_region_2d
        from mathutils import Vector

        region = region or self.region()
        space = self.viewport.spaces.active
        assert isinstance(space, bpy.types.SpaceView3D)
        seen = location_3d_to_region_2d(region, data or space.region_3d, Vector(world))
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
        """Press and release; modifiers as a person does it, down before and up after: else Blender keeps them down."""
        down: dict[str, bool] = {}
        for name in modifiers:
            down[name] = True
            self.hold(f"LEFT_{name.upper()}", **down)
        self.hold(key, **modifiers)
        self.let_go(key, **modifiers)
        for name in modifiers:
            del down[name]
            self.let_go(f"LEFT_{name.upper()}", **down)

    def click(self, x: int, y: int, **modifiers: bool) -> Generator[float, None, None]:
        """Move there and click with the left button: `yield from hand.click(...)`."""
        self.move(x, y)
        yield 0.1
        self.press("LEFTMOUSE", **modifiers)
        yield 0.2

    def type(self, text: str) -> Generator[float, None, None]:
        """Type digits and points, and end with the Enter key."""
        for letter in text:
            key = KEYS["0123456789.".index(letter)]
            self.window.event_simulate(type=key, value="PRESS", unicode=letter, x=self.x, y=self.y)
            self.let_go(key)
            yield 0.05
        self.press("RET")
        yield 0.2

    def until(self, condition: Callable[[], bool], limit: float = 8.0) -> Generator[float, None, bool]:
        """Wait until something holds; returns whether it came to hold within `limit` seconds."""
        end = time.monotonic() + limit
        while not condition() and time.monotonic() < end:
            yield 0.1
        yield 0.3  # until Blender has drawn it
        return condition()

    def open_tab(self, name: str) -> Generator[float, None, None]:
        """Show the sidebar of the viewport and click down its tabs until this one is in front."""
        if self.region("UI").width <= 1:
            self.rest()
            self.press("N")
            yield from self.until(lambda: self.region("UI").width > 1)
        side = self.region("UI")
        for y in range(side.y + side.height - TAB_STEP, side.y, -TAB_STEP):
            if side.active_panel_category == name:
                break
            yield from self.click(side.x + side.width - TAB_STEP // 2, y)
        assert side.active_panel_category == name, f"There is no tab {name}."
        yield 0.3

    def read_panels(
        self, wanted: str = "", below: float = 0.0
    ) -> Generator[float, None, dict[str, list[tuple[int, int]]]]:
        """Go over the sidebar with the mouse, down to the `wanted` button: where they are, by what they do.

        `below`: the share of the sidebar's height, from above, that is left out.

        {"bpy.ops.poise.solve()": [(x, y), ...], "poise.pins[0].mute": ...}: operator call or property path, and the
        points that were on the button, in reading order. So tests do not depend on the layout.
        """
        side, manager = self.region("UI"), bpy.context.window_manager
        found: dict[str, list[tuple[int, int]]] = {}
        top = side.y + round((1.0 - below) * side.height) - GRID[1] // 2
        self.move(side.x + GRID[0] // 2, top)
        yield 0.3  # until Blender knows that the mouse has left the button that it was on
        for y in range(top, side.y, -GRID[1]):
            for x in range(side.x + GRID[0] // 2, side.x + side.width - 2 * TAB_STEP, GRID[0]):
                self.move(x, y)
                yield 0.005
                with bpy.context.temp_override(window=self.window, area=self.viewport, region=side):
                    manager.clipboard = ""
                    with contextlib.suppress(RuntimeError):  # no button there, or one without an operator
                        bpy.ops.ui.copy_python_command_button()
                    path = bpy.context.property[1] if bpy.context.property else ""
                    name = manager.clipboard or path
                if name:
                    found.setdefault(name, []).append((x, y))
            lowest = min((points[-1][1] for points in found.values()), default=0)
            if wanted in found or y < lowest - LARGEST_GAP:
                break
        self.rest()
        return found

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
        """Take a picture of the window; returns the path of the PNG file."""
        file = self.screenshots / f"{name}.png"
        part = f"-gravity SouthWest -crop {self.window.width}x{self.window.height}+0+0 +repage"
        # Blender's own screenshot is black under software OpenGL; `import` is ImageMagick's.
        if os.system(f"import -window root {part} -quality 10 '{file}'") != 0:
            with bpy.context.temp_override(window=self.window):
                bpy.ops.screen.screenshot(filepath=str(file))
        return str(file)

    def look(self, name: str) -> np.ndarray:
        """Take a picture; returns its pixels (height, width, 3), 0 to 255, rows from below."""
        image = bpy.data.images.load(self.screenshot(name))
        width, height = image.size
        pixels = np.empty(width * height * image.channels, np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        return np.round(255.0 * pixels.reshape(height, width, -1)[..., :3]).astype(np.uint8)

    def look_at_rest(self, name: str) -> Generator[float, None, np.ndarray]:
        """A picture of a window that has come to rest, the mouse as well: a second one is the same."""
        self.rest()
        yield 0.3
        seen = self.look(name)
        for _ in range(STILL):
            self.rest()  # what was under the mouse before may still be lit
            yield 0.3
            before, seen = seen, self.look(name)
            if np.array_equal(before, seen):
                break
        return seen


def main(module: str, function: str, result: str, screenshots: str, *arguments: str) -> None:
    """Drive one test from a timer and quit; the result file holds {"returned": ...} or {"error": traceback}."""

    def act() -> Generator[float, None, object]:
        return (yield from getattr(importlib.import_module(module), function)(Hand(Path(screenshots)), *arguments))

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

    sys.path.insert(0, str(ROOT))
    running = act()
    # persistent: opening a file must not end the test
    bpy.app.timers.register(tick, first_interval=FIRST_WAIT, persistent=True)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
