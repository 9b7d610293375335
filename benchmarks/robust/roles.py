"""Which parts of bodies are found: `python -m benchmarks.robust.roles [--show] [--half tuned|apart] [--json FILE]`.

Rigs are made by script (`beasts`, `people`), which knows what it makes, or by Rigify, whose answers are written here by
hand; those of ../shared/data have answers by hand there, and here for what these lack. Half of the rigs are kept apart
from tuning: those whose name has an odd CRC-32. Nothing but the finding of roles itself is shared with Poise.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from zlib import crc32

import numpy as np

from . import beasts, people
from .beasts import Answer, Row

HALVES: Final = ("tuned", "apart")
_FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky", "palm")


def half_of(name: str) -> str:
    """Return which half a rig is in."""
    return HALVES[crc32(name.encode()) % 2]


def made() -> Iterator[tuple[str, str, list[Row], Answer]]:
    """Yield group, name, bones and answer of the rigs made by script."""
    for kind, flavour in beasts.PAIRS:
        yield "animals", f"{kind} {flavour}", *beasts.make(kind, flavour)
    for person, program in people.PAIRS:
        yield "humans", f"{person} {program}", *people.make(person, program)


def skeleton_of(rows: Sequence[Row]) -> Any:
    """Return the bones as a skeleton without rolls."""
    from core import Skeleton, rotation  # what is measured, and its input

    place = {row.name: number for number, row in enumerate(rows)}
    frames = np.array([_frame(np.subtract(row.tail, row.head)) for row in rows])
    heads = np.array([row.head for row in rows], float)
    parents = [place[row.parent] if row.parent is not None else -1 for row in rows]
    above = np.array([frames[p] if p >= 0 else np.eye(3) for p in parents])
    start = np.array([heads[p] if p >= 0 else np.zeros(3) for p in parents])
    back = np.swapaxes(above, 1, 2)
    return Skeleton(
        tuple(row.name for row in rows),
        np.array(parents),
        (back @ (heads - start)[..., None])[..., 0],
        rotation.from_matrix(back @ frames),
        np.array([np.linalg.norm(np.subtract(row.tail, row.head)) for row in rows]),
    )


def _frame(way: np.ndarray) -> np.ndarray:
    """Return a frame (3, 3) whose Y axis goes along a bone."""
    y = way / np.linalg.norm(way)
    x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [1.0, 0.0, 0.0])
    x = x / np.linalg.norm(x)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def find(skeleton: Any, deform: Any, names: bool) -> tuple[bool, dict[str, list[str]]]:
    """Return whether a human is found, and the names of the bones by role."""
    from core.body import find_roles

    roles = find_roles(skeleton, deform, names)
    found = {**roles.bones, **roles.limbs}
    named = {role: [skeleton.names[b] for b in np.atleast_1d(np.array(bones, int))] for role, bones in found.items()}
    return roles.humanoid, {role: bones for role, bones in named.items() if bones}


def judge(found: dict[str, list[str]], answer: Answer) -> dict[str, bool]:
    """Return by role whether it is right; roles that the body does not have are wrong."""
    return {role: _same(found.get(role), answer.get(role, [])) for role in sorted(found.keys() | answer.keys())}


def _same(bones: list[str] | None, right: list[list[str]]) -> bool:
    """Return whether bones are those of an answer; an end bone that an importer adds may follow."""
    if bones is None:
        return [] in right
    return any(bones in (one, [*one, f"{one[-1]}_end"]) for one in right if one)


def measure(cases: Iterator[tuple[str, str, Any, Any, Answer]], show: str) -> dict[str, Any]:
    """Return counts (right, asked) by group, half and way, the wrong kinds of bodies, and the slowest seconds."""
    counts: dict[str, list[int]] = {}
    kinds: list[str] = []
    slowest = 0.0
    for group, name, skeleton, deform, answer in cases:
        half = half_of(name)
        for names in (True, False):
            start = perf_counter()
            human, found = find(skeleton, deform, names)
            slowest = max(slowest, perf_counter() - start)
            if human != (group == "humans"):
                kinds.append(f"{name}, {half}, {'named' if names else 'by shape'}")
            marks = judge(found, answer)
            way = "named" if names else "by shape"
            wrong = [role for role, right in marks.items() if not right]
            for role, right in marks.items():
                part = "fingers" if role.startswith(_FINGERS) else group
                count = counts.setdefault(f"{part}, {half}, {way}", [0, 0])
                count[0] += right
                count[1] += 1
            if wrong and show == half:
                print(f"{name}, {way}: {len(marks) - len(wrong)} of {len(marks)}{' HUMAN' if human else ''}")
                for role in wrong:
                    print(f"    {role}: {found.get(role)} for {answer.get(role)}")
    return {"counts": counts, "taken for the other kind": kinds, "slowest": slowest}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of what is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=HALVES, default="", help="say what is wrong in one half")
    parser.add_argument("--only", default="", help="rigs whose name has this in it")
    parser.add_argument("--files", action="store_true", help="also Rigify's metarigs and ../shared/data, with bpy")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(arguments)

    def cases() -> Iterator[tuple[str, str, Any, Any, Answer]]:
        for group, name, rows, answer in made():
            if asked.only in name:
                yield group, name, skeleton_of(rows), np.array([row.deform for row in rows]), answer
        if asked.files:
            from .role_files import files

            yield from (case for case in files() if asked.only in case[1])

    result = measure(cases(), asked.show)
    print("| parts | half | right by names | by shape |\n| --- | --- | --- | --- |")
    for part in ("humans", "fingers", "animals"):
        for half in HALVES:
            cells = [result["counts"].get(f"{part}, {half}, {way}", [0, 0]) for way in ("named", "by shape")]
            said = [f"{right} of {count} ({100.0 * right / max(count, 1):.1f} %)" for right, count in cells]
            print(f"| {part} | {half} | {' | '.join(said)} |")
    print(f"\ntaken for the other kind of body: {'; '.join(result['taken for the other kind']) or 'none'}")
    print(f"the slowest: {result['slowest']:.2f} s")
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    if "bpy" in sys.modules:
        import standalone

        standalone.leave(code)
    raise SystemExit(code)
