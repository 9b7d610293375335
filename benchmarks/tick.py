"""One whole tick inside Blender, solve, write and depsgraph update: Poise's drag beside Blender's IK constraints.

    python -m benchmarks.tick                with PyPI's bpy; `python -m nox -s tick` has it in both versions
    python -m benchmarks.tick --json FILE    the figures as JSON, too; "-" is standard output, the table goes to stderr
    python -m benchmarks.tick --smoke        a few targets, once: that it runs, no figures

The work is W1 of `python -m benchmarks`: Rigify's human metarig without its face, 65 bones; feet held in position and
orientation, left hand and head in position, the right hand led along 200 targets 1-3 cm apart. All have the same IK
limits on their bones, if any.

Poise is what the drag tool runs, `edits.drag.session.DragSession` with four pins and the settings that ship: IK limits
and anatomical ones; in further rows with IK limits alone, as Blender has them, and with none. Blender's IK
has a constraint for each hand and the head, whose chains share the trunk, and for each leg, and Copy Rotation on the
feet; the targets are empties. These chains end above the hips, which do not move: that is the fastest arrangement found
that reaches all targets without limits. "hips" is one tree from the hips up and down, so that they turn, as they may
for Poise.

A tick is timed from the new target to the end of `view_layer.update()`. Whether it is solved is read from Blender's
evaluated pose: every effector within 1 mm, the feet within 0.1 degrees, and no bone more than 0.1 degrees beyond its
limits. All take turns, twenty targets each, each time beginning with another one; ratios are medians of the ratios of
these blocks. Python's garbage collector stays on. "still" writes a pose and updates, and solves nothing: no solver is
faster. On a machine with other work the quickest tenth of the ticks and the processor's time say more than medians.
"""

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any, Final, TextIO

import numpy as np

import standalone

standalone.enable()

import bpy  # noqa: E402  (Poise has to be enabled before the first import)
from mathutils import Matrix  # noqa: E402

from bridge import Grab, read_channels, write_channels  # noqa: E402
from core import rotation  # noqa: E402
from edits.drag.session import DragSession  # noqa: E402
from edits.pin_list import add_pin  # noqa: E402

from . import report  # noqa: E402
from .blender_rig import build  # noqa: E402
from .work import (  # noqa: E402
    DRAGGED,
    LIMIT_TOLERANCE,
    POSITION_TOLERANCE,
    ROTATION_TOLERANCE,
    W1_TARGETS,
    Array,
    Work,
    angle_between,
    drag,
    tolerances,
)

ROUNDS: Final = 7
BLOCK: Final = 20  # targets in a row: the machine's moods last longer
SMOKE_TARGETS: Final = 3
NO_LIMITS: Final = "no limits"
FREE_BAR: Final = 2.0  # times as fast as Blender's IK without limits
LIMITED_BAR: Final = 10.0
# the bone whose tail is led, the effector that it leads, how many bones follow
TRUNK: Final = (("forearm.L", "hand.L", 6), ("forearm.R", "hand.R", 6), ("spine.005", "spine.006", 5))
LEGS: Final = (("shin.L", "foot.L", 2), ("shin.R", "foot.R", 2))


class Contender:
    """An armature in a scene of its own, made for the work; `lead` is timed together with the update.

    `limited`: by IK limits, to which answers are held.
    """

    name = ""
    kinds = "IK limits"

    def __init__(self, work: Work, limited: bool) -> None:
        self.work, self.limited = work, limited
        self.settings = self.kinds if limited else NO_LIMITS
        self.scene = bpy.data.scenes.new(self.name)
        self.enter()
        rig = work.rig
        rest = np.concatenate([rig.frames, rig.heads[..., None]], axis=-1)
        self.armature: Any = build(rig.names, rig.parents, rig.lengths, rest, POSITION_TOLERANCE)
        if limited:
            limit(self.armature, work)
        self.rest = read_channels(self.armature)

    def enter(self) -> None:
        """Make its scene the one that Blender evaluates."""
        window: Any = bpy.context.window
        window.scene = self.scene

    def start(self) -> None:
        """Back to the rest pose."""
        write_channels(self.armature, self.rest)
        self.scene.view_layers[0].update()

    def lead(self, target: Array) -> None:
        raise NotImplementedError


