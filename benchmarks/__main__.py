"""W1 and W2: one frame under the mouse and a bake, Poise beside mink, pink, placo and pinocchio, interleaved.

    python -m benchmarks                Poise, and those peers that are installed
    python -m benchmarks --peers        fails if a peer is missing: the group `peers` of pyproject.toml
    python -m benchmarks --json FILE    the figures as JSON, too; "-" is standard output, the table goes to stderr
    python -m benchmarks --smoke        a few targets, once: that it runs, no figures

W1  Feet pinned in position and orientation, left hand and head in position; the right hand is dragged along 200
    targets 1-3 cm apart, each started from the last. 72 and 198 degrees of freedom.
W2  A bake of 2,000 frames: walking feet in position and orientation, both hands, head. 72 degrees of freedom.

The rules are the same for all: one rig, joint limits kept, one rest pose to start from and to stay near. A target is
done when every effector is within 1 mm and the feet within 0.1 degrees; peers go on with QP steps until then or to
their cap. The clock is the processor's, since all have one thread, and runs for the solving only: models, tasks and
targets are made before. Solved is what a forward kinematics that belongs to no solver finds within the tolerances and
the limits.

Poise runs with the settings that its tools ship. Poise* goes on with its bake until the joints of every frame rest.
Every round runs all solvers, each time in another order, W1 five times; figures are medians, and only their ratios can
be compared with another day's.
"""

import gc
import importlib
import statistics
import sys
from dataclasses import asdict, dataclass, field
from time import process_time
from typing import Any, Final, Protocol, TextIO

import numpy as np

from . import report
from .work import KINDS, W1_TARGETS, W2_FRAMES, Answer, Verdict, Work, drag, judge, tolerances, walk

ROUNDS: Final = 5
PASSES: Final = {"W1": 5, "W2": 1}  # in a round: W1 takes a tenth of a second, the machine's moods last longer
SMOKE_TARGETS: Final = 5
PEERS: Final = ("mink", "pink", "placo", "pinocchio")  # each in its file with_...
W1_BAR: Final = 1.0  # times as fast as mink
W2_BAR: Final = 3.0


class Solver(Protocol):
    """A solver made ready for a piece of work: `start` puts it to the rest pose, `run` is timed, `answer` is judged."""

    name: str
    version: str
    works: tuple[str, ...]
    settings: dict[str, Any]

    def __init__(self, work: Work) -> None: ...
    def start(self) -> None: ...
    def run(self) -> None: ...
    def answer(self) -> Answer: ...


@dataclass
class Figure:
    """One solver on one piece of work; `verdict` is the worst of the rounds."""

    solver: str
    work: str
    degrees_of_freedom: int
    targets: int
    seconds: list[float] = field(default_factory=list)
    iterations: int = 0
    verdict: Verdict | None = None

    @property
    def milliseconds(self) -> float:
        return 1e3 * statistics.median(self.seconds) / self.targets

    def as_json(self) -> dict[str, Any]:
        assert self.verdict is not None
        return {
            **{key: value for key, value in asdict(self).items() if key != "verdict"},
            "milliseconds_per_target": self.milliseconds,
            "targets_per_second": 1e3 / self.milliseconds,
            "steps_per_target": self.iterations / self.targets,
            "solved": self.verdict.solved,
            "worst_position_mm": 1e3 * self.verdict.position,
            "worst_rotation_degrees": float(np.degrees(self.verdict.rotation)),
            "worst_beyond_limit_degrees": float(np.degrees(self.verdict.limit)),
        }


