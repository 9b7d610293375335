"""Feet locked, keys reduced, poses filled in and pops mended on captured clips, as tables.

python -m benchmarks.motion              all clips of the shared data, ten minutes
python -m benchmarks.motion --clips N    the first N of them
python -m benchmarks.motion --json FILE  the figures as JSON, too
python -m benchmarks.motion --parts feet keys between pops
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from . import between, feet, keys, pops
from .clips import CLIPS, read_clip

PARTS = {"feet": feet, "keys": keys, "between": between, "pops": pops}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.motion", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clips", type=int, metavar="N", help="only N clips, spread over the list")
    parser.add_argument("--folder", type=Path, default=CLIPS, help="where the clips are, by default the shared ones")
    parser.add_argument("--frames", type=int, metavar="N", help="only clips of at most N frames")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which tables")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.bvh"))
    if not paths:
        print(f"There are no clips in {options.folder}. Nothing was measured. --folder tests/data/motion has one.")
        return 0
    if options.clips:
        paths = paths[:: max(1, len(paths) // options.clips)][: options.clips]
    figures: dict[str, list[dict[str, Any]]] = {part: [] for part in options.parts}
    for path in paths:
        clip = read_clip(path)
        if options.frames and len(clip.motion) > options.frames:
            continue
        for part in options.parts:
            figures[part].append({"clip": clip.name, "kind": clip.kind, **PARTS[part].measure(clip)})
        print(clip.name, file=sys.stderr, flush=True)
    for part in options.parts:
        print(PARTS[part].table(figures[part]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
