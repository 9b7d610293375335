"""What Poise costs on a control rig and on a naked one, beside Blender's own G: a tick, a press, Pose Mode, a hover.

    python -m benchmarks.controls                in a Python with bpy
    python -m benchmarks.controls --json FILE    the figures as JSON, too
    python -m benchmarks.controls --smoke        a few ticks on the naked rig: that it runs, no figures

The control rig is a generated Rigify human of 706 bones, the naked one Rigify's metarig of 65. A hand is dragged along
a circle while both feet are pinned, in position and rotation, with the settings that ship. Times are those of the
processor, of all threads.

G       the hand, or its control, is moved along the same circle, and Blender evaluates the rig
tick    the drag's session solves and writes, marks for the overlay are made, and Blender evaluates the rig
press   the session begins
enter   Pose Mode is entered, for the first time (parts of the body are found then), and again
hover   the mouse moves over the rig, for the first time, and again

G and ticks take turns, ten in a row each; "tick / G" is the median of the ratios of these rounds. Other figures are
what the quickest tenth takes at most: on a machine with other work that says more than medians, which are in the JSON.
Blender calls Poise after each evaluation; that counts for Poise, and is off while G is timed. Without a window nothing
is drawn; drawing costs G and Poise the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, Final

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)
import numpy as np  # noqa: E402
from mathutils import Matrix, Vector  # noqa: E402

import bridge  # noqa: E402
from bridge import Grab, View  # noqa: E402
from core import rotation  # noqa: E402
from edits.drag import shown  # noqa: E402
from edits.drag.session import DragSession  # noqa: E402
from edits.pin_list import set_pins  # noqa: E402
from tests.paths import SHARED  # noqa: E402

from . import report  # noqa: E402
from .drags.drags import open_rig  # noqa: E402
from .work import Array  # noqa: E402

CONTROLS: Final = SHARED / "rigs" / "scripted" / "rigify_generated_human.blend"
HANDS: Final = {"naked": "hand.L", "controls": "hand_ik.L"}  # what is dragged
FEET: Final = {"naked": ("foot.L", "foot.R"), "controls": ("foot_ik.L", "foot_ik.R")}
COLUMNS: Final = {  # key of a row -> head of the column
    "g": "G",
    "tick": "tick",
    "own": "of it Poise",
    "press": "press",
    "enter_first": "enter",
    "enter": "again",
    "hover_first": "hover",
    "hover": "again",
}
ROUNDS: Final = 20
QUICK: Final = 0.1  # share of the times that take at most what is said
TICKS: Final = 10  # in a row
RADIUS: Final = 0.05  # metres, of the circle
TURN: Final = 0.2  # radians of it, in a tick: a centimetre
BARS: Final = {"times_g": 1.5, "press": 60.0, "enter_first": 60.0}

Row = dict[str, Any]


class Rig:
    """An armature in Pose Mode, its feet pinned."""

    def __init__(self, name: str) -> None:
        self.armature = _open(name)
        self.hand = HANDS[name]
        context: Any = bpy.context
        self.update: Callable[[], None] = context.view_layer.update
        self.enter()
        set_pins(context, self.armature, FEET[name], "BOTH")
        self.channels = bridge.read_channels(self.armature)
        self.at = np.array(self.armature.pose.bones[self.hand].matrix)
        self.turns = 0

    def enter(self) -> None:
        bpy.ops.object.mode_set(mode="POSE")
        self.update()

    def change(self) -> None:
        """Make it a rig that Poise has not seen: the last bone, which poses nothing, has another name."""
        self.armature.data.bones[-1].name += "_"

    def leave(self) -> None:
        bpy.ops.object.mode_set(mode="OBJECT")
        self.update()

    def start(self) -> None:
        """Back to the pose at the press."""
        bridge.write_channels(self.armature, self.channels)
        self.turns = 0
        self.update()

    def press(self) -> DragSession:
        return DragSession(
            bpy.context, self.armature, [Grab(self.armature.name, self.hand, (0.0, 0.0, 0.0))], live=True
        )

    def way(self) -> Array:
        """The next point of the circle, from the place of the hand."""
        self.turns += 1
        angle = TURN * self.turns
        return RADIUS * np.array([np.cos(angle) - 1.0, 0.0, np.sin(angle)])

    def g(self) -> None:
        place = Matrix.Translation(Vector(self.way().tolist()))
        self.armature.pose.bones[self.hand].matrix = place @ Matrix(self.at.tolist())
        self.update()

    def drag(self, session: DragSession) -> None:
        session.drag(self.way(), rotation.IDENTITY)
        shown.targets(session)
        shown.stretched_bones(session)

    def hover(self) -> None:
        view = View(np.diag([0.5, 1.0, 1.0, 1.0]) @ FRONT, FRONT[:3, :3], (1600, 800))
        bridge.pick(bpy.context, view, tuple(view.pixels(self.at[:3, 3])))


FRONT: Final = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, -0.9], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])


def _open(name: str) -> Any:
    """The armature, active in Object Mode, in a new file."""
    if name == "naked":
        armature = open_rig("rigify")
        bpy.ops.object.mode_set(mode="OBJECT")
        return armature
    bpy.ops.wm.open_mainfile(filepath=str(CONTROLS))
    context: Any = bpy.context
    armatures: Any = (thing for thing in bpy.data.objects if thing.type == "ARMATURE")
    context.view_layer.objects.active = armature = max(armatures, key=lambda one: len(one.pose.bones))
    return armature


def milliseconds(act: Callable[[], object]) -> float:
    """The processor's time of an act."""
    begin = process_time()
    act()
    return 1e3 * (process_time() - begin)