class Poise(Contender):
    """The drag tool's session, its settings as they ship but for the limits."""

    name, kinds = "Poise", "IK + anatomical limits"

    def __init__(self, work: Work, limited: bool) -> None:
        super().__init__(work, limited)
        self.armature.poise_limits = "HARD" if limited else "OFF"
        self.armature.poise_use_anatomy_limits = "anatomical" in self.kinds
        for number, name in enumerate(work.effectors):
            if name != DRAGGED:
                pin = add_pin(self.armature, name)
                pin.use_rotation = bool(work.turned[number])
                pin.position = work.positions[0, number]
                pin.rotation = rotation.from_matrix(work.frames[0, number])

    def start(self) -> None:
        super().start()
        self.session = DragSession(
            bpy.context, self.armature, [Grab(self.armature.name, DRAGGED, (0.0, 0.0, 0.0))], live=True
        )
        self.from_place = self.session.effectors[0].place

    def lead(self, target: Array) -> None:
        self.session.drag(target - self.from_place, rotation.IDENTITY)


class ByIkLimits(Poise):
    """The same without anatomical limits."""

    kinds = "IK limits"


class Constraints(Contender):
    """Blender's own IK constraints, with empties as targets."""

    name = "IK"
    chains = (*TRUNK, *LEGS)

    def __init__(self, work: Work, limited: bool) -> None:
        super().__init__(work, limited)
        self.targets = {
            name: self._target(name, work.positions[0, number], work.frames[0, number])
            for number, name in enumerate(work.effectors)
        }
        bones = self.armature.pose.bones
        for bone, effector, count in self.chains:
            constraint = bones[bone].constraints.new("IK")
            constraint.target, constraint.chain_count = self.targets[effector], count
        for effector, turned in zip(work.effectors, work.turned, strict=True):
            if turned:
                bones[effector].constraints.new("COPY_ROTATION").target = self.targets[effector]

    def _target(self, name: str, position: Array, frame: Array) -> Any:
        target = bpy.data.objects.new(f"{self.scene.name} {name}", None)
        self.scene.collection.objects.link(target)
        target.matrix_world = Matrix.LocRotScale(position.tolist(), Matrix(frame.tolist()), None)
        return target

    def lead(self, target: Array) -> None:
        self.targets[DRAGGED].location = target


class FromHips(Constraints):
    """One tree of all chains, from the hips."""

    name = "IK, hips"
    chains = tuple((bone, effector, 0) for bone, effector, _ in (*TRUNK, *LEGS))


class Still(Contender):
    """Writes the rest pose: what is left if the solver takes no time."""

    name = "still"

    def lead(self, target: Array) -> None:
        write_channels(self.armature, self.rest)


def limit(armature: Any, work: Work) -> None:
    """Give the bones Blender's IK limits: an ellipse about X and Z, a range of twists."""
    for bone, bounds in zip(armature.pose.bones, work.rig.limits, strict=True):
        for axis, (lower, upper) in zip("xyz", bounds.tolist(), strict=True):
            if np.isfinite([lower, upper]).all():
                setattr(bone, f"use_ik_limit_{axis}", True)
                setattr(bone, f"ik_min_{axis}", lower)
                setattr(bone, f"ik_max_{axis}", upper)


