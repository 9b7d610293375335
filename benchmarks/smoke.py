"""Run a benchmark in a process of its own, for the tests that it runs at all."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent


def start(module: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what became of `python -m module`, within two minutes."""
    command, around = [sys.executable, "-m", module, *arguments], os.environ | environment
    return subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True, timeout=120)


def printed_by(module: str, *arguments: str) -> str:
    """Return what `python -m module` prints; it has to end well."""
    done = start(module, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