def measure(
    makers: list[type[Solver]], works: list[Work], rounds: int, progress: TextIO
) -> tuple[list[Figure], dict[str, dict[str, Any]]]:
    """Every solver on every piece of work, round after round, each round beginning with another solver.

    The figures, and the settings by work and solver.
    """
    table: list[tuple[list[Solver], list[Figure]]] = []
    for work in works:
        solvers = [make(work) for make in makers if work.name in make.works]
        count = len(work.positions)
        table.append((solvers, [Figure(s.name, work.name, KINDS[work.rig.kind], count) for s in solvers]))
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=progress, flush=True)
        for work, (solvers, figures) in zip(works, table, strict=True):
            passes = 1 if rounds == 1 else PASSES[work.name]
            for turn in range(passes * len(solvers)):
                place = (turn + turn // len(solvers) + number) % len(solvers)
                solver, figure = solvers[place], figures[place]
                solver.start()
                gc.collect()
                gc.disable()
                begin = process_time()
                solver.run()
                figure.seconds.append(process_time() - begin)
                gc.enable()
                answer = solver.answer()
                figure.iterations = answer.iterations
                verdict = judge(work, answer)
                figure.verdict = verdict if figure.verdict is None else figure.verdict.worse(verdict)
    settings = {
        work.name: {s.name: s.settings for s in solvers} for work, (solvers, _) in zip(works, table, strict=True)
    }
    return [figure for _, figures in table for figure in figures], settings


def bars(figures: list[Figure]) -> list[dict[str, Any]]:
    """Poise against mink at 72 degrees of freedom, and against its own claim to solve everything."""
    found = {(f.solver, f.work, f.degrees_of_freedom): f for f in figures}
    result: list[dict[str, Any]] = []
    for work, bar in (("W1", W1_BAR), ("W2", W2_BAR)):
        ours, mink = found["Poise", work, KINDS["body"]], found.get(("mink", work, KINDS["body"]))
        if mink is not None:
            ratio = mink.milliseconds / ours.milliseconds
            text = f"{work}, {KINDS['body']} DoF: {ratio:.2f}x mink, at least {bar:g}x wanted"
            result.append(report.bar(text, ratio, ratio >= bar))
    share = min(f.verdict.solved for f in figures if f.solver == "Poise" and f.verdict is not None)
    result.append(report.bar(f"Poise solves {share:.1%}, all wanted", share, share == 1.0))
    return result


def print_table(figures: list[Figure], out: TextIO) -> None:
    columns = ("solver", "per target", "per second", "solved", "steps", "worst", "time / Poise")
    ours = {(f.work, f.degrees_of_freedom): f.milliseconds for f in figures if f.solver == "Poise"}
    for key, reference in ours.items():
        rows = [f for f in figures if (f.work, f.degrees_of_freedom) == key]
        print(f"\n{key[0]}, {key[1]} DoF, {rows[0].targets} targets", file=out)
        print("  {:10}{:>13}{:>13}{:>10}{:>8}{:>12}{:>14}".format(*columns), file=out)
        for f in rows:
            assert f.verdict is not None
            print(
                f"  {f.solver:10}{f.milliseconds:10.3f} ms{1e3 / f.milliseconds:13,.0f}{f.verdict.solved:10.1%}"
                f"{f.iterations / f.targets:8.2f}{1e3 * f.verdict.position:9.3f} mm{f.milliseconds / reference:13.1f}x",
                file=out,
            )


def main() -> int:
    parser = report.options("benchmarks", __doc__, ROUNDS)
    parser.add_argument("--peers", action="store_true", help="fail if a peer is not installed")
    chosen = parser.parse_args()
    rounds, out = report.rounds_of(parser, chosen, ROUNDS), report.table_goes_to(chosen)

    names, missing = ["with_poise"], dict[str, str]()
    for peer in PEERS:
        try:
            importlib.import_module(f".with_{peer}", __package__)
            names.append(f"with_{peer}")
        except ImportError as error:
            missing[peer] = str(error)
            print(f"{peer} is missing ({error}): pip install --group peers", file=out)
    if missing and chosen.peers:
        return 1
    modules = [importlib.import_module(f".{name}", __package__) for name in names]
    makers = [modules[0].Solver, modules[0].Settled, *(module.Solver for module in modules[1:])]
    count = SMOKE_TARGETS if chosen.smoke else None
    works = [*(drag(kind, count or W1_TARGETS) for kind in KINDS), walk("body", count or W2_FRAMES)]
    figures, settings = measure(makers, works, rounds, sys.stderr)

    versions = {module.Solver.name: module.Solver.version for module in modules} | {"numpy": np.__version__}
    print(f"\n{report.machine_line(rounds)}", file=out)
    print("; ".join(f"{name}: {version}" for name, version in versions.items()), file=out)
    print_table(figures, out)
    report.finish(
        chosen, [] if chosen.smoke else bars(figures), out, versions=versions, missing=missing, rounds=rounds,
        tolerances=tolerances(), settings=settings, figures=[figure.as_json() for figure in figures],
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
