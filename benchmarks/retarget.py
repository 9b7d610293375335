"""Batch Retarget: 100 clips onto a generated Rigify body; needs ../shared/data.

    python -m benchmarks.retarget                     in a Python that has bpy
    python -m benchmarks.retarget --jobs N --json FILE
    python -m benchmarks.retarget --clips N           so many clips

The clips are the BVH files of `bvh30`, and the shortest ones of the packs, written as BVH at 30 frames a second.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT.parent / "shared" / "data"
RIG: Final = DATA / "rigs" / "scripted" / "rigify_generated_human.blend"
CLIPS: Final = 100
CENTIMETRES: Final = 100.0  # in a metre


def write_clips(folder: Path, count: int) -> None:
    """Put so many clips into a folder."""
    sys.path.insert(0, str(DATA / "tools"))
    import bvh  # pyright: ignore[reportMissingImports]
    import motionpack  # pyright: ignore[reportMissingImports]

    whole = sorted((DATA / "motion" / "bvh30").glob("*.bvh"))[:count]
    for path in whole:
        shutil.copy(path, folder)
    found: list[Any] = []
    for path in sorted((DATA / "motion").glob("*.npz")):
        found += [(len(clip.rot), path.stem, clip.name, clip) for clip in motionpack.clips(motionpack.load(path))]
    found = [one for one in sorted(found, key=lambda one: one[:3]) if one[2] not in {path.stem for path in whole}]
    for _, pack, name, clip in found[: count - len(whole)]:
        offsets, places = CENTIMETRES * clip.offsets, CENTIMETRES * clip.pos
        bvh.write(str(folder / f"{pack}_{name}.bvh"), clip.names, clip.parents, offsets, clip.rot, places, clip.fps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=CLIPS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not RIG.is_file():
        sys.exit("There is no ../shared/data; nothing is measured.")
    with TemporaryDirectory(prefix="poise-benchmark-") as name:
        folder = Path(name)
        (folder / "clips").mkdir()
        write_clips(folder / "clips", arguments.clips)
        verb = ["retarget", "--motion", folder / "clips", "--blend", RIG, "--armature", "rig"]
        places = ["--output", folder / "all.blend", "--report", folder / "report.json", "--jobs", arguments.jobs]
        begin = perf_counter()
        subprocess.run(list(map(str, [sys.executable, ROOT / "standalone.py", *verb, *places])), check=False)
        seconds = perf_counter() - begin
        motions = json.loads((folder / "report.json").read_text(encoding="utf-8"))["motions"]
    states = [motion["state"] for motion in motions]
    figures = {
        "seconds": round(seconds, 1),
        "jobs": arguments.jobs,
        "frames": sum(motion["frames"] for motion in motions),
        "contacts": sum(motion["contacts"] for motion in motions),
        **{state: states.count(state) for state in sorted(set(states))},
    }
    print(json.dumps(figures))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
