"""Three files to begin with, and their pictures: `make examples`, or `python docs/examples/examples.py`.

posed.blend is a body in a pose, with the pins that held it; walk.blend a captured walk whose feet are held by timed
pins; jump.blend a jump that was generated. `--listing` writes the icon and the picture of docs/listing instead.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]

import standalone  # noqa: E402  (found beside the extension)


def main(argv: list[str]) -> int:
    """Write all of it; returns the exit code."""
    options = parse(argv)
    standalone.enable()

    import bodies
    import bpy

    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    preferences: Any = bpy.context.preferences
    preferences.filepaths.save_version = 0  # no posed.blend1
    if options.listing:
        bodies.make_listing(ROOT / "docs" / "listing", options.samples)
        return 0
    for name, (make, frames, apart) in bodies.EXAMPLES.items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        make()
        bodies.aim([bodies.data.objects[bodies.scene.BODY]], bodies.WIDE)
        show()
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"), compress=True)
        if options.samples:
            bodies.draw(folder / f"{name}.png", frames, apart, bodies.WIDE, options.samples)
        print(f"{folder / name}.blend")
    return 0


def show() -> None:
    """Let a person who opens the file begin at its first frame, with the body in view."""
    import bpy

    context: Any = bpy.context
    context.scene.frame_set(context.scene.frame_start)
    for screen in bpy.data.screens:
        for area in screen.areas:
            space: Any = area.spaces.active
            if area.type == "VIEW_3D":
                space.region_3d.view_perspective = "CAMERA"


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Three files to begin with, and their pictures.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "examples", help="folder (build/examples)")
    parser.add_argument("--samples", type=int, default=12, help="rays for each pixel of the pictures; 0: no pictures")
    parser.add_argument("--listing", action="store_true", help="the icon and the picture of docs/listing instead")
    return parser.parse_args(argv)


if __name__ == "__main__":
    standalone.leave(main(sys.argv[1:]))
