"""Numbers that make no sense, through every option of every verb: `python -m benchmarks.robust.numbers`.

Options that take a number are read from the parser. A walk on a small body is given each value in each of them: refused
by one sentence that names the field, or done. What is neither is listed, with what took longer than `SLOW`.

    python -m benchmarks.robust.numbers                  all verbs, ten minutes
    python -m benchmarks.robust.numbers --verbs bake     some of them
"""

import argparse
import io
import json
import os
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import standalone

DATA: Final = Path(__file__).resolve().parents[2] / "tests" / "data"
BODY: Final = DATA / "rigs" / "named_mixamo_cm.blend"
CLIP: Final = DATA / "motion" / "cmu_07_12.bvh"
GOAL: Final = {"role": "hand.R", "position": [-0.4, -0.4, 1.3]}
VALUES: Final = ("0", "-1", "1e-300", "1e9", "1e300", "nan", "inf", "2147483648")
SLOW: Final = 10.0  # seconds
LONGEST: Final = 40  # seconds, after which Ctrl-C is pressed
# what a verb needs beside the number
NEEDED: Final = {
    "body": ("--tool", "relaxed", "--key"),
    "grip": ("--object", "Cube", "--key"),
    "apply-pose": ("--pose", "walk", "--key"),
    "contribute": ("--chain", "mixamorig:RightArm:mixamorig:RightHand", "--preset", "arm", "--job", "{out}/job.json"),
    "root-motion": ("--to", "object"),
    "keypoints": ("--input", "docs/examples/walk_keypoints.jsonl"),
    "learn": ("--what", "limits", "--file", "{out}/learned.json"),
    "generate": ("--recipe", "wave_once"),
    "edit-path": ("--bend", "10"),
    "drag-frame": ("--bone", "mixamorig:LeftHand", "--shift", "0", "0", "0.1", "--frame", "15"),
    "retarget": ("--motion", str(CLIP)),
    "export-vrma": ("--file", "{out}/o.vrma"),
}
_WORDS: Final = {
    "at": ("frame",),
    "smooth": ("smoothing",),
    "pops": ("pops",),
    "shift": ("move",),
}  # what a sentence calls a field
FILES: Final = {"in-betweens": "poses.blend"}
# settings of `body --set`
SETTINGS: Final = {
    "a-pose": ("arms",),
    "feet": ("roll", "height", "bank", "heading"),
    "hands": ("height", "close"),
    "fingers": ("close", "spread"),
}


@dataclass(frozen=True)
class Outcome:
    """How one command line ended."""

    words: tuple[str, ...]
    field: str
    code: int
    said: str
    seconds: float

    @property
    def wrong(self) -> str:
        """What is neither a sentence that names the field nor a result; else empty."""
        if self.code not in (0, 1, 2):
            return f"exit {self.code}"
        if re.search(r"Traceback|\wWarning|\wError:", self.said):
            return "Python is heard"
        if self.seconds > SLOW:
            return f"{self.seconds:.0f} s"
        lines = self.said.strip().splitlines()
        if self.code == 2 and len(lines) != 1:
            return f"{len(lines)} lines"
        if self.code == 2 and not any(word in lines[0].lower() for word in (self.field, *_WORDS.get(self.field, ()))):
            return "the field is not named"
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbs", nargs="+", default=[], metavar="VERB")
    parser.add_argument("--said", action="store_true", help="print what each command said")
    arguments = parser.parse_args()
    standalone.enable()
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        commands = ((run, words, field) for words, field in cases(arguments.verbs))
        tools = ((run_tool, words, field) for words, field in tool_cases(arguments.verbs))
        for call, words, field in chain(commands, tools):
            signal.alarm(LONGEST)
            outcome = call(words, field, Path(folder, FILES.get(words[0], "walk.blend")), Path(folder))
            found.append(outcome)
            if outcome.wrong or arguments.said:
                shown = " ".join(words)
                print(f"{outcome.wrong or str(outcome.code):24} {shown}\n    {outcome.said.strip()[:300]}", flush=True)
    refused = sum(outcome.code == 2 for outcome in found)
    wrong = sum(bool(outcome.wrong) for outcome in found)
    print(f"{len(found)} command lines: {refused} refused, {len(found) - refused - wrong} done, {wrong} wrong")
    sys.stdout.flush()
    os._exit(bool(wrong))  # bpy can hang as it ends


