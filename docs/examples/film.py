"""docs/images/drag.webp, from the pictures of tests/window/test_film.py: `python -m nox -s film`; needs Pillow."""

import json
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw  # pyright: ignore[reportMissingImports]

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURES: Final = ROOT / "build" / "screenshots" / "film"
FILM: Final = ROOT / "docs" / "images" / "drag.webp"
HEADER: Final = 56  # pixels of the viewport that its headers take
WIDTH: Final = 640
FRAME: Final = 90  # milliseconds
QUALITY: Final = 80
ARROW: Final = ((0, 0), (0, 20), (5, 15), (9, 23), (12, 22), (8, 14), (15, 14))  # screenshots do not have the mouse


def main() -> None:
    """Cut the viewport out of each picture, draw the mouse into it, and write the film."""
    notes = json.loads((PICTURES / "film.json").read_text(encoding="utf-8"))
    left, lower, width, height = notes["viewport"]
    frames = []
    for number, (x, y) in enumerate(notes["mouse"]):
        picture = Image.open(PICTURES / f"{number:03}.png").convert("RGB")
        upper = picture.height - lower - height
        arrow = [(x + right, picture.height - y + down) for right, down in ARROW]
        ImageDraw.Draw(picture).polygon(arrow, fill="white", outline="black")
        picture = picture.crop((left, upper + HEADER, left + width, upper + height))
        frames.append(picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS))
    frames[0].save(FILM, save_all=True, append_images=frames[1:], duration=FRAME, loop=0, quality=QUALITY, method=6)
    print(f"{FILM}: {len(frames)} pictures, {FILM.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
