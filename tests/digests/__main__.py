"""Digests of what a checkout does with fixed cases, to prove that another one does the same byte for byte.

    python -m tests.digests --output OLD.json               this checkout, in a Python that has bpy
    python -m tests.digests --root CHECKOUT --compare OLD.json   another one; what differs, exit code 1 if anything
    python -m tests.digests --only verbs/solve core/limits  only cases whose names begin so

Only outward interfaces are used, so that modules inside may move: `python standalone.py VERB`, the names that `core`
itself exports, and `bpy.ops.poise`. Cases of ../shared/data are left out where that is not there. Digests are of one
machine and one Blender: OpenBLAS rounds otherwise on another kind of processor. Left out is what is never twice the
same (`told.LEFT_OUT` and below it), and temporary folders; of standard output only lines of JSON and the help count.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from .told import lasting, shortened
from .verbs import CASES, FILES, POINTS, WALK

HERE: Final = Path(__file__).resolve().parent
PROCESSES: Final = 2
LIMIT: Final = 3600  # seconds of one process
WORKERS: Final = {
    "core": ("pins", "limits", "ccd", "humanoid", "refused"),
    "operators": ("motion", "body", "pins", "settings", "chains", "generate", "roles"),
}
# A worker's modules come last in its path: `core` and `standalone` are those of the checkout that it runs in.
START: Final = "import runpy, sys; sys.path.append({!r}); runpy.run_module('digests.of_{}', run_name='__main__')"

BATCH_TIMES: Final = re.compile(r"\(\d.* left\)|\d+\.\d$|^.* in all", re.MULTILINE)

Told = dict[str, dict[str, str]]  # name of the case -> part -> digest or text


def worker(root: Path, folder: Path, data: Path | None, kind: str, part: str, timing: dict[str, float]) -> Told:
    """The cases of one part in a process of their own."""
    file = folder / f"{kind}-{part}.json"
    command = [
        sys.executable,
        "-c",
        START.format(str(HERE.parent), kind),
        part,
        str(file),
        str(folder),
        str(data or ""),
    ]
    begin = perf_counter()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=LIMIT)
    timing[f"{kind}/{part}"] = perf_counter() - begin
    if not file.is_file():
        return {f"{kind}/{part}": {"broken": done.stderr[-2000:]}}
    return {f"{kind}/{part}/{name}": told for name, told in json.loads(file.read_text()).items()}


def verb(root: Path, folder: Path, data: Path | None, name: str, timing: dict[str, float]) -> Told:
    """One run of standalone.py; its output is read later, all outputs by one process."""
    out = folder / name
    out.mkdir()
    walk = folder / WALK / f"{WALK}.blend"
    places = {"{out}": str(out), "{in}": str(folder / "in"), "{data}": str(data), "{walk}": str(walk)}
    words = list(CASES[name])
    for old, new in places.items():
        words = [word.replace(old, new) for word in words]
    begin = perf_counter()
    command = [sys.executable, "standalone.py", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=LIMIT)
    timing[f"verbs/{name}"] = perf_counter() - begin
    told = {"code": str(done.returncode), "stderr": done.stderr}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    told |= {f"json {number}": line for number, line in enumerate(lines)}
    if "--help" in words:
        told["help"] = done.stdout
    if words[:1] == ["batch"]:
        told["stderr"] = BATCH_TIMES.sub("...", done.stderr)
    texts = sorted(path for path in out.rglob("*") if path.suffix in (".json", ".txt"))
    told |= {str(path.relative_to(out)): path.read_text(encoding="utf-8") for path in texts}
    for part, text in told.items():
        text = lasting(text) if part not in ("code", "stderr", "help") else text
        for place in (str(out), str(folder), str(data), str(root)):
            text = text.replace(place, "...")
        told[part] = shortened(text)
    return {f"verbs/{name}": told}


def run(root: Path, data: Path | None, only: list[str], timing: dict[str, float]) -> Told:
    """All cases; the walk comes first, since others take it."""

    def asked(name: str) -> bool:
        return not only or any(name.startswith(start) for start in only)

    found: Told = {}
    words = {name: words for name, words in CASES.items() if data or not any("{data}" in word for word in words)}
    verbs = [name for name in words if asked(f"verbs/{name}")]
    parts = [(kind, part) for kind, parts in WORKERS.items() for part in parts if asked(f"{kind}/{part}")]
    with TemporaryDirectory(prefix="digests-") as made, ThreadPoolExecutor(PROCESSES) as pool:
        folder = Path(made)
        for name, text in FILES.items():
            (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "in" / name).write_text(text, encoding="utf-8")
        lines = (root / POINTS).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / "in" / "few.jsonl").write_text("".join(lines[:6]), encoding="utf-8")
        if verbs:
            found |= verb(root, folder, data, WALK, timing)
        jobs = [pool.submit(worker, root, folder, data, *part, timing) for part in parts]
        jobs += [pool.submit(verb, root, folder, data, name, timing) for name in verbs if name != WALK]
        for job in jobs:
            found |= job.result()
        outputs = worker(root, folder, data, "outputs", "all", timing) if verbs else {}
        for name, told in outputs.items():
            case = name.removeprefix("outputs/all/").partition("/")[0]
            found.setdefault(f"verbs/{case}", {}).update(told)
    return dict(sorted(found.items()))


def differences(old: Told, new: Told, whole: bool) -> Iterator[str]:
    """A line for each part of a case that is not the same; of the whole, also cases that are not there any more."""
    for name in sorted({*old, *new} if whole else new):
        before, after = old.get(name, {}), new.get(name, {})
        for part in sorted({*before, *after}):
            one, other = before.get(part, "nothing"), after.get(part, "nothing")
            if one != other:
                yield f"{name}: {part}\n    - {one}\n    + {other}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Digests of what a checkout does.", allow_abbrev=False)
    parser.add_argument("--root", type=Path, default=HERE.parent.parent, help="the checkout, by default this one")
    parser.add_argument("--data", type=Path, help="shared/data, by default beside the checkout or above it")
    parser.add_argument("--output", type=Path, help="write the digests there")
    parser.add_argument("--compare", type=Path, help="digests that they have to equal")
    parser.add_argument("--only", nargs="+", default=[], help="cases whose names begin so")
    parser.add_argument("--times", action="store_true", help="say which processes took longest")
    options = parser.parse_args()
    root = options.root.resolve()
    above = (place / "shared" / "data" for place in (*root.parents, *HERE.parents))
    data: Any = options.data or next((place for place in above if place.is_dir()), None)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}
    begin, timing = perf_counter(), dict[str, float]()
    found = run(root, data and data.resolve(), options.only, timing)
    seconds, used = perf_counter() - begin, sum(os.times()[2:4])  # of the processes that were started
    print(f"{len(found)} cases, {sum(map(len, found.values()))} digests; {seconds:.0f} s, {used:.0f} of the processor")
    for name in sorted(timing, key=timing.__getitem__)[::-1][:12] if options.times else ():
        print(f"{timing[name]:6.1f} s  {name}")
    if options.output:
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not options.compare:
        return 0
    lines = list(differences(json.loads(options.compare.read_text(encoding="utf-8")), found, not options.only))
    print("\n".join([*lines, f"{len(lines)} differences"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