@dataclass
class Figure:
    """One contender: seconds of its ticks by block, of the updates in them and of the processor, all threads.

    And what `judge` found by target.
    """

    solver: str
    settings: str
    limits: bool
    blocks: list[Array] = field(default_factory=list)
    updates: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    errors: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.solver}, {self.settings}"

    @property
    def solved(self) -> float:
        tolerated = np.array([POSITION_TOLERANCE, ROTATION_TOLERANCE, LIMIT_TOLERANCE if self.limits else np.inf])
        return float((np.array(self.errors) <= tolerated).all(axis=1).mean())

    def milliseconds(self, share: float) -> float:
        """The time that `share` of the ticks take at most."""
        return float(1e3 * np.quantile(np.concatenate(self.blocks), share))

    def ratio(self, other: "Figure") -> float:
        """How many times as long as another one: the median of all blocks, each beside the other one's."""
        return float(np.median([np.median(a) / np.median(b) for a, b in zip(self.blocks, other.blocks, strict=True)]))

    def as_json(self, reference: "Figure") -> dict[str, Any]:
        worst = np.max(self.errors, axis=0)
        return {
            "solver": self.solver,
            "settings": self.settings,
            "limits": self.limits,
            "targets": len(self.errors),
            "percentile_10_ms": self.milliseconds(0.1),
            "median_ms": self.milliseconds(0.5),
            "percentile_99_ms": self.milliseconds(0.99),
            "median_update_ms": float(1e3 * np.median(self.updates)),
            "median_processor_ms": float(1e3 * np.median(self.processor)),
            "times_poise": self.ratio(reference),
            "solved": self.solved,
            "worst_position_mm": 1e3 * worst[0],
            "worst_rotation_degrees": float(np.degrees(worst[1])),
            "worst_beyond_limit_degrees": float(np.degrees(worst[2])),
            "seconds": np.concatenate(self.blocks).tolist(),
        }


