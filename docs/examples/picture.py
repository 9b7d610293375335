"""The contact sheet of the demo: what Cycles renders of the file that is open, put together with numpy."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import blf
import bpy
import imbuf
import numpy as np
from mathutils import Matrix
from paint import CORAL, GREEN, INK, SLATE, YELLOW, srgb
from scene import BEFORE, FLOOR_NAME, GHOST

context: Any = bpy.context  # the type stubs take it apart wrongly

WIDTH, HEIGHT = 300, 388  # pixels of a tile
COLUMNS: Final = 4
GAP, MARGIN, TOP = 10, 22, 112
ROUND: Final = 12  # pixels, radius of a tile's corners
SEEN: Final = 0.45  # of the ghost
BEHIND: Final = 1.3  # times as far from the camera
PAPER: Final = "FFFFFF"
TITLE: Final = "A captured walk, and the same walk after one solve of Poise"
FONT: Final = 0  # Blender's own
STDOUT: Final = 1  # the process's, not Python's
LARGE, MEDIUM, SMALL = 25, 16, 15  # pixels of text


def draw(path: Path, frames: Sequence[int], captions: Sequence[str], samples: int) -> None:
    """Render the frames and save the sheet."""
    tiles = list(render(frames, samples))
    rows = -(-len(tiles) // COLUMNS)
    width = 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * GAP
    height = TOP + rows * HEIGHT + (rows - 1) * GAP + MARGIN
    sheet = np.empty((height, width, 3))
    sheet[:] = srgb(PAPER)
    texts = [(MARGIN + 2, height - 50, LARGE, TITLE), *legend(sheet, height - 88)]
    for number, (tile, caption) in enumerate(zip(tiles, captions, strict=True)):
        row, column = divmod(number, COLUMNS)
        x, y = MARGIN + column * (WIDTH + GAP), MARGIN + (rows - 1 - row) * (HEIGHT + GAP)
        paint(sheet[y : y + HEIGHT, x : x + WIDTH], tile, card())
        texts.append((x + 14, y + 13, SMALL, caption))
    save(path, sheet)
    write(path, texts)


def render(frames: Sequence[int], samples: int) -> Iterator[np.ndarray]:
    """One tile (HEIGHT, WIDTH, 3) for each frame, rows from below."""
    set_up(samples)
    with tempfile.TemporaryDirectory() as folder:
        with only_ghost() as go:
            ghosts = [shoot(go, frame, Path(folder)) for frame in frames]
        with only_rest() as go:
            shots = [shoot(go, frame, Path(folder)) for frame in frames]
    for shot, ghost in zip(shots, ghosts, strict=True):
        tile = shot[..., :3].astype(float)
        paint(tile, ghost[..., :3], SEEN * ghost[..., 3])
        yield tile


def set_up(samples: int) -> None:
    """Cycles on the processor, quick."""
    scene = context.scene
    render = scene.render
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, HEIGHT, 100
    render.use_persistent_data = True
    render.dither_intensity = 0.0  # noise does not compress
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"
    scene.view_settings.view_transform = "Standard"
    scene.cycles.device, scene.cycles.samples, scene.cycles.max_bounces = "CPU", samples, 2
    scene.cycles.denoising_prefilter, scene.cycles.denoising_quality = "FAST", "FAST"


def shoot(go: Callable[[int], None], frame: int, folder: Path) -> np.ndarray:
    """RGBA, rows from below."""
    go(frame)
    with quiet():
        bpy.ops.render.render()
    path = str(folder / "shot.png")
    bpy.data.images["Render Result"].save_render(path)  # its pixels cannot be read
    image: Any = bpy.data.images.load(path)
    pixels = np.empty(4 * WIDTH * HEIGHT, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(HEIGHT, WIDTH, 4)


@contextmanager
def quiet() -> Iterator[None]:
    """Without what Blender 4.5 itself prints at every step of a rendering."""
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), STDOUT)
    yield
    os.dup2(kept, STDOUT)
    os.close(kept)


@contextmanager
def only_rest() -> Iterator[Callable[[int], None]]:
    """All but the ghost; gives what goes to a frame."""
    scene = context.scene
    ghost = bpy.data.objects[GHOST]
    ghost.hide_render, scene.render.film_transparent, scene.cycles.use_denoising = True, False, True
    yield scene.frame_set
    ghost.hide_render = False


@contextmanager
def only_ghost() -> Iterator[Callable[[int], None]]:
    """Nothing else is seen, but the figure and the ball hide it; gives what goes to a frame."""
    scene = context.scene
    before: Any = bpy.data.objects[BEFORE]
    others = [
        armature for armature in bpy.data.objects if armature.type in {"MESH", "CURVE"} and armature.name != GHOST
    ]
    for armature in others:
        armature.is_holdout = True
        armature.hide_render = armature.name.startswith(FLOOR_NAME) or armature.parent == before
    scene.render.film_transparent, scene.cycles.use_denoising = True, False
    place = before.matrix_world.copy()

    def push(frame: int) -> None:
        """Enlarge it from the camera's place: it is seen where it was, but behind all others."""
        scene.frame_set(frame)
        eye = Matrix.Translation(scene.camera.matrix_world.translation)
        before.matrix_world = eye @ Matrix.Scale(BEHIND, 4) @ eye.inverted() @ place

    yield push
    before.matrix_world = place
    for armature in others:
        armature.is_holdout = armature.hide_render = False