def cases(verbs: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of each command line, and the name of the field that has the number."""
    import commands

    parsers: Any = argparse.ArgumentParser().add_subparsers()
    for verb in commands._VERBS:  # pyright: ignore[reportPrivateUsage]
        verb.add(parsers)
    for verb, parser in parsers.choices.items():
        if verbs and verb not in verbs:
            continue
        for action in parser._actions:
            if action.type in (int, float):
                option, count = action.option_strings[0], action.nargs or 1
                for value in VALUES:
                    for place in range(count):
                        values = [value if k == place else usual(action, k) for k in range(count)]
                        fields = [f"{option}={value}"] if count == 1 else [option, *values]
                        yield (verb, *needed(verb, option), *extra(verb, option), *fields), option.lstrip("-")
    for tool, settings in SETTINGS.items():
        for setting in settings:
            for value in VALUES if not verbs or "body" in verbs else ():
                yield ("body", "--tool", tool, "--key", "--set", f"{setting}={value}"), setting


def needed(verb: str, option: str) -> tuple[str, ...]:
    """Return the words that the verb needs, without those of the option itself."""
    words = NEEDED.get(verb, ())
    if option not in words:
        return words
    begin = words.index(option)
    end = next((k for k in range(begin + 1, len(words)) if words[k].startswith("--")), len(words))
    return (*words[:begin], *words[end:])


def extra(verb: str, option: str) -> tuple[str, ...]:
    """Return the words without which an option has no effect."""
    if option == "--frames":
        return ()
    return ("--frames", "3", "9") if (verb, option) in (("grip", "--hold"), ("grip", "--tolerance")) else ()


def usual(action: argparse.Action, place: int) -> str:
    """Return a value with sense for one of several numbers."""
    return ("3", "9")[place] if action.type is int else "0.1"


def tool_cases(tools: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the operator, its property, its place and the value, and the property again."""
    import bpy

    tools_of: Any = bpy.ops
    for name in dir(tools_of.poise):
        kind = getattr(tools_of.poise, name).get_rna_type()
        for field in kind.properties if not tools or name in tools else ():
            if field.type in ("FLOAT", "INT") and not field.is_readonly:
                for value in VALUES:
                    yield (name, field.identifier, value), field.identifier


def run_tool(words: tuple[str, ...], field: str, blend: Path, folder: Path) -> Outcome:
    """Call an operator on a file, in Pose Mode; 2 where it is refused, 1 where Blender takes no such value.

    Whether its sentence names the property is not looked at: a dialog shows it beside that.
    """
    import bpy

    name, _, text = words
    context: Any = bpy.context
    tools: Any = bpy.ops
    said, begin, code = io.StringIO(), perf_counter(), 0
    with redirect_stderr(said), redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("always")
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        context.view_layer.objects.active = context.scene.objects["Armature"]
        bpy.ops.object.mode_set(mode="POSE")
        tool = getattr(tools.poise, name)
        found = tool.get_rna_type().properties[field]
        value: Any = int(float(text)) if found.type == "INT" and text not in ("nan", "inf", "1e300") else float(text)
        try:
            tool(**{field: (value,) * found.array_length if found.is_array else value})
        except (TypeError, OverflowError, ValueError):
            return Outcome(words, "", 1, "", perf_counter() - begin)
        except RuntimeError as error:
            if "\nTraceback" in str(error):
                return Outcome(words, "", 3, str(error), perf_counter() - begin)
            return Outcome(words, "", 2, str(error).splitlines()[0], perf_counter() - begin)
    return Outcome(words, "", code, said.getvalue(), perf_counter() - begin)


def make_files(folder: Path) -> None:
    """Write a .blend file with a walk, one with every twelfth of its frames, and a job."""
    import bpy

    import bridge

    outcome = run(("retarget", "--motion", str(CLIP), "--action", "walk"), "", BODY, folder)
    assert outcome.code in (0, 1), outcome.said
    (folder / "job.json").write_text(json.dumps({"version": 1, "goals": [GOAL], "frames": [3, 9]}))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "o.blend"))
    context: Any = bpy.context
    rig = context.scene.objects["Armature"]
    palm = rig.matrix_world @ rig.pose.bones["mixamorig:LeftHandMiddle1"].head
    bpy.ops.mesh.primitive_cube_add(size=0.05, location=palm)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walk.blend"))
    for curve in bridge.motion.active_curves(rig):
        for key in reversed(curve.keyframe_points):
            if (key.co[0] - 1) % 12:
                curve.keyframe_points.remove(key)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "poses.blend"))


def run(words: tuple[str, ...], field: str, blend: Path, folder: Path) -> Outcome:
    """Run a command line on a file."""
    import commands

    words = tuple(word.format(out=folder) for word in words)
    place = () if words[0] == "export-vrma" else ("--output", str(folder / "o.blend"))
    said, begin = io.StringIO(), perf_counter()
    with redirect_stderr(said), redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("always")
        code = commands.run([*words, "--blend", str(blend), *place])
    return Outcome(words, field, code, said.getvalue(), perf_counter() - begin)


if __name__ == "__main__":
    main()