def measure(contenders: list[Contender], rounds: int, progress: TextIO) -> list[Figure]:
    """All contenders, block after block of targets; their poses are judged in the first round."""
    figures = [Figure(contender.name, contender.settings, contender.limited) for contender in contenders]
    targets = contenders[0].work.positions[:, contenders[0].work.effectors.index(DRAGGED)]
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=progress, flush=True)
        for contender in contenders:
            contender.enter()
            contender.start()
        gc.collect()
        for first in range(0, len(targets), BLOCK):
            for turn in range(len(contenders)):
                place = (turn + first // BLOCK + number) % len(contenders)
                _measure(contenders[place], figures[place], first, targets[first : first + BLOCK], judged=not number)
    return figures


def _measure(contender: Contender, figure: Figure, first: int, targets: Array, judged: bool) -> None:
    """One block of one contender."""
    contender.enter()
    update: Callable[[], None] = contender.scene.view_layers[0].update
    seconds, updates = [], []
    for index, target in enumerate(targets, start=first):
        used = process_time()
        begin = perf_counter()
        contender.lead(target)
        led = perf_counter()
        update()
        end = perf_counter()
        seconds.append(end - begin)
        updates.append(end - led)
        figure.processor.append(process_time() - used)
        if judged:
            figure.errors.append(judge(contender, index))
    figure.blocks.append(np.array(seconds))
    figure.updates += updates


def judge(contender: Contender, index: int) -> tuple[float, float, float]:
    """By how much Blender's evaluated pose misses the positions, the orientations and the limits at worst."""
    work, bones = contender.work, contender.armature.pose.bones
    matrices = np.array([bone.matrix for bone in bones])
    heads, frames = matrices[work.bones, :3, 3], matrices[work.bones, :3, :3]
    position = np.linalg.norm(heads - work.positions[index], axis=-1).max()
    turned = angle_between(frames, work.frames[index])[work.turned].max()
    return float(position), float(turned), beyond_limits(work, matrices[:, :3, :3])


def beyond_limits(work: Work, frames: Array) -> float:
    """The most that a bone is beyond its IK limits, of frames (J, 3, 3) in armature space.

    Twist as mathutils has it; the swing counts from the ellipse of the sines of half the angles about X and Z.
    """
    worst = 0.0
    for bone, parent in enumerate(work.rig.parents.tolist()):
        if parent < 0:
            continue
        own = work.rig.rest[bone].T @ frames[parent].T @ frames[bone]
        swing, twist = Matrix(own.tolist()).to_quaternion().to_swing_twist("Y")
        lower, upper = work.rig.limits[bone].T
        vector = np.array([swing.x, swing.z]) * (1.0 if swing.w >= 0.0 else -1.0)
        ends = np.sin(0.5 * np.where(vector < 0.0, -lower[[0, 2]], upper[[0, 2]]))
        length, radius = float(np.linalg.norm(vector)), float(np.linalg.norm(vector / ends))
        outside = 2.0 * (np.arcsin(min(length, 1.0)) - np.arcsin(min(length / max(radius, 1.0), 1.0)))
        worst = max(worst, outside, twist - upper[1], lower[1] - twist)
    return float(worst)


def bars(figures: dict[tuple[str, str], Figure]) -> list[dict[str, Any]]:
    """The tool as it ships, all limits on, against both."""
    ours = figures[Poise.name, Poise.kinds]
    result: list[dict[str, Any]] = []
    for limited, bar in ((False, FREE_BAR), (True, LIMITED_BAR)):
        other = figures[Constraints.name, Constraints.kinds if limited else NO_LIMITS]
        ratio = other.ratio(ours)
        text = f"{ratio:.2f}x Blender's IK with{'' if limited else 'out'} limits, at least {bar:g}x wanted"
        result.append(report.bar(text, ratio, ratio >= bar))
    return [*result, report.bar(f"Poise solves {ours.solved:.1%}, all wanted", ours.solved, ours.solved == 1.0)]


def print_table(figures: list[Figure], reference: Figure, out: TextIO) -> None:
    columns = ("ms", "10 %", "median", "99 %", "update", "processor", "solved", "worst", "time / Poise")
    print("  {:30}{:>9}{:>9}{:>9}{:>9}{:>11}{:>9}{:>11}{:>14}".format(*columns), file=out)
    for f in figures:
        solved, worst = f"{f.solved:.1%}", f"{1e3 * np.max(f.errors, axis=0)[0]:.2f} mm"
        if f.solver == Still.name:
            solved = worst = "-"
        quantiles = "".join(f"{f.milliseconds(share):9.3f}" for share in (0.1, 0.5, 0.99))
        print(
            f"  {f.name:30}{quantiles}{1e3 * np.median(f.updates):9.3f}{1e3 * np.median(f.processor):11.3f}"
            f"{solved:>9}{worst:>11}{f.ratio(reference):13.2f}x",
            file=out,
        )


def main() -> int:
    parser = report.options("benchmarks.tick", __doc__, ROUNDS)
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    work = drag("full", SMOKE_TARGETS if chosen.smoke else W1_TARGETS)
    limited, free = (Poise, ByIkLimits, Constraints), (Poise, Constraints, FromHips, Still)
    contenders = [*(make(work, True) for make in limited), *(make(work, False) for make in free)]
    figures = measure(contenders, rounds, sys.stderr)
    found = {(figure.solver, figure.settings): figure for figure in figures}
    reference = found[Poise.name, Poise.kinds]

    versions = {"Blender": bpy.app.version_string, "numpy": np.__version__}
    print(f"\n{report.machine_line(rounds)}", file=out)
    print("; ".join(f"{name}: {version}" for name, version in versions.items()), file=out)
    print(f"\nA tick, 65 bones, 4 pins, {len(work.positions)} targets", file=out)
    print_table(figures, reference, out)
    report.finish(
        chosen, [] if chosen.smoke else bars(found), out, versions=versions, rounds=rounds, tolerances=tolerances(),
        figures=[figure.as_json(reference) for figure in figures],
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    standalone.leave(main())
