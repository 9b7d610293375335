"""What the benchmarks say about themselves and where they say it: options, the machine, JSON."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any, TextIO


def options(name: str, about: str | None, rounds: int) -> argparse.ArgumentParser:
    """The command line that all benchmarks have; `about` is the module's docstring."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=(about or "").partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help='write the figures as JSON; "-" is standard output')
    parser.add_argument("--smoke", action="store_true", help="a few targets, once: that it runs, no figures")
    parser.add_argument("--rounds", type=int, help=f"how often everything is run (default {rounds})")
    return parser


def rounds_of(parser: argparse.ArgumentParser, chosen: argparse.Namespace, rounds: int) -> int:
    """How often everything is run; what cannot work is refused before anything is measured."""
    if chosen.json not in (None, "-") and not Path(chosen.json).resolve().parent.is_dir():
        parser.error(f"--json: there is no folder for {chosen.json}")
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds must be at least 1")
    return chosen.rounds or (1 if chosen.smoke else rounds)


def table_goes_to(chosen: argparse.Namespace) -> TextIO:
    """Standard output, unless the JSON goes there."""
    return sys.stderr if chosen.json == "-" else sys.stdout


def machine_line(rounds: int) -> str:
    processor = platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, one thread, median of {rounds}"


def bar(text: str, value: float, met: bool) -> dict[str, Any]:
    """A claim that is checked: its sentence, the figure, and whether it holds."""
    return {"bar": text, "value": value, "met": bool(met)}


def finish(chosen: argparse.Namespace, checks: list[dict[str, Any]], out: TextIO, **figures: Any) -> None:
    """Say which bars are met, and write all as JSON to where `--json` says, if it does."""
    for check in checks:
        print(f"{'met ' if check['met'] else 'MISSED'}  {check['bar']}", file=out)
    machine = {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version()}
    document = {"machine": machine, "smoke": chosen.smoke, **figures, "bars": checks}
    text = json.dumps(document, indent=1) + "\n"
    if chosen.json == "-":
        sys.stdout.write(text)
    elif chosen.json:
        Path(chosen.json).write_text(text, encoding="utf-8")


def pyplot() -> Any:
    """matplotlib's pyplot, drawing into files."""
    import matplotlib  # pyright: ignore[reportMissingImports]

    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    return pyplot


def save(figure: Any, file: Path, dots: int) -> Path:
    """Write a picture, without the version of matplotlib in it, and forget it."""
    figure.savefig(file, dpi=dots, metadata={"Software": None})
    pyplot().close(figure)
    return file
