"""Which parts of a body are found on which rig: `python -m benchmarks.detection [FILE ...]`, in a Python with bpy.

Every rig of ../shared/data/rigs and of tests/data that has an answer, once with the names that it came with and once
as if they said nothing, by shape alone. Answers are given by hand; `tests/blender/core/test_roles.py` has them. Without
FILE, then one figure's clip as many programs write it (`tests/blender/core/flavours.py`), in two halves: detection was
written with one, and the other was kept apart.
"""

import io
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

os.environ.setdefault("POISE_ZOO", "full")  # before the tests' list of files is made

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled first)
import numpy as np  # noqa: E402

import bridge  # noqa: E402
from core import forward  # noqa: E402
from core.body import BODY, find_roles  # noqa: E402
from core.body.posture import body_axes  # noqa: E402
from core.body.roles import SEGMENTS  # noqa: E402
from edits.retarget import Retargeted, imported  # noqa: E402
from tests.blender.core.figure import answer_of, bvh_of, directions_of  # noqa: E402
from tests.blender.core.flavours import APART, TUNED  # noqa: E402
from tests.blender.core.rigs import cases, files, roles_of, wrong  # noqa: E402
from tests.blender.rigs import load  # noqa: E402
from tests.paths import DATA  # noqa: E402

HEAD = ("rig", "kind", "named", "by shape")


def main() -> int:
    """Print the table, Markdown, and what is wrong; the exit code is 1 if a body is missed with its names given."""
    asked = [path for path in files() if not sys.argv[1:] or path.name in sys.argv[1:]]
    totals = {True: [0, 0], False: [0, 0]}
    table = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    notes: list[str] = []
    for path in asked:
        found = cases(path)
        for rig, answer in found:
            name = path.stem if len(found) == 1 else f"{path.stem}: {rig.name}"
            table.append(f"| {' | '.join([name, *_row(name, rig, answer, totals, notes)])} |")
    sums = [f"{right} of {count} ({100.0 * right / max(count, 1):.1f} %)" for right, count in totals.values()]
    print("\n".join([*table, f"| all | | {' | '.join(sums)} |", "", *notes]))
    if not sys.argv[1:]:
        print("\n".join(["", *_clips()]))
    return int(totals[True][0] < totals[True][1])


def _clips() -> list[str]:
    """Return the table of the clips: parts, those of hands too, that are right, and limbs on another body."""
    table = [f"| clip | {' | '.join(HEAD[2:])} | limbs off, degrees |", "| --- | --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        for half, flavours in (("looked at", TUNED), ("kept apart", APART)):
            totals = {True: [0, 0], False: [0, 0]}
            for name, flavour in flavours.items():
                path = Path(folder) / "clip.bvh"
                path.write_text(bvh_of(flavour), encoding="utf-8")
                with redirect_stdout(io.StringIO()):
                    (armature,) = load(path)
                skeleton, _, _ = bridge.read_figure(armature, np.arange(*bridge.keyed_range(armature)))
                answer = answer_of(flavour)
                cells: list[str] = []
                for named in (True, False):
                    roles = bridge.read_roles(armature) if named else find_roles(skeleton, use_names=False)
                    found = {role: bones for role, bones in roles.bones.items() if bones != ()}
                    right = [role for role, bones in found.items() if _same(_names(skeleton, bones), answer.get(role))]
                    asked = answer.keys() | found.keys()
                    totals[named][0] += len(right)
                    totals[named][1] += len(asked)
                    cells.append(f"{len(right)} of {len(asked)}")
                table.append(f"| {name} | {' | '.join(cells)} | {_limbs_off(path, directions_of(flavour)):.2f} |")
            sums = [f"{right} of {count} ({100.0 * right / count:.1f} %)" for right, count in totals.values()]
            table.append(f"| all that were {half} | {' | '.join(sums)} | |")
    return table


def _limbs_off(path: Path, wanted: np.ndarray) -> float:
    """Return the largest angle, degrees, between the limbs of a body that gets a clip and those of the figure."""
    (rig,) = load(DATA / "rigs" / "named_mixamo_cm.blend")
    context: Any = bpy.context
    context.scene.render.fps = 24
    with redirect_stdout(io.StringIO()), imported(context, path) as (source, _):
        edit = Retargeted(context, rig, source, plant=False)
    heads, _ = forward(edit.skeleton, edit.after.pose)
    ways = np.array([heads[:, edit.roles.bone(lower)] - heads[:, edit.roles.bone(upper)] for upper, lower in SEGMENTS])
    ways = ways @ body_axes(edit.roles).T / np.linalg.norm(ways, axis=-1, keepdims=True)
    return float(np.degrees(np.arccos(np.clip(np.sum(ways * wanted, axis=-1), -1.0, 1.0))).max())


def _names(skeleton: Any, bones: Any) -> str | list[str]:
    """Return the names of one bone or several."""
    return skeleton.names[bones] if isinstance(bones, int) else [skeleton.names[bone] for bone in bones]


def _same(found: str | list[str], answer: str | list[str] | None) -> bool:
    """Return whether these are the bones of the answer; joints at fingertips, the fourth ones, may be left out."""
    return found == answer or (isinstance(answer, list) and len(answer) > 3 and found == answer[:3])


def _row(name: str, rig: Any, answer: dict[str, Any], totals: dict[bool, list[int]], notes: list[str]) -> list[str]:
    """Cells: whether it is a body, and roles right of those asked for, with names and without."""
    cells = ["human" if answer["humanoid"] else "not human"]
    for named in (True, False):
        roles, found, _, _ = roles_of(rig, named)
        asked = {role for role in answer["roles"].keys() | found.keys() if role in BODY}
        mistakes = wrong(found, answer, not named) & asked
        if roles.humanoid != answer["humanoid"]:
            notes.append(f"{name}, {HEAD[2 + (not named)]}: taken for {'a' if roles.humanoid else 'no'} human body")
        elif mistakes:
            notes.append(f"{name}, {HEAD[2 + (not named)]}: {', '.join(sorted(mistakes))}")
        totals[named][0] += len(asked - mistakes)
        totals[named][1] += len(asked)
        left = "wrong" if mistakes else "not taken for a human"
        cells.append(f"{len(asked - mistakes)} of {len(asked)}" if asked else left)
    return cells


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    standalone.leave(code)
