"""The README's film: a body of docs/examples is dragged by a hand, then by the hips. It runs inside Blender."""

import json
import sys
from collections.abc import Generator, Sequence
from math import cos, pi
from pathlib import Path
from typing import Any

from tests.window.drag_acts import SOON, drop, head, key, left_behind, look_from, pose_mode

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
HAND, HIPS, TOES = "RightHand", "Hips", ("LeftToeBase", "RightToeBase")
FRAME = 1  # of the walk
FROM = (1.3, 0.0, -0.6)
# a joint, and in how many frames it goes where from its start, in pixels of the window
WAYS = (
    (HAND, ((9, -60, 210), (8, -150, 60), (10, -60, -130), (9, 0, 0))),
    (HIPS, ((8, 30, -80), (8, 0, 0))),
)
SUBSTEPS = 3  # moves of the mouse in a frame
STILL = 3  # frames before and after a drag


def set_stage(hand: Any, frame: int) -> Generator[float, None, tuple[Any, Any]]:
    """Show nothing but a body that walks, at a frame; return its armature and the space of the viewport."""
    import bpy

    sys.path.insert(0, str(EXAMPLES))
    import scene

    with bpy.context.temp_override(window=hand.window):
        bpy.ops.wm.read_homefile(use_empty=True, load_ui=False)
    yield SOON
    with bpy.context.temp_override(window=hand.window, area=hand.viewport, region=hand.region()):
        walker = scene.import_walk()
        scene.add_body(walker)
        bpy.context.scene.frame_set(frame)
    space = hand.viewport.spaces.active
    space.shading.color_type = "MATERIAL"
    space.show_gizmo_navigate = space.show_region_toolbar = space.show_region_hud = space.overlay.show_text = False
    space.overlay.show_cursor = False
    return walker, space


def film(hand: Any, every: str) -> Generator[float, None, dict[str, Any]]:
    """Pin the toes, so that heels may lift, and drag; a picture of every so many frames."""
    import bpy

    walker, space = yield from set_stage(hand, FRAME)
    yield from pose_mode(hand, walker)
    yield from look_from(hand, FROM, True)
    if every == "1":
        bpy.context.preferences.system.viewport_aa, space.overlay.show_floor = "8", True

    camera = Camera(hand, int(every))
    for toes in TOES:
        camera.go(hand.pixel(head(toes)))
        yield SOON
        yield from key(hand, "P")
    seen: dict[str, Any] = {"toes": [head(toes) for toes in TOES], "off": [], "toes off": []}
    yield from shoot_drags(hand, camera, WAYS, TOES, seen)
    camera.end()
    return seen | {"left": left_behind()}


def shoot_drags(
    hand: Any, camera: "Camera", ways: Any, pinned: tuple[str, ...], seen: dict[str, Any], starts: Any = None
) -> Generator[float, None, None]:
    """Drag joint after joint, and note how far each is from the mouse, and where the pinned ones are.

    `starts` finds the pixel where a joint is grabbed, if not at itself.
    """
    for joint, legs in ways:
        at = hand.pixel(head(joint))
        x, y = start = starts(joint) if starts else at
        camera.go(start)
        yield from camera.shoot(STILL)
        hand.hold("LEFTMOUSE")
        for frames, right, up in legs:
            begin, end = (hand.x, hand.y), (x + right, y + up)
            for step in range(1, SUBSTEPS * frames + 1):
                share = 0.5 - 0.5 * cos(pi * step / (SUBSTEPS * frames))
                camera.go(tuple(round(a + share * (b - a)) for a, b in zip(begin, end, strict=True)))
                if step % (SUBSTEPS * camera.every) == 0 or step == SUBSTEPS * frames:
                    yield from camera.shoot()
                    reached = hand.pixel(head(joint))
                    seen["off"].append([reached[0] - at[0] - hand.x + x, reached[1] - at[1] - hand.y + y])
        yield from drop(hand)
        yield from camera.shoot(STILL)
        seen["toes off"].append([head(toes) for toes in pinned])


class Camera:
    """Takes pictures of the viewport, and notes where the mouse is: screenshots do not show it."""

    def __init__(self, hand: Any, every: int, name: str = "film") -> None:
        self.hand, self.every, self.name = hand, every, name
        self.places: list[tuple[int, int]] = []
        self.caption, self.captions = "", list[str]()
        self.folder = hand.screenshots / name
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.glob("*.png"):
            old.unlink()

    def go(self, pixel: tuple[int, int]) -> None:
        self.hand.move(*pixel)

    def shoot(self, count: int = 1) -> Generator[float, None, None]:
        yield SOON
        yield SOON  # drawn, too
        for _ in range(count):
            self.hand.screenshot(f"{self.name}/{len(self.places):03}")
            self.places.append((self.hand.x, self.hand.y))
            self.captions.append(self.caption)

    def end(self, part: Sequence[int] = ()) -> None:
        """Note the part of the pictures that is shown: left, lower, width, height; by default that is the viewport."""
        region = self.hand.region()
        part = part or [region.x, region.y, region.width, region.height]
        notes = {"mouse": self.places, "captions": self.captions, "viewport": part}
        (self.folder / "film.json").write_text(json.dumps(notes), encoding="utf-8")
