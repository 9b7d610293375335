"""What the benchmarks say about themselves and where they say it: options, the machine, JSON."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any, TextIO


def options(name: str, summary: str, rounds: int) -> argparse.ArgumentParser:
    """The command line that all benchmarks have."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=summary)
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


def machine() -> dict[str, Any]:
    return {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version()}


def machine_line(rounds: int) -> str:
    processor = platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, one thread, median of {rounds}"


def print_bars(checks: list[dict[str, Any]], out: TextIO) -> None:
    for check in checks:
        print(f"{'met ' if check['met'] else 'MISSED'}  {check['bar']}", file=out)


def write_json(chosen: argparse.Namespace, document: dict[str, Any]) -> None:
    """To where `--json` says, if it does."""
    text = json.dumps(document, indent=1) + "\n"
    if chosen.json == "-":
        sys.stdout.write(text)
    elif chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            file.write(text)
