"""The films and the tutorials' pictures of docs/images, from tests/window: `python -m nox -s film`; needs Pillow."""

import json
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw  # pyright: ignore[reportMissingImports]

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURES: Final = ROOT / "build" / "screenshots"
IMAGES: Final = ROOT / "docs" / "images"
TUTORIALS: Final = IMAGES / "tutorials"
TAKES: Final = {"film_naked": "naked rig", "film_ik": "Rigify, IK", "film_fk": "Rigify, FK"}  # side by side
HEADER: Final = 56  # pixels of the viewport that its headers take
WIDTH: Final = 640
NARROW: Final = 0.62  # share of the viewport that a rig takes
FRAME: Final = 90  # milliseconds
QUALITY: Final = 80
ARROW: Final = ((0, 0), (0, 20), (5, 15), (9, 23), (12, 22), (8, 14), (15, 14))  # screenshots do not have the mouse


def main() -> None:
    """Write what is there: the films of the README, of animation, of control rigs, and the pictures of tutorials."""
    for folder, name in (("film", "drag.webp"), ("film_time", "time.webp")):
        if (PICTURES / folder).is_dir():
            write(cut(PICTURES / folder, WIDTH), name)
    if all((PICTURES / take).is_dir() for take in TAKES):
        takes = [cut(PICTURES / take, WIDTH // 2, NARROW) for take in TAKES]
        write([beside(frames) for frames in zip(*takes, strict=True)], "controls.webp")

    for folder in sorted(PICTURES.glob("tutorial_*")):
        if (folder / "film.json").is_file():
            for number, picture in enumerate(cut(folder), 1):
                picture.save(TUTORIALS / f"{folder.name.partition('_')[2]}_{number}.webp", quality=QUALITY, method=6)


def cut(folder: Path, width: int = 0, share: float = 1.0) -> list[Image.Image]:
    """Cut the viewport, or the middle `share` of it, out of each picture, with the mouse drawn into it.

    Without a width pictures keep their size, and the headers of the viewport.
    """
    notes = json.loads((folder / "film.json").read_text(encoding="utf-8"))
    left, lower, wide, height = notes["viewport"]
    left, wide = left + round((1.0 - share) * wide / 2), round(share * wide)
    frames: list[Image.Image] = []
    for number, ((x, y), caption) in enumerate(zip(notes["mouse"], notes["captions"], strict=True)):
        picture = Image.open(folder / f"{number:03}.png").convert("RGB")
        upper = picture.height - lower - height
        arrow = [(x + right, picture.height - y + down) for right, down in ARROW]
        ImageDraw.Draw(picture).polygon(arrow, fill="white", outline="black")
        picture = picture.crop((left, upper + (HEADER if width else 0), left + wide, upper + height))
        size = (width, round(picture.height * width / picture.width)) if width else picture.size
        frames.append(picture.resize(size, Image.Resampling.LANCZOS))
        ImageDraw.Draw(frames[-1]).text((8, 6), caption, fill="white", font_size=16)
    return frames


def beside(frames: tuple[Image.Image, ...]) -> Image.Image:
    """Return one picture of several, with their names."""
    whole = Image.new("RGB", (sum(frame.width for frame in frames), frames[0].height))
    for number, (frame, name) in enumerate(zip(frames, TAKES.values(), strict=True)):
        whole.paste(frame, (number * frame.width, 0))
        ImageDraw.Draw(whole).text((number * frame.width + 8, 6), name, fill="white", font_size=16)
    return whole


def write(frames: list[Image.Image], name: str) -> None:
    """Write a film."""
    file = IMAGES / name
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=FRAME, loop=0, quality=QUALITY, method=6)
    print(f"{file}: {len(frames)} pictures, {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
