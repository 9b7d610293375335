"""That digests of a checkout are taken and compared."""

import json
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.digests", "--only", "core/refused", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_a_checkout_equals_itself_and_another_sentence_is_found(tmp_path: Path) -> None:
    file = tmp_path / "digests.json"
    done = run("--output", str(file))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert len(found) > 40
    assert not any("broken" in told for told in found.values())
    name = next(iter(found))
    found[name]["said"] = "another sentence"
    file.write_text(json.dumps(found))
    compared = run("--root", str(ROOT), "--compare", str(file))
    assert compared.returncode == 1
    assert f"{name}: said" in compared.stdout
    assert "1 differences" in compared.stdout