@contextmanager
def alone() -> Iterator[None]:
    """Blender does not call Poise after it has evaluated."""
    handlers: Any = bpy.app.handlers.depsgraph_update_post
    calls = list(handlers)
    handlers.clear()
    try:
        yield
    finally:
        for call in calls:
            handlers.append(call)


def evaluations(act: Callable[[], object]) -> int:
    """How often Blender evaluates something in an act."""
    seen: list[object] = []

    def count(*_: object) -> None:
        seen.append(_)

    bpy.app.handlers.depsgraph_update_post.append(count)
    act()
    bpy.app.handlers.depsgraph_update_post.remove(count)
    return len(seen)


def measure(name: str, rounds: int) -> Row:
    """The quickest tenth of all rounds, each of which plays all once, and how many times G a tick takes in a round."""
    rig = Rig(name)
    times: dict[str, list[float]] = {key: [] for key in COLUMNS}
    for _ in range(rounds):
        rig.leave()
        rig.change()
        times["enter_first"].append(milliseconds(rig.enter))
        times["hover_first"].append(milliseconds(rig.hover))
        times["hover"].append(milliseconds(rig.hover))
        rig.leave()
        times["enter"].append(milliseconds(rig.enter))
        rig.start()
        with alone():
            times["g"] += [milliseconds(rig.g) for _ in range(TICKS)]
        rig.start()
        times["press"].append(milliseconds(rig.press))
        session = rig.press()
        for _ in range(TICKS):
            begin = process_time()
            rig.drag(session)
            dragged = process_time()
            rig.update()
            times["tick"].append(1e3 * (process_time() - begin))
            times["own"].append(1e3 * (dragged - begin))
    by_round = (np.median(np.reshape(times[key], (rounds, TICKS)), axis=1) for key in ("tick", "g"))
    count = evaluations(lambda: (rig.drag(session), rig.update()))
    return {
        "rig": name,
        "bones": len(rig.armature.pose.bones),
        **{key: float(np.quantile(some, QUICK)) for key, some in times.items()},
        "medians": {key: float(np.median(some)) for key, some in times.items()},
        "times_g": float(np.median(np.divide(*by_round))),
        "evaluations": count,
    }


def print_table(rows: list[Row], out: Any) -> None:
    print(f"\n| rig | bones | {' | '.join(COLUMNS.values())} | tick / G | evaluations |", file=out)
    print(f"| --- |{' --: |' * (len(COLUMNS) + 3)}", file=out)
    for row in rows:
        cells = " | ".join(f"{row[key]:.1f}" for key in COLUMNS)
        print(f"| {row['rig']} | {row['bones']} | {cells} | {row['times_g']:.2f} | {row['evaluations']} |", file=out)


def bars(row: Row) -> list[dict[str, Any]]:
    """What is wanted on the control rig."""
    texts = {
        "times_g": "{:.2f} times G in a tick, at most {:g} wanted, drawing left out",
        "press": "{:.0f} ms for the press, under {:g} wanted",
        "enter_first": "{:.0f} ms to enter Pose Mode for the first time, under {:g} wanted",
    }
    return [
        report.bar(text.format(row[key], BARS[key]), row[key], row[key] <= BARS[key]) for key, text in texts.items()
    ]


def main() -> int:
    parser = report.options("benchmarks.controls", __doc__, ROUNDS)
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)
    names = ["naked"] if chosen.smoke or not CONTROLS.is_file() else list(HANDS)
    rows = [measure(name, rounds) for name in names]
    print(f"\n{report.machine_line(rounds)} rounds, milliseconds of the processor, the quickest tenth", file=out)
    print_table(rows, out)
    checks = [check for row in rows if row["rig"] == "controls" for check in bars(row)]
    report.finish(chosen, checks, out, blender=bpy.app.version_string, rows=rows)
    return 0


if __name__ == "__main__":
    standalone.leave(main())