def legend(sheet: np.ndarray, y: int) -> Iterator[tuple[int, int, int, str]]:
    """Draw a row of signs; gives the texts beside them."""
    px, py = np.meshgrid(np.arange(sheet.shape[1]) + 0.5, np.arange(sheet.shape[0]) + 0.5)

    def disc(x: float) -> np.ndarray:
        return 8.0 - np.hypot(px - x, py - y)

    def bar(x: float) -> np.ndarray:
        return 3.0 - np.hypot(px - np.clip(px, x - 14, x + 14), py - y)

    def circle(x: float) -> np.ndarray:
        return 2.5 - abs(np.hypot(px - x, py - y) - 8.0)

    left = MARGIN + 2
    for sign, colour, seen, text in (
        (disc, CORAL, 1.0, "after"),
        (disc, SLATE, SEEN, "before"),
        (bar, CORAL, 1.0, "way of the hand after"),
        (bar, SLATE, 1.0, "and before"),
        (disc, YELLOW, 1.0, "ball that the right hand follows"),
        (circle, GREEN, 1.0, "pins: both feet stay as the walk has them"),
    ):
        half = 17 if sign is bar else 9
        paint(sheet, np.broadcast_to(srgb(colour), sheet.shape), seen * np.clip(sign(left + half) + 0.5, 0.0, 1.0))
        left += 2 * half + 8
        yield left, y - 6, MEDIUM, text
        blf.size(FONT, MEDIUM)
        left += int(blf.dimensions(FONT, text)[0]) + 24


def card() -> np.ndarray:
    """(HEIGHT, WIDTH): 1 on a tile, 0 at its rounded corners."""
    x, y = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    dx, dy = (np.maximum(abs(v - size / 2) - size / 2 + ROUND, 0.0) for v, size in ((x, WIDTH), (y, HEIGHT)))
    return np.clip(ROUND - np.hypot(dx, dy) + 0.5, 0.0, 1.0)


def paint(onto: np.ndarray, colours: np.ndarray, cover: np.ndarray) -> None:
    """Colours (H, W, 3) over an array in place, as far as `cover` (H, W)."""
    onto += cover[..., None] * (colours - onto)


def save(path: Path, sheet: np.ndarray) -> None:
    height, width, _ = sheet.shape
    image: Any = bpy.data.images.new(path.stem, width, height)
    image.pixels.foreach_set(np.dstack([sheet, np.ones((height, width))]).astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def write(path: Path, texts: Sequence[tuple[int, int, int, str]]) -> None:
    """Write (x, y, size, text) into a picture that is saved."""
    picture = imbuf.load(str(path))
    bound: Any = blf.bind_imbuf(FONT, picture)
    with bound:
        for x, y, size, text in texts:
            blf.size(FONT, size)
            blf.color(FONT, *srgb(INK), 1.0)
            blf.position(FONT, x, y, 0)
            blf.draw_buffer(FONT, text)
    imbuf.write(picture, filepath=str(path))
    # imbuf has no setting for the compression in Blender 4.5
    image = bpy.data.images.load(str(path))
    settings = context.scene.render.image_settings
    settings.file_format, settings.color_mode, settings.compression = "PNG", "RGB", 100
    image.save_render(str(path))
    bpy.data.images.remove(image)
