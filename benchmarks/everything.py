"""All measurements of speed, one after the other: a table and JSON of each, and pictures, in build/benchmarks.

    python -m benchmarks.everything                      Poise, and what is installed to compare it with
    python -m benchmarks.everything --peers              fails if a peer of W1 and W2 is missing; three.js by npm
    python -m benchmarks.everything --parts arms growth  some of them
    python -m benchmarks.everything --smoke              a few targets of each, once: that it runs, no figures
    python -m benchmarks.everything --folder DIR         elsewhere

drag (W1, W2), chains (W3), arms (W4), tick, bake, batch, growth. Each part interleaves its solvers in one run and has
its rules in its own file. What is measured inside Blender needs PyPI's bpy, and is left out, saying so, without.
"""

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from . import report

ROOT: Final = Path(__file__).resolve().parent.parent
# part -> module with its arguments
PARTS: Final[dict[str, tuple[str, ...]]] = {
    "drag": ("benchmarks",),
    "chains": ("benchmarks.chains",),
    "arms": ("benchmarks.quality", "--parts", "arms"),
    "tick": ("benchmarks.tick",),
    "bake": ("benchmarks.bake",),
    "batch": ("benchmarks.batch",),
    "growth": ("benchmarks.growth",),
}
IN_BLENDER: Final = ("tick", "bake", "batch")
SMOKE_FRAMES: Final = 5  # of a bake


def arguments_of(part: str, options: argparse.Namespace) -> list[str]:
    """The command line of a part, after Python."""
    arguments = ["-m", *PARTS[part], "--json", str(options.folder / f"{part}.json")]
    if options.smoke:
        arguments += ["--frames", str(SMOKE_FRAMES)] if part == "bake" else ["--smoke"]
    if options.peers and part == "drag":
        arguments.append("--peers")
    if options.peers and part == "chains" and (three := _three(options.folder)) is not None:
        arguments += ["--three", str(three)]
    if part == "growth" and importlib.util.find_spec("matplotlib"):
        arguments += ["--image", str(options.folder / "growth.png")]
    return arguments


def _three(folder: Path) -> Path | None:
    """The folder that three.js is in, fetched if need be."""
    npm, place = shutil.which("npm"), folder / "three"
    if npm is None:
        print("npm is missing: chains are measured without three.js", flush=True)
        return None
    if not (place / "node_modules" / "three").is_dir():
        place.mkdir(exist_ok=True)
        subprocess.run([npm, "install", "--silent", "--prefix", str(place), "three"], check=True)
    return place


def speeds(found: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By work: microseconds for a target or a frame, by solver."""
    bars: dict[str, dict[str, float]] = {}
    for figure in found.get("drag", {}).get("figures", ()):
        work = f"{figure['work']}, {figure['degrees_of_freedom']} DoF"
        bars.setdefault(work, {})[figure["solver"]] = 1e3 * figure["milliseconds_per_target"]
    for row in found.get("chains", {}).get("rows", ()):
        bars.setdefault(f"W3, {row['chain']}", {})[row["solver"]] = row["microseconds"]
    for row in found.get("arms", {}).get("figures", {}).get("arms", {}).get("rows", ()):
        bars.setdefault("W4, arm", {})[row["solver"]] = row["microseconds"]
    for figure in found.get("tick", {}).get("figures", ()):
        name = f"{figure['solver']}, {figure['settings']}"
        bars.setdefault("tick", {})[name] = 1e3 * figure["median_ms"]
    if "bake" in found:
        bars["bake"] = {name: 1e6 / found["bake"][key] for name, key in (("Poise", "poise"), ("nla.bake", "nla.bake"))}
    return bars


def draw(bars: dict[str, dict[str, float]], file: Path) -> None:
    """A bar for each solver of each work, Poise's in colour."""
    columns = 2
    rows = -(-len(bars) // columns)
    heights = [max(len(one) for one in list(bars.values())[row * columns :][:columns]) + 2 for row in range(rows)]
    figure, axes = report.pyplot().subplots(
        rows, columns, figsize=(10.0, 0.24 * sum(heights)), layout="constrained", height_ratios=heights, squeeze=False
    )
    for plot in axes.flat[len(bars) :]:
        plot.axis("off")
    for plot, (work, found) in zip(axes.flat, bars.items(), strict=False):
        names = sorted(found, key=lambda name: -found[name])
        colours = ["#c2571a" if name.startswith("Poise") else "#9a9a9a" for name in names]
        drawn = plot.barh(names, [found[name] for name in names], color=colours)
        plot.bar_label(drawn, [f"{found[name]:,.0f}" for name in names], padding=2, fontsize=7)
        plot.set_xscale("log")
        plot.set_xlim(0.5 * min(found.values()), 3.0 * max(found.values()))
        plot.xaxis.set_visible(False)  # the numbers stand at the bars
        plot.tick_params(labelsize=7)
        plot.set_title(f"{work}: microseconds, logarithmic", fontsize=8, loc="left")
    report.save(figure, file, 100)


def main() -> int:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.everything", description=summary)
    parser.add_argument("--peers", action="store_true", help="fail if a peer of W1 and W2 is missing")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these")
    parser.add_argument("--smoke", action="store_true", help="a few targets of each, once: that it runs, no figures")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "benchmarks", help="where the figures go")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--folder: {error}")
    failed: list[str] = []
    for part in options.parts:
        print(f"\n==== {part}", flush=True)
        if part in IN_BLENDER and importlib.util.find_spec("bpy") is None:
            print("bpy is missing: pip install bpy")
            continue
        if subprocess.run([sys.executable, *arguments_of(part, options)], cwd=ROOT).returncode:
            failed.append(part)
    files = {part: options.folder / f"{part}.json" for part in PARTS}
    found = {part: json.loads(file.read_text(encoding="utf-8")) for part, file in files.items() if file.is_file()}
    (options.folder / "everything.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten: {options.folder / 'everything.json'}")
    bars = speeds(found)
    if bars and importlib.util.find_spec("matplotlib"):
        draw(bars, options.folder / "speed.png")
        print(f"drawn: {options.folder / 'speed.png'}")
    for part in failed:
        print(f"FAILED: {part}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
